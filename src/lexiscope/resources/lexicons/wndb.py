"""The files in which Princeton publishes WordNet (WNDB): where they lie, and what their lines say.

Source: WordNet's manual pages wndb(5WN), senseidx(5WN), cntlist(5WN). Only what a lexicon needs is read: verb frames
and the example sentences of verbs (``*.vrb``) are not.
"""

from __future__ import annotations

import lzma
import re
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from lexiscope.core.errors import InputError, Place
from lexiscope.resources.lexicons.lexicon import Pos, Synset

FILE_OF_POS: dict[Pos, str] = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
DICT_FILES: tuple[str, ...] = (
    *(f"{kind}.{name}" for kind in ("data", "index") for name in FILE_OF_POS.values()),
    *(f"{name}.exc" for name in FILE_OF_POS.values()),
    "index.sense",
    "lexnames",
)
"""The files that are read, by name."""

BELOW = ("", "dict", "WordNet-3.0/dict", "corpora/wordnet", "wordnet30", "wordnet30/WordNet-3.0/dict")
"""Where in a folder the files may lie."""

Reader = Callable[[str], bytes]

_MARKER = re.compile(r"\((?:a|p|ip)\)$")
_EXAMPLE = re.compile(r'"[^"]*"')
_HINT = "give the folder with data.noun, index.noun, index.sense, or WordNet-3.0.tar.xz (lexiscope data get wordnet)"


@dataclass(frozen=True, slots=True)
class Pointer:
    """A relation: its sign, the synset it leads to, and which word of each synset it holds for (0 = all)."""

    sign: str
    target: str
    source_word: int
    target_word: int


@dataclass(frozen=True, slots=True)
class Record:
    """A line of a data file: the synset, the numbers that tell apart its words' senses, and its relations."""

    synset: Synset
    file_number: int
    lex_ids: tuple[int, ...]
    pointer_cells: tuple[str, ...]

    @property
    def pointers(self) -> tuple[Pointer, ...]:
        """The relations in their order; most synsets are read without anybody asking for them."""
        cells = self.pointer_cells
        return tuple(_pointer(*cells[place : place + 4]) for place in range(0, len(cells), 4))

    def targets(self, sign: str) -> tuple[str, ...]:
        """Return the ids of the synsets to which a relation leads, in their order."""
        return tuple(pointer.target for pointer in self.pointers if pointer.sign == sign)


def reader(path: Path) -> Reader:
    """Return what reads the files below a folder, or in a ``.tar.xz`` or ``.tar.gz``, by name.

    Errors: :class:`InputError` where the path holds no WordNet; the reader raises it for a file that is not there.
    """
    if path.is_dir():
        folders = [path / below for below in BELOW if (path / below / "data.noun").is_file()]
        if not folders:
            what = "this folder holds no WordNet database files"
            raise InputError(what, place=Place(str(path)), why=f"no data.noun in it or in {', '.join(BELOW[1:])}")
        return partial(_from_folder, folders[0])
    if not path.is_file():
        raise InputError("there is no such file or folder", place=Place(str(path)), hint=_HINT)
    return partial(_from_contents, path, _unpacked(path))


def synset_id(offset: int, pos: Pos) -> str:
    """Return the id of the synset at a byte offset.

    >>> synset_id(1740, "n")
    '00001740-n'
    """
    return f"{offset:08d}-{pos}"


def parse_record(line: str, pos: Pos, supersenses: dict[int, str]) -> Record:
    """Read a line of a data file.

    Errors: ``ValueError`` or ``IndexError`` for what is no such line.

    >>> line = "00007846 03 n 02 person 0 soul 0 001 @ 00004475 n 0000 | a human being; \\"too much for one person\\""
    >>> record = parse_record(line, "n", {3: "noun.Tops"})
    >>> record.synset.lemmas, record.synset.gloss, record.targets("@")
    (('person', 'soul'), 'a human being', ('00004475-n',))
    """
    head, bar, gloss = line.partition(" | ")
    cells = head.split(" ")
    if not bar:
        raise ValueError("no gloss")
    words = 4 + 2 * int(cells[3], 16)
    lemmas = tuple(_MARKER.sub("", word) if "(" in word else word for word in cells[4:words:2])
    after = words + 1 + 4 * int(cells[words])
    definition, examples = split_gloss(gloss)
    file_number = int(cells[1])
    return Record(
        Synset(
            synset_id(int(cells[0]), pos),
            pos,
            lemmas,
            definition,
            examples,
            supersenses[file_number],
            cells[2] == "s",
        ),
        file_number,
        tuple(int(cell, 16) for cell in cells[5:words:2]),
        tuple(cells[words + 1 : after]),
    )


def split_gloss(gloss: str) -> tuple[str, tuple[str, ...]]:
    """Divide a gloss into definition and examples: what stands in quotation marks is an example.

    >>> split_gloss('a flat seat; "sit on the bench"; "a long bench"  ')
    ('a flat seat', ('sit on the bench', 'a long bench'))
    """
    examples = tuple(match.group()[1:-1] for match in _EXAMPLE.finditer(gloss))
    return _EXAMPLE.sub("", gloss).strip().strip("; ").strip(), examples


def parse_supersenses(text: str) -> dict[int, str]:
    """Read ``lexnames``: the names of the lexicographer files by their numbers."""
    rows = (line.split() for line in text.splitlines() if line.strip())
    return {int(row[0]): row[1] for row in rows}


def parse_exceptions(text: str) -> dict[str, tuple[str, ...]]:
    """Read an exception list (``noun.exc``): an inflected form and its base forms in every line."""
    found: dict[str, tuple[str, ...]] = {}
    for form, *bases in (line.split() for line in text.splitlines() if line.strip()):
        found[form] = found.get(form, ()) + tuple(base for base in bases if base not in found.get(form, ()))
    return found


def parse_index(text: str) -> dict[str, str]:
    """Read an index file: the rest of each line by its lemma; the lines of the licence begin with a blank."""
    rows = (line.partition(" ") for line in text.split("\n") if line and line[0] != " ")
    return {lemma: rest for lemma, _, rest in rows}


def parse_offsets(rest: str) -> tuple[int, ...]:
    """Read the offsets of a lemma's synsets, in the order of its senses, from its line of an index file."""
    cells = rest.split()
    return tuple(int(cell) for cell in cells[len(cells) - int(cells[1]) :])


def _pointer(sign: str, offset: str, pos: str, words: str) -> Pointer:
    # a pointer says "a" for satellites too, and so do ids
    return Pointer(sign, f"{offset}-{'a' if pos == 's' else pos}", int(words[:2], 16), int(words[2:], 16))


def _from_folder(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except OSError as error:
        raise InputError(
            "this file of WordNet cannot be read", place=Place(str(folder / name)), why=str(error)
        ) from error


def _from_contents(path: Path, contents: dict[str, bytes], name: str) -> bytes:
    if name not in contents:
        raise InputError(f"this archive holds no {name}", place=Place(str(path)), hint=_HINT)
    return contents[name]


def _unpacked(path: Path) -> dict[str, bytes]:
    """The files of an archive, in memory: nothing is written beside it."""
    try:
        with tarfile.open(path) as archive:
            found = {}
            for member in archive:
                name = PurePosixPath(member.name).name
                stream = archive.extractfile(member) if member.isfile() and name in DICT_FILES else None
                if stream is not None:
                    found[name] = stream.read()
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError) as error:
        raise InputError("this archive cannot be read", place=Place(str(path)), why=str(error), hint=_HINT) from error
    if "data.noun" not in found:
        raise InputError("this archive holds no data.noun", place=Place(str(path)), hint=_HINT)
    return found
