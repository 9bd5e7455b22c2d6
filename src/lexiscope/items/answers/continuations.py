"""Answers as continuations of a text: what is scored, and what must hold so that their probabilities compare.

Nothing is generated and nothing has to be read: each answer is put behind the text, and its log-probability is that of
the answer's tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import cast

from lexiscope.core.errors import InputError, Place, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.scoring import ScoredOption, ScoringPolicy, TokenScores
from lexiscope.core.subject import Progress, Scores, Subject

_END = "\n"


def continuation_policy(policy: ScoringPolicy) -> ScoringPolicy:
    """Return the policy of an answer behind a text: its own tokens count, their sum is divided by nothing.

    >>> str(continuation_policy(ScoringPolicy()))
    'log_probability(bos=no,first=unscored,tokens=continuation,per=text)'
    """
    return replace(policy, tokens="continuation", per="text")


def answer_end(answers: Sequence[str]) -> str:
    r"""Return what is scored behind each answer: a line break where one answer begins another, else nothing.

    Without it, 1 would have the probability of all that begins with it.

    >>> answer_end(["1", "10"]), answer_end(["Yes", "No"])
    ('\n', '')
    """
    # of sorted texts, one that begins others stands right before one of them
    ordered = sorted(set(answers))
    return _END if any(second.startswith(first) for first, second in pairwise(ordered)) else ""


def answer_texts(before: str, answers: Sequence[str], *, end: str = "") -> list[str]:
    """Return the text that is scored for each answer: *before*, a space, the answer, *end*.

    >>> answer_texts("Is it?", ["Yes", "No"])
    ['Is it? Yes', 'Is it? No']
    """
    return [f"{before} {answer}{end}" for answer in answers]


def scored_pairs(options: Sequence[ScoredOption], *, left: bool = True) -> list[tuple[str, str]]:
    """Return what is scored for the options of an item: the text before, and the answer that follows it.

    The options in their context come first, then those that have a neutral text, behind it. *left*: the scorer reads
    from left to right and does not see where the text ends.

    >>> scored_pairs([ScoredOption("t", "Is it?", "Yes"), ScoredOption("f", "Is it?", "No")])
    [('Is it?', ' Yes'), ('Is it?', ' No')]
    >>> scored_pairs([ScoredOption("correct", "", "The whole text.")])
    [('', 'The whole text.')]
    """
    # who sees the end of the text sees which option is whole
    end = answer_end([option.text for option in options]) if left and any(option.before for option in options) else ""
    befores = [(option.before, option) for option in options]
    befores += [(option.neutral, option) for option in options if option.neutral]
    return [
        (before, answer_texts("", [option.text], end=end)[0] if before else option.text) for before, option in befores
    ]


def score_items(
    items: Sequence[Item],
    texts: Sequence[Sequence[str]],
    subject: Subject,
    *,
    work: Path | None = None,
    progress: Progress | None = None,
) -> Mapping[str, TokenScores]:
    """Score the texts of items, each distinct one once and all in one call; return the scores by text.

    Errors: :class:`SubjectError` of a text that cannot be scored, naming the first item that has it, and where another
    number of scores comes back.
    """
    distinct = list(dict.fromkeys(text for own in texts for text in own))
    try:
        scores = cast(Scores, subject).score(distinct, work=work, progress=progress)
    except (SubjectError, InputError) as error:
        place = error.place
        if place is None or place.text is None or place.item_id is not None:
            raise
        name = next((item.item_id for item, own in zip(items, texts, strict=True) if place.text in own), None)
        named = Place(item_id=name, text=place.text, column=place.column, width=place.width)
        raise type(error)(error.what, code=error.code, place=named, why=error.why, hint=error.hint) from error
    if len(scores) != len(distinct):
        raise SubjectError(f"{subject.subject_id} gave {len(scores)} scores for {len(distinct)} texts")
    return dict(zip(distinct, scores, strict=True))


def check_distinct_answers(texts: Sequence[str], scores: Mapping[str, TokenScores], begin: int, item: Item) -> None:
    """Refuse answers of which one's tokens begin another's: the longer one could never be the more probable one.

    *begin* is where the answers begin in their texts. Errors: :class:`SubjectError` naming the item and both answers.
    """
    tokens: dict[str, tuple[str, ...]] = {}
    for text in texts:
        of_text = scores[text]
        inside = of_text.ends > begin
        spans = zip(of_text.starts[inside].tolist(), of_text.ends[inside].tolist(), strict=True)
        tokens[text[begin:].strip()] = tuple(text[max(start, begin) : end] for start, end in spans)
    for (first, short), (second, long) in pairwise(sorted(tokens.items(), key=lambda pair: pair[1])):
        if long[: len(short)] == short:
            raise SubjectError(
                f"this model reads {second} as {first} and more, and does not read the line break that would end it",
                place=Place(item_id=item.item_id),
                hint="use a model whose tokenizer keeps line breaks, or a scale whose points have one digit",
            )
