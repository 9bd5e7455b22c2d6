"""Request drafts from a language model, write them as a table for review, and read the accepted ones back.

``text`` begins as the draft and can be edited; ``raw`` and ``drafted`` stay. A draft is used only if its ``verdict`` is
*accepted*; it is then checked again, by the rules that applied when the text was written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from lexiscope.annotation.store.record import Review
from lexiscope.annotation.writing.review import AcceptedText, Faults, check_review
from lexiscope.annotation.writing.stages import strip_apostrophe
from lexiscope.build.stories.stories import DraftRequest
from lexiscope.core.errors import CapabilityError, InputError, Place
from lexiscope.core.foreign import storable_text
from lexiscope.core.item import Item
from lexiscope.core.prompt import ChatQuestion, ChatReply, Converses
from lexiscope.core.reply import is_garbled, read_text
from lexiscope.core.subject import Continuation, Decoding, Generates, Progress, Subject
from lexiscope.items.tables.neutral import csv_text
from lexiscope.resources.tables.rows import Row, RowReader

DRAFT_COLUMNS = ("field", "id", "raw", "drafted", "text", "drafted_by", "faults", "verdict", "reason")
"""The table of drafts; a person fills in ``verdict`` (accepted, rejected) and ``reason``, and may change ``text``."""

PROVENANCE_COLUMNS = ("field", "id", "raw", "drafted", "text", "drafted_by", "edited")
"""The table of what went on of the drafts of language models."""

DraftVerdict = Literal["", "accepted", "rejected"]


@dataclass(frozen=True, slots=True)
class Draft:
    """A text that a language model drafted for a field: ``text`` as a person left it, ``drafted`` as it was given.

    ``faults`` are what the guards found in the draft: the rules of the task, or the kind of a reply that is no text.
    """

    field: str
    draft_id: str
    raw: str
    drafted: str
    text: str
    drafted_by: str
    faults: tuple[str, ...] = ()
    verdict: DraftVerdict = ""
    reason: str = ""

    @property
    def edited(self) -> bool:
        """Whether a person changed what the model drafted."""
        return self.text != self.drafted


def draft_texts(
    requests: Sequence[DraftRequest],
    subject: Subject,
    *,
    work: Path | None = None,
    progress: Progress | None = None,
) -> tuple[Draft, ...]:
    """Return the drafts of a subject that converses or generates, in the order of the requests, without verdicts.

    A draft with a fault stays in the table with its fault, and without text: it must be written by hand or omitted.
    With *work*, finished replies are kept in that folder, and a broken call continues.
    Errors: :class:`CapabilityError` for a subject that can do neither; those of the subject.
    """
    replies = _replies([request.question for request in requests], subject, work, progress)
    return tuple(_build_draft(request, reply, subject) for request, reply in zip(requests, replies, strict=True))


def draft_table(drafts: Iterable[Draft]) -> str:
    """Return drafts as CSV (columns: :data:`DRAFT_COLUMNS`)."""
    return csv_text(DRAFT_COLUMNS, [[cells[name] for name in DRAFT_COLUMNS] for cells in map(_cells, drafts)])


def provenance_table(drafts: Iterable[Draft]) -> str:
    """Return as CSV which texts went on that a language model drafted (columns: :data:`PROVENANCE_COLUMNS`)."""
    accepted = (_cells(draft) for draft in drafts if draft.verdict == "accepted")
    return csv_text(PROVENANCE_COLUMNS, [[cells[name] for name in PROVENANCE_COLUMNS] for cells in accepted])


def _cells(draft: Draft) -> dict[str, str]:
    cells = {name: str(getattr(draft, name)) for name in ("field", "raw", "drafted", "text", "drafted_by", "verdict")}
    edited = "yes" if draft.edited else "no"
    return cells | {"id": draft.draft_id, "faults": " ".join(draft.faults), "reason": draft.reason, "edited": edited}


def read_drafts(path: Path | str) -> tuple[Draft, ...]:
    """Read a table of drafts back; it may come from a spreadsheet.

    Errors: :class:`InputError` E653 where a column is missing, a verdict is none, or a text is drafted twice; those of
    the row reader.
    """
    rows = RowReader(path).rows()
    header = next(rows, None)
    if header is None or not set(DRAFT_COLUMNS) <= set(header.fields):
        place = header.place() if header is not None else Place(str(path))
        raise InputError(f"not a table of drafts: it needs {', '.join(DRAFT_COLUMNS)}", code="E653", place=place)
    drafts: dict[tuple[str, str], Draft] = {}
    for row in rows:
        draft = _parse_draft(row, header.fields)
        if drafts.setdefault((draft.field, draft.draft_id), draft) is not draft:
            what = f"the {draft.field} of {draft.draft_id!r} is drafted twice"
            raise InputError(what, code="E653", place=row.place(), hint="keep one of the rows")
    return tuple(drafts.values())


def cleaning_reviews(
    drafts: Iterable[Draft], texts: Sequence[AcceptedText], items: Mapping[str, Item], *, field: str, faults: Faults
) -> tuple[Review, ...]:
    """Return a review for every accepted draft of a cleaned text: it replaces the text that was accepted before.

    The review says which model drafted it. It is guarded as any other: a draft that lost its word goes no further.
    Errors: :class:`InputError` E653 for a draft of a text that is not accepted, or has changed since; E640 to E644 of
    :func:`~lexiscope.annotation.writing.review.check_review`.
    """
    known = {str(text.answer.answer_id): text for text in texts}
    reviews = []
    for draft in drafts:
        if draft.verdict != "accepted" or draft.field != field:
            continue
        text = known.get(draft.draft_id)
        if text is None or text.clean != draft.raw:
            what = (
                f"the draft for answer {draft.draft_id!r} is of a text that is not accepted, or not this one any more"
            )
            raise InputError(what, code="E653", hint="draft it again")
        by = f"{draft.drafted_by}{', edited' if draft.edited else ''}"
        answer, earlier = text.answer, text.review
        # dated like the acceptance that it follows: the same drafts make the same tables on any day
        review = Review(answer.answer_id, "accepted", f"cleaned by {by}", draft.text, earlier.actor, earlier.at)
        check_review(review, answer, items[answer.item_id], faults=faults)
        reviews.append(review)
    return tuple(reviews)


def accepted_draft_texts(drafts: Iterable[Draft], field: str) -> dict[str, str]:
    """Return the accepted texts of a field by the id that they are for: the precontexts by setup."""
    return {draft.draft_id: draft.text for draft in drafts if draft.field == field and draft.verdict == "accepted"}


# -- asking ---------------------------------------------------------------------------------------------------


def _replies(
    questions: Sequence[ChatQuestion], subject: Subject, work: Path | None, progress: Progress | None
) -> list[tuple[str, bool, str]]:
    """Return the text of each reply, whether it was cut, and the fault of a reply that is no text."""
    if isinstance(subject, Converses):
        first = [replies[0] for replies in subject.converse(questions, work=work, progress=progress)]
        return [(reply.text, reply.finish == "length", _reply_fault(reply, refused=reply.refused)) for reply in first]
    if isinstance(subject, Generates):
        # the questions of one table all allow as many tokens
        decoding = Decoding(
            max_tokens=max((question.max_tokens or 1 for question in questions), default=1), stop=("\n\n",)
        )
        prompts = ["\n\n".join(m.content for m in question.messages) + "\n\nAnswer:" for question in questions]
        texts = [sample[0] for sample in subject.generate(prompts, decoding, work=work, progress=progress)]
        return [(text.text, text.finish == "length", _reply_fault(text, refused=False)) for text in texts]
    raise CapabilityError(
        f"{subject.subject_id} can draft no text", hint="name a subject that converses or generates: chat:MODEL@URL"
    )


def _reply_fault(reply: ChatReply | Continuation, *, refused: bool) -> str:
    return "fault" if reply.fault else "refusal" if refused else "garbled" if is_garbled(reply.text) else ""


def _build_draft(request: DraftRequest, reply: tuple[str, bool, str], subject: Subject) -> Draft:
    raw_text, cut, fault = reply
    read = read_text(raw_text, cut=cut)
    text = _strip_quotes(read.text or "")
    if fault or read.kind != "ok":
        faults: tuple[str, ...] = (fault or read.kind,)
    else:
        faults = request.faults(text)
    return Draft(
        field=request.field,
        draft_id=request.draft_id,
        raw=request.raw,
        drafted=storable_text(text or raw_text.strip()),
        text="" if faults else text,
        drafted_by=subject.subject_id,
        faults=faults,
    )


def _strip_quotes(text: str) -> str:
    """Return a draft without quotation marks around the whole: the model quotes, the story does not.

    >>> _strip_quotes('"The bank shut."'), _strip_quotes('"No," he said. "Go."')
    ('The bank shut.', '"No," he said. "Go."')
    """
    inner = text[1:-1]
    quoted = len(text) > 1 and text[0] + text[-1] in ('""', "“”", "«»")
    return inner if quoted and not set(inner) & set('"“”«»') else text


# -- reading --------------------------------------------------------------------------------------------------


def _parse_draft(row: Row, header: Sequence[str]) -> Draft:
    cells = {
        name: strip_apostrophe(text) for name, text in zip(header, row.fields, strict=True) if name in DRAFT_COLUMNS
    }
    verdict = cells["verdict"].strip()
    if verdict not in get_args(DraftVerdict):
        raise InputError(
            f"there is no verdict {verdict!r}", code="E653", place=row.place(), hint="accepted or rejected"
        )
    if verdict == "accepted" and not cells["text"].strip():
        raise InputError("an accepted draft has no text", code="E653", place=row.place(), hint="write it, or reject it")
    return Draft(
        field=cells["field"],
        draft_id=cells["id"],
        raw=cells["raw"],
        drafted=cells["drafted"],
        text=cells["text"].strip(),
        drafted_by=cells["drafted_by"],
        faults=tuple(cells["faults"].split()),
        verdict=cast(DraftVerdict, verdict),
        reason=cells["reason"],
    )
