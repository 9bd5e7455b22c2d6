"""Items as a task of inspect_ai, and what it logged of the task: ``.eval`` (a zip of JSON files) or ``.json``.

The task is a Python file and a dataset (JSONL) with a sample for each item. A sample is the question that a chat model
is asked: the messages, the correct option if there is one, and what a reply may be. Its ID is that of the item.

The files in the zip of a log are compressed with deflate or Zstandard; Python's own reader of zips knows the second
one from Python 3.14 on, so that its bytes are read here.
"""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template
from typing import Any

import pyarrow as pa

from lexiscope.core.errors import CapabilityError, InputError, Place
from lexiscope.core.foreign import parse_json
from lexiscope.core.item import Item
from lexiscope.core.prompt import GUIDELINES, ChatQuestion, Message
from lexiscope.core.run import atomic_folder
from lexiscope.core.task import Task
from lexiscope.items.arrange.views import view_item
from lexiscope.items.harness.asked import KEY, AskedAs, read_asked


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
    given = {"temperature": questions[0].temperature, "max_tokens": questions[0].max_tokens}
    config = ", ".join(f"{name}={value!r}" for name, value in given.items() if value is not None)
    code = template.substitute(name=name, summary=task.summary, scorer=_scorer(items, questions), config=config)
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


_ZSTANDARD = 93
_LOCAL_HEADER = struct.Struct("<26xHH")
_AGAIN = "run the exported task again; inspect eval-retry completes an interrupted log"


@dataclass(frozen=True, slots=True)
class LoggedReply:
    """One sample: its item and repetition (epoch, from 1), its messages, and the output as the log has it.

    ``output`` has the form of a chat endpoint's answer: ``choices`` with messages, ``usage``. ``error`` is that of a
    sample that ended in one, else empty.
    """

    item_id: str
    epoch: int
    asked: AskedAs
    messages: tuple[Message, ...]
    output: Mapping[str, Any]
    error: str
    place: Place


@dataclass(frozen=True, slots=True)
class InspectLog:
    """The model that was asked, and the samples."""

    model: str
    samples: tuple[LoggedReply, ...]


def read_inspect_log(path: Path) -> InspectLog:
    """Read a log.

    Errors: :class:`InputError` with the file, and the sample where it is known: a file that is no log, or damaged, and
    a sample that is not of an exported task.
    """
    place = Place(str(path))
    header, samples = _zipped(path) if zipfile.is_zipfile(path) else _plain(path)
    about = header.get("eval")
    if not isinstance(about, dict) or not isinstance(about.get("model"), str):
        raise InputError("this is not a log of inspect_ai: it names no model", place=place, hint=_AGAIN)
    read = tuple(_logged_reply(name, sample, path) for name, sample in samples)
    if not read:
        failed = header.get("error")
        said = failed.get("message") if isinstance(failed, dict) else None
        why = f"its status is {header.get('status')!r}" + (f", its error: {said}" if said else "")
        raise InputError("this log has no samples", place=place, why=why, hint=_AGAIN)
    return InspectLog(about["model"], read)


def _plain(path: Path) -> tuple[Mapping[str, Any], Iterator[tuple[str, Any]]]:
    content = _json(path.read_bytes(), Place(str(path)))
    samples = content.get("samples")
    listed = samples if isinstance(samples, list) else []
    return content, ((f"samples[{number}]", sample) for number, sample in enumerate(listed))


def _zipped(path: Path) -> tuple[Mapping[str, Any], Iterator[tuple[str, Any]]]:
    with zipfile.ZipFile(path) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
    names = [name for name in entries if name.startswith("samples/") and name.endswith(".json")]
    # an interrupted log has the beginning of a header only
    head = next((name for name in ("header.json", "_journal/start.json") if name in entries), None)
    if head is None:
        raise InputError("this zip is not a log of inspect_ai", place=Place(str(path)), hint=_AGAIN)
    parts = {name: _json(_bytes_of(path, entries[name]), _within(path, name)) for name in (head, *sorted(names))}
    return parts[head], ((name, parts[name]) for name in sorted(names))


def _bytes_of(path: Path, entry: zipfile.ZipInfo) -> bytes:
    """Return the bytes of a file in a zip, checked by their sum."""
    damaged = InputError("this part of the log is damaged", place=_within(path, entry.filename), hint=_AGAIN)
    try:
        if entry.compress_type != _ZSTANDARD:
            with zipfile.ZipFile(path) as archive:
                return archive.read(entry.filename)
        with path.open("rb") as stream:
            stream.seek(entry.header_offset)
            n_name, n_extra = _LOCAL_HEADER.unpack(stream.read(_LOCAL_HEADER.size))
            stream.seek(n_name + n_extra, 1)
            packed = stream.read(entry.compress_size)
        content = bytes(pa.CompressedInputStream(pa.BufferReader(packed), "zstd").read())
    except (OSError, struct.error, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
        raise damaged from error
    if zlib.crc32(content) != entry.CRC:
        raise damaged
    return content


def _json(content: bytes, place: Place) -> Mapping[str, Any]:
    try:
        value = parse_json(content)
    except ValueError as error:
        raise InputError("this is not JSON", place=place, why=str(error), hint=_AGAIN) from error
    if not isinstance(value, dict):
        raise InputError("this is not a JSON object", place=place, hint=_AGAIN)
    return value


def _logged_reply(name: str, sample: Any, path: Path) -> LoggedReply:
    place = _within(path, name)
    item_id, epoch = (sample.get("id"), sample.get("epoch")) if isinstance(sample, dict) else (None, None)
    if not isinstance(item_id, str | int) or not isinstance(epoch, int):
        raise InputError("this sample has no id and epoch", place=place, hint=_AGAIN)
    place = Place(place.path, item_id=str(item_id))
    metadata, error, output = (sample.get(key) for key in ("metadata", "error", "output"))
    asked = read_asked(metadata if isinstance(metadata, dict) else {}, place)
    failed = str(error.get("message") or "the sample ended in an error") if isinstance(error, dict) else ""
    # the conversation without its reply, or the input if a sample failed before a reply
    conversation = sample.get("messages") if not failed else None
    given = conversation[:-1] if isinstance(conversation, list) and conversation else sample.get("input")
    attachments = sample.get("attachments")
    texts = attachments if isinstance(attachments, dict) else {}
    return LoggedReply(
        str(item_id),
        epoch,
        asked,
        _messages(given, texts, place),
        output if isinstance(output, dict) else {},
        failed,
        place,
    )


def _messages(given: Any, attachments: Mapping[str, Any], place: Place) -> tuple[Message, ...]:
    listed = [{"role": "user", "content": given}] if isinstance(given, str) else given
    messages = []
    for message in listed if isinstance(listed, list) else []:
        role, content = (message.get("role"), message.get("content")) if isinstance(message, dict) else (None, None)
        if role not in ("system", "user", "assistant"):
            raise InputError(f"this sample has a message of {role!r}", place=place, hint="use the solver of the task")
        parts = content if isinstance(content, list) else [{"text": content}]
        texts = (str(part.get("text") or "") for part in parts if isinstance(part, dict))
        messages.append(
            Message(role, "".join(str(attachments.get(text.removeprefix("attachment://"), text)) for text in texts))
        )
    return tuple(messages)


def _within(path: Path, name: str) -> Place:
    return Place(f"{path}, {name}")
