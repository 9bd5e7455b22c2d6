"""Counts of what the replies of chat models came to."""

from __future__ import annotations

from lexiscope.collect import count_replies
from lexiscope.core.reply import KINDS, MEASURE_REPLY
from lexiscope.core.response import Response, ResponseTable


def reply(subject: str, view: str, kind: str) -> Response:
    return Response(subject, "chat", "i", "plausibility", MEASURE_REPLY, float(kind == "ok"), option=kind, view=view)


def test_every_kind_is_counted_by_subject_and_view() -> None:
    """Each kind has its count, also 0; the sum is the number of replies; people have no replies and no row."""
    rows = [reply("chat:a@u", "full", kind) for kind in (*KINDS, "ok", "refusal")]
    rows += [reply("chat:a@u", "context", "ok"), reply("chat:b@u", "full", "several")]
    rows += [Response("p1", "participant", "i", "plausibility", "rating", 4.0, view="full")]
    counts = count_replies(ResponseTable.from_rows(rows))
    assert list(counts) == [("chat:a@u", "full"), ("chat:a@u", "context"), ("chat:b@u", "full")]
    first, other_view, other = counts.values()
    assert first == {kind: 1 + (kind in ("ok", "refusal")) for kind in KINDS}
    assert sum(first.values()) == len(KINDS) + 2
    assert other_view == dict.fromkeys(KINDS, 0) | {"ok": 1}
    assert other == dict.fromkeys(KINDS, 0) | {"several": 1}


def test_a_table_without_replies() -> None:
    """Encoders and people are not in the counts."""
    assert count_replies(ResponseTable.empty()) == {}
