"""Sections of the context–word bias study: the verdict on a dataset, and its errors to browse."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from lexiscope.analysis.bias.verdict import Verdict
from lexiscope.analysis.bias.view_errors import SEVERAL, ViewError, ViewErrors, distractor_by_overlap, view_errors
from lexiscope.core.item import Item
from lexiscope.core.result import Record, statistic_name
from lexiscope.core.showing import counted
from lexiscope.report.document import Section
from lexiscope.report.part import Part
from lexiscope.report.tables import Cell, Column, Head, Missing, Table, drop_empty, table_of

MOST_ERRORS = 200
"""A table of errors shows so many; all of them are in the analysis."""

_READING = (
    "A bias says how much of what the whole input gives over no input can be had from one part: 0 is nothing, 1 all. "
    "It is called high, or not high, only where its whole interval lies on one side of the threshold."
)


_RULE = (
    "A distracting word is one of the context that stands in the wrongly chosen entry too, and not in the right one; "
    "it need not be what misled the model."
)
_KINDS = (("full", "word"), ("word", "full"))


@dataclass(frozen=True, slots=True)
class LabelChoice:
    """What can be chosen in the place of t and f: a sense or an entry, with its description."""

    name: str
    description: str


def verdict_section(title: str, verdict: Verdict, *, section_id: str = "verdict") -> Section:
    """Return the section with the verdict in sentences, the summary first."""
    groups = (verdict.on_model, verdict.on_people, (*verdict.cautions, _READING))
    paragraphs = (verdict.summary, *(" ".join(group) for group in groups if group))
    return Section(section_id, title, paragraphs)


def errors_section(
    kinds: Sequence[ViewErrors],
    *,
    texts: Mapping[str, str] | None = None,
    entries: Mapping[str, str] | None = None,
    section_id: str = "errors",
    most: int = MOST_ERRORS,
) -> Section:
    """Return the error browser: a table for each pair of views, wrong in one and right in the other (Table 3).

    *texts* are the items as they are shown (item id → text), *entries* the names of options (option → entry, its
    description). Of each kind *most* are shown.
    """
    tables = tuple(_errors_table(kind, texts or {}, entries or {}, f"{section_id}_{n}", most)
                   for n, kind in enumerate(kinds, start=1) if kind.errors)  # fmt: skip
    title = "Errors of one view that another does not make"
    return Section(section_id, title, tuple(map(_error_count_text, kinds)), tables)


def error_browser(
    items: Sequence[Item],
    answers: Mapping[str, Mapping[str, str | None]],
    choices: Mapping[str, LabelChoice],
    *,
    dataset: str,
    subject: str,
    name: str,
    number: str = "",
    most: int = MOST_ERRORS,
) -> Part:
    """Return what a model gets wrong on the whole input and right on the word alone, and the reverse (Table 3).

    *answers* are those of the model to *items* by view; *choices* what it can choose, if that is more than t and f: of
    an error a word of the context is then named that may have led to the choice.
    """
    gold, words = {item.item_id: str(item.gold) for item in items}, {item.item_id: item.word for item in items}
    kinds, records = [], []
    for wrong, right in _KINDS:
        misled = {item.item_id: _distractor(item, answers[wrong].get(item.item_id), choices) for item in items}
        errors = view_errors(gold, answers, wrong=wrong, right=right, words=words, distractors=misled)
        kinds.append(errors)
        statistic = statistic_name("n_errors", wrong=wrong, right=right)
        records.append(Record(statistic, len(errors.errors), subject, dataset, n=errors.n))
    named = any(error.distractor for errors in kinds for error in errors.errors)
    texts = {item.item_id: _item_text(item) for item in items}
    entries = {option: choice.name for option, choice in choices.items()}
    section = errors_section(kinds, texts=texts, entries=entries, section_id=name, most=most)
    sentences = [f"{dataset}, {subject}. {text}" for text in section.paragraphs]
    tables = [replace(table, number=number, title=f"{dataset}, {subject}: {table.title}") for table in section.tables]
    return Part(tuple(records), tuple(tables), paragraphs=(*sentences, *((_RULE,) if named else ())))


def _distractor(item: Item, answer: str | None, choices: Mapping[str, LabelChoice]) -> str:
    golds = str(item.gold).split(SEVERAL)
    if answer is None or answer not in choices or answer in golds:
        return ""
    right = next((choices[key].description for key in golds if key in choices), "")
    usage = item.usages[0]
    return distractor_by_overlap(usage.text, choices[answer].description, right=right, target=usage.target)


def _item_text(item: Item) -> str:
    texts = [usage.bracketed for usage in item.usages]
    definition = item.conditions.get("definition")
    return " ‖ ".join([*texts, str(definition)] if definition else texts)


def _error_count_text(errors: ViewErrors) -> str:
    unanswered = f" Without an answer: {counted(errors.n_unanswered, 'further item')}." if errors.n_unanswered else ""
    wrong, right = errors.wrong_view.upper(), errors.right_view.upper()
    return f"{wrong} wrong and {right} right: {len(errors.errors):,} of {counted(errors.n, 'item')}.{unanswered}"


def _errors_table(
    errors: ViewErrors, texts: Mapping[str, str], entries: Mapping[str, str], name: str, most: int
) -> Table:
    wrong, right = errors.wrong_view.upper(), errors.right_view.upper()
    listed = errors.errors[:most]

    def gold_of(error: ViewError) -> str:
        options = [error.gold] if error.gold in entries else error.gold.split(SEVERAL)
        return "; ".join(entries.get(option, option) for option in options)

    cells: Mapping[Head, Callable[[ViewError], Cell]] = {
        "Item": lambda error: error.item_id,
        "Word": lambda error: error.word,
        "Text": lambda error: (texts.get(error.item_id) or Missing("The text is not at hand.")) if texts else "",
        "Right": gold_of,
        f"Answered in {wrong}": lambda error: entries.get(error.answer, error.answer),
        Column("Distracting word", note="A word of the context that may have led to the answer."): (
            lambda error: error.distractor or ""
        ),
    }
    more = f"The first {len(listed):,} of {len(errors.errors):,} items are shown." if len(errors.errors) > most else ""
    return drop_empty(table_of(name, f"{wrong} wrong, {right} right", listed, cells, notes=(more,) if more else ()))
