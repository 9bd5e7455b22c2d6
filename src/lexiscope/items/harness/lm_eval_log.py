"""What lm-evaluation-harness logged of an exported task with ``--log_samples``: a log-probability for each option.

A folder of its output holds ``samples_<task>_<time>.jsonl``, a sample in each line, and ``results_<time>.json``, which
says how the model was run.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lexiscope.core.errors import InputError, Place
from lexiscope.core.foreign import parse_json, text_of
from lexiscope.items.harness.asked import KEY, AskedAs, read_asked

Pair = tuple[str, str]
SAME = 1e-3
"""Largest difference of two log-probabilities of one text: another batch rounds otherwise. *Unit:* nats."""

_SAMPLES = re.compile(r"samples_.+_(\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")
_AGAIN = "run the exported task again, with --log_samples"


@dataclass(frozen=True, slots=True)
class LoggedScores:
    """One sample: its item, how it was asked, and the log-probability of each answer behind its text, in nats."""

    item_id: str
    asked: AskedAs
    values: Mapping[Pair, float]
    place: Place


@dataclass(frozen=True, slots=True)
class LoggedModel:
    """What a run says of the model: its name, and whether a beginning-of-sequence token preceded a text.

    ``bos`` is ``None`` where the run left that to the tokenizer.
    """

    name: str
    bos: Literal["yes", "no"] | None


def samples_files(path: Path) -> tuple[Path, ...]:
    """Return the files with samples that a path names: itself, or those of a folder and the folders in it."""
    return tuple(sorted(path.rglob("samples_*.jsonl"))) if path.is_dir() else (path,)


def read_samples(path: Path) -> tuple[LoggedScores, ...]:
    """Read the samples of a file.

    Errors: :class:`InputError` with file and line, for a line that is no sample of an exported task, or is damaged.
    """
    lines = text_of(path.read_bytes()).split("\n")
    samples = [_sample(line, Place(str(path), number)) for number, line in enumerate(lines, start=1) if line.strip()]
    if not samples:
        raise InputError("this file has no samples", place=Place(str(path)), hint=_AGAIN)
    return tuple(samples)


def is_exported(path: Path) -> bool:
    """Return whether the first sample of a file is of a task that Lexiscope exported."""
    with path.open("rb") as stream:
        first = stream.readline()
    return f'"{KEY}"'.encode() in first


def model_of(path: Path) -> LoggedModel:
    """Return what the run of a file with samples says of the model.

    Without the file of results next to it, the model has the name of the folder.
    Errors: :class:`InputError` for a file of results that is no JSON object.
    """
    match = _SAMPLES.fullmatch(path.name)
    results = path.with_name(f"results_{match.group(1)}.json") if match else path
    if match is None or not results.is_file():
        return LoggedModel(path.resolve().parent.name, None)
    try:
        content = parse_json(results.read_bytes())
    except ValueError as error:
        raise InputError("this file is not JSON", place=Place(str(results)), why=str(error), hint=_AGAIN) from error
    record = content if isinstance(content, dict) else {}
    logged = record.get("config")
    config = logged if isinstance(logged, dict) else {}
    name = str(record.get("model_name") or config.get("model") or path.resolve().parent.name)
    said = str(_arguments_of(config.get("model_args")).get("add_bos_token", "")).casefold()
    return LoggedModel(name, "yes" if said == "true" else "no" if said == "false" else None)


def _arguments_of(given: object) -> Mapping[str, Any]:
    """The arguments of a model, which are logged as an object or as ``name=value,name=value``."""
    if isinstance(given, dict):
        return given
    pairs = (part.partition("=") for part in str(given or "").split(","))
    return {name.strip(): value.strip() for name, _, value in pairs}


def _sample(line: str, place: Place) -> LoggedScores:
    try:
        row = parse_json(line)
    except ValueError as error:
        raise InputError("this line is not JSON", place=place, why=str(error), hint=_AGAIN) from error
    doc = row.get("doc") if isinstance(row, dict) else None
    if not isinstance(doc, dict):
        raise InputError("this line has no document (doc)", place=place, hint=_AGAIN)
    asked = read_asked(doc, place)
    item_id = doc.get("item_id")
    if not isinstance(item_id, str) or not item_id:
        raise InputError("this sample does not name its item (item_id)", place=place, hint=_AGAIN)
    place = Place(place.path, place.line, item_id=item_id)
    pairs, values = _pairs(row.get("arguments"), place), _values(row.get("resps"), place)
    if len(pairs) != len(values):
        what = f"this sample has {len(pairs)} questions and {len(values)} log-probabilities"
        raise InputError(what, place=place, hint=_AGAIN)
    known: dict[Pair, float] = {}
    for pair, value in zip(pairs, values, strict=True):
        # two options may read alike without their context
        if not math.isclose(known.setdefault(pair, value), value, abs_tol=SAME):
            what = f"two log-probabilities of one text, {known[pair]:.6g} and {value:.6g}"
            raise InputError(what, place=place, hint=_AGAIN)
    return LoggedScores(item_id, asked, known, place)


def _pairs(arguments: object, place: Place) -> list[Pair]:
    """The text before and the answer of each request, as the program logs them, or logged them before."""
    listed = list(arguments.values()) if isinstance(arguments, dict) else arguments
    pairs: list[Pair] = []
    for entry in listed if isinstance(listed, list) else []:
        texts = list(entry.values()) if isinstance(entry, dict) else entry
        if not isinstance(texts, list) or len(texts) < 2 or not all(isinstance(text, str) for text in texts[:2]):
            raise InputError("a request of this sample is not a pair of texts (arguments)", place=place, hint=_AGAIN)
        pairs.append((texts[0], texts[1]))
    return pairs


def _values(responses: object, place: Place) -> list[float]:
    """The log-probability of each request: ``[[[value, greedy]], …]``, numbers as numbers or as texts."""
    values: list[float] = []
    for entry in responses if isinstance(responses, list) else []:
        inner = entry
        while isinstance(inner, Sequence) and not isinstance(inner, str) and inner:
            inner = inner[0]
        try:
            values.append(float(inner))
        except (TypeError, ValueError) as error:
            what = f"{str(inner)[:80]!r} is not a log-probability (resps)"
            raise InputError(what, place=place, hint=_AGAIN) from error
    return values
