"""Questions with a known answer as items: qualification, attention, practice, worked examples."""

from __future__ import annotations

from lexiscope.annotation.study_file.definition import Answer, KnownQuestion
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage, locate


def question_item(question: KnownQuestion, dataset: str, language: str) -> Item:
    """Return the item that a question shows.

    ``sentence_1``, ``sentence_2`` … become usages of ``target`` (or of ``target_1`` …); all else that it shows becomes
    a condition. Errors: :class:`InputError` E628 where it shows no sentence or names no target; the errors of
    :func:`lexiscope.core.usage.locate`.
    """
    shows = question.shows
    sentences = sorted(name for name in shows if name == "sentence" or name.startswith("sentence_"))
    if not sentences:
        raise InputError(f"{question.id!r} shows no sentence", code="E628", hint="give sentence_1 (and sentence_2)")
    usages = []
    for name in sentences:
        target = _target(question, name)
        usages.append(Usage(shows[name], *locate(shows[name], target), lemma=target, language=language))
    used = {*sentences, *(name for name in shows if name == "target" or name.startswith("target_"))}
    rest = {name: text for name, text in shows.items() if name not in used}
    return Item(question.id, dataset, tuple(usages), conditions=rest)


def is_right(question: KnownQuestion, answer: Answer) -> bool:
    """Say whether an answer is among those that the question accepts; a number may be given as text.

    >>> is_right(KnownQuestion(id="q", shows={}, accept=(4, 5)), "5")
    True
    """
    number = _number(answer)
    return any(
        str(answer) == str(accepted) or (number is not None and number == _number(accepted))
        for accepted in question.accept
    )


def _target(question: KnownQuestion, sentence: str) -> str:
    name = sentence.replace("sentence", "target")
    target = question.shows.get(name, question.shows.get("target", ""))
    if not target:
        raise InputError(f"{question.id!r} names no target of {sentence}", code="E628", hint="give target")
    return target


def _number(answer: Answer) -> float | None:
    try:
        return float(answer)
    except ValueError:
        return None
