"""Sense-tagged corpora in the layout of the unified evaluation framework: an XML file and a file of gold sense keys.

SemCor, the Senseval and SemEval sets and OMSTI come in it (Raganato, Camacho-Collados and Navigli 2017). Both files may
be compressed with gzip. A corpus is read from its file every time it is gone through, one document at a time.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast
from xml.parsers import expat

from lexiscope.core.errors import InputError, Place
from lexiscope.core.usage import Usage
from lexiscope.resources.lexicons.lexicon import Lexicon, Pos

POS_OF_TAG: dict[str, Pos] = {"NOUN": "n", "VERB": "v", "ADJ": "a", "ADV": "r"}
"""The lexicon's part of speech of a tag; other tags have no senses."""

_CHUNK = 1 << 16
_PARENTS = {"corpus": "", "text": "corpus", "sentence": "text", "wf": "sentence", "instance": "sentence"}


@dataclass(frozen=True, slots=True)
class Token:
    """A word, or several that were tagged as one (*primary election*), as it is in the text.

    The words of a lemma are joined by ``_``. ``instance_id`` is ``None`` where no sense was tagged.
    """

    form: str
    lemma: str
    pos: str
    instance_id: str | None = None
    sense_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: its tokens, and their text joined by single spaces."""

    sentence_id: str
    tokens: tuple[Token, ...]
    language: str = "en"

    @property
    def text(self) -> str:
        """The tokens joined by single spaces."""
        return " ".join(token.form for token in self.tokens)

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Half-open character offsets of every token in the text."""
        spans, start = [], 0
        for token in self.tokens:
            spans.append((start, start + len(token.form)))
            start += len(token.form) + 1
        return tuple(spans)

    @property
    def instances(self) -> tuple[int, ...]:
        """The places (from 0) of the tokens that were tagged with a sense."""
        return tuple(place for place, token in enumerate(self.tokens) if token.instance_id is not None)

    def usage(self, place: int) -> Usage:
        """Return the token at a place (from 0) in its sentence; its sense is the first of its keys.

        >>> words = (Token("The", "the", "DET"), Token("banks", "bank", "NOUN", "d0.s0.t0", ("bank%1:17:01::",)))
        >>> usage = Sentence("d0.s0", words).usage(1)
        >>> usage.target, usage.start, usage.sense
        ('banks', 4, 'bank%1:17:01::')
        """
        return _usage(self.text, self.spans[place], self.tokens[place], self.language)

    def tagged_usages(self) -> tuple[tuple[Token, Usage], ...]:
        """Return every tagged token with its usage; the text is put together once for all of them."""
        text, spans = self.text, self.spans
        return tuple((self.tokens[n], _usage(text, spans[n], self.tokens[n], self.language)) for n in self.instances)


@dataclass(frozen=True, slots=True)
class Document:
    """A text of the corpus: its id, its source (``br-a01``), and its sentences."""

    document_id: str
    source: str
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class UnifiedCorpus:
    """A corpus by its two files; nothing is read before it is gone through.

    With a *lexicon* every sense key must be one of it.
    """

    data: Path
    keys: Path
    lexicon: Lexicon | None = None

    def documents(self) -> Iterator[Document]:
        """Iterate over the documents, in the order of the file.

        Errors: :class:`InputError` with file, line and instance id: broken XML, an element out of place, an instance
        without a gold key or with an id that comes twice, a gold key without an instance (found when the corpus was
        gone through to its end), a key that the lexicon does not have.
        """
        gold = _GoldKeys(self.keys, self.lexicon)
        parser = _Parser(self.data, gold)
        with _open_stream(self.data) as stream:
            while chunk := _read(stream, self.data):
                parser.feed(chunk)
                yield from parser.take()
        parser.feed(b"", final=True)
        yield from parser.take()
        gold.refuse_unused()

    def sentences(self) -> Iterator[Sentence]:
        """Iterate over all sentences.

        Errors: as of :meth:`documents`.
        """
        for document in self.documents():
            yield from document.sentences

    def instances(self) -> Iterator[tuple[Sentence, int]]:
        """Iterate over the tagged tokens: the sentence and the place (from 0) of the token in it.

        Errors: as of :meth:`documents`.
        """
        for sentence in self.sentences():
            for place in sentence.instances:
                yield sentence, place


def _usage(text: str, span: tuple[int, int], token: Token, language: str) -> Usage:
    sense = token.sense_keys[0] if token.sense_keys else None
    return Usage(text, *span, token.lemma, token.pos, language, sense)


def corpus_counts(texts: Iterable[Document]) -> dict[str, int]:
    """Return how many documents, sentences, tokens, instances, sense keys and (lemma, tag) pairs a corpus has.

    Sense keys and pairs are counted once each, among the tagged tokens.
    """
    documents = sentences = tokens = instances = 0
    keys: set[str] = set()
    types: set[tuple[str, str]] = set()
    for document in texts:
        documents += 1
        for sentence in document.sentences:
            tagged = [token for token in sentence.tokens if token.instance_id is not None]
            sentences, tokens, instances = sentences + 1, tokens + len(sentence.tokens), instances + len(tagged)
            keys.update(key for token in tagged for key in token.sense_keys)
            types.update((token.lemma, token.pos) for token in tagged)
    names = ("documents", "sentences", "tokens", "instances", "sense_keys", "word_types")
    return dict(zip(names, (documents, sentences, tokens, instances, len(keys), len(types)), strict=True))


def read_keys(path: Path) -> dict[str, tuple[str, ...]]:
    """Read a file of gold keys: an instance id and its sense keys in every line, divided by blanks.

    Errors: :class:`InputError` with file and line: a line without a key, an id that comes twice, not UTF-8.
    """
    keys: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(_lines(path), start=1):
        cells = line.split()
        if len(cells) == 1 or (cells and cells[0] in keys):
            what = f"{cells[0]} has no sense key" if len(cells) == 1 else f"{cells[0]} has keys in two lines"
            place = Place(str(path), number, text=line, item_id=cells[0])
            raise InputError(what, place=place, hint="a line is an instance id and its keys, divided by blanks")
        if cells:
            keys[cells[0]] = tuple(cells[1:])
    return keys


class _GoldKeys:
    """Gold keys that are given away once each."""

    def __init__(self, path: Path, lexicon: Lexicon | None) -> None:
        self.path, self._lexicon = path, lexicon
        self._keys = read_keys(path)
        self._unused = dict.fromkeys(self._keys)
        self._known: set[str] = set()

    def take(self, instance_id: str, place: Callable[[str], Place]) -> tuple[str, ...]:
        keys = self._keys.get(instance_id)
        if keys is None:
            hint = f"add its line to {self.path}, or give the file of keys that belongs to this corpus"
            raise InputError("this instance has no gold key", place=place(instance_id), hint=hint)
        if instance_id not in self._unused:
            hint = "give every instance its own id"
            raise InputError("this instance id comes twice", place=place(instance_id), hint=hint)
        del self._unused[instance_id]
        if self._lexicon is not None:
            self._check(instance_id, place, self._lexicon)
        return keys

    def refuse_unused(self) -> None:
        for instance_id in self._unused:
            number = 1 + next(n for n, line in enumerate(_lines(self.path)) if line.split()[:1] == [instance_id])
            raise InputError(
                f"{len(self._unused)} gold keys belong to no instance, the first is this one",
                place=Place(str(self.path), number, item_id=instance_id),
                hint="give the file of keys that belongs to this corpus",
            )

    def _check(self, instance_id: str, place: Callable[[str], Place], lexicon: Lexicon) -> None:
        keys = self._keys[instance_id]
        for key in keys:
            if key not in self._known and lexicon.find_sense(key) is None:
                hint = "use the edition of the lexicon with which the corpus was tagged"
                raise InputError(f"{lexicon.name} has no sense {key!r}", place=place(instance_id), hint=hint)
        self._known.update(keys)


class _Parser:
    """The elements of a corpus, put together to documents as they are closed."""

    def __init__(self, path: Path, gold: _GoldKeys) -> None:
        self._path, self._gold = path, gold
        self._open: list[str] = [""]
        self._language, self._document, self._sentence = "en", ("", ""), ""
        self._token: dict[str, str] = {}
        self._letters: list[str] = []
        self._words: dict[tuple[str, str, str], Token] = {}
        self._tokens: list[Token] = []
        self._sentences: list[Sentence] = []
        self._done: list[Document] = []
        self._expat = expat.ParserCreate()
        self._expat.buffer_text = True
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._letters.append
        self._expat.EntityDeclHandler = self._refuse_entity

    def feed(self, chunk: bytes, *, final: bool = False) -> None:
        try:
            self._expat.Parse(chunk, final)
        except expat.ExpatError as error:
            place = Place(str(self._path), error.lineno, error.offset + 1)
            why = expat.errors.messages[error.code]
            raise InputError("this is not XML", place=place, why=why, hint="get the file again") from error

    def take(self) -> Iterator[Document]:
        while self._done:
            yield self._done.pop(0)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if _PARENTS.get(name) != self._open[-1]:
            inside = f"in <{self._open[-1]}>" if self._open[-1] else "at the top"
            raise self._error(f"<{name}> has no place {inside}", "corpus > text > sentence > wf or instance")
        self._open.append(name)
        if name == "corpus":
            self._language = attributes.get("lang", "en")
        elif name == "text":
            self._document = (self._id(name, attributes), attributes.get("source", ""))
        elif name == "sentence":
            self._sentence = self._id(name, attributes)
        else:
            self._token = attributes
            self._letters.clear()

    def _end(self, name: str) -> None:
        self._open.pop()
        if name == "text":
            self._done.append(Document(*self._document, tuple(self._sentences)))
            self._sentences.clear()
        elif name == "sentence":
            self._sentences.append(Sentence(self._sentence, tuple(self._tokens), self._language))
            self._tokens.clear()
        elif name in ("wf", "instance"):
            self._tokens.append(self._finished_token(name))
            self._token = {}

    def _finished_token(self, name: str) -> Token:
        form = " ".join("".join(self._letters).split())
        if not form:
            raise self._error(f"this <{name}> has no text", "write the word between its tags")
        lemma, pos = self._token.get("lemma", ""), self._token.get("pos", "")
        if name == "wf":
            # most words come often: one object serves all its places
            known = self._words.get((form, lemma, pos))
            return known or self._words.setdefault((form, lemma, pos), Token(form, lemma, pos))
        instance_id = self._id(name, self._token)
        return Token(form, lemma, pos, instance_id, self._gold.take(instance_id, self._place))

    def _id(self, name: str, attributes: dict[str, str]) -> str:
        if not attributes.get("id"):
            raise self._error(f"this <{name}> has no id", 'write id="..."')
        return attributes["id"]

    def _refuse_entity(self, name: str, *_: object) -> None:
        raise self._error(f"the entity &{name}; is declared", "entities have no place in a corpus: write the text")

    def _error(self, what: str, hint: str) -> InputError:
        return InputError(what, place=self._place(self._token.get("id")), hint=hint)

    def _place(self, instance_id: str | None) -> Place:
        line, column = self._expat.CurrentLineNumber, self._expat.CurrentColumnNumber + 1
        return Place(str(self._path), line, column, item_id=instance_id)


def _open_stream(path: Path) -> IO[bytes]:
    try:
        return cast("IO[bytes]", gzip.open(path)) if path.suffix == ".gz" else path.open("rb")
    except OSError as error:
        raise InputError("this file cannot be opened", place=Place(str(path)), why=str(error)) from error


def _read(stream: IO[bytes], path: Path) -> bytes:
    try:
        return stream.read(_CHUNK)
    except (OSError, EOFError, zlib.error) as error:
        hint = "get the file again"
        raise InputError("this file cannot be read", place=Place(str(path)), why=str(error), hint=hint) from error


def _lines(path: Path) -> list[str]:
    with _open_stream(path) as stream:
        parts = []
        while part := _read(stream, path):
            parts.append(part)
    try:
        return b"".join(parts).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError("this file is not UTF-8", place=Place(str(path)), why=str(error)) from error
