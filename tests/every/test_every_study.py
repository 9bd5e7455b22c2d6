"""Every study keeps one contract: citation, questions, published values with places, a run on mini data.

``answered/NAME.py`` gives the settings with which study NAME answers every question, with simulated participants where
it needs people; a study without such a file answers all of them on its ``MINI``. No question needs published data.
"""

from __future__ import annotations

import html
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import lexiscope
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.result import COMPARED, Record, p_of, parse_statistic, read_records
from lexiscope.core.run import manifest, read_json
from lexiscope.core.settings import Settings, own_settings, settings_from, settings_of
from lexiscope.report.document import Section
from lexiscope.report.page.stored import load
from lexiscope.report.tables import IntervalCell
from lexiscope.resources import fetch
from lexiscope.studies.kit import study as runner_of_studies
from lexiscope.studies.kit.study import Study, printed_values, read_claims, statistics
from lexiscope.testing.contract import hold
from lexiscope.testing.study import STUDY_CONTRACTS, LoadedStudy

STUDIES = catalog.names("studies")
PAPERS = [name for name in STUDIES if name not in ("any_ratings", "norm")]
"""The studies that follow a paper: they have its printed numbers and its claims."""
ANSWERED = Path(__file__).parent / "answered"
ADDED = ("new_share", "new_slope")
"""Statistics that no table of a study knows, added to the runs of :func:`answered`."""


def _module(name: str) -> Any:
    return catalog.study(name)


STATED = ("questions_are_asked", "settings_say_what_they_are", "printed_numbers_have_a_place", "claims_name_a_question")
"""The contracts of the kit that need no run; those of a run are held by the tests of :func:`answered` runs."""


@pytest.mark.parametrize("contract", STATED)
@pytest.mark.parametrize("name", STUDIES)
def test_the_contracts_of_the_kit(name: str, contract: str, tmp_path: Path) -> None:
    """What every study owes before it is run, of the package or not: :mod:`lexiscope.testing`."""
    hold(f"study {name}", LoadedStudy(name, tmp_path), STUDY_CONTRACTS, contract)


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_says_whom_it_follows(name: str) -> None:
    """A citation if it follows a paper, and questions with their sections."""
    module = _module(name)
    assert bool(module.citations) == bool(module.PUBLISHED) == bool(module.CLAIMS) == (name in PAPERS)
    assert all(question.section for question in module.QUESTIONS)


@pytest.mark.parametrize("name", PAPERS)
def test_printed_numbers_are_in_the_file_of_the_study(name: str) -> None:
    """Each printed number is a row of ``printed.csv`` in the study's folder."""
    folder = Path(str(import_module(f"lexiscope.studies.{name}").__file__)).parent
    in_file = printed_values(folder / "printed.csv", dataset=name)
    for dataset, values in _module(name).PUBLISHED.items():
        for value in values:
            assert value in in_file.get(dataset, ())
            assert value.dataset == dataset


def test_the_name_of_a_statistic_means_one_thing_in_all_studies(tmp_path: Path) -> None:
    """One glossary for all studies: no name is there twice, no study says otherwise, and shares are no percents."""
    known = statistics()
    assert {name: _module(name).STATISTICS for name in STUDIES} == dict.fromkeys(STUDIES, known)
    assert known["accuracy"].startswith("share of")
    assert known["percent_right"].startswith("percent of")
    twice = tmp_path / "twice.csv"
    twice.write_text("statistic,meaning\nrho,one thing\nrho,another\n", encoding="utf-8")
    with pytest.raises(InputError, match="'rho' is there twice"):
        statistics(twice)
    bare = tmp_path / "bare.csv"
    bare.write_text("statistic,meaning\nrho,\n", encoding="utf-8")
    with pytest.raises(InputError, match="'rho' has no meaning"):
        statistics(bare)
    own = Study(
        "own", title="Own", citation="Own.", meanings={"halves": "share of halves", "n_words": known["n_words"]}
    )
    assert {**known, "halves": "share of halves"} == own.STATISTICS
    with pytest.raises(SpecError, match=r"says of accuracy: percent right\n.*in all studies it is: share of"):
        Study("own", title="Own", citation="Own.", meanings={"accuracy": "percent right"})


@pytest.mark.parametrize("name", STUDIES)
def test_correlations_and_chance_say_what_they_are_of(name: str) -> None:
    """Printed numbers and rules of claims: a correlation names both sides, chance the statistic that it is of."""
    module = _module(name)
    terms = [
        term for own in module.CLAIMS.values() for one in own for each in one.rule for term in (each.left, each.right)
    ]
    named = [term.statistic for term in terms if term.statistic]
    named += [value.statistic for own in module.PUBLISHED.values() for value in own]
    for each in named:
        statistic, given = parse_statistic(each)
        assert statistic not in ("spearman", "pearson") or {"of", "with"} <= set(given), each
        assert statistic != "chance" or "of" in given, each


@pytest.mark.parametrize("name", PAPERS)
def test_claims_are_in_the_file_of_the_study(name: str) -> None:
    """claims.csv: 5 to 40 sentences (a sentence may be claimed of several datasets), each with a place in the paper."""
    folder = Path(str(import_module(f"lexiscope.studies.{name}").__file__)).parent
    by_dataset = read_claims(folder / "claims.csv", dataset=name)
    if isinstance(_module(name), Study):
        assert by_dataset == _module(name).CLAIMS, 'the study does not name its file: claims="claims.csv"'
    claims = list(dict.fromkeys(claim for own in by_dataset.values() for claim in own))
    assert 5 <= len({claim.text for claim in claims}) <= 40
    for claim in claims:
        assert claim.text.endswith(".")
        assert re.search(r"§|Table|Figure|[Aa]bstract|App\. [A-Z]|A\.\d|footnote|RAW-C", claim.place), claim.place


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_runs_on_mini_data(name: str, tmp_path: Path) -> None:
    """On embedded items, as the study's ``MINI`` names them: records, report, and a run.json that seals every file."""
    module = _module(name)
    # no embedded items have ratings, without which a study of ratings has no question
    mini = module.MINI if name in PAPERS else import_module(f".answered.{name}", __package__).settings(tmp_path)
    settings: Settings = replace(mini, n_bootstrap=10)
    summary = module.run(replace(settings, ethics="none needed: no people"), tmp_path / "run", command="test")
    run = read_json(tmp_path / "run" / "run.json")
    assert manifest(tmp_path / "run", run["files"]) == run["files"]
    assert run["command"] == "test"
    records = read_records(tmp_path / "run" / "results.json")
    assert len(records) == summary.n_records > 0
    keys = [(r.statistic, r.subject, r.layer, r.condition, r.view) for r in records]
    assert len(set(keys)) == len(keys), "two records answer to one name"
    assert {parse_statistic(r.statistic)[0] for r in records} <= set(module.STATISTICS)
    assert not any(r.status in COMPARED and (r.published is None or r.value is None) for r in records)
    assert "none needed: no people" in summary.report.read_text(encoding="utf-8")
    assert {r.analysis for r in records if r.question} == {"exploratory"}
    assert not [path for path in (tmp_path / "run").rglob("*") if "registration" in path.name]


@pytest.fixture(scope="module", params=STUDIES)
def answered(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A run of each study on data that answer all of its questions, with two records that no table of it knows; no
    published data are there, whatever this machine has."""
    name = request.param
    folder = tmp_path_factory.mktemp(name)
    module = _module(name)
    settings = module.MINI
    if (ANSWERED / f"{name}.py").is_file():
        settings = import_module(f".answered.{name}", __package__).settings(folder)
    runner: Any = runner_of_studies if isinstance(module, Study) else module
    mark: Callable[..., tuple[Record, ...]] = runner.marked_records
    questions = (module.QUESTIONS[0].question_id, module.QUESTIONS[-1].question_id)
    added = tuple(
        Record(name, value, question=question, analysis="exploratory")
        for name, value, question in zip(ADDED, (1.0, 0.123456), questions, strict=True)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "marked_records", lambda *args, **more: (*mark(*args, **more), *added))
        patch.setenv(fetch.VARIABLE, str(folder / "no_data"))
        patch.setattr(fetch, "cache_folder", lambda: folder / "no_cache")
        module.run(replace(settings, n_bootstrap=10), folder / "run", command="test")
    return name, folder / "run"


def test_every_question_has_an_answer(answered: tuple[str, Path]) -> None:
    """Each question of a study has a record with a value of its own; the page states no number where there is none."""
    name, run = answered
    records = [r for r in read_records(run / "results.json") if r.statistic not in ADDED]
    known = Counter(record.question for record in records if record.value is not None)
    without = [q.question_id for q in _module(name).QUESTIONS if not known[q.question_id]]
    assert not without, f"{name}: no record with a value"
    assert {parse_statistic(r.statistic)[0] for r in records} <= set(_module(name).STATISTICS)
    keys = [(r.statistic, r.subject, r.dataset, r.layer, r.condition, r.view) for r in records]
    assert len(set(keys)) == len(keys), "two records answer to one name"
    assert not [r for r in records if r.value is None and not r.note], "no value, and no reason"


def test_no_p_value_among_many_is_without_its_family(answered: tuple[str, Path]) -> None:
    """Tests of one statistic in a question are adjusted for their number: every record of a p value has a family with
    its size, unless its statistic has no other there; in tables an adjusted column is next to the p values."""
    _, run = answered
    records = [record for record in read_records(run / "results.json") if p_of(record) is not None]

    def test_of(record: Record) -> tuple[str, str]:
        # a record that is a p itself has the name of one test; of others the parameters tell tests apart
        name = record.statistic if record.p is None else parse_statistic(record.statistic)[0]
        return record.question, name

    size = Counter(map(test_of, records))
    exploratory = [record for record in records if record.analysis == "exploratory"]
    assert not [test_of(record) for record in exploratory if not record.family and size[test_of(record)] > 1]
    for family in {record.family for record in records if record.family}:
        own = [record for record in records if record.family == family]
        assert len({r.question for r in own}) == 1
        assert int(parse_statistic(family)[1]["tests"]) <= len(own)
        assert all((r.p_adjusted or 0.0) >= (p_of(r) or 0.0) for r in own)
    for section in load(run).sections:
        for table in (table for part in section.walk() for table in part.tables):
            for index, column in enumerate(table.columns):
                p = [row[index] for row in table.rows if isinstance(row[index], float)]
                if column.format.kind == "p" and len(p) > 1 and "adjusted" not in column.header:
                    heads = [other.header for other in table.columns[index : index + 2]]
                    assert any(re.search(r"\d+ tests$|adjusted$", head) for head in heads), (table.name, heads)


def test_simulated_participants_are_nowhere_called_people(answered: tuple[str, Path]) -> None:
    """Where participants of a run are simulated, no sentence, heading or cell of its page calls them people; nothing is
    said to be printed by a paper that has not printed it."""
    _, run = answered
    if read_json(run / "run.json").get("participant_kind") != "simulated":
        return
    said = _texts(run / "report.html")
    assert not [text for text in said if re.search(r"\bpeople\b|\bhuman\b|participants's", text, re.IGNORECASE)]
    assert not [text for text in said if "paper prints" in text.casefold()]


SIDES: dict[str, tuple[str, str, str, tuple[str, str, str], float]] = {
    "context_bias": ("look_up view=full", "look_up view=context", "accuracy", ("accuracy", "full", "context"), 1),
    "synonymy": (
        "base suite=relation expression=is a synonym of condition=controlled",
        "base suite=relation expression=is a synonym of condition=random",
        "accuracy",
        ("percent_right", "relation/is a synonym of/controlled", "relation/is a synonym of/random"),
        100,
    ),
    "sense_induction": (
        "first measure=max_sim_c",
        "second measure=max_sim_c",
        "spearman",
        ("spearman_x100(similarity=max_sim_c)", "/first", "/second"),
        100,
    ),
}
"""Two sides of a run of :func:`answered`, the statistic, the study's own records of both, and the unit of these."""


def test_a_finished_run_is_compared_by_its_own_answers(answered: tuple[str, Path]) -> None:
    """The difference is that of the two numbers that the study itself computed; what is in no run is refused."""
    name, run = answered
    if name not in SIDES:
        return
    first, second, statistic, (record_name, *of), unit = SIDES[name]
    rated = {"context_bias": "planted_bias", "sense_induction": str(ANSWERED.parents[1] / "simulated/relatedness.py")}
    where = f" dataset={rated[name]}" if name in rated else ""
    contrast = lexiscope.compare(first + where, second + where, statistic, of=run, resamples=100)
    known = [r for r in read_records(run / "results.json") if r.statistic.startswith(record_name)]
    known = [r for r in known if name not in rated or r.dataset == rated[name]]
    values = [
        next(r.value for r in known if side in (r.view, r.condition) or r.subject.endswith(side)) or math.nan
        for side in of
    ]
    assert contrast.value == pytest.approx((values[0] - values[1]) / unit)
    assert f"resampled={'sentences' if name == 'synonymy' else 'words'}" in contrast.interval.method
    if where:
        with pytest.raises(InputError, match=r"datasets to compare|no item has dataset=other"):
            lexiscope.compare(first, second + " dataset=other", statistic, of=run, resamples=100)


def _texts(page: Path) -> list[str]:
    """What a page says: without drawings, run record, references, and the stories of items in cells."""
    text = page.read_text(encoding="utf-8").replace("<wbr>", "").partition('<section id="run-record"')[0]
    text = re.sub(r"<(style|script|svg)\b.*?</\1>|<t[dh]\b[^>]*>[^<]{200,}<", "", text, flags=re.DOTALL)
    return [html.unescape(each).strip() for each in re.findall(r">([^<]+)<", text) if each.strip()]


def test_what_a_study_computes_is_in_its_report(answered: tuple[str, Path]) -> None:
    """Every value of results.json is a number of a table or a figure; a statistic that no table knows is named."""
    _, run = answered
    report = load(run)
    assert tuple(record.statistic for record in report.records[-2:]) == ADDED
    shown = {f"{number:.10g}" for section in report.sections for number in _numbers(section)}
    hidden = [r for r in report.records if r.value is not None and not {_short(r.value), _short(100 * r.value)} & shown]
    assert not hidden, hidden
    page = (run / "report.html").read_text(encoding="utf-8").replace("<wbr>", "")
    assert "new_share" in page
    assert "new_slope" in page
    assert "0.1235" in page


def _short(value: float) -> str:
    return f"{value:.10g}"


def _numbers(section: Section) -> Iterator[float]:
    """Every number of a section's tables and figures, those in text too."""
    for part in section.walk():
        cells = [cell for table in part.tables for row in table.rows for cell in row]
        cells += [cell for figure in part.figures for values in figure.data.values() for cell in values.tolist()]
        for cell in cells:
            value = cell.value if isinstance(cell, IntervalCell) else getattr(cell, "text", cell)
            try:
                yield float(str(value).replace(",", "").replace("−", "-"))
            except ValueError:
                continue


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_has_its_own_settings_only(name: str) -> None:
    """``SETTINGS`` are the class of its ``settings.py``; every study has the common ones, and no setting of another."""
    kind = catalog.settings(name)
    assert kind is _module(name).SETTINGS
    assert type(_module(name).MINI) is kind
    assert kind().study == name
    others = {s.name for each in STUDIES for s in own_settings(catalog.settings(each))}
    absent = others - {setting.name for setting in settings_of(kind)}
    assert absent
    with pytest.raises(InputError, match="its own settings: "):
        settings_from(kind, {min(absent): ""})
