"""What ``lexiscope collect`` prints: a small table per subject, what its replies came to, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from lexiscope.cli.output import print_table, say, say_folded

_COLUMNS = ("view", "measure", "items", "layers", "unanswered")


def print_answers(rows: Sequence[Mapping[str, object]], subjects: Sequence[Mapping[str, Any]]) -> None:
    """Print the rows of every subject under its name: a spec may be longer than a column is wide.

    *subjects* are those of the record of the run; what a subject that is paid for has cost stands in its settings.
    """
    accounts = {about["facts"]["subject_id"]: about["settings"].get("account") for about in subjects}
    for name, own in groupby(rows, key=lambda row: str(row["subject"])):
        part = list(own)
        say(name)
        print_table(_COLUMNS, [[row[column] for column in _COLUMNS] for row in part], right=("items", "unanswered"))
        # the replies of a view stand behind all its measures: once is enough
        for view, said in dict.fromkeys((row["view"], row["replies"]) for row in part if row["replies"]):
            say_folded(f"replies, {view}: {said}")
        if accounts.get(name):
            say_folded(account_line(accounts[name]))
        say()


def account_line(account: Mapping[str, Any]) -> str:
    """Return in one line what a chat model was sent, what that cost, and what may have been paid beside it.

    >>> account_line({"replies": 4, "possibly_paid": 1, "prompt_tokens": 400, "completion_tokens": 8})
    'paid: 4 replies, 400 + 8 tokens; possibly paid: 1 request that came to no reply'
    """
    paid = f"paid: {account['replies']} replies, {account['prompt_tokens']} + {account['completion_tokens']} tokens"
    cost, highest = account.get("cost"), account.get("highest_cost")
    paid += "" if cost is None else f", cost {cost:.6g}"
    lost = account.get("possibly_paid", 0)
    if not lost:
        return f"{paid}; no request was lost"
    said = f"{paid}; possibly paid: {lost} request{'s' if lost > 1 else ''} that came to no reply"
    return said + ("" if highest is None else f", with them at most about {highest:.6g}")
