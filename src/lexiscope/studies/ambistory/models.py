"""How close models come to people's ratings: correlation with the means, accuracy within SD, replies not read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lexiscope.analysis.predictions import rho_with_means
from lexiscope.analysis.ratings import Ratings
from lexiscope.analysis.within_sd import WithinSd, accuracy_within_sd, majority_within_sd, random_within_sd
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Record, statistic_name
from lexiscope.report.figure_accuracy import Dot, accuracy_dots
from lexiscope.report.figures import Figure, Heading, apa
from lexiscope.report.part import Part, pick, shown, with_interval
from lexiscope.report.tables import INTEGER, Column, Missing, Table
from lexiscope.report.tables import Cell as TableCell
from lexiscope.studies.ambistory.data import AmbistoryData, Predictor
from lexiscope.studies.ambistory.numbers import PERCENT, THREE, drawn, estimated, record

RANDOM, MAJORITY = "Random (expectation)", "Majority"
INTEGER_FORM = statistic_name("accuracy_within_sd", sd="sample", edge="strict", predictions="integer")
ROUNDED_FORM = statistic_name("accuracy_within_sd", sd="sample", edge="strict", predictions="rounded")
RAW_FORM = statistic_name("accuracy_within_sd", sd="sample", edge="strict", predictions="raw")
INCLUSIVE = statistic_name("accuracy_within_sd", sd="sample", edge="inclusive", predictions="integer")
_WRONG = {"sd": "sample", "edge": "strict", "unread": "wrong"}
WRONG_FORMS = {
    INTEGER_FORM: statistic_name("accuracy_within_sd", predictions="integer", **_WRONG),
    ROUNDED_FORM: statistic_name("accuracy_within_sd", predictions="rounded", **_WRONG),
}
"""The strict variant of an accuracy: a sample without a readable reply counts as wrong."""
POPULATION = statistic_name("accuracy_within_sd", sd="population", edge="strict", predictions="integer")
RHO = "spearman"
FEWEST_WORDS = 2


def results(run: AmbistoryData) -> Part:
    """Return the results of every subject beside what guessing and the most frequent label give (Table 3)."""
    counted = _read(run)
    ratings = run.judged
    if ratings is None:
        text = "Nobody has rated these stories: predictions cannot be set beside people's."
        return Part(tuple(counted), _answers_table(run, counted), paragraphs=(text,))
    baselines, label = _baselines(run, ratings)
    records = [*baselines]
    for each in run.predictors:
        records += _scores(run, each, ratings)
    tables = (_table_3(run, records), *_answers_table(run, counted), _variants(records, label))
    return Part((*records, *counted), tables, _figures(run, records), paragraphs=(_NOTE,))


_NOTE = (
    "Accuracy within SD counts a prediction as right that lies closer to people's mean than max(1, SD), SD with n − 1, "
    "strictly. Whole and other predictions stand in columns of their own: predictions that need not be whole gain "
    "three to five points. ρ and accuracy are over the samples with a readable reply (read / asked); beside them "
    "stands the accuracy that counts samples without one as wrong. A subject can gain by predicting near the middle "
    "where people disagree: read ρ with it."
)


def few(run: AmbistoryData, ratings: Ratings) -> dict[str, Any]:
    """Return the arguments that resample words."""
    groups = {item: run.words[item] for item in ratings.item_ids}
    return {"groups": groups, **drawn(run, len(set(groups.values())))}


def accuracy_record(
    run: AmbistoryData, statistic: str, found: WithinSd, *, subject: str, condition: str = ""
) -> Record:
    """Return an accuracy within SD as a record, its interval over words."""
    base = record(
        run,
        statistic,
        found.value,
        subject=subject,
        condition=condition or run.split,
        n=found.accuracy.n,
        note=f"over readable replies: {found.n_missing} samples without a prediction" if found.n_missing else "",
    )
    return with_interval(base, found.accuracy.clustered)


def _baselines(run: AmbistoryData, ratings: Ratings) -> tuple[list[Record], str]:
    guessed = random_within_sd(ratings)
    chance = record(
        run,
        guessed.name,
        guessed.value,
        subject=RANDOM,
        condition=run.split,
        n=guessed.n,
        note=f"expectation over guesses; SD of one set of guesses {guessed.sd:.4f}",
    )
    assert run.people is not None
    try:
        found = majority_within_sd(ratings, run.people, source_name="all splits", **few(run, ratings))
    except StatisticError as error:
        return [chance], f"There is no majority label: {error.what}."
    majority = accuracy_record(run, INTEGER_FORM, found.accuracy, subject=MAJORITY)
    constant = dict.fromkeys(ratings.item_ids, found.label)
    others = (
        (INCLUSIVE, accuracy_within_sd(constant, ratings, edge="inclusive", resamples=0)),
        (POPULATION, accuracy_within_sd(constant, ratings, spread="population", resamples=0)),
    )
    about = {"subject": MAJORITY, "condition": run.split}
    variants = [record(run, name, each.value, n=each.accuracy.n, **about) for name, each in others]
    rho = estimated(run, RHO, rho_with_means(constant, ratings, resamples=0), subject=MAJORITY, condition=run.split)
    label = f"The majority label is {found.label:g}, the mode of rounded mean ratings over {found.source}."
    return [chance, majority, *variants, rho], label


def _scores(run: AmbistoryData, each: Predictor, ratings: Ratings) -> list[Record]:
    """Correlation and accuracy of one subject; nothing where no reply could be read."""
    own = {item: value for item, value in each.predictions.items() if item in set(ratings.item_ids)}
    whole = {item: each.whole[item] for item in own}
    args = few(run, ratings)
    about = {"subject": each.subject, "condition": run.split}
    if all(value is None for value in own.values()):
        note = "no reply could be read"
        nothing = [record(run, name, None, note=note, **about) for name in (RHO, INTEGER_FORM)]
        return [*nothing, record(run, WRONG_FORMS[INTEGER_FORM], 0.0, n=len(own), note=note, **about)]
    if len({run.words[item] for item, value in own.items() if value is not None}) < FEWEST_WORDS:
        note = "readable replies to samples of one word only: nothing to resample"
        return [record(run, name, None, note=note, **about) for name in (RHO, INTEGER_FORM)]
    made = [estimated(run, RHO, rho_with_means(own, ratings, **args), **about)]
    name = INTEGER_FORM if each.form == "integer" else ROUNDED_FORM
    made.append(accuracy_record(run, name, accuracy_within_sd(whole, ratings, **args), subject=each.subject))
    strict = accuracy_within_sd(whole, ratings, unread="wrong", **args)
    made.append(accuracy_record(run, WRONG_FORMS[name], strict, subject=each.subject))
    if each.form == "raw":
        raw = accuracy_within_sd(own, ratings, form="raw", **args)
        made.append(accuracy_record(run, RAW_FORM, raw, subject=each.subject))
    return made


# -- tables ---------------------------------------------------------------------------------------------------


def _table_3(run: AmbistoryData, records: Sequence[Record]) -> Table:
    columns = (
        Column("Subject"),
        Column("ρ with the mean", THREE),
        Column("Accuracy, whole predictions", THREE),
        Column("Accuracy, rounded", THREE, note="Predictions that were not whole, rounded, halves up."),
        Column("Accuracy, as given", THREE, note="The same predictions, not rounded; not comparable with whole ones."),
        Column(
            "Accuracy, unread as wrong", THREE, note="Whole or rounded; samples without a readable reply are wrong."
        ),
        Column(
            "Read / asked", note="Samples with a readable reply, of those asked: ρ and accuracy are over the former."
        ),
        Column("Replies not read", INTEGER),
    )
    note = f"Samples of: {run.split}. 95 % interval, words resampled. The human ceilings have a table of their own."
    rows = [_baseline_row(records, subject) for subject in (RANDOM, MAJORITY)]
    rows += [_row(records, each) for each in run.predictors]
    title = "Predictions beside people's mean ratings"
    return Table("table_3_results", "3", title, columns, tuple(row for row in rows if row), (note,))


def _baseline_row(records: Sequence[Record], subject: str) -> tuple[TableCell, ...]:
    own = [each for each in records if each.subject == subject]
    if not own:
        return ()
    rho = pick(own, RHO)
    first = next(each for each in own if each.value is not None)
    nothing = Missing("Whole predictions, and one for every sample.")
    constant = Missing("n/a: a constant, or an expectation, has no correlation.")
    return (
        subject,
        constant if rho is None or rho.value is None else rho.value,
        shown(first),
        nothing,
        nothing,
        nothing,
        f"{first.n} / {first.n}",
        0,
    )


def _row(records: Sequence[Record], each: Predictor) -> tuple[TableCell, ...]:
    own = [one for one in records if one.subject == each.subject]
    cells = [_or_why(own, name, each) for name in (RHO, INTEGER_FORM, ROUNDED_FORM, RAW_FORM)]
    strict = shown(next((one for one in own if one.statistic in WRONG_FORMS.values()), None))
    return (each.title, *cells, strict, each.read_of_asked, each.n_unreadable)


def _or_why(own: Sequence[Record], name: str, each: Predictor) -> TableCell:
    found = pick(own, name)
    if found is not None and found.value is None and found.note.startswith("undefined"):
        return Missing(f"n/a: {found.note.removeprefix('undefined: ')}")
    if found is not None:
        return shown(found)
    return Missing("Whole predictions." if each.form == "integer" else "Predictions that are not whole.")


def _variants(records: Sequence[Record], label: str) -> Table:
    """The same constant under other definitions: the definition decides, so it is part of every name."""
    columns = (Column("Definition"), Column("Accuracy of the majority label", THREE))
    names = (
        (INTEGER_FORM, "sample SD, strict (the shared task's)"),
        (INCLUSIVE, "sample SD, the edge counts"),
        (POPULATION, "population SD, strict"),
    )
    rows = tuple((text, shown(pick(records, name, subject=MAJORITY))) for name, text in names)
    title = "What the definition of accuracy within SD decides"
    return Table("accuracy_definitions", "", title, columns, rows, (label,))


def _read(run: AmbistoryData) -> list[Record]:
    """How many answers every subject was asked for, and what became of those that could not be read."""
    made = []
    for each in run.predictors:
        about: dict[str, Any] = {"subject": each.subject, "condition": run.split}
        made.append(record(run, "n_asked", float(each.n_asked), **about))
        made.append(record(run, "n_items_asked", float(each.n_items), **about))
        made.append(record(run, "n_items_read", float(each.n_read), **about))
        made.append(record(run, "n_unreadable", float(each.n_unreadable), **about))
        made += [
            record(run, statistic_name("n_unreadable", kind=kind.replace(" ", "_")), float(count), **about)
            for kind, count in each.kinds.items()
        ]
    return made


def _answers_table(run: AmbistoryData, counted: Sequence[Record]) -> tuple[Table, ...]:
    if not run.predictors:
        return ()
    columns = (
        Column("Subject"),
        Column("Asked", INTEGER, note="Questions, repetitions included."),
        Column("Repetitions", INTEGER),
        Column("Not read", INTEGER),
        Column("Not read, %", PERCENT),
        Column("What they were"),
    )
    rows = tuple(
        (
            each.title,
            each.n_asked,
            each.repeats,
            each.n_unreadable,
            100 * each.n_unreadable / each.n_asked,
            "; ".join(f"{kind.replace('_', ' ')} {count}" for kind, count in each.kinds.items()),
        )
        for each in run.predictors
    )
    note = "A reply that could not be read has no value and is not imputed; repetitions are averaged over those read."
    return (Table("replies", "", "Replies, and those that could not be read", columns, rows, (note,)),)


def _figures(run: AmbistoryData, records: Sequence[Record]) -> tuple[Figure, ...]:
    titles = {MAJORITY: MAJORITY} | {each.subject: each.title for each in run.predictors}
    chance = next(
        (100 * each.value for each in records if each.subject == RANDOM and each.value is not None), float("nan")
    )
    dots = []
    for each in records:
        if each.value is None or each.subject not in titles or each.statistic not in (INTEGER_FORM, ROUNDED_FORM):
            continue
        low, high = (float("nan") if end is None else 100 * end for end in (each.low, each.high))
        dots.append(Dot("Accuracy\nwithin SD", titles[each.subject], 100 * each.value, low, high, chance))
    if not dots:
        return ()
    heading = Heading(
        "figure_accuracy",
        "",
        "Accuracy within SD of every subject",
        "Whole or rounded predictions; bars: 95 % interval, words resampled. Dashed: expectation of guessing.",
    )
    return (accuracy_dots(dots, heading, unit="Samples within SD, %"),)


def model_words(run: AmbistoryData, records: Sequence[Record]) -> str:
    """Return ρ and accuracy of every subject, in one line."""
    texts = []
    for each in run.predictors:
        rho, right = (
            next((one.value for one in records if one.subject == each.subject and one.statistic in names), None)
            for names in ((RHO,), (INTEGER_FORM, ROUNDED_FORM))
        )
        said = [f"ρ {apa(rho)}" if rho is not None else "ρ n/a", f"accuracy {apa(right)}" if right is not None else ""]
        said.append(f"over {each.n_read} readable of {each.n_items}" if each.n_read < each.n_items else "")
        texts.append(f"{each.title}: {', '.join(filter(None, said))}")
    return "; ".join(texts) if any(one.statistic == RHO for one in records) else ""
