"""What ``lexiscope build`` works on: a corpus, a lexicon, a list of nouns, each with its checksum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lexiscope.build.minimal_pairs.occurrences import TaggedOccurrence, corpus_occurrences, read_occurrences
from lexiscope.core.errors import InputError, Place
from lexiscope.core.given_file import existing_file
from lexiscope.core.run import sha256_of
from lexiscope.resources import fetch
from lexiscope.resources.cards import SEMCOR, WORDNET
from lexiscope.resources.corpora import semcor
from lexiscope.resources.corpora.unified_wsd import UnifiedCorpus
from lexiscope.resources.lexicons.by_name import open_lexicon
from lexiscope.resources.lexicons.lexicon import Lexicon

_TABLES = (".csv", ".tsv", ".txt")


@dataclass(frozen=True, slots=True)
class CorpusSource:
    """Tagged words, the sha256 of the files from which they come, and their licence where it is known."""

    name: str
    occurrences: Iterator[TaggedOccurrence]
    checksums: Mapping[str, str]
    licence: str = ""


def open_corpus(name: str) -> CorpusSource:
    """Return the corpus that ``--corpus`` names: ``semcor``, a folder in the unified layout, or a table.

    Errors: those of :func:`~lexiscope.resources.corpora.semcor.load` and
    :func:`~lexiscope.build.minimal_pairs.occurrences.read_occurrences`; :class:`InputError` for a folder without a
    corpus.
    """
    path = Path(name)
    if name != "semcor" and not path.is_dir():
        table = existing_file(path)
        if path.suffix.lower() not in _TABLES:
            hint = f"give semcor, a folder in the unified layout, or a table ({', '.join(_TABLES)})"
            raise InputError("this is no corpus that can be read", place=Place(str(path)), hint=hint)
        return CorpusSource(path.name, iter(read_occurrences(table)), {path.name: sha256_of(table)})
    corpus = semcor.load() if name == "semcor" else _in_folder(path)
    checksums = {file.name: sha256_of(file) for file in (corpus.data, corpus.keys)}
    licence = SEMCOR.licence if name == "semcor" else ""
    return CorpusSource(corpus.data.name.partition(".")[0], corpus_occurrences(corpus), checksums, licence)


def open_named_lexicon(spec: str) -> tuple[Lexicon, Mapping[str, str]]:
    """Return the lexicon that ``--lexicon`` names, and the sha256 of its files where these are known by name.

    Errors: those of :func:`~lexiscope.resources.lexicons.by_name.open_lexicon`.
    """
    path = Path(spec)
    if path.exists():
        spec = f"wordnet:{spec}"
    lexicon = open_lexicon(spec)
    if spec == "wordnet":
        return lexicon, {file.path.name: file.sha256 for file in fetch.locate_all(WORDNET)}
    return lexicon, {path.name: sha256_of(path)} if path.is_file() else {}


def read_nouns(path: Path) -> tuple[str, ...]:
    """Return a list of nouns, one a line, in its order.

    Errors: :class:`InputError` E001, E002 or E003 with the file.
    """
    try:
        lines = existing_file(path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError("this list is not UTF-8", code="E003", place=Place(str(path)), hint="save it so") from error
    return tuple(line.strip() for line in lines if line.strip())


def _in_folder(folder: Path) -> UnifiedCorpus:
    """The one corpus of a folder: ``*.data.xml`` and ``*.gold.key.txt``, as they are or compressed."""
    data = sorted({*folder.glob("*.data.xml"), *folder.glob("*.data.xml.gz")})
    keys = sorted({*folder.glob("*.gold.key.txt"), *folder.glob("*.gold.key.txt.gz")})
    if len(data) != 1 or len(keys) != 1:
        what = f"this folder holds {len(data)} files *.data.xml and {len(keys)} files *.gold.key.txt, not one of each"
        raise InputError(what, place=Place(str(folder)), hint="name a folder with one corpus in the unified layout")
    return UnifiedCorpus(data[0], keys[0])
