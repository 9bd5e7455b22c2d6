"""Turn the accepted texts of a study into items of the next: sentences get endings, endings make stories to rate.

AmbiStory's three stages (§3.2 to §3.4). An accepted sentence is a *setup* once it has a precontext: two items for
``story_ending``, one for each meaning. Two accepted endings make three stories (one is left open), each rated for both
meanings: six samples, items for ``plausibility``. The files of all this are in
:mod:`lexiscope.annotation.writing.stage_files`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lexiscope.annotation.writing.review import AcceptedText
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.text_rules import compose_text, word_spans

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
        """The ambiguous word as it stands in the sentence."""
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
        raise InputError(f"meanings are corrected of no accepted sentence: {_some_ids(unknown)}", code="E646")
    return made


def ending_items(made: Sequence[Setup], precontexts: Mapping[str, str], *, dataset: str) -> tuple[Item, ...]:
    """Return the items for ``story_ending``: two for each setup, one for each meaning.

    *precontexts* are the three sentences before each sentence, by setup id. In the next study ``setup`` is the
    condition of which a list holds one item: no participant writes both endings of a story.
    Errors: :class:`InputError` E647 with the ids of the setups that have no precontext.
    """
    lacking = [setup.setup_id for setup in made if not precontexts.get(setup.setup_id, "").strip()]
    if lacking:
        what = f"{len(lacking)} of {len(made)} setups have no precontext: {_some_ids(lacking)}"
        raise InputError(what, code="E647", hint="write three sentences that keep both meanings open, for each of them")
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
    Errors: :class:`InputError` E648 where a setup lacks an ending, E649 where it has two of one meaning, or both of
    one writer.
    """
    by_item = _endings_by_item(endings)
    lacking = {_condition_text(asked[name], "setup") for name in missing_endings(endings, asked)}
    if lacking and not leave_out_incomplete:
        what = f"{len(lacking)} setups lack an accepted ending: {_some_ids(sorted(lacking))}"
        raise InputError(what, code="E648", hint="collect more endings, or leave these setups out")
    pairs: dict[str, dict[str, Item]] = {}
    for item in asked.values():
        pairs.setdefault(_condition_text(item, "setup"), {})[_condition_text(item, "meaning")] = item
    whole = {setup: pair for setup, pair in pairs.items() if setup not in lacking}
    return tuple(sample for setup, pair in whole.items() for sample in _samples(setup, pair, by_item, dataset))


# -- sentences to setups --------------------------------------------------------------------------------------


def _build_setup(sentence: AcceptedText, item: Item, corrected: Mapping[str, Mapping[str, str]]) -> Setup:
    setup_id = setup_id_of(item.item_id, sentence.answer.answer_id)
    # spans count composed characters, so the text that goes on is composed too; the raw sentence stays as it was typed
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
        what = f"{len(twice)} items have more than one accepted ending: {_some_ids(twice)}"
        raise InputError(what, code="E649", hint="reject all but one ending of each")
    return by_item


def _samples(setup: str, pair: Mapping[str, Item], by_item: Mapping[str, AcceptedText], dataset: str) -> list[Item]:
    if set(pair) != set(MEANINGS):
        what = f"the setup {setup!r} was given out for the meanings {_some_ids(sorted(pair))}, not for 1 and 2"
        raise InputError(what, code="E648", hint="give each setup two items, one for each meaning")
    # one writer would shape both meanings of a story after the other (AmbiStory §3.3: two writers)
    chosen = {meaning: by_item[pair[meaning].item_id] for meaning in MEANINGS}
    if chosen["1"].answer.participant_id == chosen["2"].answer.participant_id:
        what = f"both endings of the setup {setup!r} are by one writer"
        raise InputError(what, code="E649", hint="reject one, and let somebody else write it")
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
