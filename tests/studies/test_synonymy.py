"""The synonymy study: the paper's numbers from the released outcomes, live subjects beside them, a run that resumes."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from lexiscope.analysis.choices.design import Cell, cell_of
from lexiscope.build.choice_items import ChoiceItems
from lexiscope.core import catalog
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import CapabilityError, DataError, InputError, RunError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Record, find_record, read_records
from lexiscope.core.run import read_json
from lexiscope.core.subject import Continuation, Decoding
from lexiscope.datasets import mini_synonymy
from lexiscope.items.choice_sets.collection_file import write_collection
from lexiscope.items.choice_sets.minimal_pairs import choice_sets
from lexiscope.report.answers.numbers import Numbers
from lexiscope.report.answers.results_page import answer_by
from lexiscope.report.page.study_folder import Summary
from lexiscope.report.pivot import records_of
from lexiscope.resources.lexicons import wordnet
from lexiscope.studies.synonymy import study
from lexiscope.studies.synonymy.accuracy import accuracies
from lexiscope.studies.synonymy.data import SynonymyData
from lexiscope.studies.synonymy.design import MAIN
from lexiscope.studies.synonymy.settings import SynonymySettings

from .conftest import outcomes_of_claims

MODELS = ("allenai/OLMo-1B", "allenai/OLMo-7B", "LLM360/Amber")
PAIRS = tuple(f"{MODELS[a]} vs {MODELS[b]}" for a, b in ((0, 1), (0, 2), (1, 2)))
QUICK = SynonymySettings(n_bootstrap=20, gap_filling="no")
MINI = replace(study.MINI, n_bootstrap=20)
CROSSED = ("relation/means/controlled", "relation_turned/means/controlled")
LIVE = replace(MINI, subjects=("scripted:a",), consistency=(CROSSED,))
SAID = mini_synonymy.collection()[0].synonym
Vectors = dict[tuple[str, str, str], list[int]]


@pytest.fixture(scope="session")
def records(published: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Record, ...]:
    """The records of the study on the released outcomes; few resamples, they touch intervals only."""
    out = tmp_path_factory.mktemp("synonymy") / "run"
    study.run(QUICK, out, command="test")
    return read_records(out / "results.json")


@pytest.fixture(scope="session")
def vectors(published: Path) -> Vectors:
    """The 0/1 vectors by model, test and file, read with the csv module alone."""
    found: Vectors = defaultdict(list)
    with (published / "synonymy" / "outcomes.csv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            found[row["model"], row["test"], row["source_file"]].append(int(row["correct"]))
    return found


SUB, SUB_R = ("T12", "eval3"), ("T12", "eval2")
REF, REF_R = ("T13", "eval3"), ("T13", "eval2")
REL, REL_R = ("T11", "eval3"), ("T11", "eval2")
ALONE, ALONE_WRONG, ALONE_BOTH = ("T7", "eval2"), ("T7", "eval3"), ("T7", "eval1")
NAMES = dict(zip((SUB, SUB_R, REF, REL, REL_R, ALONE, ALONE_WRONG, ALONE_BOTH), MAIN, strict=True)) | {
    REF_R: Cell("reference", "", "random")
}


@pytest.mark.published
def test_what_the_paper_claims(records: tuple[Record, ...]) -> None:
    """Its tests on the released outcomes come out as claimed; Table 10 shows a difference for OLMo-7B only."""
    found = outcomes_of_claims("synonymy", records)
    by_tests = {
        "Models prefer a synonym", "For OLMo-1B and Amber,", "For OLMo-7B, substitution and", "The reference test is",
        "Against a synonym that", "Against random words, OLMo-7B", "In substitution, random words",
        "Context makes the relation", "Accuracy does not depend",
    }  # fmt: skip
    assert by_tests <= set(found["holds"])
    assert "Without context, models recognise" in found["holds in part"]
    assert set(found["cannot be tested"]) == {
        "Models seldom produce a", "Ten sampled answers hold", "Accepting all words of", "OLMo-7B is better than",
        "About half of the", "In about three answers", "Models of other families", "People do better on",
        "Without context, models of",
    }  # fmt: skip
    assert "reversed" not in found
    assert sum(map(len, found.values())) == 35


@pytest.mark.published
def test_table_5_is_the_share_right_in_the_released_files(records: tuple[Record, ...], vectors: Vectors) -> None:
    """24 accuracies of three models; those whose printed digits are quoted are reproduced, digit for digit."""
    for model in MODELS:
        for key, cell in NAMES.items():
            if key != REF_R:
                found = find_record(records, "percent_right(per=token)", subject=model, condition=cell.name)
                assert found.value == sum(vectors[model, *key]) / 2
                assert found.status == "reproduced"
    where = {"subject": MODELS[0], "condition": "substitution/controlled"}
    assert find_record(records, "percent_right(per=token)", **where).value == 85.0


@pytest.mark.published
@pytest.mark.parametrize(
    ("first", "second"), [(SUB, REL), (SUB_R, REL_R), (SUB, REF), (SUB_R, REF_R), (ALONE, ALONE_WRONG), (REL_R, ALONE)]
)
def test_every_contrast_is_scipys_paired_t(
    records: tuple[Record, ...], vectors: Vectors, first: tuple[str, str], second: tuple[str, str]
) -> None:
    """t and p on the 200 pairs, McNemar's exact p beside them, from the released files."""
    for model in MODELS:
        a, b = (np.array(vectors[model, *key]) for key in (first, second))
        where = {"subject": model, "condition": f"{NAMES[first].name} vs {NAMES[second].name}"}
        expected = stats.ttest_rel(a, b)
        assert find_record(records, "paired_t", **where).value == pytest.approx(expected.statistic, abs=1e-9)
        assert find_record(records, "paired_t_p", **where).value == pytest.approx(expected.pvalue, abs=1e-12)
        only = int(np.sum(a > b)), int(np.sum(a < b))
        assert find_record(records, "mcnemar_p", **where).value == stats.binomtest(only[0], sum(only)).pvalue
        assert find_record(records, "discordant(only=first)", **where).value == only[0]


@pytest.mark.published
def test_table_6_controlled_is_not_what_the_paper_prints(records: tuple[Record, ...]) -> None:
    """Printed 13.71, 10.92, 10.08 are those of the random condition; controlled gives 4.63, 4.02, 3.69, p < .001."""
    for model, controlled, random in zip(MODELS, ("4.63", "4.02", "3.69"), ("13.71", "10.92", "10.08"), strict=True):
        found = find_record(
            records, "paired_t", subject=model, condition="substitution/controlled vs reference/controlled"
        )
        assert (f"{found.value:.2f}", found.status) == (controlled, "not reproduced")
        assert found.p is not None
        assert found.p < 0.001
        other = find_record(records, "paired_t", subject=model, condition="substitution/random vs reference/random")
        assert f"{other.value:.2f}" == random == f"{found.published:.2f}"


@pytest.mark.published
def test_table_7_reference_is_of_another_run(records: tuple[Record, ...]) -> None:
    """−.35/.725, −.74/.457, −.45/.656 against the printed −.17/.86, −.59/.56, −.44/.66 (specification §5)."""
    expected = (("-0.35", "0.725"), ("-0.74", "0.457"), ("-0.45", "0.656"))
    for pair, (t, p) in zip(PAIRS, expected, strict=True):
        found = find_record(records, "paired_t", subject=pair, condition="reference/controlled")
        probability = find_record(records, "paired_t_p", subject=pair, condition="reference/controlled").value
        assert (f"{found.value:.2f}", f"{probability:.3f}") == (t, p)


@pytest.mark.published
def test_table_1_and_the_tests_of_tokenisation(records: tuple[Record, ...]) -> None:
    """600 decisions of OLMo-1B by released delta; −2 against 0: .26/.80; 2 against 0: −.85/.39, Welch −.78/.45."""
    where = {"subject": MODELS[0], "condition": "released token deltas"}
    counts = {delta: find_record(records, f"n_by_delta(delta={delta})", **where).value for delta in (-2, -1, 0, 1, 2)}
    assert counts == {-2: 18, -1: 150, 0: 285, 1: 126, 2: 21}
    assert sum(counts.values()) == 600  # type: ignore[arg-type]

    def shown(delta: int, variances: str) -> tuple[str, str]:
        names = (f"{name}(delta={delta},variances={variances})" for name in ("independent_t", "independent_t_p"))
        t, p = (find_record(records, name, **where).value for name in names)
        return f"{t:.2f}", f"{p:.2f}"

    assert shown(-2, "pooled") == ("0.26", "0.80")
    assert shown(2, "pooled") == ("-0.85", "0.39")
    assert (shown(-2, "welch"), shown(2, "welch")) == (("0.26", "0.80"), ("-0.78", "0.45"))


@pytest.mark.published
def test_tables_14_to_17_and_the_slip_in_table_15(records: tuple[Record, ...], vectors: Vectors) -> None:
    """Counts add up to 200; .83, .71, .91 and .74 as the text says; .53/.47 where Table 15 prints .57/.43."""
    pairs = ((MODELS[0], SUB, REL), (MODELS[0], SUB, REF), (MODELS[0], SUB, SUB_R), (MODELS[1], REL_R, ALONE))
    for (model, first, second), said in zip(pairs, ("0.83", "0.71", "0.91", "0.74"), strict=True):
        where = {"subject": model, "condition": f"{NAMES[first].name} vs {NAMES[second].name}"}
        counted = Counter(zip(vectors[model, *first], vectors[model, *second], strict=True))
        for (a, b), n in counted.items():
            assert find_record(records, f"n_consistent(a={a},b={b})", **where).value == n
        assert f"{find_record(records, 'given(a=1,b=1)', **where).value:.2f}" == said
    table_15 = {"subject": MODELS[0], "condition": "substitution/controlled vs reference/controlled"}
    slips = [find_record(records, f"given(a=0,b={b})", **table_15) for b in (0, 1)]
    assert [f"{slip.value:.2f}" for slip in slips] == ["0.53", "0.47"]
    assert {slip.status for slip in slips} == {"not reproduced"}


COUNTED = {
    "Table 1": 10,
    "Table 3": 6,
    "Table 4": 18,
    "Table 5": 24,
    "Table 6": 18,
    "Table 7": 18,
    "Table 8": 12,
    "Table 9": 12,
    "Table 10": 6,
    "Table 11": 6,
    "Table 12": 24,
    "Table 13": 24,
    "Table 14": 8,
    "Table 15": 8,
    "Table 16": 8,
    "Table 17": 8,
}
NOT_TO_COMPUTE = {"Table 3", "Table 4"}
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def table_of(place: str) -> str:
    """The table that a place names, else its section."""
    found = re.search(r"Table \d+(?! \(caption\))", place)
    return found.group() if found else place


def numbers_of_tables(text: str) -> dict[str, Counter[float]]:
    """The numbers in the cells of each table of the paper: lines with tabs, of which the caption comes next."""
    found: dict[str, Counter[float]] = {}
    lines: list[list[str]] = []
    for line in text.splitlines():
        caption = re.match(r"(Table \d+):", line)
        if caption:
            found[caption[1]] = Counter(
                float(number.replace(",", "")) for cells in lines for cell in cells for number in _NUMBER.findall(cell)
            )
            lines = []
        elif "\t" in line:
            lines.append(_data_cells(line.split("\t")))
    return found


def _data_cells(cells: list[str]) -> list[str]:
    """The cells of a line that hold results, without the heads of rows; of a head nothing."""
    if cells[0].isdigit():  # Tables 14 to 17: two columns of outcomes, then share and count
        return cells[2:]
    if re.match(r"(OLMo|Amber) [\d.]+B$", cells[0]):  # Table 4: the size is part of the name
        return [cells[0].split()[1], *cells[1:]]
    heads = cells[0] == "Delta" or not any(re.fullmatch(r"-?[\d.]+", cell) for cell in cells)
    return [] if heads else [cell for cell in cells if re.fullmatch(r"-?[\d.]+", cell)]


def test_every_number_of_the_papers_tables_is_there() -> None:
    """As many printed numbers as each table has cells: 10, 6, 18, 24, 18, 18, 12, 12, 6, 6, 24, 24, 8 in each of 14-17.

    Table 2 holds examples.
    """
    printed = Counter(table_of(value.place) for value in study.PUBLISHED["synonymy"])
    assert {table: printed[table] for table in COUNTED} == COUNTED


def test_the_printed_numbers_are_those_of_the_papers_text(published: Path) -> None:
    """Table by table, the numbers in the cells of the paper's text are those of ``printed.csv``, each as often."""
    paper = published.parent / "papers" / "synonymy.txt"
    if not paper.is_file():
        pytest.skip("the paper's text is not in the folder next to the data")
    found = numbers_of_tables(paper.read_text(encoding="utf-8"))
    ours: dict[str, Counter[float]] = defaultdict(Counter)
    for value in study.PUBLISHED["synonymy"]:
        ours[table_of(value.place)][float(value.printed)] += 1
    assert {table: sum(found[table].values()) for table in COUNTED} == COUNTED
    assert {table: ours[table] for table in COUNTED} == {table: found[table] for table in COUNTED}
    assert found.keys() - COUNTED.keys() == {"Table 2"}


@pytest.mark.published
def test_every_value_of_a_table_is_compared_with_its_printed_number(records: tuple[Record, ...]) -> None:
    """Each printed number is in the results with the outcome of the comparison, and with a reason where it differs.

    *Source:* the specification's recomputation: equal are Tables 1, 5, 8-14, 16 and 17 whole; of Table 6 the three t
    of substitution against reference differ, of Table 7 the reference, of Table 15 two shares, of App. E four values.
    """
    by_table: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        if record.published is not None:
            by_table[table_of(record.source)][record.status] += 1
    whole = COUNTED.keys() - {"Table 6", "Table 7", "Table 15"} - NOT_TO_COMPUTE
    assert {table: by_table[table] for table in whole} == {table: {"reproduced": COUNTED[table]} for table in whole}
    assert by_table["Table 6"] == {"reproduced": 15, "not reproduced": 3}
    assert by_table["Table 7"] == {"reproduced": 13, "within rounding": 1, "not reproduced": 4}
    assert by_table["Table 15"] == {"reproduced": 6, "not reproduced": 2}
    # the level of significance is a setting of the paper
    assert by_table["App. E"] == {"not reproduced": 4, "not reproducible": 1}
    assert all(record.note for record in records if record.status.startswith(("not", "within")))


@pytest.mark.published
def test_table_9_has_the_direction_of_the_paper(records: tuple[Record, ...]) -> None:
    """Random minus controlled: +.84, +1.48, 0 in substitution; −1.90, +3.08, −3.40 in relation."""
    expected = {"substitution": ("0.84", "1.48", "0.00"), "relation/is a synonym of": ("-1.90", "3.08", "-3.40")}
    for suite, printed in expected.items():
        for model, text in zip(MODELS, printed, strict=True):
            found = find_record(records, "paired_t", subject=model, condition=f"{suite}/random vs {suite}/controlled")
            assert (f"{found.value:.2f}", found.status) == (text, "reproduced")
            share = [
                find_record(records, "percent_right(per=token)", subject=model, condition=f"{suite}/{kind}").value
                for kind in ("random", "controlled")
            ]
            assert np.sign(found.value) == np.sign(share[0] - share[1])


@pytest.mark.published
def test_what_was_never_released_is_listed_as_such(records: tuple[Record, ...]) -> None:
    """People's answers, kappa, gap filling and properties of models, each with its reason; all else is computed."""
    assert not [record for record in records if record.status == "not computed"]
    assert Counter(record.status for record in records if record.published is not None) == {
        "reproduced": 182, "within rounding": 1, "not reproduced": 13, "not reproducible": 51,
    }  # fmt: skip
    never = [record for record in records if record.status == "not reproducible"]
    assert {record.statistic.partition("(")[0] for record in never} == {
        *("human_accuracy", "human_accuracy_difference", "human_agreement", "cohen_kappa", "weird_rate"),
        *("n_weird", "n_answered", "n_items", "model_property", "setting"),
        *("paired_t", "paired_t_p", "gap_category", "gap_accuracy_difference", "gap_accuracy_ratio"),
    }
    assert all(record.note for record in never)
    kappa = find_record(records, "cohen_kappa")
    assert (kappa.published, kappa.value) == (0.46, None)
    assert ".16" in kappa.note


@pytest.mark.published
def test_word_frequency_stands_beside_every_random_condition(records: tuple[Record, ...]) -> None:
    """Amber without context lies below the baseline in all three conditions; the report's remark says it."""
    for condition in ("correct_vs_random", "incorrect_vs_random", "both_vs_random"):
        where = {"subject": MODELS[2], "condition": f"relation_no_context/is a synonym of/{condition}"}
        below = find_record(records, "above_baseline", **where)
        assert below.value is not None
        assert below.value < 0
    asked = {r.condition for r in records if r.statistic == "percent_right(per=token)" and "random" in r.condition}
    based = {r.condition for r in records if r.statistic == "above_baseline"}
    assert asked <= based


# -- live subjects --------------------------------------------------------------------------------------------


class Scripted:
    """Judges choice sets with planted values; continues prompts with planted words."""

    kind = "scripted"

    def __init__(self, name: str = "scripted:a") -> None:
        self.subject_id = name
        self.asked = 0

    @property
    def facts(self) -> SubjectFacts:
        return SubjectFacts(self.subject_id, title=self.subject_id.partition(":")[2], kind=self.kind, revision="1")

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        self.asked += 1
        return ResponseTable.from_rows(
            Response(
                self.subject_id,
                self.kind,
                item.item_id,
                task,
                measure,
                value,
                f"incorrect_{number}" if number else "correct",
            )
            for item in items
            for number in range(len(item.options))
            for measure, value in (
                ("score", self.value(item, number)),
                ("n_tokens", float(len(item.usages[number].text.split()))),
            )
        )

    def value(self, item: Item, number: int) -> float:
        """Ties in every fourth item; else right in even items; turned relations the other way round."""
        place = int(item.conditions["item"])
        if place % 4 == 0:
            return 0.0
        turned = str(item.conditions["suite"]).endswith("_turned")
        right = (place % 2 == 0) != turned
        return float(right) if number == 0 else 0.5

    def generate(
        self, prompts: Sequence[str], decoding: Decoding, *, work: Path | None = None, progress: object = None
    ) -> Sequence[Sequence[Continuation]]:
        """One synonym for every prompt: right where it is the answer."""
        return [[Continuation(f" {SAID}.")] * decoding.n for _ in prompts]


def no_wordnet() -> None:
    raise DataError("WordNet is not at hand in this test")


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    """``scripted:a`` in the catalog of subjects; no WordNet, which takes seconds to read."""
    subject, real = Scripted(), catalog.subject
    monkeypatch.setattr(catalog, "subject", lambda spec: subject if str(spec).startswith("scripted:") else real(spec))
    monkeypatch.setattr(wordnet, "load", no_wordnet)
    return subject


@pytest.fixture(scope="module")
def mini_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Scripted, Summary]:
    """One run of ``scripted:a`` on the mini collection, with gap filling."""
    subject, real, out = Scripted(), catalog.subject, tmp_path_factory.mktemp("mini") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalog, "subject", lambda spec: subject if str(spec).startswith("scripted:") else real(spec))
        patch.setattr(wordnet, "load", no_wordnet)
        return out, subject, study.run(LIVE, out)


def test_a_live_subject_is_decided_as_planted(mini_run: tuple[Path, Scripted, Summary]) -> None:
    """40 items: 10 tied, 10 right (2, 6, 10 …), 20 wrong: 25 % in every cell, ties reported, all ways compared."""
    out, _, summary = mini_run
    records = read_records(out / "results.json")
    where = {"subject": "scripted:a", "condition": "substitution/controlled"}
    assert find_record(records, "percent_right(per=option)", **where).value == 25.0
    assert find_record(records, "n_tied(per=option)", **where).value == 10
    assert find_record(records, "chance(of=percent_right,per=option)", **where).value == 50.0
    both = find_record(records, "chance(of=percent_right,per=option)", subject="scripted:a", condition=MAIN[7].name)
    assert both.value == pytest.approx(100 / 66, abs=1e-9)
    # turned round, the 10 right items are wrong and the 20 wrong ones right; the 10 ties are wrong both ways
    relation = {"subject": "scripted:a", "condition": "relation/means/controlled"}
    assert find_record(records, "same_both_ways", **relation).value == 25.0
    page = summary.report.read_text(encoding="utf-8")
    assert "Ties count as wrong" in page
    assert summary.overview.rows
    # without WordNet there is neither a baseline nor a proposal of categories, and both are said
    assert any("word-frequency baseline was not computed" in remark for remark in summary.remarks)
    assert any("Error categories were not proposed" in remark for remark in summary.remarks)
    assert not [r for r in records if r.statistic.startswith("rank(")], "one subject has no rank"


def test_one_distractor_at_a_time_is_beside_all_of_them(mini_run: tuple[Path, Scripted, Summary]) -> None:
    """The planted values of the other words are equal: who beats one beats all, 25 % in every cell."""
    records = read_records(mini_run[0] / "results.json")
    own = {(r.statistic, r.condition): r.value for r in records if r.statistic.startswith("pairwise_accuracy")}
    assert own["pairwise_accuracy(per=option)", "substitution/random"] == 25.0
    assert own["pairwise_accuracy(per=option)", "substitution/controlled"] == 25.0
    both = "substitution/controlled vs substitution/random"
    assert own["pairwise_accuracy_difference(per=option)", both] == 0.0
    with (mini_run[0] / "tables" / "one_distractor.csv").open(encoding="utf-8", newline="") as table:
        assert len(list(csv.reader(table))) > len(MAIN)


@pytest.mark.published
def test_recorded_outcomes_have_no_single_distractors(records: tuple[Record, ...]) -> None:
    """One outcome of a choice set does not say which word won: only the baseline of counts has such accuracies."""
    subjects = {r.subject for r in records if r.statistic.startswith("pairwise_accuracy")}
    assert all(subject.startswith("baseline:frequency") for subject in subjects)


def test_any_two_conditions_are_crossed(mini_run: tuple[Path, Scripted, Summary]) -> None:
    """A pair named by the user: 10 of 40 right one way, 20 others turned round; the study's own pairs are there too."""
    records = read_records(mini_run[0] / "results.json")
    where = {"subject": "scripted:a", "condition": " vs ".join(CROSSED)}
    expected = {
        "n_consistent(a=1,b=1)": 0,
        "n_consistent(a=1,b=0)": 10,
        "n_consistent(a=0,b=1)": 20,
        "given(a=1,b=1)": 0,
    }
    found = {name: find_record(records, name, **where).value for name in expected}
    assert found == expected
    assert find_record(records, "given(a=0,b=1)", **where).value == pytest.approx(2 / 3, abs=1e-9)
    tables = [path.name for path in (mini_run[0] / "tables").glob("*consistency*.csv")]
    assert len(tables) == 5


def test_subjects_of_the_same_texts_have_sets_of_ranks(scripted: Scripted, tmp_path: Path) -> None:
    """The planted subject (25 % right) beside one that guesses: in each main cell both have a set of ranks.

    The rank is that of the accuracy; the intervals resample sentences. One subject alone has none.
    """
    study.run(replace(LIVE, subjects=("scripted:a", "baseline:random"), n_bootstrap=99), tmp_path / "run")
    records = read_records(tmp_path / "run" / "results.json")
    name = "rank(of=accuracy,among=subjects)"
    for cell in MAIN:
        ranks = {r.subject: r for r in records if r.statistic == name and r.condition == cell.name}
        right = {
            r.subject: r.value or 0.0
            for r in records
            if r.statistic == "percent_right(per=option)" and r.condition == cell.name and r.subject in ranks
        }
        assert set(ranks) == {"scripted:a", "baseline:random"}
        for subject, rank in ranks.items():
            assert rank.value == 1 + sum(value > right[subject] for value in right.values())
            assert (rank.low or 0) <= (rank.value or 0) <= (rank.high or 0)
            assert rank.interval == "set_of_ranks(method=simultaneous,resampled=sentences,level=0.95,resamples=99)"
    with (tmp_path / "run" / "tables" / "accuracy_ranks.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.reader(table))
    assert len(rows) == 1 + len(MAIN)
    assert {cell for row in rows[1:] for cell in row[1:]} <= {"1", "2", "1–2"}


def test_gap_filling_of_a_live_subject(mini_run: tuple[Path, Scripted, Summary]) -> None:
    """It always gives one synonym: right in the items that accept it, with one prediction and with ten."""
    records = read_records(mini_run[0] / "results.json")
    items = mini_synonymy.collection()
    expected = 100 * sum(item.synonym == SAID for item in items) / len(items)
    assert expected > 0
    for n in (1, 10):
        assert find_record(records, f"gap_accuracy(answers=curated,n={n})", subject="scripted:a").value == expected


def test_a_second_call_computes_nothing_and_a_broken_one_ends_alike(
    mini_run: tuple[Path, Scripted, Summary], scripted: Scripted
) -> None:
    """A finished run is left as it is; one without its run.json is finished again, byte for byte."""
    out = mini_run[0]
    before = _bytes(out)
    assert "finished before" in study.run(LIVE, out).remarks[0]
    (out / "run.json").unlink()
    (out / "report.html").unlink()
    study.run(LIVE, out)
    assert scripted.asked == 0, "answers are kept"
    assert _bytes(out) == before
    with pytest.raises(RunError, match="another question"):
        study.run(replace(LIVE, per="text"), out)


def _bytes(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in ("machine.json", ".lock")]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_other_word_counts_are_another_run(scripted: Scripted, tmp_path: Path) -> None:
    """A frequency table that was changed since is read again; codebook and data card lie beside the report."""
    counts, out = tmp_path / "counts.csv", tmp_path / "run"
    every = [replace(item, random_nouns=()) for item in mini_synonymy.collection()]
    own = [item for item in every if item.target in ("trunk", "note", "pitch", "figure")]
    write_collection(own, tmp_path / "own.csv")
    settings = SynonymySettings(
        items=str(tmp_path / "own.csv"),
        subjects=("scripted:a",),
        frequency=str(counts),
        n_bootstrap=10,
        gap_filling="no",
    )

    def baseline() -> float | None:
        study.run(settings, out)
        where = {"subject": f"baseline:frequency?table={counts}", "condition": "substitution/controlled"}
        return find_record(read_records(out / "results.json"), "percent_right(per=option)", **where).value

    counts.write_text("word,count\n" + "".join(f"{item.synonym},3\n" for item in own), encoding="utf-8")
    assert baseline() == 100.0
    counts.write_text("word,count\n" + "".join(f"{item.distractor},3\n" for item in own), encoding="utf-8")
    assert baseline() == 0.0
    assert "same_both_ways" in (out / "codebook.md").read_text(encoding="utf-8")
    assert "own.csv" in (out / "data_card.md").read_text(encoding="utf-8")


def test_states_of_training_make_a_series(scripted: Scripted, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Five states of one model: a table and a figure over what it had seen, in the order of that, however given."""
    states = {f"scripted:s{step}": Scripted(f"scripted:s{step}") for step in range(5)}
    for step, state in enumerate(states.values()):
        # a state is right in the first 8 · step items: accuracy rises by 20 points a step
        monkeypatch.setattr(
            state, "value", lambda item, number, k=8 * step: float((int(item.conditions["item"]) <= k) != bool(number))
        )
    real = catalog.subject
    monkeypatch.setattr(catalog, "subject", lambda spec: states.get(str(spec)) or real(spec))
    given = tuple((spec, 1000.0 * step) for step, spec in reversed(list(enumerate(states))))
    study.run(replace(MINI, subjects=(), checkpoints=given, gap_filling="no"), tmp_path / "run")
    with (tmp_path / "run" / "tables" / "checkpoints.csv").open(encoding="utf-8") as stream:
        rows = list(csv.reader(stream))[1:]
    assert [float(row[1]) for row in rows] == [0, 1000, 2000, 3000, 4000]
    assert [float(row[2]) for row in rows] == [0, 20, 40, 60, 80]
    assert (tmp_path / "run" / "figures" / "figure_checkpoints.svg").is_file()


def test_a_series_holds_the_states_that_were_given(
    scripted: Scripted, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One model under three policies, two of them given as states: each at its own place, the third not among them."""
    named = {f"scripted:m{options}": Scripted(f"scripted:m{options}") for options in ("", "?bos=yes", "?tokens=word")}
    # a preset is another spelling of the policy that stands in the id
    named["scripted:m?policy=bos"] = named["scripted:m?bos=yes"]
    real = catalog.subject
    monkeypatch.setattr(catalog, "subject", lambda spec: named.get(str(spec)) or real(spec))
    given = (("scripted:m?policy=bos", 200.0), ("scripted:m?tokens=word", 100.0))
    asked = replace(MINI, subjects=("scripted:m",), checkpoints=given, gap_filling="no", n_bootstrap=10)
    study.run(asked, tmp_path / "run")
    with (tmp_path / "run" / "tables" / "checkpoints.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["State"], float(row["Seen"])) for row in rows] == [("m?tokens=word", 100), ("m?bos=yes", 200)]


def test_items_of_another_language(scripted: Scripted, tmp_path: Path) -> None:
    """Substitution alone, no baseline of English counts, no English prompts, and all of it is said."""
    rows = ("Schloss,Palast,Riegel,Wir sahen das Schloss.,de", "Tor,Pforte,Treffer,Er stand am Tor.,de")
    text = "\n".join(("target,synonym,distractor,sentence,language", *rows))
    (tmp_path / "own.csv").write_text(f"{text}\n", encoding="utf-8")
    asked = SynonymySettings(items=str(tmp_path / "own.csv"), subjects=("scripted:a",), n_bootstrap=10)
    summary = study.run(asked, tmp_path / "run")
    records = read_records(tmp_path / "run" / "results.json")
    found = {(r.subject, r.condition) for r in records if r.statistic.startswith("percent_right(")}
    assert found == {("scripted:a", "substitution/controlled")}
    assert any("not in English" in remark for remark in summary.remarks)
    assert any("in another language" in remark for remark in summary.remarks)


@pytest.mark.published
def test_items_whose_sense_is_not_known_get_no_category(
    published: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A collection without sense keys: such items are counted and named, the others have their categories."""
    subject, real = Scripted(), catalog.subject
    monkeypatch.setattr(catalog, "subject", lambda spec: subject if str(spec).startswith("scripted:") else real(spec))
    words = ("role,part,character,She played a small role.", "bank,shore,depository,They sat on the bank.")
    text = "\n".join(("target,synonym,distractor,sentence", *words))
    (tmp_path / "own.csv").write_text(f"{text}\n", encoding="utf-8")
    asked = SynonymySettings(items=str(tmp_path / "own.csv"), subjects=("scripted:a",), n_bootstrap=10)
    summary = study.run(asked, tmp_path / "run")
    assert any("proposed without 1 of 2 items, the first is own/2/" in remark for remark in summary.remarks)
    found = [r for r in read_records(tmp_path / "run" / "results.json") if r.statistic.startswith("gap_category")]
    assert {record.n for record in found} == {1}


def test_a_collection_of_ones_own_without_random_nouns(scripted: Scripted, tmp_path: Path) -> None:
    """Controlled conditions only; its file's checksum stands in run.json; a changed file is a new question's data."""
    own = [replace(item, random_nouns=()) for item in mini_synonymy.collection()[:6]]
    write_collection(own, tmp_path / "own.csv")
    counts = tmp_path / "counts.csv"
    counts.write_text("word,count\nbill,3\n", encoding="utf-8")
    settings = SynonymySettings(
        items=str(tmp_path / "own.csv"),
        subjects=("scripted:a",),
        frequency=str(counts),
        n_bootstrap=20,
        gap_filling="no",
    )
    study.run(settings, tmp_path / "run")
    records = read_records(tmp_path / "run" / "results.json")
    conditions = {record.condition for record in records if record.statistic.startswith("percent_right(")}
    assert conditions
    assert all(condition.endswith("/controlled") for condition in conditions)
    run = read_json(tmp_path / "run" / "run.json")
    assert list(run["data"]) == ["own.csv"]
    assert not any(record.published for record in records)


def test_flagged_words_are_listed(tmp_path: Path) -> None:
    """A word list of one's own flags the sentences in which a word stands, and the report lists them."""
    first = mini_synonymy.collection()[0]
    words = tmp_path / "words.txt"
    words.write_text(f"{first.target}\n", encoding="utf-8")
    items = choice_sets([first], dataset="mini_synonymy")
    made = SynonymyData(replace(MINI, word_list=str(words)), mini_synonymy.CARD, ChoiceItems(items), {})
    part = study.analyse(made)["collection"]
    flagged = next(table for table in part.tables if table.name == "flagged_words")
    assert flagged.rows == ((first.sentence_id or first.item_id, first.target),)
    assert find_record(part.records, "n_flagged").value == 1
    assert find_record(study.analyse(replace(made, settings=MINI))["collection"].records, "n_flagged").value == 0


def test_what_cannot_run_is_refused_before_any_work(tmp_path: Path) -> None:
    """Nobody to ask; a dataset that is no collection; an encoder, which can do nothing here; an unknown recording."""
    with pytest.raises(InputError, match="no subject was asked"):
        study.run(replace(MINI, subjects=()), tmp_path / "a")
    with pytest.raises(SpecError, match="not a collection"):
        study.run(replace(MINI, dataset="mini_relatedness"), tmp_path / "b")
    with pytest.raises(CapabilityError, match="can neither"):
        study.run(replace(MINI, subjects=("encoder:minilm",)), tmp_path / "c")
    for pair, said in (
        ((MAIN[0].name, "relation/x/random"), "no cell 'relation/x/random'"),
        ((MAIN[0].name,) * 2, "itself"),
    ):
        with pytest.raises(InputError, match=said):
            study.run(replace(QUICK, dataset="mini_synonymy", consistency=(pair,)), tmp_path / "e")
    with pytest.raises(SpecError, match="no recorded subject"):
        study.run(replace(MINI, recorded=("OLMo",)), tmp_path / "d")


def test_the_main_denominator_decides_and_the_others_are_shown() -> None:
    """A log-probability has a row per denominator: the asked one decides, the others stand beside it."""
    items = mini_synonymy.load().items
    name = "log_probability(bos=no,first=unscored,tokens=text,per={})"
    rows = [
        Response("lm", "causal_lm", item.item_id, "minimal_pair", name.format(per), value, option)
        for item in items
        if cell_of(item) == MAIN[0]
        for per, right in (("token", 0.0), ("text", 1.0))
        for option, value in (("correct", right), ("incorrect_1", 0.5))
    ]
    table = ResponseTable.from_rows(rows)
    [preference] = [asked for asked in study.questions if asked.short == "Preference"]
    for per, share in (("token", 0.0), ("text", 1.0)):
        settings = replace(MINI, per=per)
        run = SynonymyData(settings, mini_synonymy.CARD, ChoiceItems(items), {}, choices=table)
        [found] = run.answers
        assert found.measure == name.format(per)
        assert found.outcomes[MAIN[0]].correct.mean() == share
        assert found.decided[name.format("text" if per == "token" else "token")][MAIN[0]].correct.mean() == 1 - share
        # the others are the same scores once more: no test of them, and no row of the figure on the first page
        right = [estimate for estimate in accuracies(run) if estimate.name.startswith("percent_right(")]
        tested = {estimate.name for estimate in right if estimate.p is not None}
        assert (len(right), tested) == (2, {f"percent_right(per={per})"})
        answer = answer_by(preference.rule, Numbers(records_of(right)), run)
        [row] = answer.drawing.rows
        assert row.value == 100 * share


def test_every_statistic_of_the_study_is_explained(mini_run: tuple[Path, Scripted, Summary]) -> None:
    """Names in results.json are those of ``STATISTICS``; the file is plain JSON."""
    raw = json.loads((mini_run[0] / "results.json").read_text(encoding="utf-8"))
    assert {entry["statistic"].partition("(")[0] for entry in raw} <= set(study.STATISTICS)


@pytest.mark.published
def test_models_of_other_families_are_in_figures_4_and_5(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A live subject next to the recorded ones: Figure 4 draws the controlled cells, Figure 5 both without context.

    Planted: items 2, 6, 10 … of 200 are right, 25 % in each cell. The recorded ones have the values of Table 5.
    """
    subject, real = Scripted(), catalog.subject
    monkeypatch.setattr(catalog, "subject", lambda spec: subject if str(spec).startswith("scripted:") else real(spec))
    study.run(replace(QUICK, subjects=("scripted:a",)), tmp_path / "run")
    drawn: dict[str, dict[tuple[str, str], float]] = {}
    for name in ("figure_4_with_context", "figure_5_without_context"):
        with (tmp_path / "run" / "figures" / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
            drawn[name] = {(row["row"], row["subject"]): float(row["value"]) for row in csv.DictReader(stream)}
    with_context, without = drawn.values()
    tests = ("substitution: controlled", "reference: controlled", "relation (“is a synonym of”): controlled")
    assert {row for row, _ in with_context} == set(tests)
    assert [with_context[row, "OLMo 1B"] for row in tests] == pytest.approx([85.0, 67.5, 77.0])
    assert [with_context[row, "Amber"] for row in tests] == pytest.approx([83.5, 70.0, 76.5])
    assert [with_context[row, "a"] for row in tests] == pytest.approx([25.0, 25.0, 25.0])
    (row,) = {row for row, _ in without}
    shown = [without[row, subject] for subject in ("OLMo 1B", "OLMo 7B", "Amber", "a")]
    assert shown == pytest.approx([33.0, 52.0, 14.5, 25.0])
