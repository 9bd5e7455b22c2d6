"""What the replies of chat models came to: how many could be read, and why the others could not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from lexiscope.core.reply import KINDS, MEASURE_REPLY, ReplyKind
from lexiscope.core.response import ResponseTable


@dataclass(frozen=True, slots=True)
class ReplyCounts:
    """The replies of one subject in one view, counted by what they came to; every kind is there, also with 0."""

    subject_id: str
    view: str | None
    counts: Mapping[ReplyKind, int]

    @property
    def n(self) -> int:
        """All replies, repetitions included."""
        return sum(self.counts.values())

    @property
    def n_unread(self) -> int:
        """Replies that could not be read: their answers have no value, and nothing stands in for one."""
        return self.n - self.counts["ok"]

    @property
    def share_read(self) -> float:
        """The share of replies that could be read. *Unit:* 0 to 1. *Higher means:* more were read."""
        return self.counts["ok"] / self.n

    def __str__(self) -> str:
        return ", ".join(f"{kind} {count}" for kind, count in self.counts.items() if count)


def count_replies(table: ResponseTable) -> tuple[ReplyCounts, ...]:
    """Count the replies of every subject that was asked in words, by view, in the order of the table.

    Subjects without replies (people, encoders) are not in it: whatever they answered was read.

    >>> columns = {"subject_id": "chat:m@http://h", "subject_kind": "chat", "task": "plausibility", "measure": "reply"}
    >>> kinds = {"item_id": ["a", "b", "c"], "option": ["ok", "refusal", "ok"], "value": [1.0, 0.0, 1.0]}
    >>> counted, = count_replies(ResponseTable.from_columns(columns | kinds))
    >>> str(counted), counted.n_unread, round(counted.share_read, 3)
    ('ok 2, refusal 1', 1, 0.667)
    """
    replies = table.where(measure=MEASURE_REPLY)
    found = []
    for subject in replies.unique("subject_id"):
        of_subject = replies.where(subject_id=subject)
        for view in of_subject.unique("view"):
            kinds = Counter(of_subject.where(view=view).column("option").tolist())
            found.append(ReplyCounts(str(subject), view, {kind: kinds[kind] for kind in KINDS}))
    return tuple(found)
