"""SAW-C: relatedness of Spanish ambiguous nouns in two contexts, rated by people, with distances of 13 encoders."""

from __future__ import annotations

import difflib
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard, SubjectFacts
from lexiscope.core.errors import SpecError
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import write_atomically
from lexiscope.core.scale import Scale
from lexiscope.core.usage import Usage, locate, occurrences
from lexiscope.datasets.saw_c.published import (
    FOLDERS,
    LEADING_SPACE,
    NORM_COLUMNS,
    PAIR_COLUMNS,
    PAPER_MODELS,
    SENTENCE_COLUMNS,
    SUBJECTS,
    TOKEN_COLUMNS,
    TRIAL_COLUMNS,
    UPSTREAM,
    WITH_STOP,
    WITHOUT_STOP,
    human_cells,
    item_cells,
    model_file,
    sentence_cells,
)
from lexiscope.items.read.layer_distances import ReleasedDistances, encoder_columns, token_count_tables
from lexiscope.resources import fetch
from lexiscope.resources.fetch import FetchedFile
from lexiscope.resources.tables.delimited import DelimitedTable, Integers, read_csv, write_rows

__all__ = ["CARD", "PAPER_MODELS", "SUBJECTS", "export", "load"]


def load(
    folder: Path | None = None,
    *,
    models: Sequence[str] | None = None,
    views: Sequence[str] | None = None,
) -> Dataset:
    """Load the items, all trials, and the released distances and token counts.

    *folder* is a data folder to look in instead of ``LEXISCOPE_DATA`` and the cache. *models* are the encoders whose
    distances are read (``None`` = all 13, ``()`` = none). *views* are ``full+final_stop`` and ``full``; by default
    both, the latter only from files that are present (the publisher has them, their checksums were never published).
    Errors: :class:`DataError` for a file that is missing or not the published one; :class:`InputError` with file and
    line for a row that contradicts another; :class:`SpecError` for an unknown model or view.
    """
    subjects = _chosen_subjects(models)
    for view in views or ():
        if view not in FOLDERS:
            raise SpecError(f"saw_c has no released distances in the view {view!r}", hint=f"use {' or '.join(FOLDERS)}")
    used: list[tuple[DataFile, FetchedFile]] = []
    trials = read_trials(_locate_and_note(TRIALS, folder, used))
    items = read_items(_locate_and_note(PAIRS, folder, used), _locate_and_note(SENTENCES, folder, used), trials)
    tables = [trial_responses(trials, items, RATING_SCALE)]
    tables += [read_tokens(_locate_and_note(TOKENS, folder, used), items, [facts.subject_id for facts in subjects])]
    for view in FOLDERS if views is None else views:
        for facts in subjects:
            file = model_file(facts.subject_id, view)
            # without being asked for, the files without final stop are read only if they are present
            if views is None and file.optional and fetch.locate_optional(file, dataset="saw_c", folder=folder) is None:
                continue
            distances = read_distances(_locate_and_note(file, folder, used), items, facts=facts, view=view)
            # token_properties.csv already gave the counts without final stop, except for the model that it leaves out
            counted = view == WITHOUT_STOP and facts.subject_id in PAPER_MODELS
            tables.append(distances.where(measure="cosine_distance") if counted else distances)
    checksums = tuple((file.path, located.sha256) for file, located in used)
    dataset = Dataset(CARD, items, ResponseTable.concat(tables), checksums, subjects)
    dataset.check_counts("items", "words", "sentences", "participants", "trials", "lists")
    return dataset


def _chosen_subjects(models: Sequence[str] | None) -> tuple[SubjectFacts, ...]:
    known = {facts.subject_id: facts for facts in SUBJECTS}
    for name in models or ():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"models: {', '.join(known)}"
            raise SpecError(f"saw_c has no released distances of a model {name!r}", hint=hint)
    return SUBJECTS if models is None else tuple(known[name] for name in models)


def _locate_and_note(file: DataFile, folder: Path | None, used: list[tuple[DataFile, FetchedFile]]) -> Path:
    located = fetch.locate(file, dataset="saw_c", folder=folder)
    used.append((file, located))
    return located.path


# -- distances ------------------------------------------------------------------------------------------------------
# Reading what the encoders answered: distances by layer, and how many tokens they made of each sentence.


def read_distances(path: Path, items: Sequence[Item], *, facts: SubjectFacts, view: str) -> ResponseTable:
    """Read one model's released distances, and its token counts once per pair (of first sentences in view ``full``).

    Errors: as :meth:`~lexiscope.items.read.layer_distances.ReleasedDistances.read`.
    """
    return _released(items, view).read(path, facts)


def _released(items: Sequence[Item], view: str) -> ReleasedDistances:
    stop = "." if view == WITH_STOP else ""
    cells = {f"Sentence_{n}": [item.usages[n - 1].text + stop for item in items] for n in (1, 2)}
    cells |= {
        "Word": [item.word for item in items],
        "Same_sense": [str(item.conditions["same_sense"]) for item in items],
    }
    # the published files without final stop repeat the count of the first sentence for the second: not a count of it
    return ReleasedDistances(items, view, cells, CARD.task, counted=(1, 2) if view == WITH_STOP else (1, 1))


def read_tokens(path: Path, items: Sequence[Item], models: Sequence[str]) -> ResponseTable:
    """Read the token counts without final stop, and the tokens of each target alone (view ``word``).

    The file has no key: within each model its rows are in the order of the pairs, and every word is checked.
    Errors: :class:`InputError` with file and line where the words do not follow that order.
    """
    table = read_csv(path, TOKEN_COLUMNS)
    _check_token_rows(table, items)
    counts = [table.integers(f"Num_tokens_s{n}") for n in (1, 2)]
    targets = [_number_of_tokens(table, row) for row in range(len(table))]
    tables = []
    for start in range(0, len(table), len(items)):
        name, part = table["Model"][start], slice(start, start + len(items))
        if name in models:
            tables += token_count_tables(items, name, CARD.task, WITHOUT_STOP, [column[part] for column in counts])
            columns = {"item_id": [i.item_id for i in items], "value": np.array(targets[part], float)}
            columns["raw"] = list(table["Target_tokens"][part])
            tables.append(
                ResponseTable.from_columns(encoder_columns(name, CARD.task, "word", "target_tokens") | columns)
            )
    return ResponseTable.concat(tables)


def _check_token_rows(table: DelimitedTable, items: Sequence[Item]) -> None:
    models = list(dict.fromkeys(table["Model"]))
    table.expect_length(len(models) * len(items), f"{len(models)} models x {len(items)} pairs")
    table.expect("Model", [name for name in models for _ in items])
    spaces = {name: " " if name in LEADING_SPACE else "" for name in models}
    table.expect("Word", [spaces[name] + item.word for name in models for item in items])


def _number_of_tokens(table: DelimitedTable, row: int) -> int:
    cell = table["Target_tokens"][row]
    numbers = cell[1:-1].split(", ")
    if cell[:1] + cell[-1:] != "[]" or not all(number.isdecimal() for number in numbers):
        table.refuse(row, "Target_tokens", "a list of token numbers in square brackets is needed here")
    return len(numbers)


# -- writing SAW-C back as its publisher's files: what was imported comes out again, byte for byte ------------------


# the columns that R wrote without quotation marks: numbers and truth values
_BARE = ("Participant", "Response", "List", "Sense_id_s1", "Sense_id_s2", "Same_gender", "count")
_BARE_NORMS = ("mean_relatedness", "sd_relatedness", "median_relatedness")


def export(dataset: Dataset, folder: Path) -> tuple[Path, ...]:
    """Write the published files below *folder*, in the layout of a data folder, and return their paths.

    Only what the dataset holds is written: a model that was not loaded has no file. All cells and line ends equal the
    published ones; standard deviations print 15 digits, of which the last needs a platform with extended precision.
    """
    contents = {PAIRS.path: _pairs_file(dataset), SENTENCES.path: _sentences_file(dataset)}
    contents |= {TRIALS.path: _trials_file(dataset), NORMS.path: _norms_file(dataset)}
    if len(tokens := dataset.responses.where(measure="target_tokens")):
        contents[TOKENS.path] = _tokens_file(dataset, tokens)
    for view in FOLDERS:
        distances = dataset.responses.where(measure="cosine_distance", view=view)
        for facts in dataset.subjects:
            if facts.subject_id in distances.unique("subject_id"):
                written = _released(dataset.items, view).written(dataset.responses, facts)
                contents[model_file(facts.subject_id, view).path] = written
    for path, content in contents.items():
        write_atomically(folder / path, content)
    return tuple(folder / path for path in contents)


def _pairs_file(dataset: Dataset) -> bytes:
    words = [item.word for item in dataset.items]
    counts = {word: str(words.count(word)) for word in set(words)}
    cells = [item_cells(item) | {"counts": counts[item.word]} for item in dataset.items]
    return b"\xef\xbb\xbf" + write_rows(PAIR_COLUMNS, [[cell[name] for name in PAIR_COLUMNS] for cell in cells])


def _sentences_file(dataset: Dataset) -> bytes:
    rows = {item.conditions[f"stimulus_{n}"]: sentence_cells(item, n) for item in dataset.items for n in (1, 2)}
    content = write_rows(SENTENCE_COLUMNS, [row for _, row in sorted(rows.items())], newline="\r\n")
    return content.removesuffix(b"\r\n")  # the published file ends without a line end


def _trials_file(dataset: Dataset) -> bytes:
    trials = dataset.responses.where(measure="rating")
    cells = {item.item_id: human_cells(item) for item in dataset.items}
    people, ratings = trials.column("subject_id").tolist(), trials.column("value").tolist()
    rows = [
        cells[item_id] | {"": str(row), "Participant": person, "Response": f"{rating:g}"}
        for row, (item_id, person, rating) in enumerate(
            zip(trials.column("item_id").tolist(), people, ratings, strict=True), start=1
        )
    ]
    return _as_r_writes(TRIAL_COLUMNS, rows)


def _norms_file(dataset: Dataset) -> bytes:
    trials = dataset.responses.where(measure="rating")
    ratings: dict[str, list[float]] = {}
    for item_id, rating in zip(trials.column("item_id").tolist(), trials.column("value").tolist(), strict=True):
        ratings.setdefault(item_id, []).append(rating)
    ordered = sorted((item for item in dataset.items if item.item_id in ratings), key=_norm_order)
    rows = [
        human_cells(item) | _norm_cells(ratings[item.item_id]) | {"": str(row)}
        for row, item in enumerate(ordered, start=1)
    ]
    return _as_r_writes(NORM_COLUMNS, rows)


def _norm_cells(ratings: Sequence[float]) -> dict[str, str]:
    # R sums in extended precision, but takes the root in double: otherwise the 15th digit can differ
    wide = np.array(ratings, dtype=np.longdouble)
    numbers = (float(wide.mean()), math.sqrt(float(wide.var(ddof=1))), float(np.median(wide)))
    cells = {name: f"{number:.15g}" for name, number in zip(_BARE_NORMS, numbers, strict=True)}
    return cells | {"count": str(len(ratings))}


def _norm_order(item: Item) -> tuple[object, ...]:
    cells = human_cells(item)
    texts = [_alphabetical_key(cells[name]) for name in ("Word", "Same_sense", "Sentence_1", "Sentence_2")]
    return (int(cells["List"]), *texts)


def _alphabetical_key(text: str) -> tuple[str, str]:
    letters = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
    return letters.casefold(), text


def _tokens_file(dataset: Dataset, tokens: ResponseTable) -> bytes:
    counts = {
        (name, n): dataset.responses.where(subject_id=name, view=WITHOUT_STOP, measure=f"n_tokens_{n}").by_item()
        for name in tokens.unique("subject_id")
        for n in (1, 2)
    }
    words = {item.item_id: item.word for item in dataset.items}
    columns = (tokens.column(name).tolist() for name in ("item_id", "subject_id", "raw"))
    rows = [
        ["0", (" " if name in LEADING_SPACE else "") + words[item_id], name, raw]
        + [f"{counts[name, n][item_id]:g}" for n in (1, 2)]
        for item_id, name, raw in zip(*columns, strict=True)
    ]
    return write_rows(TOKEN_COLUMNS, rows)


def _as_r_writes(columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> bytes:
    bare = {*_BARE, *_BARE_NORMS}
    lines = [",".join(_quote(name) for name in columns)]
    lines += [",".join(row[name] if name in bare else _quote(row[name]) for name in columns) for row in rows]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _quote(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


# -- the card of SAW-C: where it comes from, what is in it, and what one must know before using it ------------------


RATING_SCALE = Scale(1, 5)
TRIALS = DataFile(
    "sawc/sawc_relatedness_full_critical_data.csv",
    f"{UPSTREAM}/processed/human/sawc_relatedness_full_critical_data.csv",
    "c67585a6436f5acd8e5c12d5ff783839a8bc897fa9890c26694225fd82b5d040",
)
NORMS = DataFile(
    "sawc/sawc_avg_relatedness.csv",
    f"{UPSTREAM}/processed/human/sawc_avg_relatedness.csv",
    "85d9e2ea731ccac42ea2341d8059989bb98fce78a37aa65fee3c0b84c2ecc4ac",
)
PAIRS = DataFile(
    "sawc/sawc_sentence_pairs.csv",
    f"{UPSTREAM}/raw/items/sawc_sentence_pairs.csv",
    "7ff993dd311127ded6862665d89dbe4fe888b637655d6ad439764d62e6e5a95f",
)
SENTENCES = DataFile(
    "sawc/sawc_stimlist.csv",
    f"{UPSTREAM}/raw/items/sawc_stimlist.csv",
    "0425e147ba18db5a39a90c6baca9dfcfbd294077a8dc24071a80e1884a6165fd",
)
TOKENS = DataFile(
    "sawc/token_properties.csv",
    f"{UPSTREAM}/processed/models/token_properties.csv",
    "d26a11b0d550bce389e2b7673bf50a25b25bb614c1dbba80e4b3d65fe6028173",
)
MODEL_FILES = tuple(model_file(facts.subject_id, view) for view in FOLDERS for facts in SUBJECTS)
CARD = DatasetCard(
    name="saw_c",
    title="SAW-C: Spanish Ambiguous Words in Context",
    task="relatedness",
    language="es",
    licence="none stated by the publisher; use for research with citation, not redistributed here",
    citation=(
        "P. D. Rivière, A. L. Beatty-Martínez, S. Trott (2025). Evaluating Contextualized Representations of (Spanish) "
        "Ambiguous Words: A New Lexical Resource and Empirical Analysis. NAACL 2025 (long papers), 8322-8338."
    ),
    source="https://github.com/seantrott/spanish_norms",
    version="2a786ac843faa6494261251bcd511811ee51ab80",
    availability="download",
    summary=(
        "Relatedness of the meaning of an ambiguous Spanish noun in two sentences that differ in one modifier, rated "
        "by people, with the released distances of 13 encoders at every layer."
    ),
    files=(TRIALS, PAIRS, SENTENCES, TOKENS, NORMS, *MODEL_FILES),
    counts=(
        ("items", 812),
        ("words", 102),
        ("sentences", 451),
        ("participants", 131),
        ("trials", 10_639),
        ("lists", 10),
        ("models", 13),
    ),
    first_item="saw_c/aceite/1",
    last_item="saw_c/órgano/6",
    remarks=(
        "Participants read the sentences without a final full stop; the main released distances are with one.",
        "Catch trials, excluded participants, nationality and the order and side of presentation are not published.",
        "One sentence of pieza has the gender 'femael' (a typing error): same_gender is recomputed with it read as "
        "female, same_gender_published keeps the published comparison, gender_1 and gender_2 keep the published text.",
        "compás and sueño use verbs as cues, and there the cue precedes the target.",
        "patana-chilean-spanish-bert has released distances but is neither in the paper nor in token_properties.csv.",
        "token_properties.csv counts tokens without the final stop, the files of distances with it.",
        "The files of distances without final stop give the token count of the first sentence for both: counts are "
        "those of token_properties.csv, and the second sentences of patana-chilean-spanish-bert have none.",
        "Layer 0 (input embeddings) is in the released distances: nearly all are 0 or rounding noise.",
    ),
    scale=RATING_SCALE,
)


# the only misspelt gender among the published ones
_GENDERS = {"femael": "female"}


def read_items(pairs_path: Path, sentences_path: Path, trials: DelimitedTable) -> tuple[Item, ...]:
    """Read the sentence pairs, the number of each sentence in the list of sentences, and from the trials its list.

    Errors: :class:`InputError` with file and line where a row contradicts another; :class:`SpanError` where a word
    is not in its sentence exactly once.
    """
    pairs, sentences = read_csv(pairs_path, PAIR_COLUMNS), read_csv(sentences_path, SENTENCE_COLUMNS)
    for table, names in ((pairs, ("Sentence_1", "Sentence_2")), (sentences, ("Sentence",))):
        table.distinct(*names)
    lists = dict(zip(zip(trials["Sentence_1"], trials["Sentence_2"], strict=True), trials["List"], strict=True))
    listed: dict[tuple[str, ...], int] = {(sentence,): row for row, sentence in enumerate(sentences["Sentence"])}
    stimuli = [pairs.join([f"Sentence_{n}"], listed) for n in (1, 2)]
    running: dict[str, int] = {}
    items = []
    for row, word in enumerate(pairs["Word"]):
        running[word] = running.get(word, 0) + 1
        items.append(_item(pairs, row, f"saw_c/{word}/{running[word]}", lists, stimuli))
    cells = [item_cells(item) | {"counts": str(running[item.word])} for item in items]
    for name in PAIR_COLUMNS:
        pairs.expect(name, [cell[name] for cell in cells])
    _check_sentences(sentences, items)
    return tuple(items)


def read_trials(path: Path) -> DelimitedTable:
    """Read the file of trials as text."""
    return read_csv(path, TRIAL_COLUMNS)


def trial_responses(trials: DelimitedTable, items: Sequence[Item], scale: Scale) -> ResponseTable:
    """Turn the trials into responses: one row per participant and pair, in the published order.

    Errors: :class:`InputError` with file and line: an unknown pair, a cell that contradicts its pair, a rating that is
    missing or off the scale, a participant who rated a pair twice.
    """
    keys = (tuple(usage.text for usage in item.usages) for item in items)
    rows = trials.join(["Sentence_1", "Sentence_2"], {key: row for row, key in enumerate(keys)})
    ratings = trials.floats("Response")
    for row in np.flatnonzero(~np.isin(ratings, scale.points)):
        trials.refuse(int(row), "Response", f"a rating from {scale.low:g} to {scale.high:g} is needed here")
    cells = [human_cells(item) for item in items]
    for name in TRIAL_COLUMNS[3:]:
        trials.expect(name, [cells[n][name] for n in rows.tolist()])
    trials.distinct("Participant", "Tag")
    ids = [item.item_id for item in items]
    return ResponseTable.from_columns(
        {
            "subject_id": list(trials["Participant"]),
            "subject_kind": "participant",
            "item_id": [ids[n] for n in rows.tolist()],
            "task": "relatedness",
            "measure": "rating",
            "value": ratings,
            "view": "full",
            "list_id": list(trials["List"]),
        }
    )


def _item(
    pairs: DelimitedTable, row: int, item_id: str, lists: dict[tuple[str, str], str], stimuli: Sequence[Integers]
) -> Item:
    key = (pairs["Sentence_1"][row], pairs["Sentence_2"][row])
    if key not in lists:
        pairs.refuse(row, "Sentence_1", "a pair that was rated in some trial is needed here")
    genders = [pairs[f"Gender_s{n}"][row] for n in (1, 2)]
    usages = (_usage(pairs, row, 1), _usage(pairs, row, 2))
    conditions: dict[str, Condition] = {
        "same_sense": usages[0].sense == usages[1].sense,
        "same_gender": _GENDERS.get(genders[0], genders[0]) == _GENDERS.get(genders[1], genders[1]),
        "same_gender_published": pairs["Same_gender"][row] == "True",
        "gender_1": genders[0],
        "gender_2": genders[1],
        "cue_1": pairs["context_cue1"][row],
        "cue_2": pairs["context_cue2"][row],
        "stimulus_1": int(stimuli[0][row]) + 1,
        "stimulus_2": int(stimuli[1][row]) + 1,
    }
    return Item(item_id, "saw_c", usages, list_id=lists[key], conditions=conditions)


def _usage(pairs: DelimitedTable, row: int, number: int) -> Usage:
    word, text = pairs["Word"][row], pairs[f"Sentence_{number}"][row]
    # the place is made only for an error: looking it up reads the file again
    spans = occurrences(text, word)
    start, end = spans[0] if len(spans) == 1 else locate(text, word, place=pairs.place(row, f"Sentence_{number}"))
    sense = f"{word}.{pairs[f'Sense_id_s{number}'][row]}"
    return Usage(text, start, end, lemma=word, pos="NOUN", language="es", sense=sense)


def _check_sentences(sentences: DelimitedTable, items: Sequence[Item]) -> None:
    rows = list(zip(*sentences.columns.values(), strict=True))
    for item in items:
        for number in (1, 2):
            row = int(item.conditions[f"stimulus_{number}"]) - 1
            if rows[row] != sentence_cells(item, number):
                expected = ",".join(sentence_cells(item, number))
                sentences.refuse(row, "Sentence", f"the item file has {expected!r} for this sentence")
