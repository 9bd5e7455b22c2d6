"""Chat models in the synonymy study: they fill gaps in the words that people read, and are asked nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.subjects.fake_chat import FakeChat, serving

from lexiscope.build.choice_items import choice_items
from lexiscope.core.errors import DataError, InputError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record, find_record, read_records
from lexiscope.datasets import mini_synonymy
from lexiscope.resources.lexicons import wordnet
from lexiscope.studies.synonymy import study

MINI = replace(study.MINI, n_bootstrap=20)
WORDS = "task: gap_filling\nlanguage: en\nprompt:\n  user: |\n    {mark} $sentence $prompt\n"
GAPS = {
    item.usages[0].text: item for item in choice_items(mini_synonymy.collection(), dataset="mini_synonymy").gap_items
}
RIGHT = set(list(GAPS)[:10])
"""The sentences whose gap the model fills with the curated synonym."""


def says(body: dict[str, Any]) -> str:
    """The synonym in ten sentences, nothing of it elsewhere; in the words of ``long.yaml`` nowhere."""
    told = body["messages"][-1]["content"]
    sentence = next(text for text in GAPS if text in told.replace("*", ""))
    return str(GAPS[sentence].gold) if sentence in RIGHT and not told.startswith("LONG") else "nothing of it"


def no_wordnet() -> None:
    raise DataError("WordNet is not available in this test")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, FakeChat, str, tuple[Record, ...]]:
    """The study on the embedded collection, with a chat model in three wordings."""
    folder, endpoint = tmp_path_factory.mktemp("chat"), FakeChat(says=says)
    for name in ("short", "long"):
        (folder / f"{name}.yaml").write_text(WORDS.format(mark=name.upper()), encoding="utf-8")
    with serving(endpoint) as url, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(wordnet, "load", no_wordnet)
        wordings = ("guidelines", "short.yaml", "long.yaml")
        study.run(replace(MINI, subjects=(f"chat:m@{url}",), wordings=wordings), folder / "run")
    return folder / "run", endpoint, f"chat:m@{url}", read_records(folder / "run" / "results.json")


def test_gaps_are_filled_without_log_probabilities(run: tuple[Path, FakeChat, str, tuple[Record, ...]]) -> None:
    """Ten sentences have the synonym: the accuracy of gaps is their share, in the words of the package and in short."""
    folder, _, chat, records = run
    share = 100 * sum(item.usages[0].text in RIGHT for item in GAPS.values()) / len(GAPS)
    for subject, value in ((chat, share), (f"{chat}?variant=short.yaml", share), (f"{chat}?variant=long.yaml", 0)):
        own = [r for r in records if r.subject == subject and r.statistic.startswith("gap_accuracy(answers=curated")]
        assert [record.value for record in own] == [pytest.approx(value)]
    table = ResponseTable.read_parquet(folder / "responses.parquet").where(subject_id=chat)
    assert table.unique("task") == ("gap_filling",)
    assert set(table.where(measure="completion").column("raw").tolist()) == {
        "nothing of it",
        *(str(GAPS[text].gold) for text in RIGHT),
    }
    assert not [
        record for record in records if record.subject == chat and record.statistic.startswith("percent_right(")
    ]


def test_wordings_have_an_interval(run: tuple[Path, FakeChat, str, tuple[Record, ...]]) -> None:
    """The share in two wordings, 0 in the third: the mean is two thirds of it, with an interval over wordings."""
    folder, _, chat, records = run
    own = [
        record
        for record in records
        if record.statistic.startswith("wording_mean(of=gap_accuracy") and "curated" in record.statistic
    ]
    share = find_record(records, own[0].statistic, subject=chat)
    right = 100 * sum(item.usages[0].text in RIGHT for item in GAPS.values()) / len(GAPS)
    assert share.value == pytest.approx(2 * right / 3)
    assert share.low is not None
    assert "Wordings of the prompt" in (folder / "report.html").read_text(encoding="utf-8")


def test_without_gaps_there_is_nothing_to_ask(tmp_path: Path) -> None:
    """A choice set is not asked of a chat model: with gap filling left out, the run stops before any request."""
    settings = replace(MINI, subjects=("chat:m@http://127.0.0.1:9/v1",), gap_filling="no")
    with pytest.raises(InputError, match="cannot be asked of a chat model"):
        study.run(settings, tmp_path / "run")
