"""Gap filling: which word means the same as a target in its sentence? Nothing is offered, the answer is written.

Models continue a prompt, the sentence and "T is a synonym of": once with the most probable tokens and ten times with
tokens drawn from the ten most probable, ten tokens each. People write the word on a page. Whether an answer is right is
decided afterwards (:mod:`lexiscope.build.gap_filling.matching`), never in the answers. *Source:* the synonymy study,
§3.2.

An item has one usage. The condition ``prompt`` is what follows its sentence up to the gap; ``synonym`` and
``synset_synonyms`` are the accepted answers (:mod:`lexiscope.build.gap_filling.gaps` makes such items). In the view
``word`` the prompt is shown without the sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

from lexiscope.build.gap_filling.gaps import (
    COLUMN_CURATED,
    COLUMN_PROMPT,
    MEASURE,
    MEASURE_SEED,
    MEASURE_TOKENS,
    decoding_measure,
    prompt_of,
)
from lexiscope.core.errors import SubjectError
from lexiscope.core.item import Item
from lexiscope.core.prompt import GUIDELINES
from lexiscope.core.reply import MEASURE_REPLY, ReplyKind, is_garbled
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.screen import Screen, Shown, emphasised_line
from lexiscope.core.subject import Continuation, Decoding, Generates, Progress, Subject
from lexiscope.core.task import AnswerFunction, Task
from lexiscope.items.answers.chat_answers import CHAT_MEASURES
from lexiscope.items.arrange.views import view_item
from lexiscope.tasks.kit.asking import Asking, Variant, sentence_examples, starred_target
from lexiscope.tasks.kit.judging import judgment_function

FOLDER = Path(__file__).parent
"""The folder of the task's words: guidelines.md, words.json, screen.html, prompt.txt, examples.jsonl."""

NAME = "gap_filling"
SINGLE = Decoding(method="greedy", n=1, max_tokens=10)
"""One prediction: ten tokens, the most probable each time."""

TEN = Decoding(method="sample", n=10, max_tokens=10, top_k=10)
"""Ten predictions of ten tokens, drawn from the ten most probable. The study names no temperature and no seed."""

DECODINGS = (SINGLE, TEN)


@runtime_checkable
class Sampling(Protocol):
    """A subject that knows the seed of the run: its continuations are drawn with it."""

    @property
    def seed(self) -> int:
        """The seed of the run."""


def generation_function(decodings: Sequence[Decoding] = DECODINGS) -> AnswerFunction:
    """Return the answer function for subjects that generate, with these decodings.

    A continuation has a row ``completion`` (text in ``raw``), a row ``completion_tokens`` (ids in ``raw``, their number
    as value; neither if the subject does not give them) and, if it was drawn, a row ``completion_seed`` (the seed in
    ``raw``). ``repeat`` counts the continuations of one decoding, which is named in the measure. If one of them is not
    text (an answer that could not be read, lone surrogates), its row ``completion`` is empty and each has a row
    ``reply`` with the kind of the reply, and the text that came in ``raw``.
    """

    def by_generation(
        items: Sequence[Item],
        subject: Subject,
        *,
        view: str,
        work: Path | None = None,
        progress: Progress | None = None,
    ) -> ResponseTable:
        """Continue the prompt of every item. Errors: :class:`SubjectError` where another number comes back."""
        shown = [view_item(item, view) for item in items]
        prompts = [prompt_of(item, view=view) for item in shown]
        answered: list[tuple[Decoding, Sequence[Sequence[Continuation]]]] = []
        for number, decoding in enumerate(_seeded_decodings(subject, decodings)):
            tell = _part_of_progress(progress, number, len(decodings))
            continuations = cast(Generates, subject).generate(prompts, decoding, work=work, progress=tell)
            if len(continuations) != len(prompts) or any(len(of_prompt) != decoding.n for of_prompt in continuations):
                counts = ", ".join(str(n) for n in sorted({len(of_prompt) for of_prompt in continuations}))
                given = f"{len(continuations)} prompts of {len(prompts)}, {counts} times each"
                raise SubjectError(f"{subject.subject_id} continued {given}; {decoding.n} continuations were asked for")
            answered.append((decoding, continuations))
        counted = any(
            _reply_kind(continuation) != "ok"
            for _, continuations in answered
            for of_prompt in continuations
            for continuation in of_prompt
        )
        return ResponseTable.from_rows(
            replace(row, subject_id=subject.subject_id, subject_kind=subject.kind, item_id=item.item_id, view=view)
            for place, item in enumerate(shown)
            for decoding, continuations in answered
            for row in _continuation_rows(decoding, continuations[place], counted=counted)
        )

    return by_generation


def sampling_task(top_k: int) -> Task:
    """Return the task with ten predictions of which the tokens are drawn from the *top_k* most probable, and no other.

    The study leaves open what another value than its 10 would give (its §6).
    """
    return replace(TASK, answers=(("Generates", generation_function((replace(TEN, top_k=top_k),))),))


def stimulus(item: Item, _shown: Shown) -> Mapping[str, object]:
    """Return what the page shows: the sentence, its target marked, and the prompt before the gap."""
    usage = item.usages[0]
    return {
        "sentence": emphasised_line(usage.text, usage.start, usage.end),
        "prompt": str(item.condition(COLUMN_PROMPT)),
    }


def example_items(language: str) -> tuple[Item, ...]:
    """Return the worked examples in a language as items; ``gold`` is an accepted answer."""
    return sentence_examples(
        SCREEN, language, task=NAME, gold=COLUMN_CURATED, conditions=(COLUMN_PROMPT, COLUMN_CURATED)
    )


def _seeded_decodings(subject: Subject, decodings: Sequence[Decoding]) -> list[Decoding]:
    """The decodings with the seed of the run, where tokens are drawn at all."""
    seed = subject.seed if isinstance(subject, Sampling) else 0
    return [
        replace(decoding, seed=decoding.seed + seed) if decoding.method == "sample" else decoding
        for decoding in decodings
    ]


def _part_of_progress(progress: Progress | None, number: int, parts: int) -> Progress | None:
    """Progress of one of several equal parts."""
    if progress is None:
        return None
    return lambda done, total: progress(number * total + done, parts * total)


def _reply_kind(continuation: Continuation) -> ReplyKind:
    return "fault" if continuation.fault else "garbled" if is_garbled(continuation.text) else "ok"


def _continuation_rows(
    decoding: Decoding, continuations: Sequence[Continuation], *, counted: bool
) -> Iterator[Response]:
    """The rows of the continuations of one item under one decoding; the caller fills in the subject.

    *counted*: each gets a row with the kind of its reply.
    """
    row = Response("", "", "", NAME, decoding_measure(MEASURE, decoding))
    for repeat, continuation in enumerate(continuations):
        kind = _reply_kind(continuation)
        yield replace(row, repeat=repeat, raw=continuation.text if kind == "ok" else None)
        if counted:
            # of an answer that is no continuation: what is wrong with it, and what came
            said = "\n".join(filter(None, (continuation.fault, continuation.text)))
            value = float(kind == "ok")
            yield replace(row, repeat=repeat, measure=MEASURE_REPLY, value=value, option=kind, raw=said)
        # an empty continuation has no tokens; a text without any comes from a subject that does not tell them
        ids = " ".join(map(str, continuation.token_ids)) if continuation.token_ids or not continuation.text else None
        tokens = decoding_measure(MEASURE_TOKENS, decoding)
        yield replace(
            row, repeat=repeat, measure=tokens, value=None if ids is None else len(continuation.token_ids), raw=ids
        )
        if continuation.seed is not None:
            yield replace(
                row, repeat=repeat, measure=decoding_measure(MEASURE_SEED, decoding), raw=str(continuation.seed)
            )


def fields(item: Item, _language: str) -> Mapping[str, str]:
    """Return what a prompt says of an item: the sentence, its target between ``**``, and the prompt before the gap."""
    return {"sentence": starred_target(item.usages[0]), "prompt": str(item.condition(COLUMN_PROMPT))}


SCREEN = Screen(
    folder=FOLDER,
    widget="text",
    measure=MEASURE,
    stimulus=stimulus,
    requires=(COLUMN_PROMPT,),
    max_length=100,
)

by_generation = generation_function()
"""Continues the prompt as published: :data:`SINGLE` and :data:`TEN`."""

VARIANTS = {GUIDELINES: Variant(max_tokens=16)}
"""An answer is a word: it needs no more tokens than that."""

asks = Asking(SCREEN, fields, example_items, VARIANTS)
"""Makes a chat question of an item."""

by_judgment = judgment_function(NAME, MEASURE, check=SCREEN.check, asks=asks)
"""Answers with the judgments that a subject gives or has recorded."""

TASK = Task(
    name=NAME,
    summary="Which word means the same as a target in its sentence?",
    scale=None,
    item_fields=("usages", "conditions", "gold"),
    answers=(("Generates", by_generation), ("Judges", by_judgment)),
    measures=(
        (MEASURE, "what was written or generated, in raw, the decoding in brackets; without value"),
        (MEASURE_TOKENS, "the ids of the tokens that were generated, in raw; value: their number"),
        (MEASURE_SEED, "the seed with which the tokens were drawn, in raw; without value"),
        *CHAT_MEASURES,
    ),
    asks=asks,
    check=SCREEN.check,
)

ASKED = replace(TASK, answers=(("Judges", by_judgment),))
"""The task for chat models that are asked as people are, in the words of the page, and not to continue a text."""
