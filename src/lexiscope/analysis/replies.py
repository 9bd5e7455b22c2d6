"""How many replies of chat models could be read, and why the others could not."""

from __future__ import annotations

from collections import Counter

from lexiscope.core.reply import KINDS, MEASURE_REPLY, ReplyKind
from lexiscope.core.response import ResponseTable


def count_replies(table: ResponseTable) -> dict[tuple[str, str | None], dict[ReplyKind, int]]:
    """Count the replies of every subject that was prompted, by subject and view, in the order of the table.

    Every kind of reply has its count, also 0. Subjects without replies (people, encoders) are not in it: all that they
    answered was read.

    >>> columns = {"subject_id": "chat:m@http://h", "subject_kind": "chat", "task": "plausibility", "measure": "reply"}
    >>> kinds = {"item_id": ["a", "b", "c"], "option": ["ok", "refusal", "ok"], "value": [1.0, 0.0, 1.0]}
    >>> (counts,) = count_replies(ResponseTable.from_columns(columns | kinds)).values()
    >>> {kind: count for kind, count in counts.items() if count}
    {'ok': 2, 'refusal': 1}
    """
    replies = table.where(measure=MEASURE_REPLY)
    counts: dict[tuple[str, str | None], dict[ReplyKind, int]] = {}
    for subject in replies.unique("subject_id"):
        of_subject = replies.where(subject_id=subject)
        for view in of_subject.unique("view"):
            kinds = Counter(of_subject.where(view=view).column("option").tolist())
            counts[str(subject), view] = {kind: kinds[kind] for kind in KINDS}
    return counts
