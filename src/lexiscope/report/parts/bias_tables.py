"""Tables of the context–word bias study: biases, scores by view, people and models, seeds, examples, guessed words.

Scores are printed times 100: accuracies in percent, differences in points, a correlation likewise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lexiscope.analysis.bias.bias import Bias, Biases, MinimumGap, ViewDifference
from lexiscope.analysis.bias.entropy import MeanEntropy
from lexiscope.analysis.bias.guess_flips import Guess, count_flips
from lexiscope.analysis.bias.view_gaps import ViewGap
from lexiscope.analysis.bias.view_scores import ViewValue
from lexiscope.core import result
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.result import Estimate, Record, Undefined
from lexiscope.core.study import PublishedValue
from lexiscope.items.answers.search_space import SearchSpace
from lexiscope.items.arrange.divided import Divided
from lexiscope.items.arrange.published_pairs import SPLITS
from lexiscope.items.arrange.views import shown_texts
from lexiscope.report.part import shown
from lexiscope.report.pivot import Col, pivot, rows_of
from lexiscope.report.sections import drop_empty
from lexiscope.report.tables import (
    BOUNDED,
    INTEGER,
    Cell,
    Column,
    Format,
    IntervalCell,
    Missing,
    Noted,
    Table,
    format_number,
)

_SCORE = Format("number", 1)
_ENTROPY = Format("number", 4, leading_zero=False)
_OF_ENTROPY = (
    "Natural logarithm; means over the words of the training items (of all items, where a dataset has no training "
    "items), with intervals that resample words."
)
_NOT_ASKED = Missing("Not asked in this view.")
RESAMPLED = "Intervals: percentiles of resampled words, the same words in all views."


@dataclass(frozen=True, slots=True)
class BiasRow:
    """One subject on one dataset, and what its views say."""

    dataset: str
    subject: str
    biases: Biases


@dataclass(frozen=True, slots=True)
class GapRow:
    """One model on one dataset, and how far it stays behind people in each view."""

    dataset: str
    subject: str
    gaps: tuple[ViewGap, ...]


@dataclass(frozen=True, slots=True)
class ExampleInViews:
    """One item of a dataset as it is shown in each view: (view, text), and its right answer."""

    dataset: str
    task: str
    shown: tuple[tuple[str, str], ...]
    gold: str

    @classmethod
    def of(cls, item: Item, views: Sequence[str], *, dataset: str, task: str) -> ExampleInViews:
        """Return an item as its views show it to people.

        A model puts its own mask token in the place of ``[X]``, and masks candidates in the view label.
        """
        shown = []
        for view in views:
            texts = list(shown_texts(item, view))
            if "definition" in item.conditions and len(item.usages) == 1:
                texts.append("[X]" if view == "label" else str(item.conditions["definition"]))
            shown.append((view, " ‖ ".join(texts)))
        return cls(dataset, task, tuple(shown), str(item.gold))


@dataclass(frozen=True, slots=True)
class EntropyRow:
    """The mean entropy of the words of a dataset; what a word is, which rows count, and the printed value, if any."""

    dataset: str
    word: str
    rows: str
    found: MeanEntropy | Undefined
    printed: PublishedValue | None = None


@dataclass(frozen=True, slots=True)
class AmbiguityRow:
    """How ambiguous the words of a dataset are (mean entropy, in nats), and its word bias."""

    dataset: str
    entropy: float
    word_bias: float


def biases_table(rows: Sequence[BiasRow], *, name: str = "biases", number: str = "") -> Table:
    """Return what is above LABEL, both biases and the minimum gap of each subject on each dataset."""
    columns = (
        Column("Dataset"),
        Column("Subject"),
        Column("CONTEXT − LABEL", _SCORE, note="Above 0: the context alone tells answers."),
        Column("WORD − LABEL", _SCORE, note="Above 0: the word alone tells answers."),
        Column("Context bias", BOUNDED),
        Column("Word bias", BOUNDED),
        Column("FULL − LABEL", _SCORE, note="Biases are undefined where this is not above 0."),
        Column("Minimum gap", _SCORE, note="min(FULL − CONTEXT, FULL − WORD)."),
        Column("Nearest to FULL"),
        Column("Words", INTEGER, note="Words that were resampled."),
        Column("Draws left out", INTEGER, note="Resamples in which a bias is undefined; its interval leaves them out."),
    )
    cells = tuple(
        (
            row.dataset,
            row.subject,
            _difference(row.biases.context_over_label),
            _difference(row.biases.word_over_label),
            _bias(row.biases.context),
            _bias(row.biases.word),
            _difference(row.biases.full_over_label),
            _difference(row.biases.minimum_gap),
            row.biases.minimum_gap.nearest if row.biases.minimum_gap is not None else None,
            row.biases.n_words or None,
            max(row.biases.context.interval.undefined, row.biases.word.interval.undefined) or None,
        )
        for row in rows
    )
    return drop_empty(Table(name, number, "Context bias and word bias", columns, cells, (RESAMPLED,)))


def view_scores_table(
    rows: Sequence[BiasRow],
    *,
    views: Sequence[str] = ("full", "context", "context_span", "word", "label", "random"),
    name: str = "view_scores",
    number: str = "",
) -> Table:
    """Return the score of each subject in each view, with its interval; what was not measured says so (Table 7)."""
    views = [view for view in views if any(row.biases.view(view) is not None for row in rows)]
    columns = (
        Column("Dataset"),
        Column("Subject"),
        *(Column(_title(view), _SCORE) for view in views),
        Column("Items", INTEGER, note="In the view full."),
    )
    cells = tuple(
        (row.dataset, row.subject, *(_score(row.biases.view(view)) for view in views), _items(row.biases))
        for row in rows
    )
    return drop_empty(Table(name, number, "Scores by view", columns, cells, (RESAMPLED,)))


def human_gaps_table(rows: Sequence[GapRow], *, name: str = "human_gaps", number: str = "") -> Table:
    """Return people minus model in each view, in points (Table 5); a positive number: people are ahead."""
    views = list(dict.fromkeys(gap.view for row in rows for gap in row.gaps))
    columns = (Column("Dataset"), Column("Subject"), *(Column(_title(view), _SCORE) for view in views))
    cells = []
    for row in rows:
        gaps = {gap.view: gap for gap in row.gaps}
        cells.append((row.dataset, row.subject, *(_gap(gaps.get(view)) for view in views)))
    return Table(name, number, "People minus model, by view", columns, tuple(cells), (RESAMPLED,))


def divided_table(
    sets: Sequence[tuple[str, str, Divided, SearchSpace | None]],
    *,
    name: str = "divided",
    title: str = "Datasets of this run",
) -> Table:
    """Return how datasets are divided: name, task in words, its items, and what is searched, if anything is."""
    columns = (
        Column("Dataset"),
        Column("Task"),
        *(Column(split.capitalize(), INTEGER) for split in SPLITS),
        Column("Words tested", INTEGER, note="What is resampled."),
        Column("Searched", INTEGER, note="Entries of the search space."),
        Column("Tested split"),
    )
    rows: list[tuple[Cell, ...]] = []
    for dataset, task, parts, space in sets:
        counts = (parts.sizes.get("train"), parts.sizes.get("dev"), len(parts.test), len({i.word for i in parts.test}))
        rows.append((dataset, task, *counts, None if space is None else len(space), parts.tested))
    return drop_empty(Table(name, "", title, columns, tuple(rows)))


def seeds_table(records: Sequence[Record], *, name: str = "seeds", number: str = "") -> Table:
    """Return the scores over seeds of training on dev, by subject and view, next to that of the best of them on test.

    *records* are ``dev_mean`` (its note is what was best, its n the seeds), ``dev_sd`` and the accuracies by view.
    """
    columns = (
        Col("Dev, mean", "dev_mean", _SCORE, times=100),
        Col("SD", "dev_sd", _SCORE, times=100, note="Over seeds, with n − 1."),
        Col("Seeds", "dev_mean", show="n"),
        Col("Best on dev", "dev_mean", show="note"),
        Col("Test", "accuracy", _SCORE, show="value", times=100, note="Of the one that is best on dev."),
    )
    means = [record for record in records if record.statistic == "dev_mean"]
    rows = rows_of(means, "dataset", "subject", "view", names={record.view: _title(record.view) for record in means})
    title, labels = "Scores over seeds of training", ("Dataset", "Subject", "View")
    return drop_empty(pivot(name, title, records, columns, rows, labels=labels, number=number))


def recorded_scores_table(
    values: Sequence[PublishedValue], status: Mapping[str, str], *, name: str = "human_constants"
) -> Table:
    """Return scores of people that a paper prints or assumes, in percent; *status* says which, by their subject."""
    columns = (Column("Dataset"), Column("View"), Column("Score", _SCORE), Column("Status"), Column("Of"))
    rows = tuple(
        (each.dataset, _title(each.view), 100 * float(each.printed), status[each.subject], each.place)
        for each in values
    )
    note = "Printed by the paper, or assumed there and not measured; nothing here was answered in this run."
    return Table(name, "", "Recorded scores of people, in percent", columns, rows, (note,))


def examples_table(rows: Sequence[ExampleInViews], *, name: str = "task_examples", number: str = "") -> Table:
    """Return an example of each dataset, as each view shows it, with the right answer (Table 6)."""
    columns = (Column("Dataset"), Column("Task"), Column("View"), Column("Shown"), Column("Right answer"))
    cells = tuple((row.dataset, row.task, _title(view), text, row.gold) for row in rows for view, text in row.shown)
    return Table(name, number, "What is shown, by view", columns, cells)


def entropy_table(rows: Sequence[EntropyRow], *, name: str, title: str, number: str = "") -> Table:
    """Return the mean entropy of the words of each dataset, with the rule of its words and the printed value."""
    columns = (
        Column("Dataset"),
        Column("A word is"),
        Column("Rows"),
        Column("Entropy, nats", _ENTROPY),
        Column("In the paper", _ENTROPY),
        Column("Words", INTEGER),
        Column("Rows used", INTEGER),
        Column("One class only", BOUNDED, note="Share of words all of whose rows have the same class."),
        Column("Majority", BOUNDED, note="Mean over words of the share of their most frequent class."),
    )
    return drop_empty(Table(name, number, title, columns, tuple(map(_entropies, rows)), (_OF_ENTROPY,)))


def _entropies(row: EntropyRow) -> tuple[Cell, ...]:
    found, printed = row.found, row.printed
    in_paper: Cell = None
    if printed is not None:
        remark = f"{printed.remark[:1].upper()}{printed.remark[1:]}."
        in_paper = Noted(printed.printed, remark) if printed.remark else float(printed.printed)
    named = (row.dataset, row.word.replace("_", " "), row.rows.replace("_", " "))
    if isinstance(found, Undefined):
        return (*named, Missing(f"{found.reason}."), in_paper, None, None, None, None)
    numbers = (found.n_words, found.n_rows, found.same_share, found.majority_share)
    return (*named, shown(found.results()[0].records()[0]), in_paper, *numbers)


def ambiguity_table(
    rows: Sequence[AmbiguityRow], found: Estimate | Undefined, *, name: str = "ambiguity", number: str = ""
) -> Table:
    """Return entropy beside word bias, datasets by entropy, with their rank correlation in a note."""
    columns = (Column("Dataset"), Column("Entropy, nats", _ENTROPY), Column("Word bias", BOUNDED))
    undefined = Missing("The word bias is undefined.")
    ordered = sorted(rows, key=lambda row: (-row.entropy, row.dataset))
    cells = tuple((r.dataset, r.entropy, undefined if math.isnan(r.word_bias) else r.word_bias) for r in ordered)
    if isinstance(found, Undefined):
        note = f"No rank correlation: {found.reason}."
    else:
        shown = f"{format_number(found.value, BOUNDED)}{_ends(found.interval, BOUNDED, 1.0)}"
        note = f"Spearman's ρ = {shown} over {found.n} datasets, which were resampled."
    return Table(name, number, "Ambiguity of the words and word bias", columns, cells, (note,))


def flips_table(guesses: Sequence[Guess], *, name: str = "guess_flips", number: str = "") -> Table:
    """Return each guessed word with the answers of person and model to both words, and the counts in notes (Table 8).

    Errors: :class:`InputError` without a guess.
    """
    if not guesses:
        raise InputError("a table of guessed words needs at least one guess")
    columns = (
        Column("Item"),
        Column("Word"),
        Column("Guessed"),
        Column("Valid", note="The guess is another word that fits the context."),
        Column("Person", note="Answer with the original word → answer with the guess."),
        Column("Model", note="Answer with the original word → answer with the guess."),
        Column("Flips"),
    )
    cells = tuple(
        (g.item_id, g.word, g.guess, Missing("Nobody judged it.") if g.valid is None else g.valid,
         _answers(g.person), _answers(g.model), _who_flips(g))
        for g in guesses
    )  # fmt: skip
    return Table(name, number, "Guessed words and answers that change with them", columns, cells, _flip_notes(guesses))


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
    third = (f"{counts.incomplete} valid guesses lack an answer.",) if counts.incomplete else ()
    return (first, second, *third)


def _answers(pair: tuple[str | None, str | None]) -> str:
    return " → ".join("no answer" if answer is None else answer for answer in pair)


def _who_flips(guess: Guess) -> str:
    who = [name for name, flips in (("person", guess.person_flips), ("model", guess.model_flips)) if flips]
    return " and ".join(who) or "nobody"


def _title(view: str) -> str:
    return view.replace("_", " ").upper()


def _bias(bias: Bias) -> Cell:
    if not bias.is_defined:
        return Missing(f"{bias.reason}.")
    return _with(bias.value, bias.interval, BOUNDED, 1.0)


def _difference(found: ViewDifference | MinimumGap | None) -> Cell:
    return _NOT_ASKED if found is None else _with(found.value, found.interval, _SCORE, 100.0)


def _gap(gap: ViewGap | None) -> Cell:
    if gap is None:
        return _NOT_ASKED
    if not gap.note:
        return _with(gap.value, gap.interval, _SCORE, 100.0)
    shown = f"{format_number(100 * gap.value, _SCORE)}{_ends(gap.interval, _SCORE, 100.0)}"
    return Noted(shown, f"{gap.note[:1].upper()}{gap.note[1:]}.")


def _ends(interval: result.Interval, form: Format, factor: float) -> str:
    if not interval.is_defined:
        return ""
    low, high = (format_number(factor * end, form) for end in (interval.low, interval.high))
    return f" [{low}, {high}]"


def _score(value: ViewValue | None) -> Cell:
    if value is None:
        return _NOT_ASKED
    if value.fixed:
        return Noted(format_number(100 * value.value, _SCORE), f"Not measured here: {value.fixed}.")
    return _with(value.value, value.interval, _SCORE, 100.0)


def _items(biases: Biases) -> int | None:
    full = biases.view("full")
    return full.n or None if full is not None else None


def _with(value: float, interval: result.Interval, form: Format, factor: float) -> Cell:
    if interval.is_defined:
        return IntervalCell(factor * interval.low, factor * interval.high, factor * value)
    return Noted(format_number(factor * value, form), f"{interval.note[:1].upper()}{interval.note[1:]}.")
