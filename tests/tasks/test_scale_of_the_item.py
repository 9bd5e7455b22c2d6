"""The scale belongs to the item: prompt, scoring, reply, baseline and people's page show the same points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lexiscope.annotation.study_file.template import draft_definition
from lexiscope.collect import collect
from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset, SubjectFacts
from lexiscope.core.errors import InputError, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.prompt import ChatReply
from lexiscope.core.reply import read_reply
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.core.scoring import PRESETS, TokenScores
from lexiscope.items.answers.chat_answers import expected_rating

RAW_C, SCWS, OWN = Scale(0, 4), Scale(0, 10, step=0), Scale.between(1, 100)


def example(task: str, scale: Scale | None, language: str = "en") -> Item:
    found = catalog.module("tasks", task).example_items(language)[0]  # type: ignore[attr-defined]
    return replace(found, scale=scale)


def asked(task: str, scale: Scale | None, language: str = "en", **how: object) -> str:
    question = catalog.task(task).asks(example(task, scale, language), **how)  # type: ignore[misc, arg-type]
    return "\n".join(message.content for message in question.messages)


@pytest.mark.parametrize("task", ["relatedness", "plausibility"])
@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize(("scale", "between"), [(RAW_C, "1, 2, 3"), (SCWS, "1–9"), (OWN, "2–99")])
def test_a_prompt_names_the_points_of_the_item(task: str, language: str, scale: Scale, between: str) -> None:
    """Ends, points between them and every sentence about the scale are the item's; nothing is left of 1 to 5."""
    told = asked(task, scale, language)
    low, high = f"{scale.low:g}", f"{scale.high:g}"
    joined = {"en": f"from {low} to {high}", "es": f"del {low} al {high}"}[language]
    assert told.count(joined) >= 3
    assert f"- **{low}** – " in told
    assert f"- **{between}** – " in told
    assert f"- **{high}** – " in told
    for other in ("from 1 to 5", "del 1 al 5", "**5**", "{"):
        assert other not in told


def test_the_prompt_of_an_item_without_a_scale_is_the_task_s() -> None:
    """1 to 5, as it was: an item that states 1 to 5 is asked in the same words."""
    for task in ("relatedness", "plausibility"):
        assert asked(task, None) == asked(task, Scale(1, 5))
        assert "from 1 to 5" in asked(task, None)


def test_worked_examples_are_answered_on_the_scale_of_the_item() -> None:
    """Shots: 5 of 1 to 5 is 4 of 0 to 4 and 100 of 1 to 100, 3 of 1 to 5 is 2 of 0 to 4."""
    item = replace(example("plausibility", RAW_C), item_id="mine", conditions={
        "precontext": "It rained. ", "ending": "", "sense": "a bird", "example": "A crane flew."})  # fmt: skip
    for scale, expected in ((RAW_C, ["0", "2", "1", "4"]), (None, ["1", "3", "2", "5"])):
        question = catalog.task("plausibility").asks(replace(item, scale=scale), shots=4)  # type: ignore[misc]
        assert [message.content for message in question.messages if message.role == "assistant"] == expected


def test_a_variant_that_names_its_points_is_asked_on_them_alone() -> None:
    """The published prompt of AmbiStory says 1, 2, 3, 4 or 5: on 0 to 4 it is refused, not asked wrongly."""
    with pytest.raises(InputError, match=r"worded for the scale 1 to 5[\s\S]*0 to 4"):
        asked("plausibility", RAW_C, variant="published")


@pytest.mark.parametrize(
    ("scale", "said", "kind"),
    [(RAW_C, "0", "ok"), (RAW_C, "5", "off_scale"), (OWN, "87", "ok"), (OWN, "0", "off_scale"), (SCWS, "7.5", "ok"),
     (SCWS, "8/10", "ok"), (None, "0", "off_scale")],
)  # fmt: skip
def test_a_reply_is_read_on_the_scale_of_the_item(scale: Scale | None, said: str, kind: str) -> None:
    """What counts as an answer is what was asked."""
    question = catalog.task("relatedness").asks(example("relatedness", scale))  # type: ignore[misc]
    assert read_reply(ChatReply(said, "stop"), question).kind == kind


class Letters:
    """A scorer that reads letters; behind a prompt every digit and line break has the probability that is planted."""

    subject_id, kind, policy = "causal_lm:letters", "causal_lm", PRESETS["continuation"]
    facts = SubjectFacts("causal_lm:letters", revision="1")

    def __init__(self, planted: dict[str, float], *, reads_lines: bool = True) -> None:
        self.planted, self.reads_lines = planted, reads_lines

    def score(self, texts: Sequence[str], *, work: Path | None = None, progress: object = None) -> list[TokenScores]:
        return [self._scores(text) for text in texts]

    def _scores(self, text: str) -> TokenScores:
        places = np.array([at for at, letter in enumerate(text) if letter != "\n" or self.reads_lines])
        behind = text.rindex(": ") + 2
        logs = [math.log(self.planted[text[behind : at + 1]]) if at >= behind else 0.0 for at in places]
        return TokenScores(np.array(logs), places, places + 1)


def test_points_of_several_digits_are_compared_as_whole_numbers() -> None:
    """On 0 to 10, "1" begins "10": both are scored with the line break that ends them.

    Planted: 1 has .8 and 0 has .2 as the first digit; after 1, a line ends with .25 and 0 follows with .75. So 10 has
    .8 × .75 = .6 and 1 has .8 × .25 = .2, 0 has .2: the mean is 10 × .6 + 1 × .2 = 6.2. Without the line break 1 would
    have .8.
    """
    planted = {str(digit): 1e-30 for digit in range(10)} | {"0": 0.2, "1": 0.8, "1\n": 0.25, "10": 0.75, "10\n": 1.0}
    planted |= {f"{digit}\n": 1.0 for digit in (0, *range(2, 10))}
    table = collect([example("relatedness", SCWS)], [Letters(planted)], "relatedness")
    values = {row.measure: row.value for row in table.rows() if row.option is None}
    assert values["rating"] == pytest.approx(10 * 0.6 + 1 * 0.2)
    assert values["most_probable_rating"] == 10
    assert values["scale_mass"] == pytest.approx(1.0)
    assert set(table.where(measure="rating").column("scale")) == {"0 to 10, continuous"}


def test_a_model_that_reads_no_line_break_cannot_answer_on_such_a_scale() -> None:
    """Where 1 and 10 cannot be told apart the item is refused: 1 would win whatever the model thinks."""
    planted = {str(number): 0.1 for number in range(11)} | {f"{number}\n": 1.0 for number in range(11)}
    with pytest.raises(SubjectError, match="reads 10 as 1 and more"):
        collect([example("relatedness", SCWS)], [Letters(planted, reads_lines=False)], "relatedness")
    assert len(collect([example("relatedness", RAW_C)], [Letters(planted, reads_lines=False)], "relatedness")) > 0


def test_whole_numbers_have_an_expected_value_where_first_tokens_have_none() -> None:
    """Probabilities of whole answers weight a rating on any scale; a first token "1" may begin 10."""
    known = {"1": math.log(0.5), "10": math.log(0.5)}
    assert expected_rating(known, SCWS) is None
    found = expected_rating(known, SCWS, whole=True)
    assert found is not None
    assert found.rating == pytest.approx((1 + 10) / 2)


def test_baselines_answer_on_the_scale_of_the_item() -> None:
    """The constant is the middle of each scale, random a point of it."""
    items = [replace(example("relatedness", scale), item_id=f"i{n}") for n, scale in enumerate((None, RAW_C, OWN))]
    table = collect(items, ["baseline:constant", "baseline:random"], "relatedness")
    middle, drawn = (table.where(subject_id=f"baseline:{name}") for name in ("constant", "random"))
    assert middle.column("value").tolist() == [3.0, 2.0, 50.5]
    assert middle.column("scale").tolist() == ["1 to 5", "0 to 4", "1 to 100, continuous"]
    assert all(float(value).is_integer() for value in drawn.column("value"))


def test_items_and_ratings_of_a_dataset_have_the_scale_of_its_card() -> None:
    """A card that names a scale gives it to every item, rating and norm, and to nothing else."""
    card = replace(catalog.card("mini_relatedness"), scale=RAW_C)
    item = example("relatedness", None)
    rows = [
        Response("p", "participant", item.item_id, "relatedness", measure, 1.0) for measure in ("rating", "n_tokens")
    ]
    data = Dataset(card, (item,), ResponseTable.from_rows(rows))
    assert data.items[0].scale == RAW_C
    assert data.responses.column("scale").tolist() == ["0 to 4", None]


@pytest.mark.published
@pytest.mark.parametrize(("name", "scale"), [("raw_c", "0 to 4"), ("scws", "0 to 10, continuous"), ("saw_c", "1 to 5")])
def test_published_sets_are_asked_as_people_were(name: str, scale: str, published: Path) -> None:
    """RAW-C 0 to 4, SCWS 0 to 10, SAW-C 1 to 5: as the cards say."""
    data = catalog.dataset(name)
    assert {str(item.scale) for item in data.items} == {scale}
    assert set(data.responses.where(measure="rating").column("scale")) == {scale}


@pytest.mark.parametrize("scale", [None, RAW_C, Scale(0, 10, step=0)])
def test_people_see_the_points_that_models_are_asked(scale: Scale | None) -> None:
    """A study of people made for items with a scale shows that scale, and its instructions speak of it."""
    items = [replace(example("relatedness", scale), item_id=f"i{n}") for n in range(4)]
    made = draft_definition(items, name="s", task="relatedness", language="en", items_file="items.csv")
    low, high = (1, 5) if scale is None else (scale.low, scale.high)
    assert (made.scale.low, made.scale.high, made.scale.step) == (low, high, 1)
    assert [anchor.point for anchor in made.scale.anchors] == [low, high]
    assert f"a number from {low:g} to {high:g}" in " ".join(made.texts.instructions.split())


@pytest.mark.parametrize("task", ["relatedness", "plausibility"])
def test_a_scale_has_its_words_in_the_language_that_is_asked(task: str) -> None:
    """The task's own scale, named or not, and another one without words have Spanish words in Spanish."""
    screen = catalog.screen(task)
    spanish = screen.anchors["es"]
    for scale in (None, screen.scale):
        found = screen.scale_in("es", scale)
        assert found is not None
        assert found.anchors == spanish
    other = screen.scale_in("es", RAW_C)
    assert other is not None
    assert other.anchors == ((0, spanish[0][1]), (4, spanish[-1][1]))
    own = replace(RAW_C, anchors=((0.0, "nada"), (4.0, "todo")))
    assert screen.scale_in("es", own) == own
    made = draft_definition(
        [example(task, None, "es")], name="s", task=task, language="es", items_file="items.csv"
    )  # what participants read
    assert [anchor.text for anchor in made.scale.anchors] == [words for _, words in spanish]
