"""The ambistory study: the paper's numbers from the released ratings, subjects beside people, a run that resumes."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy import stats
from tests.subjects.fake_chat import Body, FakeChat, serving

from lexiscope.analysis.correlation import spearman
from lexiscope.analysis.norms.predictions import RHO
from lexiscope.analysis.norms.within_sd import accuracy_name
from lexiscope.build.stories.inventory import semcor_counts, sense_counts
from lexiscope.build.stories.stories import COMMENT_SHEET, ERROR_SHEET, placed_stories, story_text
from lexiscope.core import catalog
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record, find_record, read_records
from lexiscope.core.run import read_json
from lexiscope.core.usage import Usage
from lexiscope.datasets import mini_ambistory
from lexiscope.items.sheets.comment_sheet import COMMENT_CODES
from lexiscope.resources.lexicons import wordnet
from lexiscope.studies.ambistory import study
from lexiscope.studies.ambistory.coding import error_tags, raters_comments, write_sheets
from lexiscope.studies.ambistory.data import AmbistoryData, load_run
from lexiscope.studies.ambistory.models import worked_examples
from lexiscope.studies.ambistory.settings import AmbistorySettings
from lexiscope.studies.kit.data import given_files

from .conftest import outcomes_of_claims

MINI = replace(study.MINI, n_bootstrap=10)
SUBJECTS = (
    "scripted:position",
    "scripted:order",
    "scripted:sibling",
    "scripted:mean",
    "scripted:four",
    "scripted:silent",
)
SIMULATED = Path(__file__).parents[1] / "simulated"
SETTINGS = AmbistorySettings(n_bootstrap=20, subjects=SUBJECTS, compare=(("scripted:mean", "scripted:four"),))
MODELS = (
    "subject,model,shots,base,parameters",
    "scripted:position,A,0,,1e9",
    "scripted:sibling,A,4,,1e9",
    "scripted:order,B,0,,7e9",
    "scripted:four,C,0,,3e9",
    "scripted:mean,D,0,C,3e9",
)
"""What the planted subjects are said to be."""
MEANS_BY_PLACE = (3.68, 2.61, 2.75, 3.55, 3.18, 3.08)
"""The mean rating of each place in a setup over all splits: what a subject that sees the order of rows can learn."""
Rule = Callable[[Item], float | None]


class Scripted:
    """Predicts by a rule that was planted; made for these tests."""

    kind = "scripted"

    def __init__(self, name: str, rule: Rule) -> None:
        self.subject_id, self.rule = f"scripted:{name}", rule

    @property
    def facts(self) -> SubjectFacts:
        return SubjectFacts(self.subject_id, title=self.subject_id.partition(":")[2], kind=self.kind, revision="1")

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        columns: dict[str, Any] = {
            "subject_id": self.subject_id,
            "subject_kind": self.kind,
            "item_id": [item.item_id for item in items],
            "task": task,
            "measure": "rating",
            "value": [self.rule(item) for item in items],
        }
        return ResponseTable.from_columns(columns)


def released(published: Path) -> list[dict[str, Any]]:
    """The test file, read with the json module alone."""
    return list(json.loads((published / "ambistory" / "test.json").read_text(encoding="utf-8")).values())


def rules(rows: Sequence[Mapping[str, Any]]) -> dict[str, Rule]:
    """Planted rules: the place in the setup, 6 − the mean of the sibling meaning, the rounded mean, 4, nothing."""
    means = [statistics.fmean(row["choices"]) for row in rows]
    own = {f"ambistory/{row['sample_id']}": k for k, row in enumerate(rows)}
    places = {"intended": 4.0, "unintended": 2.0, "open": 4.0}
    return {
        "position": lambda item: places[str(item.conditions["intention"])],
        "order": lambda item: MEANS_BY_PLACE[own[item.item_id] % 6],
        "sibling": lambda item: 6 - means[own[item.item_id] ^ 1],
        "mean": lambda item: float(int(means[own[item.item_id]] + 0.5)),
        "four": lambda _item: 4.0,
        "silent": lambda _item: None,
    }


@pytest.fixture(scope="session")
def ambistory_run(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study on the released ratings with planted subjects; few resamples, they touch intervals only."""
    out, real = tmp_path_factory.mktemp("ambistory") / "run", catalog.subject
    table = out.parent / "models.csv"
    table.write_text("\n".join(MODELS) + "\n", encoding="utf-8")
    made = {f"scripted:{name}": Scripted(name, rule) for name, rule in rules(released(published)).items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXISCOPE_DATA", str(published))
        patch.setattr(catalog, "subject", lambda spec: made.get(str(spec)) or real(spec))
        study.run(replace(SETTINGS, models=str(table)), out, command="test")
    return out


@pytest.fixture(scope="session")
def records(ambistory_run: Path) -> tuple[Record, ...]:
    return read_records(ambistory_run / "results.json")


# -- what the paper prints ------------------------------------------------------------------------------------


@pytest.mark.published
def test_what_the_paper_prints_of_people_comes_out(records: tuple[Record, ...]) -> None:
    """50 printed numbers round to the digit or are on their side of a bound; three were rounded twice, one is "about",
    one counts the attention check, one is a single random draw."""
    status: dict[str, list[str]] = {}
    for record in records:
        if record.published is not None:
            status.setdefault(record.status, []).append(record.statistic)
    assert len(status["reproduced"]) == 50
    assert sorted(status["within rounding"]) == [
        "label_share(point=2)",
        "label_share(point=5)",
        "label_share(point=5)",
        "rating_share(point=1_or_5)",
        "samples_per_group(summary=mode)",
    ]
    assert status["not reproduced"] == ["expected_accuracy_within_sd(sd=sample,edge=strict,guesses=uniform)"]
    assert len(status["not reproducible"]) == 128 + 13
    assert sum(map(len, status.values())) == len(study.PUBLISHED["ambistory"])


@pytest.mark.published
def test_what_the_paper_claims(ambistory_run: Path, records: tuple[Record, ...]) -> None:
    """Frequency does not go with disagreement; of planted subjects one reaches the best person. The report says so."""
    found = outcomes_of_claims("ambistory", records)
    assert {"The ambiguous sentence is", "The two endings of", "People choose the middle"} <= set(found["holds"])
    assert "Meanings that are more" in found["holds"]
    assert "People disagree more about" in found["not shown"]
    assert "Models stay below the" in found["holds in part"]
    assert {"GPT-4o is hurt by", "Models prefer frequent meanings"} <= set(found["cannot be tested"])
    # of planted subjects: one was trained, one is better with examples and none worse, three sizes show no trend
    assert "Training on the ratings" in found["holds"]
    assert "Training brings the labels" in found["holds"]
    assert {"Larger models are closer", "Examples in the prompt"} <= set(found["not shown"])
    rows = list(csv.DictReader((ambistory_run / "tables" / "claims.csv").open(encoding="utf-8")))
    assert len(rows) == sum(map(len, found.values()))
    assert "What the paper claims" in (ambistory_run / "report.html").read_text(encoding="utf-8")


@pytest.mark.published
@pytest.mark.parametrize(
    ("statistic", "condition", "value", "digits"),
    [
        ("krippendorff_alpha(level=interval)", "all", 0.5061, 4),
        ("krippendorff_alpha(level=ordinal)", "all", 0.5040, 4),
        ("krippendorff_alpha(level=nominal)", "all", 0.2091, 4),
        ("krippendorff_alpha(level=interval)", "open", 0.4905, 4),
        ("krippendorff_alpha(level=interval)", "ended", 0.5128, 4),
        ("mean_sd(ddof=1)", "all", 0.9459, 4),
        ("single_rater_rho(over=ratings)", "all", 0.637, 3),
        ("single_rater_rho(over=ratings)", "test", 0.650, 3),
        ("single_rater_accuracy_within_sd", "test", 0.698, 3),
        ("single_rater_rho(over=ratings)", "test, open", 0.600, 3),
        ("single_rater_accuracy_within_sd", "test, ended", 0.714, 3),
        ("best_rater_correlation(variant=leave_one_out,method=spearman)", "test", 0.8341, 4),
        ("best_rater_accuracy_within_sd(variant=leave_one_out)", "test", 0.8920, 4),
        ("rank_sum(of=sd,between=open_and_ended,value=p)", "train", 0.013, 3),
        ("rank_sum(of=sd,between=open_and_ended,ties=ignored,value=p)", "all", 0.184, 3),
        ("rank_sum(of=sd,between=open_and_ended,ties=ignored,value=p)", "test", 0.135, 3),
        ("intended_above_other(share=above)", "", 67.2, 1),
        ("ending_raises_intended(share=below)", "", 26.1, 1),
        ("absolute_difference_sd(between=endings,ddof=1)", "", 0.9418, 4),
        ("variance(of=sample)", "", 1.188, 3),
        ("icc(model=2,ratings=5)", "", 0.836, 3),
    ],
)
def test_what_was_measured_independently_comes_out(
    records: tuple[Record, ...], statistic: str, condition: str, value: float, digits: int
) -> None:
    """Values of an independent implementation on the same files, to their last digit."""
    found = find_record(records, statistic, condition=condition).value
    assert found == pytest.approx(value, abs=0.5000001 * 10**-digits)


@pytest.mark.published
def test_groups_of_raters_and_labels_of_ended_stories(records: tuple[Record, ...], published: Path) -> None:
    """Counted in the released files: samples by their number modulo 130; labels 1 and 5 where the ending is empty."""
    rows = [
        row
        for split in ("train", "dev", "test")
        for row in json.loads((published / "ambistory" / f"{split}.json").read_text(encoding="utf-8")).values()
    ]
    sizes = Counter(int(row["sample_id"]) % 130 for row in rows)
    usual = Counter(sizes.values()).most_common(1)[0][0]
    assert find_record(records, "n_rater_groups").value == len(sizes) == 130
    assert find_record(records, "samples_per_group(summary=mode)").value == usual == 29
    assert find_record(records, "samples_per_group(summary=min)").value == min(sizes.values())
    assert find_record(records, "ratings_per_item(summary=max)").value == max(len(row["choices"]) for row in rows)
    labels = {kind: [int(statistics.fmean(row["choices"]) + 0.5) for row in released(published)
                     if bool(row["ending"]) is kind] for kind in (True, False)}  # fmt: skip
    for point in (1, 3, 5):
        ended, free = (100 * labels[kind].count(point) / len(labels[kind]) for kind in (True, False))
        name = f"label_share_difference(of=ended_minus_open,point={point})"
        record = find_record(records, name, subject="people")
        assert record.value == pytest.approx(ended - free, abs=1e-9)
        assert record.low is not None
        assert record.low < ended - free < (record.high or 0.0)


@pytest.mark.published
def test_most_of_the_ceiling_is_selection(records: tuple[Record, ...]) -> None:
    """Shuffled raters reach .825 ± .008 and .882 ± .007 by the same recipe; the control stands under its own name."""
    for metric, value, spread in (("spearman", 0.825, 0.008), ("accuracy_within_sd", 0.882, 0.007)):
        found = find_record(records, f"shuffled_best_rater(metric={metric},shuffles=100)", condition="test").value
        assert found == pytest.approx(value, abs=spread / 2)


# -- subjects -------------------------------------------------------------------------------------------------


@pytest.mark.published
def test_planted_subjects_score_as_measured(records: tuple[Record, ...], published: Path) -> None:
    """The place's mean: ρ .310; 4/2/4: .622; 6 − the sibling's mean: ρ .628, rounded .745; 4: n/a, .558."""
    expected = {
        ("scripted:order", RHO): 0.310,
        ("scripted:position", accuracy_name()): 0.622,
        ("scripted:sibling", RHO): 0.628,
        ("scripted:sibling", accuracy_name("rounded")): 0.745,
        ("scripted:four", accuracy_name()): 0.558,
    }
    for (subject, statistic), value in expected.items():
        assert find_record(records, statistic, subject=subject, condition="test").value == pytest.approx(
            value, abs=0.0005
        )
    rows = released(published)
    means = [statistics.fmean(row["choices"]) for row in rows]
    right = [
        abs(int(6 - means[k ^ 1] + 0.5) - mean) < max(1, statistics.stdev(row["choices"])) - 1e-9
        for k, (row, mean) in enumerate(zip(rows, means, strict=True))
    ]
    rounded = find_record(records, accuracy_name("rounded"), subject="scripted:sibling", condition="test").value
    assert rounded is not None
    assert rounded == pytest.approx(sum(right) / len(right), abs=1e-12)
    raw = find_record(records, accuracy_name("raw"), subject="scripted:sibling").value
    assert raw is not None
    assert raw > rounded, "what need not be whole gains, and is kept apart"
    constant = find_record(records, RHO, subject="scripted:four")
    assert (constant.value, constant.note) == (None, "undefined: every prediction is 4")


@pytest.mark.published
def test_unreadable_answers_are_counted_and_never_imputed(records: tuple[Record, ...]) -> None:
    """A subject without one readable answer has its count, and no score."""
    assert find_record(records, "n_unreadable", subject="scripted:silent").value == 930
    assert find_record(records, RHO, subject="scripted:silent").note == "undefined: no reply could be read"
    assert find_record(records, "n_items_read", subject="scripted:silent").value == 0
    assert find_record(records, accuracy_name(unread="wrong"), subject="scripted:silent", condition="test").value == 0
    right = find_record(records, accuracy_name(), subject="scripted:four", condition="test").value
    strict = find_record(records, accuracy_name(unread="wrong"), subject="scripted:four", condition="test").value
    assert strict == right, "where everything was read the two are the same"
    assert not [one for one in records if one.subject == "scripted:silent" and one.statistic.startswith("label_share")]


@pytest.mark.published
def test_ratio_alpha_by_definition(records: tuple[Record, ...], published: Path) -> None:
    """Krippendorff's alpha with squared relative differences, pair by pair over the 3,798 samples."""
    rows = [
        row["choices"]
        for split in ("train", "dev", "test")
        for row in json.loads((published / "ambistory" / f"{split}.json").read_text(encoding="utf-8")).values()
    ]
    count = Counter(value for choices in rows for value in choices)
    n = sum(count.values())
    distance = {(a, b): ((a - b) / (a + b)) ** 2 for a in count for b in count}
    observed = sum(sum(distance[a, b] for a in own for b in own) / (len(own) - 1) for own in rows) / n
    expected = sum(count[a] * count[b] * distance[a, b] for a in count for b in count) / (n * (n - 1))
    found = find_record(records, "krippendorff_alpha(level=ratio)", condition="all").value
    assert found == pytest.approx(1 - observed / expected, abs=1e-9)


@pytest.mark.published
def test_one_tagged_sense_is_the_difference_to_the_independent_count(
    records: tuple[Record, ...], published: Path
) -> None:
    """ρ of sense counts: .0768, without the 36 samples whose count is not known (.0762 if that were 0).

    The independent .072 (dev .122) did not count the satellite sense up%5:00:00:awake:00. WordNet has 5 for it; with 0,
    the correlation is .0724, on dev .1222.
    """
    samples = {
        f"ambistory/{row['sample_id']}": (split, row)
        for split in ("train", "dev", "test")
        for row in json.loads((published / "ambistory" / f"{split}.json").read_text(encoding="utf-8")).values()
    }
    items = catalog.dataset("ambistory").items
    known = sense_counts(items, wordnet.load())
    counts = {item: float(count) for item, count in known.items() if count is not None}
    assert len(known) - len(counts) == 36
    up = [
        item for item, (_, row) in samples.items() if row["homonym"] == "up" and row["judged_meaning"] == "out of bed"
    ]
    assert {counts[item] for item in up} == {5.0}
    for changed, wanted in (({}, (0.0768, 0.1539)), (dict.fromkeys(up, 0.0), (0.0724, 0.1222))):
        for split, rho in zip(("all", "dev"), wanted, strict=True):
            own = [item for item, (part, _) in samples.items() if split in ("all", part) and item in counts]
            means = [round(statistics.fmean(samples[item][1]["choices"]), 9) for item in own]
            found = spearman([changed.get(item, counts[item]) for item in own], means, resamples=0).value
            assert found == pytest.approx(rho, abs=0.00005)
    assert find_record(records, "sense_count_rho(with=mean)", condition="all").value == pytest.approx(
        0.0768, abs=0.00005
    )


@pytest.mark.published
def test_sense_counts_of_semcors_text(records: tuple[Record, ...], published: Path) -> None:
    """ρ of the tags in SemCor's own text: .0719 (p 1e-5), with the SD −.014; equal SDs are ties."""
    path = published / "semcor" / "semcor.gold.key.txt.gz"
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        assert semcor_counts() == Counter(key for line in stream for key in line.split()[1:])
    mean = find_record(records, "sense_count_rho(with=mean,counts=semcor)", condition="all")
    assert (mean.value, mean.p) == (pytest.approx(0.07190, abs=0.00001), pytest.approx(1.0139e-5, rel=0.001))
    assert find_record(records, "sense_count_rho(with=mean,counts=semcor,value=p)", condition="all").value == mean.p
    assert find_record(records, "sense_count_rho(with=sd)", condition="all").value == pytest.approx(-0.01587, abs=1e-5)
    sd = find_record(records, "sense_count_rho(with=sd,counts=semcor)", condition="all")
    assert (sd.value, sd.p) == (pytest.approx(-0.01408, abs=0.00001), pytest.approx(0.3878, abs=0.0001))


@pytest.mark.published
def test_predictions_of_one_word_do_not_break_the_run(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file with the samples of one word: its scores are said to be undefined, the rest stands."""
    monkeypatch.setenv("LEXISCOPE_DATA", str(published))
    items = [item for item in catalog.dataset("ambistory").items if item.conditions["split"] == "test"]
    own = [item.item_id for item in items if item.word == items[0].word]
    columns = {"subject_id": "mine", "subject_kind": "model", "task": "plausibility", "measure": "rating"}
    ResponseTable.from_columns(columns | {"item_id": own, "value": [4.0] * len(own)}).write_csv(tmp_path / "mine.csv")
    study.run(replace(SETTINGS, subjects=(f"recorded:{tmp_path / 'mine.csv'}",), compare=()), tmp_path / "run")
    found = read_records(tmp_path / "run" / "results.json")
    assert find_record(found, RHO, subject="mine").note.startswith(
        "undefined: readable replies to items of one word only"
    )
    assert find_record(found, "n_items_read", subject="mine").value == len(own)


@pytest.mark.published
def test_training_is_tested_on_paired_errors(records: tuple[Record, ...], published: Path) -> None:
    """Rounded means against 4: the mean absolute errors as computed by hand, V of the larger errors, p tiny."""
    pair = "scripted:mean vs scripted:four"
    means = [statistics.fmean(row["choices"]) for row in released(published)]
    errors = {"base": [abs(4 - mean) for mean in means], "tuned": [abs(int(mean + 0.5) - mean) for mean in means]}
    for which, values in errors.items():
        found = find_record(records, f"mean_absolute_error(of={which})", subject=pair).value
        assert found == pytest.approx(statistics.fmean(values), abs=1e-9)
    p = find_record(records, "signed_rank(of=tuned_minus_base)", subject=pair).p
    assert p is not None
    assert p < 1e-50
    # always 4 is as far from people's labels as the labels other than 4 are many; the rounded means are people's labels
    labels = [int(mean + 0.5) for mean in means]
    far = 100 * (1 - labels.count(4) / len(labels))
    assert find_record(records, "label_distance(of=base)", subject=pair).value == pytest.approx(far, abs=1e-9)
    shift = find_record(records, "label_distance_difference(of=tuned_minus_base)", subject=pair)
    assert (shift.value, shift.low) == (pytest.approx(-far, abs=1e-9), pytest.approx(-far, abs=9))
    # nobody gives 4 where people do not: one margin of the Stuart-Maxwell test is that of the moved samples
    moved = find_record(records, "marginal_homogeneity(of=tuned_minus_base)", subject=pair)
    assert moved.value == pytest.approx(len(labels) - labels.count(4), abs=1e-6)


def within_sd(rows: Sequence[Mapping[str, Any]], rule: Callable[[int], float]) -> list[bool]:
    """Whether what a rule says of each row lies within max(1, SD) of its mean."""
    means = [statistics.fmean(row["choices"]) for row in rows]
    limits = [max(1, statistics.stdev(row["choices"])) - 1e-9 for row in rows]
    return [abs(rule(k) - mean) < limit for k, (mean, limit) in enumerate(zip(means, limits, strict=True))]


@pytest.mark.published
def test_worked_examples_size_and_means_over_subjects(records: tuple[Record, ...], published: Path) -> None:
    """By hand: A with examples is the sibling rule, without the place; ended minus open; the means of A, B, C and D."""
    rows = released(published)
    means = [statistics.fmean(row["choices"]) for row in rows]
    rules_ = {
        "position": lambda k: (4, 2, 2, 4, 4, 4)[k % 6],
        "sibling": lambda k: int(6 - means[k ^ 1] + 0.5),
        "order": lambda k: int(MEANS_BY_PLACE[k % 6] + 0.5),
        "four": lambda _k: 4,
        "mean": lambda k: int(means[k] + 0.5),
    }
    right = {name: within_sd(rows, rule) for name, rule in rules_.items()}
    accuracy = {name: statistics.fmean(own) for name, own in right.items()}
    pair = {"subject": "scripted:sibling vs scripted:position"}
    few = find_record(records, "accuracy_difference(of=few_minus_zero)", **pair)
    assert few.value == pytest.approx(accuracy["sibling"] - accuracy["position"], abs=1e-12)
    test = find_record(records, "signed_rank(of=few_minus_zero)", **pair)
    assert (test.p is not None, test.family) == (True, "")
    assert find_record(records, "n_contrasts(of=few_minus_zero,outcome=closer)").value == 1
    kinds = {name: [statistics.fmean(hit for hit, row in zip(own, rows, strict=True) if bool(row["ending"]) is ended)
                    for ended in (False, True)] for name, own in right.items()}  # fmt: skip
    for name, (free, ended) in kinds.items():
        record = find_record(records, "accuracy_difference(of=ended_minus_open)", subject=f"scripted:{name}")
        assert record.value == pytest.approx(ended - free, abs=1e-12)
    zero = ("position", "order", "four", "mean")
    for column, kind in enumerate(("open", "ended")):
        name = "subjects_mean(of=accuracy_within_sd,shots=0)"
        record = find_record(records, name, condition=f"test, {kind}", subject="subjects of this run")
        assert record.value == pytest.approx(statistics.fmean(kinds[one][column] for one in zero), abs=1e-12)
        assert record.n == 4
    # by size A, C, B: the trained D does not count
    by_size = [accuracy[name] for name in ("position", "four", "order")]
    expected = stats.spearmanr([1, 2, 3], by_size).statistic
    trend = find_record(records, "spearman(of=n_parameters,with=accuracy_within_sd)", condition="test, 0 shots")
    assert (trend.value, trend.n) == (pytest.approx(expected), 3)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("scripted:nobody,A,0,,", "names no subject of this run"),
        ("scripted:four,A,some,,", "invalid literal"),
        ("scripted:four,,0,,", "has no model"),
    ],
)
def test_a_faulty_table_of_subjects_names_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, what: str
) -> None:
    """Line 2, and what is wrong there."""
    real, four = catalog.subject, Scripted("four", lambda _item: 4.0)
    monkeypatch.setattr(catalog, "subject", lambda spec: four if str(spec) == "scripted:four" else real(spec))
    table = tmp_path / "models.csv"
    table.write_text(f"{MODELS[0]}\n{line}\n", encoding="utf-8")
    settings = replace(MINI, subjects=("scripted:four",), models=str(table))
    with pytest.raises(InputError, match=what) as caught:
        load_run(settings, tmp_path / "run").variants  # noqa: B018 read when it is asked for
    assert caught.value.place is not None
    assert caught.value.place.line == 2


def test_thinking_is_counted_by_kind_of_story() -> None:
    """100 tokens for an open story, 40 for an ended one, one reply without a count: means and the most, by hand."""
    items = mini_ambistory.load().items
    free = [item.condition("story_kind") == "open" for item in items]
    counts = [100.0 if is_open else 40.0 for is_open in free]
    counts[0] = float("nan")
    columns = {"subject_id": "chat:m", "subject_kind": "chat", "task": "plausibility"}
    ids = {"item_id": [item.item_id for item in items]}
    rated = ResponseTable.from_columns({**columns, **ids, "measure": "rating", "value": [3.0] * len(items)})
    thought = ResponseTable.from_columns({**columns, **ids, "measure": "thinking_tokens", "value": counts})
    facts = {"chat:m": SubjectFacts("chat:m", kind="chat")}
    run = AmbistoryData(mini_ambistory.load(), ResponseTable.concat([rated, thought]), MINI, facts=facts)
    part = study.analyse(run)["subjects"]
    known = [count for count in counts if count == count]
    for condition, mean in (("all", statistics.fmean(known)), ("all, open", 100.0), ("all, ended", 40.0)):
        record = find_record(part.records, "thinking_tokens(summary=mean)", condition=condition)
        assert (record.value, record.subject) == (pytest.approx(mean), "chat:m")
    assert find_record(part.records, "thinking_tokens(summary=mean)", condition="all").n == len(items) - 1
    assert find_record(part.records, "thinking_tokens(summary=max)", condition="all, ended").value == 40.0
    assert "thinking" in {table.name for table in part.tables}


def test_what_is_undefined_is_a_result_with_its_reason() -> None:
    """Raters who give half of the stories 2 and half 4: no majority label, and nothing is left of the variance."""
    items = mini_ambistory.load().items
    values = [2.0 if number % 2 else 4.0 for number in range(len(items))]
    ids = {"item_id": [item.item_id for item in items], "task": "plausibility", "measure": "rating", "value": values}
    raters = [
        ResponseTable.from_columns({**ids, "subject_id": name, "subject_kind": "participant"}) for name in ("a", "b")
    ]
    data = replace(mini_ambistory.load(), responses=ResponseTable.concat(raters))
    run = AmbistoryData(data, ResponseTable.empty(), MINI)
    parts = study.analyse(run)
    left = find_record(parts["Q1"].records, "variance(of=rater)")
    assert (left.value, "nothing is left" in left.note) == (None, True)
    label = find_record(parts["Q4"].records, accuracy_name(), subject="Majority")
    assert (label.value, label.note) == (
        None, "undefined: 2 and 4 are equally frequent in all splits: there is no majority label"
    )  # fmt: skip


def test_chat_models_are_paired_by_their_specs() -> None:
    """One model without and with four examples is a pair, another address is another model."""
    where = "chat:m@http://127.0.0.1:9/v1"
    specs = (f"{where}?variant=published", f"{where}?variant=published&shots=4", "chat:m@http://127.0.0.1:8/v1?shots=4")
    items = mini_ambistory.load().items
    columns = {"subject_kind": "chat", "task": "plausibility", "measure": "rating", "value": [3.0] * len(items)}
    rows = [
        ResponseTable.from_columns({**columns, "subject_id": spec, "item_id": [item.item_id for item in items]})
        for spec in specs
    ]
    facts = {spec: SubjectFacts(spec, kind="chat") for spec in specs}
    run = AmbistoryData(mini_ambistory.load(), ResponseTable.concat(rows), MINI, facts=facts)
    assert [(zero.subject, few.subject) for zero, few in run.variants.shot_pairs] == [specs[:2]]
    shots = {spec: about.shots for spec, about in run.variants.described.items()}
    assert shots == dict(zip(specs, (0, 4, 4), strict=True))


@pytest.mark.published
def test_the_report_says_what_the_data_do_not_support(ambistory_run: Path) -> None:
    """Statements of the paper, single samples, and the sheet for tags, without the names of subjects."""
    text = (ambistory_run / "report.html").read_text(encoding="utf-8")
    statements = ("Statements that the data do not support", "Its ratings are 5, 3, 5, 4, 5", "It is no ceiling")
    for words in (*statements, "The samples with the largest errors"):
        assert words in text
    with (ambistory_run / "error_coding.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert set(rows[0]) == set(ERROR_SHEET.form.header)
    assert len(rows) == 30 * 4, "position, order, sibling and four err on 30 samples or more"
    assert "error_coding.csv" in read_json(ambistory_run / "run.json")["files"]


@pytest.mark.published
def test_coded_errors_have_a_section(published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two made-up coders tag the errors of always 4: shares by coder and subject, agreement and kappa as by hand."""
    real, four = catalog.subject, Scripted("four", lambda _item: 4.0)
    monkeypatch.setenv("LEXISCOPE_DATA", str(published))
    monkeypatch.setattr(catalog, "subject", lambda spec: four if str(spec) == "scripted:four" else real(spec))
    settings = replace(SETTINGS, dataset="ambistory", subjects=("scripted:four",), compare=())
    run = load_run(settings, tmp_path / "run")
    (sheet,) = write_sheets(run, tmp_path, ())
    with (tmp_path / sheet).open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 30
    for coder, n_red in (("ana", 12), ("ben", 9)):
        with (tmp_path / f"{coder}.csv").open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, ERROR_SHEET.form.header)
            writer.writeheader()
            for number, row in enumerate(rows):
                writer.writerow({**row, "red_herring" if number < n_red else "none_of_these": "x"})
    files = tuple(str(tmp_path / f"{coder}.csv") for coder in ("ana", "ben"))
    part = error_tags(replace(run, settings=replace(settings, codings=files)))
    share = find_record(
        part.records, "error_tag_share(tag=red_herring)", subject="scripted:four", condition="test, coder ana"
    )
    assert (share.value, share.n) == (pytest.approx(100 * 12 / 30), 30)
    pair = {"condition": "test, ana and ben"}
    assert find_record(part.records, "error_tag_same(tag=red_herring)", **pair).value == pytest.approx(100 * 27 / 30)
    # by chance both say yes .4 * .3 and no .6 * .7: (.9 - .54) / .46
    assert find_record(part.records, "error_tag_kappa(tag=red_herring)", **pair).value == pytest.approx(0.36 / 0.46)
    assert find_record(part.records, "error_tag_kappa(tag=open_ended)", **pair).note.startswith("undefined")
    assert [table.name for table in part.tables] == ["error_tags", "error_tag_agreement"]
    assert {one.statistic.partition("(")[0] for one in part.records} <= set(study.STATISTICS)
    assert set(given_files(replace(settings, codings=files))) == set(files), "another sheet is another run"
    assert error_tags(run) is None
    with pytest.raises(InputError, match="same file name"):
        error_tags(replace(run, settings=replace(settings, codings=(files[0], str(tmp_path / "other" / "ana.csv")))))


def commented(folder: Path, ids: Sequence[str]) -> Path:
    """The export of a study, as far as it matters: six comments of two simulated raters, one of nobody in the run."""
    path = folder / "judgments.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["item_id", "participant_id", "response", "comment", "excluded"])
        for number, item in enumerate(ids[:3]):
            for rater in ("simulated-a-1", "simulated-b-2"):
                writer.writerow([item, rater, "3", f"Comment {number} of\n{rater[-1]}", ""])
        writer.writerow([ids[3], "simulated-a-1", "3", "  ", ""])
        writer.writerow([ids[3], "excluded", "1", "I know only one meaning", "yes"])
    return path


def test_comments_are_coded_beside_ratings(tmp_path: Path) -> None:
    """Counts by kind of story, shares by code and coder, the ratings and SDs beside a code, agreement: all by hand.

    Ana sees a rare meaning in the first four of six comments, Ben in the first two and the last.
    """
    items = catalog.dataset(str(SIMULATED / "stories.py")).items
    ids = [item.item_id for item in items if item.condition("story_kind") == "ended"][:2]
    ids += [item.item_id for item in items if item.condition("story_kind") == "open"][:2]
    settings = AmbistorySettings(dataset=str(SIMULATED / "stories.py"), n_bootstrap=10)
    settings = replace(settings, comments=str(commented(tmp_path, ids)))
    study.run(settings, tmp_path / "first")
    with (tmp_path / "first" / "comment_coding.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["comment"] for row in rows] == [f"Comment {k} of {r}" for k in range(3) for r in "12"]
    assert not any("simulated" in row["case_id"].partition("#")[2] for row in rows)
    for coder, marked in (("ana", (0, 1, 2, 3)), ("ben", (0, 1, 5))):
        with (tmp_path / f"{coder}.csv").open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, COMMENT_SHEET.form.header)
            writer.writeheader()
            for number, row in enumerate(rows):
                writer.writerow({**row, "rare_meaning" if number in marked else "none_of_these": "x"})
    files = tuple(str(tmp_path / f"{coder}.csv") for coder in ("ana", "ben"))
    run = load_run(replace(settings, comment_codings=files), tmp_path / "run")
    part = raters_comments(run)
    assert part is not None
    first = str(part.paragraphs[0])
    assert first.startswith("6 comments on ")
    assert "1 more" in first
    n_ratings = {kind: sum(6 for item in items if kind in ("all", item.condition("story_kind")))
                 for kind in ("all", "open", "ended")}  # fmt: skip
    for kind, n in (("all", 6), ("open", 2), ("ended", 4)):
        assert find_record(part.records, "n_comments", condition=kind).value == n
        share = find_record(part.records, "comment_share", condition=kind)
        assert share.value == pytest.approx(100 * n / n_ratings[kind])
    code = "comment_code_{}(tag=rare_meaning)"
    for where, expected in (("all, coder ana", 400 / 6), ("open, coder ben", 50.0), ("ended, coder ana", 100.0)):
        assert find_record(part.records, code.format("share"), condition=where).value == pytest.approx(expected)
    ratings = run.responses.where(measure="rating")
    by_item = {item: ratings.where(item_id=item).column("value").tolist() for item in ids}
    beside = [ratings.where(item_id=item, subject_id=f"simulated-{rater}").column("value")[0]
              for item in ids[:2] for rater in ("a-1", "b-2")]  # fmt: skip
    own = {"condition": "coder ana"}
    assert find_record(part.records, code.format("rating"), **own).value == pytest.approx(statistics.fmean(beside))
    sd = statistics.fmean(statistics.stdev(by_item[item]) for item in ids[:2])
    assert find_record(part.records, code.format("sd"), **own).value == pytest.approx(sd)
    # the same on 0, 1 and 4: 3 of 6; by chance both yes 2/3 * 1/2, both no 1/3 * 1/2
    pair = {"condition": "comments, ana and ben"}
    assert find_record(part.records, code.format("same"), **pair).value == pytest.approx(50.0)
    assert find_record(part.records, code.format("kappa"), **pair).value == pytest.approx(0.0, abs=1e-9)
    assert {record.statistic.partition("(")[0] for record in part.records} <= set(study.STATISTICS)
    assert {f"comment_code_share(tag={tag})" for tag in COMMENT_CODES} <= {r.statistic for r in part.records}
    assert [table.name for table in part.tables] == [
        "comments", "comment_codes", "comment_ratings", "comment_code_agreement"
    ]  # fmt: skip
    assert "What simulated raters wrote with" in (tmp_path / "first" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        (["item_id,comment", "x,y"], "needs item_id, participant_id, comment"),
        (["item_id,participant_id,comment", "nothing,nobody,what?"], "none of 1 comment belongs to a rating"),
        (["item_id,participant_id,comment", *["{item},simulated-a-1,odd"] * 2], "two comments on this item"),
        (
            ["item_id,participant_id,phase,comment", *(f"{{item}},simulated-a-1,{phase},odd" for phase in "ab")],
            "two comments on this item",
        ),
    ],
)
def test_comments_that_cannot_be_read(tmp_path: Path, lines: list[str], what: str) -> None:
    """Columns that are missing, a file of another study, two comments of one rater on one item."""
    dataset = str(SIMULATED / "stories.py")
    item = catalog.dataset(dataset).items[0].item_id
    path = tmp_path / "c.csv"
    path.write_text("\n".join(lines).format(item=item) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=what):
        raters_comments(load_run(AmbistorySettings(dataset=dataset, comments=str(path)), tmp_path / "run"))
    with pytest.raises(InputError, match="need the comments"):
        raters_comments(load_run(AmbistorySettings(dataset=dataset, comment_codings=(str(path),)), tmp_path / "run"))


# -- a chat endpoint on the mini stories ----------------------------------------------------------------------


@pytest.fixture
def serve() -> Iterator[Callable[[FakeChat], str]]:
    with ExitStack() as stack:
        yield lambda endpoint: stack.enter_context(serving(endpoint))


def stumbling(body: Body) -> str:
    """Every third story is refused, every fifth answered in prose; the others get a number."""
    key = sum(body["messages"][-1]["content"].encode())
    if key % 3 == 0:
        return "I'm sorry, I can't rate that."
    return "Both seem plausible to me." if key % 5 == 0 else str(key % 5 + 1)


def test_a_chat_model_answers_the_stories(serve: Callable[[FakeChat], str], tmp_path: Path) -> None:
    """Replies that cannot be read are counted by kind, labels shown; a broken run asks nothing again, ends alike."""
    endpoint = FakeChat(says=stumbling)
    settings = replace(MINI, subjects=(f"chat:m@{serve(endpoint)}?backoff=0.001",))
    out = tmp_path / "run"
    summary = study.run(settings, out)
    said = [stumbling(body) for body in endpoint.received]
    # the probe is no answer: what was paid once for each of the 144 samples counts
    subject = settings.subjects[0]
    found = read_records(out / "results.json")
    (counted,) = [one for one in found if one.statistic == "n_unreadable"]
    kinds = {one.statistic: one.value for one in found if one.statistic.startswith("n_unreadable(")}
    assert counted.value == sum(value or 0 for value in kinds.values()) > 0
    assert {"n_unreadable(kind=refusal)", "n_unreadable(kind=prose)"} == set(kinds)
    assert len(said) >= len(mini_ambistory.load().items)
    assert {one.subject for one in found if one.statistic.startswith("label_share")} == {counted.subject}
    assert counted.subject.startswith(subject.partition("?")[0])
    text = summary.report.read_text(encoding="utf-8")
    assert "could not be read" in text
    read, n = (next(one.value for one in found if one.statistic == name) for name in ("n_items_read", "n_items_asked"))
    assert (n, read) == (144, 144 - (counted.value or 0))
    # Tables 3 (replies alone: nobody rated), 6 and the overview of the screen have both numbers
    assert f"{read:.0f} / {n:.0f}" in text
    asked, before = len(endpoint.received), _bytes(out)
    (out / "run.json").unlink()
    (out / "results.json").unlink()
    study.run(settings, out)
    assert len(endpoint.received) == asked, "answers are kept"
    assert _bytes(out) == before
    assert "finished before" in study.run(settings, out).remarks[0]


@pytest.mark.published
def test_a_chat_model_with_and_without_the_papers_examples(
    serve: Callable[[FakeChat], str], published: Path, tmp_path: Path
) -> None:
    """The paper's own prompt, zero- and four-shot, on stories with simulated ratings: one run contrasts the two.

    The endpoint follows the ending where it is shown examples (it looks the story up), and says 3 without.
    """
    items = catalog.dataset(str(SIMULATED / "stories.py")).items
    told = {"intended": "4", "unintended": "2", "open": "3"}
    right = {(story_text(item, f"**{item.usages[0].text}**"), str(item.condition("sense"))):
             told[str(item.condition("intention"))] for item in items}  # fmt: skip

    def says(body: Body) -> str:
        (message,) = body["messages"]
        asked = message["content"].rpartition("Now take a look at ")[2]
        if "Correct answer: 5" not in message["content"]:
            return "3"
        return next(rating for (story, sense), rating in right.items() if story in asked and f'"{sense}"' in asked)

    endpoint = FakeChat(says=says)
    where = f"chat:m@{serve(endpoint)}?variant=published"
    dataset = str(SIMULATED / "stories.py")
    settings = AmbistorySettings(dataset=dataset, n_bootstrap=10, subjects=(where, f"{where}&shots=4"))
    contrast, counts = worked_examples(load_run(settings, tmp_path / "run"))
    assert contrast is not None
    assert counts is not None
    assert len(endpoint.received) == 2 * len(items)
    assert {message["role"] for body in endpoint.received for message in body["messages"]} == {"user"}
    pair = {"subject": f"{where}&shots=4 vs {where}"}
    assert find_record(contrast.records, "signed_rank(of=few_minus_zero)", **pair).n == len(items)
    assert "undefined" in find_record(contrast.records, "spearman_difference(of=few_minus_zero)", **pair).note
    assert find_record(counts.records, "n_contrasts(of=few_minus_zero,outcome=closer)").value == 1
    errors = [
        find_record(contrast.records, f"mean_absolute_error(of={side})", **pair).value for side in ("zero", "few")
    ]
    ratings = catalog.dataset(dataset).responses.where(measure="rating")
    means = {item.item_id: statistics.fmean(ratings.where(item_id=item.item_id).column("value")) for item in items}
    said = [lambda _item: 3.0, lambda item: float(told[str(item.condition("intention"))])]
    by_hand = [statistics.fmean(abs(rule(item) - means[item.item_id]) for item in items) for rule in said]
    assert errors == pytest.approx(by_hand)


def _bytes(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in ("machine.json", ".lock")]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_recorded_predictions_of_a_file(tmp_path: Path) -> None:
    """Predictions that somebody else made stand in the tables under their own name; another file is another run."""
    items = mini_ambistory.load().items
    file = tmp_path / "mine.csv"

    def write(value: float) -> None:
        columns = {"subject_id": "my_model", "subject_kind": "model", "task": "plausibility", "measure": "rating"}
        own = {"item_id": [item.item_id for item in items], "value": [value] * len(items)}
        ResponseTable.from_columns(columns | own).write_csv(file)

    settings = replace(MINI, subjects=(f"recorded:{file}",))
    write(2.0)
    study.run(settings, tmp_path / "run")
    shares = {
        one.statistic: one.value
        for one in read_records(tmp_path / "run" / "results.json")
        if one.subject == "my_model" and one.condition == "all, all" and one.statistic.startswith("label_share")
    }
    assert shares["label_share(point=2)"] == 100.0
    before = read_json(tmp_path / "run" / "run.json")["given"]
    write(3.0)
    assert before != {str(file): hashlib.sha256(file.read_bytes()).hexdigest()}
    assert study.run(settings, tmp_path / "run2").remarks != ("this run was finished before",)


@pytest.mark.parametrize(
    ("values", "repeats", "code", "what"),
    [
        ([4.0, 6.0, 3.0], [0, 0, 1], "E301", "the rating 6, which is not on the scale 1 to 5"),
        ([4.0, 3.0, 2.0], [0, 0, 0], "E502", "gave two answers of the measure 'rating' to this item"),
        ([4.0, 3.0, 2.0], [0, 0, 1], "", ""),
    ],
)
def test_recorded_predictions_are_checked(
    tmp_path: Path, values: list[float], repeats: list[int], code: str, what: str
) -> None:
    """A value beyond the scale, and two rows of one time of asking, are refused by name; repetitions are not."""
    ids = [item.item_id for item in mini_ambistory.load().items[:2]]
    file = tmp_path / "mine.csv"
    columns = {"subject_id": "my_model", "subject_kind": "model", "task": "plausibility", "measure": "rating"}
    own = {"item_id": [ids[0], ids[1], ids[1]], "value": values, "repeat": repeats}
    ResponseTable.from_columns(columns | own).write_csv(file)
    settings = replace(MINI, subjects=(f"recorded:{file}",))
    if not code:
        study.run(settings, tmp_path / "run")
        return
    with pytest.raises(InputError) as caught:
        study.run(settings, tmp_path / "run")
    assert caught.value.code == code
    assert what in caught.value.what
    assert caught.value.place is not None
    assert caught.value.place.item_id == ids[1]


def test_the_subjects_table_has_the_seed_of_the_run(tmp_path: Path) -> None:
    """baseline:random draws with the seed of the run, and the table of subjects says with which."""
    run = load_run(replace(MINI, seed=7), tmp_path)
    assert run.facts["baseline:random"].revision == "1 seed=7"


def test_what_cannot_run_is_refused_before_any_work(tmp_path: Path) -> None:
    """Another dataset, nobody to ask, a comparison of a subject that there is not."""
    for settings, error, what in (
        (replace(MINI, dataset="mini_relatedness"), SpecError, "no stories"),
        (replace(MINI, subjects=()), InputError, "no subject was asked"),
    ):
        with pytest.raises(error, match=what):
            study.run(settings, tmp_path / what.replace(" ", "_"))
    with pytest.raises(InputError, match="named twice"):
        AmbistorySettings(compare=(("a", "b"), ("a", "c")))


@pytest.mark.published
def test_nearness_of_story_and_meaning_by_layer(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Distances that fall with people's means are ranked as people rank, and constant ones have no correlation."""
    monkeypatch.setenv("LEXISCOPE_DATA", str(published))
    settings = AmbistorySettings(dataset="ambistory", n_bootstrap=5)
    run = load_run(settings, tmp_path)
    means = {f"ambistory/{row['sample_id']}": statistics.fmean(row["choices"]) for row in released(published)}
    who = {"subject_id": "encoder:planted", "subject_kind": "encoder", "task": "plausibility", "view": "full"}
    planted = {"item_id": [*means, *means], "measure": "cosine_distance", "layer": [0] * len(means) + [1] * len(means)}
    values = [0.5] * len(means) + [(5 - mean) / 4 for mean in means.values()]
    rows = ResponseTable.from_columns(who | planted | {"value": values})
    part = study.analyse(replace(run, answers=rows))["Q4"]
    constant, falling = [one for one in part.records if one.statistic == "spearman(of=nearness,with=norms)"]
    assert (constant.layer, constant.value) == (0, None)
    assert "undefined" in constant.note
    assert (falling.layer, falling.n) == (1, 930)
    assert falling.value == pytest.approx(1)


@pytest.mark.parametrize(
    ("conditions", "what"),
    [
        ({"sense": ""}, "does not name the meaning that is judged"),
        ({"sense": "a side of a river", "intended": "maybe"}, "'maybe' in the column intended"),
    ],
)
def test_own_stories_that_cannot_be_placed_are_refused(conditions: dict[str, str], what: str) -> None:
    """An unreadable word in `intended` is no missing one: without the error all its results would be undefined."""
    usage = Usage("They reached the bank.", 17, 21, language="en")
    with pytest.raises(InputError, match=what) as refused:
        placed_stories([Item("s/1", "own", (usage,), conditions={"ending": "It rained.", **conditions})])
    assert str(refused.value.place) == "item 's/1'"


def test_of_other_ratings_nothing_of_the_papers_is_said(tmp_path: Path) -> None:
    """Six raters with ids: a mean has six ratings, nobody recovered an id, and no difference of raters is claimed."""
    settings = AmbistorySettings(dataset=str(SIMULATED / "stories.py"), n_bootstrap=10)
    part = study.analyse(load_run(settings, tmp_path))["Q1"]
    names = {record.statistic for record in part.records}
    assert "icc(model=2,ratings=6)" in names
    assert any(name.startswith("reliability_of_means(") and "ratings=6" in name for name in names)
    assert not any("ratings=5" in name for name in names)
    assert not any("never published" in str(text) for text in part.paragraphs)
    (note,) = next(table for table in part.tables if table.name == "variance").notes
    assert "Do raters differ in leniency? F(4, 572) = 0.22, p = .930." in note
