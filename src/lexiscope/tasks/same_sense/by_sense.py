"""Same meaning by sense identity: a subject that chooses among induced senses says *same* where it chooses one twice.

*Source:* the evaluation of sense vectors on WiC (GASI §5, table 8). A pair that identity cannot decide is answered at
random, and each such answer carries a flag with its reason: read an accuracy together with their number.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

import numpy as np

from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.subject import ChoosesSense, Floats, Progress, Subject
from lexiscope.core.task import AnswerFunction
from lexiscope.core.usage import Usage
from lexiscope.items.answers.known_words import UNKNOWN, unknown_words, with_seen_words
from lexiscope.items.arrange.views import view_item, with_wordform

FLAG = "flag_random_answer"
"""The measure of the flag: 1 where the answer is random, with the reason in ``raw``, else 0."""

TWO_WORDS = "two words"
ONE_SENSE = "one sense"
TIE = "no sense preferred"
REASONS = (TWO_WORDS, UNKNOWN, ONE_SENSE, TIE)
"""Why identity cannot decide a pair, in the order in which the reasons are checked."""


@runtime_checkable
class CountsSenses(Protocol):
    """A subject that can say how many senses a word has, however improbable they are in a context."""

    def sense_count(self, usage: Usage) -> int:
        """Return the number of senses of the target."""


@runtime_checkable
class _SeededChoice(Protocol):
    seed: int


def sense_identity_function(
    task: str, measure: str, *, same: str, different: str, check: Callable[[Item], object], seed: int = 0
) -> AnswerFunction:
    """Return the answer function of a task of pairs for subjects that choose a sense.

    *same* and *different* are the two options of *measure*; *check* raises an error for an item that is not a pair.
    *seed* draws the answers that identity cannot give, unless the subject has its own ``seed``.
    """

    def by_sense(
        items: Sequence[Item],
        subject: Subject,
        *,
        view: str,
        work: Path | None = None,
        progress: Progress | None = None,
    ) -> ResponseTable:
        """Answer *same* where the most probable sense of both usages is one, else *different*.

        Both usages are looked up in one form of the word: their own where it is one, else their lemma. A pair of two
        words, of a word out of the vocabulary or with one sense, or with a usage that prefers no sense, gets a random
        answer: drawn for each item by its id and the seed. Rows: the choice of each item,
        then the flag of each item.
        Errors: :class:`CapabilityError` for a view that hides the word; what *check* raises.
        """
        shown = [view_item(item, view) for item in items]
        for item in shown:
            check(item)
        pairs = [_usages_in_one_form(item) for item in shown]
        decisions = _decide_pairs(pairs, subject, same=same, different=different)
        draw = subject.seed if isinstance(subject, _SeededChoice) else seed
        ids = [item.item_id for item in items]
        pairs_of_ids = zip(ids, decisions, strict=True)
        options = [_coin(draw, name, same, different) if why else option for name, (option, why) in pairs_of_ids]
        if progress is not None:
            progress(len(items), len(items))
        whys = [why for _, why in decisions]
        who = {"subject_id": subject.subject_id, "subject_kind": subject.kind, "task": task, "view": view}
        common: dict[str, object] = {**who, "item_id": ids}
        choices = common | {"measure": measure, "option": options}
        raw = [why or None for why in whys]
        flags = common | {"measure": FLAG, "value": [float(bool(why)) for why in whys], "raw": raw}
        return ResponseTable.concat([ResponseTable.from_columns(columns) for columns in (choices, flags)])

    return by_sense


def random_answer_counts(responses: ResponseTable) -> dict[str, int]:
    """Return how many answers are random, by reason, in the order of :data:`REASONS`; reasons that never occur are 0.

    *Shape:* responses of one subject. The number of all answers is that of the rows of the flag.
    """
    counts = Counter(responses.where(measure=FLAG, value=1.0).column("raw").tolist())
    return {reason: counts[reason] for reason in REASONS}


def _usages_in_one_form(item: Item) -> tuple[Usage, ...] | None:
    """Return the two usages in one form of their word; ``None`` where they have none in common."""
    first, second = with_seen_words(item).usages
    if first.target.casefold() == second.target.casefold():
        return (first, second)
    lemmas = {str(usage.lemma).casefold() for usage in item.usages if usage.lemma}
    if len(lemmas) != 1 or not (first.lemma and second.lemma):
        return None
    return tuple(with_wordform(usage, str(usage.lemma)) for usage in item.usages)


def _decide_pairs(
    pairs: Sequence[tuple[Usage, ...] | None], subject: Subject, *, same: str, different: str
) -> list[tuple[str, str]]:
    """Return each pair's answer and, if it has none, the reason."""
    decisions = [
        ("", TWO_WORDS) if pair is None else ("", UNKNOWN if unknown_words(subject, pair) else "") for pair in pairs
    ]
    asked = [number for number, (_, why) in enumerate(decisions) if not why]
    usages = [usage for number in asked for usage in pairs[number] or ()]
    rows = cast(ChoosesSense, subject).sense_distribution(usages) if usages else np.empty((0, 1), np.float32)
    for place, number in enumerate(asked):
        pair, table = cast(tuple[Usage, ...], pairs[number]), rows[2 * place : 2 * place + 2]
        why = _undecided_reason(table, subject, pair[0])
        first, second = table.argmax(axis=1)
        decisions[number] = ("", why) if why else (same if first == second else different, "")
    return decisions


def _undecided_reason(table: Floats, subject: Subject, usage: Usage) -> str:
    # a sense may be so improbable that its probability is 0 in both contexts: who counts senses is asked
    n_senses = subject.sense_count(usage) if isinstance(subject, CountsSenses) else int((table > 0).any(axis=0).sum())
    if n_senses <= 1:
        return ONE_SENSE
    ties = (table == table.max(axis=1, keepdims=True)).sum(axis=1)
    return TIE if (ties > 1).any() else ""


def _coin(seed: int, item_id: str, same: str, different: str) -> str:
    # by the item's id, not by its place: leaving items out changes no other answer
    digest = hashlib.sha256(f"{seed}\t{item_id}".encode()).digest()
    return same if digest[0] % 2 else different
