"""Tables of the context–word bias study: biases, scores by view, people and models, seeds, examples, guessed words.

Scores are printed times 100: accuracies in percent, differences in points, a correlation likewise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lexiscope.analysis.bias.bias import Bias, Biases, MinimumGap, ViewDifference
from lexiscope.analysis.bias.entropy import MeanEntropy
from lexiscope.analysis.bias.guess_flips import Guess, count_flips
from lexiscope.analysis.bias.view_scores import ViewGap, ViewValue
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.result import Estimate, Interval, Record, Result, Undefined, statistic_name
from lexiscope.core.study import PublishedValue
from lexiscope.items.answers.search_space import SearchSpace
from lexiscope.items.arrange.pairs import SPLITS
from lexiscope.items.arrange.splits import ItemDivision
from lexiscope.items.arrange.views import shown_texts
from lexiscope.report.part import record_cell
from lexiscope.report.pivot import Col, pivot, records_of, rows_of
from lexiscope.report.tables import (
    BOUNDED,
    INTEGER,
    TEXT,
    Cell,
    Column,
    Format,
    Head,
    IntervalCell,
    Missing,
    Noted,
    Table,
    columns,
    drop_empty,
    format_number,
    interval_text,
    table_of,
)

_SCORE = Format("number", 1)
_ENTROPY = Format("number", 4, leading_zero=False)
_OF_ENTROPY = (
    "Natural logarithm; means over the words of the training items (of all items, if a dataset has no training "
    "items), with intervals that resample words."
)
_NOT_ASKED = Missing("Not asked in this view.")
RESAMPLED = "Intervals resample words, the same words in all views; those of a bias are Fieller's."


@dataclass(frozen=True, slots=True)
class BiasRow:
    """One subject on one dataset, and what its views say."""

    dataset: str
    subject: str
    biases: Biases


@dataclass(frozen=True, slots=True)
class GapRow:
    """One model on one dataset, and its distance behind people in each view."""

    dataset: str
    subject: str
    gaps: tuple[ViewGap, ...]


@dataclass(frozen=True, slots=True)
class EntropyRow:
    """The mean entropy of the words of a dataset; what a word is, which rows count, and the printed value, if any."""

    dataset: str
    word: str
    rows: str
    entropy: MeanEntropy | Undefined
    printed: PublishedValue | None = None


def biases_table(rows: Sequence[BiasRow]) -> Table:
    """Return what is above LABEL, both biases and the minimum gap of each subject on each dataset."""
    cells: Mapping[Head, Callable[[BiasRow], Cell]] = {
        "Dataset": lambda row: row.dataset,
        "Subject": lambda row: row.subject,
        Column("CONTEXT − LABEL", _SCORE, note="Above 0: the context alone tells answers."): (
            lambda row: _difference(row.biases.context_over_label)
        ),
        Column("WORD − LABEL", _SCORE, note="Above 0: the word alone tells answers."): (
            lambda row: _difference(row.biases.word_over_label)
        ),
        ("Context bias", BOUNDED): lambda row: _bias(row.biases.context),
        ("Word bias", BOUNDED): lambda row: _bias(row.biases.word),
        Column("FULL − LABEL", _SCORE, note="Biases are undefined where this is not above 0."): (
            lambda row: _difference(row.biases.full_over_label)
        ),
        Column("Minimum gap", _SCORE, note="min(FULL − CONTEXT, FULL − WORD)."): (
            lambda row: _difference(row.biases.minimum_gap)
        ),
        "Nearest to FULL": lambda row: row.biases.minimum_gap.nearest if row.biases.minimum_gap is not None else None,
        Column("Words", INTEGER, note="Words that were resampled."): lambda row: row.biases.n_words or None,
    }
    return drop_empty(table_of("biases", "Context bias and word bias", rows, cells, notes=(RESAMPLED,)))


def view_scores_table(rows: Sequence[BiasRow], *, number: str = "") -> Table:
    """Return the score of each subject in each view, with its interval; what was not measured says so (Table 7)."""

    def score_in(view: str) -> Callable[[BiasRow], Cell]:
        return lambda row: _score(row.biases.view(view))

    cells: Mapping[Head, Callable[[BiasRow], Cell]] = {
        "Dataset": lambda row: row.dataset,
        "Subject": lambda row: row.subject,
        **{
            (_title(view), _SCORE): score_in(view)
            for view in ("full", "context", "context_span", "word", "label", "random")
            if any(row.biases.view(view) is not None for row in rows)
        },
        Column("Items", INTEGER, note="In the view full."): (
            lambda row: (full.n or None) if (full := row.biases.view("full")) is not None else None
        ),
    }
    return drop_empty(table_of("view_scores", "Scores by view", rows, cells, number=number, notes=(RESAMPLED,)))


_RANK = statistic_name("rank", of="accuracy", among="subjects")


def view_ranks_table(results: Sequence[Record | Result]) -> Table | None:
    """Return the ranks of the models by accuracy, view by view; ``None`` where no dataset has several models."""
    records = records_of(results)
    views = list(dict.fromkeys(record.view for record in records))
    cols = [Col(_title(view), _RANK, TEXT, where={"view": view}, absent=_NOT_ASKED) for view in views]
    notes = (
        "By accuracy on the items that all models of a dataset answered; ranks that the paired differences leave open, "
        "all intervals together, over words. 1 is the most accurate.",
    )
    rows = rows_of(records, "dataset", "subject")
    title = "Ranks of the models by accuracy"
    return pivot("view_ranks", title, records, cols, rows, labels=("Dataset", "Subject"), notes=notes) if rows else None


def human_gaps_table(rows: Sequence[GapRow], *, number: str = "") -> Table:
    """Return people minus model in each view, in points (Table 5); a positive number: people are ahead."""
    views = list(dict.fromkeys(gap.view for row in rows for gap in row.gaps))
    heads = columns("Dataset", "Subject", *((_title(view), _SCORE) for view in views))
    cells = []
    for row in rows:
        gaps = {gap.view: gap for gap in row.gaps}
        cells.append((row.dataset, row.subject, *(_gap(gaps.get(view)) for view in views)))
    return Table("human_gaps", number, "People minus model, by view", heads, tuple(cells), (RESAMPLED,))


def not_used_table(reasons: Iterable[tuple[str, str, str]]) -> Table:
    """Return the datasets that are not in a run: name, title, reason."""
    heads = (Column("Dataset"), Column("Title"), Column("Why it is not in this run"))
    return Table("not_used", "", "Datasets of the paper that are not in this run", heads, tuple(reasons))


def divided_table(sets: Sequence[tuple[str, str, ItemDivision, SearchSpace | None]], *, name: str = "divided") -> Table:
    """Return how datasets are divided: name, task as text, its items, and what is searched, if anything is."""
    heads = columns(
        *("Dataset", "Task"),
        *((split.capitalize(), INTEGER) for split in SPLITS),
        Column("Words tested", INTEGER, note="What is resampled."),
        Column("Searched", INTEGER, note="Entries of the search space."),
        "Tested split",
    )
    rows: list[tuple[Cell, ...]] = []
    for dataset, task, parts, space in sets:
        counts = (parts.sizes.get("train"), parts.sizes.get("dev"), len(parts.test), len({i.word for i in parts.test}))
        rows.append((dataset, task, *counts, None if space is None else len(space), parts.tested))
    return drop_empty(Table(name, "", "Datasets of this run", heads, tuple(rows)))


def seeds_table(records: Sequence[Record]) -> Table:
    """Return the scores over seeds of training on dev, by subject and view, next to that of the best of them on test.

    *records* are ``dev_mean`` (its note is what was best, its n the seeds), ``dev_sd`` and the accuracies by view.
    """
    cols = (
        Col("Dev, mean", "dev_mean", _SCORE, times=100),
        Col("SD", "dev_sd", _SCORE, times=100, note="Over seeds, with n − 1."),
        Col("Seeds", "dev_mean", show="n"),
        Col("Best on dev", "dev_mean", show="note"),
        Col("Test", "accuracy", _SCORE, show="value", times=100, note="Of the one that is best on dev."),
    )
    means = [record for record in records if record.statistic == "dev_mean"]
    rows = rows_of(means, "dataset", "subject", "view", names={record.view: _title(record.view) for record in means})
    title, labels = "Scores over seeds of training", ("Dataset", "Subject", "View")
    return drop_empty(pivot("seeds", title, records, cols, rows, labels=labels))


def rules_table(records: Sequence[Record]) -> Table:
    """Return the accuracy of rules that read no context, by dataset."""
    where = {"view": "full"}
    shown = (Col("FULL", "accuracy", _SCORE, times=100, where=where), Col("Items", "accuracy", show="n", where=where))
    title, labels = "Rules that look at no context", ("Dataset", "Rule")
    return pivot("rule_baselines", title, records, shown, rows_of(records, "dataset", "subject"), labels=labels)


def recorded_scores_table(values: Sequence[PublishedValue], status: Mapping[str, str]) -> Table:
    """Return scores of people that a paper prints or assumes, in percent; *status* says which, by their subject."""
    cells: Mapping[Head, Callable[[PublishedValue], Cell]] = {
        "Dataset": lambda value: value.dataset,
        "View": lambda value: _title(value.view),
        ("Score", _SCORE): lambda value: 100 * float(value.printed),
        "Status": lambda value: status[value.subject],
        "Of": lambda value: value.place,
    }
    note = "Printed by the paper, or assumed there and not measured; nothing here was answered in this run."
    return table_of("human_constants", "Recorded scores of people, in percent", values, cells, notes=(note,))


def examples_table(examples: Sequence[tuple[str, str, Item]], views: Sequence[str], *, number: str = "") -> Table:
    """Return an example of each dataset as each view shows it to people, with the correct answer (Table 6).

    *examples* are the dataset, its task and one of its items. A model puts its mask token in the place of ``[X]``, and
    masks candidates in the view label.
    """
    rows: list[tuple[Cell, ...]] = []
    for dataset, task, item in examples:
        for view in views:
            texts = list(shown_texts(item, view))
            if "definition" in item.conditions and len(item.usages) == 1:
                texts.append("[X]" if view == "label" else str(item.conditions["definition"]))
            rows.append((dataset, task, _title(view), " ‖ ".join(texts), str(item.gold)))
    heads = columns("Dataset", "Task", "View", "Shown", "Correct answer")
    return Table("task_examples", number, "What is shown, by view", heads, tuple(rows))


def entropy_table(rows: Sequence[EntropyRow], *, name: str, title: str, number: str = "") -> Table:
    """Return the mean entropy of the words of each dataset, with the rule of its words and the printed value."""

    def of_entropy(cell: Callable[[MeanEntropy], Cell]) -> Callable[[EntropyRow], Cell]:
        return lambda row: None if isinstance(row.entropy, Undefined) else cell(row.entropy)

    cells: Mapping[Head, Callable[[EntropyRow], Cell]] = {
        "Dataset": lambda row: row.dataset,
        "A word is": lambda row: row.word.replace("_", " "),
        "Rows": lambda row: row.rows.replace("_", " "),
        ("Entropy, nats", _ENTROPY): lambda row: (
            Missing(f"{row.entropy.reason}.")
            if isinstance(row.entropy, Undefined)
            else record_cell(row.entropy.results()[0].records()[0])
        ),
        ("In the paper", _ENTROPY): _printed_entropy,
        ("Words", INTEGER): of_entropy(lambda entropy: entropy.n_words),
        ("Rows used", INTEGER): of_entropy(lambda entropy: entropy.n_rows),
        Column("One class only", BOUNDED, note="Share of words all of whose rows have the same class."): (
            of_entropy(lambda entropy: entropy.same_share)
        ),
        Column("Majority", BOUNDED, note="Mean over words of the share of their most frequent class."): (
            of_entropy(lambda entropy: entropy.majority_share)
        ),
    }
    return drop_empty(table_of(name, title, rows, cells, number=number, notes=(_OF_ENTROPY,)))


def _printed_entropy(row: EntropyRow) -> Cell:
    if row.printed is None:
        return None
    remark = row.printed.remark
    return Noted(row.printed.printed, _sentence(remark)) if remark else float(row.printed.printed)


def ambiguity_table(
    entropies: Mapping[str, float],
    word_biases: Mapping[str, float],
    correlation: Estimate | Undefined,
    *,
    name: str = "ambiguity",
) -> Table:
    """Return mean entropy (nats) and word bias of datasets, by entropy, with their rank correlation in a note."""
    undefined = Missing("The word bias is undefined.")
    rows: list[tuple[Cell, ...]] = []
    for dataset, entropy in sorted(entropies.items(), key=lambda entry: (-entry[1], entry[0])):
        bias = word_biases[dataset]
        rows.append((dataset, entropy, undefined if math.isnan(bias) else bias))
    if isinstance(correlation, Undefined):
        note = f"No rank correlation: {correlation.reason}."
    else:
        rho, ends = format_number(correlation.value, BOUNDED), correlation.interval
        bounds = f" {interval_text(IntervalCell(ends.low, ends.high), BOUNDED)}" if ends.is_defined else ""
        note = f"Spearman's ρ = {rho}{bounds} over {correlation.n} datasets, which were resampled."
    heads = columns("Dataset", ("Entropy, nats", _ENTROPY), ("Word bias", BOUNDED))
    return Table(name, "", "Ambiguity of the words and word bias", heads, tuple(rows), (note,))


def flips_table(guesses: Sequence[Guess], *, name: str = "guess_flips", number: str = "") -> Table:
    """Return each guessed word with the answers of person and model to both words, and the counts in notes (Table 8).

    Errors: :class:`InputError` without a guess.
    """
    if not guesses:
        raise InputError("a table of guessed words needs at least one guess")
    changed = "Answer with the original word → answer with the guess."
    cells: Mapping[Head, Callable[[Guess], Cell]] = {
        "Item": lambda guess: guess.item_id,
        "Word": lambda guess: guess.word,
        "Guessed": lambda guess: guess.guess,
        Column("Valid", note="The guess is another word that fits the context."): (
            lambda guess: Missing("Not judged.") if guess.valid is None else guess.valid
        ),
        Column("Person", note=changed): lambda guess: _answers(guess.person),
        Column("Model", note=changed): lambda guess: _answers(guess.model),
        "Flips": lambda guess: " and ".join(
            name for name, flips in (("person", guess.person_flips), ("model", guess.model_flips)) if flips
        ) or "neither",
    }  # fmt: skip
    title = "Guessed words and answers that change with them"
    return table_of(name, title, guesses, cells, number=number, notes=_flip_notes(guesses))


def _flip_notes(guesses: Sequence[Guess]) -> tuple[str, ...]:
    counts = count_flips(guesses)
    first = (
        f"{counts.n_valid} of {counts.n} guesses are valid other words; with them the person's answer changes in "
        f"{counts.person_flips}, the model's in {counts.model_flips}."
    )
    second = (
        f"In {counts.sensitive_items} of these the person's answer changes and the model has both answers; of them "
        f"the model keeps its own in {counts.insensitive}."
    )
    third = (f"{counts.incomplete} valid guesses have no answer.",) if counts.incomplete else ()
    return (first, second, *third)


def _answers(pair: tuple[str | None, str | None]) -> str:
    return " → ".join("no answer" if answer is None else answer for answer in pair)


def _title(view: str) -> str:
    return view.replace("_", " ").upper()


def _bias(bias: Bias) -> Cell:
    if not bias.is_defined:
        return Missing(f"{bias.reason}.")
    return _noted(bias.value, bias.interval, BOUNDED, 1.0)


def _difference(difference: ViewDifference | MinimumGap | None) -> Cell:
    return _NOT_ASKED if difference is None else _noted(difference.value, difference.interval)


def _gap(gap: ViewGap | None) -> Cell:
    return _NOT_ASKED if gap is None else _noted(gap.value, gap.interval, note=gap.note)


def _score(score: ViewValue | None) -> Cell:
    if score is None:
        return _NOT_ASKED
    if score.fixed:
        return Noted(format_number(100 * score.value, _SCORE), f"Not measured here: {score.fixed}.")
    return _noted(score.value, score.interval)


def _noted(value: float, interval: Interval, form: Format = _SCORE, factor: float = 100.0, *, note: str = "") -> Cell:
    """A number with its interval; with a *note*, or where there is no interval, as text with the note or the reason."""
    cell = IntervalCell(factor * interval.low, factor * interval.high, factor * value)
    if interval.is_defined and not note:
        return cell
    text = interval_text(cell, form) if interval.is_defined else format_number(factor * value, form)
    return Noted(text, _sentence(note or interval.note))


def _sentence(note: str) -> str:
    return f"{note[:1].upper()}{note[1:]}."
