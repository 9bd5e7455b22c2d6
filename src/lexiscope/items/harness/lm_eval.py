"""Items as a task of lm-evaluation-harness, and what it logged of the task: a log-probability for each option.

The task is a folder with the task (YAML), its documents (JSONL) and functions. A document is an item: its ID, the text
before the options, what is scored for each, and which one is correct. Options that are compared as they are make a
plain task of the type ``multiple_choice``; where the context's share counts (``pmi``), a class in the folder asks for
each option with and without it.

With ``--log_samples``, a folder of its output holds ``samples_<task>_<time>.jsonl``, a sample in each line, and
``results_<time>.json``, which says how the model was run.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from lexiscope.core.errors import CapabilityError, InputError, Place, SpecError
from lexiscope.core.foreign import parse_json, text_of
from lexiscope.core.item import Item
from lexiscope.core.run import atomic_folder
from lexiscope.core.scoring import ScoredOption
from lexiscope.core.task import Task
from lexiscope.items.answers.continuations import scored_pairs
from lexiscope.items.arrange.views import view_item
from lexiscope.items.harness.asked import KEY, AskedAs, read_asked

FUNCTIONS = "lexiscope_task.py"
_CORRECT = "correct"


def write_lm_eval_task(items: Sequence[Item], task: Task, asked: AskedAs, out: Path) -> str:
    """Write the task to a new folder and return its name in lm-evaluation-harness.

    Errors: :class:`CapabilityError` for a task whose answers are not decided by log-probabilities of whole texts;
    :class:`InputError` for an item that the task cannot be asked about, and for a wording or a view that it does not
    have.
    """
    if task.scored is None:
        what = f"the task {task.name!r} has no answers that are decided by log-probabilities of whole texts"
        raise CapabilityError(what, hint="export it for inspect_ai: --to inspect")
    if asked.shots or (asked.wording and not task.wordings):
        what = "worked examples" if asked.shots else f"the wording {asked.wording!r}"
        raise SpecError(f"texts of the task {task.name!r} are scored without {what}", hint="leave the option out")
    asked = replace(asked, wording=asked.wording or next(iter(task.wordings), ""))
    for item in items:
        task.check_item(item)
    shown = [view_item(item, asked.view) for item in items]
    options = [ordered_options(own) for own in task.scored(shown, asked.prompting, asked.view)]
    if asked.view != "full" and not options[0][0].before:
        what = f"the task {task.name!r} compares whole texts: it has no view {asked.view!r}"
        raise SpecError(what, hint="use the view full")
    documents = [_document(item, own, asked) for item, own in zip(items, options, strict=True)]
    has_correct = all(document["gold"] is not None for document in documents)
    name = asked.name(items)
    lines = [json.dumps(document, ensure_ascii=False) for document in documents]
    functions = Path(__file__).with_name("lm_eval_functions.txt").read_text(encoding="utf-8")
    with atomic_folder(out) as folder:
        (folder / f"{name}.yaml").write_text(_yaml(name, task, options, has_correct=has_correct), encoding="utf-8")
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (folder / FUNCTIONS).write_text(functions, encoding="utf-8")
    return name


def ordered_options(options: Sequence[ScoredOption]) -> tuple[ScoredOption, ...]:
    """Return options as a document has them: whole texts in alphabetical order, others as they are.

    The correct text of a choice set is its first option; a tie would otherwise count as correct.

    >>> [option.value for option in ordered_options([ScoredOption("correct", "", "b"), ScoredOption("other", "", "a")])]
    ['other', 'correct']
    """
    if any(option.before for option in options):
        return tuple(options)
    return tuple(sorted(options, key=lambda option: option.text))


def _document(item: Item, options: Sequence[ScoredOption], asked: AskedAs) -> dict[str, Any]:
    pairs, values = scored_pairs(options), [option.value for option in options]
    n_options = len(options)
    # the options of a choice set are named by their place; the first one is correct
    correct = item.gold if item.gold in values else _CORRECT
    return {
        "item_id": item.item_id,
        KEY: asked.record(),
        "options": values,
        "context": pairs[0][0],
        "contexts": [before for before, _ in pairs[:n_options]],
        "neutrals": [before for before, _ in pairs[n_options:]],
        "choices": [answer for _, answer in pairs[:n_options]],
        "lowest": options[0].lowest,
        "gold": values.index(correct) if correct in values else None,
    }


def _yaml(name: str, task: Task, options: Sequence[Sequence[ScoredOption]], *, has_correct: bool) -> str:
    with_gain = any(option.neutral for own in options for option in own)
    metric, function = "acc", ""
    if task.scale is not None:
        metric, function = "expected_rating", "process_results: !function lexiscope_task.expected_rating"
    elif with_gain:
        function = "class: !function lexiscope_task.GainByContext"
    elif not has_correct:
        function = "process_results: !function lexiscope_task.no_metric"
    lines = [
        f"# {task.summary} Written by Lexiscope.",
        f"task: {name}",
        "custom_dataset: !function lexiscope_task.documents",
        "dataset_kwargs:",
        f"  file: {name}.jsonl",
        "test_split: test",
        "output_type: multiple_choice",
        "doc_to_text: context",
        "doc_to_choice: choices",
        "doc_to_target: gold",
        'target_delimiter: ""',
        "num_fewshot: 0",
        *filter(None, [function]),
        "metric_list:",
        f"  - metric: {metric}",
        "    aggregation: mean",
        "    higher_is_better: true",
        "metadata:",
        "  version: 1",
    ]
    return "\n".join(lines) + "\n"


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
