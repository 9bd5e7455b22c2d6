"""Samples as items and responses: six samples make a setup, every rating is one row of a recorded rater."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Literal

from lexiscope.build.stories.stories import SAMPLES, TASK, StorySetup, story_samples
from lexiscope.core.errors import InputError, Place, SpanError
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.simulated import PARTICIPANT, SIMULATED_ID
from lexiscope.core.usage import Usage, locate, occurrences
from lexiscope.datasets.ambistory.samples import StorySample

NAME = "ambistory"
MEASURE_NONSENSICAL = "nonsensical"
SpanRule = Literal["exact", "other case", "nearest word"]
_SHARED_LETTERS = 3
_SHOWN = ("homonym", "precontext", "sentence")


def setup_items(split: str, samples: Sequence[StorySample], path: str) -> tuple[Item, ...]:
    """Return the items of a split in the published order: six samples are one setup (spec: 633 of 633).

    Errors: :class:`InputError` with file and row where six rows are not one setup; :class:`SpanError` where a
    homonym cannot be found in its sentence.
    """
    if len(samples) % len(SAMPLES):
        what = f"this file has {len(samples)} samples: a setup has {len(SAMPLES)}"
        raise InputError(what, place=Place(path), hint="it is cut off: fetch it again")
    items: list[Item] = []
    for first in range(0, len(samples), len(SAMPLES)):
        six = samples[first : first + len(SAMPLES)]
        _check_setup(six, first, path)
        items += _items(split, first // len(SAMPLES) + 1, six, Place(path, item_id=str(first)))
    return tuple(items)


def rating_rows(samples: Iterable[StorySample]) -> ResponseTable:
    """Return every rating as a row of measure ``rating``, then every tick as one of ``nonsensical`` (0 or 1).

    The subject is the rater: the group of the sample and the position in its ``choices``, from 0. Nobody published
    who rated what; the groups are recovered (the card says from what). An unlabelled sample has no rows.
    """
    labelled = [one for one in samples if one.choices is not None]
    rated = [(one, position, value) for one in labelled for position, value in enumerate(one.choices or ())]
    ticked = [(one, position, value) for one in labelled for position, value in enumerate(one.nonsensical or ())]
    return ResponseTable.concat([_rows("rating", rated), _rows(MEASURE_NONSENSICAL, ticked)])


def rater_id(group: int, position: int) -> str:
    """Return the id of a recorded rater.

    >>> rater_id(109, 5)
    'rater/109-5'
    """
    return f"rater/{group}-{position}"


def find_homonym(sentence: str, form: str) -> tuple[int, int, SpanRule]:
    """Return where the homonym stands in its sentence, and by which rule it was found.

    It is the only whole word with these letters, case ignored where the exact case is absent. Where the sentence has
    another word instead (one setup of 633), it is the word that begins with the most letters of the form, three at
    least: marked, so that an analysis can leave it out.
    Errors: :class:`SpanError` where no rule finds one word.

    >>> find_homonym("Spring is a short word.", "spring")
    (0, 6, 'other case')
    >>> find_homonym("She gave many notations.", "notes")
    (14, 23, 'nearest word')
    """
    if spans := occurrences(sentence, form):
        start, end = spans[0] if len(spans) == 1 else locate(sentence, form)
        return start, end, "exact" if sentence[start:end] == form else "other case"
    words = [match.span() for match in re.finditer(r"\w+", sentence)]
    shared = [_shared_letters(sentence[start:end], form) for start, end in words]
    most = max(shared, default=0)
    if most < _SHARED_LETTERS or shared.count(most) > 1:
        raise SpanError(f"no word of the sentence is {form!r} or begins like it", place=Place(text=sentence))
    start, end = words[shared.index(most)]
    return start, end, "nearest word"


def _shared_letters(word: str, form: str) -> int:
    pairs = zip(word.casefold(), form.casefold(), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _check_setup(six: Sequence[StorySample], first: int, path: str) -> None:
    setups = {tuple(getattr(one, name) for name in _SHOWN) for one in six}
    senses = [(one.judged_meaning, one.example_sentence) for one in six]
    endings = [one.ending for one in six]
    whole = (
        len(setups) == 1
        and senses == senses[:2] * 3
        and senses[0] != senses[1]
        and endings == [endings[0], endings[0], endings[2], endings[2], "", ""]
        and "" not in endings[:4]
    )
    if not whole:
        what = "six rows from here on are not one setup: two endings and none, two meanings each"
        raise InputError(what, place=Place(path, item_id=str(first)), hint="is this the published order of rows?")


def _items(split: str, number: int, six: Sequence[StorySample], place: Place) -> tuple[Item, ...]:
    one = six[0]
    try:
        start, end, rule = find_homonym(one.sentence, one.homonym)
    except SpanError as error:
        raise SpanError(error.what, code=error.code, place=replace(place, text=one.sentence), why=error.why) from error
    extra: dict[str, Condition] = {"split": split, "span_rule": rule}
    if one.precontext != one.precontext.strip():
        # white space around 14 published precontexts: no part of the story, kept for the export
        extra["published_precontext"] = one.precontext
    setup = StorySetup(
        setup_id=f"{split}-{number:03d}",
        # the publisher states no lemma: the form stands for it, and groups the items as the paper does
        usage=Usage(one.sentence, start, end, lemma=one.homonym, language="en"),
        precontext=one.precontext.strip(),
        senses=(six[0].judged_meaning, six[1].judged_meaning),
        examples=(six[0].example_sentence, six[1].example_sentence),
        endings=(six[0].ending, six[2].ending),
        homonym=one.homonym,
        extra=extra,
    )
    groups: list[Mapping[str, Condition]] = [{"group": each.group} for each in six]
    return story_samples(setup, dataset=NAME, item_ids=[item_id(each) for each in six], extra=groups)


def item_id(sample: StorySample) -> str:
    """Return the id of a sample's item."""
    return f"{NAME}/{sample.sample_id}"


def _rows(measure: str, cells: Sequence[tuple[StorySample, int, int | bool]]) -> ResponseTable:
    return ResponseTable.from_columns(
        {
            "subject_id": [
                (SIMULATED_ID if one.simulated else "") + rater_id(one.group, position) for one, position, _ in cells
            ],
            "subject_kind": PARTICIPANT,
            "item_id": [item_id(one) for one, _, _ in cells],
            "task": TASK,
            "measure": measure,
            "value": [float(value) for _, _, value in cells],
            "view": "full",
        }
    )
