"""Items as a task of inspect_ai: a Python file and a dataset (JSONL) with a sample for each item.

A sample is the question that a chat model is asked: the messages, the correct option if there is one, and what a reply
may be. Its ID is that of the item.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from string import Template
from typing import Any

from lexiscope.core.errors import CapabilityError
from lexiscope.core.item import Item
from lexiscope.core.prompt import GUIDELINES, ChatQuestion
from lexiscope.core.run import atomic_folder
from lexiscope.core.task import Task
from lexiscope.items.arrange.views import view_item
from lexiscope.items.harness.asked import KEY, AskedAs


def write_inspect_task(items: Sequence[Item], task: Task, asked: AskedAs, out: Path) -> str:
    """Write the task to a new folder and return its name: that of the Python file and of the task in it.

    Errors: :class:`CapabilityError` for a task that is not asked as text; :class:`InputError` for an item that the task
    cannot be asked about, and words that it does not have.
    """
    asked = replace(asked, wording=asked.wording or GUIDELINES)
    questions = chat_questions(items, task, asked)
    name = asked.name(items)
    samples = [
        json.dumps(_sample(item, question, asked), ensure_ascii=False)
        for item, question in zip(items, questions, strict=True)
    ]
    template = Template(Path(__file__).with_name("inspect_functions.txt").read_text(encoding="utf-8"))
    code = template.substitute(
        name=name, summary=task.summary, scorer=_scorer(items, questions), config=_config(questions[0])
    )
    with atomic_folder(out) as folder:
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
        (folder / f"{name}.jsonl").write_text("\n".join(samples) + "\n", encoding="utf-8")
    return name


def chat_questions(items: Sequence[Item], task: Task, asked: AskedAs) -> list[ChatQuestion]:
    """Return the questions of items in the view and the words of an exported task. Errors: those of the export."""
    asks = task.asks
    if asks is None:
        what = f"the task {task.name!r} is not asked as text: its answers are scores of texts"
        raise CapabilityError(what, hint="export it for lm-evaluation-harness: --to lm-eval")
    for item in items:
        task.check_item(item)
    words = asked.prompting
    return [
        asks(
            view_item(item, asked.view),
            view=asked.view,
            language=words.language,
            variant=words.variant,
            shots=words.shots,
        )
        for item in items
    ]


def _sample(item: Item, question: ChatQuestion, asked: AskedAs) -> dict[str, Any]:
    metadata: dict[str, Any] = {KEY: asked.record()}
    if question.scale is not None:
        metadata["scale"] = [question.scale.low, question.scale.high]
    if question.options:
        metadata["options"] = [[option.value, list(option.names)] for option in question.options]
    target = item.gold or "" if question.options else ""
    return {"id": item.item_id, "input": question.as_json(), "target": target, "metadata": metadata}


def _scorer(items: Sequence[Item], questions: Sequence[ChatQuestion]) -> str:
    if questions[0].scale is not None:
        return "rating()"
    if not questions[0].options:
        return "None"
    values = [{option.value for option in question.options} for question in questions]
    known = all(item.gold in own for item, own in zip(items, values, strict=True))
    return "correct_option()" if known else "chosen_option()"


def _config(question: ChatQuestion) -> str:
    given = {"temperature": question.temperature, "max_tokens": question.max_tokens}
    return ", ".join(f"{name}={value!r}" for name, value in given.items() if value is not None)
