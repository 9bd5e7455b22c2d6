"""A conversation as the text that one model reads, and the tokens of the answers that may follow it.

A model with a chat template reads the conversation as its template writes it; one without reads the messages one under
the other. Where the number of an answer begins is asked of the tokenizer, never assumed: a prompt ends before the first
token of the number, whether or not that token takes a space along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lexiscope.core.errors import Place, SubjectError, require
from lexiscope.core.prompt import ChatQuestion
from lexiscope.core.scale import Scale
from lexiscope.items.answers.scale_scoring import prompt_of

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

    ``end``: the token behind each number, where one number's tokens begin another's; it is part of ``answers``.
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

    Where one number's tokens begin another's (1 and 10), the token that ends an answer is put after each: else 1 would
    have the probability of all that begins with it.
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
