"""AIDA CoNLL-YAGO: names in news texts, linked to Wikipedia, with candidate pages; texts masked or the user's.

A name in 64 words on either side, its candidate pages as options, the title of its page as gold. The news texts may not
be passed on: :func:`load` has development and test texts with masked words, :func:`load_texts` reads the file of a
user who has them, and :func:`mentions` has links and candidates without text.

``AIDA-YAGO2-dataset.tsv`` has one token per line; ``-DOCSTART- (1 EU)`` begins a document, an empty line ends a
sentence. The line of a token in a mention has further columns: B or I, the whole mention, the YAGO2 entity or
``--NME--``, and, if it is linked, the Wikipedia URL, the Wikipedia id, and perhaps the Freebase id.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from pathlib import Path
from urllib.parse import unquote

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard, SetAside
from lexiscope.core.errors import InputError, Place, SpecError
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import ResponseTable
from lexiscope.items.answers.search_space import SearchSpace
from lexiscope.items.read.linked_items import linked_items, word_window
from lexiscope.resources import fetch
from lexiscope.resources.corpora.linked_json import read_elevant
from lexiscope.resources.corpora.linked_text import Line, LinkedText, Mention, json_lines
from lexiscope.resources.tables.plain_lines import read_lines

__all__ = ["CARD", "OPTIONS", "TEXTS", "load", "load_texts", "mentions", "search_space"]

OPTIONS = ("texts",)
"""What may follow the name: ``aida?texts=full`` if the news texts are in a data folder."""
_SPLITS = {"train": "train", "testa": "dev", "testb": "test"}


def load(*, texts: str = "masked") -> Dataset:
    """Return the linked mentions of the development and test texts, in which many words are masked.

    With *texts* ``full`` those of all parts, from the news texts in a data folder: :func:`load_texts`.
    Errors: :class:`~lexiscope.core.errors.DataError` for a file that is missing or not the published one;
    :class:`~lexiscope.core.errors.SpecError` for another word.
    """
    if texts not in ("masked", "full"):
        raise SpecError(f"aida has no texts {texts!r}", hint="use masked or full")
    return load_texts() if texts == "full" else _masked_dataset()


def _masked_dataset() -> Dataset:
    listed = _mentions_by_document(mentions())
    candidates = fetch.locate(CANDIDATES, dataset=CARD.name)
    checksums = [(CANDIDATES.path, candidates.sha256)]
    items: list[Item] = []
    aside: list[SetAside] = []
    for split, file in MASKED.items():
        located = fetch.locate(file, dataset=CARD.name)
        checksums.append((file.path, located.sha256))
        # ELEVANT counts documents from 0
        read = [replace(text, document_id=str(int(text.document_id) + 1)) for text in read_elevant(located.path)]
        for item, partner in _items_and_candidates(read, split, listed, masked=True):
            if partner is None or partner.page is None:
                usage = item.usages[0]
                cells = (("item", item.item_id), ("mention", usage.target), ("wikidata", item.gold or ""))
                aside.append(SetAside(file.path, 0, "this mention has no partner in the list of candidates", cells))
            else:
                items.append(_with_candidates(item, partner))
    return Dataset(CARD, tuple(items), ResponseTable.empty(), tuple(checksums), set_aside=tuple(aside))


def load_texts(path: Path | None = None) -> Dataset:
    """Return the linked mentions of all parts from ``AIDA-YAGO2-dataset.tsv``: the user's copy, or in a data folder.

    If the file of candidates is present, they are the options; a mention that it does not list has none.
    Errors: :class:`~lexiscope.core.errors.DataError` if the texts are missing (how to obtain them);
    :class:`~lexiscope.core.errors.InputError` with file and line for what is not in their format.
    """
    whole = fetch.own_file(path) if path else fetch.locate(TEXTS, dataset=CARD.name)
    there = fetch.locate_optional(CANDIDATES, dataset=CARD.name)
    listed = _mentions_by_document(read_candidates(there.path)) if there is not None else {}
    items: list[Item] = []
    texts = tuple(read_aida_tsv(whole.path))
    for part, split in _SPLITS.items():
        pairs = _items_and_candidates([text for text in texts if text.split == part], split, listed, masked=False)
        items += [item if partner is None else _with_candidates(item, partner) for item, partner in pairs]
    return Dataset(CARD, tuple(items), ResponseTable.empty(), ((TEXTS.path, whole.sha256),))


def mentions() -> tuple[CandidateMention, ...]:
    """Return all 30,428 mentions with links and candidates, without their texts.

    Errors: :class:`~lexiscope.core.errors.DataError` for a file that is missing or not the published one.
    """
    return tuple(read_candidates(fetch.locate(CANDIDATES, dataset=CARD.name).path))


def search_space() -> SearchSpace:
    """Return the pages that are a candidate of any mention, or right for one, by title; without descriptions.

    Errors: those of :func:`mentions`.
    """
    listed = mentions()
    titles = {title for mention in listed for title, _ in mention.candidates}
    linked = {mention.page for mention in listed if mention.page}
    return SearchSpace.of_pages("candidate pages of aida", titles | linked)


def _items_and_candidates(
    texts: Sequence[LinkedText], split: str, listed: Mapping[str, Sequence[CandidateMention]], *, masked: bool
) -> Iterable[tuple[Item, CandidateMention | None]]:
    """Return the items of texts, each with the listed mention that it is."""
    partners = {text.document_id: align_mentions(text, listed.get(text.document_id, ())) for text in texts}

    def conditions(_text: LinkedText, mention: Mention) -> Mapping[str, Condition]:
        return {"masked": masked, **({"wikidata": mention.ids[0]} if masked else {})}

    linked = linked_items(texts, dataset=CARD.name, split=split, shown=word_window(), conditions=conditions)
    for item in linked.items:
        document, number = item.item_id.split("/")[-2:]
        yield item, partners[document].get(int(number))


def _with_candidates(item: Item, partner: CandidateMention) -> Item:
    """Return an item with its candidates as options, and the title of its page as gold."""
    titles = tuple(title for title, _ in partner.candidates)
    return replace(item, options=titles, gold=partner.page or item.gold)


def _mentions_by_document(listed: Iterable[CandidateMention]) -> dict[str, list[CandidateMention]]:
    mentions_of: dict[str, list[CandidateMention]] = {}
    for mention in listed:
        mentions_of.setdefault(str(mention.document), []).append(mention)
    return mentions_of


# -- alignment ------------------------------------------------------------------------------------------------------
# Which mention of AIDA's list of candidates is which mention of a text: by document, and by the order of letters.


def align_mentions(text: LinkedText, listed: Sequence[CandidateMention]) -> dict[int, CandidateMention]:
    """Return the listed mention of each mention of a text, by the number of the mention from 1.

    Both lists go in the order of the text; a text may hold mentions that are not listed (those of another annotation),
    which stay without partner. White space and case do not count.
    """
    here = [_letters(text.text[mention.start : mention.end]) for mention in text.mentions]
    there = [_letters(mention.printed) for mention in listed]
    partners: dict[int, CandidateMention] = {}
    for block in SequenceMatcher(None, here, there, autojunk=False).get_matching_blocks():
        for step in range(block.size):
            partners[block.a + step + 1] = listed[block.b + step]
    return partners


def _letters(mention: str) -> str:
    return "".join(mention.split()).casefold()


# -- the card of AIDA CoNLL-YAGO and its files ----------------------------------------------------------------------


CANDIDATES = DataFile(
    "el/aida/aida_candidates.jsonl.gz", sha256="80b85e4ebc0c87135a8b972b936cc73f1b8599b55ced64d71ffd3113f9cd6ea6"
)
MASKED = {
    "dev": DataFile(
        "el/elevant/aida-conll-dev.benchmark.jsonl",
        sha256="16432212479cc3938336993ade68dcc19064a70aafc7a7ca28831aa47152f65c",
    ),
    "test": DataFile(
        "el/elevant/aida-conll-test.benchmark.jsonl",
        sha256="9a841479da485c7457776e7c8a0919fede197ebd77fc3e5e32c440da7163ead5",
    ),
}
TEXTS = DataFile("el/aida/AIDA-YAGO2-dataset.tsv", optional=True)
"""The news texts, which may not be redistributed; their checksum was never published."""
_ELEVANT = "8df933fa0a8f54e3e682dc124761c01d48484359"
_CANDIDATES = "1cdd4c0c4f12d88efdea34098b1c168745caf3ec"
CARD = DatasetCard(
    name="aida",
    title="AIDA CoNLL-YAGO: names in news texts and their Wikipedia pages (development and test, texts masked in part)",
    task="entity_link",
    language="en",
    licence="annotations: CC BY-SA 3.0; the Reuters texts may not be redistributed; masked texts: Apache-2.0 (ELEVANT)",
    citation=(
        "J. Hoffart et al. (2011). Robust Disambiguation of Named Entities in Text. EMNLP 2011, 782-792; candidates: "
        "M. Pershina, Y. He, R. Grishman (2015). Personalized Page Rank for Named Entity Disambiguation. NAACL 2015, "
        "238-243; masked texts: H. Bast, M. Hertel, N. Prange (2022). ELEVANT. EMNLP 2022 demonstrations"
    ),
    source="https://www.mpi-inf.mpg.de/departments/databases-and-information-systems/research/ambiverse-nlu/aida",
    version=f"candidates: masha-p/PPRforNED {_CANDIDATES}; masked texts: ad-freiburg/elevant {_ELEVANT}",
    availability="obtain",
    summary="9,272 linked names in news texts (dev and test) with their candidate pages; many words are masked.",
    files=(CANDIDATES, *MASKED.values(), TEXTS),
    counts=(("items", 9_272), ("words", 3_330), ("sentences", 8_569), ("set_aside", 1)),
    how_to_obtain=(
        "the texts belong to Reuters: if you have the Reuters corpus, make AIDA-YAGO2-dataset.tsv with the tool of "
        f"AIDA's authors; put it at {TEXTS.path}, or call aida.load_texts(PATH). Masked texts: take "
        f"benchmarks/aida-conll-dev.benchmark.jsonl and aida-conll-test.benchmark.jsonl of ad-freiburg/elevant at "
        f"{_ELEVANT}. Candidates: {CANDIDATES.path} is made of AIDA_candidates of masha-p/PPRforNED at {_CANDIDATES}, "
        "a JSON object per line (doc, split, text, origText, gold, candidates). Put them in a folder and set "
        "LEXISCOPE_DATA to it"
    ),
    first_item="aida/dev/947/1",
    last_item="aida/test/1393/28",
    remarks=(
        "load() has development (testa) and test (testb) texts in which many words that are no mention are masked by "
        "asterisks, by ELEVANT, for copyright: figures on them are not those of the full texts.",
        "Training items need the texts: load_texts. mentions() has all 30,428 mentions, links and candidates without "
        "text, those of the training part too.",
        "Options are the candidates by falling number of links, then by title: in the source the correct one is first.",
        "A mention of test document 1341 whose masked text and list of mentions do not agree is set aside.",
        "Gold is a title of Wikipedia of 2010 to 2012; the condition wikidata is the id in ELEVANT.",
        "The paper searched all of Wikipedia; search_space() has the pages that are a candidate of any mention.",
    ),
)


NOT_IN_KB = "--NME--"
_START = re.compile(r"-DOCSTART- \((\d+)(testa|testb)? ?(.*)\)\Z")
_PAGE = re.compile(r"https?://en\.wikipedia\.org/wiki/(\S+)\Z")
_LONGEST = 7


@dataclass(slots=True)
class _OpenDocument:
    """The document that is being read: its text so far, and its mentions with their letters."""

    document_id: str
    split: str
    title: str
    text: str = ""
    ends_sentence: bool = False
    mentions: list[tuple[Mention, str]] = field(default_factory=list)

    def add(self, cells: list[str]) -> str | None:
        """Add a token; return what is wrong with its line, or ``None``."""
        joint = "" if not self.text else "\n" if self.ends_sentence else " "
        start = len(self.text) + len(joint)
        continues = cells[1:2] == ["I"] and not self.ends_sentence and bool(self.mentions)
        if continues and self.mentions[-1][0].end != len(self.text):
            continues = False
        self.text, self.ends_sentence = f"{self.text}{joint}{cells[0]}", False
        if len(cells) == 1:
            return None
        if not 4 <= len(cells) <= _LONGEST or cells[1] not in ("B", "I"):
            return "a token in a mention has 4 to 7 columns: token, B or I, mention, entity, URL, id, Freebase id"
        if cells[1] == "I" and not continues:
            return "I continues a mention, and none ends before this token"
        if continues:
            before, letters = self.mentions.pop()
            self.mentions.append((replace(before, end=len(self.text)), letters))
        else:
            self.mentions.append((Mention(start, len(self.text), *_linked(cells)), cells[2]))
        return None

    def linked_text(self) -> LinkedText:
        """Return the text with its mentions."""
        return LinkedText(
            self.document_id, self.text, tuple(mention for mention, _ in self.mentions), self.title, self.split
        )

    def wrong_letters(self) -> str | None:
        """Return what is wrong with the first mention whose tokens are not its letters, or ``None``."""
        for mention, letters in self.mentions:
            tokens = self.text[mention.start : mention.end]
            if "".join(tokens.split()) != "".join(letters.split()):
                return f"the tokens {tokens!r} are not the mention {letters!r}"
        return None


def read_aida_tsv(path: Path) -> Iterator[LinkedText]:
    """Iterate over the documents; ``split`` is train, testa or testb, a line of the text is a sentence.

    Tokens are joined by single spaces. A mention is linked to the title of its Wikipedia page (with underscores), else
    to its YAGO2 entity; ``--NME--`` gives a mention without ids.
    Errors: :class:`InputError` with file and line: no DOCSTART before the first token, another number of columns, I
    without B, letters of the tokens that are not those of the mention.
    """
    document: _OpenDocument | None = None
    lines = read_lines(path)
    for row, line in enumerate(lines.lines):
        start = _START.match(line.strip())
        if start is not None:
            if document is not None:
                yield _finished_document(path, row + 1, document)
            document = _OpenDocument(start[1], start[2] or "train", start[3])
        elif not line.strip():
            if document is not None:
                document.ends_sentence = True
        else:
            wrong = "no document begins before this line: -DOCSTART- (1 NAME)"
            fault = wrong if document is None or line.startswith("-DOCSTART-") else document.add(lines.split(row))
            if fault is not None:
                lines.refuse(row, fault, hint="get the file again")
    if document is not None:
        yield _finished_document(path, len(lines), document)


def _finished_document(path: Path, number: int, document: _OpenDocument) -> LinkedText:
    wrong = document.wrong_letters()
    if wrong is not None:
        what = f"document {document.document_id}, which ends before this line: {wrong}"
        raise InputError(what, place=Place(str(path), number), hint="get the file again")
    return document.linked_text()


def _linked(cells: list[str]) -> tuple[tuple[str, ...], str]:
    """Return the page of a mention, and the YAGO2 entity as its kind."""
    if cells[3] == NOT_IN_KB:
        return (), NOT_IN_KB
    page = _PAGE.match(cells[4]) if len(cells) > 4 else None
    return (unquote(page[1]) if page else cells[3],), cells[3]


# -- the mentions of AIDA with their candidate pages (PPRforNED), without the news text they belong to --------------


@dataclass(frozen=True, slots=True)
class CandidateMention:
    """A mention: its place, its page (``None`` = not in the knowledge base), and the pages that it may mean.

    ``candidates`` are titles with the number of links that lead to them, by descending number and then by title: the
    order does not show which one is right. ``printed`` is the mention as the news text has it. ``number`` counts the
    mentions of a document from 1.
    """

    document: int
    split: str
    number: int
    text: str
    printed: str
    page: str | None
    candidates: tuple[tuple[str, int], ...]


def read_candidates(path: Path) -> Iterator[CandidateMention]:
    """Iterate over the mentions of a file of JSON lines, compressed with gzip or not, in the order of the documents.

    Errors: :class:`InputError` with file and line: a field that is missing, a candidate that is no title with a count.
    """
    number, document = 0, -1
    for line in json_lines(path, _read_bytes):
        number, document = (number + 1 if line.integer("doc") == document else 1), line.integer("doc")
        page = line.text("gold") if line.has("gold") else None
        yield CandidateMention(
            document=document,
            split=line.text("split"),
            number=number,
            text=line.text("text"),
            printed=line.text("origText"),
            page=page,
            candidates=_candidates(line),
        )


def _candidates(line: Line) -> tuple[tuple[str, int], ...]:
    candidates: list[tuple[str, int]] = []
    for candidate in line.values("candidates"):
        if not (
            isinstance(candidate, list)
            and len(candidate) == 2
            and isinstance(candidate[0], str)
            and isinstance(candidate[1], int)
        ):
            raise line.error(f"{candidate!r} is not a candidate: a title and a number of links")
        candidates.append((candidate[0], candidate[1]))
    return tuple(sorted(candidates, key=lambda candidate: (-candidate[1], candidate[0])))


def _read_bytes(path: Path) -> bytes:
    data = path.read_bytes()
    try:
        return gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, EOFError, zlib.error) as error:
        hint = "get the file again"
        raise InputError("this file cannot be unpacked", place=Place(str(path)), why=str(error), hint=hint) from error
