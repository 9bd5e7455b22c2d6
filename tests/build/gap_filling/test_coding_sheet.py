"""The coding sheet: what coders read, what may come back, and what becomes of their codes. All codes are made up."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.build.gap_filling.categories import PreLabel
from lexiscope.build.gap_filling.coding_sheet import (
    SHEET,
    GapAnswer,
    answers_to_code,
    code_completions,
    proposed_codes,
    read_codes,
    write_coding_sheet,
)
from lexiscope.build.gap_filling.gaps import gap_item, greedy_completions, sentences_of
from lexiscope.core.errors import InputError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.usage import Usage

ITEMS = [
    gap_item(f"i{k}", Usage("Her role is small.", 4, 8), dataset="d", synonym="part", synset=["role", "office"])
    for k in (1, 2)
]
GREEDY = "completion(method=greedy,max_tokens=10)"
DRAWN = "completion(method=sample,max_tokens=10,n=2)"

Rows = list[dict[str, str]]


def row(item: str, raw: str | None, *, subject: str = "m", measure: str = GREEDY, repeat: int = 0) -> Response:
    return Response(subject, "causal_lm", item, "gap_filling", measure, raw=raw, repeat=repeat)


TABLE = ResponseTable.from_rows(
    [
        row("i1", " part of"),
        row("i1", " part of", subject="n"),
        row("i1", "'=1+1\n“x”; y", measure=DRAWN),
        row("i1", "", measure=DRAWN, repeat=1),
        row("i2", " part of"),
        row("i2", None, subject="n"),
        row("i2", "7 8", measure="completion_tokens(method=greedy,max_tokens=10)"),
    ]
)


def labelled() -> tuple[GapAnswer, ...]:
    made = PreLabel("correct", "part", "accepted: part")
    return tuple(replace(answer, proposal=made) for answer in answers_to_code(TABLE, ITEMS))


def rows_of(path: Path) -> Rows:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def returned(path: Path, change: Callable[[Rows], Rows]) -> Path:
    write_coding_sheet(path, labelled())
    back = path.with_name("back.csv")
    with back.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(SHEET.header), delimiter="\t")
        writer.writeheader()
        writer.writerows(change(rows_of(path)))
    return back


def coded(*codes: str) -> Callable[[Rows], Rows]:
    def change(rows: Rows) -> Rows:
        for each, code in zip(rows, codes, strict=True):
            each["code"] = code
        return rows

    return change


FOUR = ("correct", "Same field", "unrelated", "correct_not_in_synset")


def test_each_answer_is_coded_once() -> None:
    """The same text of one item is one answer, whoever gave it; token ids and missing answers are none."""
    answers = answers_to_code(TABLE, ITEMS)
    assert [(answer.item.item_id, answer.text) for answer in answers] == [
        ("i1", " part of"),
        ("i1", "'=1+1\n“x”; y"),
        ("i1", ""),
        ("i2", " part of"),
    ]
    assert len({answer.answer_id for answer in answers}) == 4
    fewer = answers_to_code(TABLE.where(item_id="i2"), ITEMS)
    assert fewer[0].answer_id == answers[3].answer_id


def test_what_coders_read(tmp_path: Path) -> None:
    """Context, accepted answers, completion, the proposal where it is shown, and an empty column for the code."""
    write_coding_sheet(tmp_path / "shown.csv", labelled())
    first = rows_of(tmp_path / "shown.csv")[0]
    assert first["sentence"] == "Her [role] is small."
    assert (first["prompt"], first["synonym"], first["synset_synonyms"]) == ("Role is a synonym of", "part", "office")
    assert (first["completion"], first["proposed"], first["code"]) == (" part of", "correct", "")
    write_coding_sheet(tmp_path / "hidden.csv", labelled(), proposals="hidden")
    assert {each["proposed"] + each["why"] for each in rows_of(tmp_path / "hidden.csv")} == {""}


def test_the_round_trip(tmp_path: Path) -> None:
    """Codes come back as rows of their coder; upper case and a space in a category do not matter."""
    codes = read_codes(returned(tmp_path / "s.csv", coded(*FOUR)), labelled(), coder="made-up")
    assert codes.column("option").tolist() == ["correct", "same_field", "unrelated", "correct_not_in_synset"]
    assert codes.column("item_id").tolist() == [answer.answer_id for answer in labelled()]
    assert (codes.unique("subject_id"), codes.unique("measure")) == (("made-up",), ("category",))


def test_an_unfinished_sheet(tmp_path: Path) -> None:
    """A missing code is refused unless the sheet is read as unfinished; then its row has no option."""
    path = returned(tmp_path / "s.csv", coded("correct", "", "unrelated", ""))
    with pytest.raises(InputError, match="E476"):
        read_codes(path, labelled(), coder="c")
    kept = read_codes(path, labelled(), coder="c", unfinished="kept")
    assert kept.column("option").tolist() == ["correct", None, "unrelated", None]


def _with(column: str, text: str) -> Callable[[Rows], Rows]:
    def change(rows: Rows) -> Rows:
        coded(*FOUR)(rows)[1][column] = text
        return rows

    return change


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (_with("code", "nearly"), "E475"),
        (_with("answer_id", "i1#0000000000"), "E471"),
        (_with("completion", "another text"), "E474"),
        (_with("sentence", "Her [role] is big."), "E474"),
        (lambda rows: coded(*FOUR)(rows)[:3], "E473"),
        (lambda rows: [*coded(*FOUR)(rows), rows[2]], "E472"),
    ],
)
def test_what_was_changed_is_refused(tmp_path: Path, change: Callable[[Rows], Rows], code: str) -> None:
    """Unknown category, changed id or text, lost and doubled rows: stable codes with the place in the file."""
    path = returned(tmp_path / "s.csv", change)
    with pytest.raises(InputError) as caught:
        read_codes(path, labelled(), coder="c")
    assert caught.value.code == code
    assert str(path) in str(caught.value)


def test_completions_get_the_codes_of_their_answers(tmp_path: Path) -> None:
    """Every completion has the code of its text, whoever gave it; the measure names coder and decoding."""
    codes = read_codes(returned(tmp_path / "s.csv", coded(*FOUR)), labelled(), coder="c1")
    found = code_completions(TABLE, codes, coder="c1")
    assert [(one.subject_id, one.item_id, one.option) for one in found.rows()] == [
        ("m", "i1", "correct"),
        ("n", "i1", "correct"),
        ("m", "i1", "same_field"),
        ("m", "i1", "unrelated"),
        ("m", "i2", "correct_not_in_synset"),
    ]
    assert found.unique("measure")[0] == "category(coder=c1,method=greedy,max_tokens=10)"
    with pytest.raises(InputError, match="E473"):
        code_completions(TABLE, codes.where(option="correct"), coder="c1")


def test_proposals_are_codes_of_a_lexicon() -> None:
    """The pre-labeller is one more coder; where it proposes nothing it has an answer without a category."""
    table = proposed_codes(labelled(), lexicon_name="wordnet-3.0")
    assert (table.unique("subject_id"), table.unique("subject_kind")) == (("prelabel:wordnet-3.0",), ("lexicon",))
    assert table.column("option").tolist() == ["correct"] * 4
    one_less = (*labelled()[:3], replace(labelled()[3], proposal=None))
    assert proposed_codes(one_less, lexicon_name="x").column("option").tolist() == ["correct"] * 3 + [None]
    with pytest.raises(InputError, match="no answer has a proposal"):
        proposed_codes(answers_to_code(TABLE, ITEMS), lexicon_name="x")


def test_what_cannot_be_coded() -> None:
    """Completions of other items, tables without any, and coders whose name would break the measure."""
    with pytest.raises(InputError, match="none of the items"):
        answers_to_code(TABLE, ITEMS[:1])
    with pytest.raises(InputError, match="no answer"):
        answers_to_code(TABLE.where(measure="else"), ITEMS)
    with pytest.raises(InputError, match="E505"):
        code_completions(TABLE, TABLE, coder="Anna (first)")


def test_greedy_completions_and_sentences_of_items() -> None:
    """Of seven rows four are greedy completions; an item without a sentence is one of its own."""
    assert [row.raw for row in greedy_completions(TABLE).rows()] == [" part of", " part of", " part of", None]
    assert len(greedy_completions(TABLE.where(measure=DRAWN))) == 0
    named = replace(ITEMS[1], conditions=dict(ITEMS[1].conditions) | {"sentence": "s1"})
    assert sentences_of([ITEMS[0], named]) == {"i1": "i1", "i2": "s1"}
