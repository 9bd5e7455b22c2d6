"""Plausibility of senses in stories: how plausible is a meaning of a homonym, to people and to models?

Gehring & Roth 2025. The study runs on AmbiStory with its recorded ratings, or on the embedded ``mini_ambistory``; chat
models, language models, recorded predictions and baselines answer what people answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lexiscope.core.result import Record
from lexiscope.report.part import Part
from lexiscope.report.sections import subjects_table
from lexiscope.report.style import short_names
from lexiscope.report.tables import Cell as TableCell
from lexiscope.report.tables import Column, Table
from lexiscope.studies.ambistory.cases import cases, write_sheet
from lexiscope.studies.ambistory.data import AmbistoryData, gather, given_files
from lexiscope.studies.ambistory.distances import distances
from lexiscope.studies.ambistory.effects import distribution, ending_words, endings, frequency, scale_words
from lexiscope.studies.ambistory.kinds import kind_words, open_or_ended, tuning, tuning_words
from lexiscope.studies.ambistory.models import INTEGER_FORM, RHO, ROUNDED_FORM, WRONG_FORMS, model_words, results
from lexiscope.studies.ambistory.numbers import THREE
from lexiscope.studies.ambistory.people import agreement, agreement_words, stories
from lexiscope.studies.ambistory.settings import AmbistorySettings
from lexiscope.studies.ambistory.tags import error_tags
from lexiscope.studies.kit.study import Study

MEANING: dict[str, str] = {
    # the stories
    "n_samples": "samples: one meaning judged in one story",
    "n_stories": "stories: precontext, ambiguous sentence, ending or none",
    "n_setups": "setups: precontext and ambiguous sentence",
    "n_forms": "distinct forms of the ambiguous word, case kept",
    "n_lemmas": "distinct lemmas of the forms; guessed, they were never published",
    "n_ratings": "ratings of people",
    "n_nonsensical": "ticks of 'the text is nonsensical'; nothing is filtered by them",
    "n_sense_pairs": "distinct pairs of meanings of a form, a pair counted once in each split",
    "sentences_per_form": "ambiguous sentences for each form",
    "setups_of_form": "setups of one form (condition)",
    "mean_words": "mean number of words between white space; of: the part of the story",
    # people
    "krippendorff_alpha": "Krippendorff's alpha of all ratings; interval: setups resampled",
    "mean_sd": "mean standard deviation of the ratings of a sample",
    "form_mean_sd": "mean standard deviation of the samples of one form (condition)",
    "best_rater_correlation": "ceiling of Gehring & Roth (2025): mean over groups of the best rater's rho with others",
    "best_rater_accuracy_within_sd": "the same with the best rater's accuracy within SD of the others",
    "shuffled_best_rater": "the same recipe where ratings are shuffled among raters: what selection alone gives",
    "reliability_of_means": "reliability of the mean of several ratings, by Spearman-Brown from alpha",
    "single_rater_rho": "one rater against the mean of the others; over: all ratings at once, or mean over raters",
    "single_rater_accuracy_within_sd": "share of ratings within SD of the other ratings of the sample",
    "variance": "variance component of ratings within groups of raters; of: sample, rater, residual",
    "icc": "intraclass correlation, raters as a sample; ratings: of one rating, or of the mean of several",
    "rater_effect_f": "F of the raters' leniency within groups",
    # endings and the scale
    "absolute_difference": "mean absolute difference of mean ratings; interval: words resampled",
    "absolute_difference_sd": "its standard deviation; ddof: what is taken off n",
    "intended_above_other": "percent of ended stories whose intended meaning is above, equal to, below the other",
    "ending_raises_intended": "percent in which the ending puts its meaning above, equal to, below the open story",
    "rating_share": "percent of all ratings at a point",
    "label_share": "percent of samples with a label: rounded means of people, predictions of a subject",
    "sense_count_rho": "Spearman's rho of WordNet's tag count of the sense with the mean, or the SD, of the ratings",
    # subjects
    "spearman": "Spearman's rho of predictions with people's mean ratings; interval: words resampled",
    "nearness_spearman": "the same of an encoder's nearness of story and meaning (minus cosine distance), at a layer",
    "accuracy_within_sd": "share of predictions within max(1, SD) of the mean; in the name: sd, edge, form, unread",
    "expected_accuracy_within_sd": "its expectation for guesses",
    "n_asked": "questions that a subject was asked, repetitions included",
    "n_items_asked": "samples that a subject was asked about",
    "n_items_read": "samples with at least one readable answer: rho and accuracy are over these",
    "n_unreadable": "answers without value; kind: what the reply was",
    # open and ended, before and after
    "kind_mean_sd": "mean standard deviation of the ratings of open, or of ended, stories",
    "rank_sum": "Wilcoxon's rank-sum test of the SDs of open against ended stories: U, or its p; ties: ignored",
    "mean_absolute_error": "mean absolute error of predictions; of: base, tuned",
    "signed_rank": "Wilcoxon's signed-rank test of the absolute errors of base and tuned model",
    "accuracy_difference": "accuracy within SD of the tuned model minus that of the base model",
    "error_tag_share": "percent of the largest errors of a subject, or of all, that a coder gave a tag",
    "error_tag_same": "percent of errors on which two coders agree about a tag",
    "error_tag_kappa": "Cohen's kappa of two coders on a tag",
    "item_mean": "mean rating of one sample (condition)",
}

METHODS = (
    "A sample is one meaning of a homonym, judged in one story from 1 (not plausible at all) to "
    "5 (the only plausible meaning). The mean rating is the sum over the count, its SD has n − 1. Nothing is filtered. "
    "Subjects are asked the question that people were asked, one sample at a time, without row numbers, ids, or the "
    "other meaning of the story.",
    "Correlations are Spearman's, with average ranks. Intervals of subjects resample words, those of alpha setups: "
    "samples of one word are not independent. Rank tests take samples as independent, as in Gehring & Roth (2025).",
)
LIMITS = (
    "The two meanings of a story are not a distribution: both can be plausible, and both can be not. A system that "
    "reads both meanings of a story, or its place in the setup, sees more than any rater did.",
    "Accuracy within SD has a wide threshold where people disagree; there nearly every prediction is right.",
)
OF_AMBISTORY = (
    "Five or six people judged each sample. Ties among the mean ratings are many (38 distinct values).",
    "Words come from puns; writers and raters were crowd workers, nine in ten of them from the United Kingdom; the "
    "precontexts are a language model's. Models may have read the released files: a high score is no proof of "
    "understanding.",
)
STATEMENTS: tuple[tuple[str, str], ...] = (
    (
        "No homonym of the test split occurs in training.",
        "The form base does: 6 of its test samples have the two meanings of 6 training samples. 36 test samples and 9 "
        "dev samples have a definition that also occurs in training.",
    ),
    ("Humans unanimously agree on an example (state).", "Its ratings are 5, 3, 5, 4, 5."),
    (
        "The majority label is 4.",
        "On test the mode of the rounded means is 3 (225 against 223); 4 is the mode over all splits, and the constant "
        "with the best accuracy in each split.",
    ),
    (
        "Low-frequency senses cause disagreement.",
        "The frequency of a sense goes with the mean ratings a little, and not with their standard deviations.",
    ),
    (
        "Open and ended stories do not differ in disagreement.",
        "Neither over all samples nor on test; on train alone they do (p below .05), open stories having the lower "
        "SDs. On test open ones have the higher.",
    ),
)
"""What the paper says, and what the released data say to it."""


def _methods(run: AmbistoryData) -> tuple[str, ...]:
    return (*METHODS, f"Live subjects were asked the {len(run.asked)} samples of: {run.split}.")


def _limits(run: AmbistoryData) -> tuple[str, ...]:
    return (*LIMITS, *(OF_AMBISTORY if run.name == "ambistory" else ()))


study = Study(
    "ambistory",
    title=lambda run: f"Plausibility of senses: {run.card.title}",
    subtitle="People and models side by side",
    citation="Gehring, J., & Roth, M. (2025). AmbiStory: A Challenging Dataset of Lexically Ambiguous Short Stories.",
    task="plausibility",
    printed="printed.csv",
    claims="claims.csv",
    meanings=MEANING,
    methods=_methods,
    limits=_limits,
    mini=AmbistorySettings(dataset="mini_ambistory", subjects=("baseline:random",)),
    complete=lambda settings: replace(settings, dataset=settings.dataset or "ambistory"),
    given=given_files,
)
study.gather(gather)
study.section("The stories")(stories)


@study.section("Who was asked")
def subjects(run: AmbistoryData) -> object:
    """Return the subjects of the run, and what became of those that gave no ratings."""
    return (run.remarks, subjects_table(tuple(run.facts.values()))) if run.facts else None


study.question(
    "How much do people agree on the plausibility of a meaning?",
    place="§4.1, §5.1",
    needs="ratings",
    said=lambda _, records: agreement_words(records),
)(agreement)
study.question(
    "Does an ending change how plausible a meaning is?",
    place="§4.2",
    needs="ratings",
    said=lambda _, records: ending_words(records),
)(endings)


@study.question(
    "Do people use the whole scale, and are frequent senses more plausible?",
    place="§4.2, Table 6",
    said=lambda _, records: scale_words(records),
)
def scale(run: AmbistoryData) -> tuple[Part, ...]:
    """Return how often each point is used, and how the frequency of senses goes with plausibility."""
    return distribution(run), frequency(run)


@study.question(
    "How close do models come to people's ratings?",
    place="§5.1, §5.2, Table 3",
    said=model_words,
)
def models(run: AmbistoryData) -> tuple[Part, ...]:
    """Return the scores of subjects, and how near encoders see story and meaning."""
    return results(run), distances(run)


study.question(
    "Are open stories harder than ended ones?",
    place="§5.3.2, Table 7",
    needs="ratings",
    said=lambda _, records: kind_words(records),
)(open_or_ended)
study.question(
    "Does training on ratings make the errors of a model smaller?",
    place="§5.3",
    needs=("ratings", "pairs of subjects to compare"),
    said=lambda _, records: tuning_words(records),
)(tuning)


@study.section("Single samples", where="after", section_id="cases")
def single_samples(run: AmbistoryData) -> tuple[Part, ...]:
    """Return single samples, and the tags that people gave errors."""
    return cases(run), error_tags(run)


@study.section("What the paper says and the data do not", where="after")
def statements(run: AmbistoryData) -> Table | None:
    """Return the statements of the paper that the released data do not support."""
    if run.name != "ambistory":
        return None
    columns = (Column("Said in the paper"), Column("What the released data say"))
    return Table("statements", "", "Statements that the data do not support as worded", columns, STATEMENTS)


study.writes(write_sheet)


_SINGLE = ("single_rater_rho(over=ratings)", "single_rater_accuracy_within_sd")


@study.overview
def overview(records: tuple[Record, ...], _settings: AmbistorySettings) -> Table:
    """Correlation and accuracy of every subject beside one person's: what fits on a screen."""
    columns = (
        Column("Subject"),
        Column("ρ", THREE),
        Column("Accuracy within SD", THREE),
        Column("unread as wrong", THREE),
        Column("read / asked"),
    )
    own = [
        one
        for one in records
        if one.statistic in (RHO, INTEGER_FORM, ROUNDED_FORM) and one.status != "not reproducible"
    ]
    subjects = tuple(dict.fromkeys(one.subject for one in own))
    names = dict(zip(subjects, short_names(subjects, 40), strict=True))
    rows: list[tuple[TableCell, ...]] = []
    where = next((one.condition for one in own), "")
    people = [
        next((r.value for r in records if r.statistic == name and r.condition == where), None) for name in _SINGLE
    ]
    if any(value is not None for value in people):
        rows.append(("one person against the others", *people, None, ""))
    for subject in subjects:
        rho = _first(own, subject, (RHO,))
        right = _first(own, subject, (INTEGER_FORM, ROUNDED_FORM))
        strict = _first(records, subject, tuple(WRONG_FORMS.values()))
        counts = [_first(records, subject, (name,)) for name in ("n_items_read", "n_items_asked")]
        read = " / ".join(f"{count:.0f}" for count in counts if count is not None)
        rows.append((names[subject], rho, right, strict, read))
    return Table(
        "overview",
        "",
        f"Predictions beside people's ratings, samples of: {where}; ρ and accuracy over readable replies",
        columns,
        tuple(rows),
    )


def _first(records: Sequence[Record], subject: str, statistics: tuple[str, ...]) -> float | None:
    return next((one.value for one in records if one.subject == subject and one.statistic in statistics), None)
