"""The study norm: its numbers are those of the statistics; annotate takes its files, whose ratings come back."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lexiscope.analysis.norming.allocation import weighted_mean
from lexiscope.analysis.norming.prediction_powered import powered_mean
from lexiscope.annotation.study_file.items import read_study_items
from lexiscope.annotation.study_file.template import draft_definition
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.result import Record, Undefined, read_records
from lexiscope.core.usage import Usage
from lexiscope.items.tables.tabular import read_items, write_items
from lexiscope.report.answers.numbers import Numbers
from lexiscope.report.page.stored_answers import RESULTS_PAGE
from lexiscope.studies.norm import answers, study
from lexiscope.studies.norm.data import load_run
from lexiscope.studies.norm.estimates import annotators, people_and_model
from lexiscope.studies.norm.settings import NormSettings

N_ITEMS, RATERS = 48, 9


def true_norm(item: int) -> float:
    """The norm of an item on a scale of 1 to 5, by rule."""
    return 1.6 + (item % 2) * 1.5 + (item * 7 % 11) / 8


def rating(rater: int, item: int) -> int:
    """A simulated rating of an item, by rule: every rater is off by up to 1.5."""
    return int(np.clip(round(true_norm(item) + ((rater * 31 + item * 17) % 13 - 6) / 4), 1, 5))


def write_ratings(path: Path, rated: range) -> Path:
    """A file of items with the ratings of simulated raters of some of them, a row per rating."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream)
        rows.writerow(["participant", "item", "rating"])
        for item in rated:
            rows.writerows((f"simulated-{rater}", f"i{item:02}", rating(rater, item)) for rater in range(RATERS))
    return path


def write_items_of(path: Path) -> Path:
    """The items: four of each word, two of one sense."""
    items = []
    for number in range(N_ITEMS):
        word = f"word{chr(97 + number // 4)}"
        texts = (f"The {word} is old.", f"The {word} is {('new', 'old')[number % 2]} and it is number {number}.")
        usages = tuple(
            Usage(text, text.index(word), text.index(word) + len(word), lemma=word, language="en") for text in texts
        )
        items.append(Item(f"i{number:02}", "made", usages, conditions={"same_sense": number % 2 == 1}))
    write_items(items, path)
    return path


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run with all items rated, and one with half of them rated."""
    folder = tmp_path_factory.mktemp("norm")
    items = str(write_items_of(folder / "items.csv"))
    folders = {}
    for name, rated in (("all", range(N_ITEMS)), ("half", range(24))):
        settings = NormSettings(
            file=str(write_ratings(folder / f"{name}.csv", rated)), items=items, scale=(1, 5), language="en",
            subjects=("baseline:word_overlap", "encoder:minilm"), sizes=(12, 20), draws=20, n_bootstrap=20, waves=2,
        )  # fmt: skip
        study.run(settings, folder / name, command="test")
        folders[name] = folder / name
    return folders


def values(folder: Path, name: str, **where: object) -> list[Record]:
    """The records of a statistic by the beginning of its name."""
    own = [record for record in read_records(folder / "results.json") if record.statistic.startswith(name)]
    return [record for record in own if all(getattr(record, key) == value for key, value in where.items())]


def test_a_run_says_what_a_model_is_worth_and_what_not(runs: dict[str, Path]) -> None:
    """Number needed to beat and winning rate of each model are on the page, with their limits."""
    models = {record.subject for record in values(runs["all"], "number_needed_to_beat(")}
    assert models == {"baseline:word_overlap", "encoder:minilm"}
    rates = values(runs["all"], "winning_rate(")
    page = (runs["all"] / RESULTS_PAGE).read_text(encoding="utf-8")
    for record in rates:
        assert record.value is not None
        assert f"the model holds against {100 * record.value:.0f}% of 9 annotators" in page
    text = (runs["all"] / "report.html").read_text(encoding="utf-8")
    assert "Contamination was not checked" in text


def test_the_wording_of_a_test_that_is_not_passed_and_of_a_number_without_an_end() -> None:
    """Below .50 no replacement is justified, said before anything else; a number needed says what it is not."""
    rate = Record("winning_rate(closeness=rmse,epsilon=0.1)", 0.25, subject="m", n=8)
    answer = answers.ANNOTATORS.answer(Numbers((rate,)))
    assert answer is not None
    assert answer.verdict == "No."
    assert answer.sentences[0] == "No replacement of annotators is justified (winning rate .25; .50 is needed)."
    name = "number_needed_to_beat(method=spearman)"
    curve = Record("agreement_of_people(k=1,method=spearman)", 0.6, subject="people")
    for record, expected in (
        (Record(name, 3.0, subject="m", low=2.0, high=5.0), "The mean of about 3 people [2, 5] agrees with"),
        (Record(name, None, subject="m", note="undefined: not reached"), "m: not reached."),
        (Record(name, 1.0, subject="m", note="no upper end: 1 or more"), "One person (no upper end: 1 or more) agrees"),
    ):
        worth = answers.NEEDED.answer(Numbers((record, curve)))
        assert worth is not None
        assert expected in worth.sentences[0]
        assert ("replacement for annotators" in " ".join(worth.sentences)) is (record.value is not None)


def test_the_wording_of_what_items_do_not_show_and_of_a_pass() -> None:
    """A difference whose interval includes 0 is not called equal; a passed test says what it does not make of a model;
    an estimate from a draw is an example; an error that is the same is neither smaller nor larger."""
    effect = Record("condition_effect_difference", 0.04, subject="m", condition="same_sense", low=-0.07, high=0.14)
    differences = answers.DIFFERENCES.answer(Numbers((effect,)))
    assert differences is not None
    assert differences.sentences[0].startswith("These items do not show whether m separates the levels of same sense")
    clear = answers.DIFFERENCES.answer(Numbers((replace(effect, value=-0.8, low=-0.9, high=-0.7),)))
    assert clear is not None
    assert clear.sentences[0].startswith("m separates the levels of same sense less than people: its effect minus")
    passed = answers.ANNOTATORS.answer(Numbers((Record("winning_rate(epsilon=0.1)", 0.75, subject="m", n=8),)))
    assert passed is not None
    assert passed.verdict == "Yes."
    assert "A pass does not make a model a replacement for annotators" in passed.caution
    ratio = Record("width_ratio(of=mean_rating,n=50,drawn=with_replacement)", 0.6, subject="m", low=0.5, high=0.7, n=9)
    mean = Record("mean_rating(source=people_and_model)", 2.0, subject="m", low=1.9, high=2.1, n=50)
    powered = answers.POWERED.answer(Numbers((ratio, mean)))
    assert powered is not None
    assert powered.sentences[1].startswith("Example, one draw of 50 items: the mean rating is 2.00 points")
    shares = [Record(f"{end}_sampling_probability", 0.2, n=50) for end in ("lowest", "highest")]
    spread = Record("spread_ratio", 0.999, subject="m", n=50)
    following = answers.NEXT.answer(Numbers((Record("n_allocated_items", 10.0, n=50), *shares, spread)))
    assert following is not None
    assert "is as large as from as many items drawn evenly" in following.sentences[1]


def test_estimates_with_half_of_the_items_rated_are_those_of_the_statistic(runs: dict[str, Path]) -> None:
    """The mean over all items from half of them: as computed from the answers of the run; by condition, too."""
    settings = NormSettings(
        file=str(runs["half"].parent / "half.csv"), items=str(runs["half"].parent / "items.csv"), scale=(1, 5),
        language="en", subjects=("baseline:word_overlap",), n_bootstrap=20,
    )  # fmt: skip
    run = load_run(settings, runs["half"].parent / "again")
    points = run.rating["baseline:word_overlap"]
    rated = ~np.isnan(run.norm)
    assert rated.sum() == 24
    expected = powered_mean(run.norm[rated], points[rated], points)
    own = values(runs["half"], "mean_rating(source=people_and_model)", subject="baseline:word_overlap", condition="")
    assert [record.value for record in own] == [pytest.approx(expected.powered.value)]
    assert len(values(runs["half"], "mean_rating_difference(source=people_and_model)")) == 2
    assert not values(runs["half"], "coverage_of_interval(")


def test_an_allocation_is_a_study_of_annotate_and_its_ratings_come_back(runs: dict[str, Path], tmp_path: Path) -> None:
    """The unrated items are allocated in waves; annotate takes the file of a wave; rated, it gives a weighted mean."""
    place = runs["half"] / "allocation"
    every = read_items(place / "items.csv")
    assert [item.item_id for item in every] == [f"i{n:02}" for n in range(N_ITEMS)]
    waves = [read_items(place / f"wave_{wave}.csv") for wave in (1, 2)]
    asked = [item.item_id for wave in waves for item in wave]
    assert len(asked) == len(set(asked)) == 6
    assert set(asked) <= {f"i{n:02}" for n in range(24, N_ITEMS)}
    assert sum(float(item.conditions["sampling_probability"]) for item in every) == pytest.approx(6)
    rule = (place / "stopping_rule.txt").read_text(encoding="utf-8")
    assert "±0.1 points or narrower, at the latest after wave 2." in rule
    definition = draft_definition(
        waves[0], task="relatedness", items_file=str(place / "wave_1.csv"), language="en", name="wave_1"
    )
    assert [item.item_id for item in read_study_items(definition).items] == [item.item_id for item in waves[0]]
    # all items allocated anew, those of the first wave rated
    fresh = runs["all"] / "allocation"
    first = [int(item.item_id[1:]) for item in read_items(fresh / "wave_1.csv")]
    ratings = tmp_path / "wave_1.csv"
    rows = ["participant,item,rating"]
    rows += [f"simulated-{r},i{n:02},{rating(r, n)}" for n in first for r in range(RATERS)]
    ratings.write_text("\n".join(rows) + "\n", encoding="utf-8")
    settings = NormSettings(
        file=str(ratings), items=str(fresh / "items.csv"), scale=(1, 5), subjects=("baseline:random",),
        language="en", n_bootstrap=10,
    )  # fmt: skip
    summary = study.run(settings, tmp_path / "run", command="test")
    run = load_run(settings, tmp_path / "collected")
    assert run.sampled is not None
    share = run.sampled.probability_after(1)
    assert share.sum() == pytest.approx(len(first))
    rated, points = ~np.isnan(run.norm), run.rating["baseline:random"]
    expected = weighted_mean(run.norm[rated], points[rated], share[rated], points)
    (own,) = values(tmp_path / "run", "mean_rating(source=people_and_model)")
    assert own.value == pytest.approx(expected.value)
    assert own.condition == "waves 1 to 1"
    (left,) = values(tmp_path / "run", "n_allocated_items")
    assert left.value == len(read_items(fresh / "wave_2.csv"))
    assert not (tmp_path / "run" / "allocation").exists()
    assert "Ask wave 2 next, by the interval of baseline:random and people." in summary.remarks


def test_items_without_ratings_are_allocated_alone(tmp_path: Path) -> None:
    """Of items that no people rated, only the last question is answered: people are asked where models disagree."""
    settings = NormSettings(
        file=str(write_items_of(tmp_path / "items.csv")), language="en", items_next=10, n_bootstrap=10,
        subjects=("baseline:random", "baseline:constant"),
    )  # fmt: skip
    summary = study.run(settings, tmp_path / "run", command="test")
    own = values(tmp_path / "run", "n_allocated_items")
    assert [record.value for record in own] in ([10.0], [])
    assert summary.n_records >= len(own)


def test_ratings_without_a_model_have_no_norm_run(tmp_path: Path) -> None:
    """There is nothing to compare people with: an error that names the options, not an empty report."""
    file = str(write_ratings(tmp_path / "ratings.csv", range(N_ITEMS)))
    settings = NormSettings(file=file, items=str(write_items_of(tmp_path / "items.csv")), scale=(1, 5))
    with pytest.raises(InputError, match=r"no model has rated the items[\s\S]*--subject encoder:minilm"):
        study.run(settings, tmp_path / "run", command="test")
    assert not (tmp_path / "run" / "report.html").exists()


def test_an_unknown_model_and_an_unknown_condition_are_refused(tmp_path: Path) -> None:
    """Both errors name what there is."""
    file = str(write_ratings(tmp_path / "ratings.csv", range(N_ITEMS)))
    items = str(write_items_of(tmp_path / "items.csv"))
    settings = NormSettings(file=file, items=items, scale=(1, 5), models=("gpt-9",))
    with pytest.raises(InputError, match="no model 'gpt-9' answered"):
        _ = load_run(settings, tmp_path / "run").rating
    settings = NormSettings(file=file, items=items, scale=(1, 5), by=("colour",), subjects=("baseline:random",))
    with pytest.raises(InputError, match=r"no condition 'colour'\n.*same_sense"):
        _ = load_run(settings, tmp_path / "run").shown_conditions


def test_a_published_dataset_asks_its_own_question(tmp_path: Path) -> None:
    """A model rates the plausibility of stories, the question that people answered, without --task."""
    settings = NormSettings(dataset="mini_ambistory", subjects=("baseline:random",))
    run = load_run(settings, tmp_path / "run")
    assert set(run.answers.unique("task")) == {"plausibility"}


def test_columns_that_are_no_persons_take_no_annotator_test(tmp_path: Path) -> None:
    """Where it is unknown which ratings are of one person, no annotator can be excluded: the result has the reason."""
    path = tmp_path / "r.csv"
    rows = (f"{who},i{n},{1 + (n + who) % 5},{1 + n % 5}\n" for n in range(9) for who in (1, 2, 3))
    path.write_text("rater,item,value,gpt\n" + "".join(rows), encoding="utf-8")
    run = load_run(NormSettings(file=str(path), columns=("model=gpt",)), tmp_path / "run")
    columns = replace(run, data=replace(run.data, card=replace(run.data.card, raters="columns")))
    (result,) = annotators(columns)
    assert isinstance(result, Undefined)
    assert "which ratings are of one person is not published" in result.reason
    # three ratings of each item are compared two with one, and no rater is held back for an interval over raters
    curve = [own for own in people_and_model(columns) if own.name.startswith("agreement_of_people(")]
    assert len(curve) == 2
