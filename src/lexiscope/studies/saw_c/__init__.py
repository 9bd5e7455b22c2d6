"""Relatedness in context: people's ratings compared with the distances of encoders, layer by layer (SAW-C, RAW-C).

Rivière, Beatty-Martínez & Trott 2025. The study runs on SAW-C, on RAW-C (``--dataset raw_c``), or on items of the
user's own; recorded and live subjects are analysed together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from lexiscope.analysis.families import TestFamily
from lexiscope.analysis.layers.layers import NO_BOUNDARY, SEPARATED
from lexiscope.analysis.norms.norms import norms as item_norms
from lexiscope.core.response import holds_simulated
from lexiscope.core.result import Record, statistic_name
from lexiscope.core.study import PlannedAnalysis
from lexiscope.report.page.simulated import marked_table
from lexiscope.report.page.stored import write_table
from lexiscope.report.part import find_record, part_of, value_of
from lexiscope.report.parts.mixed_tables import ratio_tests_in_words
from lexiscope.report.parts.people_tables import norms_table
from lexiscope.report.pivot import Col, PivotRow, pivot, rank_columns
from lexiscope.report.presenting import best_in_words, best_of_records
from lexiscope.report.tables import INTEGER, Cell, Missing, Table
from lexiscope.studies.kit.study import Study
from lexiscope.studies.saw_c import ambiguity, languages, layers, models, people, senses
from lexiscope.studies.saw_c.data import BETO, VIEWS, SawCData, complete_settings, load_run
from lexiscope.studies.saw_c.settings import SawCSettings


def methods(run: SawCData) -> list[str]:
    """Return how the results were computed, with the settings that matter."""
    settings = run.settings
    absent = ", ".join(view for view in settings.views if view not in run.views)
    more = f" There are no distances in the view {absent}." if absent and run.views else ""
    return [
        *models.TEXTS["methods"],
        f"Starting points of each mixed model that may have several optima (the reduced ones): {settings.starts}. "
        f"Views analysed: {', '.join(run.views) or 'none'}.{more}",
    ]


def limits(run: SawCData) -> list[str]:
    """Return the limits of this run: none about people or sizes that it does not look at."""
    texts = [*models.TEXTS["limits"]]
    if run.has("norms"):
        texts.append("Norms come from the participants who took part, in their varieties of the language.")
        if _size_result(run, part_of(run.once(models.size_and_depth)).records):
            texts.append(
                "The regression of fit on size rests on few models of a few families, which are not independent."
            )
    return texts


# -- what SAW-C registered ------------------------------------------------------------------------------------------


_PEOPLE = ("condition_mean(", "condition_sd(", "test=sense")
_OF_AIC = ("aic", layers.LOWEST_AIC, "best_layer(by=aic)")
_OF_NORMS = (*layers.OF_NORMS, layers.BEST_R2, layers.BEST_RHO, "best_layer(by=r_squared)", "best_layer(by=spearman)")
_BEYOND = "for BETO, the tests of sense beyond distance and of distance beyond sense"
_TESTS = ("test=sense_beyond_distance", "test=distance_beyond_sense")
_of_beto = partial(PlannedAnalysis.of_statistics, subject=BETO, view=VIEWS["saw_c"][0])
_TABLE = "SAW-C Table 1, §{}; osf.io/n5htp"
PLANNED = (
    PlannedAnalysis.of_statistics(
        "Q1", "people's ratings by sense, and the test of sense", _TABLE.format("3.5"), _PEOPLE
    ),
    _of_beto("Q2", "BETO's AIC by layer and its lowest", _TABLE.format("4.2"), _OF_AIC),
    _of_beto("Q3", "BETO's r, ρ and R² by layer and the best of them", _TABLE.format("4.3"), _OF_NORMS),
    _of_beto("Q3", "BETO's place among single raters", _TABLE.format("4.4"), ("raters_below_model(",)),
    _of_beto("Q4", _BEYOND, _TABLE.format("4.5"), _TESTS),
)
"""What SAW-C registered before its data were collected: the five rows of its Table 1, on people and one model, BETO."""


COEFFICIENTS = TestFamily("coefficients", ("fixed_effect",), once=("test",))
"""The coefficients of a question's mixed models: every subject, layer and model, one that several tests share once."""
ORDINAL = TestFamily("ordinal_effect", ("ordinal_effect",), once=("ordinal_test",))
"""The same of its ordinal models."""


def planned_analyses(settings: SawCSettings) -> tuple[PlannedAnalysis, ...]:
    """Return the planned analyses of a run: none on other data than SAW-C's, or after exclusions that were added.

    Those of BETO need distances of sentences with a final stop, as the paper has them. Analyses that the registration
    does not name (other models, Expected Layer, maximal random effects, §4.5's regressions) are exploratory.
    *Source: SAW-C Table 1.*
    """
    if settings.items or settings.dataset != "saw_c" or settings.exclusions:
        return ()
    return PLANNED if settings.views[:1] == VIEWS["saw_c"][:1] else PLANNED[:1]


study = Study(
    "saw_c",
    title=lambda run: f"Relatedness in context: {run.card.title if run.card else run.name}",
    subtitle="People and encoders side by side",
    citation=(
        "Rivière, P. D., Beatty-Martínez, A. L., & Trott, S. (2025). Evaluating Contextualized Representations of "
        "(Spanish) Ambiguous Words: A New Lexical Resource and Empirical Analysis. NAACL 2025 (long papers), "
        "8322-8338.",
        "Trott, S., & Bergen, B. (2021). RAW-C: Relatedness of Ambiguous Words, in Context. ACL-IJCNLP 2021, "
        "7077-7087.",
    ),
    printed="printed.csv",
    claims="claims.csv",
    methods=methods,
    limits=limits,
    mini=SawCSettings(dataset="mini_relatedness", subjects=("encoder:minilm",)),
    planned=planned_analyses,
    complete=complete_settings,
)
study.run_data(load_run)
study.section("The stimuli", section_id="design")(people.stimuli)
study.section("The people", section_id="people")(people.people)
study.section("The models", section_id="subjects")(models.subjects)
study.section("Exclusions", section_id="exclusions")(people.exclusions)


@study.writes
def norms(run: SawCData, folder: Path, _records: Sequence[Record]) -> Sequence[str]:
    """Write the norms of all items as a table of its own."""
    if not run.has("ratings"):
        return ()
    table = norms_table(run.items, item_norms(run.people))
    return write_table(marked_table(table) if holds_simulated(run.responses) else table, folder / "tables")


@study.writes
def r_script(run: SawCData, folder: Path, _records: Sequence[Record]) -> Sequence[str]:
    """Write the mixed models and their trials for R."""
    return senses.write_r_script(run, folder) if "r_script" in run.settings.outputs else ()


@study.overview
def overview(records: Sequence[Record], settings: SawCSettings) -> Table:
    """Return the shortest account of a run: every subject's best layer and fit, and people's agreement by name."""

    def boundary(record: Record) -> Cell:
        return Missing(record.note) if NO_BOUNDARY in record.note else record.layer

    best, view = layers.BEST_R2, settings.views[0]
    columns = (
        Col("Best layer", best, show="layer", note="highest R² of the regression of norms on distance", absent=None),
        Col("R²", best, note="at that layer, chosen on the same items"),
        Col("R², choice allowed for", layers.CHOSEN_R2, note=layers.ALLOWING),
        Col("ρ", layers.BEST_RHO, show="value", note="most negative over layers, chosen on the same items"),
        Col("ρ, choice allowed for", layers.CHOSEN_RHO, show="value", note=layers.ALLOWING),
        *rank_columns(records, layers.RANK, layers.BY_RHO, view=view),
        Col(
            "Sense boundary",
            layers.LOWEST_AIC,
            INTEGER,
            note="layer of lowest AIC, chosen on the same items, if below that of a model without distance",
            cell=boundary,
            absent=None,
        ),
    )
    # items without senses give no AIC, items without ratings no R²: either is enough for a row
    either = [r for r in records if r.statistic in (layers.LOWEST_AIC, best) and r.view == view]
    rows = [
        PivotRow((subject,), {"subject": subject, "view": view}) for subject in dict.fromkeys(r.subject for r in either)
    ]
    table = pivot("overview", "People and models", records, columns, rows)
    agreement = find_record(records, "leave_one_out_agreement(method=spearman,summary=mean)")
    if agreement is None:
        return table
    of_people = {"Subject": "people (leave-one-out)", "ρ": agreement.value}
    return replace(table, rows=(*table.rows, tuple(of_people.get(column.header) for column in table.columns)))


# -- the questions, each with its result in one line ----------------------------------------------------------------


def _sense_result(_run: SawCData, records: Sequence[Record]) -> str:
    mean = partial(value_of, records, "condition_mean(over=trials)")
    same, other = mean(condition="same_sense=True"), mean(condition="same_sense=False")
    texts = [ratio_tests_in_words(records)]
    if same is not None and other is not None:
        texts.insert(0, f"mean rating {same:.2f} for the same sense, {other:.2f} for different senses")
    return "; ".join(filter(None, texts))


def _boundary_result(_run: SawCData, records: Sequence[Record]) -> str:
    """The lowest AIC next to that of the model without distance; where no layer is below it, this is said first."""
    lowest = [record for record in records if record.statistic == layers.LOWEST_AIC]
    best = best_of_records(lowest, layers.LOWEST_AIC)
    text = best_in_words(lowest, layers.LOWEST_AIC, "lowest AIC")
    if best and len({r.layer for r in records if (r.statistic, r.subject) == ("aic", best.subject)}) > 1:
        text += ", the layer chosen on the same items"
    # of these no finite AIC can be given: they are better than the best of the others
    separated = "; ".join(
        f"{record.subject}: {record.note.removeprefix('undefined: ')}" for record in lowest if SEPARATED in record.note
    )
    if separated:
        return f"{separated}; of the others, {text}" if text else separated
    empty = best and find_record(records, "aic(model=intercept_only)", subject=best.subject, view=best.view)
    if best is None or not empty or empty.value is None or best.value is None:
        return text
    if best.value < empty.value:
        return f"{text} (without distance: {empty.value:.2f})"
    first = f"no layer separates the senses better than a model without distance (AIC {empty.value:.2f})"
    return f"{first}; {text}"


def _beyond_result(_run: SawCData, records: Sequence[Record]) -> str:
    own = [record for record in records if not any(name in record.statistic for name in languages.TESTS)]
    return "; ".join(filter(None, (ratio_tests_in_words(own), languages.languages_in_words(records))))


def _size_result(_run: SawCData, records: Sequence[Record]) -> str:
    record = find_record(records, statistic_name("slope", of="log10_parameters", outcome="max_r_squared"))
    if record is None or record.value is None or record.low is None or record.high is None:
        return ""
    change = f"{record.value:.3f} [{record.low:.3f}, {record.high:.3f}]"
    return f"R² changes by {change} per tenfold parameters (n = {record.n})"


@study.question(
    "Do people rate two uses of the same sense as more related than two different senses?",
    place="SAW-C §3.5",
    needs=("ratings", "senses"),
    said=_sense_result,
    families=(TestFamily("sense", ("chi2",), repeats=("p",)), COEFFICIENTS, ORDINAL),
)
def ratings_by_sense(run: SawCData) -> object:
    """Compare people's ratings of pairs with the same sense and with different senses."""
    own = people.by_sense(run), senses.tests_of(run, "Q1"), senses.reductions(run)
    return *own, ambiguity.ratings_by_type(run)


@study.question(
    "At which layer do distances separate the same sense from different senses best?",
    place="SAW-C §4.2",
    needs=("senses", "distances"),
    said=_boundary_result,
)
def sense_boundary(run: SawCData) -> object:
    """Find the layer at which distances separate the senses."""
    return layers.boundary(run)


@study.question(
    "How well do distances predict relatedness at each layer, beside single people?",
    place="SAW-C §4.3, §4.4",
    needs=("norms",),
    said=lambda _run, records: best_in_words(records, layers.BEST_R2, "highest R²", chosen=layers.CHOSEN_R2),
)
def relatedness(run: SawCData) -> object:
    """Compare distances and models' ratings with people's norms."""
    if not run.has("models"):
        no_model = "Not answered: no subject of the run has distances or ratings. The figures show single raters."
        return no_model, layers.agreement_figures(run, {})
    return layers.relatedness(run), models.compare_ratings(run), models.recited_norms(run)


@study.question(
    "Do people see a sense boundary beyond distance, and in which direction is every model off?",
    place="SAW-C §4.5, §5.4",
    needs=("norms", "senses", "distances"),
    said=_beyond_result,
    families=(
        TestFamily("languages", languages.LANGUAGE_TESTS),
        TestFamily("sense_and_distance", ("chi2",), repeats=("p",)),
        COEFFICIENTS,
        ORDINAL,
    ),
)
def beyond_distance(run: SawCData) -> object:
    """Compare what sense and distance explain."""
    own = senses.tests_of(run, "Q4"), senses.explain_norms(run), senses.joint_regressions(run)
    return *own, ambiguity.beyond_distance(run), languages.joint_ratings(run)


@study.question(
    "Do larger models fit people better, and how does fit change with depth?",
    place="SAW-C §5.2, §5.3",
    needs=("norms", "distances"),
    said=_size_result,
    families=(
        TestFamily("size", ("slope",), repeats=("p",)),
        TestFamily("within_family", ("slope_within_family", "r_squared_difference(between=sizes)")),
        TestFamily("languages", languages.LANGUAGE_TERMS),
        TestFamily("multilingual", ("r_squared_difference(between=multilingual)",)),
    ),
)
def size(run: SawCData) -> object:
    """Regress fit on size, and follow families through their layers."""
    return run.once(models.size_and_depth), languages.joint_layers_and_size(run)
