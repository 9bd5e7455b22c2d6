"""Pairs of usages and their ratings as a DURel folder: ``uses.csv``, ``instances.csv`` and ``judgments.csv``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import atomic_folder, write_atomically
from lexiscope.core.usage import Usage
from lexiscope.resources.platforms.durel import (
    ABOUT,
    HIGHEST,
    INSTANCES,
    JUDGMENT_COLUMNS,
    JUDGMENTS,
    LOWEST,
    USE_COLUMNS,
    USES,
    text_of,
)

_RATED = ("rating", "repeated_rating")
_COMMENT = "comment"
_UNDECIDED = "0"
Cells = Mapping[str, str]


def write_durel(items: Sequence[Item], responses: ResponseTable, folder: Path) -> tuple[Path, ...]:
    """Write pairs and their ratings as a new folder and return its files.

    ``lexiscope analyse FOLDER/judgments.csv`` gives the same ratings of the same pairs back. The identifier of a usage
    is that with which it was read (the condition ``identifier_1`` or ``identifier_2``); otherwise its lemma with a
    number. A rating without a value is written as 0 (cannot decide). A rater's repeated ratings of a pair are rows in
    their order, each with its comment. Times and lists are not written.
    Errors: :class:`InputError` for an item that is no pair of usages, for a rating that is not on the scale of DURel,
    and for a rating of an item that is not there; those of :func:`~lexiscope.core.run.atomic_folder`.
    """
    identifiers = _identifiers(items)
    pairs = {item.item_id: _pair(item, identifiers) for item in items}
    judgments = list(_judgments(pairs, responses))
    with atomic_folder(folder) as new:
        write_atomically(new / USES, text_of(_uses(items, identifiers), USE_COLUMNS))
        write_atomically(new / INSTANCES, text_of(iter(pairs.values()), ("identifier1", "identifier2", "lemma")))
        write_atomically(new / JUDGMENTS, text_of(iter(judgments), JUDGMENT_COLUMNS))
    return folder / USES, folder / INSTANCES, folder / JUDGMENTS


def _about(item: Item, side: int) -> dict[str, str]:
    """What was read of a usage of a pair, by its names in DURel."""
    return {name: str(item.conditions.get(f"{name}_{side}", "")) for name in ABOUT}


def _identifiers(items: Sequence[Item]) -> dict[tuple[Usage, str], str]:
    """The identifier of each usage; usages that were read with different identifiers stay different."""
    identifiers: dict[tuple[Usage, str], str] = {}
    taken: dict[str, tuple[Usage, str]] = {}
    for item in items:
        if len(item.usages) != 2:
            what = f"the item has {len(item.usages)} usages; DURel has pairs of usages"
            raise InputError(what, place=Place(item_id=item.item_id), hint="write the items of a relatedness task")
        for side, usage in enumerate(item.usages, start=1):
            given = _about(item, side)["identifier"]
            key = (usage, given)
            if key in identifiers:
                continue
            name, number = given or f"{_lemma(item, usage)}-{len(identifiers) + 1}", 2
            while not given and name in taken:
                name, number = f"{_lemma(item, usage)}-{len(identifiers) + 1}-{number}", number + 1
            if name in taken:
                what = f"two usages have the identifier {name!r}"
                raise InputError(what, place=Place(item_id=item.item_id), hint="give each usage its own identifier")
            identifiers[key] = name
            taken[name] = key
    return identifiers


def _lemma(item: Item, usage: Usage) -> str:
    return usage.lemma or item.word


def _pair(item: Item, identifiers: Mapping[tuple[Usage, str], str]) -> Cells:
    names = (identifiers[usage, _about(item, n)["identifier"]] for n, usage in enumerate(item.usages, start=1))
    return dict(zip(("identifier1", "identifier2", "lemma"), (*names, _lemma(item, item.usages[0])), strict=True))


def _uses(items: Sequence[Item], identifiers: Mapping[tuple[Usage, str], str]) -> Iterator[Cells]:
    written: set[str] = set()
    for item in items:
        for side, usage in enumerate(item.usages, start=1):
            about = _about(item, side)
            identifier = identifiers[usage, about["identifier"]]
            if identifier in written:
                continue
            written.add(identifier)
            yield {
                **{name: about[name] for name in ("date", "grouping", "description")},
                "lemma": _lemma(item, usage),
                "pos": usage.pos or str(item.conditions.get(f"pos_{side}", "")),
                "identifier": identifier,
                "context": usage.text,
                "indexes_target_token": f"{usage.start}:{usage.end}",
                "indexes_target_sentence": about["target_sentence"] or f"0:{len(usage.text)}",
            }


def _judgments(pairs: Mapping[str, Cells], responses: ResponseTable) -> Iterator[Cells]:
    comments = {
        (row.subject_id, row.item_id, row.repeat): row.raw or "" for row in responses.where(measure=_COMMENT).rows()
    }
    for row in responses.where(measure=_RATED).rows():
        place = Place(item_id=row.item_id)
        if row.item_id not in pairs:
            raise InputError("a rating of an item that is not written", place=place, hint="write all rated items")
        if row.value is not None and not LOWEST <= row.value <= HIGHEST:
            what = f"{row.subject_id} gave {row.value:g}; the scale of DURel is {LOWEST} to {HIGHEST}"
            hint = "choose another format, or recode the ratings before"
            raise InputError(what, code="E301", place=place, hint=hint)
        judgment = _UNDECIDED if row.value is None else f"{row.value:g}"
        comment = comments.get((row.subject_id, row.item_id, row.repeat), "")
        yield {**pairs[row.item_id], "annotator": row.subject_id, "judgment": judgment, "comment": comment}
