"""The study of any ratings: its numbers are recomputed from the raw file with pandas and scipy."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

from lexiscope.core.errors import InputError
from lexiscope.core.result import Record, read_records
from lexiscope.report.answers.numbers import Numbers
from lexiscope.studies.any_ratings import answers, study
from lexiscope.studies.any_ratings.settings import AnyRatingsSettings

RATERS, WORDS, ITEMS = 7, 6, 24
"""Simulated raters; the last one rates at random, and one rating in 17 is missing."""


def _unit(*parts: object) -> float:
    """A number from -1 to 1 that follows from a name, on every machine."""
    return crc32(" ".join(map(str, parts)).encode()) / 2**31 - 1


def raw() -> pd.DataFrame:
    """Ratings of 1 to 5: items of one sense are rated 1.2 higher; raters, items and single ratings differ."""
    rows = []
    for rater, item in itertools.product(range(RATERS), range(ITEMS)):
        sense, frequency = ("different", "same")[item % 2], round(2.5 + 2 * _unit("f", item), 2)
        value = 2.4 + 1.2 * (sense == "same") + 0.5 * _unit(rater) + 0.7 * _unit("i", item) + 0.8 * _unit(rater, item)
        if rater == RATERS - 1:
            value = 3 + 2 * _unit("random", item)
        rating = None if (rater * ITEMS + item) % 17 == 3 else float(np.clip(round(value), 1, 5))
        who = f"simulated-{rater}"
        rows.append((who, f"i{item:02}", f"w{item // 4}", sense, frequency, ("A", "B")[rater % 2], rating))
    return pd.DataFrame(rows, columns=["participant", "item", "word", "sense", "frequency", "group", "rating"])


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on that file."""
    folder = tmp_path_factory.mktemp("any")
    raw().to_csv(folder / "raw.csv", index=False)
    settings = AnyRatingsSettings(
        file=str(folder / "raw.csv"), columns=("rater_group=group",), n_bootstrap=20, starts=1
    )
    study.run(settings, folder / "run", command="test")
    return folder / "run"


@pytest.fixture(scope="module")
def records(run_folder: Path) -> list[Record]:
    """The records of that run."""
    return list(read_records(run_folder / "results.json"))


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """The ratings that were given."""
    return raw().dropna(subset="rating")


def _value(records: list[Record], statistic: str, condition: str = "") -> float:
    own = [r for r in records if r.statistic == statistic and r.condition == condition]
    assert len(own) == 1, f"{statistic} {condition}: {len(own)} records"
    assert own[0].value is not None
    return own[0].value


def test_each_rater_against_the_mean_of_the_others(records: list[Record], table: pd.DataFrame) -> None:
    """ρ of each rater with the mean of all others, over the items that both rated; the screen has their mean."""
    wide = table.pivot(index="item", columns="participant", values="rating")
    expected = {}
    for rater in wide.columns:
        others = wide.drop(columns=rater).mean(axis=1)
        both = wide[rater].notna() & others.notna()
        expected[rater] = stats.spearmanr(wide[rater][both], others[both]).statistic
    for rater, value in expected.items():
        assert _value(records, "rater_agreement(method=spearman)", f"rater={rater}") == pytest.approx(value)
    mean = np.mean(list(expected.values()))
    assert _value(records, "leave_one_out_agreement(method=spearman,summary=mean)") == pytest.approx(mean)
    squared = "squared_mean_rater_correlation(variant=leave_one_out,method=spearman)"
    assert _value(records, squared) == pytest.approx(mean**2)
    pairs = [wide[list(pair)].dropna() for pair in itertools.combinations(wide.columns, 2)]
    mean_of_pairs = np.mean([stats.spearmanr(pair.iloc[:, 0], pair.iloc[:, 1]).statistic for pair in pairs])
    assert _value(records, "pairwise_agreement(method=spearman)") == pytest.approx(mean_of_pairs)


def test_alpha_by_its_definition(records: list[Record], table: pd.DataFrame) -> None:
    """1 minus observed over expected disagreement of pairs of values (Krippendorff), with squared differences."""
    groups = [own.to_numpy() for _, own in table.groupby("item")["rating"] if len(own) > 1]
    n = sum(map(len, groups))
    observed = sum(((own[:, None] - own[None, :]) ** 2).sum() / (len(own) - 1) for own in groups) / n
    every = np.concatenate(groups)
    expected = ((every[:, None] - every[None, :]) ** 2).sum() / (n * (n - 1))
    assert _value(records, "krippendorff_alpha(level=interval)") == pytest.approx(1 - observed / expected)


def test_items_points_and_means(records: list[Record], table: pd.DataFrame) -> None:
    """Counts of points, mean of the items' means, the items with the highest SD (ddof 1), in their order."""
    for point, n in table["rating"].value_counts().items():
        assert _value(records, "n_ratings_at", f"{point:g}") == n
    by_item = table.groupby("item")["rating"]
    assert _value(records, "mean_rating(over=items)") == pytest.approx(by_item.mean().mean())
    assert _value(records, "mean_item_sd(ddof=1)") == pytest.approx(by_item.std(ddof=1).mean())
    named = [(r.condition, r.value) for r in records if r.statistic == "item_sd(ddof=1)"]
    highest = by_item.std(ddof=1).sort_values(ascending=False).head(10)
    assert [value for _, value in named] == pytest.approx(highest.to_list())
    assert all(by_item.std(ddof=1)[str(name).removeprefix("item=")] == pytest.approx(value) for name, value in named)
    assert _value(records, "n_trials") == len(table) == RATERS * ITEMS - raw()["rating"].isna().sum()


def test_conditions(records: list[Record], table: pd.DataFrame) -> None:
    """Means of items by level, their difference, the correlation of a number, the test in the stated mixed model."""
    means = table.groupby(["sense", "item"])["rating"].mean()
    level = {name: means[name].mean() for name in ("different", "same")}
    for name, value in level.items():
        assert _value(records, "mean_rating(over=items)", f"sense={name}") == pytest.approx(value)
    difference = level["different"] - level["same"]
    assert _value(records, "mean_difference", "sense=different − sense=same") == pytest.approx(difference)
    frequency = table.groupby("item")["frequency"].first()
    norm = table.groupby("item")["rating"].mean()
    rho = stats.spearmanr(frequency, norm).statistic
    assert _value(records, "spearman(of=frequency,with=norms)") == pytest.approx(rho)
    same = (table["sense"] == "same").to_numpy(dtype=float)
    deviances = [
        _lowest_deviance(table, same, fixed) for fixed in (np.column_stack([same**0, same]), same[:, None] ** 0)
    ]
    assert _value(records, "chi2(df=1)", "sense") == pytest.approx(deviances[1] - deviances[0], abs=0.01)


def _lowest_deviance(table: pd.DataFrame, same: np.ndarray, fixed: np.ndarray) -> float:
    """−2 log likelihood of rating ~ fixed + (1 + same | participant) + (1 | item) + (1 | word), by its definition."""
    rating, n = table["rating"].to_numpy(), len(table)
    alike = {
        name: np.equal.outer(*[table[name].to_numpy()] * 2).astype(float) for name in ("participant", "item", "word")
    }
    slopes = np.column_stack([np.ones(n), same])

    def deviance(theta: np.ndarray) -> float:
        lower = np.array([[theta[0], 0], [theta[1], theta[2]]])
        of_raters = slopes @ lower @ lower.T @ slopes.T * alike["participant"]
        root = np.linalg.cholesky(np.eye(n) + of_raters + theta[3] ** 2 * alike["item"] + theta[4] ** 2 * alike["word"])
        white, design = np.linalg.solve(root, rating), np.linalg.solve(root, fixed)
        residuals = white - design @ np.linalg.lstsq(design, white, rcond=None)[0]
        return n * np.log(2 * np.pi * (residuals @ residuals) / n) + n + 2 * np.log(np.diag(root)).sum()

    return min(optimize.minimize(deviance, start, method="Powell").fun for start in ([0.5, 0, 0.2, 0.5, 0.3],))


def test_the_rater_who_answers_at_random_is_named(run_folder: Path) -> None:
    """A rater far below the others is named in the report, and included."""
    page = (run_folder / "report.html").read_text(encoding="utf-8")
    assert f"1 rater of {RATERS} does not agree with the others" in page
    assert f"simulated-{RATERS - 1} (" in page


def test_the_page_answers_in_the_words_of_the_file(run_folder: Path, records: list[Record]) -> None:
    """The question at the top is about the conditions; each answer is a sentence with direction, size and interval."""
    page = (run_folder / "report.html").read_text(encoding="utf-8")
    results = page.partition('id="results"')[2].partition('id="data"')[0]
    assert "<h1>Do the conditions change the ratings?" in results
    (difference,) = (r for r in records if r.statistic == "mean_difference" and r.question == "Q4")
    size = abs(difference.value or 0.0)
    assert f"Items with sense “same” were rated {size:.2f} points higher, 95% CI [" in results
    assert "(summary = " not in results
    assert "(over = items)" not in results


def test_models_are_compared_with_people() -> None:
    """Models: the value at a layer chosen on other words, the person among them; differences count after adjustment."""
    made = [
        Record("spearman(with=norms)", 0.8, subject="chat", low=0.75, high=0.85),
        Record("spearman(with=norms)", 0.6, subject="encoder", layer=3, low=0.5, high=0.7),
        Record("spearman(with=norms,layer=chosen)", 0.58, subject="encoder", low=0.5, high=0.66),
        Record("mean_rater_correlation(variant=leave_one_out,method=spearman)", 0.7, low=0.65, high=0.75),
        Record("spearman_difference(with=norms)", -0.2, subject="encoder@3 − chat", low=-0.3, high=-0.1, p=0.01),
    ]
    closest = answers.CLOSENESS.answer(Numbers(tuple(made)))
    assert closest is not None
    assert closest.sentences[0].endswith(
        "the highest is chat, ρ = .80, 95% CI [.75, .85], the lowest encoder, ρ = .58 [.50, .66]."
    )
    pairs = answers.differences(Numbers(tuple(made)), None)
    assert pairs is not None
    assert pairs.verdict == "Yes."
    assert pairs.sentences[1] == "The largest is that of chat minus encoder (layer 3): Δρ = .20, 95% CI [.10, .30]."
    open_ = answers.differences(Numbers((replace(made[-1], p=0.01, p_adjusted=0.2),)), None)
    assert open_ is not None
    assert open_.verdict == "Not decided."


_OF_TWO = "conditions(method=holm,tests=2)"


def test_conditions_that_do_not_differ_are_open() -> None:
    """An interval around 0 is not decided; a condition of several levels is told by its test."""
    made = (
        Record("mean_difference", -0.1, condition="a=x − a=y", low=-0.3, high=0.1),
        Record("chi2(df=1)", 0.5, condition="a", p=0.48, p_adjusted=0.48, family=_OF_TWO),
        Record("chi2(df=2)", 30.0, condition="b", p=1e-6, p_adjusted=2e-6, family=_OF_TWO),
    )
    answer = answers.condition_effects(Numbers(made), None)
    assert answer is not None
    assert answer.verdict == "Partly."
    assert answer.sentences == (
        "The levels of b change the ratings: χ²(2) = 30.00, p < .001 adjusted for 2 tests.",
        "Items with a “y” and items with a “x” differ by 0.10 points, 95% CI [−0.10, 0.30]: these data allow a "
        "difference in either direction, p = .480 adjusted for 2 tests.",
    )
    assert answer.drawing is None


def test_the_adjusted_p_decides() -> None:
    """A raw p below .05 whose adjusted p is not decides nothing, with two levels, with several, and with a number."""
    made = (
        Record("mean_difference", 0.2, condition="a=x − a=y", low=0.01, high=0.39),
        Record("chi2(df=1)", 4.2, condition="a", p=0.04, p_adjusted=0.08, family=_OF_TWO),
        Record("chi2(df=2)", 6.4, condition="b", p=0.04, p_adjusted=0.08, family=_OF_TWO),
    )
    answer = answers.condition_effects(Numbers(made), None)
    assert answer is not None
    assert answer.verdict == "Not decided."
    assert answer.sentences == (
        "Items with a “x” and items with a “y” differ by 0.20 points, 95% CI [0.01, 0.39]: this difference is not "
        "decided, p = .080 adjusted for 2 tests.",
        "The levels of b are not shown to change the ratings: χ²(2) = 6.40, p = .080 adjusted for 2 tests.",
    )
    alone = answers.condition_effects(Numbers((made[0], replace(made[1], p_adjusted=None, family=""))), None)
    assert alone is not None
    assert alone.verdict == "Yes."
    assert alone.sentences[0].endswith("higher, 95% CI [0.01, 0.39], than items with a “y”, p = .040.")
    number = (
        Record("spearman(of=length,with=norms)", 0.2, low=0.1, high=0.3),
        Record("chi2(df=1)", 4.2, condition="length", p=0.04, p_adjusted=0.08, family=_OF_TWO),
    )
    of_number = answers.condition_effects(Numbers(number), None)
    assert of_number is not None
    assert of_number.verdict == "Not decided."
    assert of_number.sentences == (
        "The mean ratings correlate with length: ρ = .20, 95% CI [.10, .30]; χ²(1) = 4.20, p = .080 adjusted for 2 "
        "tests.",
    )


def test_a_planted_effect_is_told_from_two_null_conditions(tmp_path: Path) -> None:
    """Of three conditions one raises every rating: it alone is decided, by Holm's p, which is here worked out anew."""
    dice = np.random.default_rng(3)
    levels = {"planted": ("x", "y"), "null_two": ("p", "q"), "null_three": ("k", "l", "m")}
    of_item = {name: dice.permutation(np.resize(own, 24)) for name, own in levels.items()}
    noise_of_item, severity = dice.normal(0, 0.3, 24), dice.normal(0, 0.3, 8)
    rows = []
    for item, rater in itertools.product(range(24), range(8)):
        rating = 50 + 10 * (
            2 * (of_item["planted"][item] == "x") + noise_of_item[item] + severity[rater] + dice.normal(0, 0.5)
        )
        conditions = {name: own[item] for name, own in of_item.items()}
        rows.append(conditions | {"rater": f"simulated-{rater}", "item": f"i{item:02}", "rating": round(rating)})
    pd.DataFrame(rows).to_csv(tmp_path / "raw.csv", index=False)
    settings = AnyRatingsSettings(file=str(tmp_path / "raw.csv"), scale=(1, 100), n_bootstrap=50, starts=1)
    study.run(settings, tmp_path / "run", command="test")
    records = read_records(tmp_path / "run" / "results.json")
    tests = {r.condition: r for r in records if r.statistic.startswith("chi2(") and r.question == "Q4"}
    assert tests.keys() == levels.keys()
    # Holm: the k-th smallest of m is multiplied by m − k + 1, never below the one before, at most 1
    highest, expected = 0.0, {}
    for k, (name, record) in enumerate(sorted(tests.items(), key=lambda entry: entry[1].p or 0.0)):
        highest = expected[name] = max(highest, min(1.0, (len(tests) - k) * (record.p or 0.0)))
    assert {name: record.p_adjusted for name, record in tests.items()} == pytest.approx(expected)
    assert [name for name, p in expected.items() if p < 0.05] == ["planted"]
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    results = page.partition('id="results"')[2].partition('id="data"')[0]
    assert "Partly." in results
    assert "Items with planted “x” were rated" in results
    assert results.count("adjusted for 3 tests") >= len(tests)


def test_groups_of_raters(records: list[Record], table: pd.DataFrame) -> None:
    """Groups of raters (a column named with --map rater_group) are compared by the mean ratings of their items."""
    means = table.pivot_table(index="item", columns="group", values="rating", aggfunc="mean").dropna()
    (record,) = [r for r in records if r.statistic.startswith("group_consistency")]
    assert record.value == pytest.approx(stats.pearsonr(means["A"], means["B"]).statistic)


def test_ordinal_models_have_thresholds_severities_and_an_r_script(tmp_path: Path) -> None:
    """A rater who gives each item 1.5 points less is the most severe one; R has the tests and the ratings."""
    table = raw()
    strict = table["participant"] == "simulated-2"
    table.loc[strict, "rating"] = np.floor((table.loc[strict, "rating"] - 1.5).clip(1, 5))
    table.to_csv(tmp_path / "raw.csv", index=False)
    settings = AnyRatingsSettings(
        file=str(tmp_path / "raw.csv"), columns=("rater_group=group",), n_bootstrap=0, starts=1, ordinal=("logit",)
    )
    study.run(settings, tmp_path / "run", command="test")
    records = read_records(tmp_path / "run" / "results.json")
    of_model = "model=without_conditions,link=logit"
    severity = {r.condition: r.value or 0.0 for r in records if r.statistic == f"rater_severity({of_model})"}
    assert max(severity, key=severity.__getitem__) == "rater=simulated-2"
    rated = table.dropna(subset="rating")
    above = rated["rating"] - rated.groupby("item")["rating"].transform("mean")
    means = above.groupby(rated["participant"]).mean()
    # what a rater gives above the items' means is the linear side of the same
    assert stats.pearsonr([severity[f"rater={who}"] for who in means.index], means).statistic < -0.95
    assert all(r.low is not None and r.high is not None for r in records if r.statistic.startswith("rater_severity"))
    thresholds = [r.value or 0.0 for r in records if r.statistic == f"threshold(of=ordinal,{of_model})"]
    assert len(thresholds) == 4
    assert thresholds == sorted(thresholds)
    script = (tmp_path / "run" / "r" / "mixed_models.R").read_text(encoding="utf-8")
    assert "clmm" in script
    assert "rating ~ sense + (1 + sense | participant) + (1 | item) + (1 | word)" in script
    assert len(pd.read_csv(tmp_path / "run" / "r" / "trials.csv")) == len(rated)


def test_the_r_script_has_the_linear_models_without_ordinal_ones(tmp_path: Path) -> None:
    """Without --ordinal, R refits the linear tests of the conditions on the same ratings; no ordinal model is in it."""
    raw().to_csv(tmp_path / "raw.csv", index=False)
    settings = AnyRatingsSettings(
        file=str(tmp_path / "raw.csv"), columns=("rater_group=group",), n_bootstrap=0, starts=1
    )
    study.run(settings, tmp_path / "run", command="test")
    script = (tmp_path / "run" / "r" / "mixed_models.R").read_text(encoding="utf-8")
    assert "rating ~ sense + (1 + sense | participant) + (1 | item) + (1 | word)" in script
    assert "clmm" not in script
    assert len(pd.read_csv(tmp_path / "run" / "r" / "trials.csv")) == len(raw().dropna(subset="rating"))


def test_what_is_refused(tmp_path: Path) -> None:
    """Models need texts; items need ratings; two sources are one too many."""
    raw().to_csv(tmp_path / "raw.csv", index=False)
    settings = AnyRatingsSettings(file=str(tmp_path / "raw.csv"), subjects=("encoder:minilm",))
    with pytest.raises(InputError, match="These ratings come without texts") as caught:
        study.make_run(settings, tmp_path / "run")
    assert "--items FILE" in caught.value.hint
    with pytest.raises(InputError, match="a dataset or a file, not both"):
        AnyRatingsSettings(file="r.csv", dataset="mini_relatedness")
    with pytest.raises(InputError, match="Items need the file with their ratings"):
        AnyRatingsSettings(items="i.csv")
