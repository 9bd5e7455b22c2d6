"""Two studies in one file each, outside the package: a sixth paper on published data, and one of made data."""

from __future__ import annotations

import csv
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import spearmanr

from lexiscope.cli.main import cli
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Estimate, Record, find_record, read_records
from lexiscope.core.settings import Settings
from lexiscope.report.figures import Figure
from lexiscope.report.pivot import Col, pivot, rows_of
from lexiscope.report.tables import Column, Table
from lexiscope.studies.kit.data import pair, rating
from lexiscope.studies.kit.run import Run
from lexiscope.studies.kit.study import Study

from ..subjects.fake_chat import FakeChat, serving

HERE = Path(__file__).parent
RHO = "spearman(with=norms)"


def lexiscope(*words: str) -> str:
    """What a command prints."""
    done = CliRunner().invoke(cli, list(words))
    assert done.exit_code == 0, done.output
    return done.output


def rates(body: dict[str, Any]) -> str:
    """A chat model that rates by the length of the question."""
    return str(len(str(body["messages"][-1]["content"])) % 5)


@pytest.mark.published
def test_a_sixth_paper_runs_by_path(published: Path, tmp_path: Path) -> None:
    """People, recorded ratings, encoder layers, a causal LM and a chat endpoint; figures recomputed from the files."""
    with serving(FakeChat(says=rates)) as url:
        lm = f"causal_lm:{published.parent}/models/tiny-causal-en"
        live = [word for spec in ("encoder:minilm", lm, f"chat:m@{url}") for word in ("--subject", spec)]
        lexiscope("study", str(HERE / "trott_2024.py"), *live, "--bootstrap", "20", "--out", str(tmp_path / "run"))
    records = read_records(tmp_path / "run" / "results.json")
    rows = list(csv.DictReader((published / "llm_norms/processed/raw-c/raw-c_gpt-4.csv").open(encoding="utf-8")))
    model, norm = (np.array([float(row[name]) for row in rows]) for name in ("gpt4_rating", "mean_relatedness"))
    same = np.array([row["same"] == "True" for row in rows])
    for kind in ("homonymy", "polysemy", ""):
        chosen = np.array([kind in row["ambiguity_type"].lower() for row in rows])
        condition = f"ambiguity={kind}" if kind else ""
        found = find_record(records, RHO, subject="gpt-4", condition=condition).value
        assert found == pytest.approx(spearmanr(model[chosen], norm[chosen]).statistic, abs=1e-12)
    mean = find_record(records, "mean_rating(over=items)", subject="people", condition="same_sense=True")
    assert mean.value == pytest.approx(norm[same].mean(), abs=1e-9)
    # lme4 1.1-31: lmer(relatedness ~ same + gpt4_rating + (1 | subject) + (1 | word), REML = FALSE), anova
    tests = [record for record in records if record.statistic == "chi2(df=1)"]
    assert tests[0].value == pytest.approx(864.78, abs=0.005)
    slope = find_record(records, "coefficient(of=mixed)", condition="sense boundary given gpt_4: same_sense")
    assert slope.value == pytest.approx(1.25673407, abs=1e-6)
    # GPT-3.5 rated one pair between two points of the scale: that pair's ratings are excluded, and counted
    other = csv.DictReader((published / "llm_norms/processed/raw-c/raw-c_gpt-3.5-turbo.csv").open(encoding="utf-8"))
    (odd,) = [(row["sentence1"], row["sentence2"]) for row in other if row["gpt3.5-turbo_rating"] == "3.5"]
    (dropped,) = [int(row["count"]) for row in rows if (row["sentence1"], row["sentence2"]) == odd]
    assert [record.n for record in tests] == [8624, 8624 - dropped]
    assert f"excluded: {dropped:,} ratings of items that a model did not answer" in tests[1].note
    names = [(r.statistic, r.subject, r.layer, r.condition, r.view) for r in records]
    assert len(set(names)) == len(names), "two records answer to one name"
    assert {r.layer for r in records if r.subject == "encoder:minilm" and r.statistic == RHO} == set(range(7))
    layers = (tmp_path / "run" / "figures" / "spearman_by_layer.csv").read_text(encoding="utf-8").splitlines()
    assert len(layers) == 1 + 7, "what has layers is drawn where the question draws nothing itself"
    live_rho = [r for r in records if r.statistic == RHO and r.subject.startswith(("causal_lm:", "chat:"))]
    assert len(live_rho) == 2
    assert all(record.n == 672 for record in live_rho)
    assert lexiscope("verify", str(tmp_path / "run")).rstrip().endswith(": no differences")
    assert len((HERE / "trott_2024.py").read_text(encoding="utf-8").splitlines()) <= 100


def made(out: Path, *options: str, file: Path = HERE / "graded.py") -> tuple[Record, ...]:
    """The records of the made study."""
    lexiscope("study", str(file), "--bootstrap", "20", "--out", str(out), *options)
    return read_records(out / "results.json")


def test_a_study_has_a_statistic_and_a_setting_of_its_own(tmp_path: Path) -> None:
    """The setting changes the statistic, is in the help and in run.json; the scale is 1 to 100; people are marked."""
    share = {
        within: find_record(made(tmp_path / within, "--within", within), "near_others").value
        for within in ("10", "200")
    }
    assert share["200"] == 1.0
    assert 0 < float(share["10"] or 0) < 1
    assert "--within FLOAT RANGE" in lexiscope("study", str(HERE / "graded.py"), "--help")
    page = (tmp_path / "10" / "report.html").read_text(encoding="utf-8")
    assert "simulated participants" in page
    assert "The near others of simulated participants is" in page
    assert "The constant is undefined: the correlation is undefined: in x, all 15 values are 1." in page
    records = read_records(tmp_path / "10" / "results.json")
    assert {record.people for record in records} == {"simulated"}
    assert "Not answered: the run has no answers of models." in page


def test_a_statistic_of_ones_own_is_taken_of_each_model_at_each_layer(tmp_path: Path) -> None:
    """Its intervals resample words, the choice of a layer is allowed for; NaN and errors are reasons at their layer."""
    file = tmp_path / "mine.py"
    again = """

@study.question("How large is the change?", needs="models")
def change(run):
    same = np.array([item.conditions["same_sense"] for item in run.items])

    def separation(answers, rows):
        kept = same[rows]
        return answers[rows][kept].mean() - answers[rows][~kept].mean()

    def odd(answers, rows):
        return float("nan") if answers[0] == answers[1] else 1.0

    return run.each_model("separation", separation, higher="senses are farther apart"), run.each_model("odd", odd)
"""
    text = (HERE / "graded.py").read_text(encoding="utf-8").replace('licence="CC0",', 'licence="CC0", methods="How.",')
    file.write_text(text + again, encoding="utf-8")
    subjects = ("--subject", "encoder:minilm", "--subject", "baseline:word_overlap")
    records = made(tmp_path / "run", *subjects, file=file)
    own = [r for r in records if r.statistic == "separation"]
    assert [(r.subject, r.layer) for r in own] == [("encoder:minilm", n) for n in range(7)] + [
        ("baseline:word_overlap", None)
    ]
    assert all(r.interval.startswith("bootstrap(method=t,resampled=words") for r in own if r.value)
    answers = ResponseTable.read_parquet(tmp_path / "run" / "responses.parquet")
    distance = answers.where(subject_id="encoder:minilm", measure="cosine_distance").rows()
    at_6 = {row.item_id: -float(row.value or 0) for row in distance if row.layer == 6}
    same = [value for item, value in at_6.items() if item.endswith("12")]
    other = [value for item, value in at_6.items() if not item.endswith("12")]
    assert own[6].value == pytest.approx(np.mean(same) - np.mean(other), abs=1e-12)
    assert find_record(records, "separation(layer=chosen)").subject == "encoder:minilm"
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "separation at the layer chosen on other words" in page
    assert "<p>How.</p>" in page, "methods of one text are one paragraph"
    assert "separation_by_layer.csv" in {path.name for path in (tmp_path / "run" / "figures").iterdir()}
    odd = find_record(records, "odd", subject="baseline:word_overlap")
    assert (odd.value, odd.note) == (None, "undefined: its function returned nan")


def test_a_study_of_ones_own_takes_items_and_ratings(tmp_path: Path) -> None:
    """Settings on ``RatedItemSettings`` give --items and --ratings: the same questions of what was collected."""
    file, items, ratings = (tmp_path / name for name in ("mine.py", "items.csv", "ratings.csv"))
    text = (HERE / "graded.py").read_text(encoding="utf-8")
    text = text.replace("Graded(Settings)", "Graded(RatedItemSettings)").replace(
        "Settings, Study", "RatedItemSettings, Study"
    )
    file.write_text(text, encoding="utf-8")
    rows = [f"i{n},{w},The {w} fell.,He saw a {w}.,{n % 2 == 0}" for n, w in enumerate(("bank", "bat", "seal", "ring"))]
    items.write_text("item_id,word,sentence_1,sentence_2,same_sense\n" + "\n".join(rows), encoding="utf-8")
    given = [f"p{p},i{n},{20 * n + p + 1}" for p in range(3) for n in range(4)]
    ratings.write_text("participant,item_id,rating\n" + "\n".join(given), encoding="utf-8")
    options = ("--items", str(items), "--ratings", str(ratings), "--language", "en")
    records = made(tmp_path / "run", *options, file=file)
    mean = find_record(records, "mean_rating(over=items)", condition="same_sense=False")
    # items 1 and 3: 20 n + 1, 2, 3
    assert (mean.value, mean.n, mean.people) == (42.0, 2, "")


def test_models_are_compared_with_people(tmp_path: Path) -> None:
    """Layers of an encoder and a baseline, the difference of the two best on the same draws, a figure over layers."""
    subjects = ("--subject", "encoder:minilm", "--subject", "baseline:word_overlap")
    records = made(tmp_path / "run", *subjects)
    best = max((r for r in records if r.statistic == RHO and r.value is not None), key=lambda r: r.value or 0)
    (difference,) = [r for r in records if r.statistic == "spearman_difference(with=norms)"]
    other = find_record(records, RHO, subject="baseline:word_overlap").value
    assert difference.value == pytest.approx((best.value or 0) - (other or 0), abs=1e-12)
    assert difference.low is not None
    data = (tmp_path / "run" / "figures" / "spearman_by_layer.csv").read_text(encoding="utf-8")
    assert len(data.splitlines()) == 1 + 7 + 0


def test_a_finished_run_is_left_alone_and_another_text_is_another_run(tmp_path: Path) -> None:
    """The study's own file belongs to the question: a run of another text of it is not taken for this one's."""
    file = tmp_path / "mine.py"
    shutil.copy(HERE / "graded.py", file)
    made(tmp_path / "run", file=file)
    again = lexiscope("study", str(file), "--bootstrap", "20", "--out", str(tmp_path / "run"))
    assert "finished before" in again
    file.write_text(file.read_text(encoding="utf-8").replace("dice.gauss(75", "dice.gauss(60"), encoding="utf-8")
    changed = lexiscope("study", str(file), "--bootstrap", "20", "--out", str(tmp_path / "run"))
    assert "finished before" not in changed


def test_claims_of_a_study_are_checked_on_its_own_data(tmp_path: Path) -> None:
    """claims.csv next to the file: outcomes in the report and in tables/claims.csv; none on simulated people or on a
    user's dataset; another text of the claims is another run."""
    text = (
        (HERE / "graded.py")
        .read_text(encoding="utf-8")
        .replace("scale=(1, 100),", 'scale=(1, 100), claims="claims.csv",')
    )
    (tmp_path / "simulated.py").write_text(text, encoding="utf-8")
    (tmp_path / "people.py").write_text(text.replace("simulated-", "made_up_"), encoding="utf-8")
    mean = "mean_rating(over=items)[condition='same_sense={}']"
    rule = f"{mean.format(True)} > {mean.format(False)}"
    claims = tmp_path / "claims.csv"
    header = "dataset,claim,place,question,rule,unavailable\n"
    claims.write_text(header + f",One sense is rated higher.,§4,Q1,{rule},\n", encoding="utf-8")
    for name in ("people", "simulated"):
        made(tmp_path / name, file=tmp_path / f"{name}.py")
    table = tmp_path / "people" / "tables" / "claims.csv"
    rows = [(row["Claim"], row["Outcome"]) for row in csv.DictReader(table.open(encoding="utf-8"))]
    assert rows == [("One sense is rated higher.", "holds")]
    assert not (tmp_path / "simulated" / "tables" / "claims.csv").exists()
    page = (tmp_path / "people" / "report.html").read_text(encoding="utf-8")
    assert "What the paper claims" in page
    made(tmp_path / "other", "--dataset", "mini_relatedness", file=tmp_path / "people.py")
    assert not (tmp_path / "other" / "tables" / "claims.csv").exists()
    claims.write_text(header + f",One sense is rated lower.,§4,Q1,{rule.replace('>', '<')},\n", encoding="utf-8")
    made(tmp_path / "people", file=tmp_path / "people.py")
    assert "reversed" in table.read_text(encoding="utf-8")


def test_what_a_study_cannot_be_is_refused_with_the_reason(tmp_path: Path) -> None:
    """A rating of no item, one off the scale, an answer that is no result, a need that does not exist."""
    study = Study("odd", title="Odd", citation="None", scale=(1, 5))
    with pytest.raises(SpecError, match="has no data"):
        study.dataset()
    for row, what in (
        (rating("p1", "b", 3), "the data do not have"),
        (rating("p1", "a", 9), "not on the scale 1 to 5"),
    ):
        study.load = partial(list, [pair("a", "A bat flew.", "His bat broke.", "bat"), row])
        with pytest.raises(InputError, match=what):
            study.dataset()
    ratings = [rating(f"p{n}", "a", 3) for n in range(3)]
    study.data(lambda: [pair("a", "A bat flew.", "His bat broke.", "bat"), *ratings])
    study.question("What?")(lambda run: {"rho": 0.5})
    with pytest.raises(SpecError, match="returns dict"):
        study.run(out=tmp_path / "run")
    study.questions.clear()
    study.question("What?", needs="luck")(lambda run: "nothing")
    with pytest.raises(InputError, match="cannot need 'luck'"):
        study.run(out=tmp_path / "run2")


def test_what_a_question_cannot_say_is_an_error_in_its_file(tmp_path: Path) -> None:
    """Nothing returned, an undefined statistic: each names what to do, the second its line; nothing is half written.

    One rater has no agreement: the reason is in the results, and the other results of the question stay.
    """
    text = (HERE / "graded.py").read_text(encoding="utf-8").partition('@study.question("Do models')[0]
    raised = "from lexiscope.core.errors import StatisticError\n    raise StatisticError('too few')"
    for body, what in (
        ("pass", "the question then of graded_senses returns nothing"),
        (raised, r'mine.py:\d+: too few\n.*\n  what to do: take it with run.attempt\("NAME", function\)'),
    ):
        file = tmp_path / "mine.py"
        file.write_text(f'{text}\n@study.question("And then?")\ndef then(run):\n    {body}\n', encoding="utf-8")
        done = CliRunner().invoke(cli, ["study", str(file), "--bootstrap", "20", "--out", str(tmp_path / "run")])
        assert done.exit_code == 1
        assert re.search(what, done.output), done.output
        assert not (tmp_path / "run" / "run.json").exists()
    study = Study("one_rater", title="One rater", citation="None", scale=(1, 5))
    study.data(lambda: [pair("a", "A bat flew.", "His bat broke.", "bat"), rating("p1", "a", 3)])

    @study.question("Agreed?")
    def agreed(run: Run[Settings]) -> object:
        return run.means(), run.agreement()

    study.run(study.settings_for(n_bootstrap=0), tmp_path / "one")
    records = read_records(tmp_path / "one" / "results.json")
    assert find_record(records, "mean_rating(over=items)").value == 3.0
    of_one = find_record(records, "leave_one_out_agreement(method=spearman)")
    assert of_one.value is None
    assert of_one.note.startswith("undefined: agreement is undefined: 0 of 1 raters have a value")


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (None, "the data function of odd returns NoneType"),
        ([], "the data function of odd yields no item"),
        ([pair("a", "A bat flew.", "His bat broke.", "bat", c=[1])], "the condition 'c' is a list"),  # type: ignore[arg-type]
    ],
)
def test_data_that_are_none_are_an_error(given: Any, what: str) -> None:
    """A data function without yield, without items, and a condition of another type: no traceback."""
    study = Study("odd", title="Odd", citation="None")
    study.load = lambda: given
    with pytest.raises(InputError, match=what):
        study.dataset()


def test_two_results_of_one_name_are_refused(tmp_path: Path) -> None:
    """They could not be told apart; a result may be returned twice, and a name of its own makes two of them."""
    study = Study("named", title="Named", citation="None", scale=(1, 5))
    study.data(lambda: [pair("a", "A bat flew.", "His bat broke.", "bat"), rating("p1", "a", 3)])
    mean = Estimate("mean_rating", 3.0)
    others = [mean, mean.about(value=2.0)]

    @study.question("How many?")
    def how_many(run: Run[Settings]) -> object:
        """Return the number twice, and another."""
        return mean, *others

    with pytest.raises(SpecError, match="how_many of named returns two different results of one name: mean_rating"):
        study.run(study.settings_for(n_bootstrap=0), tmp_path / "refused")
    others[1] = others[1].about(condition="late")
    study.run(study.settings_for(n_bootstrap=0), tmp_path / "run")
    records = read_records(tmp_path / "run" / "results.json")
    assert find_record(records, "mean_rating", condition="late").value == 2.0


def test_every_setting_of_every_study_has_an_effect(tmp_path: Path) -> None:
    """Another dataset of the same task, of which people's questions cannot be asked; a title; a statement of ethics."""
    yaml = tmp_path / "mine.yaml"
    lexiscope("study", str(HERE / "graded.py"), "--dataset", "mini_relatedness", "--write-yaml", str(yaml))
    text = yaml.read_text(encoding="utf-8")
    yaml.write_text(re.sub(r"(?m)^(\s*ethics: ).*$", r"\1nobody was asked", text), encoding="utf-8")
    lexiscope("study", str(yaml), "--title", "Other words", "--out", str(tmp_path / "run"))
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "<title>Other words" in page
    assert "Ethics: nobody was asked" in page
    assert "Mini relatedness items" in page
    assert page.count("Not answered: the run has no") == 3
    done = CliRunner().invoke(cli, ["study", str(HERE / "graded.py"), "--dataset", "mini_synonymy", "--out", "x"])
    assert "the dataset mini_synonymy has items of minimal_pair" in done.output


def test_a_question_with_a_table_of_its_own_has_no_second_one(tmp_path: Path) -> None:
    """Results that a question lays out itself are not listed again by their type; their records are in the run."""
    study = Study("laid_out", title="Laid out", citation="None", scale=(1, 5))
    study.data(lambda: [pair("a", "A bat flew.", "His bat broke.", "bat"), rating("p1", "a", 3)])

    @study.question("How many?")
    def how_many(run: Run[Settings]) -> object:
        """Return a result and the table that shows it."""
        found = run.about(Estimate("mean_rating", 3.0))
        return found, pivot("means", "Means", [found], [Col("Mean", "mean_rating")], rows_of([found], "dataset"))

    study.run(study.settings_for(n_bootstrap=0), tmp_path / "run")
    assert [path.name for path in (tmp_path / "run" / "tables").glob("*.csv") if "mean" in path.name] == ["means.csv"]
    assert not (tmp_path / "run" / "tables" / "how_many.csv").exists()
    assert find_record(read_records(tmp_path / "run" / "results.json"), "mean_rating").value == 3.0


def test_two_questions_may_draw_the_same_curve(tmp_path: Path) -> None:
    """Figures and tables of one name in two questions are both kept, under names of their own."""
    file = tmp_path / "twice.py"
    again = (
        '\n\n@study.question("And again?", needs="models")\ndef models(run):\n    return run.fit().plot("Once more")\n'
    )
    file.write_text((HERE / "graded.py").read_text(encoding="utf-8") + again, encoding="utf-8")
    made(tmp_path / "run", "--subject", "encoder:minilm", file=file)
    figures = {path.name for path in (tmp_path / "run" / "figures").glob("*.svg")}
    assert figures == {"spearman_by_layer.svg", "q4_spearman_by_layer.svg"}


def test_a_table_and_a_figure_may_share_a_name() -> None:
    """They are files of two folders: ``tables/rho.csv`` and ``figures/rho.csv`` both keep their names."""
    study = Study("both", title="Both", citation="None")
    calls = []

    @study.question("How near?")
    def near(run: Run[Settings]) -> tuple[object, ...]:
        calls.append(run)
        figure = Figure("rho", "", "Rho", "", "a dot", "<svg/>", {"x": np.zeros(1)})
        return Table("rho", "", "Rho", (Column("x"),), (("0",),)), figure

    study.question("How near, asked again?")(near)
    run = Run(catalog.dataset("mini_relatedness"), ResponseTable.empty(), Settings())
    first, second = study.analyse(run).values()
    assert (first.tables[0].name, first.figures[0].name) == ("rho", "rho")
    assert (second.tables[0].name, second.figures[0].name) == ("q2_rho", "q2_rho")
    # what two questions need is computed once
    assert calls == [run]


def test_an_error_in_a_question_names_the_file_and_the_line(tmp_path: Path) -> None:
    """A fault of the study's own code is one error in its file, and the run is not finished."""
    file = tmp_path / "odd.py"
    again = '\n\n@study.question("And then?")\ndef then(run):\n    return run.items[0] / 0\n'
    file.write_text((HERE / "graded.py").read_text(encoding="utf-8") + again, encoding="utf-8")
    done = CliRunner().invoke(cli, ["study", str(file), "--bootstrap", "20", "--out", str(tmp_path / "run")])
    assert done.exit_code == 1
    assert f"odd.py:{len(file.read_text(encoding='utf-8').splitlines())}" in done.output
    assert not (tmp_path / "run" / "run.json").exists()


def test_the_names_of_studies_do_not_hold_the_kit() -> None:
    """What studies share is no study."""
    assert "kit" not in catalog.names("studies")
    assert re.search("studies.kit", Study.__module__)
