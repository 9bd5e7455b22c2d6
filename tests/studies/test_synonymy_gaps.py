"""Gap filling in the synonymy study: recorded completions over top-k, and the codes of two people."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

import pytest

from lexiscope.build.choice_items import read_choice_items
from lexiscope.build.gap_filling.coding_sheet import SHEET, answers_to_code
from lexiscope.build.gap_filling.gaps import greedy_completions
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Record, find_record, read_records
from lexiscope.studies.synonymy import study
from lexiscope.studies.synonymy.settings import SynonymySettings

ITEMS = Path(__file__).parents[1] / "data" / "synonyms_by_part_of_speech.csv"
GREEDY = "completion(method=greedy,max_tokens=10)"
SAMPLED = "completion(method=sample,max_tokens=10,n=2,top_k={},temperature=1,seed=0)"
# of twelve items: the numbers of those with the right word in the first of two predictions, in the second
RIGHT: Mapping[int, tuple[tuple[int, ...], tuple[int, ...]]] = {1: ((1,), (1,)), 10: ((1, 2), (3,)), 40: ((), (4,))}
ANA = ["correct"] * 2 + ["unrelated"] * 6 + ["same_field"] * 4
BEN = ["correct"] * 2 + ["correct_not_in_synset"] * 3 + ["unrelated"] * 3 + ["same_field"] * 4


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[Record, ...]]:
    """One model's completions from a file, coded by two people; the run and its records."""
    folder = tmp_path_factory.mktemp("gaps")
    items = read_choice_items(ITEMS).gap_items
    rows = [
        Response("m", "causal_lm", item.item_id, "gap_filling", SAMPLED.format(k), repeat=repeat, raw=text)
        for k, right in RIGHT.items()
        for item in items
        for repeat in (0, 1)
        for text in (f" the word {item.gold}." if item.conditions["item"] in right[repeat] else " nothing of it",)
    ]
    rows += [
        Response("m", "causal_lm", item.item_id, "gap_filling", GREEDY, repeat=0, raw=" something") for item in items
    ]
    table = ResponseTable.from_rows(rows)
    table.write_csv(folder / "recorded.csv")
    answers = answers_to_code(greedy_completions(table), items)
    for coder, codes in (("ana", ANA), ("ben", BEN)):
        SHEET.write(folder / f"{coder}.csv", answers)
        with (folder / f"{coder}.csv").open(encoding="utf-8-sig", newline="") as stream:
            sheet = list(csv.DictReader(stream))
        with (folder / f"{coder}.csv").open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, sheet[0])
            writer.writeheader()
            writer.writerows(row | {"code": code} for row, code in zip(sheet, codes, strict=True))
    settings = SynonymySettings(
        items=str(ITEMS),
        subjects=(f"recorded:{folder / 'recorded.csv'}",),
        codings=(str(folder / "ana.csv"), str(folder / "ben.csv")),
        n_bootstrap=50,
        outputs=(),
    )
    study.run(settings, folder / "run")
    return folder / "run", read_records(folder / "run" / "results.json")


def test_hits_over_top_k(run: tuple[Path, tuple[Record, ...]]) -> None:
    """Any of two predictions: 1, 3 and 1 of 12 items; of 24 predictions 2, 3 and 1; top-k 10 is the paper's value."""
    folder, records = run
    for k, any_of_two, single in ((1, 1, 2), (10, 3, 3), (40, 1, 1)):
        given = f"answers=curated,n=2,top_k={k}"
        assert find_record(records, f"gap_accuracy({given})").value == pytest.approx(100 * any_of_two / 12)
        rate = find_record(records, f"gap_hit_rate({given})")
        assert rate.value == pytest.approx(100 * single / 24)
        assert rate.low is not None
        assert rate.low < rate.value
    main = find_record(records, "gap_accuracy(answers=curated,n=2)")
    assert (main.value, "top-k 10" in main.condition) == (pytest.approx(25), True)
    moved = find_record(records, "percent_right_difference", condition="gap filling, n=2, curated, top-k 10 vs top-k 1")
    assert moved.value == pytest.approx(100 * 2 / 12)
    with (folder / "figures" / "gap_top_k.csv").open(encoding="utf-8") as stream:
        points = [(float(row["top_k"]), float(row["value"])) for row in csv.DictReader(stream)]
    assert points == [(1.0, pytest.approx(100 / 12)), (10.0, pytest.approx(25.0)), (40.0, pytest.approx(100 / 12))]


def test_two_coders(run: tuple[Path, tuple[Record, ...]]) -> None:
    """9 of 12 the same; κ = (.75 - p) / (1 - p), p = (2·2 + 6·3 + 4·4) / 144; α by its pairs of codes.

    Of 24 codes 4 are correct, 3 correct_not_in_synset, 9 unrelated, 8 same_field: α = 1 - 23 · (2 · 3) / (24² - 170).
    """
    folder, records = run
    chance = (2 * 2 + 6 * 3 + 4 * 4) / 144
    pair = "ana and ben"
    assert find_record(records, "gap_coding_same", condition=pair).value == pytest.approx(75)
    kappa = find_record(records, "gap_coding_kappa", condition=pair)
    assert kappa.value == pytest.approx((0.75 - chance) / (1 - chance))
    alpha = find_record(records, "gap_coding_alpha", condition=pair)
    assert alpha.value == pytest.approx(1 - 23 * 6 / (24**2 - (16 + 9 + 81 + 64)))
    assert None not in (kappa.low, kappa.high, alpha.low, alpha.high)
    shares = {
        (coder, accepted): find_record(
            records, f"gap_coded_accuracy(accepted={accepted})", subject="m", condition=f"coder {coder}"
        ).value
        for coder in ("ana", "ben")
        for accepted in ("synset", "any")
    }
    assert shares == pytest.approx(
        {("ana", "synset"): 100 / 6, ("ana", "any"): 100 / 6, ("ben", "synset"): 100 / 6, ("ben", "any"): 500 / 12}
    )
    with (folder / "gap_coding.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert (len(rows), {row["proposed"] for row in rows}) == (12, {""})
