"""One published file of AmbiStory as samples: every field checked, nothing interpreted yet."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexiscope.core.errors import InputError, Place
from lexiscope.core.foreign import parse_json
from lexiscope.core.simulated import KIND_COLUMN, PARTICIPANT, SIMULATED, refuse_mixture

TEXTS = ("homonym", "judged_meaning", "precontext", "sentence", "ending", "sample_id", "example_sentence")
JUDGED = ("choices", "average", "stdev", "nonsensical")
FIELDS = ("homonym", "judged_meaning", "precontext", "sentence", "ending", *JUDGED, "sample_id", "example_sentence")
"""The fields of a sample, in the published order."""

REDACTED = "(???)"
"""The content of the four judged fields of the test file that was given to participants of the shared task."""

RATINGS_PER_SAMPLE = (5, 6)


@dataclass(frozen=True, slots=True)
class StorySample:
    """One meaning judged in one story, as published.

    ``choices`` are the ratings in the order of the raters of its group, ``nonsensical`` their ticks; both are
    ``None`` where the publisher redacted them: such a sample is unlabelled, and nothing is averaged for it.
    ``simulated``: the ratings are those of simulated participants, as the export of a rehearsal says.
    """

    homonym: str
    judged_meaning: str
    precontext: str
    sentence: str
    ending: str
    sample_id: str
    example_sentence: str
    choices: tuple[int, ...] | None
    nonsensical: tuple[bool, ...] | None
    simulated: bool = False

    @property
    def group(self) -> int:
        """The group of raters that judged the sample, recovered from its number (130 groups)."""
        return int(self.sample_id) % 130


def read_samples(path: Path) -> tuple[StorySample, ...]:
    """Read a file of samples, in its order.

    Errors: :class:`InputError` with file and sample where the text is no JSON, a field is missing, of another kind or
    off its scale, an average or a standard deviation is not that of the ratings, or rows are not numbered from 0.
    """
    rows = _read_rows(path)
    expected = [str(row) for row in range(len(rows))]
    if list(rows) != expected:
        raise InputError("the samples of this file are not numbered 0, 1, 2 …", place=Place(str(path)))
    samples = tuple(_read_sample(fields, Place(str(path), item_id=row)) for row, fields in rows.items())
    refuse_mixture({SIMULATED if sample.simulated else PARTICIPANT for sample in samples}, place=Place(str(path)))
    return samples


def file_content(samples: Sequence[StorySample], *, redacted: bool = False, final_newline: bool = False) -> bytes:
    """Return samples as the publisher writes them: JSON, indented by four, letters beyond ASCII escaped.

    With *redacted*, or for a sample without ratings, the judged fields hold the publisher's mark.
    """
    rows = {str(row): _sample_fields(sample, redacted=redacted) for row, sample in enumerate(samples)}
    return (json.dumps(rows, indent=4) + "\n" * final_newline).encode("ascii")


def _sample_fields(sample: StorySample, *, redacted: bool) -> dict[str, object]:
    cells: dict[str, object] = {name: getattr(sample, name) for name in TEXTS}
    if redacted or sample.choices is None or sample.nonsensical is None:
        cells |= dict.fromkeys(JUDGED, REDACTED)
    else:
        cells |= {"choices": list(sample.choices), "nonsensical": list(sample.nonsensical)} | _mean_and_sd(
            sample.choices
        )
    return {name: cells[name] for name in FIELDS} | ({KIND_COLUMN: SIMULATED} if sample.simulated else {})


def _mean_and_sd(choices: Sequence[int]) -> dict[str, float]:
    """Return the published mean and standard deviation (that with n-1) of ratings."""
    return {"average": sum(choices) / len(choices), "stdev": statistics.stdev(choices)}


def _read_rows(path: Path) -> dict[str, Any]:
    try:
        rows = parse_json(
            path.read_bytes().decode("utf-8"), object_pairs_hook=_object_of_pairs, parse_constant=_no_number
        )
    except (UnicodeDecodeError, ValueError) as error:
        hint = "is it cut off, or not the published file? fetch it again"
        raise InputError("this file is no JSON", place=Place(str(path)), why=str(error), hint=hint) from error
    if not isinstance(rows, dict) or not rows:
        raise InputError("this file holds no object with one sample a row", place=Place(str(path)))
    return rows


def _object_of_pairs(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the name {next(n for n in names if names.count(n) > 1)!r} stands twice in one object")
    return values


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number")


def _read_sample(fields: object, place: Place) -> StorySample:
    marked = isinstance(fields, dict) and KIND_COLUMN in fields
    if not isinstance(fields, dict) or set(fields) - {KIND_COLUMN} != set(FIELDS):
        raise InputError(f"a sample has the fields {', '.join(FIELDS)}", place=place)
    for name in TEXTS:
        text = fields[name]
        # the ending of an open story is empty: that is data
        if not isinstance(text, str) or not (text.strip() or name == "ending"):
            raise InputError(f"{name} must be a text; there is {text!r}", place=place)
    if not fields["sample_id"].isdecimal():
        raise InputError(f"sample_id must be a number; there is {fields['sample_id']!r}", place=place)
    choices, nonsensical = _read_judgments(fields, place)
    texts, simulated = {name: fields[name] for name in TEXTS}, marked and fields[KIND_COLUMN] == SIMULATED
    return StorySample(**texts, choices=choices, nonsensical=nonsensical, simulated=simulated)


def _read_judgments(fields: Mapping[str, Any], place: Place) -> tuple[tuple[int, ...] | None, tuple[bool, ...] | None]:
    redacted = [name for name in JUDGED if fields[name] == REDACTED]
    if len(redacted) == len(JUDGED):
        return None, None
    if redacted:
        raise InputError(f"{', '.join(redacted)} are redacted, the other judged fields are not", place=place)
    choices, ticks = fields["choices"], fields["nonsensical"]
    if not _is_list_of(choices, int) or not set(choices) <= {1, 2, 3, 4, 5} or len(choices) not in RATINGS_PER_SAMPLE:
        raise InputError(f"choices must be 5 or 6 ratings from 1 to 5; there is {choices!r}", place=place)
    if not _is_list_of(ticks, bool) or len(ticks) != len(choices):
        raise InputError(f"nonsensical must be one true or false for each rating; there is {ticks!r}", place=place)
    for name, value in _mean_and_sd(choices).items():
        if fields[name] != value:
            raise InputError(f"{name} of these ratings is {value}; there is {fields[name]!r}", place=place)
    return tuple(choices), tuple(ticks)


def _is_list_of(values: object, kind: type) -> bool:
    """Whether this is a list of one kind (``true`` is no number here)."""
    return isinstance(values, list) and all(type(value) is kind for value in values)
