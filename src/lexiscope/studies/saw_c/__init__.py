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
from lexiscope.analysis.layers.layers import RHO as RHO_BY_LAYER
from lexiscope.analysis.layers.layers import R
from lexiscope.core.result import Record
from lexiscope.core.study import PlannedAnalysis
from lexiscope.report.answers.effects import Condition, PairedEstimates, SlopeOf, TwoConditions
from lexiscope.report.answers.layers import BestLayers, LayerCurves
from lexiscope.report.answers.numbers import R_SQUARED, RHO, Quantity, pick
from lexiscope.report.answers.subjects import AVERAGE_PERSON, RELIABILITY, SubjectEstimates
from lexiscope.report.part import part_of
from lexiscope.report.parts import layer_parts as parts
from lexiscope.report.tables import Table
from lexiscope.studies.kit.rated_run import write_norms
from lexiscope.studies.kit.study import Study
from lexiscope.studies.saw_c import further, layers, models, people, senses
from lexiscope.studies.saw_c.data import BETO, DIFFERENT, SAME, VIEWS, SawCData, complete_settings, load_run
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
        sizes = part_of(run.once(models.size_and_depth)).records
        if any(record.statistic.startswith("slope") and record.value is not None for record in sizes):
            texts.append(
                "The regression of fit on size rests on few models of a few families, which are not independent."
            )
    return texts


# -- which results decide the answers of the Results page -----------------------------------------------------------

MAIN = (BETO, "bert")
"""The subjects that the papers look at most closely."""
OF_DISTANCE = replace(RHO, sign=-1.0)
"""Distances fall as relatedness rises: the sign is turned once, here."""
RESIDUAL = Quantity("", "points", bounds=None)

AGREEMENT = SubjectEstimates(
    "Agreement of models and of people with the mean ratings",
    pick(parts.CHOSEN_RHO),
    OF_DISTANCE,
    claim="follow people in the expected direction",
    against=(AVERAGE_PERSON, RELIABILITY),
    in_sample=pick(parts.BEST_RHO),
    place=pick(parts.BELOW_CHOSEN),
    raters="raters",
    strong=MAIN,
    name="agreement",
    with_table=True,
    table_title="Agreement with people’s mean ratings",
    axis="Spearman’s ρ with the mean rating of people",
)

SENSE_IN_RATINGS = TwoConditions(
    Condition("pairs with the same sense", pick("condition_mean(over=trials)", condition="same_sense=True"), SAME),
    Condition(
        "pairs with different senses", pick("condition_mean(over=trials)", condition="same_sense=False"), DIFFERENT
    ),
    pick("fixed_effect(term=Same_sense,test=sense,model=full)"),
    predicted="above",
    tests=(
        ("Mixed model", pick("chi2(test=sense,df=1)")),
        ("With all random slopes", pick("chi2(test=sense_maximal,df=1)")),
    ),
    values="relatedness_by_sense",
    unit="pairs",
    title="Mean rating of the pairs, by sense",
)

SENSE_BOUNDARY = BestLayers(
    "Layers that separate the senses best",
    pick(parts.LOWEST_AIC),
    pick("aic(model=intercept_only)"),
    pick(parts.SAVED),
    what="separates the same sense from different senses",
    compared=pick(parts.BEST_RHO),
    compared_name="relatedness",
    strong=MAIN,
)

LAYERS = LayerCurves(
    "Agreement with people by layer",
    pick(RHO_BY_LAYER),
    OF_DISTANCE,
    what="agreement with people",
    against=(AVERAGE_PERSON,),
    second=pick(parts.LOWEST_AIC),
    second_name="best layer for sense",
    strong=MAIN,
    allowing=pick(parts.CHOSEN_RHO),
)

BEYOND_DISTANCE = PairedEstimates(
    "The differences between people’s ratings and what distance predicts",
    pick("mean_residual(model=norm~distance,layer=chosen)", condition="same_sense=True"),
    pick("mean_residual(model=norm~distance,layer=chosen)", condition="same_sense=False"),
    "same sense",
    "different senses",
    RESIDUAL,
    claim="people rate pairs with the same sense higher, and pairs with different senses lower, than distance predicts",
    axis="Rating minus prediction from distance, points of the scale",
    below="people rate lower than predicted",
    above="people rate higher than predicted",
    tests=(
        ("Sense beyond distance", pick("chi2(test=sense_beyond_distance,df=1)")),
        ("Distance beyond sense", pick("chi2(test=distance_beyond_sense,df=1)")),
    ),
    strong=MAIN,
)

SIZE = SlopeOf(
    "Fit and number of parameters",
    pick("slope(of=log10_parameters,outcome=max_r_squared)"),
    pick(parts.BEST_R2),
    pick("n_parameters"),
    R_SQUARED,
    what="R² (Pearson’s r squared; ρ above is Spearman’s)",
    per="for ten times as many parameters",
    x_label="Parameters",
    strong=MAIN,
    allowing=pick(parts.CHOSEN_R2),
    slope_allowing=pick("slope(of=log10_parameters,outcome=r_squared_at_chosen_layer)"),
)


# -- what SAW-C registered ------------------------------------------------------------------------------------------


_PEOPLE = ("condition_mean(", "condition_sd(", "test=sense")
_OF_AIC = ("aic", parts.LOWEST_AIC, "best_layer(by=aic)")
_BY_R2, _BY_RHO = "best_layer(by=r_squared)", "best_layer(by=spearman)"
_OF_NORMS = ("r_squared", R, RHO_BY_LAYER, parts.BEST_R2, parts.BEST_RHO, _BY_R2, _BY_RHO)
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
    _of_beto("Q3", "BETO's place among single raters", _TABLE.format("4.4"), parts.PLACES),
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
    headline="Do language models relate word uses as people do?",
    answer=AGREEMENT,
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


study.writes(write_norms)


@study.writes
def r_script(run: SawCData, folder: Path, _records: Sequence[Record]) -> Sequence[str]:
    """Write the mixed models and their trials for R."""
    if "r_script" not in run.settings.outputs:
        return ()
    return *senses.write_r_script(run, folder), *further.write_r_script(run, folder)


@study.overview
def overview(records: Sequence[Record], settings: SawCSettings) -> Table:
    """Return the shortest account of a run: every subject's best layer and fit, and people's agreement by name."""

    return parts.overview_table(records, settings.views[0])


# -- the questions, each with its result in one line ----------------------------------------------------------------


@study.question(
    "Do people rate two uses of the same sense as more related than two different senses?",
    place="SAW-C §3.5",
    needs=("ratings", "senses"),
    answer=SENSE_IN_RATINGS,
    short="People",
    families=(TestFamily("sense", ("chi2",), repeats=("p",)), COEFFICIENTS, ORDINAL),
)
def ratings_by_sense(run: SawCData) -> object:
    """Compare people's ratings of pairs with the same sense and with different senses."""
    own = people.by_sense(run), senses.tests_of(run, "Q1"), senses.reductions(run)
    return *own, further.ratings_by_type(run)


@study.question(
    "At which layer do distances separate senses best?",
    place="SAW-C §4.2",
    needs=("senses", "distances"),
    answer=SENSE_BOUNDARY,
    short="Senses",
)
def sense_boundary(run: SawCData) -> object:
    """Find the layer at which distances separate the senses."""
    return layers.boundary(run)


@study.question(
    "At which layer do models come closest to people?",
    place="SAW-C §4.3, §4.4",
    needs=("norms",),
    families=(
        TestFamily("subjects", ("r_squared_difference(between=subjects)",)),
        TestFamily("layers", ("r_squared_difference(between=layers)",)),
    ),
    answer=LAYERS,
    short="Layers",
)
def relatedness(run: SawCData) -> object:
    """Compare distances and models' ratings with people's norms."""
    if not run.has("models"):
        no_model = "Not answered: no subject of the run has distances or ratings. The figures show single raters."
        return no_model, layers.agreement_figures(run, {})
    return layers.relatedness(run), models.compare_ratings(run), models.recited_norms(run)


@study.question(
    "Do people see a boundary between senses beyond distance?",
    place="SAW-C §4.5, §5.4",
    needs=("norms", "senses", "distances"),
    answer=BEYOND_DISTANCE,
    short="Boundary",
    families=(
        TestFamily("languages", further.LANGUAGE_TESTS),
        TestFamily("sense_and_distance", ("chi2",), repeats=("p",)),
        COEFFICIENTS,
        ORDINAL,
    ),
)
def beyond_distance(run: SawCData) -> object:
    """Compare what sense and distance explain."""
    own = senses.tests_of(run, "Q4"), senses.explain_norms(run), senses.joint_regressions(run)
    return *own, further.beyond_distance(run), further.joint_ratings(run)


@study.question(
    "Do larger models follow people more closely?",
    place="SAW-C §5.2, §5.3",
    needs=("norms", "distances"),
    answer=SIZE,
    short="Size",
    families=(
        TestFamily("size", ("slope",), repeats=("p",)),
        TestFamily("within_family", ("slope_within_family", "r_squared_difference(between=sizes)")),
        TestFamily("languages", further.LANGUAGE_TERMS),
        TestFamily("multilingual", ("r_squared_difference(between=multilingual)",)),
    ),
)
def size(run: SawCData) -> object:
    """Regress fit on size, and follow families through their layers."""
    return run.once(models.size_and_depth), further.joint_layers_and_size(run)
