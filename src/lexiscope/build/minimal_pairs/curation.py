"""Decisions of curators about proposed items: what may be decided, what two of them agree on, and what is merged.

A decision accepts a proposal, with its context, synonym and distractor or with others of the same candidate, or rejects
it with a reason. *Source of the reasons:* Ivan, Ramisch and Nasr, section 3.4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from lexiscope.build.minimal_pairs.automatic import Proposal
from lexiscope.core.errors import InputError, Place

Verdict = Literal["accept", "reject"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
REASONS: dict[str, str] = {
    "context": "the context does not discriminate: both words fit, or neither",
    "collocation": "the word is part of a fixed expression that another word breaks",
    "inventory": "the lexicon's sense or synonym is wrong or missing here",
    "other": "another reason, in the note",
}
"""Why a proposal is rejected: the word that is stored, and what it means."""

Kind = Literal["verdict", "context", "synonym", "distractor"]
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


@dataclass(frozen=True, slots=True)
class Decision:
    """What one curator decided about one proposal, and when (UTC, ISO 8601).

    A rejection has a ``reason`` of :data:`REASONS`; its context and words are those that were looked at. ``through``
    says how it was given: ``bench`` or ``sheet``.
    """

    proposal_id: str
    curator: str
    verdict: Verdict
    context_id: str
    synonym: str
    distractor: str
    reason: str = ""
    note: str = ""
    at: str = ""
    through: str = "bench"

    @property
    def content(self) -> tuple[str, ...]:
        """What was decided, without when and how: two decisions with the same content say the same."""
        return (self.proposal_id, self.verdict, self.context_id, self.synonym, self.distractor, self.reason, self.note)

    @property
    def choice(self) -> tuple[str, str, str]:
        """Context, synonym and distractor."""
        return (self.context_id, self.synonym, self.distractor)


def check_curator(name: str) -> str:
    """Return the name of a curator, which names a file too.

    Errors: :class:`InputError` E466.
    """
    if not _NAME.fullmatch(name):
        hint = "use small letters a to z, digits, _ and -, at most 40; a code, not a person's full name"
        raise InputError(f"{name!r} cannot be the name of a curator", code="E466", hint=hint)
    return name


def check_decision(decision: Decision, proposal: Proposal, *, place: Place | None = None) -> Decision:
    """Return a decision that is possible for its proposal.

    Errors: :class:`InputError` E463 (unknown verdict), E464 (the context, a word or the pair does not
    belong to the candidate), E465 (a rejection without a known reason, ``other`` without a note, an acceptance with a
    reason).
    """
    fault, code, hint = _fault(decision, proposal)
    if fault:
        where = place or Place(item_id=decision.proposal_id)
        raise InputError(fault, code=code, place=where, hint=hint)
    return decision


def accepted_proposal(decision: Decision, proposal: Proposal) -> Proposal:
    """Return the proposal as a curator accepted it: with the context and the words of the decision."""
    context = proposal.candidate.context(decision.context_id)
    if context is None:
        raise InputError(
            f"{decision.context_id!r} is not a context of {proposal.candidate.sense}",
            code="E464",
            place=Place(item_id=proposal.proposal_id),
        )
    return Proposal(proposal.proposal_id, proposal.candidate, context, decision.synonym, decision.distractor)


def is_changed(decision: Decision, proposal: Proposal) -> bool:
    """Whether a decision accepts a proposal with another context or word."""
    proposed = (proposal.context.context_id, proposal.synonym, proposal.distractor)
    return decision.verdict == "accept" and decision.choice != proposed


@dataclass(frozen=True, slots=True)
class CuratorDisagreement:
    """A proposal on which two curators differ; ``kind`` is the first of verdict, context, synonym, distractor."""

    proposal: Proposal
    first: Decision
    second: Decision
    kind: Kind


@dataclass(frozen=True, slots=True)
class CuratorComparison:
    """Two curators' decisions on the same proposals.

    ``verdicts`` are the two verdicts on each proposal that both decided; ``n_same_choice`` counts, among those that
    both accepted, the ones with the same context and words.
    """

    curators: tuple[str, str]
    n_proposals: int
    n_decided: tuple[int, int]
    verdicts: tuple[tuple[Verdict, Verdict], ...]
    n_both_accepted: int
    n_same_choice: int
    disagreements: tuple[CuratorDisagreement, ...]


@dataclass(frozen=True, slots=True)
class MergedDecisions:
    """What becomes of the proposals: accepted items in order, and the others with why they are not in."""

    items: tuple[Proposal, ...]
    excluded: tuple[tuple[Proposal, str], ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many proposals each outcome has."""
        counts = {"accepted": len(self.items)}
        for _, why in self.excluded:
            counts[why] = counts.get(why, 0) + 1
        return counts


Decisions = Mapping[str, Decision]


def compare_decisions(proposals: Sequence[Proposal], first: Decisions, second: Decisions) -> CuratorComparison:
    """Compare two curators' latest decisions, given by proposal.

    Errors: :class:`InputError` E469 where no proposal was decided by both.
    """
    both = [proposal for proposal in proposals if proposal.proposal_id in first and proposal.proposal_id in second]
    if not both:
        hint = "let the second curator decide the same proposals first"
        raise InputError("no proposal was decided by both curators", code="E469", hint=hint)
    pairs = [(proposal, first[proposal.proposal_id], second[proposal.proposal_id]) for proposal in both]
    agreed = [(a, b) for _, a, b in pairs if a.verdict == b.verdict == "accept"]
    return CuratorComparison(
        curators=(pairs[0][1].curator, pairs[0][2].curator),
        n_proposals=len(proposals),
        n_decided=(len(first), len(second)),
        verdicts=tuple((a.verdict, b.verdict) for _, a, b in pairs),
        n_both_accepted=len(agreed),
        n_same_choice=sum(a.choice == b.choice for a, b in agreed),
        disagreements=tuple(
            CuratorDisagreement(proposal, a, b, kind)
            for proposal, a, b in pairs
            for kind in [_difference(a, b)]
            if kind is not None
        ),
    )


def merge_decisions(
    proposals: Sequence[Proposal], first: Decisions, second: Decisions | None = None, third: Decisions | None = None
) -> MergedDecisions:
    """Return the items that one curator accepted, or two alike; on disagreements a third decides.

    A context serves one item: the second proposal that was moved to it is excluded, with its reason.
    """
    items: list[Proposal] = []
    excluded: list[tuple[Proposal, str]] = []
    used: set[str] = set()
    for proposal in proposals:
        decision, why = _outcome(proposal.proposal_id, first, second, third)
        if decision is not None and decision.context_id in used:
            decision, why = None, "context used twice"
        if decision is None:
            excluded.append((proposal, why))
        else:
            used.add(decision.context_id)
            items.append(accepted_proposal(decision, proposal))
    return MergedDecisions(tuple(items), tuple(excluded))


def _outcome(
    proposal_id: str, first: Decisions, second: Decisions | None, third: Decisions | None
) -> tuple[Decision | None, str]:
    decisions = [first.get(proposal_id)] + ([] if second is None else [second.get(proposal_id)])
    known = [decision for decision in decisions if decision is not None]
    if len(known) < len(decisions):
        return None, "not decided"
    if len(known) == 2 and _difference(*known) is not None:
        settled = (third or {}).get(proposal_id)
        if settled is None:
            return None, "disagreement"
        known = [settled]
    return (known[0], "") if known[0].verdict == "accept" else (None, "rejected")


def _difference(first: Decision, second: Decision) -> Kind | None:
    """The difference between two decisions; two rejections agree for any reasons."""
    if first.verdict != second.verdict:
        return "verdict"
    if first.verdict == "reject":
        return None
    pairs = zip(_CHOICE, first.choice, second.choice, strict=True)
    return next((kind for kind, chosen, other in pairs if chosen != other), None)


_CHOICE: tuple[Kind, ...] = ("context", "synonym", "distractor")


def _fault(decision: Decision, proposal: Proposal) -> tuple[str, str, str]:
    """What is wrong with a decision, its code, and what to do; empty where nothing is."""
    if decision.verdict not in VERDICTS:
        return f"{decision.verdict!r} is not a verdict", "E463", f"write {' or '.join(VERDICTS)}"
    if decision.verdict == "accept" and decision.reason:
        return "an accepted proposal has no reason", "E465", "clear the reason, or reject it"
    if decision.verdict == "reject" and decision.reason not in REASONS:
        return f"{decision.reason!r} is not a reason for a rejection", "E465", f"write one of {', '.join(REASONS)}"
    if decision.reason == "other" and not decision.note.strip():
        return "another reason needs a note that says which", "E465", "write it into the note"
    candidate = proposal.candidate
    if candidate.context(decision.context_id) is None:
        known = ", ".join(context.context_id for context in candidate.contexts)
        return f"{decision.context_id!r} is not a context of {candidate.sense}", "E464", f"use one of {known}"
    pairs = [(synonym.word, distractor.word) for synonym, distractor in candidate.pairs()]
    if (decision.synonym, decision.distractor) not in pairs:
        what = f"{decision.synonym!r} and {decision.distractor!r} cannot be combined as synonym and distractor"
        listed = ", ".join(f"{synonym}/{distractor}" for synonym, distractor in pairs[:20])
        more = " …" if len(pairs) > 20 else ""
        return what, "E464", f"the synonyms and distractors of {candidate.sense}: {listed}{more}"
    return "", "", ""
