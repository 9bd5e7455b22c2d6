"""The context–word bias study on items whose biases are known, and what it says of splits, people and budgets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lexiscope.build.planted.bias import Dials, planted_items
from lexiscope.core import catalog
from lexiscope.core.errors import DataError, InputError, RunError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Record, find_record, read_records
from lexiscope.core.run import read_json, sha256_of
from lexiscope.items.tables.tabular import read_items, write_items
from lexiscope.studies.context_bias import data, study
from lexiscope.studies.context_bias.data import LOOK_UP
from lexiscope.studies.context_bias.sets import own_set
from lexiscope.studies.context_bias.settings import ContextBiasSettings

COUNTING = ContextBiasSettings(encoders=(LOOK_UP,), n_bootstrap=50)
SMALL = Dials(0.6, 0.3, n_words=8, splits=(("train", 400), ("dev", 60), ("test", 100)))


def records_of(settings: ContextBiasSettings, out: Path) -> tuple[Record, ...]:
    """Run the study and return its records."""
    study.run(settings, out)
    return read_records(out / "results.json")


def own_file(path: Path, dials: Dials = SMALL) -> Path:
    """Planted items as a file of the user's own."""
    write_items(planted_items(dials, dataset=path.stem), path)
    return path


# -- planted bias -----------------------------------------------------------------------------------------------


def planted(context: float, word: float = 0.3) -> str:
    """The embedded planted dataset with other dials."""
    return f"planted_bias?context_sufficiency={context}&word_sufficiency={word}"


CORNERS = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)]
VARIANTS = [planted(0.9), planted(0.1)]


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[Record, ...]]:
    """One run on six variants of the planted dataset, and its records."""
    out = tmp_path_factory.mktemp("several") / "run"
    names = (*(planted(*dials) for dials in CORNERS), *VARIANTS)
    return out, records_of(replace(COUNTING, datasets=names), out)


@pytest.mark.parametrize("dials", CORNERS)
def test_measured_biases_reach_the_corners(
    dials: tuple[float, float], several: tuple[Path, tuple[Record, ...]]
) -> None:
    """Through the whole study, a learner that learns everything measures what was planted: 0 and 1, each way."""
    for name, share in zip(("context_bias", "word_bias"), dials, strict=True):
        record = find_record(several[1], f"{name}(metric=accuracy)", subject=LOOK_UP, dataset=planted(*dials))
        assert record.value == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize("name", ["wic", "mine"])
def test_a_file_that_is_called_like_a_dataset_is_the_users(name: str, tmp_path: Path) -> None:
    """The printed entropy of WiC, and the rows that WiC's rule counts, belong to WiC's data, not to wic.csv."""
    found = records_of(replace(COUNTING, items=str(own_file(tmp_path / f"{name}.csv"))), tmp_path / "run")
    assert find_record(found, "label_entropy(word=lemma,rows=all,base=e,min_count=2)").published is None
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "In the paper" not in page
    assert "Recorded scores of people" not in page


def test_biases_are_those_of_the_formula(tmp_path: Path, assert_own: Callable[[Path], None]) -> None:
    """Both biases and the gaps follow from the accuracies of the same file by hand; no paper's data are spoken of."""
    found = records_of(replace(COUNTING, items=str(own_file(tmp_path / "mine.csv"))), tmp_path / "run")
    assert_own(tmp_path / "run")
    assert {record.analysis for record in found if record.question} == {"exploratory"}
    score = {
        view: find_record(found, "accuracy", view=view).value or 0.0 for view in ("full", "context", "word", "label")
    }
    room = score["full"] - score["label"]
    for view in ("context", "word"):
        assert find_record(found, f"{view}_bias(metric=accuracy)").value == (score[view] - score["label"]) / room
    gap = min(score["full"] - score["context"], score["full"] - score["word"])
    assert find_record(found, "minimum_gap(metric=accuracy)").value == gap
    assert find_record(found, "accuracy", view="random").value == 0.5


def test_scores_are_those_of_the_answers(tmp_path: Path) -> None:
    """An accuracy is the share of the answers in responses.parquet that equal the gold of the file."""
    own = own_file(tmp_path / "mine.csv")
    found = records_of(replace(COUNTING, items=str(own)), tmp_path / "run")
    gold = {each.item_id: each.gold for each in planted_items(SMALL, dataset="mine")}
    rows = list(ResponseTable.read_parquet(tmp_path / "run" / "responses.parquet").where(view="context").rows())
    assert len(rows) == 100
    assert find_record(found, "accuracy", view="context").value == sum(gold[r.item_id] == r.option for r in rows) / 100


# -- the run folder -----------------------------------------------------------------------------------------------


def test_several_datasets_stand_in_one_run(several: tuple[Path, tuple[Record, ...]]) -> None:
    """Each has its own numbers; figures and tables hold all of them."""
    run, found = several
    values = [find_record(found, "context_bias(metric=accuracy)", dataset=name).value or 0.0 for name in VARIANTS]
    assert values == pytest.approx([0.9, 0.1], abs=0.07)
    plane = (run / "figures" / "figure_1_plane.csv").read_text(encoding="utf-8")
    assert all(name in plane for name in VARIANTS)


def test_answers_to_items_numbered_alike_can_be_told_apart(several: tuple[Path, tuple[Record, ...]]) -> None:
    """Variants of a dataset share ids: in responses.parquet the variant stands before each, and scores follow."""
    run, found = several
    rows = list(ResponseTable.read_parquet(run / "responses.parquet").where(view="context").rows())
    assert len({row.item_id for row in rows}) == len(rows)
    for name in VARIANTS:
        gold = {f"{name}:{each.item_id}": each.gold for each in catalog.dataset(name).items}
        own = [row.option == gold[row.item_id] for row in rows if row.item_id in gold]
        assert find_record(found, "accuracy", dataset=name, view="context").value == sum(own) / len(own)


def test_a_finished_run_computes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same call returns the same overview and asks nobody; other settings are refused."""
    settings = replace(COUNTING, items=str(own_file(tmp_path / "mine.csv")))
    first = study.run(settings, tmp_path / "run")
    monkeypatch.setattr(study, "run_maker", None)
    assert study.run(settings, tmp_path / "run").overview == first.overview
    with pytest.raises(RunError, match="another question"):
        study.run(replace(settings, seed=1), tmp_path / "run")


def test_a_broken_run_goes_on_to_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is stopped between two views goes on with its trainings and answers, and ends like an unbroken one."""
    own = own_file(tmp_path / "mine.csv", replace(SMALL, splits=(("train", 40), ("dev", 20), ("test", 20))))
    settings = replace(COUNTING, items=str(own), encoders=("minilm",), protocol="zero_shot", outputs=())
    study.run(settings, tmp_path / "whole")
    asked: list[str] = []
    real = data.collect

    def stopping(*given: Any, views: Sequence[str], **named: Any) -> ResponseTable:
        asked.append(views[0])
        if asked == ["full", "context"]:
            raise KeyboardInterrupt
        return real(*given, views=views, **named)

    monkeypatch.setattr(data, "collect", stopping)
    with pytest.raises(KeyboardInterrupt):
        study.run(settings, tmp_path / "broken")
    assert not (tmp_path / "broken" / "run.json").exists()
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "broken" / "shards").rglob("run.json")}
    assert len(kept) == 2  # full was asked, context was fitted
    study.run(settings, tmp_path / "broken")
    assert all(path.stat().st_mtime_ns == before for path, before in kept.items())
    for name in ("results.json", "responses.parquet", "report.html", "figures/figure_1_plane.svg"):
        assert sha256_of(tmp_path / "broken" / name) == sha256_of(tmp_path / "whole" / name), name
    assert not (tmp_path / "broken" / "vectors").exists()


# -- datasets and protocols ---------------------------------------------------------------------------------------


def test_a_dataset_that_is_not_at_hand_is_listed_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside one that is at hand it is named with what is missing; alone it is an error."""
    monkeypatch.delenv("LEXISCOPE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    study.run(replace(COUNTING, datasets=("planted_bias", "cometa")), tmp_path / "run")
    table = (tmp_path / "run" / "tables" / "not_used.csv").read_text(encoding="utf-8")
    assert re.search(r"cometa,.*Not available: cometa.* not here", table)
    # what was merely not asked for is said to be just that; a sentence begins with a capital letter
    assert re.search(r"wikimed,[^\n]*,Not asked for: --dataset wikimed\.\n", table)
    assert not re.search(r"\. [a-z]", table)
    with pytest.raises(DataError, match="cometa"):
        study.run(replace(COUNTING, dataset="cometa"), tmp_path / "other")


def test_a_budget_and_a_protocol_are_not_both_given() -> None:
    """Each of them decides; a budget that is no duration is refused too."""
    with pytest.raises(InputError, match="not both"):
        replace(COUNTING, budget="30m", protocol="full")
    with pytest.raises(InputError, match="30 potatoes"):
        study.make_run(replace(COUNTING, budget="30 potatoes"), Path("nowhere"))


def test_a_plan_for_a_budget_is_kept(tmp_path: Path) -> None:
    """A run that goes on has the same plan, however fast the machine now is; the report says what was left out."""
    own = own_file(tmp_path / "mine.csv", replace(SMALL, splits=(("train", 40), ("dev", 20), ("test", 20))))
    settings = replace(COUNTING, items=str(own), encoders=("minilm",), budget="5s", outputs=())
    study.run(settings, tmp_path / "run")
    (kept,) = (tmp_path / "run" / "plans").glob("*.json")
    assert read_json(kept)["protocol"] == "linear"
    (plan,) = read_json(tmp_path / "run" / "run.json")["plans"]
    assert "Planned for 5s" in plan["plan"]
    assert any("all training" in text for text in plan["left_out"])


# -- people -------------------------------------------------------------------------------------------------------


def answers_of_people(items: Sequence[Item]) -> Iterator[Response]:
    """Two people a view, who are right with the whole input and say t to everything else."""
    for place, view in enumerate(("full", "context", "word")):
        for who in ("a", "b"):
            for each in items:
                option = each.gold if view == "full" else "t"
                yield Response(f"p{place}{who}", "participant", each.item_id, "same_sense", "choice", option=option,
                               view=view)  # fmt: skip


def test_simulated_participants_are_marked_where_they_are(tmp_path: Path) -> None:
    """Answers of simulated participants beside a model: their numbers, tables and figures are marked, the model's own
    are not, and the page says that a part is theirs. What the paper prints of people is not set beside them."""
    own = own_file(tmp_path / "mine.csv")
    asked = [each for each in planted_items(SMALL, dataset="mine") if each.conditions["split"] == "test"][:40]
    rows = [replace(row, subject_id=f"simulated-{row.subject_id}") for row in answers_of_people(asked)]
    ResponseTable.from_rows(rows).write_csv(tmp_path / "people.csv")
    settings = replace(COUNTING, items=str(own), people=(str(tmp_path / "people.csv"),))
    found = records_of(settings, tmp_path / "run")
    people = [record for record in found if record.subject == "people" or record.statistic.startswith("people_")]
    assert people
    assert {record.people for record in people} == {"simulated"}
    assert find_record(found, "accuracy", subject=LOOK_UP, view="full").people == ""
    for name in ("table_5_gaps", "view_scores"):
        for path in (tmp_path / "run" / "tables").glob(f"{name}*"):
            assert "simulated" in path.read_text(encoding="utf-8"), path.name
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "[partly of simulated participants]" in page
    # a drawing keeps its texts, and says below that its people are simulated
    drawings = [drawn for drawn in re.findall(r"<svg.*?</svg>", page, re.DOTALL) if ">people<" in drawn]
    assert drawings
    assert all("people and raters in this figure are these" in drawn for drawn in drawings)
    assert not re.search(
        r">\s*people\s*<", re.sub(r"<svg.*?</svg>|<dt>people</dt>", "", page, flags=re.DOTALL), re.IGNORECASE
    )
    # the verdict, the answers to the questions and the subtitle speak of them too
    said = re.sub(r"<(style|script|svg)\b.*?</\1>|settings\.people|--people|<[^>]*>", " ", page, flags=re.DOTALL)
    for part in re.findall(r"[^.;]*\b[Pp]eople\b[^.;]*", said.rpartition("Run record")[0]):
        assert "of this figure" in part or "in this figure" in part, part
    for name in ("data_card.md", "codebook.md"):
        assert "simulated participants" in (tmp_path / "run" / name).read_text(encoding="utf-8"), name
    summary = study.run(settings, tmp_path / "run")
    assert any("simulated participants" in text for text in summary.remarks)
    assert any("simulated participants" in str(row) for row in summary.overview.rows)
    both = [*rows, *answers_of_people(asked)]
    ResponseTable.from_rows(both).write_csv(tmp_path / "people.csv")
    with pytest.raises(InputError, match="partly") as caught:
        study.run(settings, tmp_path / "other")
    assert caught.value.code == "E508"


def test_people_stand_beside_the_model(tmp_path: Path) -> None:
    """Their scores, their biases, what they agree on, and how far the model stays behind follow from their answers."""
    own = own_file(tmp_path / "mine.csv")
    asked = [each for each in planted_items(SMALL, dataset="mine") if each.conditions["split"] == "test"][:40]
    ResponseTable.from_rows(list(answers_of_people(asked))).write_csv(tmp_path / "people.csv")
    found = records_of(replace(COUNTING, items=str(own), people=(str(tmp_path / "people.csv"),)), tmp_path / "run")
    share = sum(each.gold == "t" for each in asked) / 40
    assert find_record(found, "accuracy", subject="people", view="full").value == 1
    assert find_record(found, "accuracy", subject="people", view="context").value == share
    assert find_record(found, "accuracy", subject="people", view="label").note.startswith("not measured here: assumed")
    model = find_record(found, "accuracy", subject=LOOK_UP, view="context").value or 0.0
    gap = find_record(found, "people_minus_model(metric=accuracy)", subject=LOOK_UP, view="context")
    assert gap.value == pytest.approx(share - model)
    assert find_record(found, "percent_agreement(over=items)", subject="people", view="context").value == 1
    assert "people" in (tmp_path / "run" / "figures" / "figure_1_plane.csv").read_text(encoding="utf-8")


def test_an_answer_to_another_item_is_refused(tmp_path: Path) -> None:
    """People's answers belong to labelled items of the run; the file and the item are named."""
    own = own_file(tmp_path / "mine.csv")
    strange = Response("ana", "participant", "yours/1", "same_sense", "choice", option="t", view="full")
    ResponseTable.from_rows([strange]).write_csv(tmp_path / "people.csv")
    settings = replace(COUNTING, items=str(own), people=(str(tmp_path / "people.csv"),))
    with pytest.raises(InputError, match=r"E471.*ana answered 'yours/1'"):
        study.run(settings, tmp_path / "run")
    (tmp_path / "people.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"not a file of people's answers: its columns are a, b"):
        study.run(settings, tmp_path / "run")


def test_an_answer_that_two_datasets_could_own_is_refused(tmp_path: Path) -> None:
    """People's files name items alone: what two variants of a dataset both have is not given to either."""
    answers = tmp_path / "answers.csv"
    of_both = [each for each in catalog.dataset(VARIANTS[0]).items if each.conditions["split"] == "test"][:3]
    ResponseTable.from_rows(answers_of_people(of_both)).write_csv(answers)
    with pytest.raises(InputError, match="both have") as caught:
        study.run(replace(COUNTING, datasets=tuple(VARIANTS), people=(str(answers),)), tmp_path / "run")
    assert caught.value.code == "E471"


def test_printed_people_are_marked_as_such() -> None:
    """The scores of people on AM²iCo are printed or assumed, and their minimum gap is the printed 18.9 points."""
    named = [each for each in study.PUBLISHED["am2ico?language=zh"] if each.statistic == "people_accuracy"]
    values = {each.view: each for each in named}
    gaps = [float(values["full"].printed) - float(values[view].printed) for view in ("context", "word")]
    assert [round(100 * gap, 9) for gap in gaps] == [18.9, 19.4]
    subjects = {view: each.subject for view, each in values.items()}
    printed = dict.fromkeys(("full", "context", "word"), "people (printed)")
    assert subjects == {**printed, "label": "people (assumed)"}


def test_catch_trials_are_counted_in_a_remark(tmp_path: Path) -> None:
    """They are no items of the audit: the report and the screen say how many were left out."""
    own = own_file(tmp_path / "mine.csv")
    items = read_items(own)
    caught = [replace(each, conditions={**each.conditions, "catch": True}) for each in items[:2]]
    write_items([*caught, *items[2:]], own)
    audit = own_set(own, COUNTING)
    assert len(audit.parts.all_items) == len(items) - 2
    assert audit.caught == ("2 items of the file are catch trials (column catch): no analysis uses them.",)


def test_a_model_that_answered_no_guess_is_not_said_to_keep_its_answers(tmp_path: Path) -> None:
    """The learner that counts is not asked guessed words: how often it keeps its answer is undefined, not 0."""
    own = own_file(tmp_path / "mine.csv")
    (asked, *_) = [each for each in planted_items(SMALL, dataset="mine") if each.conditions["split"] == "test"]
    of_item = {"subject_id": "ana", "subject_kind": "participant", "item_id": asked.item_id, "task": "same_sense"}
    rows = [
        Response(**of_item, measure="choice", option="t", view="context"),
        Response(**of_item, measure="guessed_word", raw="seal", view="context"),
        Response(**of_item, measure="revealed_choice", option="f", view="full"),
    ]
    ResponseTable.from_rows(rows).write_csv(tmp_path / "people.csv")
    more = {"guess_of": asked.item_id, "guess": "seal", "guess_fits": True}
    forms = {"guessed_word_1": "seal", "guessed_word_2": "seal"}
    guessed = replace(asked, item_id=f"{asked.item_id}/seal", gold=None, conditions=asked.conditions | more | forms)
    write_items([guessed], tmp_path / "guessed.csv")
    files = (str(tmp_path / "people.csv"), str(tmp_path / "guessed.csv"))
    found = records_of(replace(COUNTING, items=str(own), people=files, n_bootstrap=5), tmp_path / "run")
    assert find_record(found, "n_valid_guesses").value == 1
    kept = find_record(found, "n_insensitive")
    assert (kept.value, kept.n) == (None, 0)
    assert "answered by the model" in kept.note
