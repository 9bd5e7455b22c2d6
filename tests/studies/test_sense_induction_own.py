"""The study of induced senses on pairs of the user's own, with people's ratings of them; and pairs without vectors."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy.stats import spearmanr

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record, find_record, read_records
from lexiscope.datasets.mini_relatedness import load
from lexiscope.report.page.sense_explorer import explore_each
from lexiscope.studies.sense_induction import study
from lexiscope.studies.sense_induction.settings import SenseInductionSettings
from lexiscope.subjects.senses.gasi import Gasi

from .test_sense_induction import made_folder

ITEMS = load("en").items[:24]
RATED = {item.item_id: [(row * 7 + rater * 3 + bool(item.conditions["same_sense"]) * 4) % 11 for rater in range(3)]
         for row, item in enumerate(ITEMS[:20])}  # fmt: skip
"""Made-up ratings of simulated participants from 0 to 10; the last four pairs are not rated."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A table of pairs, one of ratings, and a folder of vectors."""
    folder = tmp_path_factory.mktemp("own")
    pairs, ratings = folder / "pairs.csv", folder / "ratings.csv"
    lines = ["item_id,word,sentence_1,target_1,sentence_2,target_2"]
    for item in ITEMS:
        first, second = item.usages
        lines.append(f"{item.item_id},{item.word},{first.text},{first.target},{second.text},{second.target}")
    pairs.write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = [f"simulated-{n},{item},{value}" for item, values in RATED.items() for n, value in enumerate(values)]
    ratings.write_text("\n".join(["rater,item,rating", *rows]) + "\n", encoding="utf-8")
    return pairs, ratings, made_folder(folder / "vectors")


@pytest.fixture(scope="module")
def run(files: tuple[Path, Path, Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[Record, ...]]:
    """The study on these files."""
    pairs, ratings, vectors = files
    out = tmp_path_factory.mktemp("run") / "run"
    settings = SenseInductionSettings(
        items=str(pairs), ratings=(str(ratings),), language="en", subjects=(f"gasi:{vectors}",), synset="", words=(),
        n_bootstrap=20,
    )  # fmt: skip
    summary = study.run(settings, out)
    assert "AvgSimC, pairs" in [column.header for column in summary.overview.columns]
    return out, read_records(out / "results.json")


def test_similarity_follows_from_answers_and_ratings(run: tuple[Path, tuple[Record, ...]]) -> None:
    """100 ρ of AvgSimC and people's means, by scipy, over the 20 rated pairs; the others are excluded."""
    out, records = run
    rows = ResponseTable.read_parquet(out / "responses.parquet").where(measure="avg_sim_c")
    given = {item: value for item, value in rows.by_item().items() if item in RATED}
    means = [sum(RATED[item]) / 3 for item in given]
    rho = find_record(records, "spearman_x100(similarity=avg_sim_c)", dataset="pairs")
    assert len(given) == 20
    assert rho.value == pytest.approx(100 * spearmanr(list(given.values()), means).statistic)
    assert rho.people == "simulated"
    agreement = find_record(records, "rater_agreement_x100(variant=leave_one_out)", dataset="pairs")
    assert agreement.value is not None


def test_nothing_printed_is_compared_with_own_pairs(run: tuple[Path, tuple[Record, ...]]) -> None:
    """The paper prints no number about these pairs."""
    assert not [record for record in run[1] if record.published is not None]


@pytest.mark.parametrize(("name", "error"), [("nonsense", SpecError), ("mini_relatedness", InputError)])
def test_pairs_without_vectors_are_refused(name: str, error: type[Exception], tmp_path: Path) -> None:
    """With planted text alone no vectors answer pairs: a wrong dataset is refused, and so is a right one."""
    settings = SenseInductionSettings(dataset=name, planted="made_up", synset="", words=(), n_bootstrap=0)
    with pytest.raises(error, match=r"nonsense|no vectors were given"):
        study.run(settings, tmp_path / "run")
    assert not (tmp_path / "run" / "results.json").exists()


def test_a_subject_that_reads_whole_texts_has_no_examples(
    files: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its senses are shown without them, with the reason; it stops no other subject."""
    corpus = tmp_path / "text.txt"
    corpus.write_text("\n".join(usage.text for item in ITEMS for usage in item.usages), encoding="utf-8")
    subject = catalog.subject(f"gasi:{files[2]}")
    monkeypatch.setattr(Gasi, "window", 0)
    shown, omitted = explore_each([subject], ["bank"], [corpus], titles={})
    assert len(shown) == 1
    assert ["whole text" in omission.reason for omission in omitted] == [True]
