"""Profiles: each model asked once, three kinds of gaps, families, pairs, and what is written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.subjects.fake_chat import FakeChat, serving

import lexiscope
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import InputError, RunError, SpecError
from lexiscope.core.result import Estimate, read_records
from lexiscope.core.sealed import check_run
from lexiscope.core.subject import Progress
from lexiscope.core.usage import Usage
from lexiscope.studies.kit.profile.battery import Battery, load_battery, parse_battery
from lexiscope.studies.kit.profile.lines import Measured, NoNumber
from lexiscope.studies.kit.profile.profiled import Profile, profile_models
from lexiscope.studies.kit.profile.run_folder import write_profile

BATTERY = """\
battery: test
version: "1"
title: A few lines
lines:
  - {line: same, title: Same, family: same_sense, asks: same meaning?, task: same_sense,
     data: "mini_senses?task=same_sense", statistic: accuracy, ceiling: all_right}
  - {line: fits, title: Fits, family: same_sense, asks: does it fit?, task: sense_verification,
     data: "mini_senses?task=sense_verification", statistic: auc, ceiling: {value: 0.9, name: one person, source: P}}
  - {line: spanish, title: Spanish, family: relatedness, asks: one word, task: relatedness, data: mini_relatedness,
     where: {language: es}, statistic: auc, right: {same_sense: true}, ceiling: all_right}
  - {line: pairs, title: Pairs, family: synonymy, asks: which?, task: minimal_pair, data: mini_synonymy,
     where: {suite: substitution, condition: controlled}, statistic: accuracy, ceiling: all_right}
  - {line: few, title: Few, family: structure, asks: which?, task: word_intrusion,
     data: "mini_senses?task=word_intrusion", statistic: accuracy, ceiling: all_right, least: 32}
"""


@dataclass
class Counting:
    """A model with two layers whose vectors are of the texts' letters; it counts how often it is asked."""

    name: str = "counting"
    revision: str = "1"
    languages: tuple[str, ...] = ("en",)
    calls: list[int] = field(default_factory=list)
    kind = "encoder"
    layers = (0, 1)

    @property
    def subject_id(self) -> str:
        return f"{self.kind}:{self.name}"

    @property
    def facts(self) -> SubjectFacts:
        return SubjectFacts(self.subject_id, self.name.title(), languages=self.languages, revision=self.revision)

    def embed(
        self, usages: Sequence[Usage], *, work: Path | None = None, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        self.calls.append(len(usages))
        rows = []
        for usage in usages:
            digest = hashlib.sha256(f"{self.name}{usage.text}{usage.start}".encode()).digest()
            generator = np.random.default_rng(int.from_bytes(digest[:8], "big"))
            rows.append(generator.normal(size=(2, 8)) + 1)
        return np.array(rows, dtype=np.float32)


@pytest.fixture(scope="module")
def battery() -> Battery:
    return parse_battery(BATTERY)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def model() -> Counting:
    return Counting()


@pytest.fixture(scope="module")
def made(battery: Battery, cache: Path, model: Counting) -> Profile:
    return profile_models([model, Counting("other")], battery=battery, cache=cache)


def test_a_second_profile_asks_nothing(battery: Battery, cache: Path, made: Profile, model: Counting) -> None:
    """The same content: no call, the same numbers. Another revision is another model, and is asked."""
    before = len(model.calls)
    assert before == 3
    again = profile_models(model, battery=battery, cache=cache)
    assert len(model.calls) == before
    own = [record for record in made.records() if record.subject == model.subject_id]
    assert [record for record in again.records() if record.subject == model.subject_id] == own
    newer = Counting(revision="2")
    profile_models(newer, battery=battery, cache=cache)
    assert len(newer.calls) == before


def test_a_damaged_answer_is_not_used(battery: Battery, tmp_path: Path) -> None:
    """A kept table that was changed is an error that says what to delete."""
    profile_models(Counting(), battery=battery, cache=tmp_path)
    for path in tmp_path.glob("*/parts/*.parquet"):
        path.write_bytes(b"no table")
    with pytest.raises(RunError, match="damaged"):
        profile_models(Counting(), battery=battery, cache=tmp_path)


def test_gaps_are_told_apart(made: Profile, model: Counting) -> None:
    """Not asked for its language, and lacking a capability; neither is a number, and neither counts in a mean."""
    language, able = (made.outcome(model.subject_id, line) for line in ("spanish", "pairs"))
    assert language == NoNumber("not asked", "the model declares English, the items are in Spanish")
    assert able == NoNumber("cannot answer", "needs Scores; this model offers Embeds")
    assert set(made.models[0].families) == {"same_sense", "structure"}
    gaps = {record.condition: record for record in made.records() if record.value is None}
    assert gaps["line=pairs"].note == "cannot answer: needs Scores; this model offers Embeds"


def test_a_model_is_asked_in_any_language_if_wanted(battery: Battery, cache: Path) -> None:
    """The line then has a number like any other."""
    made = profile_models(Counting(), battery=battery, cache=cache, any_language=True)
    assert isinstance(made.outcome("encoder:counting", "spanish"), Measured)


def test_a_share_is_of_the_ceiling_that_the_battery_names(made: Profile, model: Counting) -> None:
    """(model − chance) / (ceiling − chance); chance is .5 of two answers, .1 of ten words."""
    for line, chance, ceiling in (("same", 0.5, 1.0), ("fits", 0.5, 0.9), ("few", 0.1, 1.0)):
        outcome = made.outcome(model.subject_id, line)
        assert isinstance(outcome, Measured)
        assert outcome.share is not None
        assert outcome.share.value == pytest.approx((outcome.reached.value - chance) / (ceiling - chance))
        assert made.asked[line].chance == pytest.approx(chance)
        assert outcome.refused == 0
        assert outcome.varied.startswith("layers") or len(outcome.reached.layers) == 2
    family = made.models[0].families["same_sense"]
    shares = [made.outcome(model.subject_id, line).share for line in ("same", "fits")]  # type: ignore[union-attr]
    assert family.value == pytest.approx(np.mean([share.value for share in shares if share is not None]))


def test_every_number_is_a_record(made: Profile, tmp_path: Path) -> None:
    """What is written reads back; the folder is whole, and the same profile gives the same bytes."""
    page = write_profile(made, tmp_path, command=["lexiscope", "profile"])
    assert read_records(tmp_path / "results.json") == made.records()
    check_run(tmp_path)
    first = {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    write_profile(made, tmp_path, command=["lexiscope", "profile"])
    assert {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == first
    run: dict[str, Any] = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert run["battery"]["sha256"] == made.battery.sha256
    text = page.read_text(encoding="utf-8")
    assert made.battery.sha256[:12] in text
    assert "://" not in text.replace("http://www.w3.org/2000/svg", "")
    statistics = {record.statistic.partition("(")[0] for record in made.records()}
    assert {"chance", "share_of_attainable", "mean_share_of_attainable", "refusals", "critical_value"} <= statistics
    rows = (tmp_path / "tables" / "lines.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 1 + 2 * len(made.battery.lines)


def test_two_models_are_compared_on_the_same_words(made: Profile) -> None:
    """The difference is that of the values, on lines that both answered."""
    assert set(made.pairs) == {"same", "fits", "few"}
    for line, pairs in made.pairs.items():
        first, second = pairs.models
        values = [made.outcome(name, line).reached.value for name in (first, second)]  # type: ignore[union-attr]
        assert pairs.pairs[0].difference == pytest.approx(values[0] - values[1])


def test_what_cannot_be_profiled(tmp_path: Path) -> None:
    """No model; the same twice; a name under which no data have answers."""
    with pytest.raises(InputError, match="no model"):
        lexiscope.profile([])
    with pytest.raises(InputError, match="named twice"):
        profile_models(["baseline:random", "baseline:random"], battery=parse_battery(BATTERY), cache=tmp_path)
    with pytest.raises(SpecError, match="'gpt-9' is not a subject"):
        lexiscope.profile("gpt-9")


def test_a_chat_model_is_asked_in_its_prompts_alone(tmp_path: Path) -> None:
    """The wordings of a line are those of models that score: a chat model is asked each item once, and has numbers."""
    endpoint = FakeChat(says=lambda body: "yes" if "yes" in body["messages"][-1]["content"].casefold() else "1")
    with serving(endpoint) as url:
        made = profile_models([f"chat:m@{url}?variant=guidelines"], battery=load_battery("mini"), cache=tmp_path)
    outcomes = made.models[0].outcomes
    assert [
        line for line, outcome in outcomes.items() if isinstance(outcome, NoNumber) and "variant" in outcome.why
    ] == []
    assert isinstance(outcomes["mini_same_sense"], Measured)
    assert set(endpoint.paid.values()) == {1}


def test_models_whose_answers_were_published(published: Path, tmp_path: Path) -> None:
    """GPT-4's ratings of RAW-C: the share, and people, as independent code has them."""
    text = """\
battery: raw
version: "1"
title: RAW-C
lines:
  - {line: raw_c, title: RAW-C, family: relatedness, asks: one word, task: relatedness, data: raw_c,
     statistic: spearman, ceiling: attainable, least: 100}
"""
    made = profile_models(["gpt-4", "bert-base-uncased"], battery=parse_battery(text), cache=tmp_path)
    outcome = made.outcome("gpt-4", "raw_c")
    assert isinstance(outcome, Measured)
    assert outcome.share is not None
    # the numbers of an independent script (words resampled, delete-one jackknife over raters)
    assert outcome.reached.value == pytest.approx(0.8155, abs=5e-4)
    assert outcome.share.value == pytest.approx(0.8317, abs=5e-4)
    assert (outcome.share.low, outcome.share.high) == pytest.approx((0.7997, 0.8638), abs=3e-3)
    assert outcome.share.of_raters == pytest.approx(0.165, abs=0.03)
    # the number that `norm` has: the mean of two raters is as close to the others as GPT-4 is
    assert isinstance(outcome.needed, Estimate)
    assert (outcome.needed.value, outcome.needed.interval.low, outcome.needed.interval.high) == (2, 1, 2)
    (needed,) = (
        record for record in made.records() if "needed" in record.statistic and record.subject == "gpt-4"
    )  # fmt: skip
    assert (needed.value, needed.unit, needed.n) == (2, "people", outcome.needed.n)
    bert = made.outcome("bert-base-uncased", "raw_c")
    assert isinstance(bert, Measured)
    assert bert.reached.value == pytest.approx(0.6709, abs=2e-3)
    assert made.models[0].title == "GPT-4"
    assert not list(tmp_path.iterdir())
