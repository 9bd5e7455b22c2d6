"""RAW-C: relatedness of English ambiguous words in two contexts, rated by people, with distances of BERT and ELMo."""

from __future__ import annotations

from pathlib import Path

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard, SubjectFacts
from lexiscope.core.errors import InputError
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import write_atomically
from lexiscope.core.scale import Scale
from lexiscope.datasets.raw_c.cells import (
    DOMINANCE_COLUMNS,
    EXTRACT_COLUMNS,
    MODELS,
    NORM_COLUMNS,
    STIMULUS_COLUMNS,
    TRIAL_COLUMNS,
    item_cells,
    norm_cells,
    stimulus_cells,
)
from lexiscope.datasets.raw_c.reading import (
    Tables,
    check_norms,
    read_distances,
    read_items,
    read_set_aside,
    read_trials,
)
from lexiscope.resources.fetch import locate
from lexiscope.resources.tables.delimited import read_csv, write_rows

__all__ = ["CARD", "SUBJECTS", "export", "load"]


def load(folder: Path | None = None) -> Dataset:
    """Load the items, all trials, and the distances of BERT and ELMo.

    *folder* is a data folder to look in instead of ``LEXISCOPE_DATA`` and the cache.
    Errors: :class:`DataError` for a file that is missing or not the published one; :class:`InputError` with file and
    line for a row that contradicts another.
    """
    read = ((TRIALS, TRIAL_COLUMNS), (NORMS, NORM_COLUMNS), (DOMINANCE, DOMINANCE_COLUMNS), (STIMULI, STIMULUS_COLUMNS))
    found = {file: locate(file, dataset="raw_c", folder=folder) for file, _ in read}
    tables = Tables(*(read_csv(found[file].path, columns) for file, columns in read))
    items = read_items(tables)
    trials = read_trials(tables.trials, items, RATING_SCALE)
    check_norms(tables, items, trials)
    aside = read_set_aside(tables.stimuli, tables.norms, items, path=STIMULI.path)
    responses = ResponseTable.concat([trials, read_distances(tables.norms, items)])
    checksums = _checksums({file: place.sha256 for file, place in found.items()})
    return _counted(Dataset(CARD, items, responses, checksums, SUBJECTS, aside))


def _checksums(found: dict[DataFile, str]) -> tuple[tuple[str, str], ...]:
    return tuple((file.path, sha256) for file, sha256 in found.items())


def _counted(dataset: Dataset) -> Dataset:
    trials = dataset.responses.where(subject_kind="participant")
    found = {
        "items": len(dataset.items),
        "words": len({item.word for item in dataset.items}),
        "participants": len(trials.unique("subject_id")),
        "trials": len(trials),
        "set_aside": len(dataset.set_aside),
    }
    for name, number in found.items():
        if number != CARD.count(name):
            raise InputError(f"raw_c has {CARD.count(name)} {name}; these files hold {number}")
    return dataset


# -- writing RAW-C back as its publisher's files --------------------------------------------------------------------


def export(dataset: Dataset, folder: Path) -> tuple[Path, ...]:
    """Write the published files below *folder*, in the layout of a data folder, and return their paths.

    All files equal the published ones byte for byte, except ``raw-c_with_dominance.csv``: there the numbers that
    repeat ``raw-c.csv`` are written as that file has them, where the publisher's have rounding noise (at most 1e-15).
    """
    norms = _norm_rows(dataset)
    numbered = [cells | {"Unnamed: 0": str(row)} for row, cells in enumerate(norms)]
    contents = {
        TRIALS.path: _trials(dataset),
        NORMS.path: write_rows(NORM_COLUMNS, [[cells[name] for name in NORM_COLUMNS] for cells in norms]),
        DOMINANCE.path: write_rows(DOMINANCE_COLUMNS, [[c[name] for name in DOMINANCE_COLUMNS] for c in numbered]),
        STIMULI.path: _stimuli(dataset),
        EXTRACT.path: write_rows(EXTRACT_COLUMNS, [[cells[name] for name in EXTRACT_COLUMNS] for cells in norms]),
    }
    for path, content in contents.items():
        write_atomically(folder / path, content)
    return tuple(folder / path for path in contents)


def _trials(dataset: Dataset) -> bytes:
    trials = dataset.responses.where(measure="rating")
    cells = {item.item_id: item_cells(item) for item in dataset.items}
    columns = (trials.column(name).tolist() for name in ("item_id", "subject_id", "value", "raw"))
    rows = []
    for item_id, person, rating, order in zip(*columns, strict=True):
        answer = {"subject": person, "responses": f'{{"Q0":{rating:g}}}', "relatedness": f"{rating:g}"}
        row = cells[item_id] | answer | {"version_with_order": order}
        rows.append([row[name] for name in TRIAL_COLUMNS])
    return write_rows(TRIAL_COLUMNS, rows)


def _norm_rows(dataset: Dataset) -> list[dict[str, str]]:
    trials = dataset.responses.where(measure="rating")
    ratings: dict[str, list[float]] = {}
    for item_id, rating in zip(trials.column("item_id").tolist(), trials.column("value").tolist(), strict=True):
        ratings.setdefault(item_id, []).append(rating)
    distances = _distances(dataset)
    return [item_cells(i) | norm_cells(ratings[i.item_id]) | distances[i.item_id] for i in dataset.items]


def _distances(dataset: Dataset) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {item.item_id: {} for item in dataset.items}
    for name in MODELS:
        table = dataset.responses.where(subject_id=name, measure="cosine_distance")
        for item_id, value in zip(table.column("item_id").tolist(), table.column("value").tolist(), strict=True):
            found[item_id][f"distance_{name}"] = repr(value)
    return found


def _stimuli(dataset: Dataset) -> bytes:
    distances = _distances(dataset)
    rows = {int(i.conditions["stimulus"]): stimulus_cells(i) | distances[i.item_id] for i in dataset.items}
    # a row that was set aside keeps its line, one after its number because of the header
    rows |= {row.line - 1: dict(row.cells) for row in dataset.set_aside}
    ordered = [[cells[name] for name in STIMULUS_COLUMNS] for _, cells in sorted(rows.items())]
    # the published file ends without a line end
    return write_rows(STIMULUS_COLUMNS, ordered, newline="\r\n").removesuffix(b"\r\n")


# -- the card of RAW-C: where it comes from, what is in it, and what one must know before using it ------------------


VERSION = "235ba238726969cc950b4ca8ed47e4298e4b29f8"
_UPSTREAM = f"https://raw.githubusercontent.com/seantrott/raw-c/{VERSION}/data/processed"
_SPANISH = "https://raw.githubusercontent.com/seantrott/spanish_norms/2a786ac843faa6494261251bcd511811ee51ab80/data"
TRIALS = DataFile(
    "rawc/normed_critical.csv",
    f"{_UPSTREAM}/normed_critical.csv",
    "03dd3605059d1396ff9057d6036c7f205c42ea35a8a88cfa8135a825a123331d",
)
NORMS = DataFile(
    "rawc/raw-c.csv",
    f"{_UPSTREAM}/raw-c.csv",
    "73bdbe7b63fa47e27b752ad17c8bb71913885bd13647e92af24ffeb7801c7ac0",
)
DOMINANCE = DataFile(
    "rawc/raw-c_with_dominance.csv",
    f"{_UPSTREAM}/raw-c_with_dominance.csv",
    "5757ac463c42d402c80adf94b19690a3907589be9d89d425380c934b47d4d88a",
)
STIMULI = DataFile(
    "rawc/stims_with_nlm_distances.csv",
    f"{_UPSTREAM}/stims_with_nlm_distances.csv",
    "11001b81bf6331c7da9b9312491d92c1c45e884a636cdf14de3cea62ced9a85e",
)
EXTRACT = DataFile(
    "rawc/rawc_stimuli.csv",
    f"{_SPANISH}/extra/rawc_stimuli.csv",
    "91b6824a37020c5267a87b977536dea08cbde16a872b95b3f104ed4139c0ff0e",
)
RATING_SCALE = Scale(0, 4)
CARD = DatasetCard(
    name="raw_c",
    title="RAW-C: Relatedness of Ambiguous Words, in Context",
    task="relatedness",
    language="en",
    licence="none stated by the publisher; use for research with citation, not redistributed here",
    citation=(
        "S. Trott, B. Bergen (2021). RAW-C: Relatedness of Ambiguous Words - in Context (A New Lexical Resource for "
        "English). ACL-IJCNLP 2021, 7077-7087, doi:10.18653/v1/2021.acl-long.550."
    ),
    source="https://github.com/seantrott/raw-c",
    version=VERSION,
    availability="download",
    summary=(
        "Relatedness of the meaning of an ambiguous English word in two sentences that differ in one word, rated by "
        "people, with one distance each of BERT and ELMo."
    ),
    files=(TRIALS, NORMS, DOMINANCE, STIMULI, EXTRACT),
    counts=(
        ("items", 672),
        ("words", 112),
        ("participants", 77),
        ("trials", 8_624),
        ("models", 2),
        ("set_aside", 18),
    ),
    first_item="raw_c/act/M1_a_M2_a",
    last_item="raw_c/yard/M2_a_M2_b",
    remarks=(
        "The scale is 0 to 4 (that of SAW-C is 1 to 5).",
        "Participants and models read the sentences with their final full stop.",
        "Every participant saw each word once, in one of its six pairs: the number of ratings of a pair varies from 4 "
        "to 23.",
        "raw holds, for a trial, which sentence stood first (version_with_order).",
        "18 rows of stims_with_nlm_distances.csv (magazine, novel, oil: ambiguity type 'Unsure') have no sentences and "
        "no ratings: they are no items, and are kept in set_aside so that an export loses nothing.",
        "One distance per pair and model was published, of unstated layers: it has no layer here.",
        "raw-c_with_dominance.csv repeats the numbers of raw-c.csv with rounding noise of at most 1e-15; only its two "
        "columns of dominance are read.",
    ),
    scale=RATING_SCALE,
)
SUBJECTS = (
    SubjectFacts("bert", "BERT", languages=("en",), multilingual=False, family="BERT", source="released with RAW-C"),
    SubjectFacts("elmo", "ELMo", languages=("en",), multilingual=False, family="ELMo", source="released with RAW-C"),
)
