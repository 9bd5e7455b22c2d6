"""A run: what is computed once, the words that are resampled, the intervals of a mixed model."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student
from statsmodels.miscmodels.ordinal_model import OrderedModel

import lexiscope
from lexiscope.analysis.layers.layers import correlations_by_layer, difference_at_chosen_layers
from lexiscope.analysis.mixed import models as mixed
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Estimate, Record, Undefined
from lexiscope.core.run import read_json
from lexiscope.core.settings import ItemSettings, Settings, option
from lexiscope.studies.kit.data import given_files, joined_responses
from lexiscope.studies.kit.run import Run
from lexiscope.studies.kit.study import Study

WORDS = ("bank", "bark", "bat", "seal", "ring", "club")


def rated_run(words: int = 6, *, people: int = 3, layers: int = 4, n_bootstrap: int = 40) -> Run[Settings]:
    """Three made-up pairs of each word, ratings of simulated people, and a model with layers made of them and noise."""
    dice, items, rows, answers = np.random.default_rng(5), [], [], []
    for word in WORDS[:words]:
        for number in range(3):
            item = lexiscope.pair(f"{word}/{number}", f"One {word} {number}.", f"A {word} again.", word, lemma=word)
            items.append(item)
            given = [float(np.clip(round(dice.normal(1.5 + number, 0.8)), 1, 5)) for _ in range(people)]
            rows += [lexiscope.rating(f"simulated-{n}", item.item_id, value) for n, value in enumerate(given)]
            for layer in range(layers):
                value = 1 - 0.1 * number - 0.02 * layer * dice.normal()
                row = lexiscope.Response(
                    "encoder:made", "encoder", item.item_id, "", "cosine_distance", value, layer=layer
                )
                answers.append(row)
    card = dataclasses.replace(lexiscope.dataset("mini_relatedness").card, name="made")
    data = lexiscope.Dataset(card, tuple(items), lexiscope.ResponseTable.from_rows(rows), ())
    return Run(data, lexiscope.ResponseTable.from_rows(answers), Settings(n_bootstrap=n_bootstrap))


def test_ratings_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What there is, the norms, the people, agreement and a fit need the ratings: they are read from the table once."""
    run, calls, real = rated_run(), [], Ratings.from_table

    def counted(*args: object, **more: object) -> Ratings:
        calls.append(args)
        return real(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Ratings, "from_table", counted)
    assert run.has("ratings")
    assert run.has("norms")
    assert len(run.norm) == 18
    assert run.people.n_raters == 3
    run.agreement()
    run.fit()
    run.means()
    assert len(calls) == 1


def test_a_row_of_the_trials_has_the_columns_of_its_item() -> None:
    """A row is a rating; what is known of items stands in the rows of their ratings, whatever their order."""
    run = rated_run(2)
    trials = run.trials_of({"Number": [int(item.item_id[-1]) for item in run.items]})
    assert list(trials) == ["Response", "Participant", "Item", "Number"]
    assert len(trials["Response"]) == len(run.people.value) == 18
    assert [int(item[-1]) for item in trials["Item"]] == trials["Number"].tolist()
    columns = (run.data.responses.column(name).tolist() for name in ("subject_id", "item_id", "value"))
    rated = {(person, item): value for person, item, value in zip(*columns, strict=True)}
    rows = zip(trials["Participant"], trials["Item"], trials["Response"], strict=True)
    assert all(rated[person, item] == value for person, item, value in rows)


def test_what_is_undefined_is_a_result_too() -> None:
    """An attempt gives one result, several, or the reason for none: always results of the run's dataset."""
    run = rated_run(2)
    one, several = Estimate("mean", 1.0), (Estimate("a", 1.0), Estimate("b", 2.0))
    assert [r.value for r in run.attempt_all("mean", lambda: one, condition="x")] == [1.0]
    assert [r.name for r in run.attempt_all("both", lambda: several)] == ["a", "b"]

    def fail() -> Estimate:
        raise StatisticError("nothing varies")

    (undefined,) = run.attempt_all("mean", fail, condition="x")
    assert isinstance(undefined, Undefined)
    assert (undefined.reason, undefined.condition, undefined.dataset) == ("nothing varies", "x", "made")


def test_a_result_of_all_items_keeps_its_condition() -> None:
    """Of the items of a condition, a result is of that condition, whatever it says itself."""
    run, one = rated_run(), Estimate("n_forms", 3, condition="bank")
    assert (run.about(one).condition, run.about(one, condition="bat").condition) == ("bank", "bat")
    assert replace(run, label="same_sense=True").about(one).condition == "same_sense=True"


def test_a_fit_is_the_curve_of_the_analysis() -> None:
    """The curve of a run is that of ``analysis/layers``, with the estimate that allows for the choice."""
    run = rated_run()
    (curve,) = run.fit("pearson").entries
    assert isinstance(curve, lexiscope.Curve)
    table = run.answers
    columns = -table.column("value").reshape(18, 4)
    boot = run.bootstrap
    made = correlations_by_layer(
        columns, run.norm, kind="pearson", name="pearson(with=norms)", groups=boot.groups, resamples=boot.resamples,
        seed=boot.seed, choice=True,
    )  # fmt: skip
    where = {"subject": "encoder:made", "dataset": "made", "unit": "correlation", "higher": "closer to people"}
    assert curve == made.about(**where)
    assert isinstance(curve.chosen, lexiscope.Estimate)
    assert curve.chosen.run is run


def test_models_of_a_run_have_sets_of_ranks() -> None:
    """A second model that repeats people's means is first, at no layer; the other is at its best layer, and said so."""
    run = rated_run(n_bootstrap=99)
    assert run.ranks() == []
    rows = [
        lexiscope.Response("model:mean", "model", i, "", "rating", v)
        for i, v in zip(run.words, run.norm.tolist(), strict=True)
    ]
    both = ResponseTable.concat([run.answers, lexiscope.ResponseTable.from_rows(rows)])
    two = replace(run, answers=both)
    made, mean = sorted(two.ranks("pearson"), key=lambda rank: rank.subject)
    assert isinstance(made, Estimate)
    assert isinstance(mean, Estimate)
    assert (mean.value, mean.layer, made.value) == (1, None, 2)
    assert made.layer == two.fit("pearson").of("encoder:made").best
    assert made.note == "each at its best layer, chosen on the same items"
    assert made.interval.high == 2
    assert made.dataset == "made"


def test_one_word_has_values_without_intervals() -> None:
    """Items of one word cannot be resampled: the fit has its values, and says that there is no interval."""
    run = rated_run(1)
    (curve,) = run.fit().entries
    assert isinstance(curve, lexiscope.Curve)
    assert all(point.value is not None and point.interval is None for point in curve.values)
    assert curve.n_groups == 1
    assert isinstance(curve.chosen, lexiscope.Undefined)


def test_a_comparison_of_best_layers_says_so() -> None:
    """Two layers chosen as the best: the difference has a caution; of two given layers it has none."""
    run = rated_run()
    curve = run.fit().of("encoder:made")
    assert isinstance(curve, lexiscope.Curve)
    (best,), given = run.fit().best(), curve.estimate(0)
    assert isinstance(given, lexiscope.Estimate)
    text = f"layer {best.layer} of encoder:made is the best of 4 layers, chosen on the same items"
    told = "the first is closer to people"
    said = run.compare(best, given).sentence()
    assert f". A positive difference: {told}. Caution: {text}. Allowing for the choice of the layers on the" in said
    first, chosen = run.compare(best, given).records()
    assert first.note == f"positive: {told}; {text}"
    columns = np.array([run._columns["encoder:made", layer] for layer in range(4)]).T
    groups = [item.word for item in run.items]
    how = {"groups": groups, "resamples": 40, "seed": run.settings.seed}
    direct = difference_at_chosen_layers(columns, columns[:, :1], run.norm, kind="spearman", **how)
    assert isinstance(direct, Estimate)
    assert (chosen.value, chosen.low, chosen.high, chosen.p) == pytest.approx(
        (direct.value, direct.interval.low, direct.interval.high, direct.p)
    )
    assert (chosen.statistic, chosen.dataset) == ("spearman_difference_at_chosen_layers(with=norms)", "made")
    other = curve.estimate(1)
    assert isinstance(other, lexiscope.Estimate)
    assert "Caution" not in run.compare(given, other).sentence()


def test_coefficients_have_intervals_of_their_degrees_of_freedom() -> None:
    """t on Satterthwaite's degrees of freedom at the level of the run, by hand; lmerTest's confint does the same."""
    run = rated_run(people=4)
    formula, without = "rating ~ encoder_made_2 + (1 | participant)", "rating ~ 1 + (1 | participant)"
    terms = {term.condition: term for term in run.mixed(formula, without).terms}
    full = mixed.fit(formula, run.frame().to_dict("list"))
    for effect in full.fixed:
        assert effect.df is not None
        half = student.ppf(0.975, effect.df) * effect.se
        bounds = terms[effect.name].interval
        assert (bounds.low, bounds.high) == pytest.approx((effect.estimate - half, effect.estimate + half), rel=1e-4)
        assert bounds.method == "t(df=satterthwaite,level=0.95)"
    unknown = dataclasses.replace(full.fixed[0], df=None, df_reason="the Hessian is singular")
    assert unknown.interval().note == "no interval: the Hessian is singular"
    assert full.fixed[0].interval(0.5).high < full.fixed[0].interval(0.9).high


def test_an_ordinal_model_of_a_run_is_that_of_its_ratings() -> None:
    """Made-up people differ by chance only: thresholds, effect and χ² are nearly those of statsmodels without them."""
    run = rated_run(people=4)
    fit = run.ordinal("rating ~ encoder_made_2 + (1 | participant)", "rating ~ 1 + (1 | participant)")
    trials = run.frame()
    plain = OrderedModel(trials["rating"], trials[["encoder_made_2"]], distr="logit").fit(method="bfgs", disp=False)
    expected = [*plain.model.transform_threshold_params(plain.params)[1:-1], plain.params["encoder_made_2"]]
    assert [term.condition for term in fit.terms] == ["1|2", "2|3", "3|4", "4|5", "encoder_made_2"]
    assert [term.value for term in fit.terms] == pytest.approx(expected, rel=5e-3)
    counts = trials["rating"].value_counts()
    alone = float((counts * np.log(counts / len(trials))).sum())
    assert fit.chi2 == pytest.approx(2 * (plain.llf - alone), rel=5e-3)
    assert [term.p is None for term in fit.terms] == [True] * 4 + [False]
    assert fit.n == len(trials) == 72


def test_ratings_that_a_mixed_model_does_not_see_are_counted() -> None:
    """Ratings of an item that the model did not answer are excluded from residuals, with a note before the remarks."""
    run = rated_run(people=4)
    answers = run.answers.where(item_id=tuple(item.item_id for item in run.items[1:]))
    part = dataclasses.replace(run, answers=answers)
    random = "(1 | participant) + (1 | item)"
    fit = part.mixed(f"rating ~ encoder_made_2 + {random}", f"rating ~ 1 + {random}", reml=True)
    assert fit.residuals().shape == (72 - 4,)
    assert fit.note.startswith("excluded: 4 ratings of items that a model did not answer; coefficients and variances")
    assert fit.reml
    assert {variance.dataset for variance in fit.variances} == {"made"}
    assert fit.records() == dataclasses.replace(fit).records()


def test_answers_to_several_datasets_keep_unique_ids() -> None:
    """Two datasets of one task that number their items alike: the name precedes their ids; other ids are unchanged."""
    items = [lexiscope.pair(f"i{n}", "One bank.", "A bank.", "bank") for n in range(3)]
    table = {
        name: ResponseTable.from_rows([lexiscope.rating("simulated-1", one.item_id, 3) for one in own])
        for name, own in (("a", items[:2]), ("b", items[1:2]), ("c", items[:1]), ("d", items[2:]))
    }
    tasks = {"a": "same_sense", "b": "same_sense", "c": "relatedness", "d": "same_sense"}
    own = {"a": items[:2], "b": items[1:2], "c": items[:1], "d": items[2:]}
    joined = joined_responses(table.items(), {name: (tasks[name], own[name]) for name in table})
    # c asks another task, which its rows name; no other dataset has the item of d
    assert joined.column("item_id").tolist() == ["a:i0", "a:i1", "b:i1", "i0", "i2"]


def test_a_run_names_the_papers_numbers_only_where_it_is_compared_with_them(tmp_path: Path) -> None:
    """printed.csv is among the files of a run if it has a row of its data; such a row that comes later is another run.

    With a row of other data the finished run is left as it is.
    """
    study = Study("counting", title="Counting", citation="None (2026).")
    study.printed = tmp_path / "printed.csv"
    heads = "dataset,place,statistic,subject,layer,condition,printed,remark,unavailable"
    own, other = "counting,Table 1,n_pairs,,,,1,,", "mini_relatedness,Table 1,n_pairs,,,,180,,"

    @study.data
    def load() -> list[lexiscope.Item]:
        return [lexiscope.pair("bank/1", "One bank.", "A bank again.", "bank")]

    @study.question("How many pairs are there?")
    def pairs(run: Run[Settings]) -> Record:
        return run.number("n_pairs", len(run.items))

    def files(rows: Sequence[str], dataset: str = "") -> tuple[set[str], str]:
        (tmp_path / "printed.csv").write_text("\n".join((heads, *rows)) + "\n", encoding="utf-8")
        out = tmp_path / (dataset or "own")
        summary = study.run(study.settings_for(dataset=dataset), out)
        return set(read_json(out / "run.json").get("given", {})), " ".join(summary.remarks)

    assert files([own]) == ({"printed.csv"}, "")
    assert files([own], "mini_relatedness") == (set(), "")
    finished = "this run was finished before: nothing was computed again"
    assert files([own.replace("1,,", "2,,")], "mini_relatedness") == (set(), finished)
    assert files([own, other], "mini_relatedness") == ({"printed.csv"}, "")
    assert files([own, other]) == ({"printed.csv"}, "")
    assert files([own, other]) == ({"printed.csv"}, finished)


class FileSettings(ItemSettings):
    """Settings with files, one and several, and a text that is none."""

    study: str = "files"
    counts: str = option("", "a file", file=True)
    sheets: tuple[str, ...] = option((), "files", file=True)
    label: str = option("", "a text")


def test_files_beside_the_items_are_known_by_their_content(tmp_path: Path) -> None:
    """Files that settings name and recorded answers, each with its sha256; the items are the data's; a missing one."""
    for name in ("counts.csv", "sheet.csv", "recorded.csv", "items.csv"):
        (tmp_path / name).write_text(f"the text of {name}", encoding="utf-8")
    paths = {name: str(tmp_path / f"{name}.csv") for name in ("counts", "sheet", "recorded", "items")}
    settings = FileSettings(
        items=paths["items"],
        counts=paths["counts"],
        sheets=(paths["sheet"],),
        subjects=(f"recorded:{paths['recorded']}", "recorded:mini_relatedness", "baseline:random"),
        label=paths["items"],
    )
    beside = [paths[name] for name in ("counts", "sheet", "recorded")]
    assert given_files(settings) == {path: hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in beside}
    assert given_files(FileSettings()) == {}
    with pytest.raises(InputError, match="there is no such file"):
        given_files(FileSettings(counts=str(tmp_path / "none.csv")))
