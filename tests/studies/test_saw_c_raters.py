"""SAW-C's chat arm: ratings of a chat model beside people's norms, by the chat subject (A.4, Figure 12)."""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.subjects.fake_chat import Body, FakeChat, serving

from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset, DatasetCard
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record, find_record, read_records
from lexiscope.core.usage import Usage
from lexiscope.studies.saw_c import study
from lexiscope.studies.saw_c.settings import SawCSettings

WORDS, PER_WORD, RATERS = 30, 6, 7
SETTINGS = SawCSettings(dataset="planted", n_bootstrap=30, mixed_models="none", views=("full",))
MODEL = "norm~rating+same_sense"


def planted_rating(sentence: str) -> int:
    """The rating that the endpoint gives a pair: from 1 to 5, by its second sentence."""
    return zlib.crc32(sentence.encode()) % 5 + 1


def planted() -> Dataset:
    """Pairs whose norms are .5 · rating + 1 for the same sense, in steps that seven raters can make."""
    card = DatasetCard(
        "planted", "Planted", "relatedness", "es", "none", "", "made in the test", "1", "embedded", "Planted pairs."
    )
    items, columns = [], {"subject_id": [], "item_id": [], "value": []}  # type: ignore[var-annotated]
    for word in range(WORDS):
        for number in range(PER_WORD):
            first, second = f"El banco {word} es viejo", f"Un banco {word} con {number} patas"
            usages = tuple(
                Usage(text, text.index("banco"), text.index("banco") + 5, language="es") for text in (first, second)
            )
            same = number % 2 == 0
            item = Item(f"{word}-{number}", "planted", usages, list_id="1", conditions={"same_sense": same})
            items.append(item)
            norm = 0.5 * planted_rating(second) + (1.0 if same else 0.0) + 1
            for rater in range(RATERS):
                # raters differ by a leniency that cancels out
                columns["subject_id"].append(f"p{rater}")
                columns["item_id"].append(item.item_id)
                columns["value"].append(norm + 0.1 * (rater - 3))
    rows = ResponseTable.from_columns(
        columns
        | {"subject_kind": "participant", "task": "relatedness", "measure": "rating", "view": "full", "list_id": "1"}
    )
    return Dataset(card, tuple(items), rows)


def answer(body: Body) -> str:
    """The planted rating of the second sentence; the pairs of word 7 are refused."""
    told = body["messages"][-1]["content"]
    second = next(line for line in told.splitlines() if "patas" in line)
    sentence = second[second.index("Un banco") : second.index("patas") + 5]
    return "Lo siento, no puedo." if "banco 7 " in sentence else str(planted_rating(sentence))


@pytest.fixture(scope="module")
def chat_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, FakeChat, tuple[Record, ...]]:
    """The study on planted pairs with a chat model; run again without its seal, it asks nothing again."""
    out, endpoint, data = tmp_path_factory.mktemp("saw_c") / "run", FakeChat(says=answer), planted()
    with serving(endpoint) as url, pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalog, "dataset", lambda _name: data)
        settings = replace(SETTINGS, subjects=(f"chat:m@{url}?variant=saw_c&backoff=0.001",))
        study.run(settings, out)
        asked, before = len(endpoint.received), _bytes(out)
        (out / "run.json").unlink()
        study.run(settings, out)
        assert len(endpoint.received) == asked, "answers are kept"
        assert _bytes(out) == before
    return out, endpoint, read_records(out / "results.json")


def _bytes(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in ("machine.json", ".lock")]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_planted_coefficients_come_back(chat_run: tuple[Path, FakeChat, tuple[Record, ...]]) -> None:
    """norm = 1 + .5 · rating + 1 · same: the regression of A.4.2 gives .5 and 1, its residual is 0."""
    _, _, records = chat_run
    for term, value in (("rating", 0.5), ("same_sense", 1.0)):
        name = f"coefficient(term={term},model={MODEL})"
        assert find_record(records, name).value == pytest.approx(value, abs=1e-9)
    rho = find_record(records, "spearman(of=predictions,with=norms)").value
    assert rho is not None
    assert 0 < rho < 1
    same, other = (
        find_record(records, "mean_residual(model=norm~rating)", condition=f"same_sense={truth}").value
        for truth in (True, False)
    )
    # people see the sense beyond the ratings: half a point either way, weighted by the number of pairs
    assert same == pytest.approx(0.5, abs=0.1)
    assert other == pytest.approx(-0.5, abs=0.1)


def test_the_request_is_that_of_the_paper(chat_run: tuple[Path, FakeChat, tuple[Record, ...]]) -> None:
    """A.4.1: Spanish, sentences on separate lines, "Palabra: …", temperature 0, at most 3 tokens; once each."""
    _, endpoint, _ = chat_run
    bodies = [body for body in endpoint.received if "patas" in json.dumps(body)]
    assert len(bodies) == WORDS * PER_WORD
    assert all(body["temperature"] == 0 and body["max_tokens"] == 3 for body in bodies)
    lines = bodies[0]["messages"][-1]["content"].splitlines()
    assert any(line.startswith("Palabra:") for line in lines)
    assert bodies[0]["messages"][0]["role"] == "system"


def test_refusals_are_counted_and_left_out(chat_run: tuple[Path, FakeChat, tuple[Record, ...]]) -> None:
    """The six pairs of one word have no rating: counted by kind, in the table, and not in n."""
    out, _, records = chat_run
    assert find_record(records, "n_unreadable(kind=refusal)").value == PER_WORD
    assert find_record(records, "spearman(of=predictions,with=norms)").n == (WORDS - 1) * PER_WORD
    assert find_record(records, "n_items_asked").value == WORDS * PER_WORD
    assert find_record(records, "n_items_read").value == (WORDS - 1) * PER_WORD
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "refusal 6" in page
    assert f"{(WORDS - 1) * PER_WORD} / {WORDS * PER_WORD}" in page
    assert "residuals by sense" in page


def test_people_stand_beside_in_columns_of_their_own(chat_run: tuple[Path, FakeChat, tuple[Record, ...]]) -> None:
    """Raters who agree perfectly are never below the model: the share of raters below is 0 under both definitions."""
    _, _, records = chat_run
    shares = [one.value for one in records if one.statistic.startswith("raters_below_model") and one.subject]
    assert shares == [0.0, 0.0]


def test_constant_ratings_have_no_correlation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A subject that rates everything alike is named, with the reason, and stops nothing."""
    data = planted()
    monkeypatch.setattr(catalog, "dataset", lambda _name: data)
    study.run(replace(SETTINGS, subjects=("baseline:constant",)), tmp_path / "run")
    found = find_record(
        read_records(tmp_path / "run" / "results.json"),
        "spearman(of=predictions,with=norms)",
        subject="baseline:constant",
    )
    assert found.value is None
    assert "undefined" in found.note
    assert np.isfinite(found.n or 0)


def test_ratings_are_read_on_the_scale_of_the_items(tmp_path: Path) -> None:
    """Own items on a scale of 1 to 100: a model's rating of 50.5 is on their scale, not beyond SAW-C's 1 to 5."""
    items = Path(__file__).parents[1] / "golden" / "own" / "ratings.csv"
    settings = replace(SETTINGS, dataset="", items=str(items), scale=(1.0, 100.0), language="en", n_bootstrap=0)
    study.run(replace(settings, subjects=("baseline:constant",)), tmp_path / "run")
    records = read_records(tmp_path / "run" / "results.json")
    asked, read = (
        find_record(records, name, subject="baseline:constant").value for name in ("n_items_asked", "n_items_read")
    )
    assert asked == read
    assert read
