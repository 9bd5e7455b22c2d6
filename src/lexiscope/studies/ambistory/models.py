"""How close models come to people's ratings (§5): all samples, open and ended stories, training, examples, size."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from lexiscope.analysis.norms import predictions, story_effects, within_sd
from lexiscope.analysis.norms.label_distribution import label_shift
from lexiscope.analysis.norms.predictions import Predictor, rounded
from lexiscope.analysis.norms.story_effects import KINDS
from lexiscope.analysis.norms.variants import Pair, contrast_of_predictions, contrasts_of_pairs, trend_with_size
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.result import Estimate, Result, Undefined, parse_statistic, statistic_name
from lexiscope.core.showing import counted
from lexiscope.items.answers.chat_answers import MEASURE_THINKING
from lexiscope.report.figures import Heading
from lexiscope.report.part import Part, Remark, part_of
from lexiscope.report.parts import predictor_tables, story_tables
from lexiscope.studies.ambistory.data import MEASURE_DISTANCE, RATED_TWICE, TEXTS, AmbistoryData

RANDOM, MAJORITY = "Random (expectation)", "Majority"
OWN_MODELS = "subjects of this run"


# -- all samples ------------------------------------------------------------------------------------------------------


def replies(run: AmbistoryData) -> tuple[Part | None, ...]:
    """Return how many replies of every subject could be read, and how much models thought before they answered."""
    if not run.predictors:
        return ()
    return part_of(_of_replies(run), predictor_tables.replies_table(run.predictors)), _thinking(run)


def _of_replies(run: AmbistoryData) -> list[Estimate]:
    counts = (count for predictor in run.predictors for count in predictor.results())
    return run.about_all(counts, condition=run.split)


def results(run: AmbistoryData) -> tuple[Part | None, ...]:
    """Return the scores of every subject, compared with guessing and with the most frequent label (Table 3)."""
    ratings = run.scored
    baselines, label = _baselines(run, ratings)
    words = run.asked_words
    score_results = list(baselines)
    for predictor in run.predictors:
        about = {"subject": predictor.subject, "condition": run.split}
        score_results += run.about_all(within_sd.scores(predictor, ratings, **words), **about)
    score_results += run.about_all(predictions.rank_predictors(run.predictors, ratings, **words), condition=run.split)
    note = f"Samples of: {run.split}. 95 % interval, over words. The human ceilings have a separate table."
    every = [*score_results, *_of_replies(run)]
    table = predictor_tables.scores_table(every, run.predictors, name="table_3_results", number="3", notes=(note,))
    caption = "Whole or rounded predictions; bars: 95 % interval, over words. Dashed: expectation of guessing."
    heading = Heading("figure_accuracy", "", "Accuracy within SD of every subject", caption)
    alone = counted(len(run.rated_once), "story has", "stories have")
    shown = (
        table,
        predictor_tables.accuracy_definitions_table(score_results, MAJORITY, note=label),
        predictor_tables.scores_figure(score_results, run.titles, heading),
        TEXTS["accuracy"],
        *([Remark(f"{alone} one rating, and so no SD: predictions of them are not scored.")] if run.rated_once else []),
    )
    return part_of(score_results, shown), _distances(run, ratings)


def _baselines(run: AmbistoryData, ratings: Ratings) -> tuple[list[Estimate | Undefined], str]:
    chance = run.about(within_sd.random_within_sd(ratings), subject=RANDOM, condition=run.split)
    about = {"subject": MAJORITY, "condition": run.split}
    of_all = partial(within_sd.majority_within_sd, ratings, run.people, source_name="all splits", **run.asked_words)
    majority = run.attempt(within_sd.accuracy_name(), of_all, **about)
    if isinstance(majority, Undefined):
        return [chance, majority], f"{majority.reason}."
    label, accuracy = majority
    always = run.about_all((accuracy, *within_sd.constant_scores(label, ratings)), **about)
    return [chance, *always], f"The majority label is {label:g}, the mode of rounded mean ratings over all splits."


def _thinking(run: AmbistoryData) -> Part | None:
    """How much models thought before they answered, on all, open and ended stories, where endpoints count it."""
    kinds = {run.split: run.asked_ids, **{f"{run.split}, {kind}": run.of_kind(kind, run.asked_ids) for kind in KINDS}}
    thought = predictions.summaries_of_measure(run.answers, MEASURE_THINKING, kinds, run.words, **run.resampling)
    results = run.about_all(thought)
    return part_of(results, predictor_tables.thinking_table(results, run.titles, tuple(kinds))) if thought else None


def _distances(run: AmbistoryData, ratings: Ratings) -> Part | None:
    """A baseline that reads no question: the similarity of the meaning's text and the story's, at every layer."""
    near = predictions.nearness_by_layer(run.responses, ratings, measure=MEASURE_DISTANCE, **run.asked_words)
    results = run.about_all(near, condition=run.split)
    return part_of(results, predictor_tables.nearness_table(results, items=run.split)) if near else None


# -- open and ended stories -------------------------------------------------------------------------------------------


def open_or_ended(run: AmbistoryData) -> tuple[Part | None, ...]:
    """Return whether people disagree more about open stories, and how accurate subjects are on either (Table 7)."""
    tested: list[Result] = []
    for condition, ratings in run.ratings_of_parts(run.parts):
        test = partial(story_effects.open_against_ended, ratings, run.places, condition=condition)
        made = run.attempt(story_effects.OPEN_AGAINST_ENDED, test, condition=condition)
        tested += [made] if isinstance(made, Undefined) else map(run.about, made)
    return part_of(tested, story_tables.disagreement_table(tested)), _accuracies(run)


def _accuracies(run: AmbistoryData) -> Part | None:
    if not run.has(RATED_TWICE):
        return None
    ratings = run.scored
    words = {item: run.words[item] for item in ratings.item_ids}
    subjects = [own for own in run.predictors if story_effects.answers_both_kinds(own, run.places, words)]
    if not subjects:
        return None
    results = [
        run.about(result, condition=f"{run.split}, {result.condition}")
        for predictor in subjects
        for result in story_effects.accuracy_by_kind(predictor, ratings, run.places, **run.asked_words)
    ]
    table = story_tables.kinds_table(results, subjects, of=run.split, name="table_7_open_ended", number="7")
    # those over all stories are records of the results already
    of_kinds = [result for result in results if not result.condition.endswith(", all")]
    single, _ = story_effects.ended_minus_open(subjects, ratings, run.places, **run.asked_words)
    differences = run.about_all(single, condition=run.split)
    means = _means_of_kinds(run, ratings, subjects)
    return part_of(of_kinds, table, differences, story_tables.ended_minus_open_table(differences, run.titles), means)


def _means_of_kinds(run: AmbistoryData, ratings: Ratings, subjects: Sequence[Predictor]) -> Part | None:
    """Return the means over subjects that were asked with the same number of worked examples (Table 7, last rows)."""
    by_shots = {shots: [own for own in same if own in subjects] for shots, same in run.variants.by_shots.items()}
    results: list[Estimate] = []
    for shots, same in by_shots.items():
        _, means = story_effects.ended_minus_open(same, ratings, run.places, **run.asked_words) if same else ((), ())
        for mean in means:
            name, given = parse_statistic(mean.name)
            condition = ", ".join(filter(None, (run.split, mean.condition)))
            about = {"name": statistic_name(name, **given, shots=shots), "subject": OWN_MODELS, "condition": condition}
            results.append(run.about(mean, **about))
    shown = [shots for shots, same in by_shots.items() if same]
    return part_of(results, story_tables.subjects_mean_table(results, shown, of=run.split)) if shown else None


TRAINING, SHOTS = ("base", "tuned"), ("zero", "few")


def tuning(run: AmbistoryData) -> tuple[Part, Part]:
    """Return what training on ratings does to errors and to labels, for every pair of base and tuned subject (§5.3).

    Errors: :class:`SpecError` where a pair names a subject that gave no ratings.
    """
    title = "Before and after training"
    return _contrasts(run, run.trained_pairs, TRAINING, "tuning", title), _label_shifts(run)


def worked_examples(run: AmbistoryData) -> tuple[Part, Part]:
    """Return what worked examples do to the errors of every model that was asked without and with them (§5.2)."""
    title = "Without and with worked examples"
    contrasts = _contrasts(run, run.variants.shot_pairs, SHOTS, "worked_examples", title)
    name = "accuracy_difference(of=few_minus_zero)"
    ends = [(record.low or 0.0, record.high or 0.0) for record in contrasts.records if record.statistic == name]
    counts = {"closer": sum(low > 0 for low, _ in ends), "further": sum(high < 0 for _, high in ends)}
    about = {"condition": run.split, "n": len(ends)}
    records = [run.number(f"n_contrasts(of=few_minus_zero,outcome={key})", n, **about) for key, n in counts.items()]
    text = (
        f"Of {len(ends)} models {counts['closer']} are more accurate with examples, {counts['further']} less "
        "accurate (intervals without 0); the others do not differ."
    )
    return contrasts, part_of(records, text)


def size(run: AmbistoryData) -> Part:
    """Return whether larger models are closer to people, among those with the same worked examples (§5.2)."""
    ratings, variants, results = run.scored, run.variants, []
    for shots, subjects in variants.sized.items():
        sizes = [variants.described[subject.subject].parameters or 0.0 for subject in subjects]
        trends = trend_with_size(subjects, sizes, ratings, **run.asked_words)
        results += run.about_all(trends, condition=f"{run.split}, {shots} shots")
    return part_of(results, story_tables.size_trends_table(results))


def _contrasts(run: AmbistoryData, pairs: Sequence[Pair], sides: tuple[str, str], name: str, title: str) -> Part:
    """Return the errors of both sides of every pair, with the test of their difference (§5.3.2)."""
    compare = partial(contrast_of_predictions, ratings=run.scored, sides=sides, **run.asked_words)
    compared = contrasts_of_pairs(pairs, compare, f"signed_rank(of={sides[1]}_minus_{sides[0]})")
    results = run.about_all(compared, condition=run.split)
    return part_of(results, story_tables.contrasts_table(name, title, results, pairs, sides))


def _label_shifts(run: AmbistoryData) -> Part:
    """Return how training moves the labels of a subject towards those of people (Table 6)."""
    ratings = run.scored
    people = dict(zip(ratings.item_ids, rounded(ratings.means()).tolist(), strict=True))
    compare = partial(label_shift, people=people, **run.asked_words)
    compared = contrasts_of_pairs(run.trained_pairs, compare, "marginal_homogeneity(of=tuned_minus_base)")
    results = run.about_all(compared, condition=run.split)
    return part_of(results, story_tables.label_shifts_table(results, run.trained_pairs))
