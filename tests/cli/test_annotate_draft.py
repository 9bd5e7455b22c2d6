"""``lexiscope annotate pool`` and ``draft``: from puns to a pool, and drafts that a person reviews. Made texts."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import Result
from tests.cli.test_annotate_stage import review, rows_of, sentences, under_way, write

from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.items import study_items
from lexiscope.annotation.writing.stages import setup_id_of
from lexiscope.core import catalog
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.subject import Continuation, Decoding

Run = Callable[..., Result]
BEFORE = "It was Monday. Ana was late. Ben was waiting."
__all__ = ["sentences"]


class Helper:
    """A model that cleans "saw" to "see" and writes one precontext; it loses the word *note* each time."""

    subject_id = "causal_lm:made"
    kind = "causal_lm"
    facts = SubjectFacts("causal_lm:made")

    def generate(
        self, prompts: Sequence[str], decoding: Decoding, *, work: object = None, progress: object = None
    ) -> Sequence[Sequence[Continuation]]:
        said = [self._answer(prompt) for prompt in prompts]
        return [[Continuation(text, finish="stop")] for text in said]

    def _answer(self, prompt: str) -> str:
        about = prompt.split("\n\n")[-2]
        return BEFORE if about.startswith("Sentence:") else about.replace("saw", "see").replace("note", "letter")


@pytest.fixture(autouse=True)
def helped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The made model stands behind every spec."""
    monkeypatch.setattr(catalog, "subject", lambda _spec: Helper())


def decide(path: Path) -> list[dict[str, str]]:
    """Accept every draft without a fault, as a person would in a spreadsheet."""
    rows = rows_of(path)
    for row in rows:
        row["verdict"] = "rejected" if row["faults"] else "accepted"
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return rows


def test_drafts_go_through_a_person_to_the_next_study(run: Run, sentences: Path, tmp_path: Path) -> None:
    """Three sentences are cleaned, one loses its word and stays as it was; precontexts follow; items have both."""
    with under_way(sentences) as (frozen, store):
        write(frozen, store, "w1", lambda word: f"We saw the {word}.", n=3)
        review(store)
        ids = [(int(row["id"]), str(row["item_id"])) for row in store.trial_answers()]
    helped = ("--subject", "causal_lm:made", "--device", "cpu")
    done = run("annotate", "draft", "sentences", "--what", "clean", *helped, "--out", "clean.csv")
    assert done.exit_code == 0, done.output
    assert "(3 drafts by causal_lm:made; with faults: 1)" in done.output
    assert sorted(row["faults"] for row in decide(tmp_path / "clean.csv")) == ["", "", "word_not_once"]
    again = run("annotate", "draft", "sentences", "--what", "clean", *helped, "--out", "clean.csv")
    assert again.exit_code != 0
    reviewed = ("--drafts", "clean.csv")
    run("annotate", "draft", "sentences", "--what", "precontext", *helped, *reviewed, "--out", "before.csv")
    decide(tmp_path / "before.csv")
    staged = run("annotate", "stage", "sentences", *reviewed, "--drafts", "before.csv", "--out", "next")
    assert staged.exit_code == 0, staged.output
    items = study_items(
        StudyDefinition(
            name="e", task="story_ending", language="en", items=str(tmp_path / "next" / "story_ending_items.csv")
        )
    )
    texts = {str(item.condition("setup")): item.usages[0].text for item in items}
    words = {setup_id_of(item_id, answer_id): item_id for answer_id, item_id in ids}
    assert texts == {setup: f"We {'saw' if word == 'note' else 'see'} the {word}." for setup, word in words.items()}
    assert {item.condition("precontext") for item in items} == {BEFORE}
    assert {(row["field"], row["drafted_by"]) for row in rows_of(tmp_path / "next" / "provenance.csv")} == {
        ("sentence", "causal_lm:made"),
        ("precontext", "causal_lm:made"),
    }


@pytest.mark.published
def test_puns_make_a_pool_and_examples_are_drafted(
    run: Run, tmp_path: Path, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts of every filter are printed; the pool is an item file once examples were drafted and accepted."""
    monkeypatch.setenv("LEXISCOPE_DATA", str(published))
    (tmp_path / "puns.gold").write_text(
        "a\tbank%1:17:01::\tbank%1:14:00::\nb\tbank%2:40:00::\tbank_on%2:31:11::\n", encoding="utf-8"
    )
    made = run("annotate", "pool", "puns.gold", "--out", "pool.csv", "--subject", "x:y", "--examples", "examples.csv")
    assert made.exit_code == 0, made.output
    assert "1 item;" in made.output
    assert "neither meaning is bound" in made.output
    (row,) = rows_of(tmp_path / "pool.csv")
    assert (row["item_id"], row["target"]) == ("bank-1", "bank")
    assert {one["field"] for one in rows_of(tmp_path / "examples.csv")} <= {"example_1", "example_2"}
    assert run("annotate", "pool", "puns.gold", "--out", "p.csv", "--subject", "x:y").exit_code != 0
