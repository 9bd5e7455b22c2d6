"""SemCor 3.0: English text tagged with senses of WordNet 3.0, also from its tag files.

Two traps of the original tag files (``brown1/tagfiles/br-a01`` …): a sense number of 0 marks a sense that WordNet 3.0
no longer has, and some keys of adjectives carry a marker of syntax, ``(a)``, ``(p)`` or ``(ip)``, that keys of WordNet
do not have.
"""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from lexiscope.core.errors import InputError, Place
from lexiscope.core.run import write_atomically
from lexiscope.resources import fetch
from lexiscope.resources.cards import SEMCOR as CARD
from lexiscope.resources.corpora.unified_wsd import Document, Sentence, Token, UnifiedCorpus
from lexiscope.resources.lexicons.lexicon import Lexicon

_DATA = ("semcor.data.xml.gz", "semcor.data.xml")
_KEYS = ("semcor.gold.key.txt.gz", "semcor.gold.key.txt")
_BELOW = ("", "semcor", "SemCor", "WSD_Training_Corpora/SemCor")
_NAME_KEYS = frozenset({"person%1:03:00::", "group%1:03:00::", "location%1:03:00::"})
_WORDS = frozenset({"person", "persons", "people", "group", "groups", "location", "locations"})


def load(folder: Path | None = None, *, lexicon: Lexicon | None = None) -> UnifiedCorpus:
    """Return SemCor from *folder*, or from the data folders, after checking it.

    In a *folder* the files may be those of another conversion: ``semcor.data.xml`` and ``semcor.gold.key.txt``, as they
    are or compressed. With a *lexicon* every sense key must be one of it.
    Errors: :class:`~lexiscope.core.errors.DataError` where it is not available or not as published;
    :class:`InputError` where *folder* does not hold it.
    """
    if folder is not None:
        return UnifiedCorpus(_one_of(folder, _DATA), _one_of(folder, _KEYS), lexicon)
    data, keys = fetch.locate_all(CARD)[:2]
    return UnifiedCorpus(data.path, keys.path, lexicon)


def is_name(token: Token) -> bool:
    """Return whether a token is a name, tagged as a person, a group or a location.

    Its form then has nothing to do with its lemma, so it is not a use of that word.

    >>> jury = Token("Fulton County Grand Jury", "group", "NOUN", "d000.s000.t000", ("group%1:03:00::",))
    >>> is_name(jury), is_name(Token("groups", "group", "NOUN", "d000.s000.t001", ("group%1:03:00::",)))
    (True, False)
    """
    return not _NAME_KEYS.isdisjoint(token.sense_keys) and token.form.lower() not in _WORDS


def _one_of(folder: Path, names: tuple[str, ...]) -> Path:
    for path in (folder / below / name for below in _BELOW for name in names):
        if path.is_file():
            return path
    what = f"this folder holds neither {names[0]} nor {names[1]}"
    raise InputError(what, place=Place(str(folder)), hint="lexiscope data get semcor says where SemCor comes from")


_TAG = re.compile(r"<(/?)(\w+)([^<>]*)>([^<]*)")
_ATTRIBUTE = re.compile(r"(\w+)=(\S*)")
_MARKER = re.compile(r"\((?:a|p|ip)\)")
# Brill's tags in SemCor and the universal tag of each
_TAGS = {
    "NOUN": ("NN", "NNS", "NNP", "NNPS"),
    "VERB": ("MD", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ"),
    "ADJ": ("JJ", "JJR", "JJS"),
    "ADV": ("RB", "RBR", "RBS", "WRB"),
    "PRON": ("PRP", "PRP$", "WP", "WP$"),
    "DET": ("DT", "EX", "PDT", "WDT"),
    "ADP": ("IN",),
    "CONJ": ("CC",),
    "NUM": ("CD",),
    "PRT": ("POS", "RP", "TO"),
}
_UNIVERSAL = {tag: universal for universal, tags in _TAGS.items() for tag in tags}


def convert(folder: Path, out: Path) -> UnifiedCorpus:
    """Write the tag files below a folder as a corpus in the unified layout into another, and return it.

    Errors: as of :func:`read_tagfiles` and :func:`~lexiscope.resources.corpora.semcor.write_unified`.
    """
    return write_unified(read_tagfiles(folder), out, "semcor")


def read_tagfiles(folder: Path) -> Iterator[Document]:
    """Iterate over the texts below a folder, in the order of their names (``br-a01`` …).

    A tagged expression of several words stays one token, an untagged one is divided. Words whose senses were all
    removed from WordNet 3.0 are not instances. The lemma of an untagged word is its form in lower case.
    Errors: :class:`InputError` with file and line: no tag files, two of one name, a line in another format.
    """
    paths = sorted(folder.rglob("br-[a-z][0-9][0-9]"), key=lambda path: (path.name, str(path)))
    if not paths:
        what = "there are no tag files of SemCor in this folder"
        raise InputError(what, place=Place(str(folder)), hint="name the folder that holds brown1/tagfiles/br-a01 ...")
    for first, second in pairwise(paths):
        if first.name == second.name:
            raise InputError(f"{first.name} is here twice", place=Place(str(second)), hint="name one copy of SemCor")
    for number, path in enumerate(paths):
        document_id = f"d{number:03d}"
        yield Document(document_id, path.name, tuple(_sentences(path, document_id)))


def _sentences(path: Path, document_id: str) -> Iterator[Sentence]:
    """The sentences of a tag file."""
    tokens: list[Token] = []
    number = instances = 0
    for place, (closing, name, attributes, text) in _tags(path):
        sentence_id = f"{document_id}.s{number:03d}"
        if name == "s" and closing:
            yield Sentence(sentence_id, tuple(tokens))
            number += 1
        elif name == "s":
            tokens, instances = [], 0
        elif name == "punc" and not closing:
            tokens.append(Token(text, text.lower(), "."))
        elif name == "wf" and not closing:
            words = _word(attributes, text, f"{sentence_id}.t{instances:03d}", place)
            instances += sum(token.instance_id is not None for token in words)
            tokens += words


def _tags(path: Path) -> Iterator[tuple[Place, tuple[str, str, dict[str, str], str]]]:
    """The tags of a file with what follows each, and where they are."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("this tag file cannot be read", place=Place(str(path)), why=str(error)) from error
    for number, line in enumerate(lines, start=1):
        place = Place(str(path), number, text=line)
        if _TAG.sub("", line).strip():
            raise InputError("this is not a line of a tag file", place=place, hint="get the file again")
        for closing, name, attributes, text in _TAG.findall(line):
            yield place, (closing, name, dict(_ATTRIBUTE.findall(attributes)), text.strip())


def _word(attributes: dict[str, str], text: str, instance_id: str, place: Place) -> list[Token]:
    keys = _keys(attributes, place)
    pos = _UNIVERSAL.get(attributes.get("pos", ""), "X")
    if not keys:
        return [Token(form, form.lower(), pos) for form in text.split("_") if form]
    lemma = attributes["lemma"].lower()
    return [Token(text.replace("_", " "), lemma, pos, instance_id, keys)]


def _keys(attributes: dict[str, str], place: Place) -> tuple[str, ...]:
    """The sense keys of a word: several are divided by ``;``, those of number 0 have gone."""
    if "lexsn" not in attributes:
        return ()
    numbers, endings = attributes.get("wnsn", "").split(";"), attributes["lexsn"].split(";")
    if len(numbers) != len(endings) or "lemma" not in attributes:
        what = "this word has senses without number or without lemma"
        raise InputError(what, place=place, hint="wnsn, lexsn and lemma belong together")
    lemma = attributes["lemma"].lower()
    senses = zip(numbers, endings, strict=True)
    return tuple(f"{lemma}%{_MARKER.sub('', ending)}" for number, ending in senses if number != "0")


# -- a tagged corpus in the unified WSD layout ----------------------------------------------------------------------
# Writing a tagged corpus in the unified WSD layout, so that the same documents always give the same bytes.


def write_unified(documents: Iterable[Document], folder: Path, name: str, *, language: str = "en") -> UnifiedCorpus:
    """Write ``<name>.data.xml.gz`` and ``<name>.gold.key.txt.gz`` into a folder, and return the corpus.

    Errors: :class:`~lexiscope.core.errors.RunError` where they cannot be written; each appears whole or not at all.
    """
    lines = ['<?xml version="1.0" encoding="UTF-8" ?>', f"<corpus lang={quoteattr(language)} source={quoteattr(name)}>"]
    keys: list[str] = []
    for document in documents:
        lines += _document_lines(document)
        tokens = (token for sentence in document.sentences for token in sentence.tokens)
        keys += [f"{token.instance_id} {' '.join(token.sense_keys)}" for token in tokens if token.instance_id]
    corpus = UnifiedCorpus(folder / f"{name}.data.xml.gz", folder / f"{name}.gold.key.txt.gz")
    write_atomically(corpus.data, _gzip_lines([*lines, "</corpus>"]))
    write_atomically(corpus.keys, _gzip_lines(keys))
    return corpus


def _document_lines(document: Document) -> list[str]:
    source = f" source={quoteattr(document.source)}" if document.source else ""
    lines = [f"<text id={quoteattr(document.document_id)}{source}>"]
    for sentence in document.sentences:
        lines.append(f"<sentence id={quoteattr(sentence.sentence_id)}>")
        lines += [_token(token) for token in sentence.tokens]
        lines.append("</sentence>")
    return [*lines, "</text>"]


def _token(token: Token) -> str:
    lemma, pos, form = quoteattr(token.lemma), quoteattr(token.pos), escape(token.form)
    if token.instance_id is None:
        return f"<wf lemma={lemma} pos={pos}>{form}</wf>"
    return f"<instance id={quoteattr(token.instance_id)} lemma={lemma} pos={pos}>{form}</instance>"


def _gzip_lines(lines: list[str]) -> bytes:
    packed = io.BytesIO()
    # neither name nor time in the header: equal content, equal bytes
    with gzip.GzipFile("", "wb", 9, packed, mtime=0) as stream:
        stream.write("".join(f"{line}\n" for line in lines).encode("utf-8"))
    return packed.getvalue()
