"""``lexiscope annotate stage``: three studies, one after the other, over the command line. Made texts; nobody's."""

from __future__ import annotations

import csv
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import Result

from lexiscope.annotation.store.record import BrowserAnswer, Phase, Review, State, Verdict
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import CatchSection, Codes, Payment, PoolSection, RatingsSection
from lexiscope.annotation.study_file.definition_file import definition_yaml, read_definition
from lexiscope.annotation.study_file.freeze import FrozenStudy
from lexiscope.annotation.study_file.study_folder import copy_inputs, read_study

Run = Callable[..., Result]
POOL = """\
item_id,sentence_1,target,sense_1,example_1,sense_2,example_2
bank,bank,bank,where money is kept,Pay at the bank.,the side of a river,The bank was muddy.
seal,seal,seal,an animal of the sea,A seal swam by.,a stamp of wax,The seal was broken.
note,note,note,a short text,She left a note.,a sound in music,He sang a high note.
"""
BEFORE = "It was Monday. Ana was late. Ben was waiting."


def made_ready(path: Path, **changes: object) -> None:
    """Write into a draft what only a researcher can write."""
    draft = read_definition(path).definition
    wanted: dict[str, object] = {
        "texts": draft.texts.model_copy(update={"consent": "I agree."}),
        "ethics": "A test: nobody is asked.",
        "codes": Codes(completion="AAA", screen_out="BBB", no_consent="CCC"),
        "payment": Payment(amount=3, minutes=15),
        "catch": CatchSection(per_list=0),
        "exclusions": (),
    }
    path.write_text(definition_yaml(draft.model_copy(update=wanted | changes)), encoding="utf-8")


@contextmanager
def under_way(file: Path) -> Iterator[tuple[FrozenStudy, Store]]:
    """A study that is open in another process, as far as the command line can see: its folder is locked."""
    study = read_study(file)
    frozen = study.freeze()
    with Store.open(study.folder, frozen.record, has_place=frozen.has_place, unsafe_fast=True) as store:
        copy_inputs(study)
        yield frozen, store


def write(frozen: FrozenStudy, store: Store, name: str, make: Callable[[str], str], *, n: int) -> list[BrowserAnswer]:
    """Somebody who writes *n* texts, each made from its item's word."""
    who = store.invite(name)
    store.record_consent(who, text="I agree.", version="1")
    store.change_state(who, State.QUALIFIED, reason="test")
    lease = store.take_place(who, choose=frozen.choose)
    trials = frozen.trials(lease.list_id, number=lease.ordinal)[:n]
    drawn = frozen.screen.drawn
    store.lay_out(who, Phase.TRIALS, trials[:1] if drawn else trials)
    store.change_state(who, State.ACTIVE, reason="begins")
    sent = []
    for position, trial in enumerate(trials):
        if drawn and position:
            store.extend(who, Phase.TRIALS, frozen.drawn_trial(trial.item_id, number=lease.ordinal))
        text = make(frozen.items[trial.item_id].usages[0].target)
        sent.append(BrowserAnswer(who, trial.item_id, Phase.TRIALS, f"key-{position}", position, text=text))
        store.submit(sent[-1])
    return sent


def review(store: Store, *, reject: Sequence[int] = (), wait: Sequence[int] = (), clean: str | None = None) -> None:
    """Accept every text but those by these numbers; the first one is edited."""
    rows = sorted(store.trial_answers(), key=lambda row: int(row["id"]))
    for number, row in enumerate(rows):
        verdict: Verdict = "rejected" if number in reject else "accepted"
        text = clean if number == 0 else None
        if number not in wait:
            store.record_review(Review(int(row["id"]), verdict, "a test", text, "editor", "2026-03-01T12:00:00+00:00"))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def fill_in(path: Path) -> None:
    """Write a precontext before each accepted sentence, as a spreadsheet would."""
    rows = rows_of(path)
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]))
        table.writeheader()
        table.writerows(row | {"precontext": BEFORE if row["status"] == "accepted" else ""} for row in rows)


def next_command(done: Result) -> list[str]:
    """The command that the output names as the next one."""
    lines = done.output.splitlines()
    found = next(line for line in lines if line.removeprefix("Next: ").startswith("lexiscope annotate"))
    return shlex.split(found.removeprefix("Next: "))[1:]


@pytest.fixture
def sentences(run: Run, tmp_path: Path) -> Path:
    """A study of sentences: two people wrote for three words each."""
    (tmp_path / "pool.csv").write_text(POOL, encoding="utf-8")
    task = ("--task", "ambiguous_sentence", "--language", "en")
    done = run("annotate", "init", "--items", "pool.csv", *task, "--out", "sentences.yaml")
    assert done.exit_code == 0, done.output
    made_ready(
        tmp_path / "sentences.yaml", pool=PoolSection(per_person=3, at_most=2), ratings=RatingsSection(per_item=2)
    )
    return tmp_path / "sentences.yaml"


def test_three_studies_over_the_command_line(run: Run, sentences: Path, tmp_path: Path) -> None:
    """AmbiStory §3.2 to §3.4: of six sentences one is rejected and one waits: four setups; eight endings by two
    writers make 4 · 3 stories and 4 · 6 samples. Each study's server runs while its stage is written, and every
    command is the one that the stage before has printed."""
    with under_way(sentences) as (frozen, store):
        for name in ("w1", "w2"):
            write(frozen, store, name, lambda word: f"We saw the {word}.", n=3)
        first = min(store.trial_answers(), key=lambda row: int(row["id"]))
        word = frozen.items[str(first["item_id"])].usages[0].target
        review(store, reject=[1], wait=[2], clean=f"They all saw the {word}.")
        done = run("annotate", "stage", "sentences", "--out", "next")
    assert done.exit_code == 0, done.output
    assert "Accepted: 4, rejected: 1, not reviewed: 1\nSetups: 4\n" in done.output
    table = rows_of(tmp_path / "next" / "sentences.csv")
    assert Counter(row["status"] for row in table) == {"accepted": 4, "rejected": 1, "not reviewed": 1}
    assert table[0]["sentence_raw"] == f"We saw the {word}."
    assert table[0]["sentence_clean"] == f"They all saw the {word}."
    assert {row["precontext"] for row in table} == {""}

    fill_in(tmp_path / "next" / "sentences.csv")
    done = run(*next_command(done))
    assert done.exit_code == 0, done.output
    made = rows_of(tmp_path / "next" / "story_ending_items.csv")
    assert len(made) == 4 * 2
    assert {row["precontext"] for row in made} == {BEFORE}
    done = run(*next_command(done))
    assert done.exit_code == 0, done.output
    made_ready(tmp_path / "story_ending.yaml")
    endings(run, tmp_path)
    done = run("annotate", "stage", "story_ending", "--out", "next")
    assert done.exit_code == 0, done.output
    assert "Setups: 4, stories: 12, samples: 24" in done.output
    samples = rows_of(tmp_path / "next" / "plausibility_items.csv")
    assert Counter(row["intended"] for row in samples) == {"yes": 8, "no": 8, "open": 8}
    done = run(*next_command(done))
    assert done.exit_code == 0, done.output
    made_ready(tmp_path / "plausibility.yaml")
    assert "24 items" in run("annotate", "design", "plausibility.yaml").output


def endings(run: Run, tmp_path: Path) -> None:
    """Two people write the endings of the four setups; while one ending waits, three setups are complete."""
    with under_way(tmp_path / "story_ending.yaml") as (frozen, store):
        for name in ("e1", "e2"):
            met = write(frozen, store, name, lambda _word: "And so they left.", n=4)
            assert len({frozen.items[one.item_id].conditions["setup"] for one in met}) == 4
        review(store, wait=[0])
        early = run("annotate", "stage", "story_ending", "--out", "early")
        assert (early.exit_code, "E648" in early.output) == (1, True)
        assert "not reviewed: 1\nSetups: 4 (incomplete: 1), stories: 9, samples: 18" in early.output
        assert len(rows_of(tmp_path / "early" / "endings.csv")) == 8
        assert not (tmp_path / "early" / "plausibility_items.csv").exists()
        done = run("annotate", "stage", "story_ending", "--out", "early", "--leave-out-incomplete")
        assert done.exit_code == 0, done.output
        assert len(rows_of(tmp_path / "early" / "plausibility_items.csv")) == 18
        review(store)


def test_what_was_filled_in_is_never_written_over(run: Run, sentences: Path, tmp_path: Path) -> None:
    """The same table again is no change; over a filled-in one nothing is written; nor are items without precontext."""
    with under_way(sentences) as (frozen, store):
        write(frozen, store, "w1", lambda word: f"We saw the {word}.", n=3)
        review(store)
    for _ in range(2):
        assert run("annotate", "stage", "sentences.yaml", "--out", "next").exit_code == 0
    table = tmp_path / "next" / "sentences.csv"
    text = table.read_text(encoding="utf-8").replace("accepted,a test,\n", f"accepted,a test,{BEFORE}\n", 2)
    assert text.count(BEFORE) == 2
    table.write_text(text, encoding="utf-8")
    again = run("annotate", "stage", "sentences", "--out", "next")
    assert (again.exit_code, "E615" in again.output) == (1, True)
    assert table.read_text(encoding="utf-8") == text
    options = ("annotate", "stage", "sentences", "--precontexts", "next/sentences.csv", "--out", "next")
    lacking = run(*options)
    assert (lacking.exit_code, "E647" in lacking.output, "1 of 3" in lacking.output) == (1, True, True)
    assert not (tmp_path / "next" / "story_ending_items.csv").exists()
    assert run(*options, "--leave-out-incomplete").exit_code == 0
    assert len(rows_of(tmp_path / "next" / "story_ending_items.csv")) == 4


def test_precontexts_of_rejected_sentences_are_said(run: Run, sentences: Path, tmp_path: Path) -> None:
    """A precontext whose sentence is not accepted (any more) is named, not silently left out."""
    with under_way(sentences) as (frozen, store):
        write(frozen, store, "w1", lambda word: f"We saw the {word}.", n=1)
        review(store)
        (row,) = store.trial_answers()
    (tmp_path / "p.csv").write_text(
        f"setup_id,precontext\n{row['item_id']}_{row['id']},{BEFORE}\nbank_99,{BEFORE}\n", encoding="utf-8"
    )
    done = run("annotate", "stage", "sentences", "--precontexts", "p.csv", "--out", "next")
    assert done.exit_code == 0, done.output
    assert "bank_99" in done.output
    assert len(rows_of(tmp_path / "next" / "story_ending_items.csv")) == 2


def test_what_is_no_stage_is_refused(run: Run, sentences: Path, tmp_path: Path) -> None:
    """A study that nobody has begun has nothing; one of ratings feeds no other; a missing file is named."""
    begun = run("annotate", "stage", "sentences.yaml", "--out", "next")
    assert (begun.exit_code, "E001" in begun.output) == (1, True)
    with under_way(sentences):
        pass
    gone = run("annotate", "stage", "sentences", "--precontexts", "none.csv", "--out", "next")
    assert (gone.exit_code, "none.csv" in gone.output) == (1, True)
    empty = run("annotate", "stage", "sentences", "--out", "next")
    assert (empty.exit_code, "Setups: 0" in empty.output) == (0, True)
    assert run("annotate", "stage", "nowhere", "--out", "next").exit_code == 1
    (tmp_path / "rated.csv").write_text(
        "item_id,sentence_1,sentence_2,target\na,The bank was shut.,The bank was muddy.,bank\n", encoding="utf-8"
    )
    assert run("annotate", "init", "--items", "rated.csv", "--language", "en", "--out", "rated.yaml").exit_code == 0
    made_ready(tmp_path / "rated.yaml")
    with under_way(tmp_path / "rated.yaml"):
        pass
    refused = run("annotate", "stage", "rated", "--out", "next")
    assert (refused.exit_code, "E652" in refused.output) == (1, True)
