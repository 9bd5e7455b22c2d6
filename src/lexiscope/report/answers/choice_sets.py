"""Answers of the Results page about choice sets: which expression works best, and what the tokens of words do."""

from __future__ import annotations

from collections import Counter

from lexiscope.core.result import Record, parse_statistic
from lexiscope.report.answers.answer import PARTLY, UNDECIDED, YES, Answer
from lexiscope.report.answers.numbers import PERCENT, Numbers, pick
from lexiscope.report.marks.drawing import Axis
from lexiscope.report.marks.forest import Forest


def best_expression(numbers: Numbers, _run: object) -> Answer | None:
    """Return which expression of the relation is right most often, by model and kind of test."""
    named = [record for record in numbers.known(pick("best_expression")) if record.note]
    if not named:
        return None
    counts = Counter(record.note for record in named)
    name, most = counts.most_common(1)[0]
    first = next(record for record in named if record.note == name)
    lead = f"{name} has the highest accuracy in {most} of {len(named)} comparisons of expressions"
    shown = f"{numbers.title(first.subject)}, {numbers.title(first.condition)}: {PERCENT.both(first)}"
    text = f"{lead}, for instance {shown}."
    others = ", ".join(f"{other} in {n}" for other, n in counts.most_common()[1:])
    return Answer("", (text, *((f"The others: {others}.",) if others else ())), apa=text)


def by_token_difference(numbers: Numbers, _run: object) -> Answer | None:
    """Say in how many tests accuracy differs where the words are cut into different numbers of tokens."""
    records = [r for r in numbers.known(pick("accuracy_by_delta(")) if _delta(r) not in ("", "all")]
    tests = numbers.known(pick("independent_t_p("))
    if not records:
        return None
    lowest, highest = min(records, key=PERCENT.value), max(records, key=PERCENT.value)
    decided = [(record.p_adjusted if record.p_adjusted is not None else record.value) for record in tests]
    differing = sum(p is not None and p < 0.05 for p in decided)
    shown = (f"{PERCENT.text(PERCENT.value(r))} ({numbers.title(r.subject)}, {_tokens(r)})" for r in (lowest, highest))
    texts = [f"Accuracy ranges from {' to '.join(shown)}."]
    if tests:
        texts.insert(0, f"{differing} of {len(tests)} differences from words of equal length have p < .05 (adjusted).")
    verdict = "" if not tests else YES if differing == len(tests) else PARTLY if differing else UNDECIDED
    rows = []
    for record in sorted(records, key=lambda record: (record.subject, int(_delta(record)))):
        tip = f"{_tokens(record)}: {PERCENT.both(record)}, {f'{record.n:,} items' if record.n else ''}"
        rows.append(PERCENT.row(record, _tokens(record), tip=tip, group=numbers.title(record.subject)))
    drawing = Forest(
        name="by_tokens", title="Accuracy by how many tokens more the right word has", rows=tuple(rows[:40]),
        axis=Axis("Percent right", 0, 100, leading_zero=True), value_head="percent",
    )  # fmt: skip
    return Answer(verdict, tuple(texts), apa=" ".join(texts), drawing=drawing)


def _delta(record: Record) -> str:
    return parse_statistic(record.statistic)[1].get("delta", "")


def _tokens(record: Record) -> str:
    delta = int(_delta(record))
    return "equally many tokens" if delta == 0 else f"{delta:+d} tokens".replace("-", "−")
