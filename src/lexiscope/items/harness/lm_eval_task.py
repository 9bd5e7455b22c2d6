"""Items as a task of lm-evaluation-harness: a folder with the task (YAML), its documents (JSONL) and functions.

A document is an item: its ID, the text before the options, what is scored for each, and which one is correct. Options
that are compared as they are make a plain task of the type ``multiple_choice``; where the context's share counts
(``pmi``), a class in the folder asks for each option with and without it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lexiscope.core.errors import CapabilityError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.run import atomic_folder
from lexiscope.core.scoring import ScoredOption
from lexiscope.core.task import Task
from lexiscope.items.answers.continuations import scored_pairs
from lexiscope.items.arrange.views import view_item
from lexiscope.items.harness.asked import KEY, AskedAs

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
