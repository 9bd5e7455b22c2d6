"""The names of ``import lexiscope``: lazy, what they claim to be, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import lexiscope
from lexiscope.analysis.agreement.raters import leave_one_out
from lexiscope.cli.main import cli
from lexiscope.core import catalog
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import CurvePoint
from lexiscope.core.settings import settings_from
from lexiscope.report.presenting import results_table
from lexiscope.studies.kit.settings_file import write_study_file


def test_a_name_is_the_thing_itself() -> None:
    """The front door hands out the object of its home, not a copy."""
    assert lexiscope.leave_one_out is leave_one_out
    assert lexiscope.ResponseTable is ResponseTable
    assert lexiscope.dataset is catalog.dataset


def test_an_unknown_name_is_refused() -> None:
    """A name that is not there is an AttributeError that says which."""
    with pytest.raises(AttributeError, match="'leave_two_out'"):
        _ = lexiscope.leave_two_out


def test_the_names_can_be_completed() -> None:
    """What a user completes in a shell is the whole front door, once."""
    assert set(lexiscope.__all__) <= set(dir(lexiscope))
    assert len(set(lexiscope.__all__)) == len(lexiscope.__all__)


def test_nothing_is_imported_before_it_is_used() -> None:
    """``import lexiscope`` brings in no module of its own and no numpy; a name brings in what it needs."""
    code = (
        "import lexiscope, sys\n"
        "print([m for m in sys.modules if m.startswith('lexiscope.') or m == 'numpy'])\n"
        "lexiscope.Scale(1, 5)\nprint('lexiscope.core.scale' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "True"]


HERE = Path(__file__).parent
ITEMS = """item_id,sentence_1,sentence_2,target,participant,rating
b1,They sat on the bank.,The bank lent money.,bank,p1,1
b1,They sat on the bank.,The bank lent money.,bank,p2,2
b2,A bank of the river.,The bank lent us money.,bank,p1,1
b2,A bank of the river.,The bank lent us money.,bank,p2,1
s1,The bat flew.,Some bat flew off.,bat,p1,5
s1,The bat flew.,Some bat flew off.,bat,p2,4
s2,The seal swam.,A seal swam there.,seal,p1,4
s2,The seal swam.,A seal swam there.,seal,p2,4
"""


@pytest.fixture
def items_csv(tmp_path: Path) -> Path:
    """Four items of three words with the ratings of two made-up people."""
    path = tmp_path / "items.csv"
    path.write_text(ITEMS, encoding="utf-8")
    return path


def test_the_module_that_collects_is_still_there() -> None:
    """``lexiscope.ask`` hides no module: ``lexiscope.collect`` is one, and ``lexiscope.study`` is a function."""
    from lexiscope.collect import collect

    assert lexiscope.ask.__module__ == "lexiscope.collect" == lexiscope.collect.__name__  # type: ignore[attr-defined]
    assert callable(collect)
    assert callable(lexiscope.study)


def test_ask_takes_a_name_a_dataset_a_file_or_items(items_csv: Path, tmp_path: Path) -> None:
    """All four ways ask the same items; with a folder the answers are a run that can be verified and read."""
    data = lexiscope.dataset("mini_relatedness")
    asked = [lexiscope.ask(one, "baseline:word_overlap") for one in ("mini_relatedness", data, data.items)]
    assert asked[0] == asked[1] == asked[2]
    kept = lexiscope.ask(items_csv, ["baseline:word_overlap"], out=tmp_path / "run")
    assert kept == lexiscope.ask(str(items_csv), "baseline:word_overlap")
    assert kept == ResponseTable.read_parquet(tmp_path / "run" / "responses.parquet")
    assert (tmp_path / "run" / "run.json").is_file()
    with pytest.raises(lexiscope.LexiscopeError, match="there is no such file"):
        lexiscope.ask("no_such.csv", "baseline:random")
    with pytest.raises(lexiscope.LexiscopeError, match="a scale is that of an item file"):
        lexiscope.ask(data, "baseline:random", scale=lexiscope.Scale(1, 5))


def test_ask_asks_the_task_of_the_dataset() -> None:
    """Without a task, a dataset is asked its own: minimal pairs are chosen between, not rated."""
    assert set(lexiscope.ask("mini_synonymy", "baseline:random").unique("task")) == {"minimal_pair"}


def test_ask_takes_the_columns_and_the_language_of_a_file(items_csv: Path) -> None:
    """As ``lexiscope collect`` does: parts by the names of their columns; what has its own columns takes none."""
    text = items_csv.read_text(encoding="utf-8").replace("sentence_1,sentence_2,target", "Erster Satz,Zweiter,Wort")
    other = items_csv.with_name("other.csv")
    other.write_text(text, encoding="utf-8")
    columns = {"sentence_1": "Erster Satz", "sentence_2": "Zweiter", "target": "Wort"}
    asked = lexiscope.ask(other, "baseline:word_overlap", columns=columns, language="de")
    assert asked.column("value").tolist() == lexiscope.ask(items_csv, "baseline:word_overlap").column("value").tolist()
    run = lexiscope.analyse(other, columns=columns, language="de", n_bootstrap=20)
    assert {usage.language for item in run.items for usage in item.usages} == {"de"}
    assert run.norm.tolist() == [1.5, 1.0, 4.5, 4.0]
    with pytest.raises(lexiscope.LexiscopeError, match="no part of an item is called 'sentence1'"):
        lexiscope.ask(other, "baseline:word_overlap", columns=columns | {"sentence1": "Erster Satz"})
    for given in ("mini_relatedness", lexiscope.dataset("mini_relatedness"), run.items):
        with pytest.raises(lexiscope.LexiscopeError, match="columns"):
            lexiscope.ask(given, "baseline:word_overlap", columns=columns)
    with pytest.raises(lexiscope.LexiscopeError, match="has no items in 'fi'"):
        lexiscope.ask(run.items, "baseline:word_overlap", language="fi")


BARE = """rater,item,value,word
p1,b1,1,bank
p2,b1,2,bank
p3,b1,1,bank
p1,b2,1,bank
p2,b2,1,bank
p3,b2,2,bank
p1,s1,5,bat
p2,s1,4,bat
p3,s1,,bat
p1,s2,4,seal
p2,s2,4,seal
p3,s2,5,seal
"""


def test_analyse_takes_ratings_without_texts(tmp_path: Path) -> None:
    """A bare table: norms, agreement, ceilings as ``lexiscope agree`` has them; models need texts, which is said."""
    file = tmp_path / "ratings.csv"
    file.write_text(BARE, encoding="utf-8")
    run = lexiscope.analyse(file, n_bootstrap=100)
    assert repr(run) == "Run(ratings: 4 items, 3 words, 3 participants, 0 models)"
    assert run.norm.round(2).tolist() == [1.33, 1.33, 4.5, 4.33]
    assert run.data.checksums[0][0] == "ratings.csv"
    done = CliRunner().invoke(cli, ["agree", str(file), "--json", "--bootstrap", "100"])
    records = {one["statistic"]: one["value"] for one in json.loads(done.stdout)["records"]}
    assert run.agreement().value == records["leave_one_out_agreement(method=spearman)"]
    assert run.ceilings()[0].records()[0].value == run.agreement().value
    grouped = lexiscope.analyse(file, columns={"group": "word"}, n_bootstrap=100)
    assert {item.word for item in grouped.items} == {"bank", "bat", "seal"}
    assert grouped.means()[0].n_groups == 3
    with pytest.raises(lexiscope.LexiscopeError, match="no model answered"):
        run.fit()
    with pytest.raises(lexiscope.LexiscopeError, match="without texts: models cannot be asked"):
        lexiscope.analyse(file, "baseline:word_overlap")
    with pytest.raises(lexiscope.LexiscopeError, match="E301"):
        lexiscope.analyse(file, scale=lexiscope.Scale(1, 4))
    with pytest.raises(lexiscope.LexiscopeError, match="unknown field 'raterr'"):
        lexiscope.analyse(file, columns={"raterr": "rater"})
    file.write_text(BARE.replace("rater,item,value", "wer,was,wieviel"), encoding="utf-8")
    named = lexiscope.analyse(file, columns={"rater": "wer", "item": "was", "value": "wieviel"}, n_bootstrap=20)
    assert named.norm.tolist() == run.norm.tolist()


def test_analyse_takes_a_table_of_responses(items_csv: Path, tmp_path: Path) -> None:
    """The responses of a run, as CSV or Parquet: people's ratings and the models' answers are told apart."""
    run = lexiscope.analyse(items_csv, n_bootstrap=20)
    answers = lexiscope.ask(items_csv, "baseline:word_overlap")
    ResponseTable.concat([run.data.responses, answers]).write_parquet(tmp_path / "responses.parquet")
    again = lexiscope.analyse(tmp_path / "responses.parquet", n_bootstrap=20)
    assert again.norm.tolist() == run.norm.tolist()
    assert again.models == ("baseline:word_overlap",)
    whole = lexiscope.analyse(tmp_path / "responses.parquet", items=items_csv, n_bootstrap=20)
    assert whole.fit().of("baseline:word_overlap").records()[0].n == 4


def test_analyse_is_a_run_of_ratings(items_csv: Path) -> None:
    """A file, its table with its items, and its ratings alone have the same norms; models need texts."""
    run = lexiscope.analyse(items_csv, "baseline:word_overlap", n_bootstrap=20)
    assert run.norm.tolist() == [1.5, 1.0, 4.5, 4.0]
    assert run.models == ("baseline:word_overlap",)
    answers = lexiscope.ask(items_csv, "baseline:word_overlap")
    again = lexiscope.analyse(run.data.responses, items=items_csv, answers=answers, n_bootstrap=20)
    assert again.fit() == run.fit()
    alone = lexiscope.analyse(run.people, n_bootstrap=20)
    assert alone.norm.tolist() == run.norm.tolist()
    assert alone.agreement().value == run.agreement().value
    with pytest.raises(lexiscope.LexiscopeError, match="models cannot be asked"):
        lexiscope.analyse(run.people, "baseline:word_overlap")
    with pytest.raises(lexiscope.LexiscopeError, match="a rating of an item that the items do not have"):
        lexiscope.analyse(run.data.responses, items="mini_relatedness")
    with pytest.raises(lexiscope.LexiscopeError, match="n_bootstrap"):
        lexiscope.analyse(items_csv, n_bootstraps=20)
    for given in (run.data, "mini_relatedness", run.people):
        with pytest.raises(lexiscope.LexiscopeError, match="scale"):
            lexiscope.analyse(given, scale=lexiscope.Scale(1, 5))
    with pytest.raises(lexiscope.LexiscopeError, match="come with their items"):
        lexiscope.analyse(items_csv, items="mini_relatedness")


def test_compare_needs_two_estimates_of_one_run(items_csv: Path) -> None:
    """The run's own comparison; results of two runs, of no run, and of no model are refused with what to do."""
    models = ["baseline:word_overlap", "baseline:random"]
    run = lexiscope.analyse(items_csv, models, n_bootstrap=20)
    first, second = run.fit().best(2)
    assert lexiscope.compare(first, second) == run.compare(first, second)
    assert lexiscope.compare(first, second).value == first.value - second.value
    other = lexiscope.analyse(items_csv, models, n_bootstrap=20).fit().best()[0]
    bare = lexiscope.Estimate(first.name, 0.5, subject=first.subject)
    for wrong, what in ((other, "of two runs"), (bare, "does not know the items")):
        with pytest.raises(lexiscope.LexiscopeError, match=what):
            lexiscope.compare(first, wrong)
    with pytest.raises(lexiscope.LexiscopeError, match="not an estimate of this run's models"):
        lexiscope.compare(run.agreement(), run.agreement())
    with pytest.raises(lexiscope.LexiscopeError, match="Curves is not an estimate"):
        lexiscope.compare(run.fit(), first)  # type: ignore[arg-type]


STUDY = """
from lexiscope import Study, pair, rating

study = Study("tiny", title="Tiny", citation="None", scale=(1, 5))


@study.data
def load():
    for item, same in (("a", True), ("b", False), ("c", True), ("d", False)):
        yield pair(item, f"The bat {item} flew.", f"A bat {item} fell.", "bat", lemma=item, same_sense=same)
        for person in ("simulated-1", "simulated-2"):
            yield rating(person, item, 4 if same else 2)


@study.question("How are they rated?", needs="ratings")
def people(run):
    return run.means(by="same_sense")
"""


def test_study_runs_and_says_where_its_report_is(tmp_path: Path) -> None:
    """By path, with settings; its numbers are those of results.json; an unknown setting is refused."""
    file = tmp_path / "tiny.py"
    file.write_text(STUDY, encoding="utf-8")
    done = lexiscope.study(file, out=tmp_path / "run", n_bootstrap=20, subjects="baseline:random")
    assert repr(done) == f"StudyRun(tiny: 2 numbers, report: {tmp_path / 'run' / 'report.html'})"
    assert done.report.is_file()
    assert [record.value for record in done.records] == [2.0, 4.0]
    assert done.frame()["value"].tolist() == [2.0, 4.0]
    assert done.responses.unique("subject_id") == ("simulated-1", "simulated-2", "baseline:random")
    assert "report.html" in done._repr_html_()
    again = lexiscope.study(file, out=tmp_path / "run", n_bootstrap=20, subjects="baseline:random")
    assert "finished before" in " ".join(again.remarks)
    with pytest.raises(lexiscope.LexiscopeError, match="n_bootstrap"):
        lexiscope.study(file, out=tmp_path / "other", n_bootstraps=20)


def test_study_takes_a_settings_file_and_a_study(tmp_path: Path) -> None:
    """A YAML file is read as on the command line, and what is given here takes the place of what it says."""
    file, yaml = tmp_path / "tiny.py", tmp_path / "mine.yaml"
    file.write_text(STUDY, encoding="utf-8")
    values = {"study": str(file), "n_bootstrap": 30, "title": "Mine"}
    write_study_file(settings_from(catalog.settings(str(file)), values), yaml)
    done = lexiscope.study(yaml, out=tmp_path / "run", title="Ours")
    settings = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["settings"]
    assert (settings["study"], settings["n_bootstrap"], settings["title"]) == (str(file), 30, "Ours")
    assert repr(done).startswith("StudyRun(mine: 2 numbers")
    made = lexiscope.study(catalog.study(str(file)), out=tmp_path / "other", n_bootstrap=30)  # type: ignore[arg-type]
    assert [record.value for record in made.records] == [record.value for record in done.records]
    with pytest.raises(lexiscope.LexiscopeError, match="there is no such file"):
        lexiscope.study(tmp_path / "none.yaml")
    with pytest.raises(lexiscope.LexiscopeError, match="did you mean 'title'"):
        lexiscope.study(yaml, titel="Ours")
    yaml.write_text(yaml.read_text(encoding="utf-8").replace("seed: ", "seeed: "), encoding="utf-8")
    with pytest.raises(lexiscope.LexiscopeError, match="E611"):
        lexiscope.study(yaml)


def test_things_are_short_in_a_shell_and_tables_in_a_notebook(items_csv: Path) -> None:
    """One line each, of fewer than 150 characters; HTML with their numbers; a pandas table."""
    run = lexiscope.analyse(items_csv, ["baseline:word_overlap", "baseline:random"], n_bootstrap=20)
    fit = run.fit()
    table = results_table("ceilings", "Ceilings", run.ceilings())
    mini = lexiscope.dataset("mini_relatedness")
    shown = {
        "Dataset(mini_relatedness: 360 items, 0 responses, 0 subjects)": mini,
        "Dataset(items: 4 items, 8 responses, 2 subjects)": run.data,
        "ResponseTable(8 rows, 2 subjects, 4 items)": run.data.responses,
        "Ratings(8 ratings, 2 raters, 4 items)": run.people,
        "Run(items: 4 items, 3 words, 2 participants, 2 models)": run,
        "Table(ceilings: 4 rows, ": table,
        "Curves(spearman(with=norms), 2 subjects, best: ": fit,
        "Estimate(spearman(with=norms) = ": fit.entries[0],
        "Contrast(spearman_difference(with=norms) = ": lexiscope.compare(*fit.best(2)),
    }
    for begin, thing in shown.items():
        assert repr(thing).startswith(begin)
        assert len(repr(thing)) < 150
        assert "\n" not in repr(thing)
        assert "</table>" in thing._repr_html_()
        assert len(thing.frame()) > 0
    assert run.data.frame()["word"].tolist() == ["bank", "bank", "bat", "seal"]
    assert run.people.frame()["value"].sum() == 22
    assert table.frame().iloc[:, 0].tolist() == [row[0] for row in table.rows]


def test_things_are_figures_in_a_notebook(items_csv: Path, tmp_path: Path) -> None:
    """``plot()`` of runs, datasets, responses, tables and results: a figure with the numbers that it draws."""
    run = lexiscope.analyse(items_csv, ["baseline:word_overlap", "baseline:random"], n_bootstrap=20)
    fit, answers = run.fit(), run.answers
    figure = run.plot(title="Models and people")
    values = [entry.value for entry in fit.entries if isinstance(entry, lexiscope.Estimate)]
    assert figure.title == "Models and people"
    assert figure.frame()["subject"].tolist() == [entry.subject for entry in fit.entries]
    assert figure.frame()["value"].tolist() == values
    people = run.data.plot()
    assert people.frame()["group"].unique().tolist() == ["2 participants"]
    assert sorted(people.frame()["value"]) == [1, 1, 1, 2, 4, 4, 4, 5]
    assert "n = 8, mean 2.75, from 1 to 5" in people.alt
    assert "Missing values" not in people.caption
    assert set(answers.plot().frame()["group"]) == {"baseline:random"}
    assert set(answers.plot("jaccard_distance").frame()["group"]) == {"baseline:word_overlap"}
    both = ResponseTable.concat([run.data.responses, answers])
    with pytest.raises(lexiscope.LexiscopeError, match="no luck"):
        both.plot("luck")
    with pytest.raises(lexiscope.LexiscopeError, match="0 measures"):
        lexiscope.dataset("mini_relatedness").plot()
    table = results_table("ceilings", "Ceilings", run.ceilings())
    first = table.plot()
    assert first.frame()["value"].tolist() == [
        one.value for one in run.ceilings() if isinstance(one, lexiscope.Estimate)
    ]
    assert table.plot("n").name == "ceilings_n"
    with pytest.raises(lexiscope.LexiscopeError, match="'Statistic' of this table has no numbers"):
        table.plot("Statistic")
    assert run.agreement().plot().frame()["value"].tolist() == [run.agreement().value]
    difference = lexiscope.compare(*fit.best(2))
    assert difference.plot().frame()["value"].tolist() == [difference.value]
    for one in (figure, people, first):
        assert "<svg" in one._repr_html_()
    done = lexiscope.study(HERE / "sixth" / "graded.py", tmp_path / "run", n_bootstrap=20, subjects="encoder:minilm")
    assert [each.name for each in done.figures] == ["spearman_by_layer"]
    assert done.plot().data.keys() == done.plot("spearman_by_layer").data.keys()
    with pytest.raises(lexiscope.LexiscopeError, match="no figure 'luck'"):
        done.plot("luck")


def test_results_are_one_line() -> None:
    """A result's name, value, interval, n, subject, layer; what is undefined says why; n of 0 is left out."""
    interval = lexiscope.Interval(0.2, 0.6, 0.95, "percentile")
    made = lexiscope.Estimate("rho", 0.41234, interval, 36, subject="encoder:x", layer=4)
    assert repr(made) == "Estimate(rho = 0.4123 [0.2, 0.6], n = 36, encoder:x, layer 4)"
    assert repr(lexiscope.Estimate("rho", 0.5)) == "Estimate(rho = 0.5)"
    assert repr(lexiscope.Undefined("rho", "all equal", 3)) == "Undefined(rho is undefined: all equal)"
    assert repr(lexiscope.Counts("words", (("a", 1), ("b", 2)))) == "Counts(words, 2 labels, 3 in all)"
    fitted = lexiscope.Fit("Sense", "y ~ x", "y ~ 1", 7.26, 1, 0.007, 10)
    assert repr(fitted) == "Fit(Sense, χ²(1) = 7.26, p = .007, n = 10)"


def test_a_figure_is_a_drawing_in_a_notebook(tmp_path: Path) -> None:
    """Its HTML is its SVG, its frame the drawn numbers; writing it gives the SVG and its data."""
    points = tuple(CurvePoint(layer, layer / 2, 0.1 * layer) for layer in range(3))
    curve = lexiscope.Curve("rho", "higher", points, 2, (2,), 36, 12, subject="encoder:x")
    assert repr(curve) == "Curve(rho, 3 layers, best at layer 2: 0.2, n = 36, encoder:x)"
    figure = curve.plot("Rho by layer")
    assert repr(figure) == "Figure(rho_by_layer: 3 rows of data, 'Rho by layer')"
    assert "<svg" in figure._repr_html_()
    assert figure.frame()["value"].tolist() == [0.0, 0.1, 0.2]
    assert [path.name for path in figure.write(tmp_path)] == ["rho_by_layer.svg", "rho_by_layer.csv"]
