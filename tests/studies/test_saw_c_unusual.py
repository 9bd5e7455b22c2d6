"""The study on legitimate but unusual data: a number that cannot be had says why, and never stops the others.

All ratings and distances here are made up by the tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from lexiscope.analysis.agreement.alpha import krippendorff_alpha
from lexiscope.analysis.layers.expected_layer import CumulativeScores, expected_layer
from lexiscope.analysis.layers.layers import SEPARATED, held_out_predictor
from lexiscope.analysis.mixed.models import fit, likelihood_ratio
from lexiscope.analysis.norms import predictions
from lexiscope.core.dataset import Dataset, DatasetCard, SubjectFacts
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record, find_record, read_records
from lexiscope.datasets import mini_relatedness
from lexiscope.report.answers.numbers import Numbers, pick, text_of_tests
from lexiscope.report.parts import layer_parts
from lexiscope.report.tables import Missing
from lexiscope.studies.saw_c import SENSE_BOUNDARY, layers, overview, senses, study
from lexiscope.studies.saw_c.data import SawCData
from lexiscope.studies.saw_c.settings import SawCSettings

R, RHO = "pearson(of=distance,with=norms)", "spearman(of=distance,with=norms)"
RATED = predictions.RHO
SETTINGS = SawCSettings(items="own.csv", views=("full",), n_bootstrap=40, starts=1, mixed_models="none", seed=3)
ITEMS = mini_relatedness.load("en").items[:60]
Rate = Callable[[int, Item, int], float]


def _agree(row: int, item: Item, rater: int) -> float:
    """A made-up rating: 4 or 2 by sense, moved by the row and the rater."""
    return (4 if item.conditions["same_sense"] else 2) + (row * 7 + rater * (row + 3)) % 3 - 1


def _ratings(items: Sequence[Item], rate: Rate, raters: int) -> ResponseTable:
    rows = [(f"r{r}", item.item_id, rate(k, item, r)) for k, item in enumerate(items) for r in range(raters)]
    given = [row for row in rows if not math.isnan(row[2])]
    subject, item_id, value = (list(column) for column in zip(*given, strict=True))
    people = {"subject_id": subject, "subject_kind": "participant", "item_id": item_id, "value": value}
    return ResponseTable.from_columns({**people, "task": "relatedness", "measure": "rating"})


def _distances(items: Sequence[Item], matrix: np.ndarray, layers: Sequence[int], subject: str = "m") -> ResponseTable:
    base = {"subject_id": subject, "subject_kind": "encoder", "task": "relatedness", "view": "full"}
    return ResponseTable.from_columns(
        {
            **base,
            "measure": "cosine_distance",
            "item_id": [item.item_id for item in items for _ in layers],
            "layer": [layer for _ in items for layer in layers],
            "value": matrix.ravel().tolist(),
        }
    )


def _matrix(items: Sequence[Item], layers: int = 4) -> np.ndarray:
    """Made-up distances: layer 0 constant, later ones ever more like the sense relation."""
    generator = np.random.default_rng(5)
    different = np.array([not item.conditions["same_sense"] for item in items])
    noise = generator.normal(0, 0.1, (len(items), layers))
    return (0.5 + 0.05 * np.arange(layers) * different[:, None] + noise) * (np.arange(layers) > 0)


def _data(name: str, items: Sequence[Item], answers: ResponseTable) -> Dataset:
    card = DatasetCard(name, "Own", "relatedness", "en", "none", "", "made in the test", "1", "embedded", "Own pairs.")
    return Dataset(card, tuple(items), answers)


def _own(
    items: Sequence[Item] = ITEMS,
    *,
    rate: Rate = _agree,
    raters: int = 5,
    matrix: np.ndarray | None = None,
    layers: Sequence[int] = range(4),
    name: str = "own",
    settings: SawCSettings = SETTINGS,
) -> SawCData:
    distances = _distances(items, _matrix(items, len(layers)) if matrix is None else matrix, layers)
    answers = ResponseTable.concat([_ratings(items, rate, raters), distances])
    facts, live = {"m": SubjectFacts("m")}, frozenset({"m"})
    return SawCData(_data(name, items, answers), ResponseTable.empty(), settings, facts=facts, live=live)


def _records(own: SawCData) -> tuple[Record, ...]:
    found = tuple(record for part in study.analyse(own).values() for record in part.records)
    # whatever the data: one name, one number; no value without a reason; nothing infinite
    keys = [(r.statistic, r.subject, r.layer, r.condition, r.view) for r in found]
    assert len(set(keys)) == len(keys)
    assert all(record.note for record in found if record.value is None)
    return found


SAME = [item for item in mini_relatedness.load("en").items if item.conditions["same_sense"]][:30]
ONE_WORD = [item for item in ITEMS if item.word == ITEMS[0].word]
UNUSUAL: Mapping[str, tuple[Sequence[Item], Rate, int, str]] = {
    "every pair has the same sense": (SAME, _agree, 5, "aic"),
    "every rating is the same": (ITEMS, lambda row, item, rater: 3, 5, "r_squared"),
    "one rater": (ITEMS, _agree, 1, "krippendorff_alpha(level=interval)"),
    "one rating of the same sense": (
        ITEMS,
        lambda row, item, rater: (
            math.nan if item.conditions["same_sense"] and (row or rater) else _agree(row, item, rater)
        ),
        3,
        "condition_mean(over=trials)",
    ),
    "two rated pairs": (
        ITEMS,
        lambda row, item, rater: 1 + row if row < 2 else math.nan,
        3,
        RHO,
    ),
    "two pairs": (ITEMS[:2], _agree, 6, R),
}


@pytest.mark.parametrize("case", UNUSUAL)
def test_what_cannot_be_had_says_why_and_stops_nothing(case: str) -> None:
    """The statistic that the data do not allow is a record with a reason; the others are there."""
    items, rate, raters, lost = UNUSUAL[case]
    records = _records(_own(items, rate=rate, raters=raters))
    undefined = [record for record in records if record.statistic == lost and record.value is None]
    assert undefined
    assert undefined[0].note
    assert find_record(records, "n_trials").value is not None


def test_pairs_of_one_word_have_values_without_intervals() -> None:
    """One word cannot be resampled: r is still r, and the record says that it has no interval."""
    own = _own(ONE_WORD)
    record = find_record(_records(own), R, layer=3)
    assert record.value == pytest.approx(stats.pearsonr(own.distances[0].matrix[:, 3], own.norm).statistic, abs=1e-12)
    assert (record.low, record.high) == (None, None)


def test_a_model_that_goes_the_wrong_way_is_not_among_people() -> None:
    """Distances that rise with relatedness disagree with people: no rater is below, and the best R² says so."""
    right = _own()
    wrong = _own(matrix=1 - right.distances[0].matrix * (np.arange(4) > 0))
    records = _records(wrong)
    rho = find_record(records, RHO, layer=3).value
    assert rho is not None
    assert rho > 0.3
    places = [record for record in records if record.statistic.startswith("raters_below_model")]
    # under both definitions, at the best layer and with its choice allowed for
    assert [record.value for record in places] == [0.0] * 4
    assert "wrong direction" in find_record(records, "max_r_squared_over_layers").note
    # the same distances the right way round: every rater is counted against -rho
    agreement = find_record(_records(right), "raters_below_model(among=leave_one_out,method=spearman)")
    assert "−ρ = 0." in agreement.note


def test_no_layer_is_called_best_where_another_separates_the_senses_perfectly() -> None:
    """Perfect separation has no finite AIC; another layer's AIC must not pass for the lowest."""
    matrix = _matrix(ITEMS)
    matrix[:, 2] = [0.1 if item.conditions["same_sense"] else 0.9 for item in ITEMS]
    records = _records(_own(matrix=matrix))
    assert find_record(records, "best_layer(by=aic)").value is None
    assert "layer 2" in find_record(records, "min_aic_over_layers").note
    assert find_record(records, "aic", layer=3).value is not None


def _boundary_in_words(own: SawCData, records: Sequence[Record]) -> str:
    """The answer to the question about the sense boundary: its verdict and its sentences."""
    answer = SENSE_BOUNDARY.answer(Numbers(tuple(records), own.names, {}, own.single))
    assert answer is not None
    return " ".join((answer.verdict, *answer.sentences, answer.caution))


LACKING = "no layer separates the senses: no AIC is below that of a model without distance"


def _senseless() -> np.ndarray:
    """Made-up distances that say nothing of the senses, at any layer."""
    generator = np.random.default_rng(11)
    return generator.normal(0.5, 0.1, (len(ITEMS), 4)) * (np.arange(4) > 0)


def test_a_lowest_aic_above_that_of_the_intercept_alone_is_no_sense_boundary() -> None:
    """A layer whose AIC is not below that of the model without distance separates nothing, and each output says so."""
    own = _own(matrix=_senseless())
    records = _records(own)
    lowest, empty = find_record(records, "min_aic_over_layers"), find_record(records, "aic(model=intercept_only)")
    assert lowest.value is not None
    assert empty.value is not None
    assert lowest.value > empty.value
    for record in (lowest, find_record(records, "best_layer(by=aic)")):
        assert record.note.startswith(f"{LACKING} ({empty.value:.2f})")
    text = _boundary_in_words(own, records)
    lead = "No. No layer separates the same sense from different senses better than no predictor at all"
    assert text.startswith(f"{lead} (lowest AIC {lowest.value:.1f}; without predictor {empty.value:.1f})")
    (row,) = (row for row in overview(records, SETTINGS).rows if row[0] == "m")
    boundary, saved = row[-2:]
    assert isinstance(boundary, Missing)
    assert "no layer separates the senses" in boundary.reason
    # the layer chosen on other words saves nothing
    assert saved < 0
    table = layer_parts.boundary_table(records, {"m": "m"}, "full")
    assert any("no layer separates the senses" in note for note in table.notes)


def test_the_answer_names_layers_without_error_first() -> None:
    """The lowest finite AIC of another subject is not the best of all where one separates the senses perfectly."""
    note = f"{SEPARATED} at layer 1: no finite AIC"
    records = [
        Record("min_aic_over_layers", None, subject="BETO", note=f"undefined: {note}"),
        Record("min_aic_over_layers", 40.0, subject="mBERT", layer=1),
    ]
    own = _own()
    others = "Of the others, the lowest AIC is 40.00 (mBERT, layer 1)."
    assert _boundary_in_words(own, records).strip() == f"Without error. BETO: {note}. {others}"
    assert _boundary_in_words(own, records[:1]).strip() == f"Without error. BETO: {note}."


def test_a_lowest_aic_stands_next_to_that_of_the_intercept_alone() -> None:
    """A lowest AIC means something only next to the AIC of the model without distance."""
    own = _own()
    records = _records(own)
    lowest, empty = find_record(records, "min_aic_over_layers"), find_record(records, "aic(model=intercept_only)")
    assert lowest.value is not None
    assert empty.value is not None
    assert "no layer" not in lowest.note
    text = _boundary_in_words(own, records)
    assert text.startswith(
        f"At layer {lowest.layer} in m. On held-out words, the layer chosen on the other words predicts better"
    )
    assert text.endswith("The layer of the lowest AIC is chosen on the same items.")
    apa = SENSE_BOUNDARY.answer(Numbers(tuple(records), own.names)).apa
    assert f"(AIC = {lowest.value:.2f}, compared with {empty.value:.2f} without predictor)" in apa
    saved = find_record(records, "deviance_saved(held_out=words,layer=chosen)")
    assert saved.low > 0
    table = layer_parts.boundary_table(records, {"m": "m"}, "full")
    assert layer_parts.AIC_CHOICE in table.notes


def test_a_sense_boundary_in_the_wrong_direction_says_so() -> None:
    """AIC does not know which senses are farther apart: same-sense pairs that are farther apart are a finding."""
    reverse = _matrix(ITEMS)
    reverse[:, 1:] = 1 - reverse[:, 1:]
    own = _own(matrix=reverse)
    records = _records(own)
    note = find_record(records, "min_aic_over_layers").note
    assert "the wrong direction: pairs with the same sense are farther apart" in note
    text = _boundary_in_words(own, records)
    assert text.startswith("The other way round. The lowest AIC is at layer ")
    assert "in the wrong direction: pairs with the same sense are farther apart" in text
    assert "wrong direction" not in find_record(_records(_own()), "min_aic_over_layers").note


def test_an_expected_layer_outside_the_layers_says_how_this_is_possible() -> None:
    """Signed deltas of the AIC may push the weighted mean beyond the last layer (SAW-C A.2): the table explains it."""
    scores = CumulativeScores("aic", 0, np.array([100.0, 90.0, 92.0, 80.0, 60.0, 70.0]), 101.0, 50)
    # deltas 10 -2 12 20 -10 at 1..5: (10 - 4 + 36 + 80 - 50) / 30 = 2.4; losses early push it beyond the end
    assert expected_layer(scores).note == ""
    late = expected_layer(CumulativeScores("aic", 0, np.array([100.0, 115.0, 110.0, 80.0]), 101.0, 50))
    # deltas -15 5 30: (-15 + 10 + 90) / 20 = 4.25 of 3 layers
    assert late.value == pytest.approx(4.25)
    remark = late.note
    assert remark == (
        "outside layers 1 to 3: losses of AIC at layer 1 are negative weights, as in the definition (SAW-C A.2)"
    )
    record = Record(late.name, late.value, subject="m", view="full", unit="layers", note=remark)
    table = layer_parts.boundary_table([record], {"m": "m"}, "full")
    assert f"m, expected layer: {remark}" in table.notes
    assert "losses count as negative" in table.columns[-1].note


def test_an_expected_layer_needs_every_layer() -> None:
    """Cumulative regressions on layers 4, 8, 12 would number them 0, 1, 2: they are refused."""
    matrix = _matrix(ITEMS)[:, 1:]
    records = _records(_own(matrix=matrix, layers=(4, 8, 12)))
    found = [record for record in records if record.statistic.startswith("expected_layer")]
    assert {record.value for record in found} == {None}
    assert "(4, 8, 12)" in found[0].note
    assert find_record(records, RHO, layer=8).value is not None


def test_intervals_of_agreement_resample_words_and_follow_the_settings() -> None:
    """Alpha and split half resample words, so doubling every word's pairs under one name does not narrow them."""
    own = _own()
    merged = [replace(item, usages=item.usages) for item in own.items]
    assert len({item.word for item in merged}) < len(merged)
    alpha = find_record(_records(own), "krippendorff_alpha(level=interval)")
    from_items = krippendorff_alpha(own.people, resamples=40, seed=3)
    of_word = {item.item_id: item.word for item in own.items}
    by_word = krippendorff_alpha(own.people, groups=of_word, resamples=40, seed=3)
    assert (alpha.low, alpha.high) == (by_word.interval.low, by_word.interval.high)
    assert alpha.low != from_items.interval.low
    none = _records(_own(settings=replace(SETTINGS, n_bootstrap=0)))
    squares = find_record(none, "mean_squared_rater_correlation(variant=leave_one_out,method=spearman)")
    assert squares.low is None
    assert "no resamples" in squares.note


def test_pairs_that_nobody_rated_count_as_short() -> None:
    """A pair without any rating has 0 ratings: it is the fewest, it lowers the mean, and it is short."""
    own = _own(rate=lambda row, item, rater: math.nan if row == 0 else _agree(row, item, rater))
    people = study.analyse(own)["people"]
    assert find_record(people.records, "ratings_per_item(summary=min)").value == 0
    assert find_record(people.records, "ratings_per_item(summary=mean)").value == 59 * 5 / 60
    assert any("60 items" in remark for remark in people.remarks)


def test_a_file_named_like_the_dataset_is_not_the_dataset() -> None:
    """Own items in saw_c.csv get the plan of own items, without the paper's lists and its subject."""
    mixed = replace(SETTINGS, mixed_models="paper")
    own = _own(name="saw_c", settings=mixed)
    published = replace(own, settings=replace(mixed, items="", dataset="saw_c"))
    assert "List" not in senses.chosen_tests(own)[0].full
    assert layers.focus_of(own) != layers.focus_of(published)
    assert "List" in senses.chosen_tests(published)[0].full


def test_a_mixed_model_without_residuals_is_refused() -> None:
    """Where all raters agree on every pair, the likelihood has no maximum: no χ² of ten thousands."""
    data = {
        "y": np.repeat([1.0, 5.0], 20),
        "x": np.repeat([0.0, 1.0], 20),
        "g": np.tile(np.arange(10).astype(str), 4),
    }
    with pytest.raises(StatisticError, match="exactly"):
        fit("y ~ x + (1 | g)", data)


def _file(path: Path, rating: int) -> Path:
    head = "item,word,sentence1,sentence2,same_sense,rater,rating\n"
    rows = (
        f'{item.item_id},{item.word},"{item.usages[0].text}","{item.usages[1].text}",'
        f"{str(item.conditions['same_sense']).lower()},made-up,{rating if k else 1}\n"
        for k, item in enumerate(ITEMS[:8])
    )
    path.write_text(head + "".join(rows), encoding="utf-8")
    return path


def test_changed_ratings_are_not_answered_from_a_finished_run(tmp_path: Path) -> None:
    """The same command on the same folder computes again where the user's file has changed; one rater stops nothing."""
    settings = SawCSettings(items=str(_file(tmp_path / "own.csv", 3)), language="en", n_bootstrap=0, starts=1)
    study.run(settings, tmp_path / "run")
    again = study.run(settings, tmp_path / "run")
    assert "nothing was computed again" in again.remarks[0]
    _file(tmp_path / "own.csv", 4)
    study.run(settings, tmp_path / "run")
    means = [r for r in read_records(tmp_path / "run" / "results.json") if r.statistic == "condition_mean(over=trials)"]
    assert 4.0 in {record.value for record in means}


def _sentences(own: SawCData) -> str:
    """Everything that the report of this run says in sentences."""
    parts = study.analyse(own)
    records = tuple(replace(r, question=name) for name, part in parts.items() for r in part.records)
    page = study._results_page(own, parts, records)
    sections = list(study._sections(own, parts, records, (), page.results() if page is not None else {}))
    texts = [sentence for answer in (page.answers if page is not None else ()) for sentence in answer.sentences]
    while sections:
        section = sections.pop(0)
        texts += section.paragraphs
        sections += section.subsections
    return "\n".join(texts)


def test_sentences_claim_no_more_than_the_run_holds() -> None:
    """One subject is not the best of all; without people nothing is said of participants; χ² has its random effects."""
    own = _own(settings=replace(SETTINGS, mixed_models="paper"))
    text = _sentences(own)
    assert "of all subjects" not in text
    assert "dozen" not in text
    assert "With m it is shown that people rate pairs with the same sense higher" in text
    tables = {table.name: table for part in study.analyse(own).values() for table in part.tables}
    (sense,), beyond = tables["mixed_model_tests_q1"].rows, tables["mixed_model_tests_q4"]
    assert "(1 + Same_sense | Participant) + (1 | Word)" in sense
    assert all("(1 + Same_sense + Distance | Participant) + (1 | Word)" in row for row in beyond.rows)
    assert "Distance: m, layer 3." in beyond.notes
    data = _data("own", ITEMS, _distances(ITEMS, _matrix(ITEMS), range(4)))
    alone = SawCData(data, ResponseTable.empty(), SETTINGS)
    assert "participants" not in _sentences(alone)


def test_a_p_below_the_smallest_number_is_not_printed_as_zero() -> None:
    """A χ² of 2000 has a tail that underflows: p < .001, never p = 0."""
    record = Record("chi2(test=sense,df=1)", 2000.0, p=float(stats.chi2.sf(2000, 1)), note="random effects: (1 | Word)")
    assert record.p == 0
    text = text_of_tests(Numbers((record,)), (("sense", pick("chi2(")),))
    assert text == "sense, χ²(1) = 2000.00, p < .001."


def test_pairs_without_a_sense_relation_are_named() -> None:
    """One pair without same_sense takes the analyses of senses away, and the run says so."""
    first = ITEMS[0]
    conditions = {key: value for key, value in first.conditions.items() if key != "same_sense"}
    items, matrix = [replace(first, conditions=conditions), *ITEMS[1:]], _matrix(ITEMS)
    own = _own(items, rate=lambda row, item, rater: 1 + (row + rater) % 5, raters=4, matrix=matrix)
    assert own.same is None
    assert any(first.item_id in remark for remark in study.analyse(own)["design"].remarks)
    # a subject that rates is compared with the norms all the same
    judged = ResponseTable.from_columns(
        {
            "subject_id": "j", "subject_kind": "chat", "task": "relatedness", "measure": "rating", "view": "full",
            "item_id": [item.item_id for item in items], "value": [1.0 + row % 5 for row in range(len(items))],
        }
    )  # fmt: skip
    data = replace(own.data, responses=ResponseTable.concat([own.data.responses, judged]))
    records = _records(replace(own, data=data, facts={**own.facts, "j": SubjectFacts("j")}))
    assert find_record(records, RATED, subject="j").value is not None


def test_every_view_and_family_survives_constant_distances() -> None:
    """A subject whose distances are all alike has no fit: no size, no family, no drop, and no failure."""
    records = _records(_own(matrix=np.full((len(ITEMS), 4), 0.5)))
    assert find_record(records, "last_layer_drop").value is None
    assert not [record for record in records if record.statistic.startswith(("family_mean", "best_layer"))]
    drop = find_record(_records(_own(matrix=_matrix(ITEMS) * [0, 1, 1, 0])), "last_layer_drop")
    assert drop.value == 1
    assert "counts as 0" in drop.note


def test_a_slider_may_have_decimals(tmp_path: Path) -> None:
    """Ratings of a slider from 0 to 100 are read as they are; between 1 and 5, 3.5 is still off the scale."""
    text = _file(tmp_path / "own.csv", 3).read_text(encoding="utf-8")
    (tmp_path / "own.csv").write_text(text.replace(",made-up,3\n", ",made-up,78.25\n"), encoding="utf-8")
    slider = SawCSettings(items=str(tmp_path / "own.csv"), scale=(0.0, 100.0), n_bootstrap=0, starts=1)
    study.run(slider, tmp_path / "run")
    records = read_records(tmp_path / "run" / "results.json")
    assert 78.25 in {r.value for r in records if r.statistic == "condition_mean(over=trials)"}
    with pytest.raises(InputError, match="E301"):
        study.run(replace(slider, scale=(1.0, 100.0 - 82)), tmp_path / "other")


def test_the_tests_of_own_items_are_those_of_the_paper() -> None:
    """The test of sense, then both tests of §4.5 at the best layer, and at the layer that other words choose."""
    own = _own(settings=replace(SETTINGS, mixed_models="paper"))
    chosen = senses.chosen_tests(own)
    best = find_record(_records(own), "best_layer(by=r_squared)").value
    assert [tuple(test.where.values()) for test in chosen] == [("", None), *[("m", best)] * 2, *[("m", None)] * 2]
    tests = [test.name for test in chosen]
    beyond = ["sense_beyond_distance", "distance_beyond_sense"]
    assert tests == ["sense", *beyond, *(f"{name}_held_out" for name in beyond)]


def test_tests_at_a_layer_chosen_on_other_words_are_a_family_next_to_the_naive_ones() -> None:
    """χ² of the held-out distances written out; the naive tests keep their adjusted p, and R gets the new column."""
    own = _own(settings=replace(SETTINGS, mixed_models="paper"))
    records = _records(own)
    column, note = own.held_out_distances["m"]
    matrix, norms = own.on_norms(own.distances[0])
    groups = [item.word for item in ITEMS]
    direct, _ = held_out_predictor(norms, matrix, layers=range(4), groups=groups, seed=3)
    assert column == pytest.approx(direct)
    trials = own.trials({}) | {"D": column[own.item_rows]}
    random = "(1 + Same_sense + D | Participant) + (1 | Word)"
    formulas = (f"Response ~ Same_sense + D + {random}", f"Response ~ Same_sense + {random}")
    expected = likelihood_ratio(*formulas, trials, references=senses.REFERENCES, seed=3)
    name = "chi2_held_out(test=distance_beyond_sense_held_out,df=1)"
    record = find_record(records, name, subject="m")
    assert record.value == pytest.approx(expected.chi2, abs=1e-3)
    assert record.note.startswith(note)
    assert (record.layer, record.family) == (None, "chi2_held_out(method=holm,tests=2)")
    naive = find_record(records, "chi2(test=distance_beyond_sense,df=1)", subject="m")
    assert naive.family == "sense_and_distance(method=holm,tests=2)"
    # one word cannot be held out: the naive tests alone
    assert [test.name for test in senses.chosen_tests(_own(ONE_WORD, settings=own.settings))][1:] == [
        "sense_beyond_distance",
        "distance_beyond_sense",
    ]


def test_without_encoders_every_question_says_what_it_needs() -> None:
    """Ratings alone answer the question on people; each of the others names all of its inputs, in one form."""
    alone = SawCData(_data("own", ITEMS, _ratings(ITEMS, _agree, 3)), ResponseTable.empty(), SETTINGS)
    parts = study.analyse(alone)
    assert parts["Q1"].records
    missing = dict.fromkeys(("Q2", "Q4", "Q5"), "distances of encoders")
    for name, what in missing.items():
        (text,) = parts[name].paragraphs
        assert text.startswith(f"Not answered: the run has no {what}. The question needs ")
    needed = "norms (mean ratings of people), sense relations of pairs and distances of encoders."
    assert parts["Q4"].paragraphs[0].endswith(needed)
    (text,) = parts["Q3"].paragraphs
    assert text.startswith("Not answered: no subject of the run has distances or ratings.")
    assert [figure.name for figure in parts["Q3"].figures] == ["figure_4_agreement", "figure_4b_agreement_included"]


def test_a_subject_without_distances_is_named() -> None:
    """A live subject that gives neither distances nor ratings enters no statistic here, and the run says which."""
    own = replace(_own(), live=frozenset({"m", "baseline:random"}))
    (remark,) = study.analyse(own)["design"].remarks
    assert remark.startswith("baseline:random: no distances")


def _numbers(records: Sequence[Record]) -> dict[tuple[object, ...], tuple[float | None, float | None, float | None]]:
    return {(r.statistic, r.layer, r.condition): (r.value, r.low, r.high) for r in records}


def test_order_and_names_change_no_number() -> None:
    """Items in another order, and raters under other names in the same order, give the same records (T4)."""
    matrix, backwards = _matrix(ITEMS), list(reversed(ITEMS))
    row_of = {item.item_id: row for row, item in enumerate(ITEMS)}

    def same_rating(row: int, item: Item, rater: int) -> float:
        return _agree(row_of[item.item_id], item, rater)

    first = _numbers(_records(_own(matrix=matrix)))
    second = _numbers(_records(_own(backwards, rate=same_rating, matrix=matrix[::-1])))
    assert first.keys() == second.keys()
    for key, numbers in first.items():
        for one, other in zip(numbers, second[key], strict=True):
            assert one == (None if one is None else pytest.approx(other, abs=1e-10)), key
            assert (one is None) == (other is None), key


def test_another_unit_of_the_ratings_changes_only_what_has_that_unit() -> None:
    """Ratings times 20 leave correlations, R² and χ² as they are; means, SDs, residuals are 20 times as large (T4)."""
    settings = replace(SETTINGS, mixed_models="paper", starts=2)
    first = _numbers(_records(_own(settings=settings)))
    second = _numbers(_records(_own(rate=lambda row, item, rater: 20 * _agree(row, item, rater), settings=settings)))
    free = ("spearman", "pearson", "r_squared", "chi2", "leave_one_out_agreement", "krippendorff", "split_half", "best")
    scaled = ("condition_mean", "condition_sd", "mean_residual", "fixed_effect(term=Same_sense", "standard_error(term")
    for key, (value, _, _) in first.items():
        if value is None or not str(key[0]).startswith(free + scaled):
            continue
        factor = 20 if str(key[0]).startswith(scaled) else 1
        assert second[key][0] == pytest.approx(factor * value, rel=1e-3, abs=1e-6), key
