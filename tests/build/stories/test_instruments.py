"""The paper's instruments: whole words, balanced marks, and right answers, whatever the text extraction did to them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import get_args

import pytest

from lexiscope.annotation.study_file.launch import launch_problems
from lexiscope.annotation.study_file.template import draft_definition
from lexiscope.build.stories.instruments import (
    FOLDER,
    Instrument,
    drafting_prompt,
    prediction_prompt,
    published_guidelines,
    published_page,
    published_qualification,
    read_instrument,
    training_prompt,
)
from lexiscope.core import catalog
from lexiscope.core.errors import InputError

pytestmark = pytest.mark.published


def words(text: str) -> list[str]:
    """The letters and digits of a text in their order, so that breaks, hyphens and marks do not count."""
    return list(re.sub(r"[^a-z0-9]", "", text.lower()))


@pytest.mark.parametrize("name", get_args(Instrument))
def test_mending_changes_no_word(published: Path, name: Instrument) -> None:
    """Every letter of the file is there, but for the authors' remarks; no paragraph goes on in the next one."""
    parts = read_instrument(name)
    assert sum(part.count("**") for part in parts) % 2 == 0 or name == "b3_prediction_four_shot"
    assert not [part for part in parts if re.match(r"[a-z]", part) or part.endswith("-")]
    raw = (published / FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    kept = [
        part for part in re.split(r"\n\s*\n", raw)
        if not re.match(r"A\.|The following are|Please note that the|only added|We ", part.strip())
    ]  # fmt: skip
    assert words("".join(parts)) == words("".join(kept))


def test_the_prompt_of_b3_with_and_without_its_examples(published: Path) -> None:
    """With all four it has the words of the file, the item's place filled; without, what stands before and behind."""
    raw = (published / FOLDER / "b3_prediction_four_shot.txt").read_text(encoding="utf-8")
    expected = raw.replace("pre-context ****sentence**** ending", "story").replace("word sense}", "sense}")
    assert words(prediction_prompt(4).replace("target", "word")) == words(expected)
    before, behind = raw.index("Take a look at the following examples"), raw.index("Now take a look")
    bare = raw[:before] + raw[behind:].replace("pre-context ****sentence**** ending", "story")
    assert words(prediction_prompt(0).replace("target", "word")) == words(bare.replace("word sense}", "sense}"))
    lines = prediction_prompt(4).splitlines()
    assert [line[-1] for line in lines if line.startswith("Correct answer")] == ["1", "3", "2", "5"]
    assert [line.count("**") for line in lines if line.count("**") > 2] == []
    assert prediction_prompt(4).count("**") == 1 + 2 * (5 + 4)
    assert {"${story}", "${target}", "${sense}"} == set(re.findall(r"\$\{\w+\}", prediction_prompt(2)))
    assert "${example}" in training_prompt()


def test_the_prompts_for_drafts_take_what_people_wrote_as_it_is(published: Path) -> None:
    """B.1 and B.2: braces in a text stay braces, and a place without a text is refused."""
    clean = drafting_prompt("b1_clean_ending", {"sentence": "A {ending} shuts.", "ending": "It rains."})
    assert '"A {ending} shuts."' in clean
    assert clean.endswith("return the original sentence again.")
    places = {"sentence": "S.", "homonym": "bank", "word sense 1": "money", "word sense 2": "river"}
    assert 'the word bank can mean either "money" or "river"' in drafting_prompt("b2_precontext", places)
    with pytest.raises(InputError, match="not the instrument b2_precontext"):
        drafting_prompt("b2_precontext", {"sentence": "S."})


def test_guidelines_and_the_qualification_in_both_versions(published: Path) -> None:
    """A.2.1 to A.2.3 have their headings; A.3: hard and fan are rated 1, lousy and beat 5."""
    names: tuple[Instrument, ...] = (
        "a21_guidelines_sentence", "a22_guidelines_ending", "a23_guidelines_plausibility"
    )  # fmt: skip
    heads = [re.findall(r"^## (.+)$", published_guidelines(name), re.MULTILINE) for name in names]
    assert [len(own) for own in heads] == [5, 4, 4]
    assert {own[1] for own in heads} == {"Overview"}
    stories = published_qualification()
    assert {story.word: story.rated_question().accept for story in stories} == {
        "hard": 1, "lousy": 5, "fan": 1, "beat": 5
    }  # fmt: skip
    chosen = {story.word: story.chosen_question("a_task") for story in stories}
    rights = {word: asked.shows["glosses"].split("|")[int(asked.accept) - 1] for word, asked in chosen.items()}
    assert {word: right.split()[0] for word, right in rights.items()} == {
        "hard": "difficult", "lousy": "very", "fan": "a", "beat": "come"
    }  # fmt: skip


@pytest.fixture
def with_pages(published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A data folder whose instruments have the texts of appendix C, too, as a user cuts them from the paper's text."""
    paper = published.parent / "papers" / "ambistory.txt"
    if not paper.is_file():
        pytest.skip("the text of the paper is not at hand")
    text = paper.read_text(encoding="utf-8")
    pages = text[text.index("C Annotation Interface") :]
    shutil.copytree(published / FOLDER, tmp_path / FOLDER)
    (tmp_path / FOLDER / "c_interface.txt").write_text(pages, encoding="utf-8")
    monkeypatch.setenv("LEXISCOPE_DATA", str(tmp_path))
    return " ".join(pages.split()).replace("*", "")


@pytest.mark.parametrize(
    ("task", "named"),
    [
        ("ambiguous_sentence", {"stuck": {}, "question": {"target": "point"}}),
        ("story_ending", {"read_story": {}, "intended": {"word": "resistance"}, "question": {"target": "resistance"}}),
        ("plausibility", {"asked": {}, "flag_nonsensical": {}}),
    ],
)
def test_texts_of_a_page_are_those_of_the_figure(with_pages: str, task: str, named: dict[str, dict[str, str]]) -> None:
    """Figures 2 to 4, cut into the data folder: the figure's word is open, all other words are the figure's."""
    items = catalog.module("tasks", task).example_items("en")  # type: ignore[attr-defined]
    made = draft_definition(items, task=task, items_file="i.csv", language="en", name="s", published=True)
    assert set(made.words.task) == set(named)
    for key, values in named.items():
        assert f" {made.words.task[key].format(**values)} " in with_pages
        assert len(values) == made.words.task[key].count("{")
    assert [problem for problem in launch_problems(made, items) if "words" in problem.keys] == []


def test_a_page_in_other_words_is_no_page_of_the_paper(with_pages: str) -> None:
    """A file that lacks a paragraph is refused by name; without the file there is nothing, and the words are ours."""
    assert with_pages
    with pytest.raises(InputError, match="not the instrument c_interface"):
        published_page({"asked": "Some other words"})
    with pytest.raises(InputError, match="the word 'pay' in the paragraph"):
        published_page({"asked": "Given the context"}, word="pay", place="{target}")


def test_anchors_of_the_paper(published: Path) -> None:
    """A.2.3: every point of the study's scale has the words of the guidelines, which list them."""
    items = catalog.module("tasks", "plausibility").example_items("en")  # type: ignore[attr-defined]
    made = draft_definition(items, task="plausibility", items_file="i", language="en", name="s", published=True)
    assert [anchor.point for anchor in made.scale.anchors] == [1, 2, 3, 4, 5]
    lines = "\n".join(f"- **{anchor.point:g}:** {anchor.text}." for anchor in made.scale.anchors)
    assert lines in made.texts.instructions
    assert made.words.task == {}
    own = draft_definition(items, task="plausibility", items_file="i", language="en", name="s")
    assert {anchor.text for anchor in own.scale.anchors}.isdisjoint(anchor.text for anchor in made.scale.anchors)


@pytest.mark.parametrize("task", ["ambiguous_sentence", "story_ending", "plausibility"])
def test_a_study_in_the_words_of_the_paper(published: Path, task: str) -> None:
    """Its qualification can be shown and answered: launch finds nothing to say of it; other languages are refused."""
    items = catalog.module("tasks", task).example_items("en")  # type: ignore[attr-defined]
    made = draft_definition(items, task=task, items_file="i.csv", language="en", name="s", published=True)
    assert [question.id for question in made.qualification] == ["q_hard", "q_lousy", "q_fan", "q_beat"]
    assert "qualification test" in made.texts.instructions
    problems = [problem for problem in launch_problems(made, items) if "qualification" in problem.keys]
    assert problems == []
    with pytest.raises(InputError, match="are in English"):
        draft_definition(items, task=task, items_file="i.csv", language="es", name="s", published=True)
    relatedness = catalog.module("tasks", "relatedness").example_items("en")  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="No paper has instructions"):
        draft_definition(relatedness, task="relatedness", items_file="i", language="en", name="s", published=True)
