"""Curation: what may be decided, that nothing is lost, what two curators agree on, and the round trip of a sheet."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.build.minimal_pairs.automatic import Proposal, best_pair, choose_proposals
from lexiscope.build.minimal_pairs.build_folder import synonym_items
from lexiscope.build.minimal_pairs.candidates import Candidate, find_candidates
from lexiscope.build.minimal_pairs.curation import (
    Decision,
    accepted_proposal,
    check_curator,
    check_decision,
    compare_decisions,
    is_changed,
    merge_decisions,
)
from lexiscope.build.minimal_pairs.curation_bench import (
    CurationBench,
    append_new_decisions,
    read_curation_sheet,
    write_curation_sheet,
)
from lexiscope.build.minimal_pairs.decision_log import DecisionLog, curator_names
from lexiscope.build.minimal_pairs.tables import read_candidates, read_proposals, write_candidates, write_proposals
from lexiscope.core.errors import InputError

from ...items.made_up import bench_lexicon, occurrence

TEXTS = (
    "They carried the old bench out to the garden before the rain .",
    "' -- We sat on a bench by the gate and waited for the boat .",
    "=SUM(1) Nobody had painted the bench in the park for at least ten years .",
    "The bench agreed at once that the man had told them no lies .",
)


@pytest.fixture
def candidates() -> tuple[Candidate, ...]:
    words = [occurrence(n, text) for n, text in enumerate(TEXTS[:3])]
    words.append(occurrence(3, TEXTS[3], sense="bench%court"))
    return find_candidates(words, bench_lexicon(), flagged={"lies"}).candidates


@pytest.fixture
def proposals(candidates: tuple[Candidate, ...]) -> tuple[Proposal, ...]:
    return choose_proposals(candidates, seed=1, sentences_per_word=4)


def decision(one: Proposal, curator: str = "ann", **changes: str) -> Decision:
    whole = Decision(
        one.proposal_id,
        curator,
        "accept",
        one.context.context_id,
        one.synonym,
        one.distractor,
        at="2026-01-01T00:00:00Z",
    )
    return replace(whole, **changes)  # type: ignore[arg-type]


def test_the_automatic_choice(candidates: tuple[Candidate, ...]) -> None:
    """The most frequent pair; one context per word unless more are asked for; the same seed gives the same."""
    assert best_pair(candidates[0]) == ("pew", "court")
    assert len(choose_proposals(candidates, seed=3)) == 1
    assert choose_proposals(candidates, seed=3) == choose_proposals(candidates, seed=3)
    assert {choose_proposals(candidates, seed=n)[0].proposal_id for n in range(40)} == {f"d0.s{n}.t0" for n in range(4)}
    every = choose_proposals(candidates, seed=3, sentences_per_word=9)
    assert [one.proposal_id for one in every] == [f"d0.s{n}.t0" for n in range(4)]
    assert len(choose_proposals(candidates, seed=3, sentences_per_word=9, n_items=2)) == 2
    with pytest.raises(InputError, match="at least 1"):
        choose_proposals(candidates, seed=3, sentences_per_word=0)


def test_a_sentence_serves_one_item() -> None:
    """Two words of one sentence: only one of them becomes an item."""
    text = "On the bench before the court there sat an old man with two books ."
    words = [
        occurrence(1, text, sentence_id="s"),
        occurrence(2, text, target="court", sense="court%yard", sentence_id="s", lemma="court"),
    ]
    found = find_candidates(words, bench_lexicon())
    assert found.n_words == 2
    assert len(choose_proposals(found.candidates, seed=0)) == 1


def test_tables_give_back_what_was_written(
    tmp_path: Path, candidates: tuple[Candidate, ...], proposals: tuple[Proposal, ...]
) -> None:
    """Candidates, contexts (with texts that a spreadsheet would run) and proposals survive their files."""
    write_candidates(tmp_path, candidates)
    write_proposals(tmp_path, proposals)
    assert read_candidates(tmp_path) == candidates
    assert read_proposals(tmp_path) == proposals
    with (tmp_path / "contexts.csv").open(encoding="utf-8-sig", newline="") as stream:
        assert not [cell for row in csv.reader(stream) for cell in row if cell.lstrip(" ").startswith(("=", "-", "+"))]


@pytest.mark.parametrize("table", ["contexts.csv", "candidates.csv", "proposals.csv"])
def test_damaged_tables_are_refused(
    tmp_path: Path, table: str, candidates: tuple[Candidate, ...], proposals: tuple[Proposal, ...]
) -> None:
    """A missing table, and one whose second row is gone or altered: E468, naming the file."""
    write_candidates(tmp_path, candidates)
    write_proposals(tmp_path, proposals)
    file = tmp_path / table
    content = file.read_text(encoding="utf-8")
    altered = (
        content.replace("bench%court", "bench%stool") if table == "proposals.csv" else content.rpartition("\nb")[0]
    )
    altered = altered if table != "contexts.csv" else content.rpartition("\nd0")[0]
    file.write_text(altered + "\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_proposals(tmp_path)
    assert caught.value.code == "E468"
    assert str(tmp_path) in str(caught.value)
    file.unlink()
    with pytest.raises(InputError, match="E468"):
        read_proposals(tmp_path)


def test_items_of_a_collection(proposals: tuple[Proposal, ...]) -> None:
    """A proposal becomes an item with its span, sense, synset and sentence; flagged words stand beside it."""
    items = synonym_items(proposals, language="en")
    assert [one.item_id for one in items] == ["001", "002", "003", "004"]
    assert [one.sentence[one.start : one.end] for one in items] == ["bench"] * 4
    assert items[3].sense_key == "bench%court"
    assert items[3].synset == ("bench", "judiciary", "court", "Bar", "pew-court")
    assert dict(items[3].extra)["flagged"] == "lies"
    assert items[0].sentence_id == "d0.s0"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"verdict": "maybe"}, "E463"),
        ({"synonym": "stool"}, "E464"),
        ({"distractor": "pew"}, "E464"),
        ({"context_id": "d0.s3.t0"}, "E464"),
        ({"verdict": "reject"}, "E465"),
        ({"verdict": "reject", "reason": "boring"}, "E465"),
        ({"verdict": "reject", "reason": "other", "note": "  "}, "E465"),
        ({"reason": "context"}, "E465"),
    ],
)
def test_what_cannot_be_decided(proposals: tuple[Proposal, ...], changes: dict[str, str], code: str) -> None:
    """Words and contexts of other candidates, rejections without a reason and unknown verdicts have codes."""
    with pytest.raises(InputError) as caught:
        check_decision(decision(proposals[0], **changes), proposals[0])
    assert caught.value.code == code


def test_a_change_is_an_acceptance_with_something_else(proposals: tuple[Proposal, ...]) -> None:
    """Another context and another word of the same candidate."""
    changed = check_decision(decision(proposals[0], context_id="d0.s1.t0", distractor="judiciary"), proposals[0])
    assert is_changed(changed, proposals[0])
    assert not is_changed(decision(proposals[0]), proposals[0])
    made = accepted_proposal(changed, proposals[0])
    assert (made.context.context_id, made.synonym, made.distractor) == ("d0.s1.t0", "pew", "judiciary")


def test_a_log_loses_nothing(tmp_path: Path, proposals: tuple[Proposal, ...]) -> None:
    """Every decision is a line at once; a changed mind is a later line; a torn line is taken away and named."""
    log = DecisionLog(tmp_path, "ann")
    assert log.read() == ()
    first, second = decision(proposals[0]), decision(proposals[0], verdict="reject", reason="context")
    log.append(first)
    assert DecisionLog(tmp_path, "ann").read() == (first,)
    log.append(second)
    with log.path.open("ab") as stream:
        stream.write(b'{"proposal_id": "d0.s1')
    assert log.torn_line == '{"proposal_id": "d0.s1'
    assert log.latest(proposals) == {first.proposal_id: second}
    third = decision(proposals[1])
    log.append(third)
    assert log.read() == (first, second, third)
    assert log.torn_line == ""
    assert curator_names(tmp_path) == ("ann",)


@pytest.mark.parametrize(
    ("line", "code"),
    [("{", "E467"), ('{"proposal_id": "x"}', "E467"), ("[]", "E467"), (None, "E462")],
)
def test_a_damaged_log_is_refused(tmp_path: Path, proposals: tuple[Proposal, ...], line: str | None, code: str) -> None:
    """A whole line that is no decision, and a decision about something else, with file and line."""
    log = DecisionLog(tmp_path, "ann")
    log.append(decision(proposals[0]))
    if line is None:
        log.append(replace(decision(proposals[0]), proposal_id="elsewhere"))
    else:
        with log.path.open("a", encoding="utf-8") as stream:
            stream.write(line + "\n")
    with pytest.raises(InputError) as caught:
        log.latest(proposals)
    assert caught.value.code == code
    assert f"{log.path}:2" in str(caught.value)


def test_a_log_holds_one_curator(tmp_path: Path, proposals: tuple[Proposal, ...]) -> None:
    """A file that was renamed to another curator's is refused; so is a name that cannot name a file."""
    DecisionLog(tmp_path, "ann").append(decision(proposals[0]))
    DecisionLog(tmp_path, "ann").path.rename(tmp_path / "decisions" / "ben.jsonl")
    with pytest.raises(InputError, match="E467"):
        DecisionLog(tmp_path, "ben").read()
    for name in ("", "../ann", "Ann", "a b", "x" * 41):
        with pytest.raises(InputError, match="E466"):
            check_curator(name)


def test_two_curators_and_a_third(proposals: tuple[Proposal, ...]) -> None:
    """Same; other word; other verdict; both reject for different reasons: 2 disagreements, which a third settles."""
    one, two, three, four = proposals
    ann = [decision(one), decision(two), decision(three), decision(four, verdict="reject", reason="context")]
    ben = [
        decision(one, "ben"),
        decision(two, "ben", synonym="settle"),
        decision(three, "ben", verdict="reject", reason="collocation"),
        decision(four, "ben", verdict="reject", reason="inventory"),
    ]
    first, second = ({each.proposal_id: each for each in made} for made in (ann, ben))
    found = compare_decisions(proposals, first, second)
    assert found.verdicts == (("accept", "accept"), ("accept", "accept"), ("accept", "reject"), ("reject", "reject"))
    assert (found.n_both_accepted, found.n_same_choice) == (2, 1)
    assert [each.kind for each in found.disagreements] == ["synonym", "verdict"]
    merged = merge_decisions(proposals, first, second)
    assert merged.counts == {"accepted": 1, "disagreement": 2, "rejected": 1}
    third = {two.proposal_id: decision(two, "cat", synonym="settle", distractor="judiciary")}
    settled = merge_decisions(proposals, first, second, third)
    assert [(each.synonym, each.distractor) for each in settled.items] == [("pew", "court"), ("settle", "judiciary")]
    assert settled.counts == {"accepted": 2, "disagreement": 1, "rejected": 1}
    assert merge_decisions(proposals, first).counts == {"accepted": 3, "rejected": 1}
    assert merge_decisions(proposals, {}, second).counts == {"accepted": 0, "not decided": 4}
    with pytest.raises(InputError, match="E469"):
        compare_decisions(proposals, first, {})


def test_a_context_serves_one_item(proposals: tuple[Proposal, ...]) -> None:
    """Two proposals that are moved to one context: the second is left out and says so."""
    first = {one.proposal_id: decision(one, context_id="d0.s2.t0") for one in proposals[:2]}
    assert merge_decisions(proposals[:2], first).counts == {"accepted": 1, "context used twice": 1}


def bench_of(tmp_path: Path, proposals: tuple[Proposal, ...]) -> CurationBench:
    return CurationBench(proposals, DecisionLog(tmp_path, "ann"), clock=lambda: "2026-01-01T00:00:00Z")


def test_the_bench_goes_on_where_it_stopped(tmp_path: Path, proposals: tuple[Proposal, ...]) -> None:
    """Decisions are on the disk at once; a new bench begins at the first that is not decided."""
    bench = bench_of(tmp_path, proposals)
    bench.accept()
    bench.switch_synonym()
    bench.switch_distractor()
    bench.switch_context()
    changed = bench.accept()
    assert (changed.synonym, changed.distractor, changed.context_id) == ("settle", "judiciary", "d0.s2.t0")
    again = bench_of(tmp_path, proposals)
    assert (again.position, again.n_decided) == (2, 2)
    again.back()
    assert again.previous_decision == changed
    assert (again.synonym, again.context.context_id) == ("settle", "d0.s2.t0")
    again.reject("context")
    # the latest counts, both stay
    assert [one.verdict for one in DecisionLog(tmp_path, "ann").read()] == ["accept", "accept", "reject"]
    assert again.position == 2
    again.skip()
    again.accept()
    assert again.position == 2
    again.accept()
    assert again.is_finished
    assert bench_of(tmp_path, proposals).is_finished


def test_a_bad_rejection_writes_nothing(tmp_path: Path, proposals: tuple[Proposal, ...]) -> None:
    """Another reason without a note is refused, and the bench stays where it is."""
    bench = bench_of(tmp_path, proposals)
    with pytest.raises(InputError, match="E465"):
        bench.reject("other", " ")
    assert (bench.position, bench.log.read()) == (0, ())


def test_a_distractor_that_does_not_go_with_the_synonym_is_changed(tmp_path: Path) -> None:
    """*probe* shares a sense with *study*: beside *study* it cannot stand."""
    from ...items.made_up import made_up_lexicon

    lexicon = made_up_lexicon(
        [
            ("a", "x", ["inquiry", "study", "quest"], []),
            ("b", "y", ["inquiry", "study", "probe"], []),
            ("c", "z", ["inquiry", "query"], []),
        ],
        {("probe", "b"): 5, ("study", "a"): 1},
    )
    text = "At the end of a long inquiry the two men knew no more ."
    (candidate,) = find_candidates([occurrence(1, text, target="inquiry", sense="inquiry%a")], lexicon).candidates
    pairs = [(one.word, other.word) for one, other in candidate.pairs()]
    assert pairs == [("study", "query"), ("quest", "probe"), ("quest", "query")]
    bench = bench_of(tmp_path, choose_proposals([candidate], seed=0))
    bench.switch_synonym()
    bench.switch_distractor(-1)
    assert (bench.synonym, bench.distractor) == ("quest", "probe")
    bench.switch_synonym()
    assert (bench.synonym, bench.distractor) == ("study", "query")


COLUMNS = ("verdict", "reason", "note", "context", "synonym", "distractor")


def fill(path: Path, rows: dict[int, dict[str, str]], *, encoding: str = "utf-8-sig", delimiter: str = ",") -> None:
    """Do with a sheet what a spreadsheet does: read it, fill cells, write it back."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        table = list(csv.DictReader(stream))
    for number, cells in rows.items():
        table[number].update(cells)
    with path.open("w", encoding=encoding, newline="") as stream:
        writer = csv.DictWriter(stream, list(table[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(table)


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_the_sheet_comes_back(tmp_path: Path, proposals: tuple[Proposal, ...], delimiter: str) -> None:
    """Accepted, changed, rejected with a note, undecided: as decisions; the second reading adds nothing."""
    log, sheet = DecisionLog(tmp_path, "ann"), tmp_path / "sheet.csv"
    write_curation_sheet(sheet, proposals, {})
    rows = {
        0: {"verdict": " Accept "},
        1: {"verdict": "accept", "synonym": "settle", "context": "d0.s2.t0"},
        2: {"verdict": "reject", "reason": "OTHER", "note": "=dull, \u201ctoo\u201d dull"},
    }
    fill(sheet, rows, delimiter=delimiter)
    found = read_curation_sheet(sheet, proposals, curator="ann", at="2026-01-01T00:00:00Z")
    assert [one.verdict for one in found] == ["accept", "accept", "reject"]
    assert found[1].choice == ("d0.s2.t0", "settle", "court")
    assert (found[2].reason, found[2].note, found[2].through) == ("other", "=dull, \u201ctoo\u201d dull", "sheet")
    assert append_new_decisions(log, found, proposals) == 3
    assert append_new_decisions(log, found, proposals) == 0
    assert len(log.read()) == 3
    # a new sheet holds what was decided, and reads back as the same
    write_curation_sheet(sheet, proposals, log.latest(proposals))
    again = read_curation_sheet(sheet, proposals, curator="ann", at="2027-01-01T00:00:00Z")
    assert append_new_decisions(log, again, proposals) == 0


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        ({"proposal": "d9"}, "E471"),
        ({"proposal": "d0.s0.t0"}, "E472"),
        ({"verdict": "yes"}, "E463"),
        ({"reason": "context"}, "E463"),
        ({"verdict": "accept", "synonym": "stool"}, "E464"),
        ({"verdict": "reject"}, "E465"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, proposals: tuple[Proposal, ...], cells: dict[str, str], code: str) -> None:
    """Code, file and line; nothing of the sheet is returned."""
    sheet = tmp_path / "sheet.csv"
    write_curation_sheet(sheet, proposals[:2], {})
    fill(sheet, {0: {"verdict": "accept"}, 1: cells})
    with pytest.raises(InputError) as caught:
        read_curation_sheet(sheet, proposals, curator="ann", at="")
    assert caught.value.code == code
    with sheet.open(encoding="utf-8", newline="") as stream:
        reader = csv.reader(stream)
        assert len(next(reader)) == len(next(reader))
        line = reader.line_num + 1
    assert f"{sheet}:{line}" in str(caught.value)


def test_a_decision_on_disk_is_json(tmp_path: Path, proposals: tuple[Proposal, ...]) -> None:
    """One object a line, with every field, so that other programs can read it."""
    DecisionLog(tmp_path, "ann").append(decision(proposals[0], note="caf\u00e9"))
    (line,) = (tmp_path / "decisions" / "ann.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["note"] == "caf\u00e9"
    assert "caf\u00e9" in line
