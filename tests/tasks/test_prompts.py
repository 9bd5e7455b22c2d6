"""What chat models are asked (A23, S36): snapshots of every prompt, and what must never stand in one.

After a change that is meant, ``pytest tests/tasks/test_prompts.py --snapshot-update`` writes the snapshots anew.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.amber import AmberSnapshotExtension
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

from lexiscope.core import catalog
from lexiscope.core.errors import DataError, InputError
from lexiscope.core.item import Item
from lexiscope.core.prompt import ChatQuestion, Message
from lexiscope.core.screen import Screen
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.views import view_item
from lexiscope.resources import fetch
from lexiscope.tasks.kit.asking import variants_of, without_examples

ASKED = tuple(name for name in catalog.names("tasks") if catalog.task(name).asks is not None)
PROMPTS = tuple(
    (name, language, variant)
    for name in ASKED
    for language, variant in variants_of(catalog.screen(name).folder / "prompt.txt")
)
JAM = Usage("He looked at the jam.", 17, 20, language="en")
STORY = Item(
    "ambistory/17",
    "ambistory",
    (JAM,),
    conditions={
        "precontext": "\nIt was early. ",
        "ending": "Then he honked.",
        "sense": "cars",
        "example": "A jam on the A5.",
    },
)


def examples(name: str, language: str) -> tuple[Item, ...]:
    return catalog.module("tasks", name).example_items(language)  # type: ignore[attr-defined]


def ask(name: str, item: Item, **how: object) -> ChatQuestion:
    asks = catalog.task(name).asks
    assert asks is not None
    return asks(item, **how)  # type: ignore[arg-type]


def text_of(question: ChatQuestion) -> str:
    return "\n".join(f"[{message.role}]\n{message.content}" for message in question.messages)


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_every_task_that_people_see_can_be_asked() -> None:
    """A task with a page has a prompt in English and Spanish; minimal pairs are scored, not asked."""
    assert set(ASKED) == {name for name in catalog.names("tasks") if hasattr(catalog.module("tasks", name), "SCREEN")}
    for name in ASKED:
        assert {("en", "guidelines"), ("es", "guidelines")} <= set(
            variants_of(catalog.screen(name).folder / "prompt.txt")
        )


class OfTask(AmberSnapshotExtension):
    """Keeps the prompts of each task in a file of their own: a new task changes no existing file."""

    @classmethod
    def get_file_basename(cls, *, test_location: PyTestLocation, index: SnapshotIndex) -> str:
        return f"{test_location.basename}_{test_location.snapshot_name.partition('[')[2].partition('-')[0]}"

    @classmethod
    def matches_test_location(cls, *, test_location: PyTestLocation, snapshot_location: str) -> bool:
        return Path(snapshot_location).stem.startswith(f"{test_location.basename}_")


@pytest.mark.parametrize(("name", "language", "variant"), PROMPTS)
def test_the_prompt_is_this(name: str, language: str, variant: str, snapshot: SnapshotAssertion) -> None:
    """A23: the exact prompt of every task, language and variant, without shots, and how it is drawn."""
    question = ask(name, examples(name, language)[-1], language=language, variant=variant)
    drawn = f"temperature {question.temperature}, at most {question.max_tokens} tokens"
    assert f"{text_of(question)}\n\n{drawn}" == snapshot(extension_class=OfTask)


@pytest.mark.parametrize("name", ASKED)
def test_shots_are_the_task_s_own_examples(name: str) -> None:
    """Each shot is two turns before the item: the example asked in the same words, and its right answer alone."""
    *others, item = examples(name, "en")
    question = ask(name, item, shots=len(others))
    roles = [message.role for message in question.messages]
    assert roles == ["system", *["user", "assistant"] * len(others), "user"]
    assert question.shots == len(others)
    assert (question.messages[0], question.messages[-1]) == ask(name, item).messages
    for number, example in enumerate(others):
        asked, answered = question.messages[1 + 2 * number : 3 + 2 * number]
        assert asked == ask(name, example).messages[-1]
        values = [option.value for option in question.options]
        named = [each.names[0] for each in ask(name, example).options if each.value == example.gold]
        assert answered == Message("assistant", named[0] if values else example.gold or "")


@pytest.mark.parametrize("name", ASKED)
def test_zero_shots_are_zero(name: str) -> None:
    """Without shots no worked example is told: the guidelines are quoted without theirs."""
    for language in ("en", "es"):
        first, *others = examples(name, language)
        told = text_of(ask(name, first))
        for example in others:
            texts = [usage.text for usage in example.usages if usage.text not in [u.text for u in first.usages]]
            assert not [text for text in texts if text in told and len(text.split()) > 1]


@pytest.mark.parametrize("name", ASKED)
def test_the_guidelines_are_those_of_people(name: str) -> None:
    """All that people read is told, apart from the examples and the passages that the file names as not quoted."""
    screen: Screen = catalog.screen(name)
    path = screen.folder / "prompt.txt"
    for language in ("en", "es"):
        not_quoted = [one_line(screen.on_scale(line, language)) for line in prompt_lines(path, language)]
        told = one_line(ask(name, examples(name, language)[0]).messages[0].content)
        left = one_line(without_examples(screen.guidelines(language, views=("full",))))
        whole = one_line(screen.guidelines(language))
        for passage in not_quoted:
            assert passage in whole, passage
            left = one_line(left.replace(passage, ""))
        assert left.replace(" .", ".").replace(" ", "") in told.replace(" ", "")


def prompt_lines(path: Path, language: str) -> list[str]:
    section = path.read_text(encoding="utf-8").split(f"# {language}\n", 1)[1].split("\n# ")[0]
    return section.split("## not quoted\n")[1].splitlines() if "## not quoted\n" in section else []


@pytest.mark.parametrize(("name", "language", "variant"), PROMPTS)
def test_nothing_but_the_item_s_own_texts_is_told(name: str, language: str, variant: str) -> None:
    """ambistory.md §7.4: row order, ids, group, split, gold and the sibling's sense change nothing of what is told."""
    item = examples(name, language)[0]
    hidden = {"setup": "s77", "story": "st77", "group": 77, "intention": "intended", "split": "test", "row": 77}
    sibling = {
        "sibling_sense": "seventy-seven",
        "other_sense": "seventy-seven",
        "story_kind": "ended",
        "homonym": "seventy",
    }
    usages = tuple(replace(usage, sense="seventy-seven") for usage in item.usages)
    other = replace(
        item,
        item_id="ambistory/7777",
        dataset="another",
        gold=item.gold and "seventy-seven",
        list_id="list 77",
        usages=usages,
        conditions={**item.conditions, **hidden, **sibling},
    )
    asked = ask(name, other, language=language, variant=variant)
    assert asked == ask(name, item, language=language, variant=variant)
    assert "77" not in text_of(asked)
    assert "seventy" not in text_of(asked)


@pytest.mark.parametrize("name", ASKED)
def test_a_hidden_target_is_not_told(name: str) -> None:
    """In the view ``context`` the target stands nowhere in the prompt."""
    if "context" not in catalog.screen(name).views:
        return
    first, second = examples(name, "en")[:2]
    targets = {usage.target for item in (first, second) for usage in item.usages}
    told = text_of(ask(name, view_item(first, "context"), view="context", shots=0))
    shot = text_of(ask(name, view_item(second, "context"), view="context", shots=1))
    assert not [target for target in targets if target in told or target in shot.split("[user]")[-1]]


def test_the_ambiguous_sentence_stands_between_asterisks() -> None:
    """A23: with the precontext stripped (spec §1); an open story ends there."""
    assert (
        "It was early. **He looked at the jam.** Then he honked.\n" in ask("plausibility", STORY).messages[-1].content
    )
    opened = replace(STORY, conditions={**STORY.conditions, "ending": ""})
    assert "It was early. **He looked at the jam.**\n" in ask("plausibility", opened).messages[-1].content


@pytest.mark.published
def test_the_published_prompt_of_ambistory(published: Path) -> None:
    """B.3: one message, the meaning without its example; zero-shot or with its own four examples in the message."""
    question = ask("plausibility", STORY, variant="published")
    assert [message.role for message in question.messages] == ["user"]
    *_, asked, answer = question.messages[0].content.split("\n\n")
    assert asked.endswith('the word "jam" is "cars"?')
    assert answer.endswith("anything else!")
    assert "It was early. **He looked at the jam.** Then he honked.\n" in question.messages[0].content
    assert "A5" not in question.messages[0].content
    assert question.temperature == 0
    for shots in range(5):
        several = ask("plausibility", STORY, variant="published", shots=shots)
        assert [message.role for message in several.messages] == ["user"]
        assert several.messages[0].content.count("Correct answer: ") == shots == several.shots
    with pytest.raises(InputError, match="has 4 examples"):
        ask("plausibility", STORY, variant="published", shots=5)
    with pytest.raises(InputError, match="not written in 'es'"):
        ask("plausibility", examples("plausibility", "es")[0], variant="published")
    shown = Usage("The bat flew out of the cave.", 4, 7, language="en")
    bat = replace(STORY, usages=(shown,), conditions={**STORY.conditions, "precontext": "", "ending": ""})
    assert ask("plausibility", bat, variant="published").shots == 0
    with pytest.raises(InputError, match="one of the worked examples"):
        ask("plausibility", bat, variant="published", shots=1)


@pytest.mark.published
def test_the_training_string_of_ambistory(published: Path) -> None:
    """§5.3.1: the story without marks, then the string with the example of the meaning; no shots."""
    (message,) = ask("plausibility", STORY, variant="published_training").messages
    story, string = message.content.split("\n\n")
    assert story == "It was early. He looked at the jam. Then he honked."
    assert "of the word jam is cars (as in: A jam on the A5.)?" in string
    with pytest.raises(InputError, match="no worked examples"):
        ask("plausibility", STORY, variant="published_training", shots=4)


def test_without_the_data_folder_the_published_prompt_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says which file is looked for, where, and whence it comes; an unknown variant names those there are."""
    monkeypatch.setenv("LEXISCOPE_DATA", str(tmp_path))
    monkeypatch.setattr(fetch, "cache_folder", lambda: tmp_path / "cache")
    with pytest.raises(DataError) as caught:
        ask("plausibility", STORY, variant="published", shots=4)
    assert "ambistory/instruments/b3_prediction_four_shot.txt is not here" in caught.value.what
    assert str(tmp_path / "ambistory" / "instruments") in str(caught.value.why)
    assert "appendices of the paper" in str(caught.value.hint)
    with pytest.raises(InputError, match="no variant 'other'") as unknown:
        ask("plausibility", STORY, variant="other")
    assert unknown.value.hint == "use one of guidelines, published, published_training"


def test_the_prompt_of_saw_c() -> None:
    """SAW-C A.4.1: what participants read, then the question again with the item, and the request of one number."""
    first, other = Usage("Vio el banco", 7, 12, language="es"), Usage("Abrió el banco", 9, 14, language="es")
    question = ask("relatedness", Item("i", "d", (first, other)), variant="saw_c")
    assert [message.role for message in question.messages] == ["system", "user"]
    assert question.messages[0].content.startswith("Verá una palabra y, debajo, dos oraciones")
    asked, item, request = question.messages[1].content.split("\n\n")
    assert asked.startswith("¿Hasta qué punto están relacionados los significados de «banco»")
    assert asked.endswith("del 1 (totalmente sin relación) al 5 (mismo significado).")
    assert item == "Vio el banco\nAbrió el banco\nPalabra: banco"
    assert request == "Responda con un solo número del 1 al 5 y nada más."
    assert "solo número" not in question.messages[0].content
    assert (question.temperature, question.max_tokens, question.language) == (0, 3, "es")
    with pytest.raises(InputError, match="not written in 'en'"):
        ask("relatedness", Item("i", "d", (first, other)), variant="saw_c", language="en")


def test_the_language_is_the_item_s() -> None:
    """A question is asked in the language of its item unless another is asked for; an unstated one is English."""
    assert ask("plausibility", STORY).language == "en"
    assert ask("plausibility", examples("plausibility", "es")[0]).language == "es"
    assert "Responda" in text_of(ask("plausibility", STORY, language="es-MX"))
    unstated = replace(STORY, usages=(Usage(JAM.text, 17, 20),))
    assert ask("plausibility", unstated).language == "en"
    with pytest.raises(InputError, match="not written in 'fr'"):
        ask("plausibility", STORY, language="fr")


def test_what_cannot_be_asked() -> None:
    """More shots than examples, an unknown variant, and an item that is one of its own shots, are refused by name."""
    with pytest.raises(InputError, match="9 shots are asked for, the task has 4 examples") as caught:
        ask("plausibility", STORY, shots=9)
    assert caught.value.hint == "use shots=4 or fewer"
    with pytest.raises(InputError, match="no variant 'other'"):
        ask("plausibility", STORY, variant="other")
    with pytest.raises(InputError, match="one of the worked examples"):
        ask("plausibility", examples("plausibility", "en")[0], shots=1)


@pytest.mark.published
def test_no_shot_is_an_item_of_the_data(published: Path) -> None:
    """The worked examples of plausibility are none of AmbiStory's sentences or stories."""
    released = set()
    for path in sorted((published / "ambistory").glob("*.json")):
        rows = json.loads(path.read_text(encoding="utf-8"))
        released |= {row["sentence"].strip() for row in (rows.values() if isinstance(rows, dict) else rows)}
    assert len(released) > 500
    assert not released & {item.usages[0].text for item in examples("plausibility", "en")}
