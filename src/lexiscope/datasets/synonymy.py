"""Synonymy: a word that keeps the meaning of a noun in its sentence against words that do not; three models' outcomes.

200 curated items of Ivan, Ramisch and Nasr, each in eight suites and two conditions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard, SubjectFacts
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem, choice_sets
from lexiscope.items.choice_sets.surface import ArticleRule, Mode
from lexiscope.items.choice_sets.templates import synonymy_templates
from lexiscope.resources.fetch import locate, locate_optional
from lexiscope.resources.tables.delimited import DelimitedTable, read_csv
from lexiscope.resources.tables.plain_lines import read_lines

__all__ = ["CARD", "SUBJECTS", "collection", "load", "nouns"]


def load(folder: Path | None = None, *, mode: Mode = "clean") -> Dataset:
    """Load all choice sets and the outcomes of OLMo-1B, OLMo-7B and Amber.

    *folder* is a data folder to look in instead of ``LEXISCOPE_DATA`` and the cache. *mode* is ``clean`` or
    ``published``: the texts as they were released, flaws included. The outcomes, rows of measure ``correct``, were
    recorded on the published texts; the joint conditions are the products of their parts and are not stored.
    Errors: :class:`DataError` for a file that is missing or not the pinned one; :class:`InputError` with file and line
    for a row that contradicts another; :class:`SpecError` for an unknown mode.
    """
    items = choice_sets(collection(folder), mode=mode, dataset=CARD.name)
    responses = read_outcomes(_path(OUTCOMES, folder), items)
    checksums = tuple((file.path, file.sha256 or "") for file in (CURATED, ITEMS, NEGATIVES, OUTCOMES))
    dataset = Dataset(CARD, items, responses, checksums, SUBJECTS)
    # the published texts have other words and sentences, and the card counts those of mode clean
    dataset.check_counts("items", *(("words", "sentences") if mode == "clean" else ()))
    return dataset


def collection(folder: Path | None = None, *, article: ArticleRule = "letter") -> tuple[SynonymItem, ...]:
    """Return the 200 items, from which a user makes other suites.

    ``extra`` of an item holds the other columns of its file, among them ``token_delta``: tokens of the synonym minus
    tokens of the distractor, by OLMo-1B's tokenizer, as released. *article*: whether an article before an inserted word
    follows its letter (as in the figures that were published) or its sound.
    Errors: those of :func:`load`.
    """
    curated, items, negatives = (_path(file, folder) for file in (CURATED, ITEMS, NEGATIVES))
    return read_collection(curated, items, negatives, article=article)


def nouns(folder: Path | None = None) -> tuple[str, ...]:
    """Return the published list of which the random nouns were drawn, repetitions kept; empty if the file is missing.

    Errors: :class:`DataError` where the file is not the pinned one.
    """
    listed = locate_optional(NOUNS, dataset=CARD.name, folder=folder)
    return () if listed is None else tuple(listed.path.read_text(encoding="utf-8").split())


def _path(file: DataFile, folder: Path | None) -> Path:
    return locate(file, dataset=CARD.name, folder=folder, how_to_obtain=CARD.how_to_obtain).path


# -- card -----------------------------------------------------------------------------------------------------------
# The card of the synonymy collection: where it comes from, what is in it, and what one must know before using it.


REPOSITORY = "https://github.com/ioana-ivan/bm-semlex"
_RAW = "https://raw.githubusercontent.com/ioana-ivan/bm-semlex"
_NAME = "semcor_wordnet_aa_n_5000_rand_160.csv.curated.200.csv"
CURATED = DataFile(
    "synonymy/curated_200.tsv",
    f"{_RAW}/98739372248281affadd695a3f04fdc172ff612b/output/synonyms/pairs_triples_examples/{_NAME}",
    "87cb29fe77b27e9ed5f64c08691209ff464399962013ed673fc35d3b107ea5ab",
)
NOUNS = DataFile(
    "synonymy/random_nouns_10000.txt",
    sha256="25fbdbc478e41a2d69f6a3d61edee2b5c8f39a80f41ed5bb0a048d3389eacb4f",
    optional=True,
)
ITEMS = DataFile("synonymy/items.csv", sha256="721c21454fbf45d94e18c9b3f839ba4efff09082764b904a7bedb860d266129a")
NEGATIVES = DataFile(
    "synonymy/negatives.csv", sha256="f8c8cf185ed62c6eea786c489f02e0b6cb7e0f3d137ed19964494db43906c110"
)
OUTCOMES = DataFile("synonymy/outcomes.csv", sha256="7041240391703b41d00707675ae139b9fb796537daae6ea92f754d5f959a1680")
HUMAN_SHEET = DataFile(
    "synonymy/human_test.csv",
    sha256="8b13713d35244eed6587a7966413a8e598dc32c0649f9b6efc6e98f6c8d963d7",
    optional=True,
)
SUBJECTS: tuple[SubjectFacts, ...] = tuple(
    SubjectFacts(
        subject_id=name,
        title=title,
        kind="causal_lm",
        languages=("en",),
        multilingual=False,
        family=family,
        objective="next token",
        corpus=corpus,
        n_parameters=parameters,
        source="the paper, §3.5 and Table 4 (parameters as its text rounds them)",
    )
    for name, title, family, corpus, parameters in (
        ("allenai/OLMo-1B", "OLMo 1B", "OLMo", "Dolma", 1_000_000_000),
        ("allenai/OLMo-7B", "OLMo 7B", "OLMo", "Dolma", 7_000_000_000),
        ("LLM360/Amber", "Amber", "LLM360", "", 6_700_000_000),
    )
)
"""The three models whose outcomes were released, item by item."""
CARD = DatasetCard(
    name="synonymy",
    title="Synonymy minimal pairs: 200 curated items in eight suites",
    task="minimal_pair",
    language="en",
    licence=(
        "CC BY 4.0 (bm-semlex (c) 2024); sentences of SemCor 3.0 and synsets of WordNet 3.0: WordNet licence, "
        "WordNet 3.0 Copyright 2006 by Princeton University, all rights reserved"
    ),
    citation="I. Ivan, C. Ramisch, A. Nasr. Evaluating Pretrained Causal Language Models for Synonymy.",
    source=REPOSITORY,
    version="98739372248281affadd695a3f04fdc172ff612b (items), 756a9140ee817cde9d9a2ad11911fde6ca8183a2 (outcomes)",
    availability="obtain",
    summary=(
        "A noun in a SemCor sentence, a synonym of its sense there, a synonym of another sense and ten random nouns, "
        "in eight suites; the outcome of every item for OLMo-1B, OLMo-7B and Amber."
    ),
    files=(CURATED, ITEMS, NEGATIVES, OUTCOMES, NOUNS, HUMAN_SHEET),
    counts=(("items", 3_200), ("words", 331), ("sentences", 19_121)),
    how_to_obtain=(
        f"{CURATED.path} is the publisher's file, at {CURATED.url}. The others were made of the publisher's "
        f"repository {REPOSITORY}: {OUTCOMES.path} joins the 72 files of output/synonyms/result/eval (commit "
        f"756a9140ee817cde9d9a2ad11911fde6ca8183a2), {ITEMS.path} adds sense keys and synsets from SemCor 3.0 and "
        f"WordNet 3.0, {NEGATIVES.path} and {NOUNS.path} follow the published rule. Put them in a folder and set "
        "LEXISCOPE_DATA to it."
    ),
    first_item="synonymy/001/relation_no_context/is_a_synonym_of/correct_vs_random",
    last_item="synonymy/200/relation/is_the_same_as/random",
    remarks=(
        "curated_200.tsv holds the publisher's bytes; items.csv, negatives.csv, outcomes.csv, human_test.csv and "
        "random_nouns_10000.txt were derived from the publisher's files, WordNet and SemCor (their README says how).",
        "Mode clean (the default) repairs the published texts: the context keeps its own article, the distractor of "
        "item 122 loses its comma, the context of item 64 its leaked answer. The random nouns stay.",
        "In mode clean the article before an inserted word follows its letter, as in the published texts, so that "
        "figures compare; one text has a wrong one (item 17, 'an urochordate'): collection(article='sound') mends it.",
        "15 sentences serve two or three items (33 of the 200): the items are not independent; cluster by 'sentence'.",
        "103 of the 200 targets have their first WordNet sense; items 5 and 194 have a plural target.",
        "Random noun 'move' of item 38 shares a synset with the target 'movement', in another sense.",
        "The outcomes were recorded on the published texts; the reference suite was meant for controlled pairs only, "
        "and its random outcomes were released all the same.",
        "Answers of the human annotators, outcomes of other models and gap-filling predictions were not released.",
    ),
)


# -- read the collection and the outcomes, and check each file against the others -----------------------------------


N_ITEMS, N_RANDOM = 200, 10
ITEM_COLUMNS = (
    *("item", "target", "synonym", "distractor", "position", "sentence_tokens", "sentence", "sense_key"),
    *("wn30_offset", "sense_number", "target_noun_senses", "synset", "token_delta", "semcor_file"),
    *("semcor_sentence", "notes"),
)
NEGATIVE_COLUMNS = ("item", *(f"random{n}" for n in range(1, N_RANDOM + 1)))
OUTCOME_COLUMNS = ("model", "test", "suite", "phrase", "condition", "source_file", "item", "correct")
_EXTRA = ("wn30_offset", "sense_number", "target_noun_senses", "token_delta", "semcor_file", "semcor_sentence", "notes")
# the joint condition (both of its parts) of the suites with context, and of those without
_JOINT = {
    "controlled_and_random": ("controlled", "random"),
    "both_vs_random": ("correct_vs_random", "incorrect_vs_random"),
}
_SUITES = {"relation_context": "relation"}
# plural in form though they are lemmas of the item's synset; the others are found by rule
_PLURALS: Mapping[int, tuple[str, ...]] = {5: ("comforts", "conveniences")}
# typing errors of the released test files (their README, flaws 1 and 3)
_LEAKED = {64: tuple((template, "[bathroom]") for template in ("T13", "T14", "T15"))}
_COMMA = {122: "portion,"}


def read_collection(
    curated: Path, items: Path, negatives: Path, *, article: ArticleRule = "letter"
) -> tuple[SynonymItem, ...]:
    """Read the 200 items from the publisher's file, with what the derived files add.

    Errors: :class:`InputError` with file and line where a file contradicts another, or its rows are not 200.
    """
    published = _published_rows(curated)
    table, nouns = read_csv(items, ITEM_COLUMNS), read_csv(negatives, NEGATIVE_COLUMNS)
    for rows in (table, nouns):
        rows.expect_length(N_ITEMS, f"{N_ITEMS} items")
        rows.expect("item", [str(number) for number in range(1, N_ITEMS + 1)])
    distractors = [_COMMA.get(n, word) for n, word in enumerate(table["distractor"], start=1)]
    theirs = zip(
        table["target"], table["synonym"], distractors, table["position"], table["sentence_tokens"], strict=True
    )
    for row, (ours, own) in enumerate(zip(theirs, published, strict=True)):
        if ours != own:
            raise InputError("this item is not the published one", place=table.place(row), why=f"published: {own}")
    return tuple(_item(table, nouns, row, article) for row in range(N_ITEMS))


def read_outcomes(path: Path, items: Sequence[Item]) -> ResponseTable:
    """Read the outcomes as rows of measure ``correct`` (1 correct, 0 wrong), ordered by model and then as the items.

    A joint condition is not kept: that it is the product of its two parts is checked, item by item.
    Errors: :class:`InputError` with file and line for a value other than 0 and 1, a repeated or missing row, or
    a joint condition that is not the product.
    """
    table = read_csv(path, OUTCOME_COLUMNS)
    table.distinct("model", "test", "condition", "item")
    values = table.integers("correct")
    outside = np.flatnonzero((values != 0) & (values != 1))
    if outside.size:
        table.refuse(int(outside[0]), "correct", "0 or 1 is needed here")
    keys = list(zip(table["model"], table["test"], table["condition"], map(int, table["item"]), strict=True))
    outcomes = {key: int(value) for key, value in zip(keys, values, strict=True)}
    # suite and expression of every row are those of its template
    known = {template.name: (template.suite, template.expression) for template in synonymy_templates()}
    for row, (test, suite, phrase) in enumerate(zip(table["test"], table["suite"], table["phrase"], strict=True)):
        if known.get(test) != (_SUITES.get(suite, suite), phrase):
            table.refuse(row, "test", f"test, suite and phrase are not those of one of {', '.join(known)}")
    _check_joint(table, keys, outcomes)
    return _responses(outcomes, items, path)


def _published_rows(path: Path) -> list[tuple[str, ...]]:
    # the publisher quotes nothing: a quotation mark is a letter of the sentence
    lines = read_lines(path)
    if len(lines) != N_ITEMS:
        raise InputError(f"this file has {len(lines)} lines, not {N_ITEMS}", place=Place(str(path)))
    names = ("target", "synonym", "distractor", "position", "sentence")
    return [tuple(lines.cells(row, names)) for row in range(N_ITEMS)]


def _item(table: DelimitedTable, nouns: DelimitedTable, row: int, article: ArticleRule) -> SynonymItem:
    cells = {name: table[name][row] for name in ITEM_COLUMNS}
    number = row + 1
    plain = SynonymItem.from_tokens(
        f"{number:03d}",
        cells["sentence_tokens"].split(" "),
        int(cells["position"]),
        synonym=cells["synonym"],
        distractor=cells["distractor"],
    )
    return replace(
        plain,
        number=number,
        sentence_id=f"{cells['semcor_file']}/{cells['semcor_sentence']}",
        sense_key=cells["sense_key"],
        synset=tuple(cells["synset"].split("|")),
        random_nouns=tuple(nouns[name][row] for name in NEGATIVE_COLUMNS[1:]),
        plurals=_PLURALS.get(number, ()),
        article=article,
        published_distractor=_COMMA.get(number, ""),
        published_targets=_LEAKED.get(number, ()),
        extra=tuple((name, cells[name]) for name in _EXTRA),
    )


def _check_joint(
    table: DelimitedTable, keys: Sequence[tuple[Any, ...]], outcomes: Mapping[tuple[Any, ...], int]
) -> None:
    for row, (model, test, condition, item) in enumerate(keys):
        if condition in _JOINT:
            # the product of two outcomes that are 0 or 1
            parts = [outcomes.get((model, test, part, item)) for part in _JOINT[condition]]
            if None in parts or outcomes[model, test, condition, item] != min(part or 0 for part in parts):
                table.refuse(row, "correct", f"{condition} must be 1 where both {' and '.join(_JOINT[condition])} are")


def _responses(outcomes: Mapping[tuple[Any, ...], int], items: Sequence[Item], path: Path) -> ResponseTable:
    models = list(dict.fromkeys(key[0] for key in outcomes))
    names = {(template.suite, template.expression): template.name for template in synonymy_templates()}
    about = [item.conditions for item in items]
    asked = [(names[str(c["suite"]), str(c["expression"])], c["condition"], c["item"]) for c in about]
    missing = [(model, *key) for model in models for key in asked if (model, *key) not in outcomes]
    if missing:
        raise InputError(f"{len(missing)} outcomes are missing; the first is {missing[0]}", place=Place(str(path)))
    # by model, then in the order of the items, as every task returns its rows
    return ResponseTable.from_columns(
        {
            "subject_id": [model for model in models for _ in asked],
            "subject_kind": "causal_lm",
            "item_id": [item.item_id for _ in models for item in items],
            "task": "minimal_pair",
            "measure": "correct",
            "value": [float(outcomes[(model, *key)]) for model in models for key in asked],
            "view": "full",
        }
    )
