"""The report of the study: what was asked, of whom, what came out, and what must be said against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lexiscope.analysis.exclusion import ExclusionResult
from lexiscope.core.result import Record, statistic_name
from lexiscope.core.study import PlannedAnalysis, Question
from lexiscope.report.document import Section
from lexiscope.report.part import Part, pick
from lexiscope.report.sections import (
    FilterStep,
    asked_in,
    card_section,
    filters_table,
    question_section,
    questions_table,
)
from lexiscope.report.study_run import planned_text
from lexiscope.report.tables import Table
from lexiscope.studies.saw_c.material import Material
from lexiscope.studies.saw_c.names import SEPARATED
from lexiscope.studies.saw_c.settings import SawCSettings

METHODS = (
    "Norms are means over raters, a sum of ratings over their count. Distances are 1 − cosine of the target's "
    "vectors in the two sentences of a pair, the vector being the mean over the sub-words that overlap the target's "
    "span; layer 0 is the input embedding. r, ρ and R² are between distances and norms over pairs; their intervals "
    "resample words, because pairs of one word are not independent. R² is unadjusted. AIC of a logistic regression is "
    "deviance + 2k, the intercept counted, without any penalty; a layer separates the senses only if its AIC is below "
    "that of the intercept alone. Mixed models are fitted by maximum likelihood from "
    "several starting points, with raw predictors; every likelihood-ratio test is printed with its random-effects "
    "formula, on which it depends strongly. Expected Layer is computed from cumulative regressions on layers 0 to l, "
    "negative increments kept, so by AIC it may lie outside the layers.",
)
LIMITS = (
    "Pairs of one word share sentences; an interval that resamples words respects this, a test that treats pairs as "
    "independent does not. Cosine distance is one measure among several, and the best of many layers is chosen on the "
    "data it is reported for.",
)
LIMITS_OF_NORMS = "Norms come from the participants who took part, in their varieties of the language."
LIMITS_OF_SIZE = "The regression of fit on size rests on few models of a few families, which are not independent."


def built(
    material: Material,
    settings: SawCSettings,
    questions: Sequence[Question],
    parts: Mapping[str, Part],
    planned: Sequence[PlannedAnalysis] = (),
) -> tuple[Section, ...]:
    """Return the sections of the report; *parts* are the study's parts by name."""
    records = tuple(record for part in parts.values() for record in part.records)
    results = results_in_words(records)
    overview = questions_table(questions, results, parts, name="table_1_questions", number="1")
    sections = [
        Section("questions", "What was asked, and what came out", tables=(overview,)),
        _data(material, parts),
        Section("methods", "How it was computed", (*METHODS, *_settings_text(material, settings))),
    ]
    for question in questions:
        part = parts.get(question.question_id, Part())
        if part.tables or part.figures or part.paragraphs:
            result = results.get(question.question_id, "")
            said = " ".join((*asked_in(question), *((f"Result: {result}.",) if result else ())))
            marked = planned_text(question, planned)
            texts = (*((said,) if said else ()), *marked, *part.paragraphs, *dict.fromkeys(part.remarks))
            sections.append(question_section(question, texts, part))
    sections.append(Section("limits", "Limits", _limits(material, results) + _ethics(settings)))
    return tuple(section for section in sections if section.paragraphs or section.tables or section.subsections)


def _part_section(name: str, title: str, part: Part | None) -> Section:
    part = part or Part()
    return Section(name, title, part.paragraphs + part.remarks, part.tables, part.figures)


def _data(material: Material, parts: Mapping[str, Part]) -> Section:
    inner = [card_section(material.card)] if material.card is not None else []
    for name, title in (("design", "The stimuli"), ("people", "The people"), ("subjects", "The models")):
        inner.append(_part_section(name, title, parts.get(name)))
    if material.exclusion is not None:
        rules = tuple(f"{entry.order}. {entry.description}" for entry in material.exclusion.log)
        inner.append(Section("exclusions", "Exclusions", rules, (_filters(material.exclusion),)))
    kept = tuple(section for section in inner if section.paragraphs or section.tables)
    return Section("asked", "What was asked, of whom", subsections=kept)


def _filters(exclusion: ExclusionResult) -> Table:
    steps = [FilterStep(entry.rule, "participants", entry.n_before, entry.n_after) for entry in exclusion.log]
    steps += [FilterStep(entry.rule, "ratings", entry.trials_before, entry.trials_after) for entry in exclusion.log]
    return filters_table(steps, name="exclusions")


def _settings_text(material: Material, settings: SawCSettings) -> tuple[str, ...]:
    absent = [view for view in settings.views if view not in material.views]
    missing = (f" No distances are at hand in the view {', '.join(absent)}.") if absent and material.views else ""
    return (
        f"{settings.n_bootstrap} bootstrap resamples, seed {settings.seed}; starting points of each mixed model that "
        f"may have several optima (the reduced ones): {settings.starts}; "
        f"views analysed: {', '.join(material.views) or 'none'}; agreement set beside models: {settings.agreement}."
        + missing,
    )


def _limits(material: Material, results: Mapping[str, str]) -> tuple[str, ...]:
    """What must be said against this run: nothing about people or sizes that it does not look at."""
    more = [LIMITS_OF_NORMS] if material.rated.any() else []
    return LIMITS + tuple(more + ([LIMITS_OF_SIZE] if "Q5" in results else []))


def _ethics(settings: SawCSettings) -> tuple[str, ...]:
    return (f"Ethics: {settings.ethics}",) if settings.ethics else ()


# -- results in words ---------------------------------------------------------------------------------------------


def results_in_words(records: Sequence[Record]) -> dict[str, str]:
    """Return the result of each question as one sentence; a question without numbers has none."""
    found = {
        "Q1": _sense_result(records),
        "Q2": _boundary_result(records),
        "Q3": _best_result(records, "max_r_squared_over_layers", "highest R²"),
        "Q4": _beyond_result(records),
        "Q5": _size_result(records),
    }
    return {question: text for question, text in found.items() if text}


def _sense_result(records: Sequence[Record]) -> str:
    test = pick(records, statistic_name("chi2", test="sense", df=1)) or pick(
        records, statistic_name("chi2", test="same", df=1)
    )
    same = pick(records, "condition_mean(over=trials)", condition="same_sense=True")
    other = pick(records, "condition_mean(over=trials)", condition="same_sense=False")
    texts = []
    if same is not None and other is not None and same.value is not None and other.value is not None:
        texts.append(f"mean rating {same.value:.2f} for the same sense, {other.value:.2f} for different senses")
    if test is not None and test.value is not None and test.p is not None:
        texts.append(_test_words(test))
    return "; ".join(texts)


def _test_words(record: Record) -> str:
    """χ², p and the random effects that they rest on; the tail of χ² is below the smallest number beyond about 1480."""
    p = f"p = {record.p:.2g}" if record.p else "p < 1e-300"
    random = record.note.partition(";")[0]
    return (
        f"χ²(1) = {record.value:.2f}, {p} ({random})"
        if random.startswith("random")
        else f"χ²(1) = {record.value:.2f}, {p}"
    )


def _at(record: Record) -> str:
    layer = "" if record.layer is None else f", layer {record.layer}"
    return f" ({record.subject}{layer})" if record.subject else ""


def _boundary_result(records: Sequence[Record]) -> str:
    """The lowest AIC next to that of the model without distance; where no layer is below it, this is said first."""
    text, best = _best_result(records, "min_aic_over_layers", "lowest AIC"), _best(records, "min_aic_over_layers")
    # of these no finite AIC can be given: they are better than the best of the others
    separated = [r for r in records if r.statistic == "min_aic_over_layers" and r.note.startswith(SEPARATED)]
    if separated:
        told = "; ".join(f"{record.subject}: {record.note}" for record in separated)
        return told if best is None else f"{told}; of the others, {text}"
    if best is None:
        return ""
    empty = pick(records, "aic(model=intercept_only)", subject=best.subject, view=best.view)
    if empty is None or empty.value is None or best.value is None:
        return text
    if best.value < empty.value:
        return f"{text} (without distance: {empty.value:.2f})"
    first = f"no layer separates the senses better than a model without distance (AIC {empty.value:.2f})"
    return f"{first}; {text}"


def _best(records: Sequence[Record], statistic: str) -> Record | None:
    found = [r for r in records if r.statistic == statistic and r.value is not None]
    choose = min if statistic.startswith("min") else max
    return choose(found, key=lambda record: record.value or 0.0, default=None)


def _best_result(records: Sequence[Record], statistic: str, words: str) -> str:
    found = [r for r in records if r.statistic == statistic and r.value is not None]
    best = _best(records, statistic)
    if best is None:
        return ""
    at = "" if best.layer is None else f" at layer {best.layer}"
    at += f", view {best.view}" if len({record.view for record in found}) > 1 else ""
    interval = f" [{best.low:.2f}, {best.high:.2f}]" if best.low is not None and best.high is not None else ""
    among = " of all subjects" if len({record.subject for record in found}) > 1 else ""
    caution = f" ({best.note})" if "wrong direction" in best.note else ""
    return f"{words}{among}: {best.subject}{at}, {best.value:.2f}{interval}{caution}"


def _beyond_result(records: Sequence[Record]) -> str:
    texts = []
    for test in ("sense_beyond_distance", "distance_beyond_sense"):
        record = pick(records, statistic_name("chi2", test=test, df=1))
        if record is not None and record.value is not None and record.p is not None:
            texts.append(f"{test.replace('_', ' ')}{_at(record)}: {_test_words(record)}")
    return "; ".join(texts)


def _size_result(records: Sequence[Record]) -> str:
    record = pick(records, statistic_name("slope", of="log10_parameters", outcome="max_r_squared"))
    if record is None or record.value is None or record.low is None or record.high is None:
        return ""
    change = f"{record.value:.3f} [{record.low:.3f}, {record.high:.3f}]"
    return f"R² changes by {change} per tenfold parameters (n = {record.n})"
