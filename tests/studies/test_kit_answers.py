"""Any two subjects, layers, views and conditions are compared, in Python and on the command line.

Of runs, folders and files. Expected values are computed here from the responses themselves.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import lexiscope
from lexiscope.analysis.layers.layers import difference_at_chosen_layers
from lexiscope.cli.main import cli
from lexiscope.core.errors import LexiscopeError, StatisticError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import AtMost, Estimate, from_json, to_json
from lexiscope.studies.kit.answers import AnswersOf, ComparableAnswers

N = 24
DICE = np.random.default_rng(6)
NORMS = DICE.integers(1, 6, N).astype(float)
LAYERS = {layer: DICE.uniform(0, 1, N) - NORMS / sd for layer, sd in ((0, 40.0), (1, 6.0))}
ITEMS = tuple(Item(f"i{n:02}", "d", (), conditions={"word": f"w{n % 8}", "same_sense": n % 2 == 0}) for n in range(N))
IDS = [item.item_id for item in ITEMS]


def _table(subject: str, kind: str, measure: str, values: object, **more: object) -> ResponseTable:
    given = {"subject_id": subject, "subject_kind": kind, "item_id": IDS, "task": "relatedness", "measure": measure}
    return ResponseTable.from_columns(given | {"value": values} | more)


def _answers() -> ComparableAnswers:
    tables = [_table(f"p{k}", "participant", "rating", np.clip(NORMS + k, 1, 6)) for k in (0, 1)]
    for view in ("full", "word"):
        for layer, distances in LAYERS.items():
            shifted = distances if view == "full" else distances[::-1]
            tables.append(_table("encoder:m", "encoder", "cosine_distance", shifted, layer=float(layer), view=view))
    tables.append(_table("chat:c", "chat", "rating", np.where(np.arange(N) == 3, np.nan, NORMS[::-1])))
    for name, right in (("a", NORMS > 2), ("b", NORMS > 3)):
        tables.append(_table(f"causal_lm:{name}", "causal_lm", "correct", right.astype(float)))
    return ComparableAnswers(ResponseTable.concat(tables), ITEMS)


PEOPLE_MEANS = (np.clip(NORMS, 1, 6) + np.clip(NORMS + 1, 1, 6)) / 2


def test_two_layers_in_one_view() -> None:
    """The difference of Spearman's rho with people's means, distances as nearness; words are resampled."""
    contrast = _answers().compare("m@1 view=full", "m@0 view=full", resamples=200)
    rho = {layer: stats.spearmanr(-distances, PEOPLE_MEANS).statistic for layer, distances in LAYERS.items()}
    assert contrast.value == pytest.approx(rho[1] - rho[0])
    assert contrast.interval.low < contrast.value < contrast.interval.high
    assert "resampled=words" in contrast.interval.method
    assert contrast.p is not None
    assert (contrast.n, contrast.n_groups, contrast.view) == (N, 8, "full")
    (record,) = contrast.records()
    assert (record.statistic, record.subject) == ("spearman_difference(with=norms)", "m@1 − m@0")
    assert "is" in contrast.sentence()


def test_two_views_and_two_subjects() -> None:
    """Views of one layer, and a model against another one; an item that one of them did not answer is left out."""
    views = _answers().compare("m@1 view=full", "m@1 view=word", "pearson", resamples=50)
    r = [stats.pearsonr(-LAYERS[1][::step], PEOPLE_MEANS).statistic for step in (1, -1)]
    assert views.value == pytest.approx(r[0] - r[1])
    assert views.view == "full − word"
    kept = np.arange(N) != 3
    models = _answers().compare("m@1 view=full", "chat:c", "r_squared", resamples=50)
    squared = [stats.pearsonr(x[kept], PEOPLE_MEANS[kept]).statistic ** 2 for x in (-LAYERS[1], NORMS[::-1])]
    assert models.value == pytest.approx(squared[0] - squared[1])
    assert models.note == "items: 24 of the first, 23 of the second; compared: the 23 of both"


def test_two_conditions() -> None:
    """One model on pairs of the same sense and on others; means of people; alpha of people's ratings."""
    same = np.arange(N) % 2 == 0
    sides = ("m@1 view=full same_sense=True", "m@1 view=full same_sense=False")
    rho = [stats.spearmanr(-LAYERS[1][rows], PEOPLE_MEANS[rows]).statistic for rows in (same, ~same)]
    contrast = _answers().compare(*sides, resamples=50)
    assert contrast.value == pytest.approx(rho[0] - rho[1])
    assert contrast.condition == "same_sense=True − same_sense=False"
    people = _answers().compare("people same_sense=True", "people same_sense=False", "mean", resamples=50)
    assert people.value == pytest.approx(PEOPLE_MEANS[same].mean() - PEOPLE_MEANS[~same].mean())
    alpha = _answers().compare("people same_sense=True", "people same_sense=False", "alpha", resamples=50)
    assert alpha.name == "alpha_difference"
    assert "of people for same_sense=True" in alpha.sentence()
    assert "that of people for same_sense=False" in alpha.sentence()


def test_two_measures_of_one_subject_are_told_apart() -> None:
    """A measure is named where the sides have two; one that both have is not."""
    more = _table("causal_lm:a", "causal_lm", "accuracy", (NORMS > 3).astype(float))
    answers = ComparableAnswers(ResponseTable.concat([_answers().responses, more]), ITEMS)
    contrast = answers.compare("a measure=correct", "a measure=accuracy", "mean", resamples=50)
    assert contrast.condition == "measure=correct − measure=accuracy"
    assert "of a for measure=correct" in contrast.sentence()
    assert "measure" not in answers.compare("a measure=correct", "b measure=correct", "mean", resamples=50).sentence()


def test_a_part_of_a_run_is_named_at_both_sides() -> None:
    """The label of a part comes before the condition of each side, also in the sentence."""
    run = lexiscope.analyse("mini_relatedness", ["baseline:random"], n_bootstrap=20)
    part = run.where(language="en")
    assert part.label
    sides = [f"baseline:random same_sense={value}" for value in (True, False)]
    contrast = part.compare(*sides, "mean")
    assert f"for {part.label}, same_sense=True" in contrast.sentence()
    assert contrast.condition == f"{part.label}, same_sense=True − same_sense=False"


def test_decisions_and_a_statistic_of_ones_own() -> None:
    """The difference of accuracies is that of the shares right; a function of answers and norms is any other."""
    contrast = _answers().compare("a", "b", "accuracy", resamples=100)
    assert contrast.value == pytest.approx(np.mean(NORMS > 2) - np.mean(NORMS > 3))

    def slope(answers: np.ndarray, norms: np.ndarray) -> float:
        return float(np.polyfit(norms, answers, 1)[0])

    own = _answers().compare("m@1 view=full", "m@0 view=full", slope, resamples=50)
    expected = [np.polyfit(PEOPLE_MEANS, -LAYERS[layer], 1)[0] for layer in (1, 0)]
    assert own.value == pytest.approx(expected[0] - expected[1])
    assert own.name == "slope_difference"


def test_layers_of_sides_are_chosen_again_on_other_words() -> None:
    """The layer that a side names is one of all of the model's in its view; people's means are those of the items."""
    made = _answers().at_chosen_layers("m@1 view=full", "m@0 view=word", resamples=200)
    nearness = np.column_stack([-distances for distances in LAYERS.values()])
    words = [str(item.conditions["word"]) for item in ITEMS]
    direct = difference_at_chosen_layers(
        nearness, nearness[::-1], PEOPLE_MEANS, kind="spearman", groups=words, resamples=200
    )
    assert isinstance(made, Estimate)
    assert isinstance(direct, Estimate)
    assert (made.value, made.p, made.n_groups) == pytest.approx((direct.value, direct.p, 8))
    assert "resampled=words" in made.interval.method


def test_a_second_test_of_a_mean_has_the_items_or_words_that_could_be_exchanged(tmp_path: Path) -> None:
    """Sign flips of 8 words written out: for two models over their items, for two conditions over means of words."""
    answers = _answers()
    contrast = answers.compare("a", "b", "accuracy", test="sign_flip", resamples=200)
    words = np.array([str(item.conditions["word"]) for item in ITEMS])
    difference = (NORMS > 2).astype(float) - (NORMS > 3)
    sums = np.array([difference[words == word].sum() for word in dict.fromkeys(words)])
    signs = 1 - 2 * ((np.arange(2**8)[:, None] >> np.arange(8)) & 1)
    assert contrast.test is not None
    assert contrast.test.p == np.mean(np.abs(signs @ sums) >= abs(sums.sum()) - 1e-9)
    assert (contrast.test.name, contrast.test.note) == ("sign_flip(p=exact)", "signs turned by group: 8 words")
    plain = answers.compare("a", "b", "accuracy", resamples=200)
    assert (plain.p, plain.interval, plain.test) == (contrast.p, contrast.interval, None)
    records = contrast.records()
    assert [record.subject for record in records] == ["a − b"] * 2
    assert records[0] == plain.records()[0]
    assert f"; exact sign-flip test: p = {records[1].p:.3f}".replace("0.", ".") in contrast.sentence()

    # words 0, 2 … have items of one condition only (word n % 8, same_sense n % 2): they are dealt out as a whole
    sides = ("people same_sense=True", "people same_sense=False")
    dealt = answers.compare(*sides, "mean", test="permutation", resamples=200).test
    of_word = {word: PEOPLE_MEANS[words == word].mean() for word in dict.fromkeys(words)}
    even, odd = ([of_word[f"w{n}"] for n in range(8) if n % 2 == half] for half in (0, 1))
    reference = stats.permutation_test((even, odd), lambda a, b: np.mean(a) - np.mean(b), n_resamples=np.inf)
    assert dealt is not None
    assert dealt.p == pytest.approx(reference.pvalue)
    with pytest.raises(StatisticError, match="2 groups that both sides have, not 0"):
        answers.compare(*sides, "mean", test="sign_flip")
    with pytest.raises(StatisticError, match="they share 8"):
        answers.compare("a", "b", "accuracy", test="permutation")
    with pytest.raises(StatisticError, match="of a mean or an accuracy"):
        answers.compare("m@1 view=full", "m@0 view=full", test="sign_flip")
    answers.responses.write_csv(tmp_path / "answers.csv")
    asked = [str(tmp_path / "answers.csv"), "a", "b", "--statistic", "accuracy", "--test", "sign_flip"]
    done = CliRunner().invoke(cli, ["compare", *asked])
    assert done.exit_code == 0, done.output
    assert "sign-flip test" in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("first", "statistic", "reason"),
    [
        ("nobody", "spearman", "names no subject"),
        ("m@9 view=full", "spearman", "has no layer 9"),
        ("m view=full", "spearman", "2 layers to compare: 0, 1"),
        ("m@1", "spearman", "2 views to compare: full, word"),
        ("m@1 view=full level=high", "spearman", "no item has level=high"),
        ("m@1 view=full same_sense=no", "spearman", r"has same_sense=no(.|\n)*same_sense is: False, True"),
        ("m@1 view", "spearman", "cannot be a part of a side"),
        ("a", "spearman", "0 measures to compare: correct"),
        ("m@1 view=full", "kendall", "no statistic 'kendall'"),
        ("m@1 view=full", "alpha", "alpha is of people's ratings"),
    ],
)
def test_a_side_that_does_not_exist_is_refused_with_what_there_is(first: str, statistic: str, reason: str) -> None:
    """Each refusal says what to write instead."""
    with pytest.raises(LexiscopeError, match=reason):
        _answers().compare(first, "b", statistic)


def test_a_side_is_read_from_text_and_from_a_mapping() -> None:
    """Both forms are one; a subject may hold an @ that is no layer."""
    given = {"subject": "minilm", "layer": 7, "view": "word", "same_sense": True}
    assert AnswersOf.parse("minilm@7 view=word same_sense=True") == AnswersOf.parse(given)
    assert AnswersOf.parse("user@home").subject == "user@home"
    spaced = AnswersOf.parse("words and characters view=full relation=is a kind of")
    assert (spaced.subject, spaced.view, spaced.conditions["relation"]) == (
        "words and characters",
        "full",
        "is a kind of",
    )


def test_compare_of_runs_folders_and_files(tmp_path: Path) -> None:
    """A run, a finished study, its folder, and the command line give one difference; so does a table of ratings."""
    run = lexiscope.analyse("mini_relatedness", ["baseline:word_overlap", "baseline:random"], n_bootstrap=40)
    assert run.models
    table = tmp_path / "answers.parquet"
    _answers().responses.write_parquet(table)
    by_python = lexiscope.compare("a", "b", "accuracy", of=ResponseTable.read_parquet(table), resamples=160)
    result = CliRunner().invoke(cli, ["compare", str(table), "a", "b", "--statistic", "accuracy", "--bootstrap", "160"])
    assert result.exit_code == 0, result.output
    assert "The accuracy of a is" in result.output
    as_json = ["compare", str(table), "a", "b", "--statistic", "accuracy", "--bootstrap", "160", "--json"]
    (record,) = json.loads(CliRunner().invoke(cli, as_json).output)
    assert record["value"] == pytest.approx(by_python.value)
    assert (record["low"], record["p"]) == pytest.approx((by_python.interval.low, by_python.p))
    assert "resampled=items" in record["interval"]
    finished = lexiscope.study("ambistory", tmp_path / "run", dataset="mini_ambistory", subjects=("baseline:random",))
    kinds = sorted({str(item.conditions["story_kind"]) for item in lexiscope.dataset("mini_ambistory").items})
    sides = [f"baseline:random story_kind={kind}" for kind in kinds[:2]]
    of_study = lexiscope.compare(*sides, "mean", of=finished, resamples=40)
    assert of_study == lexiscope.compare(*sides, "mean", of=finished.folder, resamples=40)
    assert "resampled=words" in of_study.interval.method
    with pytest.raises(LexiscopeError, match="say of what"):
        lexiscope.compare("a", "b")


def test_sentences_are_resampled_where_items_name_theirs() -> None:
    """Items made of one sentence are drawn together, though their words differ; two answers to one item are refused."""
    items = tuple(
        Item(item.item_id, "d", (), conditions={**item.conditions, "sentence": f"s{n // 4}"})
        for n, item in enumerate(ITEMS)
    )
    answers = ComparableAnswers(_answers().responses, items)
    contrast = answers.compare("a", "b", "accuracy", resamples=20)
    assert contrast.n_groups == 6
    assert "resampled=sentences" in contrast.interval.method
    twice = ComparableAnswers(ResponseTable.concat([answers.responses, answers.responses]), items)
    with pytest.raises(LexiscopeError, match="several answers"):
        twice.compare("a", "b", "accuracy")


def test_a_comparison_says_its_direction_its_sizes_and_the_floor_of_its_draws() -> None:
    """Distances count as nearness but for their mean; two sizes are printed; a p at its floor is printed with ≤."""
    answers = _answers()
    near = answers.compare("m@1 view=full", "m@0 view=full", resamples=50)
    assert near.higher == "the first is closer to people's means (distances count as nearness)"
    assert "; p " in near.sentence()
    assert near.sentence().endswith(f" A positive difference: {near.higher}.")
    far = answers.compare("m@1 view=full", "m@0 view=full", "mean", resamples=50)
    assert far.higher == "the first has larger distances: its usages are less related"
    # the nearness of layer 1 varies more with the norms: its distances are lower in every resample
    assert far.value == pytest.approx(LAYERS[1].mean() - LAYERS[0].mean())
    assert isinstance(far.p, AtMost)
    printed = math.ceil(1000 * far.p) / 1000
    assert f"p ≤ {printed:.3f}".replace("0.", ".") in far.sentence()
    (record,) = from_json(to_json(far.records()))
    assert (record.p_bound, record.p, isinstance(record.p, AtMost)) == ("≤", far.p, True)
    assert answers.compare("a", "b", "accuracy", resamples=50).higher == "the first is right more often"
    three = {"word": "w0"}
    sides = ({"subject": "people"} | three, {"subject": "people", "same_sense": "False"})
    unequal = answers.compare(*sides, "mean", resamples=50)
    assert "n = 3 and 12" in unequal.sentence()
    assert "n = 3 and 12" in unequal.records()[0].note


def test_people_are_not_correlated_with_themselves() -> None:
    """People's means correlate 1 with themselves: a model must not be told to be lower than that."""
    with pytest.raises(StatisticError, match="correlate 1 by construction"):
        _answers().compare("people same_sense=True", "people same_sense=False", "spearman", resamples=50)


def test_all_pairs_are_compared_on_the_items_of_all() -> None:
    """Differences of rho on the 23 items that the chat model answered, too; intervals of one width in standard errors,
    wider than that of the pair alone, and the same whichever is the reference; ranks follow from them."""
    answers = _answers()
    sides = {"near": "m@1 view=full", "far": "m@0 view=full", "chat": "c"}
    pairs = answers.pairs(sides, resamples=400)
    kept = np.arange(N) != 3
    columns = {"near": -LAYERS[1], "far": -LAYERS[0], "chat": NORMS[::-1]}
    rho = {name: stats.spearmanr(column[kept], PEOPLE_MEANS[kept]).statistic for name, column in columns.items()}
    for first in sides:
        for second in set(sides) - {first}:
            pair, back = pairs.between(first, second), pairs.between(second, first)
            assert pair.difference == pytest.approx(rho[first] - rho[second])
            assert (back.low, back.high) == (-pair.high, -pair.low)
    alone = answers.compare("m@1 view=full", "c", resamples=400).interval
    together = pairs.between("near", "chat")
    assert together.high - together.low > alone.high - alone.low
    beaten = {name: sum(pairs.between(name, other).high < 0 for other in set(sides) - {name}) for name in sides}
    beats = {name: sum(pairs.between(name, other).low > 0 for other in set(sides) - {name}) for name in sides}
    assert {name: (ranks.best, ranks.worst) for name, ranks in zip(pairs.models, pairs.ranks, strict=True)} == {
        name: (1 + beaten[name], 3 - beats[name]) for name in sides
    }
