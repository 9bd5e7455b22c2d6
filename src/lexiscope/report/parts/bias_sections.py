"""Sections of the context–word bias study: the verdict on a dataset, and its errors to browse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lexiscope.analysis.bias.verdict import Verdict
from lexiscope.analysis.bias.view_errors import SEVERAL, ViewError, ViewErrors, distractor_by_overlap, view_errors
from lexiscope.core.item import Item
from lexiscope.core.result import Record, statistic_name
from lexiscope.core.showing import counted
from lexiscope.report.document import Section
from lexiscope.report.figures import Figure
from lexiscope.report.part import Part
from lexiscope.report.tables import Cell, Column, Missing, Table, drop_empty

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


def verdict_section(
    title: str,
    found: Verdict,
    *,
    section_id: str = "verdict",
    tables: Sequence[Table] = (),
    figures: Sequence[Figure] = (),
) -> Section:
    """Return the section with the verdict in sentences, the summary first, then tables and figures."""
    groups = (found.on_model, found.on_people, (*found.cautions, _READING))
    paragraphs = (found.summary, *(" ".join(group) for group in groups if group))
    return Section(section_id, title, paragraphs, tuple(tables), tuple(figures))


def errors_section(
    found: Sequence[ViewErrors],
    *,
    texts: Mapping[str, str] | None = None,
    entries: Mapping[str, str] | None = None,
    section_id: str = "errors",
    title: str = "Errors of one view that another does not make",
    rule: str = "",
    most: int = MOST_ERRORS,
) -> Section:
    """Return the error browser: a table for each pair of views, wrong in one and right in the other (Table 3).

    *texts* are the items as they are shown (item id → text), *entries* the names of options (option → entry, its
    description), *rule* says by which rule distracting words were found. Of each kind *most* are shown.
    """
    tables = tuple(_errors_table(each, texts or {}, entries or {}, f"{section_id}_{n}", most)
                   for n, each in enumerate(found, start=1) if each.errors)  # fmt: skip
    return Section(section_id, title, tuple(_told(each) for each in found) + ((rule,) if rule else ()), tables)


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
    found, records = [], []
    for wrong, right in _KINDS:
        misled = {item.item_id: _distractor(item, answers[wrong].get(item.item_id), choices) for item in items}
        errors = view_errors(gold, answers, wrong=wrong, right=right, words=words, distractors=misled)
        found.append(errors)
        statistic = statistic_name("n_errors", wrong=wrong, right=right)
        records.append(Record(statistic, len(errors.errors), subject, dataset, n=errors.n))
    named = any(error.distractor for errors in found for error in errors.errors)
    texts, entries = {item.item_id: _text(item) for item in items}, {key: each.name for key, each in choices.items()}
    section = errors_section(found, texts=texts, entries=entries, section_id=name, most=most)
    told = [f"{dataset}, {subject}. {text}" for text in section.paragraphs]
    tables = [replace(each, number=number, title=f"{dataset}, {subject}: {each.title}") for each in section.tables]
    return Part(tuple(records), tuple(tables), paragraphs=(*told, *((_RULE,) if named else ())))


def _distractor(item: Item, answer: str | None, choices: Mapping[str, LabelChoice]) -> str:
    golds = str(item.gold).split(SEVERAL)
    if answer is None or answer not in choices or answer in golds:
        return ""
    right = next((choices[key].description for key in golds if key in choices), "")
    usage = item.usages[0]
    return distractor_by_overlap(usage.text, choices[answer].description, right=right, target=usage.target)


def _text(item: Item) -> str:
    texts = [usage.bracketed for usage in item.usages]
    definition = item.conditions.get("definition")
    return " ‖ ".join([*texts, str(definition)] if definition else texts)


def _told(found: ViewErrors) -> str:
    unanswered = f" Without an answer: {counted(found.n_unanswered, 'further item')}." if found.n_unanswered else ""
    wrong, right = found.wrong_view.upper(), found.right_view.upper()
    return f"{wrong} wrong and {right} right: {len(found.errors):,} of {counted(found.n, 'item')}.{unanswered}"


def _errors_table(
    found: ViewErrors, texts: Mapping[str, str], entries: Mapping[str, str], name: str, most: int
) -> Table:
    wrong, right = found.wrong_view.upper(), found.right_view.upper()
    shown = found.errors[:most]
    columns = (Column("Item"), Column("Word"), Column("Text"), Column("Right"), Column(f"Answered in {wrong}"),
               Column("Distracting word", note="A word of the context that may have led to the answer."))  # fmt: skip
    cells = tuple(_row(error, texts, entries) for error in shown)
    more = f"The first {len(shown):,} of {len(found.errors):,} items are shown." if len(found.errors) > most else ""
    title = f"{wrong} wrong, {right} right"
    return drop_empty(Table(name, "", title, columns, cells, (more,) if more else ()))


def _row(error: ViewError, texts: Mapping[str, str], entries: Mapping[str, str]) -> tuple[Cell, ...]:
    gold = [entries.get(option, option) for option in _options(error.gold, entries)]
    distractor: Cell = error.distractor or ""
    text: Cell = texts.get(error.item_id, "") if texts else ""
    if texts and not text:
        text = Missing("The text is not at hand.")
    return error.item_id, error.word, text, "; ".join(gold), entries.get(error.answer, error.answer), distractor


def _options(gold: str, entries: Mapping[str, str]) -> list[str]:
    return [gold] if gold in entries else gold.split(SEVERAL)
