"""The automatic choice: for each word a context, a synonym and a distractor, by rule and seed.

Of the pairs that go together the one is taken whose synonym is most frequent in its sense, then whose distractor is;
ties go to the word that is more frequent in all its senses, then to the alphabet. Contexts are drawn with a seed, and a
sentence serves one item only. *Source:* Ivan, Ramisch and Nasr, section 3.4 (where ties fall by chance).
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lexiscope.build.minimal_pairs.candidates import Candidate, Context
from lexiscope.core.errors import InputError


@dataclass(frozen=True, slots=True)
class Proposal:
    """A word in a context with a synonym and a distractor: what a curator accepts, changes or rejects.

    Its id is that of the context that was first proposed.
    """

    proposal_id: str
    candidate: Candidate
    context: Context
    synonym: str
    distractor: str


def best_pair(candidate: Candidate) -> tuple[str, str]:
    """Return the most frequent synonym and the most frequent distractor that can be combined with it.

    Errors: :class:`InputError` if no synonym can be combined with a distractor (no candidate of
    :func:`~lexiscope.build.minimal_pairs.candidates.find_candidates`).
    """
    pairs = candidate.pairs()
    if not pairs:
        raise InputError(f"no synonym of {candidate.sense!r} can be combined with a distractor")
    return pairs[0][0].word, pairs[0][1].word


def choose_proposals(
    candidates: Sequence[Candidate],
    *,
    seed: int,
    sentences_per_word: int = 1,
    n_items: int | None = None,
    used: Collection[str] = (),
) -> tuple[Proposal, ...]:
    """Return proposals in the order of their contexts in the corpus.

    At most *sentences_per_word* contexts are drawn for each word (all its senses together), and *n_items* from all of
    these (default: every one). The draw of a word depends on the seed and its contexts alone; sentences of *used* (ids)
    serve other items already.
    Errors: :class:`InputError` for numbers below 1.
    """
    for name, number in (("sentences_per_word", sentences_per_word), ("n_items", n_items)):
        if number is not None and number < 1:
            raise InputError(f"{name} is at least 1, not {number}")
    by_word: dict[str, list[tuple[Candidate, Context]]] = {}
    for candidate in candidates:
        by_word.setdefault(candidate.word, []).extend((candidate, context) for context in candidate.contexts)
    taken = set(used)
    drawn: list[Proposal] = []
    for word, contexts in by_word.items():
        drawn += _draw_of_word(contexts, random.Random(f"{seed}/{word}"), sentences_per_word, taken)
    if n_items is not None and n_items < len(drawn):
        drawn = random.Random(f"{seed}").sample(drawn, n_items)
    return tuple(sorted(drawn, key=lambda proposal: proposal.context.place))


def _draw_of_word(
    contexts: list[tuple[Candidate, Context]], draw: random.Random, most: int, used: set[str]
) -> list[Proposal]:
    proposals: list[Proposal] = []
    for candidate, context in draw.sample(contexts, len(contexts)):
        if len(proposals) == most:
            break
        if context.sentence_id not in used:
            used.add(context.sentence_id)
            proposals.append(Proposal(context.context_id, candidate, context, *best_pair(candidate)))
    return proposals
