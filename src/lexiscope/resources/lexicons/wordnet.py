"""Princeton WordNet, read from its original database files: a :class:`~lexiscope.resources.lexicons.lexicon.Lexicon`.

Parts of speech are read when they are first asked for, and lines of the data files when their synset is.
"""

from __future__ import annotations

import lzma
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path, PurePosixPath

from lexiscope.core.errors import DataError, InputError, Place
from lexiscope.resources import fetch
from lexiscope.resources.cards import WORDNET as CARD
from lexiscope.resources.lexicons.lexicon import POS, LexicalSense, Pos, Synset, normalised_lemma

_POS_OF_TYPE: dict[str, Pos] = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
_TYPE_OF_POS: dict[Pos, int] = {"n": 1, "v": 2, "a": 3, "r": 4}
# what an ending becomes: morphy(7WN)
_ENDINGS: dict[Pos, tuple[tuple[str, str], ...]] = {
    "n": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "v": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}


def load(folder: Path | None = None) -> WordNet:
    """Return WordNet 3.0 from *folder*, or from where ``lexiscope data get wordnet`` puts it, after checking it.

    In a *folder* any edition is taken as it is: a folder of database files, one that holds such a folder, an archive.
    Errors: :class:`~lexiscope.core.errors.DataError` where it is not available or not as published;
    :class:`InputError` where *folder* holds no WordNet.
    """
    if folder is not None:
        return WordNet(folder)
    files = fetch.locate_all(CARD)
    folders = sorted({str(file.path.parent) for file in files})
    if len(folders) > 1:
        raise DataError("the files of WordNet are in two folders", why=", ".join(folders), hint="move them to one")
    return _published(files[0].path if files[0].path.suffix == ".xz" else files[0].path.parent)


@lru_cache(maxsize=1)
def _published(path: Path) -> WordNet:
    # its checksum says that a file of this name has not changed: unpacking and reading it again would take seconds
    return WordNet(path)


class WordNet:
    """Princeton WordNet from a folder of database files or from their archive.

    Synset ids are the byte offset in the data file and the part of speech (``00001740-n``), ``a`` for satellites too.
    """

    language = "en"
    citation = (
        "G. A. Miller (1995). WordNet: A Lexical Database for English. Communications of the ACM 38(11), 39-41, "
        "doi:10.1145/219717.219748; C. Fellbaum, ed. (1998). WordNet: An Electronic Lexical Database. MIT Press."
    )
    """What its users are asked to cite."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: Reader = reader(path)
        self._indices: dict[Pos, dict[str, str]] = {}
        self._data: dict[Pos, bytes] = {}
        self._exceptions: dict[Pos, dict[str, tuple[str, ...]]] = {}
        self._records: dict[str, SynsetLine] = {}
        self._senses_of: dict[tuple[str, Pos | None], tuple[LexicalSense, ...]] = {}

    @property
    def name(self) -> str:
        """``wordnet-`` and the version that the files name."""
        version = re.search(r"WordNet (\d\.\d)", self.licence)
        return f"wordnet-{version[1]}" if version else "wordnet"

    @cached_property
    def licence(self) -> str:
        """The licence that is at the top of every file."""
        lines = [line for line in self._text("index.adv").split("\n", 60) if line.startswith("  ")]
        return "\n".join(re.sub(r"^\s+\d+ ?", "", line).rstrip() for line in lines)

    def synset(self, synset_id: str) -> Synset:
        """Return a synset by its id.

        Errors: :class:`InputError` where there is none.
        """
        return self._record(synset_id).synset

    def synsets(self, lemma: str, pos: Pos | None = None) -> tuple[Synset, ...]:
        """Return the synsets of a lemma in the order of its senses; without *pos* nouns, verbs, adjectives, adverbs."""
        return tuple(record.synset for record in self._records_of(lemma, pos))

    def sense(self, sense_key: str) -> LexicalSense:
        """Return a sense by its key.

        Errors: :class:`InputError` where there is none.
        """
        sense = self.find_sense(sense_key)
        if sense is None:
            lemma = sense_key.partition("%")[0]
            known = [key for key in self._senses if key.startswith(f"{lemma}%")]
            hint = f"the keys of this lemma are: {', '.join(known)}" if known else "it does not hold this lemma either"
            raise InputError(f"{self.name} has no sense {sense_key!r}", hint=hint)
        return sense

    def find_sense(self, sense_key: str) -> LexicalSense | None:
        """Return a sense by its key, or ``None``."""
        line = self._senses.get(sense_key)
        if line is None:
            return None
        lemma, _, rest = sense_key.partition("%")
        offset, number, count = line.split()
        record = self._record(synset_id(int(offset), _POS_OF_TYPE[rest[0]]))
        lex_id = int(rest.split(":")[2])
        for written, its_lex_id in zip(record.synset.lemmas, record.lex_ids, strict=True):
            if its_lex_id == lex_id and written.lower() == lemma:
                return LexicalSense(
                    sense_key, written, record.synset.pos, record.synset.synset_id, int(number), int(count)
                )
        raise self._damage_error("index.sense", f"the synset at {offset} does not hold {sense_key}")

    def senses(self, lemma: str, pos: Pos | None = None) -> tuple[LexicalSense, ...]:
        """Return the senses of a lemma in their order; without *pos* nouns, verbs, adjectives, adverbs."""
        wanted = normalised_lemma(lemma)
        if (wanted, pos) not in self._senses_of:
            records = self._records_of(lemma, pos)
            keys = dict.fromkeys(key for record in records for key, word in self._keys(record) if word == wanted)
            self._senses_of[wanted, pos] = tuple(self.sense(key) for key in keys)
        return self._senses_of[wanted, pos]

    def members(self, synset_id: str) -> tuple[LexicalSense, ...]:
        """Return the senses of a synset in the order of its lemmas; lemmas that differ in capitals only share one."""
        keys = dict.fromkeys(key for key, _ in self._keys(self._record(synset_id)))
        return tuple(self.sense(key) for key in keys)

    def hypernyms(self, synset_id: str) -> tuple[Synset, ...]:
        """Return the synsets directly above."""
        return self._related_synsets(synset_id, "@")

    def instance_hypernyms(self, synset_id: str) -> tuple[Synset, ...]:
        """Return the synsets of which this one names an instance."""
        return self._related_synsets(synset_id, "@i")

    def hyponyms(self, synset_id: str) -> tuple[Synset, ...]:
        """Return the synsets directly below."""
        return self._related_synsets(synset_id, "~")

    def instance_hyponyms(self, synset_id: str) -> tuple[Synset, ...]:
        """Return the synsets that name instances of this one."""
        return self._related_synsets(synset_id, "~i")

    def similar(self, synset_id: str) -> tuple[Synset, ...]:
        """Return the synsets of the same cluster of adjectives."""
        return self._related_synsets(synset_id, "&")

    def derivations(self, sense_key: str) -> tuple[LexicalSense, ...]:
        """Return the senses that are derivationally related to this one."""
        record = self._record(self.sense(sense_key).synset_id)
        words = {0} | {place for place, (key, _) in enumerate(self._keys(record), start=1) if key == sense_key}
        pointers = [pointer for pointer in record.pointers if pointer.sign == "+" and pointer.source_word in words]
        keys = {key: None for pointer in pointers for key in self._target_keys(pointer)}
        return tuple(self.sense(key) for key in keys)

    def base_forms(self, form: str, pos: Pos) -> tuple[str, ...]:
        """Return the lemmas of which *form* may be an inflected form: itself, exceptions, else by endings.

        Source: morphy(7WN); endings are taken off once, and only the last word of several.
        """
        lower = normalised_lemma(form)
        exceptions = self._exceptions_of(pos).get(lower, ())
        stems = exceptions or tuple(
            lower[: len(lower) - len(ending)] + base for ending, base in _ENDINGS[pos] if lower.endswith(ending)
        )
        index = self._index(pos)
        return tuple(dict.fromkeys(stem for stem in (lower, *stems) if stem in index))

    def exceptions(self, pos: Pos) -> Mapping[str, tuple[str, ...]]:
        """Return the exception list of a part of speech: inflected forms with their base forms."""
        return self._exceptions_of(pos)

    def all_synsets(self, pos: Pos | None = None) -> Iterator[Synset]:
        """Iterate over all synsets in the order of the file."""
        for part in POS if pos is None else (pos,):
            data, start = self._data_of(part), 0
            while start < len(data):
                end = data.find(b"\n", start)
                # the lines of the licence begin with a blank
                if data[start : start + 1] != b" ":
                    yield self._record(synset_id(start, part)).synset
                start = end + 1 if end >= 0 else len(data)

    def all_lemmas(self, pos: Pos) -> tuple[str, ...]:
        """Return all lemmas of a part of speech as the index writes them: lower case, in the order of the file."""
        return tuple(self._index(pos))

    @cached_property
    def sense_keys(self) -> tuple[str, ...]:
        """All sense keys, in the order of ``index.sense``."""
        return tuple(self._senses)

    @cached_property
    def _senses(self) -> dict[str, str]:
        return parse_index(self._text("index.sense"))

    @cached_property
    def _supersenses(self) -> dict[int, str]:
        return parse_supersenses(self._text("lexnames"))

    def _text(self, name: str) -> str:
        return self._read(name).decode("utf-8")

    def _index(self, pos: Pos) -> dict[str, str]:
        if pos not in self._indices:
            self._indices[pos] = parse_index(self._text(f"index.{FILE_OF_POS[pos]}"))
        return self._indices[pos]

    def _exceptions_of(self, pos: Pos) -> dict[str, tuple[str, ...]]:
        if pos not in self._exceptions:
            self._exceptions[pos] = parse_exceptions(self._text(f"{FILE_OF_POS[pos]}.exc"))
        return self._exceptions[pos]

    def _data_of(self, pos: Pos) -> bytes:
        if pos not in self._data:
            self._data[pos] = self._read(f"data.{FILE_OF_POS[pos]}")
        return self._data[pos]

    def _records_of(self, lemma: str, pos: Pos | None) -> Iterator[SynsetLine]:
        wanted = normalised_lemma(lemma)
        for part in POS if pos is None else (pos,):
            for offset in parse_offsets(self._index(part).get(wanted, "x 0")):
                yield self._record(synset_id(offset, part))

    def _record(self, synset_id: str) -> SynsetLine:
        record = self._records.get(synset_id)
        if record is None:
            record = self._records[synset_id] = self._parse_record(synset_id)
        return record

    def _parse_record(self, synset_id: str) -> SynsetLine:
        number, _, pos = synset_id.partition("-")
        if pos not in POS or not number.isdecimal():
            raise InputError(f"{synset_id!r} is not an id of a synset", hint="an id looks like 00001740-n")
        data, start = self._data_of(pos), int(number)
        line = data[start : data.find(b"\n", start)].decode("utf-8")
        if not line.startswith(f"{start:08d} "):
            raise InputError(f"{self.name} has no synset {synset_id!r}", hint="offsets differ between editions")
        try:
            return parse_record(line, pos, self._supersenses)
        except (ValueError, IndexError, KeyError) as error:
            raise self._damage_error(f"data.{FILE_OF_POS[pos]}", f"byte {start}: {error}") from error

    def _related_synsets(self, synset_id: str, sign: str) -> tuple[Synset, ...]:
        return tuple(self._record(target).synset for target in self._record(synset_id).targets(sign))

    def _target_keys(self, pointer: Pointer) -> list[str]:
        keys = [key for key, _ in self._keys(self._record(pointer.target))]
        return keys if pointer.target_word == 0 else keys[pointer.target_word - 1 : pointer.target_word]

    def _keys(self, record: SynsetLine) -> list[tuple[str, str]]:
        """The sense key and the lemma in lower case of each word of a synset."""
        keys = [(self._key(record, place), word.lower()) for place, word in enumerate(record.synset.lemmas)]
        if len({word for _, word in keys}) == len(keys):
            return keys
        # 37 synsets write a lemma twice (Earth, earth): index.sense knows one key for both
        known = {word: key for key, word in keys if key in self._senses}
        return [(known.get(word, key), word) for key, word in keys]

    def _key(self, record: SynsetLine, place: int) -> str:
        """The sense key of a word of a synset, as senseidx(5WN) puts it together."""
        kind, head = _TYPE_OF_POS[record.synset.pos], ":"
        if record.synset.satellite:
            cluster = self._record(record.targets("&")[0])
            kind, head = 5, f"{cluster.synset.lemmas[0].lower()}:{cluster.lex_ids[0]:02d}"
        lemma = record.synset.lemmas[place].lower()
        return f"{lemma}%{kind}:{record.file_number:02d}:{record.lex_ids[place]:02d}:{head}"

    def _damage_error(self, name: str, why: str) -> InputError:
        return InputError(
            "this file of WordNet is damaged, or the files are of two editions",
            place=Place(f"{self._path}: {name}"),
            why=why,
            hint="get the files again: lexiscope data get wordnet",
        )


# -- the files in which Princeton publishes WordNet (WNDB): where they lie, and what their lines say ----------------
# Source: WordNet's manual pages wndb(5WN), senseidx(5WN), cntlist(5WN). Only what a lexicon needs is read: verb frames
# and the example sentences of verbs (``*.vrb``) are not.


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
class SynsetLine:
    """A line of a data file: the synset, the numbers that distinguish its words' senses, and its relations."""

    synset: Synset
    file_number: int
    lex_ids: tuple[int, ...]
    pointer_cells: tuple[str, ...]

    @property
    def pointers(self) -> tuple[Pointer, ...]:
        """The relations in their order; most synsets are read without need of them."""
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
    return partial(_from_contents, path, _archive_contents(path))


def synset_id(offset: int, pos: Pos) -> str:
    """Return the id of the synset at a byte offset.

    >>> synset_id(1740, "n")
    '00001740-n'
    """
    return f"{offset:08d}-{pos}"


def parse_record(line: str, pos: Pos, supersenses: dict[int, str]) -> SynsetLine:
    """Read a line of a data file.

    Errors: ``ValueError`` or ``IndexError`` for any other line.

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
    return SynsetLine(
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
    """Divide a gloss into definition and examples: what is in quotation marks is an example.

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
    bases_of: dict[str, tuple[str, ...]] = {}
    for form, *bases in (line.split() for line in text.splitlines() if line.strip()):
        bases_of[form] = bases_of.get(form, ()) + tuple(base for base in bases if base not in bases_of.get(form, ()))
    return bases_of


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


def _archive_contents(path: Path) -> dict[str, bytes]:
    """The files of an archive, in memory: nothing is written to disk."""
    try:
        with tarfile.open(path) as archive:
            contents = {}
            for member in archive:
                name = PurePosixPath(member.name).name
                stream = archive.extractfile(member) if member.isfile() and name in DICT_FILES else None
                if stream is not None:
                    contents[name] = stream.read()
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError) as error:
        raise InputError("this archive cannot be read", place=Place(str(path)), why=str(error), hint=_HINT) from error
    if "data.noun" not in contents:
        raise InputError("this archive holds no data.noun", place=Place(str(path)), hint=_HINT)
    return contents
