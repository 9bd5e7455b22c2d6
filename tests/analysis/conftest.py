"""The published distances and ratings as plain arrays, read with the csv module alone."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lexiscope.analysis.norms.story_effects import ENDINGS, MEANINGS, StoryPlace
from lexiscope.analysis.ratings import Ratings

Row = dict[str, str]

# Table 2 of the paper; the family of patana is not needed, it is not among the paper's models
FAMILIES = {
    "albert-tiny-spanish": "ALBERT",
    "albert-base-spanish": "ALBERT",
    "albert-large-spanish": "ALBERT",
    "albert-xlarge-spanish": "ALBERT",
    "albert-xxlarge-spanish": "ALBERT",
    "distilbert-base-spanish-uncased": "BERT",
    "bert-base-spanish-wwm-cased": "BERT",
    "bert-base-spanish-wwm-uncased": "BERT",
    "bert-base-multilingual-cased": "BERT",
    "roberta-base-bne": "RoBERTa",
    "roberta-large-bne": "RoBERTa",
    "xlm-roberta-base": "RoBERTa",
}


@dataclass(frozen=True)
class SawC:
    """SAW-C as arrays over its 812 pairs; ``distance`` maps each of the 13 models to (pairs, layers)."""

    norms: NDArray[np.float64]
    same_sense: NDArray[np.bool_]
    words: NDArray[np.str_]
    distance: dict[str, NDArray[np.float64]]
    parameters: dict[str, int]
    tokens: dict[str, list[Row]]


@dataclass(frozen=True)
class RawC:
    """RAW-C as arrays over its 672 pairs."""

    norms: NDArray[np.float64]
    same: NDArray[np.bool_]
    homonymy: NDArray[np.bool_]
    words: NDArray[np.str_]
    bert: NDArray[np.float64]
    elmo: NDArray[np.float64]


def read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def means(rows: list[Row], key: list[str], value: str) -> dict[tuple[str, ...], float]:
    """Integer sums divided by counts: equal means are equal to the last bit."""
    total: Counter[tuple[str, ...]] = Counter()
    count: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        name = tuple(row[column] for column in key)
        total[name] += int(row[value])
        count[name] += 1
    return {name: total[name] / count[name] for name in total}


@dataclass(frozen=True)
class AmbiStory:
    """AmbiStory by item (its sample id): ratings of all splits and of each, places, forms, and the group of raters."""

    everything: Ratings
    splits: dict[str, Ratings]
    places: dict[str, StoryPlace]
    forms: dict[str, str]
    senses: dict[str, str]
    sds: dict[str, float]
    rater_groups: dict[str, str]


@pytest.fixture(scope="session")
def sawc(published: Path) -> SawC:
    folder = published / "sawc"
    norm = means(read(folder / "sawc_relatedness_full_critical_data.csv"), ["Sentence_1", "Sentence_2"], "Response")
    distance, parameters, pairs = {}, {}, []
    for path in sorted((folder / "models_stimpunct").glob("*.csv")):
        rows = read(path)
        name = path.stem.removeprefix("sawc-distances_model-")
        pairs = [row for row in rows if row["Layer"] == "0"]
        assert [int(row["Layer"]) for row in rows] == sorted(int(row["Layer"]) for row in rows)
        distance[name] = np.array([float(row["Distance"]) for row in rows]).reshape(-1, len(pairs)).T
        parameters[name] = int(rows[0]["n_params"])
    keys = [(row["Sentence_1"].removesuffix("."), row["Sentence_2"].removesuffix(".")) for row in pairs]
    tokens: dict[str, list[Row]] = {}
    for row in read(folder / "token_properties.csv"):
        tokens.setdefault(row["Model"], []).append(row)
    return SawC(
        norms=np.array([norm[key] for key in keys]),
        same_sense=np.array([row["Same_sense"] == "True" for row in pairs]),
        words=np.array([row["Word"] for row in pairs]),
        distance=distance,
        parameters=parameters,
        tokens=tokens,
    )


@pytest.fixture(scope="session")
def rawc(published: Path) -> RawC:
    rows = read(published / "rawc" / "raw-c.csv")
    norm = means(read(published / "rawc" / "normed_critical.csv"), ["word", "version"], "relatedness")
    return RawC(
        norms=np.array([norm[row["word"], row["version"]] for row in rows]),
        same=np.array([row["same"] == "True" for row in rows]),
        homonymy=np.array([row["ambiguity_type"] == "Homonymy" for row in rows]),
        words=np.array([row["word"] for row in rows]),
        bert=np.array([float(row["distance_bert"]) for row in rows]),
        elmo=np.array([float(row["distance_elmo"]) for row in rows]),
    )


@pytest.fixture(scope="session")
def families() -> dict[str, str]:
    """The family of each of the paper's 12 models."""
    return dict(FAMILIES)


@pytest.fixture(scope="session")
def sawc_trials(published: Path) -> dict[str, NDArray[np.generic]]:
    """SAW-C's 10,639 trials as columns of a mixed model, with BETO's distance at layer 12."""
    folder = published / "sawc"
    trials = read(folder / "sawc_relatedness_full_critical_data.csv")
    model = read(folder / "models_stimpunct" / "sawc-distances_model-bert-base-spanish-wwm-cased.csv")
    distance = {
        (row["Sentence_1"].removesuffix("."), row["Sentence_2"].removesuffix(".")): float(row["Distance"])
        for row in model
        if row["Layer"] == "12"
    }
    columns = {name: np.array([row[name] for row in trials]) for name in ("Same_sense", "Participant", "List", "Word")}
    return {
        "Response": np.array([int(row["Response"]) for row in trials]),
        "Distance": np.array([distance[row["Sentence_1"], row["Sentence_2"]] for row in trials]),
        **columns,
    }


@pytest.fixture(scope="session")
def rawc_trials(published: Path) -> dict[str, NDArray[np.generic]]:
    """RAW-C's 8,624 trials as columns of a mixed model, with both models' distances."""
    folder = published / "rawc"
    trials = read(folder / "normed_critical.csv")
    pairs = {(row["word"], row["version"]): row for row in read(folder / "stims_with_nlm_distances.csv")}
    text = ("same", "ambiguity_type", "Class", "subject", "word")
    columns = {name: np.array([row[name] for row in trials]) for name in text}
    for name in ("distance_bert", "distance_elmo"):
        columns[name] = np.array([float(pairs[row["word"], row["version"]][name]) for row in trials])
    return {"relatedness": np.array([int(row["relatedness"]) for row in trials]), **columns}


@pytest.fixture(scope="session")
def sawc_rows(published: Path) -> list[Row]:
    """SAW-C's trials as they stand in the file."""
    return read(published / "sawc" / "sawc_relatedness_full_critical_data.csv")


@pytest.fixture(scope="session")
def sawc_ratings(sawc_rows: list[Row]) -> Ratings:
    """SAW-C's ratings; an item is a pair of sentences (its tag)."""
    columns = ([row[name] for row in sawc_rows] for name in ("Participant", "Tag", "Response"))
    raters, items, values = columns
    return Ratings.from_arrays(raters, items, [int(value) for value in values])


@pytest.fixture(scope="session")
def rawc_ratings(published: Path) -> Ratings:
    """RAW-C's ratings; an item is a word and a version."""
    rows = read(published / "rawc" / "normed_critical.csv")
    items = [f"{row['word']} {row['version']}" for row in rows]
    return Ratings.from_arrays([row["subject"] for row in rows], items, [int(row["relatedness"]) for row in rows])


@pytest.fixture(scope="session")
def ambistory_ratings(published: Path) -> dict[str, Ratings]:
    """AmbiStory's ratings by split; a rater is a column of one of the 130 groups."""
    ratings = {}
    for split in ("train", "dev", "test"):
        samples = json.loads((published / "ambistory" / f"{split}.json").read_text(encoding="utf-8")).values()
        rows = [
            (f"{int(sample['sample_id']) % 130}:{column}", sample["sample_id"], choice)
            for sample in samples
            for column, choice in enumerate(sample["choices"])
        ]
        ratings[split] = Ratings.from_arrays(*zip(*rows, strict=True))
    return ratings


@pytest.fixture(scope="session")
def ambistory(published: Path, ambistory_ratings: dict[str, Ratings]) -> AmbiStory:
    """AmbiStory with every item's place: six rows of a file are one setup, in the order that the README states."""
    places, forms, senses, sds = {}, {}, {}, {}
    for split in ambistory_ratings:
        samples = json.loads((published / "ambistory" / f"{split}.json").read_text(encoding="utf-8")).values()
        for row, sample in enumerate(samples):
            item = sample["sample_id"]
            places[item] = StoryPlace(f"{split}-{row // 6}", ENDINGS[row % 6 // 2], MEANINGS[row % 2])
            forms[item], senses[item], sds[item] = sample["homonym"], sample["judged_meaning"], sample["stdev"]
    columns: list[list[str]] = [[], []]
    values: list[float] = []
    for part in ambistory_ratings.values():
        columns[0] += [part.rater_ids[code] for code in part.rater]
        columns[1] += [part.item_ids[code] for code in part.item]
        values += part.value.tolist()
    everything = Ratings.from_arrays(columns[0], columns[1], values)
    groups = {rater: rater.partition(":")[0] for rater in everything.rater_ids}
    return AmbiStory(everything, ambistory_ratings, places, forms, senses, sds, groups)
