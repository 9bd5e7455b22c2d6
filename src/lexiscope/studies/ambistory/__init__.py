"""Plausibility of senses in stories: how plausible is a meaning of a homonym, to people and to models?

Gehring & Roth 2025. The study runs on AmbiStory with its recorded ratings, or on the embedded ``mini_ambistory``; chat
models, language models, recorded predictions and baselines answer what people answered.
"""

from __future__ import annotations

from dataclasses import replace

from lexiscope.analysis.families import TestFamily
from lexiscope.core.showing import counted
from lexiscope.report.answers.numbers import PERCENT, RHO, Pick, Quantity, pick
from lexiscope.report.answers.one import Named, OneEstimate
from lexiscope.report.answers.subjects import Against, SubjectEstimates
from lexiscope.report.part import Remark
from lexiscope.report.parts.predictor_tables import predictors_overview
from lexiscope.report.sections import subjects_table
from lexiscope.report.tables import Column, Table
from lexiscope.resources.tables.delimited import read_csv
from lexiscope.studies.ambistory import coding, models, people
from lexiscope.studies.ambistory.data import PAIRS, RATED_TWICE, SHOTS, SIZES, TEXTS, AmbistoryData, load_run
from lexiscope.studies.ambistory.settings import AmbistorySettings
from lexiscope.studies.kit.study import Study


def _methods(run: AmbistoryData) -> tuple[str, ...]:
    asked = f"Live subjects were asked the {counted(len(run.asked_ids), 'sample')} of: {run.split}."
    return (*TEXTS["methods"], asked)


# -- which results decide the answers of the Results page -----------------------------------------------------------

GUESSES = (models.MAJORITY, models.RANDOM)
"""Rows that are no models."""


def _is_whole(condition: object) -> bool:
    """Return whether a condition is a split or all of it, and not one kind of its stories."""
    return "," not in str(condition)


ALPHA = Quantity("α", "Krippendorff’s α (interval)", bounds=(-1.0, 1.0))
ONE_RATER = Against("one rater", pick("single_rater_rho(over=raters)", condition=_is_whole))

AGREEMENT = OneEstimate(
    Named("the agreement of raters (Krippendorff’s α, interval)", pick("krippendorff_alpha(level=interval)"), ALPHA),
    (
        Named("the agreement of one rater with the mean of the others (Spearman)", ONE_RATER.wanted or pick("-"), RHO),
        Named("the reliability of the mean ratings", pick("reliability_of_means("), Quantity("", "", (-1.0, 1.0))),
    ),
    drawn=SubjectEstimates(
        "Agreement of raters by part of the data",
        pick("krippendorff_alpha(level=interval)"),
        ALPHA,
        claim="agree",
        rows_are=("part", "parts"),
        label="condition",
        name="alpha",
    ),
)
ENDINGS = OneEstimate(
    Named(
        "the share of setups in which an ending raises the rating of its meaning",
        pick("ending_raises_intended(share=above)"),
        PERCENT,
        "ending raises its meaning",
    ),
    (
        Named(
            "the share in which the intended meaning is rated above the other",
            pick("intended_above_other(share=above)"),
            PERCENT,
            "intended above the other",
        ),
    ),
    against=50.0,
    against_name="half",
    title="Setups in which the ending has its effect",
)
SCALE = OneEstimate(
    Named(
        "the correlation of a meaning’s mean rating with its frequency (Spearman)",
        pick("sense_count_rho(with=mean)"),
        RHO,
    ),
    against=0.0,
    against_name="no correlation",
    drawn=SubjectEstimates(
        "Ratings by point of the scale",
        Pick("rating_share(", {"statistic": lambda name: "_or_" not in str(name)}),
        PERCENT,
        claim="are used",
        label="point",
        name="ratings",
        axis="Percent of the ratings",
    ),
)
MODELS = SubjectEstimates(
    "Agreement of models with people’s mean ratings",
    pick("spearman(of=predictions,with=norms)", condition=_is_whole),
    RHO,
    claim="follow people’s ratings",
    against=(ONE_RATER,),
    uncounted=GUESSES,
    name="models",
    axis="Spearman’s ρ with people’s mean ratings",
)
OPEN_OR_ENDED = SubjectEstimates(
    "Accuracy within SD on ended minus open stories",
    pick("accuracy_difference(of=ended_minus_open)"),
    Quantity("", "Accuracy on ended minus open stories", bounds=None, digits=1, times=100.0, unit=" points"),
    claim="are more accurate on ended stories",
    claim_one="is more accurate on ended stories by",
    uncounted=GUESSES,
    name="ended_minus_open",
)
LABELS = SubjectEstimates(
    "Label 1 on ended minus open stories",
    pick(people.ENDED_LABELS),
    Quantity("", "Share of label 1 on ended minus open stories", bounds=None, digits=1, unit=" points"),
    claim="give ended stories the label 1 more often",
    claim_one="gives ended stories the label 1 more often, by",
    rows_are=("group", "groups"),
    uncounted=GUESSES,
    name="ended_labels",
)


study = Study(
    "ambistory",
    headline="Do models find a meaning as plausible as people do?",
    answer=MODELS,
    title=lambda run: f"Plausibility of senses: {run.card.title}",
    subtitle="People and models side by side",
    citation="Gehring, J., & Roth, M. (2025). AmbiStory: A Challenging Dataset of Lexically Ambiguous Short Stories.",
    task="plausibility",
    printed="printed.csv",
    claims="claims.csv",
    methods=_methods,
    limits=lambda run: TEXTS["limits"] + (TEXTS["limits of AmbiStory"] if run.name == "ambistory" else ()),
    mini=AmbistorySettings(dataset="mini_ambistory", subjects=("baseline:random",)),
    complete=lambda settings: replace(settings, dataset=settings.dataset or ("" if settings.items else "ambistory")),
)
study.run_data(load_run)
study.section("The stories")(people.stories)


@study.section("Subjects asked")
def subjects(run: AmbistoryData) -> object:
    """Return the subjects of the run, and which of them gave no ratings."""
    silent = [f"{subject} gave no ratings: it is in no table of results." for subject in run.silent_subjects]
    unasked = [Remark(f"{subject} was not asked: {why}.") for subject, why in run.unasked.items()]
    table = subjects_table(tuple(run.facts.values())) if run.facts else None
    return (silent if run.facts else (), unasked, table, models.replies(run))


study.question(
    "How much do people agree on the plausibility of a meaning?",
    place="§4.1, §5.1",
    needs="ratings",
    answer=AGREEMENT,
    short="Agreement",
)(people.agreement)
study.question(
    "Does an ending change how plausible a meaning is?", place="§4.2", needs="ratings", answer=ENDINGS, short="Endings"
)(people.endings)
study.question(
    "Do people use the whole scale, and are frequent senses more plausible?",
    place="§4.2",
    needs="ratings",
    answer=SCALE,
    short="Scale",
    families=(TestFamily("sense_counts", ("sense_count_rho",), repeats=("sense_count_rho(value=p)",)),),
)(people.scale)
study.question(
    "How close do models come to people's ratings?",
    place="§5.1, §5.2, Table 3",
    needs=RATED_TWICE,
    answer=MODELS,
    short="Models",
)(models.results)
study.question(
    "Are open stories harder than ended ones?",
    place="§5.3.2, Table 7",
    needs="ratings",
    answer=OPEN_OR_ENDED,
    short="Open, ended",
    families=(
        TestFamily("open_against_ended_plain", ("rank_sum(ties=ignored,value=p)",), columns=("p, ties ignored",)),
        TestFamily("open_against_ended", ("rank_sum",), repeats=("rank_sum(value=p)",), columns=("p",)),
    ),
)(models.open_or_ended)
study.question(
    "Does training on ratings make the errors of a model smaller?",
    place="§5.3",
    needs=(RATED_TWICE, PAIRS),
    short="Training",
    families=(
        TestFamily("tuning", ("signed_rank",), columns=("p",)),
        TestFamily("label_shift", ("marginal_homogeneity",), columns=("p, labels",)),
    ),
)(models.tuning)
study.question(
    "Do worked examples in the prompt bring a model closer to people's ratings?",
    place="§5.2, Table 3",
    needs=(RATED_TWICE, SHOTS),
    short="Examples",
    families=(TestFamily("worked_examples", ("signed_rank",)),),
)(models.worked_examples)
study.question(
    "Are larger models closer to people's ratings?",
    place="§5.2, Table 3",
    needs=(RATED_TWICE, SIZES),
    short="Size",
    families=(TestFamily("size", ("spearman(of=n_parameters)",)),),
)(models.size)
study.question(
    "Are ended stories given other labels than open ones?", place="§5.3.2, Table 6", answer=LABELS, short="Labels"
)(people.labels)
study.section("Example items", where="after", section_id="cases")(coding.single_samples)
study.section("What raters wrote with their ratings", where="after", section_id="comments")(coding.raters_comments)
study.writes(coding.write_sheets)
study.writes(people.write_r_script)


@study.section("What the paper says and the data do not", where="after")
def statements(run: AmbistoryData) -> Table | None:
    """Return the statements of the paper that the released data do not support."""
    if run.name != "ambistory":
        return None
    rows = tuple(
        (row["said"], row["found"]) for _, row in read_csv(study.home / "statements.csv", ("said", "found")).rows()
    )
    columns = (Column("Said in the paper"), Column("What the released data say"))
    return Table("statements", "", "Statements that the data do not support as worded", columns, rows)


study.overview(lambda records, _settings: predictors_overview(records))
