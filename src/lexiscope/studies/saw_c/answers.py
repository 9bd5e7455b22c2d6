"""The study's analyses in order: what each research question's section is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lexiscope.core.result import Record
from lexiscope.report.figure_people import Place
from lexiscope.report.part import Part, joined
from lexiscope.studies.saw_c.curves import SubjectCurves, curve_records, subject_curves
from lexiscope.studies.saw_c.design import design
from lexiscope.studies.saw_c.explained import best_layer, explained
from lexiscope.studies.saw_c.figures import (
    aic_figures,
    family_figures,
    figure_3,
    figure_4,
    figure_6,
    figure_scatter,
    title,
    trajectory_figures,
)
from lexiscope.studies.saw_c.gather import live_facts
from lexiscope.studies.saw_c.joint import joint_part
from lexiscope.studies.saw_c.lmm import chosen_tests, reductions, run_tests, test_part
from lexiscope.studies.saw_c.material import Material
from lexiscope.studies.saw_c.people import People, people, place_records
from lexiscope.studies.saw_c.plans import Plan, Tested, plan_for
from lexiscope.studies.saw_c.raters import raters
from lexiscope.studies.saw_c.settings import SawCSettings
from lexiscope.studies.saw_c.show import boundary_table, relatedness_table, size_table
from lexiscope.studies.saw_c.size import (
    family_curves,
    family_records,
    in_paper,
    registry,
    scaling_records,
    scaling_report,
    stop_part,
    tokens,
    without_size,
)


def answered(material: Material, settings: SawCSettings) -> dict[str, Part]:
    """Run every analysis; return the parts by name, those of a research question by its id."""
    human = people(material, settings)
    curves = tuple(subject_curves(material, distances, settings) for distances in material.distances)
    main = tuple(entry for entry in curves if entry.distances.view == settings.views[0])
    best = {entry.subject: best_layer(entry) for entry in main}
    plan = plan_for(material, settings, best)
    tested = run_tests(material, chosen_tests(plan, settings), settings)
    records = [record for entry in curves for record in curve_records(material, entry)]
    facts = live_facts(material)
    return {
        "design": design(material),
        "people": human.part,
        "subjects": joined([registry(facts), tokens(material, facts)]),
        "Q1": joined([human.by_sense, _tests(material, plan, tested, "Q1"), reductions(material, plan, settings)]),
        "Q2": _boundary(material, main, records, settings),
        "Q3": joined(
            [
                _relatedness(material, main, records, human, plan, settings),
                raters(material, human.agreements, settings),
            ]
        ),
        "Q4": joined(
            [
                _tests(material, plan, tested, "Q4"),
                explained(material, main, settings),
                joint_part(material, plan.joint, settings),
            ]
        ),
        "Q5": joined(
            [*(_size(material, curves, human, view) for view in material.views), stop_part(material, curves, settings)]
        ),
        "norms": human.norms,
    }


def _tests(material: Material, plan: Plan, tested: Sequence[Tested], question: str) -> Part:
    chosen = [entry for entry in tested if entry.test.question == question]
    part = test_part(material, chosen, question.lower())
    run = {entry.test.name for entry in tested}
    left_out = [test.name for test in plan.maximal if test.question == question and test.name not in run]
    if not chosen or not left_out:
        return part
    offer = (
        "With every slope that the design allows, χ² is another: --mixed maximal runs those tests (several minutes)."
    )
    return replace(part, paragraphs=(*part.paragraphs, offer))


def _boundary(
    material: Material, main: Sequence[SubjectCurves], records: Sequence[Record], settings: SawCSettings
) -> Part:
    """Where the distances separate the senses: AIC by layer, Expected Layer, distances by sense."""
    own = tuple(record for record in records if "aic" in record.statistic)
    if material.same is None or not own:
        return Part(own)
    figures = (*figure_3(material, main, settings), *aic_figures(main))
    tables = tuple(boundary_table(records, _titles(main), view) for view in material.views)
    return Part(own, tables, figures)


def _relatedness(
    material: Material,
    main: Sequence[SubjectCurves],
    records: Sequence[Record],
    human: People,
    plan: Plan,
    settings: SawCSettings,
) -> Part:
    """How well distances predict the norms at each layer, and where a model stands among single raters."""
    own = tuple(record for record in records if "aic" not in record.statistic)
    if not material.rated.any():
        return Part(own, remarks=("Without human ratings, distances cannot be set beside relatedness.",))
    layers = [(entry, _layer_of(entry, plan)) for entry in main]
    places = [(entry, layer, rho) for entry, layer in layers if (rho := _rho(entry, layer)) is not None]
    for entry, layer, rho in places:
        own += tuple(place_records(material, human.agreements, entry.subject, layer, rho))
    tables = tuple(relatedness_table(records, _titles(main), view) for view in material.views)
    focus = [(entry, layer, rho) for entry, layer, rho in places if entry.subject == plan.focus] or places[:1]
    lines = [Place(title(entry.distances), -rho) for entry, _, rho in focus]
    figures = figure_4(human.agreements, lines)
    for entry, layer, _ in focus:
        figures += figure_scatter(material, entry, layer)
    return Part(own, tables, (*figures, *trajectory_figures(main)))


def _titles(main: Sequence[SubjectCurves]) -> dict[str, str]:
    return {entry.subject: title(entry.distances) for entry in main}


def _layer_of(entry: SubjectCurves, plan: Plan) -> int | None:
    """The layer at which a subject is set beside people: the paper's for its focus, else the one that fits best."""
    return plan.focus_layer if entry.subject == plan.focus else best_layer(entry)


def _rho(entry: SubjectCurves, layer: int | None) -> float | None:
    if entry.rho is None:
        return None
    value = entry.rho.values[-1] if layer is None else entry.rho.at(layer)
    return value.value


def _size(material: Material, curves: Sequence[SubjectCurves], human: People, view: str) -> Part:
    """Fit against size, and families over depth, in one view.

    Recorded models outside the paper do not enter; with live subjects the regression is also run with them.
    """
    chosen = [entry for entry in curves if entry.distances.view == view and in_paper(entry.distances.facts)]
    recorded = [entry for entry in chosen if entry.subject not in material.live]
    if not material.rated.any() or not chosen:
        return Part()
    ceilings = {
        f"people, mean ρ squared ({agreement.variant.replace('_', '-')})": agreement.mean**2
        for agreement in human.agreements
        if agreement.mean >= 0  # the square of disagreement is no ceiling
    }
    parts = [_scaled(material, recorded, ceilings, view, "")] if recorded else []
    if len(recorded) < len(chosen):
        parts.append(_scaled(material, chosen, ceilings, view, "live subjects included"))
    depth, ntile = family_curves(chosen)
    records = tuple(family_records(material, view, (*depth, *ntile)))
    return joined([*parts, Part(records, figures=family_figures(depth, ntile, view))])


def _scaled(
    material: Material, curves: Sequence[SubjectCurves], ceilings: dict[str, float], view: str, condition: str
) -> Part:
    report, usable, reason = scaling_report(curves, ceilings)
    records = tuple(scaling_records(material, view, report, reason, condition))
    remarks: tuple[str, ...] = (f"The regression of fit on size is undefined: {reason}.",) if reason else ()
    unknown = without_size(curves)
    if unknown:
        remarks += (f"Not in the regression of fit on size, number of parameters unknown: {', '.join(unknown)}.",)
    tables = (size_table(records, condition),) if report is not None else ()
    return Part(records, tables, figure_6(usable, report, ceilings, view, condition), remarks=remarks)
