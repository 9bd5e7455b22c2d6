"""How close models come to people's ratings (§5): all samples, open and ended stories."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexiscope.analysis.norms.predictions import RHO, Predictor, nearness_by_layer, rank_predictors
from lexiscope.analysis.norms.story_effects import KINDS, accuracy_by_kind, ended_minus_open, open_against_ended
from lexiscope.analysis.norms.within_sd import (
    accuracy_name,
    constant_scores,
    majority_within_sd,
    random_within_sd,
    scores,
)
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Record, Undefined, parse_statistic, statistic_name
from lexiscope.items.answers.chat_answers import MEASURE_THINKING
from lexiscope.report.figures import Heading, apa
from lexiscope.report.part import Part, part_of, value_of
from lexiscope.report.parts.predictor_tables import UNREAD_WRONG, WHOLE, replies_table, scores_figure, scores_table
from lexiscope.report.parts.story_tables import disagreement_table
from lexiscope.report.pivot import Col, PivotRow, pivot, rows_of
from lexiscope.report.tables import INTEGER, Column, Format, Table
from lexiscope.studies.ambistory.data import ALL, MEASURE_DISTANCE, TEXTS, THREE, AmbistoryData

RANDOM, MAJORITY = "Random (expectation)", "Majority"
NEARNESS = statistic_name("spearman", of="nearness", **{"with": "norms"})
ENDED_MINUS_OPEN = statistic_name("accuracy_difference", of="ended_minus_open")
OWN_MODELS = "subjects of this run"
FEWEST_WORDS = 2
ONE = Format("number", 1)


# -- all samples ------------------------------------------------------------------------------------------------------


def results(run: AmbistoryData) -> tuple[Part | None, ...]:
    """Return the scores of every subject, compared with guessing and with the most frequent label (Table 3)."""
    counted = [run.about(result, condition=run.split) for predictor in run.predictors for result in predictor.results()]
    replies = replies_table(run.predictors) if run.predictors else None
    if run.asked_ratings is None:
        text = "No participant has rated these stories: predictions cannot be compared with people's ratings."
        return part_of(counted, replies, text), _thinking(run)
    baselines, label = _baselines(run, run.asked_ratings)
    words = run.resampling_of(run.words, run.asked_ratings.item_ids)
    score_results = list(baselines)
    for predictor in run.predictors:
        about = {"subject": predictor.subject, "condition": run.split}
        score_results += run.about_all(scores(predictor, run.asked_ratings, **words), **about)
    score_results += run.about_all(rank_predictors(run.predictors, run.asked_ratings, **words), condition=run.split)
    titles = {predictor.subject: predictor.title for predictor in run.predictors}
    note = f"Samples of: {run.split}. 95 % interval, over words. The human ceilings have a table of their own."
    every = [*score_results, *counted]
    table = scores_table(every, run.predictors, name="table_3_results", number="3", notes=(note,))
    caption = "Whole or rounded predictions; bars: 95 % interval, over words. Dashed: expectation of guessing."
    heading = Heading("figure_accuracy", "", "Accuracy within SD of every subject", caption)
    shown = (
        table,
        replies,
        _definitions(score_results, label),
        scores_figure(score_results, titles, heading),
        TEXTS["accuracy"],
    )
    return part_of(score_results, counted, shown), _thinking(run), _distances(run, run.asked_ratings)


def model_words(run: AmbistoryData, records: tuple[Record, ...]) -> str:
    """Return ρ and accuracy of every subject, in one line."""
    texts = []
    for predictor in run.predictors if any(record.statistic == RHO for record in records) else ():
        rho = value_of(records, RHO, subject=predictor.subject)
        right = value_of(records, accuracy_name(predictor.whole_form), subject=predictor.subject)
        said = [f"ρ {apa(rho)}" if rho is not None else "ρ n/a", f"accuracy {apa(right)}" if right is not None else ""]
        read, asked = predictor.n_read, len(predictor.predictions)
        said += [f"over {read} readable of {asked}"] if read < asked else []
        texts.append(f"{predictor.title}: {', '.join(filter(None, said))}")
    return "; ".join(texts)


def _baselines(run: AmbistoryData, ratings: Ratings) -> tuple[list[Estimate | Undefined], str]:
    chance = run.about(random_within_sd(ratings), subject=RANDOM, condition=run.split)
    words = run.resampling_of(run.words, ratings.item_ids)
    try:
        label, accuracy = majority_within_sd(ratings, run.people, source_name="all splits", **words)
    except StatisticError as error:
        return [chance], f"There is no majority label: {error.what}."
    results = (accuracy, *constant_scores(label, ratings))
    always = run.about_all(results, subject=MAJORITY, condition=run.split)
    return [chance, *always], f"The majority label is {label:g}, the mode of rounded mean ratings over all splits."


def _definitions(results: list[Estimate | Undefined], label: str) -> Table:
    """The same constant under other definitions: the definition decides, so it is part of every name."""
    names = {
        accuracy_name(): "sample SD, strict (the shared task's)",
        accuracy_name(edge="inclusive"): "sample SD, the edge counts",
        accuracy_name(spread="population"): "population SD, strict",
    }
    rows = [PivotRow((text,), {"statistic": name, "subject": MAJORITY}) for name, text in names.items()]
    title = "What the definition of accuracy within SD decides"
    columns = (Col("Accuracy of the majority label", "{statistic}", THREE),)
    return pivot("accuracy_definitions", title, results, columns, rows, labels=("Definition",), notes=(label,))


def _thinking(run: AmbistoryData) -> Part | None:
    """How much models thought before they answered, on all, open and ended stories, where endpoints count it."""
    kinds = {run.split: run.asked_ids, **{f"{run.split}, {kind}": run.of_kind(kind, run.asked_ids) for kind in KINDS}}
    thought, results = run.answers.where(measure=MEASURE_THINKING), list[Estimate]()
    for subject in dict.fromkeys(map(str, thought.column("subject_id").tolist())):
        for condition, items in kinds.items():
            rows = thought.where(subject_id=subject, item_id=items)
            tokens = rows.column("value").astype(np.float64)
            known = ~np.isnan(tokens)
            if not known.any():
                continue
            counts = tokens[known].tolist()
            words = [run.words[item] for item in rows.column("item_id")[known].tolist()]
            own = (
                run.mean_over_words("thinking_tokens(summary=mean)", counts, words),
                Estimate("thinking_tokens(summary=max)", max(counts), n=len(counts)),
            )
            results += run.about_all(own, subject=subject, condition=condition)
    if not results:
        return None
    columns = [
        *(
            Col(f"Mean, {condition}", "thinking_tokens(summary=mean)", ONE, where={"condition": condition})
            for condition in kinds
        ),
        Col("Most", "thinking_tokens(summary=max)", INTEGER, "value", where={"condition": run.split}),
        Col("Replies", "thinking_tokens(summary=mean)", show="n", where={"condition": run.split}),
    ]
    names = {predictor.subject: predictor.title for predictor in run.predictors}
    note = "Tokens before the answer, as the endpoint counts them; they are no part of the answer. 95 %, over words."
    rows_, title = rows_of(results, "subject", names=names), "What models thought before they answered"
    return part_of(results, pivot("thinking", title, results, columns, rows_, labels=("Subject",), notes=(note,)))


def _distances(run: AmbistoryData, ratings: Ratings) -> Part | None:
    """A baseline that reads no question: how near the meaning's text lies to the story's, at every layer."""
    words = run.resampling_of(run.words, ratings.item_ids)
    near = nearness_by_layer(run.responses, ratings, measure=MEASURE_DISTANCE, **words)
    if not near:
        return None
    results = run.about_all(near, condition=run.split)
    notes = (
        f"Nearness: minus the cosine distance of the mean vectors of the story and of the meaning's text. Samples of: "
        f"{run.split}. 95 % interval, over words.",
        "No question is asked and no rating given: there is no accuracy within SD. To name the best layer is to choose "
        "it on the samples that are judged.",
    )
    columns, title = (Col("ρ of nearness with the mean", NEARNESS, THREE),), "Nearness of story and meaning, by layer"
    labels, layered = ("Subject", Column("Layer", INTEGER, note="0: embeddings.")), rows_of(results, "subject", "layer")
    return part_of(results, pivot("nearness_by_layer", title, results, columns, layered, labels=labels, notes=notes))


# -- open and ended stories -------------------------------------------------------------------------------------------


def open_or_ended(run: AmbistoryData) -> tuple[Part | None, ...]:
    """Return whether people disagree more about open stories, and how accurate subjects are on either (Table 7)."""
    results_by_part: list[Estimate] = []
    for condition, ratings in run.ratings_of_parts(run.parts):
        try:
            results = open_against_ended(ratings, run.places, condition=condition)
        except StatisticError:
            continue
        results_by_part += map(run.about, results)
    return part_of(results_by_part, disagreement_table(results_by_part)), _accuracies(run)


def kind_words(_run: AmbistoryData, records: tuple[Record, ...]) -> str:
    """Return the rank-sum test on everything that was rated, in words."""
    p = value_of(records, "rank_sum(of=sd,between=open_and_ended,value=p)", condition=ALL)
    return "" if p is None else f"SDs of open against ended stories: p = {p:.3f}"


def _accuracies(run: AmbistoryData) -> Part | None:
    ratings = run.asked_ratings
    subjects = [predictor for predictor in run.predictors if _answers_both(run, predictor)]
    if ratings is None or not subjects:
        return None
    words = run.resampling_of(run.words, ratings.item_ids)
    results = [
        run.about(result, condition=f"{run.split}, {result.condition}")
        for predictor in subjects
        for result in accuracy_by_kind(predictor, ratings, run.places, **words)
    ]
    subject_rows = [(predictor.subject, predictor.title, predictor.read_of_asked) for predictor in subjects]
    columns = [
        Col(kind + end, forms, THREE, where={"condition": f"{run.split}, {kind}"})
        for forms, end in ((WHOLE, ""), (UNREAD_WRONG, ", unread as wrong"))
        for kind in ("all", *KINDS)
    ]
    note = (
        "Whole predictions; others rounded, halves up. Over samples with a readable reply (read / asked); then with "
        "the others as wrong. 95 % interval, over words."
    )
    rows = [PivotRow((title, read), {"subject": subject}) for subject, title, read in subject_rows]
    labels, title = ("Subject", "Read / asked"), "Accuracy within SD on open and ended stories"
    table = pivot("table_7_open_ended", title, results, columns, rows, labels=labels, number="7", notes=(note,))
    # those over all stories are records of the results already
    of_kinds = [result for result in results if not result.condition.endswith(", all")]
    return part_of(
        of_kinds, table, _differences_of_kinds(run, ratings, subjects), _means_of_kinds(run, ratings, subjects)
    )


def _differences_of_kinds(run: AmbistoryData, ratings: Ratings, subjects: Sequence[Predictor]) -> Part:
    """By how much each subject is more accurate on ended stories than on open ones."""
    single, _ = ended_minus_open(subjects, ratings, run.places, **run.resampling_of(run.words, ratings.item_ids))
    results = run.about_all(single, condition=run.split)
    columns = (Col("Accuracy, ended − open", ENDED_MINUS_OPEN, THREE), Col("Samples", ENDED_MINUS_OPEN, show="n"))
    rows = rows_of(results, "subject", names={predictor.subject: predictor.title for predictor in subjects})
    title = "Accuracy within SD on ended stories minus open ones"
    note = "Whole predictions; 95 % interval, words resampled, the same ones for both kinds."
    table = pivot("ended_minus_open", title, results, columns, rows, labels=("Subject",), notes=(note,))
    return part_of(results, table)


def _means_of_kinds(run: AmbistoryData, ratings: Ratings, subjects: Sequence[Predictor]) -> Part | None:
    """Return the means over subjects that were asked with the same number of worked examples (Table 7, last rows)."""
    words, results, rows = run.resampling_of(run.words, ratings.item_ids), list[Estimate](), []
    for shots in sorted({about.shots for about in run.described.values()}):
        same = [p for p in subjects if p.subject in run.described and run.described[p.subject].shots == shots]
        if not same:
            continue
        _, means = ended_minus_open(same, ratings, run.places, **words)
        for mean in means:
            name, given = parse_statistic(mean.name)
            condition = ", ".join(filter(None, (run.split, mean.condition)))
            about = {"name": statistic_name(name, **given, shots=shots), "subject": OWN_MODELS, "condition": condition}
            results.append(run.about(mean, **about))
        rows.append(PivotRow((shots,), {"subject": OWN_MODELS}, {"shots": shots}))
    if not rows:
        return None
    accuracy, difference = (
        f"subjects_mean(of={of},shots={{shots}})" for of in ("accuracy_within_sd", "ended_minus_open")
    )
    columns = (
        *(Col(kind.capitalize(), accuracy, THREE, where={"condition": f"{run.split}, {kind}"}) for kind in KINDS),
        Col("Ended − open", difference, THREE),
        Col("Subjects", difference, show="n"),
    )
    note = (
        "Subjects of which the number of worked examples is known (models that are asked here, and those of --models). "
        "95 % interval, words resampled: it says nothing about other subjects."
    )
    title, labels = "Accuracy within SD, means over subjects", (Column("Worked examples", INTEGER),)
    table = pivot("mean_of_subjects", title, results, columns, rows, labels=labels, notes=(note,))
    return part_of(results, table)


def _answers_both(run: AmbistoryData, predictor: Predictor) -> bool:
    """Whether it answered open and ended stories of two words or more: of one there is nothing to resample."""
    read = [item for item, value in predictor.predictions.items() if value is not None]
    return all(len({run.words[item] for item in run.of_kind(kind, read)}) >= FEWEST_WORDS for kind in KINDS)
