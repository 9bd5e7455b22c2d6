"""From accepted texts of a study to items of the next; the files between two stages; the pool that writers draw from.

AmbiStory's three stages (§3.2 to §3.4). An accepted sentence is a *setup* once it has a precontext: two items for
``story_ending``, one for each meaning. Two accepted endings make three stories (one is left open), each rated for both
meanings: six samples, items for ``plausibility``. The files of all this are in
:mod:`lexiscope.annotation.writing.stages`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lexiscope.annotation.store.record import Review
from lexiscope.annotation.writing.review import NOT_REVIEWED, AcceptedText, WrittenText, latest_reviews
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item, check_unique_ids
from lexiscope.core.run import csv_lines
from lexiscope.core.showing import counted
from lexiscope.core.usage import Usage
from lexiscope.items.tables.neutral import csv_text
from lexiscope.items.tables.spreadsheet import is_live
from lexiscope.items.text_rules import compose_text, word_spans
from lexiscope.resources.tables.rows import RowReader

Meaning = Literal["1", "2"]
EndingOf = Literal["A", "B", "open"]
MEANINGS: tuple[Meaning, Meaning] = ("1", "2")
ENDING_FOR: Mapping[str, EndingOf] = {"1": "A", "2": "B"}
"""Ending A was written for meaning 1, ending B for meaning 2."""

SENSES = ("sense_1", "example_1", "sense_2", "example_2")
"""What an editor can correct of a sentence: its two meanings and their examples, as the pool's items name them."""

_NAMED = 5


@dataclass(frozen=True, slots=True)
class Setup:
    """An ambiguous sentence with its word and the two meanings between which it is ambiguous.

    ``meanings`` holds a sense and an example for each of the two.
    """

    setup_id: str
    usage: Usage
    meanings: tuple[tuple[str, str], tuple[str, str]]

    @property
    def homonym(self) -> str:
        """The ambiguous word, as written in the sentence."""
        return self.usage.target


def setup_id_of(item_id: str, answer_id: int) -> str:
    """Return the id of the setup that an answer to an item of the pool makes.

    >>> setup_id_of("bank-1", 17)
    'bank-1_17'
    """
    return f"{item_id}_{answer_id}"


def setups(
    sentences: Iterable[AcceptedText],
    pool: Mapping[str, Item],
    *,
    corrected: Mapping[str, Mapping[str, str]] | None = None,
) -> tuple[Setup, ...]:
    """Return the setups that accepted sentences make, in their order.

    *pool* are the items that were written for, by id. *corrected* gives, by setup id, the meanings that an editor put
    in the place of the pool's, where the sentence is ambiguous between others (names: :data:`SENSES`).
    Errors: :class:`InputError` E645 where a sentence does not hold its word exactly once, E646 where a correction is of
    no sentence or no meaning.
    """
    made = tuple(_build_setup(text, pool[text.answer.item_id], corrected or {}) for text in sentences)
    unknown = sorted(set(corrected or {}) - {setup.setup_id for setup in made})
    if unknown:
        raise InputError(f"corrected meanings belong to no accepted sentence: {_some_ids(unknown)}", code="E646")
    return made


def ending_items(made: Sequence[Setup], precontexts: Mapping[str, str], *, dataset: str) -> tuple[Item, ...]:
    """Return the items for ``story_ending``: two for each setup, one for each meaning.

    *precontexts* are the three sentences before each sentence, by setup id. In the next study ``setup`` is the
    condition of which a list holds one item: no participant writes both endings of a story.
    Errors: :class:`InputError` E647 with the ids of the setups that have no precontext.
    """
    unwritten = [setup.setup_id for setup in made if not precontexts.get(setup.setup_id, "").strip()]
    if unwritten:
        what = f"{len(unwritten)} of {counted(len(made), 'setup')} have no precontext: {_some_ids(unwritten)}."
        hint = "For each of them, write three sentences that keep both meanings open."
        raise InputError(what, code="E647", hint=hint)
    return tuple(
        _ending_item(setup, compose_text(precontexts[setup.setup_id].strip()), meaning, dataset)
        for setup in made
        for meaning in MEANINGS
    )


def missing_endings(endings: Iterable[AcceptedText], asked: Mapping[str, Item]) -> tuple[str, ...]:
    """Return the ids of the items of the ending study that have no accepted ending, in their order."""
    written_for = {ending.answer.item_id for ending in endings}
    return tuple(item_id for item_id in asked if item_id not in written_for)


def rating_items(
    endings: Sequence[AcceptedText], asked: Mapping[str, Item], *, dataset: str, leave_out_incomplete: bool = False
) -> tuple[Item, ...]:
    """Return the items for ``plausibility``: six samples of each setup, stories A, B and open by meanings 1 and 2.

    *asked* are the items that endings were written for, by id. 633 setups make 1,899 stories and 3,798 samples
    (AmbiStory §3.4). With *leave_out_incomplete*, setups with one accepted ending or none make no samples.
    Errors: :class:`InputError` E648 if a setup has no ending, E649 where it has two of one meaning, or both of
    one writer.
    """
    by_item = _endings_by_item(endings)
    incomplete = {_condition_text(asked[name], "setup") for name in missing_endings(endings, asked)}
    if incomplete and not leave_out_incomplete:
        setups = counted(len(incomplete), "setup")
        what = f"No accepted ending for each meaning of {setups}: {_some_ids(sorted(incomplete))}."
        raise InputError(what, code="E648", hint="Collect more endings, or use --leave-out-incomplete.")
    pairs: dict[str, dict[str, Item]] = {}
    for item in asked.values():
        pairs.setdefault(_condition_text(item, "setup"), {})[_condition_text(item, "meaning")] = item
    whole = {setup: pair for setup, pair in pairs.items() if setup not in incomplete}
    return tuple(sample for setup, pair in whole.items() for sample in _samples(setup, pair, by_item, dataset))


# -- sentences to setups --------------------------------------------------------------------------------------


def _build_setup(sentence: AcceptedText, item: Item, corrected: Mapping[str, Mapping[str, str]]) -> Setup:
    setup_id = setup_id_of(item.item_id, sentence.answer.answer_id)
    # spans count composed characters, so the final text is composed, too; the raw sentence stays as typed
    text, usage = compose_text(sentence.clean), item.usages[0]
    spans = word_spans(text, usage.target)
    if len(spans) != 1:
        what = f"the accepted sentence of setup {setup_id!r} holds {usage.target!r} {len(spans)} times: {text!r}"
        raise InputError(what, code="E645", hint="review it again")
    start, end = spans[0]
    senses = {name: _condition_text(item, name) for name in SENSES} | dict(corrected.get(setup_id, {}))
    if set(senses) != set(SENSES):
        what = f"the correction of {setup_id!r} names {_some_ids(sorted(set(senses) - set(SENSES)))}"
        raise InputError(what, code="E646", hint=f"use {', '.join(SENSES)}")
    usage_here = Usage(text, start, end, lemma=usage.lemma, language=usage.language)
    first, second = ((senses[f"sense_{n}"], senses[f"example_{n}"]) for n in MEANINGS)
    return Setup(setup_id, usage_here, (first, second))


def _ending_item(setup: Setup, precontext: str, meaning: Meaning, dataset: str) -> Item:
    own, other = setup.meanings if meaning == "1" else setup.meanings[::-1]
    conditions = {
        "setup": setup.setup_id,
        "homonym": setup.homonym,
        "meaning": meaning,
        "precontext": precontext,
        "sense": own[0],
        "example": own[1],
        "other_sense": other[0],
        "other_example": other[1],
    }
    return Item(f"{setup.setup_id}_{ENDING_FOR[meaning]}", dataset, (setup.usage,), conditions=conditions)


# -- endings to samples ---------------------------------------------------------------------------------------


def _endings_by_item(endings: Sequence[AcceptedText]) -> dict[str, AcceptedText]:
    """Return the accepted endings by the item that they were written for."""
    by_item: dict[str, AcceptedText] = {}
    twice = [text.answer.item_id for text in endings if by_item.setdefault(text.answer.item_id, text) is not text]
    if twice:
        what = f"{counted(len(twice), 'item')} with more than one accepted ending: {_some_ids(twice)}."
        raise InputError(what, code="E649", hint="Accept only one ending of each.")
    return by_item


def _samples(setup: str, pair: Mapping[str, Item], by_item: Mapping[str, AcceptedText], dataset: str) -> list[Item]:
    if set(pair) != set(MEANINGS):
        what = f"the setup {setup!r} was given out for the meanings {_some_ids(sorted(pair))}, not for 1 and 2"
        raise InputError(what, code="E648", hint="give each setup two items, one for each meaning")
    # one writer would shape both meanings of a story after the other (AmbiStory §3.3: two writers)
    chosen = {meaning: by_item[pair[meaning].item_id] for meaning in MEANINGS}
    if chosen["1"].answer.participant_id == chosen["2"].answer.participant_id:
        what = f"One participant wrote both endings of the setup {setup!r}."
        raise InputError(what, code="E649", hint="Reject one of them; another participant then writes it.")
    endings: dict[EndingOf, str] = {ENDING_FOR[meaning]: compose_text(chosen[meaning].clean) for meaning in MEANINGS}
    # an open story has the empty ending: that is data, and no missing value
    endings["open"] = ""
    return [
        _sample(pair[meaning], ending_of, ending, meaning, dataset)
        for ending_of, ending in endings.items()
        for meaning in MEANINGS
    ]


def _sample(item: Item, ending_of: EndingOf, ending: str, meaning: Meaning, dataset: str) -> Item:
    setup = _condition_text(item, "setup")
    known = {name: _condition_text(item, name) for name in ("setup", "homonym", "precontext", "sense", "example")}
    intended = "open" if ending_of == "open" else "yes" if ENDING_FOR[meaning] == ending_of else "no"
    conditions = known | {"meaning": meaning, "ending_of": ending_of, "ending": ending, "intended": intended}
    return Item(f"{setup}_{ending_of}_{meaning}", dataset, item.usages, conditions=conditions)


def _condition_text(item: Item, name: str) -> str:
    return str(item.condition(name))


def _some_ids(ids: Sequence[str]) -> str:
    return ", ".join(ids[:_NAMED]) + (" …" if len(ids) > _NAMED else "")


# -- stage files ----------------------------------------------------------------------------------------------------
# Write and read the files between two stages: the next study's items, the texts with verdicts, the precontexts.
#
# The next study names the item file and nothing else: :func:`lexiscope.annotation.study_file.items.study_items` reads
# the same items from it.


Cells = dict[str, str | int]
SENTENCE_COLUMNS = (
    *("setup_id", "pair_id", "form", "sense1", "sense2", "skips"),
    *("sentence_raw", "sentence_clean", "status", "reason", "precontext"),
)
"""The table of written sentences. ``precontext`` is empty: to be filled in for accepted sentences."""
ENDING_COLUMNS = ("setup_id", "intended_sense", "ending_raw", "ending_clean", "status", "reason")
"""The table of written endings."""
_USAGE_COLUMNS = ("item_id", "sentence_1", "start_1", "end_1", "target", "word", "language")


def item_file(items: Sequence[Item]) -> str:
    """Return items of one usage each as the item file of a study: every condition is a column with its name.

    Texts are written unchanged, even if a spreadsheet would run one as a formula: the file is made to be read back.
    Errors: :class:`InputError` E650 for no items, items of several usages or with different conditions, and for what
    the file would not give back: a condition that is no text or is named like a column of the target, a sense, a part
    of speech; E403 for a repeated id.
    """
    check_unique_ids(tuple(items))
    names = list(items[0].conditions) if items else []
    for item in items:
        _check_writable(item, names)
    if not items:
        raise InputError("There are no accepted texts.", code="E650", hint="Accept texts in the review first.")
    rows = []
    for item in items:
        usage = item.usages[0]
        span = (str(usage.start), str(usage.end))
        cells = (item.item_id, usage.text, *span, usage.target, usage.lemma or "", usage.language)
        rows.append([*cells, *(str(item.conditions[name]) for name in names)])
    # everything quoted: a bare carriage return in a text is given back only inside quotes
    return csv_lines([*_USAGE_COLUMNS, *names], rows, quote_all=True)


def sentence_table(answers: Iterable[WrittenText], reviews: Iterable[Review], pool: Mapping[str, Item]) -> str:
    """Return every written sentence as CSV, raw and clean, with its verdict (columns: :data:`SENTENCE_COLUMNS`).

    Text that a spreadsheet would run begins with an apostrophe. The clean text is empty where none was accepted.
    """
    decided = latest_reviews(reviews)
    rows: list[Cells] = []
    for answer in answers:
        name, item = answer.item_id, pool[answer.item_id]
        row: Cells = {"setup_id": setup_id_of(name, answer.answer_id), "pair_id": name, "skips": answer.skips}
        row |= {"form": item.usages[0].target, **{f"sense{n}": str(item.condition(f"sense_{n}")) for n in (1, 2)}}
        rows.append(row | _text_cells(answer, decided, "sentence"))
    return _csv_table(SENTENCE_COLUMNS, rows)


def ending_table(answers: Iterable[WrittenText], reviews: Iterable[Review], asked: Mapping[str, Item]) -> str:
    """Return every written ending as CSV, raw and clean, with its verdict (columns: :data:`ENDING_COLUMNS`)."""
    decided = latest_reviews(reviews)
    rows: list[Cells] = []
    for answer in answers:
        item = asked[answer.item_id]
        row: Cells = {"setup_id": str(item.condition("setup")), "intended_sense": str(item.condition("sense"))}
        rows.append(row | _text_cells(answer, decided, "ending"))
    return _csv_table(ENDING_COLUMNS, rows)


def read_precontexts(path: Path | str) -> dict[str, str]:
    """Return the precontexts in a table with the columns ``setup_id`` and ``precontext``, without empty ones.

    The table of :func:`sentence_table` serves once it is filled in; it may come back from a spreadsheet.
    Errors: :class:`InputError` E651 where a column is missing or a setup has two; those of the row reader.
    """
    reader = RowReader(path)
    rows = reader.rows()
    header = next(rows, None)
    indices = {name: index for index, name in enumerate(reader.header)}
    if header is None or not {"setup_id", "precontext"} <= set(indices):
        place = header.place() if header is not None else Place(str(path))
        raise InputError("not a table of precontexts: it needs setup_id and precontext", code="E651", place=place)
    precontexts: dict[str, str] = {}
    for row in rows:
        setup_id, text = (row.fields[indices[name]].strip() for name in ("setup_id", "precontext"))
        setup_id = strip_apostrophe(setup_id)
        if not text:
            continue
        if setup_id in precontexts:
            place = row.place(indices["setup_id"], width=len(setup_id))
            raise InputError(
                f"Two precontexts for the setup {setup_id!r}.", code="E651", place=place, hint="Delete one."
            )
        precontexts[setup_id] = text
    return precontexts


def strip_apostrophe(text: str) -> str:
    """Return a cell without the apostrophe that kept a spreadsheet from running it as a formula."""
    return text[1:] if text.startswith("'") and is_live(text[1:]) else text


def _check_writable(item: Item, names: Sequence[str]) -> None:
    usage = item.usages[0]
    what = ""
    if len(item.usages) != 1 or usage.sense is not None or usage.pos is not None:
        what = "the file holds one usage of an item, without sense id and part of speech"
    elif list(item.conditions) != list(names):
        what = "the items of one file have the same conditions in the same order"
    elif not all(isinstance(value, str) for value in item.conditions.values()):
        what = "the conditions in the file are texts"
    elif set(names) & set(_USAGE_COLUMNS):
        what = f"no condition is called {sorted(set(names) & set(_USAGE_COLUMNS))[0]!r} in the file"
    if what:
        raise InputError(what, code="E650", place=Place(item_id=item.item_id))


def _text_cells(answer: WrittenText, decided: Mapping[int, Review], what: str) -> Cells:
    review = decided.get(answer.answer_id)
    status, reason = (review.verdict, review.reason) if review is not None else (NOT_REVIEWED, "")
    clean = answer.text if review is None or review.text is None else review.text
    return {
        f"{what}_raw": answer.text,
        f"{what}_clean": clean if status == "accepted" else "",
        "status": status,
        "reason": reason,
    }


def _csv_table(columns: Sequence[str], rows: Iterable[Cells]) -> str:
    return csv_text(columns, ([row.get(name) for name in columns] for row in rows))


# -- pool -----------------------------------------------------------------------------------------------------------
# Draw the next item for a writer from a pool, one at a time, without the words that have enough answers.


def next_draw(
    items: Sequence[Item],
    written_counts: Mapping[str, int],
    seen: Collection[str],
    *,
    seed: int,
    number: int,
    draw: int,
    at_most: int,
) -> Item | None:
    """Return the item that participant *number* gets as their draw *draw*; ``None`` where nothing is left.

    Every item that this participant has not *seen* is equally probable, so that a form with several pairs of senses
    comes more often. *written_counts* says how many answers that are no skips each item has, by item id: the items of
    a form that has *at_most* of them together are not served any more (0: no limit). What was served before is not
    taken back, so a form can end a few above the limit when several people write at once.
    *Source:* AmbiStory §4.1 (popular words were taken out of the pool while it ran).

    >>> from lexiscope.core.usage import Usage
    >>> pool = [Item(name, "pool", (Usage(name, 0, len(name)),)) for name in ("bank", "pitch")]
    >>> next_draw(pool, {"bank": 2}, [], seed=1, number=1, draw=0, at_most=2).item_id
    'pitch'
    """
    retired = set(retired_forms(items, written_counts, at_most=at_most))
    left = [item for item in items if form_of(item) not in retired and item.item_id not in seen]
    # sorted: the order of the items in a file decides nothing
    left.sort(key=lambda item: item.item_id)
    return random.Random(f"{seed}/{number}/{draw}/pool").choice(left) if left else None


def retired_forms(items: Sequence[Item], written_counts: Mapping[str, int], *, at_most: int) -> tuple[str, ...]:
    """Return the forms that are not served any more, in the order of the items; none where *at_most* is 0."""
    written: Counter[str] = Counter()
    for item in items:
        written[form_of(item)] += written_counts.get(item.item_id, 0)
    return tuple(form for form, n in written.items() if at_most and n >= at_most)


def form_of(item: Item) -> str:
    """Return the form that an item counts for: its target without case, for any lemma."""
    return item.usages[0].target.casefold()
