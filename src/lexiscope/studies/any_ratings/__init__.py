"""Any table of ratings: agreement of raters, ceilings, distribution, conditions, and models compared with raters.

``lexiscope analyse FILE`` runs it. It follows no paper.
"""

from __future__ import annotations

from collections.abc import Sequence

from lexiscope.analysis.families import TestFamily
from lexiscope.core.result import Record
from lexiscope.report.answers.numbers import words_of_condition
from lexiscope.report.part import record_cell
from lexiscope.report.tables import INTEGER, P_VALUE, Cell, Format, Table, columns
from lexiscope.studies.any_ratings import answers, conditions, models, ratings
from lexiscope.studies.any_ratings.data import (
    CONDITIONS,
    GROUPS,
    JUDGMENTS,
    SEVERAL_CONDITIONS,
    SEVERAL_MODELS,
    RatedRun,
    compared_answers,
    load_run,
)
from lexiscope.studies.any_ratings.settings import AnyRatingsSettings
from lexiscope.studies.kit.rated_run import write_norms
from lexiscope.studies.kit.study import Study


def methods(run: RatedRun) -> list[str]:
    """Return how the results were computed: only what this run has."""
    texts = [
        "Agreement of one rater with the others: Spearman's correlation of the rater with the mean of all others, over "
        "the items that others rated too. Intervals of agreement take raters as the sample, intervals of mean ratings "
        "and of models resample words (items, if no words are known)."
    ]
    if run.conditions:
        texts.append(
            "Conditions: the mean of the items' mean ratings at each level. Mixed models of single ratings have "
            "crossed random intercepts of raters and items (and words), and slopes of raters for a condition that "
            "varies within raters; likelihood-ratio tests, fitted by maximum likelihood."
        )
    if run.models:
        texts.append(
            "Models: Spearman's correlation with the mean ratings; distances count as nearness. The best layer of a "
            "model is too good, because it was chosen on the same items; the value that allows for the choice is given."
        )
    return texts


def limits(run: RatedRun) -> list[str]:
    """Return the limits of this run."""
    texts = ["Mean ratings come from the raters of this file; other raters may rate otherwise."]
    if not run.settings.scale and not any(item.scale for item in run.items):
        texts.append("No scale was named: ratings outside the scale of the study would not have been noticed.")
    return texts


study = Study(
    "any_ratings",
    title=lambda run: f"Ratings: {run.card.title}",
    headline=answers.headline,
    answer=answers.top,
    citation=(),
    methods=methods,
    limits=limits,
    mini=AnyRatingsSettings(dataset="mini_relatedness", subjects=("encoder:minilm",)),
)
study.run_data(load_run)
study.compared(compared_answers)


_OVERVIEW = {
    "leave_one_out_agreement(method=spearman,summary=mean)": "Agreement of one rater with the mean of the others, ρ",
    "krippendorff_alpha(level=interval)": "Krippendorff's α (interval)",
    "retest_agreement(method=spearman)": "Repeated ratings of one rater, ρ of earlier and later",
    "retest_agreement(method=exact)": "Repeated ratings of one rater, share of equal pairs",
    "percent_agreement(over=items)": "Share of rater pairs with the same choice",
    "fleiss_kappa": "Fleiss' κ",
    "split_half_reliability": "Split-half reliability of the mean ratings",
    "mean_rating(over=items)": "Mean rating",
    "mean_difference": "Difference of mean ratings",
    "spearman(of=": "Correlation with the mean ratings, ρ",
    "chi2(": "Test in a mixed model, χ²",
    "spearman(with=norms,layer=chosen)": "Model and mean ratings, ρ (layer chosen on other words)",
    "spearman(with=norms)": "Model and mean ratings, ρ",
}
"""What is on the screen, by the beginning of the statistic's name, in its order."""
_FREE, _MOST = Format("number", 2), 24


@study.overview
def overview(records: Sequence[Record], settings: AnyRatingsSettings) -> Table:
    """Return the main results of a run on one screen."""
    rows: list[tuple[Cell, ...]] = []
    for name, label in _OVERVIEW.items():
        own = [record for record in records if record.statistic.startswith(name) and record.layer is None]
        # of a model with layers, the value that allows for the choice of its layer
        own = [record for record in own if name != "spearman(with=norms)" or "layer=" not in record.statistic]
        # combinations of conditions are many, and would leave no room for the tests
        own = [r for r in own if not (name.startswith("mean_rating") and r.condition.count("=") > 1)]
        for record in own if len(rows) < _MOST else ():
            of = words_of_condition(record.condition) if name.startswith(("mean", "chi2")) else ""
            of = record.statistic.partition("of=")[2].partition(",")[0] if name == "spearman(of=" else of
            subject = record.subject if name.startswith("spearman(with") else ""
            p = record.p if record.p_adjusted is None else record.p_adjusted
            shown = f" ({of})" if ": " in of else f": {of or subject}" if of or subject else ""
            rows.append((f"{label}{shown}", record_cell(record), p, record.n))
    heads = columns("Result", ("Value [95 % interval]", _FREE), ("p, adjusted (Holm)", P_VALUE), ("n", INTEGER))
    return Table("overview", "", "Summary", heads, tuple(rows))


@study.section("The data", section_id="sizes")
def sizes(run: RatedRun) -> object:
    """Count items, raters and ratings, and say what must be known of them."""
    return ratings.sizes(run), list(run.main_remarks())


study.writes(write_norms)
study.writes(conditions.write_r_script)


@study.question(
    "How well do the raters agree?", place="Agreement", needs=JUDGMENTS, answer=answers.agreement, short="Agreement"
)
def agreement(run: RatedRun) -> object:
    """Measure agreement, and find the raters who do not agree."""
    return ratings.agreement(run)


@study.question(
    "What can a model at best be expected to reach?",
    place="Ceilings",
    needs="ratings",
    answer=answers.ceilings,
    short="Ceilings",
)
def ceilings(run: RatedRun) -> object:
    """Compute the human ceilings."""
    return ratings.ceilings(run)


@study.question(
    "How are the ratings distributed, and on which items do raters disagree?",
    place="Items",
    needs=JUDGMENTS,
    answer=answers.distribution,
    short="Distribution",
)
def distribution(run: RatedRun) -> object:
    """Describe the ratings and the items."""
    return ratings.distribution(run)


@study.question(
    "Do the conditions change the ratings?",
    place="Conditions",
    needs=("ratings", CONDITIONS),
    families=(TestFamily("conditions", ("chi2",)),),
    answer=answers.condition_effects,
    short="Conditions",
)
def effects(run: RatedRun) -> object:
    """Test each condition."""
    return conditions.conditions(run)


@study.question(
    "Do the conditions change the ratings together?",
    place="Conditions",
    needs=("ratings", SEVERAL_CONDITIONS),
    families=(TestFamily("conditions_together", ("chi2",)),),
    answer=answers.crossed_conditions,
    short="Together",
)
def together(run: RatedRun) -> object:
    """Cross the conditions, and test each given the others."""
    return conditions.together(run)


@study.question("Do groups of raters rate alike?", place="Raters", needs=("ratings", GROUPS))
def groups(run: RatedRun) -> object:
    """Compare groups of raters."""
    return ratings.groups(run)


@study.question(
    "How close do models come to the mean ratings?",
    place="Models",
    needs=("norms", "models"),
    answer=answers.CLOSENESS,
    short="Models",
)
def closeness(run: RatedRun) -> object:
    """Compare models with mean ratings, layer by layer."""
    return models.closeness(run)


@study.question(
    "Which model is closer?",
    place="Models",
    needs=("norms", SEVERAL_MODELS),
    families=(TestFamily("models", ("spearman_difference",)),),
    answer=answers.differences,
    short="Differences",
)
def differences(run: RatedRun) -> object:
    """Compare each two models."""
    return models.differences(run)


@study.question(
    "Is a model closer to the mean ratings than one rater is?",
    place="Models",
    needs=("ratings", "models"),
    answer=answers.AGAINST_RATERS,
    short="Raters",
)
def against_raters(run: RatedRun) -> object:
    """Compare models with single raters."""
    return models.against_raters(run)
