"""What the paper of SAW-C prints: every number has a row, and the rows are those of the paper's text and tables."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.result import find_record, read_records
from lexiscope.core.study import PublishedValue
from lexiscope.datasets.saw_c import SUBJECTS
from lexiscope.studies.saw_c import study
from lexiscope.studies.saw_c.settings import SawCSettings

ROWS: tuple[PublishedValue, ...] = tuple(
    row for rows in study.PUBLISHED.values() for row in rows if row.place.startswith("SAW-C")
)
# a second definition of a number, what only the authors' script prints, and counts of models in captions
FURTHER = ("own rating included", "authors' output", "Figure ")
SETTINGS = [row for row in ROWS if row.statistic.startswith(("setting(", "model_property("))]
PAPER = [row for row in ROWS if row not in SETTINGS and not any(text in row.place for text in FURTHER)]
TITLES = {facts.subject_id: facts for facts in SUBJECTS}


def test_every_number_of_the_paper_has_a_row() -> None:
    """Counted by hand from the paper, 145: Table 2 24 (12 models × layers, parameters), Table 3 48 (12 × 4), text 73.

    Of the text: the material 15 (§3.1, its footnotes), the participants 16, §3.4 7, §3.5 7, §4.2 1, §4.3 5, §4.4 1,
    §4.5 7, §5.1 2, A.2 2, A.3 3, A.4 7. A number that stands twice is one row. What was planned or set in advance
    is no result, and has a row: six numbers of §3.2, one catch trial, two settings of the requests, two of BETO, and of
    Table 2 the languages (12) and the words of the corpus (10, two are not known).
    Seven counts of models are in the captions of Figures 7 to 9.
    """
    places = Counter(row.place.removeprefix("SAW-C ") for row in PAPER)
    assert places == {
        "§3.1": 10,
        "fn 4": 3,
        "fn 5": 2,
        "§3.2": 16,
        "§3.4": 7,
        "§3.5": 7,
        "§4.2": 1,
        "§4.3": 5,
        "§4.4": 1,
        "§4.5": 7,
        "§5.1": 2,
        "A.2": 2,
        "A.3": 3,
        "A.4": 7,
        "Table 2": 24,
        "Table 3": 48,
    }
    assert len(PAPER) == 24 + 48 + 73 == 145
    assert sum("Figure" in row.place for row in ROWS) == 7
    assert len(SETTINGS) == 6 + 1 + 2 + 2 + 12 + 10
    assert all(row.remark and not row.reproducible for row in SETTINGS)
    assert len({(row.statistic, row.subject, row.layer, row.condition, row.dataset) for row in ROWS}) == len(ROWS)
    unavailable = [row for row in PAPER if not row.reproducible]
    assert Counter(row.place for row in unavailable) == {"SAW-C §3.2": 15, "SAW-C §3.4": 1, "SAW-C A.4": 7}
    assert all(row.remark for row in unavailable)


def test_the_rows_of_tables_2_and_3_are_those_of_the_papers_text(published: Path) -> None:
    """The numbers of both tables, model by model, in the order of the paper."""
    paper = published.parent / "papers" / "saw_c.txt"
    if not paper.is_file():
        pytest.skip("the text of the paper is not at hand")
    text = paper.read_text(encoding="utf-8")
    for table, head in (("2", "Model\t# Lang"), ("3", "Model\tAvg ;")):
        lines = [line.split("\t") for line in text[text.index(head) :].splitlines()[1:13]]
        cells = ["".join(line[5:]) if table == "2" else "".join(line[1:]) for line in lines]
        joined = [cell.replace("$", " ").replace("\\mathrm{M}", "M").replace("\\sim", " ") for cell in cells]
        numbers = [float(number) for cell in joined for number in re.findall(r"[\d.]+", cell)]
        own = [row for row in PAPER if row.place == f"SAW-C Table {table}"]
        assert [float(row.printed.removesuffix("e6")) for row in own] == numbers


def test_every_row_of_tables_2_and_3_agrees_with_the_raw_files(published: Path) -> None:
    """Parameters of the distance files, token counts of token_properties.csv, as pandas reads them."""
    rows = {(row.statistic, row.subject): row for row in PAPER}
    tokens = pd.read_csv(published / "sawc" / "token_properties.csv")
    difference = (tokens.Num_tokens_s1 - tokens.Num_tokens_s2).abs()
    n_target = tokens.Target_tokens.str.count(",") + 1
    statuses = Counter()
    for model, own in tokens.groupby("Model"):
        values = {f"token_difference(summary={name})": take(difference[own.index]) for name, take in _SUMMARIES.items()}
        values["target_tokens(mean_over=words)"] = n_target[own.index].groupby(own.Word).first().mean()
        with (published / "sawc" / "models_stimpunct" / f"sawc-distances_model-{model}.csv").open() as stream:
            values["n_parameters"] = float(next(csv.DictReader(stream))["n_params"])
        values["n_layers"] = TITLES[str(model)].n_layers or 0
        statuses.update(rows[name, str(model)].status_of(float(value)) for name, value in values.items())
    # mBERT's .99754 is printed as .997
    assert statuses == {"reproduced": 71, "within rounding": 1}


_SUMMARIES = {"mean": pd.Series.mean, "mode": lambda values: values.mode()[0], "max": pd.Series.max}


def test_nothing_is_published_of_single_participants(published: Path) -> None:
    """Why 16 numbers cannot be had: no column of the four tables says country, gender or age of a participant."""
    for name in ("relatedness_full_critical_data", "avg_relatedness", "sentence_pairs", "stimlist"):
        columns = " ".join(pd.read_csv(published / "sawc" / f"sawc_{name}.csv", nrows=1).columns).lower()
        assert not [word for word in ("country", "nation", "age ", "sex", "time", "rt") if word in columns.split()]
    # Gender_s1 and Gender_s2 are those of the nouns
    trials = pd.read_csv(published / "sawc" / "sawc_relatedness_full_critical_data.csv")
    assert trials.groupby("Participant").Gender_s1.nunique().min() > 1


def test_agreement_by_country_of_own_participants(tmp_path: Path) -> None:
    """Countries with ten participants or more are compared, as pandas correlates their means; a third is counted."""
    generator = np.random.default_rng(2)
    countries = ["Chile"] * 11 + ["México"] * 10 + ["Venezuela"] * 2
    rows, people = [], []
    for number, country in enumerate(countries):
        gender = "female" if number % 2 else "male"
        person = {"participant_id": f"p{number}", "about_country": country, "about_gender": gender}
        people.append(person | {"about_age": 20 + number if number else None})
        for item in range(12):
            word = ("banco", "vela", "carta", "mango")[item % 4]
            first, second = f"El {word} {item} estaba ahí", f"Vio el {word} {item} ayer"
            rating = int(np.clip(1 + item // 3 + generator.integers(0, 2) + (country == "Chile") * (item % 2), 1, 5))
            rows.append([f"i{item}", word, first, second, item % 2 == 0, f"p{number}", rating])
    names = ["item", "word", "sentence_1", "sentence_2", "same_sense", "participant", "rating"]
    ratings = pd.DataFrame(rows, columns=names)
    ratings.to_csv(tmp_path / "own.csv", index=False)
    pd.DataFrame(people).to_csv(tmp_path / "participants.csv", index=False)
    settings = SawCSettings(
        items=str(tmp_path / "own.csv"), language="es", participants=str(tmp_path / "participants.csv"),
        n_bootstrap=40, mixed_models="none",
    )  # fmt: skip
    study.run(settings, tmp_path / "run")
    records = read_records(tmp_path / "run" / "results.json")
    country = dict(zip([p["participant_id"] for p in people], countries, strict=True))
    means = ratings.groupby([ratings.participant.map(country), "item"]).rating.mean().unstack(0)
    r = means.Chile.corr(means["México"])
    (pair,) = [found for found in records if found.statistic == "group_consistency(method=pearson)"]
    assert (pair.condition, pair.value) == ("Chile–México", pytest.approx(r, abs=1e-12))
    assert find_record(records, "group_consistency(method=pearson,summary=min)").value == pair.value
    counts = {found.condition: found.value for found in records if found.statistic.startswith("n_participants(")}
    assert counts == {"country=Chile": 11, "country=México": 10, "country=Venezuela": 2} | {
        "gender=female": 11,
        "gender=male": 12,
    }
    ages = {s: find_record(records, f"age(summary={s})").value for s in ("mean", "median", "min", "max")}
    assert ages == {"mean": 31.5, "median": 31.5, "min": 21, "max": 42}
    assert "1 of 23 participants: age not known" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    (tmp_path / "participants.csv").write_text("participant_id,about_age\np1,old\n", encoding="utf-8")
    with pytest.raises(InputError, match="as an age") as error:
        study.run(settings, tmp_path / "other")
    assert error.value.place is not None
