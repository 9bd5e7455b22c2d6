"""The context–word bias study on published sets with the embedded encoder, without training and on samples.

Three hundred training items, a hundred of dev and four hundred of test at most: enough for what is asserted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.analysis.bias.view_scores import draw_scores, scored_views
from lexiscope.collect import collect
from lexiscope.core import catalog
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record, find_record, read_records
from lexiscope.items.arrange.pairs import SPLITS
from lexiscope.items.arrange.views import MASK, view_item
from lexiscope.studies.context_bias import study
from lexiscope.studies.context_bias.settings import ContextBiasSettings
from lexiscope.training import budget
from lexiscope.training.methods import train_method
from lexiscope.training.settings import TrainingSettings

from .conftest import outcomes_of_claims

pytestmark = pytest.mark.published
SETS = ("wic_tsv", "mcl_wic")
MODEL = "minilm, zero-shot"


@pytest.fixture(scope="module")
def run(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One run of two sets."""
    folder = tmp_path_factory.mktemp("published") / "run"
    with pytest.MonkeyPatch.context() as patched:
        for name, number in (("_PROBE_ROWS", 300), ("_PROBE_DEV", 100), ("_PROBE_TEST", 400)):
            patched.setattr(budget, name, number)
        still = ContextBiasSettings(encoders=("minilm",), protocol="zero_shot", n_bootstrap=1000, outputs=())
        study.run(replace(still, datasets=SETS), folder)
        yield folder


@pytest.fixture(scope="module")
def records(run: Path) -> tuple[Record, ...]:
    """Its numbers."""
    return read_records(run / "results.json")


def test_what_the_paper_claims(records: tuple[Record, ...]) -> None:
    """Claims about the sets of a run, each about one set; what needs another set, seeds or RoBERTa cannot be tested."""
    outcomes = outcomes_of_claims("context_bias", records)
    of_one_set = ["Models get more of", "The dataset is in"]  # the larger bias, and which is above .8
    assert sorted(outcomes["not shown"]) == sorted(of_one_set * len(SETS))
    # RoBERTa and the spread of seeds are one claim about several sets; AM²iCo and XL-WiC are compared with each set
    of_others = ["Of the tasks in", "The labels of a"] * len(SETS)
    assert sorted(outcomes["cannot be tested"]) == sorted(
        [*of_others, "Biases differ little between", "RoBERTa has the same"]
    )
    assert sum(map(len, outcomes.values())) == 10


@pytest.mark.parametrize("dataset", ["wic_tsv", "mcl_wic"])
def test_the_whole_input_gives_more_than_none(records: tuple[Record, ...], dataset: str) -> None:
    """FULL lies above LABEL with an interval that excludes 0."""
    name = "view_difference(first=full,second=label,metric=accuracy)"
    found = find_record(records, name, dataset=dataset, subject=MODEL)
    assert found.value is not None
    assert found.low is not None
    assert found.value > found.low > 0


def test_equal_words_tell_nothing(published: Path, tmp_path: Path) -> None:
    """The words of a pair of WiC are equal but for inflection: a probe of WORD is at chance, one half, over words."""
    parts = {split: [i for i in catalog.dataset("wic").items if i.conditions["split"] == split] for split in SPLITS}
    settings = TrainingSettings(max_rows=500, max_dev_rows=150)
    shard = train_method("threshold", "word", parts["train"], parts["dev"], "minilm", out=tmp_path, settings=settings)
    answers = collect(parts["test"], [shard.spec], "same_sense", views=("word",))
    gold = {item.item_id: str(item.gold) for item in parts["test"]}
    words = {item.item_id: item.word for item in parts["test"]}
    scores = scored_views(answers, gold, words, subjects=[shard.spec])
    found = draw_scores(scores, resamples=1000).values["word"]
    assert found.n == 1400
    assert found.interval.low <= 0.5 <= found.interval.high


def test_the_context_has_no_target(published: Path) -> None:
    """In the published view one mask stands where the target stood, in both texts; around it nothing is changed."""
    for item in catalog.dataset("mcl_wic").items[:500]:
        for before, after in zip(item.usages, view_item(item, "context_span").usages, strict=True):
            assert after.target == MASK
            assert after.text == before.text[: before.start] + MASK + before.text[before.end :]


def test_biases_follow_from_the_answers(run: Path, records: tuple[Record, ...]) -> None:
    """Accuracies counted again from the answers, and both biases from these by hand."""
    answers = ResponseTable.read_parquet(run / "responses.parquet").where(measure="choice")
    gold = {item.item_id: item.gold for item in catalog.dataset("mcl_wic").items}
    score = {}
    for view in ("full", "context", "word", "label"):
        rows = [row for row in answers.where(view=view).rows() if row.item_id.startswith("mcl_wic/")]
        score[view] = sum(row.option == gold[row.item_id] for row in rows) / len(rows)
        assert len(rows) == 400
    for view in ("context", "word"):
        found = find_record(records, f"{view}_bias(metric=accuracy)", dataset="mcl_wic", subject=MODEL)
        by_hand = (score[view] - score["label"]) / (score["full"] - score["label"])
        assert found.value == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.parametrize(("dataset", "printed"), [("mcl_wic", 0.2976), ("wic_tsv", 0.4212)])
def test_label_entropies_are_those_of_the_paper(records: tuple[Record, ...], dataset: str, printed: float) -> None:
    """Table 4 of the paper, with the rule of the word in the name (resources of the study, §4)."""
    (found,) = [r for r in records if r.dataset == dataset and r.statistic.startswith("label_entropy")]
    assert (found.published, found.status) == (printed, "reproduced")
    assert "word=" in found.statistic


def test_what_was_left_out_is_told(run: Path) -> None:
    """The report lists the sets of the paper that are not in the run, and what the protocol leaves out."""
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "Not asked for: --dataset xl_wic." in page
    assert "all training of the encoder" in page
    assert "dev is tested" in page
