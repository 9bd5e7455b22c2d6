"""RAW-C: relatedness of English ambiguous words in two contexts, rated by people, with distances of 14 encoders."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard, SetAside, SubjectFacts
from lexiscope.core.item import Condition, Item
from lexiscope.core.reply import MEASURE_REPLY
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import write_atomically
from lexiscope.core.scale import Scale
from lexiscope.core.usage import Usage, locate, occurrences
from lexiscope.datasets.raw_c.models import (
    CHAT_FILES,
    CHATS,
    ENCODER_FILES,
    ENCODERS,
    RECITED_FILE,
    read_replies,
    released_distances,
)
from lexiscope.resources import fetch
from lexiscope.resources.tables.delimited import DelimitedTable, read_csv, write_rows

# -- the columns of RAW-C's published files, and the cells that each item has in them -------------------------------
# Reading checks every file against these cells and writing prints them, so that import and export cannot differ.


TRIAL_COLUMNS = (
    *("subject", "responses", "word", "same", "version_with_order", "item", "Class", "string"),
    *("ambiguity_type", "relatedness", "version"),
)
NORM_COLUMNS = (
    *("word", "sentence1", "sentence2", "same", "ambiguity_type", "disambiguating_word1", "disambiguating_word2"),
    *("version", "Class", "mean_relatedness", "median_relatedness", "diff", "count", "sd_relatedness"),
    *("distance_bert", "distance_elmo", "se_relatedness", "v1", "v2", "string"),
)
DOMINANCE_COLUMNS = (
    "Unnamed: 0",
    *NORM_COLUMNS[:-1],
    *("dominance_sentence2", "sd_dominance_sentence2", "string"),
)
STIMULUS_COLUMNS = (
    *("Class", "ambiguity_type", "ambiguity_type_mw", "ambiguity_type_oed", "different_frame"),
    *("distance_bert", "distance_elmo", "same", "string", "version", "word"),
)
EXTRACT_COLUMNS = (
    *("word", "sentence1", "sentence2", "same", "ambiguity_type", "Class", "mean_relatedness", "string"),
)
_OF_SENSES = ("sensorimotor_distance", "action_distance", "perceptual_distance")
SENSORIMOTOR_COLUMNS = (*NORM_COLUMNS[:-1], *_OF_SENSES)
MODELS = ("bert", "elmo")


def item_cells(item: Item) -> dict[str, str]:
    """Return the cells of a pair that do not depend on answers, by the names of the published columns."""
    first, second = item.usages
    conditions = {name: str(value) for name, value in item.conditions.items()}
    return {
        "word": item.word,
        "sentence1": first.text,
        "sentence2": second.text,
        "same": conditions["same_sense"],
        "ambiguity_type": conditions["ambiguity_type"],
        "disambiguating_word1": conditions["disambiguating_word_1"],
        "disambiguating_word2": conditions["disambiguating_word_2"],
        "version": conditions["version"],
        "Class": conditions["class"],
        "v1": conditions["version"][:4],
        "v2": conditions["version"][5:],
        "string": first.target,
        "item": conditions["item_number"],
        "dominance_sentence2": conditions.get("dominance_sentence2", ""),
        "sd_dominance_sentence2": conditions.get("sd_dominance_sentence2", ""),
    }


def stimulus_cells(item: Item) -> dict[str, str]:
    """Return the cells of a pair that only the list of stimuli has, and those that it writes differently."""
    names = ("ambiguity_type_mw", "ambiguity_type_oed", "different_frame")
    cells = item_cells(item)
    return cells | {name: str(item.conditions[name]) for name in names} | {"same": cells["same"].upper()}


def norm_cells(ratings: Sequence[float]) -> dict[str, str]:
    """Return the published norms of a pair from its ratings, rounded to nine decimals as published.

    *Higher means:* more related. *Source:* columns of ``raw-c.csv``; the standard deviation is that with n-1.

    >>> norm_cells([1, 2, 4])["mean_relatedness"], norm_cells([1, 2, 4])["diff"]  # 7/3, |7/3 - 2|
    ('2.333333333', '0.333333333')
    """
    n, total, squares = len(ratings), sum(ratings), sum(rating * rating for rating in ratings)
    # ratings are whole numbers: these sums are exact, and so is the variance up to one division
    mean, median, sd = total / n, statistics.median(ratings), math.sqrt((n * squares - total * total) / (n * (n - 1)))
    numbers = {
        "mean_relatedness": mean,
        "median_relatedness": median,
        "diff": abs(mean - median),
        "sd_relatedness": sd,
        "se_relatedness": sd / math.sqrt(n),
    }
    return {name: repr(round(float(number), 9)) for name, number in numbers.items()} | {"count": str(n)}


# ---------------------------------------------------------------------------------------------------------------------


__all__ = ["CARD", "SUBJECTS", "export", "load"]


def load(folder: Path | None = None) -> Dataset:
    """Load the items, all trials, and the distances of BERT and ELMo.

    What was published later is read where it is present: the distances of 12 encoders at every layer, the ratings of
    two chat models, and the distance between the sentences of a pair in people's sensorimotor norms (conditions of
    the items). *folder* is a data folder to look in instead of ``LEXISCOPE_DATA`` and the cache.
    Errors: :class:`DataError` for a file that is missing or not the published one; :class:`InputError` with file and
    line for a row that contradicts another.
    """
    read = ((TRIALS, TRIAL_COLUMNS), (NORMS, NORM_COLUMNS), (DOMINANCE, DOMINANCE_COLUMNS), (STIMULI, STIMULUS_COLUMNS))
    located = {file: fetch.locate(file, dataset="raw_c", folder=folder) for file, _ in read}
    tables = Tables(*(read_csv(located[file].path, columns) for file, columns in read))
    items = read_items(tables)
    later = fetch.locate_optional(SENSORIMOTOR, dataset="raw_c", folder=folder)
    if later is not None:
        located[SENSORIMOTOR] = later
        items = _with_sensorimotor(items, read_csv(later.path, SENSORIMOTOR_COLUMNS))
    trials = read_trials(tables.trials, items, RATING_SCALE)
    check_norms(tables, items, trials)
    aside = read_set_aside(tables.stimuli, tables.norms, items, path=STIMULI.path)
    answers, subjects = [trials, read_distances(tables.norms, items)], [*SUBJECTS]
    distances = released_distances(items)
    for file, facts in zip((*ENCODER_FILES, *CHAT_FILES), (*ENCODERS, *CHATS), strict=True):
        later = fetch.locate_optional(file, dataset="raw_c", folder=folder)
        if later is None:
            continue
        located[file] = later
        subjects.append(facts)
        if facts in ENCODERS:
            answers.append(distances.read(later.path, facts))
        else:
            answers.append(read_replies(later.path, items, facts, RATING_SCALE))
    recited = fetch.locate_optional(RECITED_FILE, dataset="raw_c", folder=folder)
    if recited is not None:
        # not about RAW-C's items: the study of RAW-C shows it next to the ratings of the chat models
        located[RECITED_FILE] = recited
    checksums = tuple((file.path, place.sha256) for file, place in located.items())
    dataset = Dataset(CARD, items, ResponseTable.concat(answers), checksums, tuple(subjects), aside)
    dataset.check_counts("items", "words", "participants", "trials", "set_aside")
    return dataset


# -- writing RAW-C back as its publisher's files --------------------------------------------------------------------


def export(dataset: Dataset, folder: Path) -> tuple[Path, ...]:
    """Write the published files below *folder*, in the layout of a data folder, and return their paths.

    All files equal the published ones byte for byte, except ``raw-c_with_dominance.csv``: there the numbers that
    repeat ``raw-c.csv`` are written as that file has them, where the publisher's have rounding noise (at most 1e-15).
    The file of sensorimotor distances, which repeats the norms in another form, is not written.
    """
    norms = _norm_rows(dataset)
    numbered = [cells | {"Unnamed: 0": str(row)} for row, cells in enumerate(norms)]
    contents = {
        file.path: released_distances(dataset.items).written(dataset.responses, facts)
        for file, facts in zip(ENCODER_FILES, ENCODERS, strict=True)
        if facts in dataset.subjects
    }
    first = [[cells[name] for name in NORM_COLUMNS[:-1]] for cells in norms]
    sentences = [[cells["sentence1"], cells["sentence2"]] for cells in norms]
    for file, facts, names, before in zip(
        CHAT_FILES, CHATS, (NORM_COLUMNS[:-1], NORM_COLUMNS[1:3]), (first, sentences), strict=True
    ):
        if facts in dataset.subjects:
            contents[file.path] = _replies_file(dataset, facts.subject_id, names, before)
    contents |= {
        TRIALS.path: _trials_file(dataset),
        NORMS.path: write_rows(NORM_COLUMNS, [[cells[name] for name in NORM_COLUMNS] for cells in norms]),
        DOMINANCE.path: write_rows(DOMINANCE_COLUMNS, [[c[name] for name in DOMINANCE_COLUMNS] for c in numbered]),
        STIMULI.path: _stimuli_file(dataset),
        EXTRACT.path: write_rows(EXTRACT_COLUMNS, [[cells[name] for name in EXTRACT_COLUMNS] for cells in norms]),
    }
    for path, content in contents.items():
        write_atomically(folder / path, content)
    return tuple(folder / path for path in contents)


def _trials_file(dataset: Dataset) -> bytes:
    trials = dataset.responses.where(measure="rating", subject_kind="participant")
    cells = {item.item_id: item_cells(item) for item in dataset.items}
    columns = (trials.column(name).tolist() for name in ("item_id", "subject_id", "value", "raw"))
    rows = []
    for item_id, person, rating, order in zip(*columns, strict=True):
        answer = {"subject": person, "responses": f'{{"Q0":{rating:g}}}', "relatedness": f"{rating:g}"}
        row = cells[item_id] | answer | {"version_with_order": order}
        rows.append([row[name] for name in TRIAL_COLUMNS])
    return write_rows(TRIAL_COLUMNS, rows)


def _replies_file(dataset: Dataset, chat: str, names: Sequence[str], before: Sequence[Sequence[str]]) -> bytes:
    """Return the replies of a chat model behind the columns that the publisher repeats."""
    replies = dataset.responses.where(subject_id=chat, measure=MEASURE_REPLY).by_item("raw")
    # the publisher takes the first number of a reply, whatever the scale; gpt-4 is "gpt4" in the name of that column
    header = (*names, f"{chat}_response", f"{chat.replace('-', '', 1)}_rating")
    said = [replies[item.item_id] for item in dataset.items]
    return write_rows(header, [[*cells, text, text.split()[0]] for cells, text in zip(before, said, strict=True)])


def _norm_rows(dataset: Dataset) -> list[dict[str, str]]:
    trials = dataset.responses.where(measure="rating", subject_kind="participant")
    ratings: dict[str, list[float]] = {}
    for item_id, rating in zip(trials.column("item_id").tolist(), trials.column("value").tolist(), strict=True):
        ratings.setdefault(item_id, []).append(rating)
    distances = _distances_by_item(dataset)
    return [item_cells(i) | norm_cells(ratings[i.item_id]) | distances[i.item_id] for i in dataset.items]


def _distances_by_item(dataset: Dataset) -> dict[str, dict[str, str]]:
    distances: dict[str, dict[str, str]] = {item.item_id: {} for item in dataset.items}
    for name in MODELS:
        table = dataset.responses.where(subject_id=name, measure="cosine_distance")
        for item_id, value in zip(table.column("item_id").tolist(), table.column("value").tolist(), strict=True):
            distances[item_id][f"distance_{name}"] = repr(value)
    return distances


def _stimuli_file(dataset: Dataset) -> bytes:
    distances = _distances_by_item(dataset)
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
SENSORIMOTOR = DataFile(
    "cs_norms/sentence_pairs_with_sensorimotor_distance.csv",
    "https://raw.githubusercontent.com/seantrott/cs_norms/713a12f0682b5b237f0a5e590cef501025cff140/data/processed/"
    "sentence_pairs_with_sensorimotor_distance.csv",
    "8ad330039b1e8082fdd25aa1bcc8ac4a63c8375146693b9303a57c05ffe8cfad",
    optional=True,
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
        "people, with one distance each of BERT and ELMo, the distances of 12 encoders at every layer, and the ratings "
        "of two chat models."
    ),
    files=(TRIALS, NORMS, DOMINANCE, STIMULI, EXTRACT, SENSORIMOTOR, *ENCODER_FILES, *CHAT_FILES, RECITED_FILE),
    counts=(
        ("items", 672),
        ("words", 112),
        ("participants", 77),
        ("trials", 8_624),
        ("models", 14),
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
        "no ratings: they are not items, and are kept in set_aside so that an export loses nothing.",
        "Of BERT and ELMo, one distance per pair was published, of unstated layers: it has no layer here.",
        "The distances of 12 encoders by layer are those of SAW-C's appendix A.3; they and the ratings of GPT-4 and "
        "GPT-3.5 (Trott 2024) are not part of RAW-C's publication, and are read where they are present.",
        "raw-c_with_dominance.csv repeats the numbers of raw-c.csv with rounding noise of at most 1e-15; only its two "
        "columns of dominance are read.",
    ),
    scale=RATING_SCALE,
)
SUBJECTS = tuple(
    SubjectFacts(
        name.lower(),
        name,
        languages=("en",),
        multilingual=False,
        family=name,
        source="RAW-C, not in the paper of SAW-C",
    )
    for name in ("BERT", "ELMo")
)


# -- reading --------------------------------------------------------------------------------------------------------
# Reading RAW-C's published files into items, trials and distances; every row is joined by word and version.


_POS = {"N": "NOUN", "V": "VERB"}
_STIMULUS_ONLY = ("ambiguity_type_mw", "ambiguity_type_oed", "different_frame")
_DOMINANCE = ("dominance_sentence2", "sd_dominance_sentence2")
_NUMBERS = ("mean_relatedness", "median_relatedness", "diff", "sd_relatedness", "se_relatedness")
# the publisher wrote that file through another program: its last digits differ
_NOISE = 1e-15
_DISTANCES = tuple(f"distance_{name}" for name in MODELS)


@dataclass(frozen=True, slots=True)
class Tables:
    """The four files that are read, as text."""

    trials: DelimitedTable
    norms: DelimitedTable
    dominance: DelimitedTable
    stimuli: DelimitedTable


def read_items(tables: Tables) -> tuple[Item, ...]:
    """Build the pairs from the norms, with dominance, stimulus and item numbers from the other files.

    Errors: :class:`InputError` with file and line where two files contradict each other; :class:`SpanError` where a
    word form is not in its sentence exactly once.
    """
    tables.norms.distinct("word", "version")
    tables.stimuli.distinct("word", "version")
    keys = zip(tables.stimuli["word"], tables.stimuli["version"], strict=True)
    stimulus_rows: dict[tuple[str, ...], int] = {key: row for row, key in enumerate(keys)}
    stimuli = tables.norms.join(["word", "version"], stimulus_rows)
    numbers = dict(zip(tables.trials["word"], tables.trials["item"], strict=True))
    items = tuple(_item(tables, row, int(stimuli[row]), numbers) for row in range(len(tables.norms)))
    _check_dominance(tables, items)
    return items


def read_trials(trials: DelimitedTable, items: Sequence[Item], scale: Scale) -> ResponseTable:
    """Turn the trials into responses in the published order; ``raw`` says which sentence stood first.

    Errors: :class:`InputError` with file and line: an unknown pair, a cell that contradicts its pair, a rating that is
    missing or off the scale, a participant who rated a word twice.
    """
    rows = trials.join(["word", "version"], {_pair_key(item): n for n, item in enumerate(items)})
    ratings = trials.floats("relatedness")
    for row in np.flatnonzero(~np.isin(ratings, scale.points)):
        trials.refuse(int(row), "relatedness", f"a rating from {scale.low:g} to {scale.high:g} is needed here")
    cells = [item_cells(item) for item in items]
    for name in ("same", "Class", "string", "ambiguity_type", "item"):
        trials.expect(name, [cells[n][name] for n in rows.tolist()])
    trials.expect("responses", [f'{{"Q0":{rating:g}}}' for rating in ratings.tolist()])
    # the version is the order of presentation with its two halves sorted
    halves = [sorted((order[:4], order[5:])) for order in trials["version_with_order"]]
    trials.expect("version", ["_".join(pair) for pair in halves])
    trials.distinct("subject", "word")
    ids = [item.item_id for item in items]
    return ResponseTable.from_columns(
        {
            "subject_id": list(trials["subject"]),
            "subject_kind": "participant",
            "item_id": [ids[n] for n in rows.tolist()],
            "task": "relatedness",
            "measure": "rating",
            "value": ratings,
            "view": "full",
            "raw": list(trials["version_with_order"]),
        }
    )


def read_distances(norms: DelimitedTable, items: Sequence[Item]) -> ResponseTable:
    """Read the one published distance of each model and pair (no layer is stated).

    *Unit:* cosine distance. *Higher means:* less related. Errors: :class:`InputError` with file and line.
    """
    return ResponseTable.concat(
        [
            ResponseTable.from_columns(
                {
                    "subject_id": name,
                    "subject_kind": "encoder",
                    "item_id": [item.item_id for item in items],
                    "task": "relatedness",
                    "measure": "cosine_distance",
                    "value": norms.floats(f"distance_{name}"),
                    "view": "full",
                }
            )
            for name in MODELS
        ]
    )


def check_norms(tables: Tables, items: Sequence[Item], trials: ResponseTable) -> None:
    """Check that the published norms are those of the trials, and every other cell that of its item.

    Errors: :class:`InputError` with file and line.
    """
    ratings: dict[str, list[float]] = {}
    for item_id, rating in zip(trials.column("item_id").tolist(), trials.column("value").tolist(), strict=True):
        ratings.setdefault(item_id, []).append(rating)
    for row, item in enumerate(items):
        if len(ratings.get(item.item_id, ())) < 2:
            tables.norms.refuse(row, "count", "at least two trials of this pair are needed in the file of trials")
    cells = [item_cells(item) | norm_cells(ratings[item.item_id]) for item in items]
    for name in NORM_COLUMNS:
        if name not in _DISTANCES:
            tables.norms.expect(name, [cell[name] for cell in cells])


def read_set_aside(
    stimuli: DelimitedTable, norms: DelimitedTable, items: Sequence[Item], *, path: str
) -> tuple[SetAside, ...]:
    """Check the list of stimuli against the items, and return its rows that are none (ambiguity type ``Unsure``).

    Errors: :class:`InputError` with file and line.
    """
    known = {_pair_key(item): (row, stimulus_cells(item)) for row, item in enumerate(items)}
    aside = []
    for row, key in enumerate(zip(stimuli["word"], stimuli["version"], strict=True)):
        if key in known:
            number, cells = known[key]
            expected = cells | {name: norms[name][number] for name in _DISTANCES}
            for name in stimuli.columns:
                if stimuli[name][row] != expected[name]:
                    stimuli.refuse(row, name, f"{expected[name]!r} is needed here", hint="another file contradicts it")
            continue
        if stimuli["ambiguity_type"][row] != "Unsure":
            stimuli.refuse(row, "word", "a pair of the norms is needed here, or the ambiguity type 'Unsure'")
        cells_aside = tuple((name, column[row]) for name, column in stimuli.columns.items())
        aside.append(SetAside(path, stimuli.lines[row], "ambiguity type 'Unsure': no ratings", cells_aside))
    return tuple(aside)


def _item(tables: Tables, row: int, stimulus: int, numbers: Mapping[str, str]) -> Item:
    norms, stimuli = tables.norms, tables.stimuli
    word, version = norms["word"][row], norms["version"][row]
    if word not in numbers:
        norms.refuse(row, "word", "a word that was rated in some trial is needed here")
    usages = (_usage(norms, row, 1, version[:2]), _usage(norms, row, 2, version[5:7]))
    conditions: dict[str, Condition] = {
        "same_sense": usages[0].sense == usages[1].sense,
        "ambiguity_type": norms["ambiguity_type"][row],
        "class": norms["Class"][row],
        "disambiguating_word_1": norms["disambiguating_word1"][row],
        "disambiguating_word_2": norms["disambiguating_word2"][row],
        "version": version,
        "item_number": numbers[word],
        "stimulus": stimulus + 1,
    }
    conditions |= {name: stimuli[name][stimulus] for name in _STIMULUS_ONLY} | _dominance(tables.dominance, row)
    return Item(f"raw_c/{word}/{version}", "raw_c", usages, conditions=conditions)


def _usage(norms: DelimitedTable, row: int, number: int, sense: str) -> Usage:
    word, wordform, text = norms["word"][row], norms["string"][row], norms[f"sentence{number}"][row]
    # the place is made only for an error: looking it up reads the file again
    spans = occurrences(text, wordform)
    start, end = spans[0] if len(spans) == 1 else locate(text, wordform, place=norms.place(row, f"sentence{number}"))
    pos = _POS.get(norms["Class"][row])
    return Usage(text, start, end, lemma=word, pos=pos, language="en", sense=f"{word}.{sense}")


def _dominance(table: DelimitedTable, row: int) -> dict[str, Condition]:
    """Return the two numbers of a pair with different senses; a pair with one sense has none."""
    cells: dict[str, Condition] = {}
    for name in _DOMINANCE:
        if table[name][row]:
            try:
                cells[name] = float(table[name][row])
            except ValueError:
                table.refuse(row, name, "a number is needed here, or nothing")
    return cells


def _check_dominance(tables: Tables, items: Sequence[Item]) -> None:
    """Check that the file of dominance repeats the norms row by row: texts exactly, numbers up to rounding noise."""
    table, norms = tables.dominance, tables.norms
    table.expect_length(len(norms), "as many as the norms")
    table.expect("Unnamed: 0", [str(row) for row in range(len(norms))])
    cells = [item_cells(item) for item in items]
    for name in _DOMINANCE:
        table.expect(name, [cell[name] for cell in cells])
    for name in norms.columns:
        if name not in _NUMBERS + _DISTANCES:
            table.expect(name, norms[name])
            continue
        for row in np.flatnonzero(~(np.abs(table.floats(name) - norms.floats(name)) <= _NOISE)):
            table.refuse(int(row), name, f"{norms[name][int(row)]} is needed here", hint="the norms contradict it")


def _with_sensorimotor(items: Sequence[Item], table: DelimitedTable) -> tuple[Item, ...]:
    """Return the items with the distances of their two contexts in people's sensorimotor norms.

    *Unit:* cosine distance, of all norms, of those of actions, and of those of perception.
    Errors: :class:`InputError` with file and line for a pair that is unknown, missing or there twice.
    """
    table.distinct("word", "version")
    table.expect_length(len(items), "the pairs of the norms")
    rows = table.join(["word", "version"], {_pair_key(item): row for row, item in enumerate(items)}).tolist()
    distances = {name: dict(zip(rows, table.floats(name).tolist(), strict=True)) for name in _OF_SENSES}
    return tuple(
        replace(item, conditions={**item.conditions, **{name: of[row] for name, of in distances.items()}})
        for row, item in enumerate(items)
    )


def _pair_key(item: Item) -> tuple[str, ...]:
    return (item.word, str(item.conditions["version"]))
