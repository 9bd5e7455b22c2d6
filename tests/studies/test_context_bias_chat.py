"""A chat model in the study context_bias: asked the views that people are asked, in the same tables as the others."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from scipy import stats
from tests.subjects.fake_chat import FakeChat, serving

from lexiscope.build.planted.bias import Dials, planted_items
from lexiscope.core.errors import CapabilityError, InputError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Record, find_record, read_records
from lexiscope.items.answers.sense_options import SAME
from lexiscope.items.tables.tabular import write_items
from lexiscope.studies.context_bias import study
from lexiscope.studies.context_bias.data import LOOK_UP
from lexiscope.studies.context_bias.settings import ContextBiasSettings

SMALL = Dials(0.6, 0.3, n_words=8, splits=(("train", 60), ("dev", 20), ("test", 40)))
ITEMS = planted_items(SMALL, dataset="mine")
TEST = [item for item in ITEMS if item.conditions["split"] == "test"]
SHARE = sum(item.gold == SAME for item in TEST) / len(TEST)
"""The share of items whose correct answer is *the same meaning*."""
VIEWS = ("full", "context", "word")
WORDS = "task: same_sense\nlanguage: en\nprompt:\n  user: |\n    {mark} $text_1 / $text_2 $question\n    $options\n"
_FULL = {tuple(usage.bracketed for usage in item.usages): item for item in TEST}


def right(item: Item) -> str:
    """The number of the correct answer: 1 is *same meaning*, 2 *different meanings*."""
    return "1" if item.gold == SAME else "2"


def says(body: dict[str, Any]) -> str:
    """The whole input: always right. The context: *cannot decide*, which counts as *same*. The words: no answer."""
    told = body["messages"][-1]["content"]
    for texts, item in _FULL.items():
        if all(text in told for text in texts):
            return right(item)
    return "3" if "[X]" in told else "I would rather not say"


def answer(body: dict[str, Any]) -> str:
    """What :func:`says`; in the words of ``long.yaml`` always *same*."""
    return "1" if body["messages"][-1]["content"].startswith("LONG") else says(body)


def people() -> list[Response]:
    """A person for each view, who is right."""
    about = ("same_sense", "choice")
    return [
        Response(f"p-{view}", "participant", i.item_id, *about, option=i.gold, view=view)
        for view in VIEWS
        for i in TEST
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, FakeChat, str, tuple[Record, ...]]:
    """The study on planted items, with a chat model in three wordings, the learner that counts, and people."""
    folder, endpoint = tmp_path_factory.mktemp("chat"), FakeChat(says=answer)
    write_items(ITEMS, folder / "mine.csv")
    ResponseTable.from_rows(people()).write_csv(folder / "people.csv")
    for name in ("short", "long"):
        (folder / f"{name}.yaml").write_text(WORDS.format(mark=name.upper()), encoding="utf-8")
    with serving(endpoint) as url, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        settings = ContextBiasSettings(
            items="mine.csv",
            encoders=(LOOK_UP,),
            subjects=(f"chat:m@{url}",),
            wordings=("guidelines", "short.yaml", "long.yaml"),
            people=("people.csv",),
            n_bootstrap=50,
        )
        study.run(settings, folder / "run")
    return folder / "run", endpoint, f"chat:m@{url}", read_records(folder / "run" / "results.json")


def test_accuracies_and_biases_are_those_of_the_rule(run: tuple[Path, FakeChat, str, tuple[Record, ...]]) -> None:
    """FULL 1, CONTEXT the share of *same*, WORD 0, LABEL assumed at .5: biases (share − .5) / .5 and −1."""
    folder, _, chat, records = run
    for subject in (chat, f"{chat}?variant=short.yaml"):
        score = {
            record.view: record for record in records if (record.statistic, record.subject) == ("accuracy", subject)
        }
        assert [score[view].value for view in (*VIEWS, "label")] == pytest.approx([1.0, SHARE, 0.0, 0.5])
        assert score["label"].low is None
        assert score["label"].note == "not measured here: assumed, as of people: a random answer"
        bias = find_record(records, "context_bias(metric=accuracy)", subject=subject)
        assert bias.value == pytest.approx((SHARE - 0.5) / 0.5)
        assert find_record(records, "word_bias(metric=accuracy)", subject=subject).value == pytest.approx(-1)
    # the learner that counts, people and the chat model are in one table, under the same names
    shown = (folder / "tables" / "view_scores.csv").read_text(encoding="utf-8")
    assert all(subject in shown for subject in (LOOK_UP, "people", "short.yaml"))


def test_answers_are_in_the_one_table_and_nobody_is_asked_about_nothing(
    run: tuple[Path, FakeChat, str, tuple[Record, ...]],
) -> None:
    """40 choices a view in responses.parquet; those who cannot decide are flagged, and no row has the view label."""
    folder, endpoint, chat, _ = run
    table = ResponseTable.read_parquet(folder / "responses.parquet").where(subject_id=chat)
    choices = table.where(measure="choice")
    assert Counter(choices.column("view").tolist()) == dict.fromkeys(VIEWS, len(TEST))
    assert set(choices.where(view="word").column("option").tolist()) == {None}
    flags = table.where(measure="flag_undecided", view="context")
    assert flags.column("value").tolist() == [1.0] * len(TEST)
    assert len(endpoint.received) <= 3 * len(VIEWS) * len(TEST)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "A chat model is not trained on the items" in re.sub(r"\s+", " ", page)


def test_people_are_compared_with_it_view_by_view(run: tuple[Path, FakeChat, str, tuple[Record, ...]]) -> None:
    """A person who is right in every view: people minus the model is 0, 1 − share, and 1."""
    *_, chat, records = run
    gaps = [find_record(records, "people_minus_model(metric=accuracy)", subject=chat, view=view) for view in VIEWS]
    assert [gap.value for gap in gaps] == pytest.approx([0, 1 - SHARE, 1])
    assert find_record(records, "accuracy", subject="people", view="label").value == 0.5


def test_three_wordings_have_an_interval_over_wordings(run: tuple[Path, FakeChat, str, tuple[Record, ...]]) -> None:
    """FULL is right in two wordings and *same* in one: mean (2 + share) / 3, with the interval of a mean of three."""
    folder, _, chat, records = run
    values = [1, 1, SHARE]
    over = find_record(records, "wording_mean(of=accuracy,over=wordings)", subject=chat, view="full")
    assert over.value == pytest.approx(mean(values))
    # Wilson's bounds with Student's t on 2 degrees of freedom, the variance being that of a mean of three
    centre, t = mean(values), stats.t.ppf(0.975, 2)
    n = centre * (1 - centre) / stats.sem(values) ** 2
    half = t * ((centre * (1 - centre) + t**2 / (4 * n)) / n) ** 0.5
    bounds = [(centre + t**2 / (2 * n) + sign * half) / (1 + t**2 / n) for sign in (-1, 1)]
    assert (over.low, over.high) == pytest.approx(bounds)
    own = "wording_mean(of=view_difference,first=full,second=label,metric=accuracy,over=wordings)"
    assert find_record(records, own, subject=chat).value == pytest.approx(mean(values) - 0.5)
    assert "Wordings of the prompt" in (folder / "report.html").read_text(encoding="utf-8")


def test_other_subjects_are_refused(tmp_path: Path) -> None:
    """Other models are trained or probed as encoders."""
    settings = ContextBiasSettings(dataset="planted_bias", encoders=(LOOK_UP,), subjects=("baseline:random",))
    with pytest.raises(CapabilityError, match="not a chat model") as caught:
        study.run(settings, tmp_path / "run")
    assert "--encoder" in caught.value.hint


def test_a_language_without_prompt_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    """The only chat model cannot be asked: the run stops, and no learner is trained."""
    chat = "chat:m@http://127.0.0.1:9/v1?language=xx"
    settings = ContextBiasSettings(dataset="planted_bias", encoders=(LOOK_UP,), subjects=(chat,))
    with pytest.raises(InputError, match="not written in 'xx'"):
        study.run(settings, tmp_path / "run")
    assert not (tmp_path / "run" / "collected").exists()
