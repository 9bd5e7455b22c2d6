"""A file of words: what it must have, what it may change, and what a chat model is asked in its words."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.scale import Scale
from lexiscope.core.usage import Usage
from lexiscope.tasks.kit.words_file import PromptWords, read_words, words_template

#: made up for this test, in no language
WORDS = """\
task: same_sense
language: qaa
words: {question: "Q1 {target}", question_context: Q2, question_word: Q3, option_t: YEA, option_f: NAY,
  option_undecided: HM, guess: G, revealed: R, fold_guidelines: F}
guidelines: {all: "A **a**", full: FULL, context: CONTEXT, reveal: REVEAL, word: WORD}
prompt: {system: "$guidelines", user: "$question | $text_1 | $text_2 | $options"}
"""
PAIR = Item("i", "d", (Usage("The bank shut", 4, 8), Usage("A bank", 2, 6)))


def written(folder: Path, text: str) -> str:
    """The path of a file with this text."""
    path = folder / "words.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def refused(folder: Path, text: str, task: str = "same_sense") -> str:
    """Why a file is refused."""
    with pytest.raises(InputError) as caught:
        read_words(written(folder, text), catalog.screen(task))
    return str(caught.value)


def test_a_choice_is_asked_in_the_words_of_the_file(tmp_path: Path) -> None:
    """Guidelines of everybody and of the view, question, options: all of the file; its language is the question's."""
    asked = catalog.task("same_sense").asks
    assert asked is not None
    question = asked(PAIR, variant=written(tmp_path, WORDS))
    assert question.language == "qaa"
    assert question.messages[0].content == "A **a**\n\nFULL"
    assert question.messages[1].content.startswith("Q1 bank | ")
    assert [option.names[1] for option in question.options] == ["YEA", "NAY"]


def test_a_language_of_the_package_needs_only_what_changes(tmp_path: Path) -> None:
    """The question of relatedness in other words; guidelines and anchors stay, on the scale of the item."""
    text = 'task: relatedness\nlanguage: en\nprompt: {user: "$question $low to $high: $plain_1"}\n'
    text += 'words: {question: "How close is {target}?"}\n'
    asks = catalog.task("relatedness").asks
    assert asks is not None
    item = Item("i", "d", PAIR.usages, scale=Scale(1, 7))
    question = asks(item, variant=written(tmp_path, text))
    assert [message.content for message in question.messages] == ["How close is bank? 1 to 7: The bank shut"]
    assert question.scale is not None
    assert question.scale.anchors == ((1.0, "not related at all"), (7.0, "the same meaning"))


def test_all_missing_words_are_named_at_once(tmp_path: Path) -> None:
    """What a page or a prompt in another language lacks, by the names of the file; an empty text is none."""
    why = refused(
        tmp_path, "task: relatedness\nlanguage: qaa\nwords: {question: Q, question_words: ''}\n", "relatedness"
    )
    assert "words.question_words, anchors.1, anchors.5, guidelines.all, prompt.user" in why
    assert "words.question," not in why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (WORDS.replace("same_sense", "relatedness", 1), "these are words of the task 'relatedness'"),
        (WORDS.replace("guess:", "gess:"), "unknown name 'gess' in words"),
        (WORDS.replace("{target}", "{tarret}"), "{tarret} in words.question cannot be filled in"),
        (WORDS + "anchors: [{point: 1, text: no}]\n", "is not on the scale of the task (it has none)"),
        (WORDS.replace("prompt:", "promt:"), "unknown name 'promt'"),
    ],
)
def test_mistakes_are_named_with_their_line(tmp_path: Path, text: str, why: str) -> None:
    """Another task, an unknown name, a name in braces that nothing fills in, a point off the scale."""
    told = refused(tmp_path, text)
    assert why in told
    assert "words.yaml:" in told


def test_another_language_than_the_files_is_refused(tmp_path: Path) -> None:
    """The option language and the file's language differ: which one is meant is not guessed."""
    asks = catalog.task("same_sense").asks
    assert asks is not None
    with pytest.raises(InputError, match="the words are in 'qaa', and the language 'es' is asked for"):
        asks(PAIR, language="es", variant=written(tmp_path, WORDS))


@pytest.mark.parametrize("task", ["relatedness", "plausibility", "same_sense", "substitution", "word_intrusion"])
def test_a_template_has_every_name_and_nothing_else(tmp_path: Path, task: str) -> None:
    """An empty template is refused for what it leaves empty alone: it has all names, and no strange one."""
    screen = catalog.screen(task)
    text = words_template(screen, "qaa", texts={}, about_you={}, pages=("Next",), prompt=PromptWords(user="$options"))
    why = refused(tmp_path, text, task)
    names = [f"words.{key}" for key in screen.words("en")]
    names += [f"guidelines.{part or 'all'}" for part in screen.guideline_sections("en")]
    assert all(name in why for name in (*names, "prompt.user"))
