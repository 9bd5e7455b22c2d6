"""Local chat models: the conversation in the model's template, the tokens of the answers, and the replies.

``chat:FOLDER`` and ``chat:HUB_ID#REVISION``, a Hugging Face model with a chat template, or a folder that
``lexiscope train lora`` wrote. Options follow a question mark: ``variant=``, ``shots=``, ``language=`` and ``repeats=``
say what is asked; ``answer=generated`` (the model writes its answer) or ``scored`` (the most probable number of the
scale, nothing is written); ``max_tokens=`` where the task names no number; ``preset=reasoning`` lets a model think
before it answers (``<think>``): up to 8,192 tokens, or as much as it can read, and no thought is read as an answer;
``dtype=``, ``device=``, ``threads=``, ``batch_tokens=``, ``base=`` and ``trust_remote_code=`` as for ``causal_lm:``.

A tuned model is asked the variant that it was trained on unless another is named. It has learnt the number and nothing
of what follows it: what it writes is read up to the end of a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lexiscope.core import catalog
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import CapabilityError, InputError, Place, SubjectError, require
from lexiscope.core.item import Item
from lexiscope.core.prompt import GUIDELINES, ChatQuestion, ChatReply, Message, Prompting
from lexiscope.core.reply import split_thinking
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import read_json
from lexiscope.core.scale import Scale
from lexiscope.core.spec import with_options
from lexiscope.core.subject import Continuation, Decoding, Progress, SubjectSpec, WorkShare, copy_with_seed
from lexiscope.items.answers.chat_answers import chat_answers
from lexiscope.items.answers.scale_scoring import prompt_of
from lexiscope.subjects._options import read_options, split_name
from lexiscope.subjects._scoring_options import causal_options
from lexiscope.subjects._vector_store import VectorStore, digest, read_or_make
from lexiscope.subjects.local._adapter import RECORD, AdaptedFolder
from lexiscope.subjects.local._causal_forward import CausalForward
from lexiscope.subjects.local._generation import Prompt, continue_group, groups_of, stored_continuations
from lexiscope.subjects.local.causal_lm import CausalLM

KIND = "chat"
_ASKED = ("variant", "shots", "language", "repeats")
_RUN = ("dtype", "device", "threads", "batch_tokens", "base", "trust_remote_code")
_FORMAT = 1
_MAX_TOKENS, _MOST_THINKING = 256, 8192
_LISTED = 20


@dataclass(frozen=True, slots=True)
class _AnswerOptions:
    """The options that change the answers."""

    variant: str = ""
    shots: int = 0
    language: str = ""
    repeats: int = 1
    answer: Literal["generated", "scored"] = "generated"
    max_tokens: int = 0
    preset: Literal["", "reasoning"] = ""


@dataclass(frozen=True, slots=True)
class _ChatRequest:
    """A question as it is put to the model: its tokens, the answers that are scored, and how one is drawn."""

    question: ChatQuestion
    prompt: Prompt
    answers: tuple[tuple[int, ...], ...]
    decoding: Decoding
    end: tuple[int, ...] = ()

    @property
    def content(self) -> list[Any]:
        """What decides the reply."""
        return [list(self.prompt.ids), [list(answer) for answer in self.answers], asdict(self.decoding)]


def load_local(spec: SubjectSpec, *, seed: int = 0) -> LocalChat:
    """Make the local chat model that a spec names. Its weights are read when it is first asked.

    Errors: :class:`SpecError` for an unknown option or value.
    """
    name, revision, given = split_name(spec.name)
    read_options(
        _AnswerOptions, {key: value for key, value in given.items() if key not in _RUN}, of="a local chat model"
    )
    causal_options({key: given[key] for key in _RUN if key in given})
    return LocalChat(name, revision=revision, given=given, seed=seed)


class LocalChat:
    """A chat model in a folder or of the hub, read on this machine.

    *given* are the options of its spec as they were written; *seed* is that of the run.
    """

    kind = KIND

    def __init__(self, name: str, *, revision: str = "", given: dict[str, str] | None = None, seed: int = 0) -> None:
        self.name, self.hub_revision, self.given, self.seed = name, revision, dict(given or {}), seed
        options = causal_options({key: value for key, value in self.given.items() if key in _RUN})
        self._model = CausalLM(name, revision=revision, options=options)
        self._form = ""

    # -- what it is -------------------------------------------------------------------------------------------

    @property
    def subject_id(self) -> str:
        """Its spec, with the options that change its answers."""
        revision = f"#{self.hub_revision}" if self.hub_revision else ""
        names = (*_ASKED, "preset", "answer", "max_tokens", "dtype")
        return with_options(
            f"{KIND}:{self.name}{revision}", {key: self.given[key] for key in names if key in self.given}
        )

    @property
    def facts(self) -> SubjectFacts:
        """What its files say of it."""
        return replace(self._model.facts, subject_id=self.subject_id, kind=self.kind)

    @property
    def prompting(self) -> Prompting:
        """What it is asked: as its spec says; by default, as it was trained, or the guidelines once."""
        trained = self._training_record.get("prompting", {})
        named = {key: self.given.get(key, trained.get(key)) for key in _ASKED if key in self.given or key in trained}
        numbers = {key: int(value) for key, value in named.items() if key in ("shots", "repeats")}
        return Prompting(**{"variant": GUIDELINES, **named, **numbers})

    @property
    def settings(self) -> dict[str, Any]:
        """How it is run, for the run record; ``form`` is how conversations were written (empty before the first)."""
        asked = self._model.settings
        run = {key: asked[key] for key in (*_RUN, "known_base") if key in asked}
        return {
            **run,
            "answer": self._answer,
            "form": self._form,
            "prompting": asdict(self.prompting),
            "trained": self._training_record,
            "seed": self.seed,
        }

    def with_seed(self, seed: int) -> LocalChat:
        """Return the same model in a run with this seed; itself where it has that seed."""
        return copy_with_seed(self, seed)

    def with_share(self, share: WorkShare) -> LocalChat:
        """Return the same model for a worker that computes this share of each request; it is not loaded yet."""
        same = copy(self)
        same._model = self._model.with_share(share)
        return same

    # -- what it can do ---------------------------------------------------------------------------------------

    def converse(
        self, questions: Sequence[ChatQuestion], *, work: Path | None = None, progress: Progress | None = None
    ) -> Sequence[Sequence[ChatReply]]:
        """Return the replies to every question, ``prompting.repeats`` each, in order.

        The same question gets the same replies independent of the other questions. At temperature 0, and where the
        question names none, the most probable token is taken each time, and every repetition is the same reply. With
        *work*, finished groups are kept in that folder. *progress* is called with the distinct questions done and their
        number.
        Errors: :class:`CapabilityError` for a model without a chat template that was not tuned here;
        :class:`SubjectError` for a conversation that its template refuses, or that is too long.
        """
        requests = [self._request(question) for question in questions]
        store = self._store(work)
        distinct = {digest(request.content): request for request in requests}
        done: dict[str, list[ChatReply]] = {}
        with self.forward.threads(self._model.options.threads or None):
            groups = list(_groups(list(distinct.values()), self._model.options.batch_budget))
            for number in self._model.share.order(len(groups)):
                self._replies_of_group(groups[number], store)
            for group in groups:
                names = [digest(request.content) for request in group]
                done |= zip(names, self._replies_of_group(group, store), strict=True)
                if progress is not None:
                    progress(len(done), len(distinct))
        replies = [done[digest(request.content)] for request in requests]
        return [several if len(several) > 1 else several * self.prompting.repeats for several in replies]

    def _replies_of_group(self, group: Sequence[_ChatRequest], store: VectorStore | None) -> list[list[ChatReply]]:
        """Return the replies of a group, stored or made now."""

        def make() -> dict[str, Any]:
            made = self._score_replies(group) if self._answer == "scored" else self._generate_replies(group)
            return {"replies": [[asdict(reply) for reply in replies] for replies in made]}

        how = [self.given["preset"]] if "preset" in self.given else []
        content = ["replies", self._answer, [request.content for request in group], *how]
        return [[ChatReply(**reply) for reply in replies] for replies in read_or_make(store, content, make)["replies"]]

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        """Answer items as the task asks them, in full. Errors: :class:`CapabilityError` for a task without a prompt."""
        asks, screen = catalog.task(task).asks, catalog.screen(task)
        if asks is None:
            raise CapabilityError(f"the task {task!r} cannot be asked as text")
        return chat_answers(items, self, asks, task=task, measure=screen.measure, view="full")

    def generate(
        self,
        prompts: Sequence[str],
        decoding: Decoding,
        *,
        work: Path | None = None,
        progress: Progress | None = None,
    ) -> Sequence[Sequence[Continuation]]:
        """Return what it answers to every prompt, put as a message of the user, ``decoding.n`` times.

        Errors: those of :meth:`converse`; :class:`CapabilityError` for a tuned model, which has learnt numbers.
        """
        if self._training_record:
            raise CapabilityError(f"{self.subject_id} has learnt to answer with a number: it writes no texts")
        store = self._store(work)
        if "" in prompts:
            raise InputError("a prompt is empty", hint="leave it out")
        questions = {text: ChatQuestion((Message("user", text),), temperature=None) for text in sorted(set(prompts))}
        asked = {prompt: self._request(question, decoding) for prompt, question in questions.items()}
        done: dict[str, Sequence[Continuation]] = {}
        with self.forward.threads(self._model.options.threads or None):
            groups = list(_groups(list(asked.values()), self._model.options.batch_budget))
            for number in self._model.share.order(len(groups)):
                self._continuations_of_group(groups[number], store)
            for group in groups:
                asked_texts = [request.question.messages[-1].content for request in group]
                done |= zip(asked_texts, self._continuations_of_group(group, store), strict=True)
                if progress is not None:
                    progress(len(done), len(asked))
        return [done[prompt] for prompt in prompts]

    def _continuations_of_group(
        self, group: Sequence[_ChatRequest], store: VectorStore | None
    ) -> list[tuple[Continuation, ...]]:
        def make() -> dict[str, Any]:
            made = continue_group(self.forward, [request.prompt for request in group], group[0].decoding)
            return {"made": [[asdict(continuation) for continuation in several] for several in made]}

        content = ["continuations", [request.content for request in group]]
        return [stored_continuations(several) for several in read_or_make(store, content, make)["made"]]

    # -- questions --------------------------------------------------------------------------------------------

    @property
    def forward(self) -> CausalForward:
        """The loaded model. Errors: :class:`SubjectError` where it cannot be read."""
        return self._model.forward

    @cached_property
    def _training_record(self) -> dict[str, Any]:
        """What the record of its training says of the questions, if it was tuned here."""
        folder = self._model.folder
        if not isinstance(folder, AdaptedFolder) or not (folder.adapter / RECORD).is_file():
            return {}
        about = read_json(folder.adapter / RECORD)
        return {key: about[key] for key in ("task", "scale", "prompting") if key in about}

    @property
    def _answer(self) -> str:
        return self.given.get("answer", "generated")

    @property
    def _reasons(self) -> bool:
        return self.given.get("preset") == "reasoning"

    def _request(self, question: ChatQuestion, decoding: Decoding | None = None) -> _ChatRequest:
        """Return the request of a question; without *decoding* it is drawn as the question wants it."""
        tokenizer, forward = self.forward.named_tokenizer, self.forward
        if not tokenizer.chat_template and not self._training_record:
            raise CapabilityError(
                f"{self.subject_id} has no chat template: it has not been taught to converse",
                hint=f"ask it as a language model: causal_lm:{self.name}",
            )
        ids, answers, end = self._question_tokens(question)
        decoding = decoding or self._decoding(question, answers, len(ids))
        if forward.longest is not None and len(ids) + decoding.max_tokens > forward.longest:
            what = f"the question has {len(ids)} tokens and its answer up to {decoding.max_tokens}"
            why = f"the model reads at most {forward.longest}"
            raise SubjectError(what, place=Place(text=question.messages[-1].content[:80]), why=why)
        return _ChatRequest(question, Prompt(prompt_of(question), ids), answers, decoding, end)

    def _question_tokens(
        self, question: ChatQuestion
    ) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...], tuple[int, ...]]:
        """Return the tokens of a question, up to the number if one is scored, those of the numbers, and the end.

        Errors: :class:`CapabilityError` for a question without a number, or one on another scale than was learnt.
        """
        tokenizer = self.forward.named_tokenizer
        if not self._training_record and self._answer == "generated":
            ids, self._form = prompt_ids(tokenizer, question)
            return ids, (), ()
        if question.scale is None:
            raise CapabilityError(f"{self.subject_id} answers with a number: this question has no scale")
        numbers, learnt = point_texts(question.scale), self._training_record.get("scale")
        if learnt is not None and list(learnt) != list(numbers):
            what = f"{self.subject_id} has learnt the numbers {learnt[0]} to {learnt[-1]}"
            raise CapabilityError(
                f"{what}: this question is asked on the scale {question.scale}",
                hint="ask it items on the scale of its training, or train another one",
            )
        tokens: AnswerTokens = answer_tokens(tokenizer, question, numbers)
        self._form = tokens.form
        return tokens.prompt, tokens.answers, tokens.end

    def _decoding(self, question: ChatQuestion, answers: tuple[tuple[int, ...], ...], n_asked: int) -> Decoding:
        repeats, hot = self.prompting.repeats, bool(question.temperature)
        usual = question.max_tokens or _MAX_TOKENS
        if self._reasons:
            # what it thinks counts, too; it may fill what the model can read
            room = _MOST_THINKING if self.forward.longest is None else self.forward.longest - n_asked
            usual = max(usual, min(_MOST_THINKING, room))
        limit = int(self.given.get("max_tokens", usual))
        return Decoding(
            method="sample" if hot and self._answer == "generated" else "greedy",
            n=repeats if hot and self._answer == "generated" else 1,
            max_tokens=1 if self._answer == "scored" else max(map(len, answers)) if answers else limit,
            temperature=question.temperature or 1.0,
            seed=self.seed,
        )

    # -- replies ----------------------------------------------------------------------------------------------

    def _generate_replies(self, group: Sequence[_ChatRequest]) -> list[list[ChatReply]]:
        first: list[Any] = []
        prompts, decoding = [request.prompt for request in group], group[0].decoding
        made = continue_group(self.forward, prompts, decoding, see_first=first.append)
        return [
            [
                self._reply(
                    request,
                    continuation,
                    self._first_tokens(first[0][place * decoding.n + number], request.question.scale),
                )
                for number, continuation in enumerate(continuations)
            ]
            for place, (request, continuations) in enumerate(zip(group, made, strict=True))
        ]

    def _reply(self, request: _ChatRequest, made: Continuation, listed: dict[str, float]) -> ChatReply:
        usage = {"prompt_tokens": len(request.prompt.ids), "completion_tokens": len(made.token_ids)}
        numbers = sorted(
            (answer[: len(answer) - len(request.end)] for answer in request.answers), key=len, reverse=True
        )
        for answer in numbers:
            # a number is whole where its tokens are: what a tuned model writes behind it was never learnt; of 1 and 10
            # the longer one was written
            if made.token_ids[: len(answer)] == answer:
                text = self.forward.tokenizer.decode(list(answer), skip_special_tokens=True)
                return ChatReply(text, "number", first_tokens=listed, usage=usage)
        finish = "stop" if made.finish == "end" else made.finish
        thinking, text = split_thinking(made.text) if self._reasons else ("", made.text)
        first = {} if thinking else listed
        return ChatReply(text, finish, first_tokens=first, usage=usage, thinking=thinking)

    def _score_replies(self, group: Sequence[_ChatRequest]) -> list[list[ChatReply]]:
        """Answer with the most probable number of the scale; of equal ones the lowest."""
        first: list[Any] = []
        continue_group(self.forward, [request.prompt for request in group], group[0].decoding, see_first=first.append)
        replies = []
        for request, logits in zip(group, first[0], strict=True):
            scores = self._number_scores(request, logits)
            assert request.question.scale is not None
            numbers = point_texts(request.question.scale)
            known = {number: float(score) for number, score in zip(numbers, scores, strict=True)}
            usage = {"prompt_tokens": len(request.prompt.ids), "completion_tokens": 0}
            best = numbers[int(np.argmax(scores))]
            replies.append([ChatReply(best, "scored", first_tokens=known, usage=usage, whole=True)])
        return replies

    def _number_scores(self, request: _ChatRequest, logits: Any) -> list[float]:
        """The log-probability of each number as the answer. *Unit:* nats."""
        after = self.forward.torch.log_softmax(logits, dim=-1)
        if all(len(answer) == 1 for answer in request.answers):
            return [float(after[answer[0]]) for answer in request.answers]
        ids = request.prompt.ids
        return [float(self.forward.plain((*ids, *answer))[len(ids) - 1 :].sum()) for answer in request.answers]

    def _first_tokens(self, logits: Any, scale: Scale | None) -> dict[str, float]:
        """Return the most probable first tokens, and those of the points, with their log-probabilities.

        *Unit:* nats. Tokens of the same text are added up.
        """
        scores = self.forward.torch.log_softmax(logits, dim=-1)
        best = scores.topk(min(_LISTED, len(scores))).indices.tolist()
        log_probabilities: dict[str, float] = {}
        for token in dict.fromkeys((*best, *self._point_tokens(scale))):
            text, score = self._token_text(token), float(scores[token])
            log_probabilities[text] = (
                float(np.logaddexp(log_probabilities[text], score)) if text in log_probabilities else score
            )
        return log_probabilities

    def _point_tokens(self, scale: Scale | None) -> list[int]:
        """Return the tokens that are a point of the scale, with or without the space before it."""
        texts = [f"{space}{point:g}" for point in (scale.points if scale else ()) for space in ("", " ")]
        read = [self.forward.tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
        return [ids[0] for ids in read if len(ids) == 1]

    def _token_text(self, token: int) -> str:
        tokenizer = self.forward.tokenizer
        text = str(tokenizer.decode([token], skip_special_tokens=False))
        # a part of a letter has no text of its own: all of them together would pass for one token
        return str(tokenizer.id_to_token(token)) if "\N{REPLACEMENT CHARACTER}" in text else text

    def _store(self, work: Path | None) -> VectorStore | None:
        if work is None:
            return None
        return VectorStore(work / "chat", digest([_FORMAT, self._model.store_key(work)]))


def _groups(requests: Sequence[_ChatRequest], budget: int) -> Iterator[list[_ChatRequest]]:
    """Yield requests that are drawn alike and have prompts of one length."""
    alike: dict[str, dict[Prompt, _ChatRequest]] = {}
    for request in requests:
        how = digest([asdict(request.decoding), [list(answer) for answer in request.answers]])
        alike.setdefault(how, {})[request.prompt] = request
    for same in alike.values():
        decoding = next(iter(same.values())).decoding
        for group in groups_of(list(same), budget=budget, n=decoding.n):
            yield [same[prompt] for prompt in group]


# -- A conversation as the text that one model reads, and the tokens of the answers that may follow it --------------
# A model with a chat template reads the conversation as its template writes it; one without reads the messages one
# under the other. Where the number of an answer begins is asked of the tokenizer, never assumed: a prompt ends before
# the first token of the number, whether or not that token takes a space along.


Form = Literal["template", "template_without_system", "plain"]
"""``template``: the model's chat template. ``template_without_system``: for one that refuses a system message:
that message then begins the first one of the user. ``plain``: the messages one under the other."""
_LEAD: dict[Form, str] = {"template": "", "template_without_system": "", "plain": " "}


@dataclass(frozen=True, slots=True)
class Rendered:
    """A question as a text, its form, and the ids that come before its tokens (a beginning of sequence)."""

    text: str
    form: Form
    before: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AnswerTokens:
    """The token ids of a question up to the number, those of each number that may follow, and the question's form.

    ``end``: the token behind each number, if one number's tokens begin another's; it is part of ``answers``.
    """

    prompt: tuple[int, ...]
    answers: tuple[tuple[int, ...], ...]
    form: Form
    end: tuple[int, ...] = ()


def render_question(tokenizer: Any, question: ChatQuestion) -> Rendered:
    """Write a question as a model reads it; *tokenizer* is that of transformers.

    A chat template writes the beginning-of-sequence token itself; before a plain text it is put where the tokenizer
    has one. Errors: :class:`SubjectError` where the template refuses the conversation.
    """
    if not tokenizer.chat_template:
        bos = tokenizer.bos_token_id
        return Rendered(prompt_of(question), "plain", () if bos is None else (int(bos),))
    refused = require("jinja2.exceptions", "models").TemplateError
    forms: tuple[tuple[Form, ChatQuestion], ...] = (
        ("template", question),
        ("template_without_system", question.without_system()),
    )
    why = ""
    for form, asked in forms:
        try:
            text = tokenizer.apply_chat_template(asked.as_json(), tokenize=False, add_generation_prompt=True)
        except refused as error:
            why = str(error)
            continue
        return Rendered(str(text), form, ())
    raise SubjectError("the chat template of this model refuses the conversation", why=why)


def prompt_ids(tokenizer: Any, question: ChatQuestion) -> tuple[tuple[int, ...], Form]:
    """Return the token ids of a question, up to where the answer begins, and its form."""
    rendered = render_question(tokenizer, question)
    return (*rendered.before, *_encode(tokenizer, [rendered.text])[0].ids), rendered.form


def point_texts(scale: Scale) -> tuple[str, ...]:
    """Return the points of a scale as they are written in an answer.

    >>> point_texts(Scale(0, 2, step=0.5))
    ('0', '0.5', '1', '1.5', '2')

    Errors: those of :attr:`~lexiscope.core.scale.Scale.options`.
    """
    return tuple(f"{point:g}" for point in scale.options)


def answer_tokens(tokenizer: Any, question: ChatQuestion, numbers: Sequence[str]) -> AnswerTokens:
    """Return the tokens of a question and of the numbers that may answer it.

    If one number's tokens begin another's (1 and 10), the token that ends an answer is put after each: otherwise 1
    would have the probability of all that begins with it.
    Errors: :class:`SubjectError` where the tokenizer cuts the prompt differently before different numbers, or where
    numbers cannot be compared because it has no token that ends an answer.
    """
    rendered = render_question(tokenizer, question)
    begin = len(rendered.text) + len(_LEAD[rendered.form])
    texts = [rendered.text + _LEAD[rendered.form] + number for number in numbers]
    prompts, answers = set(), []
    for encoding in _encode(tokenizer, texts):
        first = next(place for place, (_, end) in enumerate(encoding.offsets) if end > begin)
        prompts.add(tuple(encoding.ids[:first]))
        answers.append(tuple(int(token) for token in encoding.ids[first:]))
    if len(prompts) > 1:
        raise SubjectError(
            "the tokenizer cuts this prompt differently before different numbers", place=Place(text=rendered.text)
        )
    end = _end_token(tokenizer, answers, numbers)
    return AnswerTokens(
        (*rendered.before, *prompts.pop()), tuple((*answer, *end) for answer in answers), rendered.form, end
    )


def _end_token(tokenizer: Any, answers: Sequence[tuple[int, ...]], numbers: Sequence[str]) -> tuple[int, ...]:
    """Return the token that ends an answer where one number begins another, else none."""
    for short, first in zip(answers, numbers, strict=True):
        for long, second in zip(answers, numbers, strict=True):
            if first != second and long[: len(short)] == short:
                # numbers of the same tokens stay the same with any ending
                if tokenizer.eos_token_id is not None and long != short:
                    return (int(tokenizer.eos_token_id),)
                raise SubjectError(
                    f"in this tokenizer the number {second} begins with the tokens of {first}",
                    why=f"the longer one could never be more probable than {first}",
                    hint="use a model that writes each number of the scale as one token, or a shorter scale",
                )
    return ()


def _encode(tokenizer: Any, texts: Sequence[str]) -> list[Any]:
    return list(tokenizer.backend_tokenizer.encode_batch(list(texts), add_special_tokens=False))
