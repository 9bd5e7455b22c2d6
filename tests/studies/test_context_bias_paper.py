"""What the context–word bias paper prints and claims: each number has a row, and its numbers agree with its claims."""

from __future__ import annotations

import os
import re
import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.analysis.bias.bias import seed_biases
from lexiscope.build.planted.bias import Dials, planted_items
from lexiscope.core import catalog
from lexiscope.core.claims import check_claims
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Record, Undefined, find_record, parse_statistic, read_records
from lexiscope.core.study import PublishedValue
from lexiscope.items.arrange.splits import divide_by_splits
from lexiscope.items.tables.tabular import write_items
from lexiscope.studies.context_bias import biases, data, study
from lexiscope.studies.context_bias.data import LOOK_UP
from lexiscope.studies.context_bias.sets import AuditSet
from lexiscope.studies.context_bias.settings import ContextBiasSettings

from .test_context_bias_trained import audit_of

SMALL = Dials(0.6, 0.3, n_words=8, splits=(("train", 80), ("dev", 20), ("test", 20)))
COUNTS = {
    "§2.1": 13,  # sizes: XL-WiC 2, AM²iCo 2, AIDA 3, Wikification 2, COMETA 1; languages of three releases
    "§2.2": 3,  # two people a view, 100 items each, 50 in common
    "§2.4": 3,  # three learning rates
    "§2.4, Table 7": 1,  # three seeds
    "Table 2": 15,  # five datasets: sense entropy, word bias of BERT, of RoBERTa
    "Table 4": 5,
    "Table 5": 9,
    "§3.2": 6,  # .61 and .65; 87 %; 20, 11 and 7 guessed words
    "Figure 3": 1,
    "Table 7": 44,  # eleven datasets, two biases, mean and SD of each
    "Table 9": 12,  # three models: layers, width, heads, parameters
    "Table 10": 6,
}
"""The empirical numbers of the paper by place, as counted in its text. What it assumes of people (§2.2) is none."""
ROWS = [value for values in study.PUBLISHED.values() for value in values]
BERT = "bert-base-uncased, full"


def of_place(place: str) -> list[PublishedValue]:
    """The rows of a place."""
    return [value for value in ROWS if value.place == place]


def test_every_number_of_the_paper_has_a_row() -> None:
    """The rows of printed.csv by place are the numbers of the paper; each row is of another number."""
    counted = Counter(value.place for value in ROWS if value.subject != "people (assumed)")
    assert counted == COUNTS
    fields = ("statistic", "subject", "dataset", "condition", "view")
    assert len({tuple(getattr(value, name) for name in fields) for value in ROWS}) == len(ROWS)


@pytest.fixture(scope="module")
def paper() -> str:
    """The text of the paper, if it is here."""
    data = os.environ.get("LEXISCOPE_DATA", "")
    path = Path(data).parent / "papers" / "context_bias.txt"
    if not data or not path.is_file():
        pytest.skip("the text of the paper is not here")
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("place", "first", "n"), [("Table 2", "Sense Entropy", 3), ("Table 4", "LE", 1), ("Table 5", "Human\t", 3),
                              ("Table 7", "$Bias^{BERT_W}$", 2), ("Table 10", "CONTEXT", 2)]
)  # fmt: skip
def test_the_rows_of_a_table_are_its_numbers(place: str, first: str, n: int, paper: str) -> None:
    """The numbers of a table, read from the lines of the paper's text, are the printed ones: shares, not percent."""
    lines = paper.splitlines()
    caption = max(at for at, line in enumerate(lines) if line.startswith(f"{place}:"))
    start = max(at for at, line in enumerate(lines[:caption]) if line.startswith(first))
    rows = [re.sub(r"\$[^$]*\$", "", line) for line in lines[start : start + n]]
    numbers = [float(text) for row in rows for text in re.findall(r"\d*\.\d+|\d+", row)]
    factor = 100 if place in ("Table 5", "Table 10") else 1
    assert sorted(round(factor * float(value.printed), 6) for value in of_place(place)) == sorted(numbers)


def test_numbers_of_the_running_text_are_in_the_paper(paper: str) -> None:
    """.61, .65, 87 %, 20, 11 and 7; the sizes of §2.1; the plan of §2.2, the grid of §2.4, the models of Table 9."""
    values = {value.statistic.partition("(")[0]: value for value in of_place("§3.2")}
    assert re.search(r"human CONTEXT baseline \(0\.61\)[^.]{,30}BERT \(0\.65\)", paper)
    assert f"for {float(values['majority_share'].printed):.0%} of the examples" in paper
    assert f"examined {values['n_guesses'].printed} cases" in paper
    assert f"for {values['n_insensitive'].printed} out of {values['n_valid_guesses'].printed}" in paper
    (bert, _, deberta) = (line.split("\t")[2] for line in paper.splitlines() if "-hidden, " in line)
    stated: dict[str, dict[str, float]] = {}
    for value in of_place("Table 9"):
        stated.setdefault(value.subject, {})[parse_statistic(value.statistic)[1]["of"]] = value.number
    for row, model in ((bert, "bert-base-uncased"), (deberta, "microsoft/deberta-large")):
        layers, width, heads, millions = map(int, re.findall(r"\d+", row))
        shown = {"layers": layers, "hidden_size": width, "attention_heads": heads, "parameters": millions * 1_000_000}
        assert stated[model] == shown
    rates = ", ".join(value.printed for value in of_place("§2.4"))
    assert f"learning rate in $[{rates}]$" in paper
    people, each, common = (value.printed for value in of_place("§2.2"))
    assert f"randomly sampled {each} examples" in paper
    assert f"there is a {common} example overlap between the two annotators" in paper
    assert people == "2"
    articles = [value.printed for value in of_place("§2.1") if value.dataset == "aida"]
    assert "{}, {} and {} articles".format(*articles) in paper


# -- records that printed numbers are compared with -----------------------------------------------------------------


def test_what_cannot_be_had_says_why() -> None:
    """A number of the paper's models or people has a reason, in a sentence without the reader's next question."""
    for value in ROWS:
        if value.subject and value.subject != "people (assumed)":
            assert not value.reproducible
            assert ("publisher states" if value.place == "Table 9" else "never released") in value.remark
    computable = Counter(value.dataset for value in ROWS if value.reproducible and "assumed" not in value.subject)
    # wikimed and cometa are obtained by hand: their rows name the place of the file
    assert not {"wikimed", "cometa", "wikification", "context_bias"} & set(computable)


def paper_records() -> Iterator[Record]:
    """The records that a run would have with the numbers that the paper prints."""
    yield from (
        Record(value.statistic, float(value.printed), value.subject.removesuffix(" (printed)"), value.dataset,
               condition=value.condition, view=value.view)
        for value in ROWS
    )  # fmt: skip
    for value in of_place("Table 7"):
        if value.statistic.endswith("value=mean)"):
            name = f"{value.statistic.partition('(')[0]}(metric=accuracy)"
            yield Record(name, float(value.printed), BERT, value.dataset)
            learnt = "view_difference(first=full,second=label,metric=accuracy)"
            yield Record(learnt, 0.2, BERT, value.dataset)
    yield Record("people_minus_model(metric=accuracy)", 0.61 - 0.65, BERT, "wic", view="context")


def test_the_papers_own_numbers_bear_its_claims_out() -> None:
    """With the printed values of Tables 2, 4, 5, 7 and 10 as records, all claims hold but two, and the rules see why.

    People agree more with the context alone in Table 10, and less in the text (footnote 8). On WikiMed the word bias of
    BERT is above 1, as claimed, and that of RoBERTa is .996 (Table 2).
    """
    claims = dict.fromkeys(claim for values in study.CLAIMS.values() for claim in values)
    outcomes: dict[str, list[str]] = {}
    for checked in check_claims(claims, tuple(paper_records())):
        outcomes.setdefault(checked.outcome, []).append(checked.claim.text)
    assert len(claims) == sum(map(len, outcomes.values())) == 61
    assert len(outcomes["holds"]) == 38
    assert outcomes["holds in part"] == [
        "Context can mislead: models do better with the word alone than with the whole input."
    ]
    assert {text.partition(" in ")[0] for text in outcomes["reversed"]} == {"People agree less"}
    assert not outcomes.get("not shown")


def test_biases_over_seeds_are_those_of_the_formula() -> None:
    """Mean and SD (n − 1) of (part − label) / (full − label) of each seed; a seed without room leaves none."""
    dev = {"full": {0: 0.8, 1: 0.9, 2: 0.7}, "label": dict.fromkeys(range(3), 0.5), "word": {0: 0.6, 1: 0.6, 2: 0.6}}
    mean, sd = seed_biases(dev)
    shares = [0.1 / 0.3, 0.1 / 0.4, 0.1 / 0.2]
    assert (mean.value, sd.value) == pytest.approx((statistics.fmean(shares), statistics.stdev(shares)))
    dev["full"][1] = 0.5
    assert all(isinstance(result, Undefined) for result in seed_biases(dev))
    assert seed_biases({"full": {0: 0.8}, "label": {0: 0.5}, "word": {0: 0.6}}) == ()


# -- people and rules ------------------------------------------------------------------------------------------------


def test_agreement_of_people_is_a_record_by_view(tmp_path: Path) -> None:
    """Two people a view, ten items, of which they answer 7 (context) and 9 (full) alike: .7 and .9 of ``people``."""
    items = planted_items(SMALL, dataset="mine")
    write_items(items, tmp_path / "mine.csv")
    asked = [item for item in items if item.conditions["split"] == "test"][:10]
    rows = [
        Response(f"{view}-{who}", "participant", item.item_id, "same_sense", "choice", view=view,
                 option="t" if who == "a" or n < alike else "f")
        for view, alike in (("context", 7), ("full", 9)) for who in "ab" for n, item in enumerate(asked)
    ]  # fmt: skip
    ResponseTable.from_rows(rows).write_csv(tmp_path / "people.csv")
    own = {"items": str(tmp_path / "mine.csv"), "people": (str(tmp_path / "people.csv"),)}
    study.run(ContextBiasSettings(**own, encoders=(LOOK_UP,), n_bootstrap=20, outputs=()), tmp_path / "run")
    found = read_records(tmp_path / "run" / "results.json")
    for view, share in (("context", 0.7), ("full", 0.9)):
        record = find_record(found, "percent_agreement(over=items)", subject="people", view=view)
        assert (record.value, record.n) == (pytest.approx(share), 10)
        assert record.low is not None


def test_rules_that_look_at_no_context_are_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of senses, first and most frequent sense have a record, counted by hand; what needs SemCor says so without it."""
    senses = replace(audit_of("sense_disambiguation"), name="senses")
    monkeypatch.setattr(data, "open_sets", lambda _settings: ((senses,), ()))
    monkeypatch.setenv("LEXISCOPE_DATA", str(tmp_path))
    study.run(ContextBiasSettings(encoders=(LOOK_UP,), n_bootstrap=20, outputs=()), tmp_path / "run")
    found = read_records(tmp_path / "run" / "results.json")
    right = [item.options[0] in str(item.gold).split("|") for item in senses.test]
    record = find_record(found, "accuracy", subject="baseline:first_sense")
    assert (record.value, record.n, record.view) == (pytest.approx(sum(right) / len(right)), len(right), "full")
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "senses: baseline:most_frequent_sense was not asked:" in page
    assert "Rules that look at no context" in page


@pytest.mark.published
def test_rules_on_the_papers_senses(published: Path) -> None:
    """First and most frequent sense on ALL of the evaluation: 65.2, 65.5 (Blevins & Zettlemoyer 2020, Table 1)."""
    assert published
    items = catalog.dataset("wsd").items
    audit = AuditSet("wsd", "", "sense_disambiguation", divide_by_splits(items, 1))
    settings = ContextBiasSettings(n_bootstrap=20)
    run = data.BiasData(settings, (audit,), (), {})
    reasons, (rows, _) = biases.rule_baselines(run)
    assert reasons == []
    assert [round(100 * row.value, 1) for row in rows] == [65.2, 65.5]


def test_printed_people_without_full_are_compared_in_their_view(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of people on WiC the paper prints CONTEXT alone: the gap is there in that view and no other, the bias is not."""
    pairs = replace(audit_of("same_sense"), name="wic")
    monkeypatch.setattr(data, "open_sets", lambda _settings: ((pairs,), ()))
    study.run(ContextBiasSettings(encoders=(LOOK_UP,), n_bootstrap=20, outputs=()), tmp_path / "run")
    found = read_records(tmp_path / "run" / "results.json")
    gaps = [
        record for record in found if record.statistic.startswith("people_minus_model") and record.value is not None
    ]
    assert [record.view for record in gaps] == ["context"]
    model = find_record(found, "accuracy", subject=LOOK_UP, view="context").value or 0
    assert gaps[0].value == pytest.approx(0.61 - model)
    assert not [record for record in found if record.subject == "people (printed)" and "bias" in record.statistic]
