"""A collection of synonym items as a table, CSV or TSV: read strictly, written so that nothing is lost.

The columns ``target``, ``synonym`` and ``distractor`` are needed, and the sentence: ``sentence`` with ``start`` and
``end`` (not needed if the target is in it once), or ``tokens``, one space apart, with ``position`` from 0. All
others are optional: ``pos`` is noun (the default), verb, adjective or adverb; where ``n_senses`` is 1 the target has
one sense, and its ``distractor`` may be empty. Columns that are not known are kept with the item.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast, get_args

from lexiscope.core import catalog
from lexiscope.core.code_file import existing_file
from lexiscope.core.errors import InputError, LexiscopeError, Place, SpecError
from lexiscope.core.run import csv_field, write_atomically
from lexiscope.core.settings import ReadingOptions
from lexiscope.core.usage import locate
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem, token_span
from lexiscope.items.choice_sets.surface import ArticleRule
from lexiscope.items.tables.item_rows import table_rows
from lexiscope.resources.corpora.unified_wsd import POS_OF_TAG
from lexiscope.resources.lexicons.lexicon import POS, POS_NAMES
from lexiscope.resources.tables.rows import Row

NEEDED = ("target", "synonym", "distractor")
TEXTS = ("item_id", *NEEDED, "sentence", "language", "sentence_id", "sense_key", "article", "published_distractor")
_POS = {"": "n"} | {name: pos for pos, name in POS_NAMES.items()} | POS_OF_TAG | {pos: pos for pos in POS}
LISTS = ("synset", "random_nouns", "plurals", "published_targets")
"""Columns of several words, ``|`` between them; a published target is written ``T13=word``."""

COLUMNS = ("number", *TEXTS, "pos", "n_senses", "start", "end", "tokenised", *LISTS)
"""The columns that :func:`write_collection` writes; ``tokens`` and ``position`` are read too."""

_TOKENS = ("tokens", "position")
_TRUTHS = {"yes": True, "no": False, "": False}


def open_collection(name: str) -> tuple[SynonymItem, ...]:
    """Return the items of a collection: a file, or a dataset that holds one (``synonymy``, ``mini_synonymy``).

    Errors: those of :func:`~lexiscope.items.choice_sets.collection_file.read_collection`; :class:`SpecError` for a
    dataset without a collection.
    """
    if Path(name).suffix or Path(name).name != name:
        return read_collection(existing_file(name))
    collection = getattr(catalog.module("datasets", name), "collection", None)
    if collection is None:
        raise SpecError(f"{name!r} holds no collection of synonym pairs", hint="name a file, or: synonymy")
    return cast(Callable[[], tuple[SynonymItem, ...]], collection)()


def read_collection(
    path: Path | str, *, delimiter: str | None = None, language: str = "en", options: ReadingOptions | None = None
) -> tuple[SynonymItem, ...]:
    """Read a collection; the separator (comma, semicolon, tab) is found where it is not given.

    An item without ``item_id`` is named by its number, one without ``number`` is numbered by its row, one without
    ``language`` is in *language*. With *options* the file may be in any encoding.
    Errors: :class:`InputError` with file and line: E006 and E007 (a column is missing, or occurs twice), E403 (an id
    comes twice), E441 (the three words are not different), E442 (no such token), E447 (a cell is not a number, or not
    one of its values), and those of :class:`~lexiscope.resources.tables.rows.RowReader`; :class:`SpanError` E101 to
    E103 if the target is not where it should be.
    """
    rows = table_rows(path, options, delimiter=delimiter)
    header = next(rows)
    _check_header(header)
    items: dict[str, SynonymItem] = {}
    for number, row in enumerate(rows, start=1):
        cells = {"language": language} | dict(zip(header.fields, row.fields, strict=True))
        cells["language"] = cells["language"] or language
        item = _item(cells, row, header.fields, number)
        if item.item_id in items:
            place = Place(row.path, row.line, item_id=item.item_id)
            raise InputError("two items have the same id", code="E403", place=place, hint="give each its own")
        items[item.item_id] = item
    return tuple(items.values())


def write_collection(items: Sequence[SynonymItem], path: Path | str) -> None:
    """Write a collection as UTF-8, tab-separated where the file's name ends in ``.tsv``, else with commas.

    :func:`read_collection` gives the same items back. Errors: :class:`InputError` E448 for a word that contains ``|``,
    and for an extra column with the name of a known one.
    """
    extra = list(dict.fromkeys(name for item in items for name, _ in item.extra))
    for name in extra:
        if name in (*COLUMNS, *_TOKENS):
            raise InputError(f"an extra column has the name of a known one: {name!r}", code="E448", hint="rename it")
    lines = [[*map(str, _cells(item)), *(dict(item.extra).get(name, "") for name in extra)] for item in items]
    between = "\t" if Path(path).suffix == ".tsv" else ","
    text = "".join(between.join(map(csv_field, line)) + "\n" for line in [[*COLUMNS, *extra], *lines])
    write_atomically(Path(path), text)


def check_no_column_twice(header: Row) -> None:
    """Check that the names in a header differ.

    Errors: :class:`InputError` E007 at the name that occurs twice.
    """
    for index, name in enumerate(header.fields):
        if name in header.fields[:index]:
            place = header.place(index)
            raise InputError(f"two columns are called {name!r}", code="E007", place=place, hint="rename one of them")


def _check_header(header: Row) -> None:
    names = header.fields
    check_no_column_twice(header)
    missing = [name for name in NEEDED if name not in names]
    if not missing and "sentence" not in names and not set(_TOKENS) <= set(names):
        missing = ["sentence (or tokens and position)"]
    if not missing and ("start" in names) != ("end" in names):
        missing = ["start" if "end" in names else "end"]
    if missing:
        what = f"not a collection of synonym items: no column {missing[0]}"
        raise InputError(what, code="E006", place=header.place(), hint=f"needed: {', '.join(NEEDED)}, and the sentence")


def _item(cells: dict[str, str], row: Row, names: Sequence[str], number: int) -> SynonymItem:
    given = _Cells(cells, row, names)
    values: dict[str, Any] = {name: cells[name] for name in TEXTS if cells.get(name)}
    for name in NEEDED:
        if not cells[name] and (name != "distractor" or cells.get("n_senses") != "1"):
            hint = "give it, or leave the item out"
            if name == "distractor":
                hint += "; a control, whose target has one sense, has none and says so: 1 in a column n_senses"
            raise InputError(f"the {name} is missing", code="E441", place=row.place(names.index(name)), hint=hint)
    # an empty cell is a field that was not given, so that its default holds
    values["number"] = given.integer("number") if cells.get("number") else number
    values.setdefault("item_id", str(values["number"]))
    values["distractor"] = cells["distractor"]
    values["n_senses"] = given.integer("n_senses") if cells.get("n_senses") else 0
    values["pos"] = given.one_of("pos", _POS)
    values["tokenised"] = given.one_of("tokenised", _TRUTHS)
    given.one_of("article", {"": "", **{rule: rule for rule in get_args(ArticleRule)}})
    values |= {name: tuple(cells[name].split("|")) for name in LISTS if cells.get(name)}
    values["published_targets"] = tuple(
        (template, word) for template, _, word in (pair.partition("=") for pair in values.get("published_targets", ()))
    )
    values["extra"] = tuple((name, cell) for name, cell in cells.items() if name not in (*COLUMNS, *_TOKENS))
    try:
        return SynonymItem(**(values | _sentence(values, given)))
    except LexiscopeError as error:
        place = Place(row.path, row.line, item_id=values["item_id"], text=row.place().text)
        raise type(error)(error.what, code=error.code, place=place, why=error.why, hint=error.hint) from error


def _sentence(values: dict[str, Any], given: _Cells) -> dict[str, Any]:
    """The sentence of an item and its target's span."""
    # tokens go first: their position says which of several equal words is meant
    if given.cells.get("tokens"):
        tokens = given.cells["tokens"].split(" ")
        start, end = token_span(tokens, given.integer("position"))
        return {"sentence": " ".join(tokens), "start": start, "end": end, "tokenised": True}
    sentence = values.get("sentence", "")
    if given.cells.get("start") or given.cells.get("end"):
        return {"sentence": sentence, "start": given.integer("start"), "end": given.integer("end")}
    start, end = locate(sentence, values.get("target", ""))
    return {"sentence": sentence, "start": start, "end": end}


class _Cells:
    """The cells of one row, read as what they must be."""

    def __init__(self, cells: dict[str, str], row: Row, names: Sequence[str]) -> None:
        self.cells, self._row, self._names = cells, row, names

    def integer(self, name: str) -> int:
        text = self.cells.get(name, "")
        if not text.removeprefix("-").isdecimal():
            raise self._refusal(name, "a whole number is needed here")
        return int(text)

    def one_of(self, name: str, known: dict[str, Any]) -> Any:
        text = self.cells.get(name, "")
        if text not in known:
            raise self._refusal(name, f"one of {', '.join(value for value in known if value)} is needed here")
        return known[text]

    def _refusal(self, name: str, what: str) -> InputError:
        at = self._names.index(name) if name in self._names else None
        there = f"; there is {self.cells[name]!r}" if name in self.cells else ", and there is no such column"
        return InputError(f"column {name!r}: {what}{there}", code="E447", place=self._row.place(at))


def _cells(item: SynonymItem) -> list[object]:
    values: dict[str, object] = {name: getattr(item, name) for name in ("number", *TEXTS, "start", "end")}
    values |= {"pos": POS_NAMES[item.pos], "n_senses": item.n_senses or ""}
    values["tokenised"] = "yes" if item.tokenised else "no"
    targets = tuple(f"{template}={word}" for template, word in item.published_targets)
    lists = {name: getattr(item, name) for name in LISTS} | {"published_targets": targets}
    for name, words in lists.items():
        if any("|" in word or not word for word in words):
            place = Place(item_id=item.item_id)
            raise InputError(f"a word of {name!r} is empty or contains |", code="E448", place=place, hint="rename it")
        values[name] = "|".join(words)
    return [values[name] for name in COLUMNS]
