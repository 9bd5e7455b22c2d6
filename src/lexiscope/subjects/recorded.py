"""Recorded answers: the people and models whose answers are already in a file or come with a dataset.

``recorded:FILE.csv`` and ``recorded:FILE.parquet`` read a response table that Lexiscope wrote; ``recorded:DATASET``
takes the answers that were published with a dataset of the catalog. Logs of evaluation programs that ran a task of
``lexiscope export``: ``recorded:FOLDER`` or ``recorded:FILE.jsonl`` read the samples of lm-evaluation-harness
(``?bos=yes|no`` says what their run does not), ``recorded:FILE.eval`` and ``recorded:FILE.json`` a log of inspect_ai.

What evaluation programs logged is read as the answers of a live model are: log-probabilities of lm-evaluation-harness
go through the task's function for subjects that score texts, replies of inspect_ai through the reader of chat models:
the rows are those that a live model would have left.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar, cast

import numpy as np

from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset, SubjectFacts
from lexiscope.core.errors import InputError, Place, SpecError
from lexiscope.core.item import Item
from lexiscope.core.prompt import ChatQuestion, ChatReply, Prompting
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.run import sha256_of
from lexiscope.core.scoring import ScoredOption, ScoringPolicy, TokenScores
from lexiscope.core.spec import plain_name, split_options
from lexiscope.core.subject import Progress, Subject, SubjectSpec
from lexiscope.items.answers.chat_answers import reply_rows
from lexiscope.items.answers.continuations import scored_pairs
from lexiscope.items.harness.asked import AskedAs, check_same_items
from lexiscope.items.harness.inspect_ai import InspectLog, LoggedReply, chat_questions, read_inspect_log
from lexiscope.items.harness.lm_eval import (
    SAME,
    LoggedModel,
    LoggedScores,
    Pair,
    is_exported,
    model_of,
    read_samples,
    samples_files,
)
from lexiscope.resources.tables.rows import RowReader
from lexiscope.subjects.endpoint._chat_request import chat_reply

CAPABILITIES = ("Judges",)
_REPLIES, _SAMPLES = (".eval", ".json"), ".jsonl"


def load(spec: SubjectSpec) -> Recorded | LoggedLogProbabilities | LoggedReplies:
    """Make the subject that gives recorded answers. The file or the dataset is read when it is first asked.

    Errors: :class:`SpecError` where the name is neither a file nor a dataset, and for an option of a log that is not
    known.
    """
    name = spec.name
    log = _log_path(name)
    if log is not None:
        return _log_subject(name, log)
    if Path(name).suffix in (".csv", ".parquet"):
        if not Path(name).is_file():
            raise SpecError(f"there is no file {name!r} of recorded answers")
    elif not catalog.has("datasets", name):
        known = ", ".join(catalog.names("datasets"))
        raise SpecError(
            f"{name!r} is neither a file (.csv, .parquet, .jsonl, .eval, .json), a folder of logs nor a dataset",
            hint=f"datasets: {known}",
        )
    return Recorded(name)


def files_of(spec: SubjectSpec) -> tuple[Path, ...]:
    """Return the files that a spec names; none where it names a dataset."""
    log = _log_path(spec.name)
    if log is not None:
        return _log_subject(spec.name, log).files
    return (Path(spec.name),) if Path(spec.name).suffix in (".csv", ".parquet") else ()


def _log_path(name: str) -> Path | None:
    """The file or the folder of an evaluation program that a spec names."""
    path = Path(plain_name(name))
    if path.suffix in (*_REPLIES, _SAMPLES):
        if not path.is_file():
            raise SpecError(f"there is no file {str(path)!r} of recorded answers")
        return path
    return path if path.is_dir() and not catalog.has("datasets", str(path)) else None


def _log_subject(name: str, path: Path) -> LoggedLogProbabilities | LoggedReplies:
    options = split_options(name)[1]
    if path.suffix in _REPLIES:
        if options:
            raise SpecError(f"a log of inspect_ai has no options, not {', '.join(options)}")
        return LoggedReplies(name, path)
    unknown = [key for key, value in options.items() if key != "bos" or value not in ("yes", "no")]
    if unknown:
        raise SpecError(
            f"log-probabilities on record do not take the option {unknown[0]!r}", hint="use bos=yes or bos=no"
        )
    return LoggedLogProbabilities(name, path, options.get("bos", ""))


class Recorded:
    """People and models whose answers are on record; each row keeps the id of who gave it."""

    kind = "recorded"

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def subject_id(self) -> str:
        """Its spec; rows of the table carry the ids of those who answered."""
        return f"recorded:{self.name}"

    @property
    def facts(self) -> SubjectFacts:
        """Where the answers come from; the revision is the checksum of the file or of the dataset's files."""
        if self._is_file:
            return SubjectFacts(self.subject_id, kind=self.kind, revision=sha256_of(Path(self.name)), source=self.name)
        sums = " ".join(sha for _, sha in sorted(self._dataset.checksums))
        card = self._dataset.card
        return SubjectFacts(
            self.subject_id, card.title, kind=self.kind, revision=f"{card.version} {sums}".strip(), source=card.source
        )

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        """Return the recorded rows of the asked items and this task, as they were recorded.

        An item without a recorded answer gets one row under this subject's own id, without value.
        Errors: :class:`RunError` or :class:`InputError` for a file that is no response table.
        """
        asked = tuple(item.item_id for item in items)
        recorded = self._answers.where(task=task, item_id=asked)
        known = set(recorded.unique("item_id"))
        silent = [item_id for item_id in asked if item_id not in known]
        if not silent:
            return recorded
        rows = {"item_id": np.array(silent, dtype=object), "subject_id": self.subject_id, "subject_kind": self.kind}
        nothing = ResponseTable.from_columns(rows | {"task": task, "measure": catalog.task(task).measure})
        return ResponseTable.concat([recorded, nothing])

    def place_of(self, response: Response) -> Place:
        """Return the file and line of an answer; for a table without lines (Parquet) its row, counted from 1."""
        if not self._is_file:
            return Place(self.name, item_id=response.item_id)
        rows = self._answers.arrow.to_pylist()
        # the view is filled in when an answer is asked for; everything else is in the file
        wanted = asdict(replace(response, view=None, scale=None))
        same = (number for number, row in enumerate(rows) if row | {"view": None, "scale": None} == wanted)
        number = next(same, None)
        if number is None:
            return Place(self.name, item_id=response.item_id)
        if Path(self.name).suffix == ".parquet":
            return Place(f"{self.name}, row {number + 1}", item_id=response.item_id)
        # after the header and the rows before this one
        row = next(islice(RowReader(self.name, delimiter=",").rows(), number + 1, None))
        return Place(self.name, row.line, item_id=response.item_id)

    @property
    def _is_file(self) -> bool:
        return Path(self.name).suffix in (".csv", ".parquet")

    @cached_property
    def _dataset(self) -> Dataset:
        return catalog.dataset(self.name)

    @cached_property
    def _answers(self) -> ResponseTable:
        if not self._is_file:
            return self._dataset.responses
        path = Path(self.name)
        return ResponseTable.read_csv(path) if path.suffix == ".csv" else ResponseTable.read_parquet(path)


_MODEL_LENGTH = "model_length"


class _LoggedSample(Protocol):
    @property
    def item_id(self) -> str: ...
    @property
    def asked(self) -> AskedAs: ...
    @property
    def place(self) -> Place: ...


_Key = TypeVar("_Key")
_Sample = TypeVar("_Sample", bound=_LoggedSample)


class LoggedLogProbabilities:
    """A model whose log-probabilities lm-evaluation-harness logged: ``recorded:FOLDER`` or ``recorded:FILE.jsonl``.

    *bos* says whether a beginning-of-sequence token preceded the texts, where the log does not.
    """

    kind = "recorded"

    def __init__(self, name: str, path: Path, bos: str = "") -> None:
        self.name, self.path, self.bos = name, path, bos

    @property
    def subject_id(self) -> str:
        """Its spec; rows have the name of the model."""
        return f"recorded:{self.name}"

    @property
    def facts(self) -> SubjectFacts:
        """The model of the run; the revision is made of the files' checksums."""
        return _facts(self.subject_id, self._model.name, self.files, self.path)

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """The files with samples of exported tasks. Errors: :class:`SpecError` where there are none."""
        files = samples_files(self.path)
        own = tuple(file for file in files if is_exported(file)) if self.path.is_dir() else files
        if not own:
            hint = "run a task that lexiscope export wrote with lm_eval --log_samples --output_path FOLDER"
            raise SpecError(f"{str(self.path)!r} has no samples of a task that Lexiscope exported", hint=hint)
        return own

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        """Return the answers that the logged log-probabilities give, as the task has them of a live model.

        Errors: :class:`InputError` naming file, line and item: an item without a sample, a sample of another item, two
        samples of one item, and texts that are not those of the item; :class:`SpecError` where the log does not tell
        what preceded the texts.
        """
        question = catalog.task(task)
        asked, samples = _samples_of(self._samples, task, str(self.path))
        by_item = _once_each([(sample.item_id, sample) for sample in samples])
        check_same_items({name: sample.place for name, sample in by_item.items()}, items, str(self.path))
        if question.scored is None:
            raise SpecError(f"the task {task!r} is not answered by log-probabilities of whole texts")
        options = question.scored(items, asked.prompting, asked.view)
        values: dict[Pair, float] = {}
        for item, own in zip(items, options, strict=True):
            sample = by_item[item.item_id]
            _check_pairs(sample, own)
            for pair, value in sample.values.items():
                if not math.isclose(values.setdefault(pair, value), value, abs_tol=SAME):
                    what = f"another log-probability of a text than in a sample before, {value:.6g}"
                    raise InputError(what, place=sample.place, why=f"it was {values[pair]:.6g}")
        scorer = _LoggedScorer(self._model.name, values, self._policy(values), asked.prompting)
        return dict(question.answers)["Scores"](items, cast(Subject, scorer), view=asked.view)

    def place_of(self, response: Response) -> Place:
        """Return the file and the line of the sample."""
        return next(
            (
                sample.place
                for sample in self._samples
                if (sample.item_id, sample.asked.task) == (response.item_id, response.task)
            ),
            Place(str(self.path), item_id=response.item_id),
        )

    @cached_property
    def _samples(self) -> tuple[LoggedScores, ...]:
        return tuple(sample for file in self.files for sample in read_samples(file))

    @cached_property
    def _model(self) -> LoggedModel:
        models = {model_of(file): file for file in self.files}
        if len(models) > 1:
            first, second = list(models.values())[:2]
            what = f"this folder has samples of {len(models)} runs with other models or settings"
            hint = f"name the folder or the file of one: recorded:{first} or recorded:{second}"
            raise InputError(what, place=Place(str(self.path)), hint=hint)
        return next(iter(models))

    def _policy(self, values: Mapping[Pair, float]) -> ScoringPolicy:
        if all(not before for before, _ in values):
            # the program puts its beginning-of-sequence token before a text without context
            return ScoringPolicy(bos="yes", first="scored", per="text")
        bos = self.bos or self._model.bos
        if not bos:
            what = "the log does not say whether a beginning-of-sequence token preceded the texts"
            why = "the run left it to the tokenizer (no add_bos_token in --model_args)"
            hint = f"add it if you know: {self.subject_id}?bos=no or ?bos=yes"
            raise SpecError(what, place=Place(str(self.path)), why=why, hint=hint)
        return ScoringPolicy(bos="yes", first="scored", per="text") if bos == "yes" else ScoringPolicy(per="text")


class LoggedReplies:
    """A model whose replies inspect_ai logged: ``recorded:FILE.eval`` or ``recorded:FILE.json``."""

    kind = "recorded"

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.path = name, path
        self.files = (path,)

    @property
    def subject_id(self) -> str:
        """Its spec; rows have the name of the model."""
        return f"recorded:{self.name}"

    @property
    def facts(self) -> SubjectFacts:
        """The model that was asked; the revision is the checksum of the file."""
        return _facts(self.subject_id, self._log.model, self.files, self.path)

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        """Return the answers that the logged replies give, as the task has them of a live chat model.

        A repetition (epoch) is a row ``repeat``; a sample that ended in an error is a reply of the kind ``fault``.
        Errors: :class:`InputError` naming the sample: an item without a sample, a sample of another item, two samples
        of one item and epoch, an item with fewer epochs than another, and messages that are not those of the item.
        """
        question = catalog.task(task)
        asked, samples = _samples_of(self._log.samples, task, str(self.path))
        by_epoch = _once_each([((sample.item_id, sample.epoch), sample) for sample in samples])
        check_same_items({sample.item_id: sample.place for sample in samples}, items, str(self.path))
        epochs = sorted({epoch for _, epoch in by_epoch})
        questions = chat_questions(items, question, asked)
        rows: list[Response] = []
        for item, own in zip(items, questions, strict=True):
            for repeat, epoch in enumerate(epochs):
                sample = by_epoch.get((item.item_id, epoch))
                if sample is None:
                    place = Place(str(self.path), item_id=item.item_id)
                    what = f"this item has no sample in epoch {epoch}, and other items have one"
                    raise InputError(what, place=place, hint="complete the log: inspect eval-retry")
                _check_messages(sample, own)
                blank = Response(self._log.model, "chat", item.item_id, task, question.measure, view=asked.view)
                rows += [replace(row, repeat=repeat) for row in reply_rows(_reply_of(sample), own, blank)]
        return ResponseTable.from_rows(rows)

    def place_of(self, response: Response) -> Place:
        """Return the file and the item of the sample."""
        return Place(str(self.path), item_id=response.item_id)

    @cached_property
    def _log(self) -> InspectLog:
        return read_inspect_log(self.path)


class _LoggedScorer:
    """What a task's function for subjects that score texts sees: the logged texts and their log-probabilities."""

    kind = "causal_lm"
    wholes_only: Literal[True] = True
    self_test = False

    def __init__(
        self, subject_id: str, values: Mapping[Pair, float], policy: ScoringPolicy, prompting: Prompting
    ) -> None:
        self.subject_id, self.policy, self.prompting = subject_id, policy, prompting
        self._scores = {before + answer: _whole(before, answer, value) for (before, answer), value in values.items()}
        if len(self._scores) < len(values):
            raise SpecError("two answers behind different texts make one text: the log cannot tell their scores")

    @property
    def facts(self) -> SubjectFacts:
        return SubjectFacts(self.subject_id, kind=self.kind)

    def score(
        self, texts: Sequence[str], *, work: Path | None = None, progress: Progress | None = None
    ) -> Sequence[TokenScores]:
        return [self._scores[text] for text in texts]


def _whole(before: str, answer: str, value: float) -> TokenScores:
    """The answer as one token behind the text before it, which has no log-probability."""
    starts, ends, values = [len(before)], [len(before) + len(answer)], [value]
    if before:
        starts, ends, values = [0, *starts], [len(before), *ends], [math.nan, *values]
    return TokenScores(np.array(values), np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64))


def _facts(subject_id: str, model: str, files: Sequence[Path], source: Path) -> SubjectFacts:
    sums = [sha256_of(file) for file in files]
    revision = sums[0] if len(sums) == 1 else hashlib.sha256(" ".join(sums).encode()).hexdigest()
    return SubjectFacts(subject_id, model, kind="recorded", revision=revision, source=str(source))


def _samples_of(samples: Sequence[_Sample], task: str, source: str) -> tuple[AskedAs, Sequence[_Sample]]:
    """Return how a task was asked, and its samples; those of other tasks belong to other questions."""
    own = [sample for sample in samples if sample.asked.task == task]
    if not own:
        known = ", ".join(sorted({sample.asked.task for sample in samples}))
        what = f"this log has no samples of the task {task!r}"
        raise InputError(what, place=Place(source), hint=f"tasks in it: {known}")
    ways = {sample.asked: sample for sample in own}
    if len(ways) > 1:
        first, second = list(ways.values())[:2]
        why = f"{first.place}: {first.asked.record()}; {second.place}: {second.asked.record()}"
        hint = "name the file of one of them: recorded:FILE"
        raise InputError(
            f"this log has the task {task!r} asked in several ways", place=Place(source), why=why, hint=hint
        )
    return own[0].asked, own


def _once_each(samples: Sequence[tuple[_Key, _Sample]]) -> dict[_Key, _Sample]:
    known: dict[_Key, _Sample] = {}
    for key, sample in samples:
        if key in known:
            hint = f"another is at {known[key].place}; name the file of one run: recorded:FILE"
            raise InputError("this item has two samples", place=sample.place, hint=hint)
        known[key] = sample
    return known


def _check_pairs(sample: LoggedScores, options: Sequence[ScoredOption]) -> None:
    expected = scored_pairs(options)
    other = next((pair for pair in sample.values if pair not in expected), None)
    missing = next((pair for pair in expected if pair not in sample.values), None)
    if other is None and missing is None:
        return
    why = f"logged: {_shown(other)}; expected: {_shown(missing)}"
    hint = "run the exported task without --apply_chat_template, --num_fewshot and --system_instruction; "
    hint += "if items or wordings were changed, export them again"
    raise InputError("this sample has other texts than its item", place=sample.place, why=why, hint=hint)


def _shown(pair: Pair | None) -> str:
    return "nothing" if pair is None else f"{pair[0][-60:]!r} + {pair[1][:60]!r}"


def _check_messages(sample: LoggedReply, question: ChatQuestion) -> None:
    if sample.messages == question.messages:
        return
    pairs = zip(sample.messages, question.messages, strict=False)
    differing = next((pair for pair in pairs if pair[0] != pair[1]), None)
    why = f"logged: {len(sample.messages)} messages; expected: {len(question.messages)}"
    if differing is not None:
        why = f"logged: {differing[0].content[:80]!r}; expected: {differing[1].content[:80]!r}"
    hint = "run the exported task with its own solver; if items or words were changed, export them again"
    raise InputError("this sample asked other messages than its item", place=sample.place, why=why, hint=hint)


def _reply_of(sample: LoggedReply) -> ChatReply:
    """Return the output of a sample as a reply: it has the form of a chat endpoint's answer, but for some names."""
    if sample.error:
        return ChatReply("", fault=sample.error)
    choices, usage = sample.output.get("choices"), sample.output.get("usage")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    finish = str(choice.get("stop_reason") or "")
    message = choice.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    parts = content if isinstance(content, list) else []
    thinking = "\n".join(str(part.get("reasoning") or "") for part in parts if isinstance(part, dict)).strip()
    body: dict[str, Any] = {
        "choices": [
            {
                "message": message | {"reasoning": thinking} if isinstance(message, dict) else None,
                "finish_reason": "length" if finish == _MODEL_LENGTH else finish,
                "logprobs": choice.get("logprobs"),
            }
        ],
        "usage": _usage(usage if isinstance(usage, dict) else {}),
        **({"error": sample.output["error"]} if sample.output.get("error") else {}),
    }
    return chat_reply({"body": body})


def _usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    thought = usage.get("reasoning_tokens")
    return {
        "prompt_tokens": usage.get("input_tokens"),
        "completion_tokens": usage.get("output_tokens"),
        **({"completion_tokens_details": {"reasoning_tokens": thought}} if thought is not None else {}),
    }
