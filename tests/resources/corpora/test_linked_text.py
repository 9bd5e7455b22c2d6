"""Readers of the upstream formats of entity linking, on files of the same format whose sentences were made up here."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.datasets.aida import read_aida_tsv, read_candidates
from lexiscope.datasets.cometa import read_cometa
from lexiscope.resources.corpora.linked_json import read_blink, read_elevant, read_wikimed, read_zelda
from lexiscope.resources.corpora.linked_text import LinkedText, read_pubtator

DATA = Path(__file__).parents[2] / "data" / "el"
Found = list[tuple[str, tuple[str, ...]]]


def mentions(texts: Iterator[LinkedText]) -> Found:
    return [(text.text[mention.start : mention.end], mention.ids) for text in texts for mention in text.mentions]


def test_aida_tsv() -> None:
    """Tokens joined by spaces, sentences by line ends; B and I are one mention; --NME-- has no page; splits by name."""
    texts = list(read_aida_tsv(DATA / "aida_made_up.tsv"))
    assert [(text.document_id, text.split, text.title) for text in texts] == [
        ("1", "train", "GARDEN"),
        ("947", "testa", "ROWING"),
        ("1163", "testb", "WINE"),
    ]
    assert texts[0].text == "Lincoln opened its gardens .\nMary Wren of New York Oxford came ."
    # New York and Oxford stand side by side: B begins a mention
    assert mentions(iter(texts[:1])) == [
        ("Lincoln", ("Lincoln,_England",)),
        ("Mary Wren", ()),
        ("New York", ("New_York_City",)),
        ("Oxford", ("Oxford",)),
    ]
    assert mentions(iter(texts[2:])) == [("Cordoba", ("Córdoba,_Spain",))]


def test_aida_candidates(tmp_path: Path) -> None:
    """Candidates by falling number of links, then by title; mentions are numbered in their document; gzip or not."""
    plain = DATA / "candidates_made_up.jsonl"
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    found = list(read_candidates(plain))
    assert found == list(read_candidates(packed))
    assert found[0].candidates == (("Lincoln,_Nebraska", 12), ("Abraham_Lincoln", 9), ("Lincoln,_England", 9))
    assert [(each.number, each.page) for each in found] == [(1, "Lincoln,_England"), (2, None)]


def test_elevant() -> None:
    """A label with a Wikidata id is linked; another one says of what kind it is."""
    found = list(read_elevant(DATA / "elevant_made_up.jsonl"))
    assert mentions(iter(found)) == [("Paris", ("Q167646",)), ("Troy", ("Q22647",)), ("1250", ())]
    assert [mention.kind for mention in found[0].mentions] == ["linked", "linked", "DATETIME"]


def test_zelda() -> None:
    """Titles by span; a span that begins inside a word is set aside."""
    (found,) = read_zelda(DATA / "zelda_made_up.jsonl")
    assert [name for name, _ in mentions(iter([found]))] == ["Salt Road", "Alps", "Turin"]
    assert [(each.written, each.at_offsets) for each in found.misplaced] == [("Salt", "d salt")]


def test_blink() -> None:
    """The contexts meet the mention with a space; a stop or comma follows at once; spaces of the mention go outside."""
    found = list(read_blink(DATA / "links_made_up.jsonl"))
    assert [each.text[each.start : each.end] for each in found] == ["Jersey", "Jersey", "Mercury", "mercury"]
    assert found[0].text == "The ferry to Jersey left at noon."
    assert found[2].text == "Mercury, seen at dusk, is a planet."
    assert (found[0].page_id, found[0].title, found[0].description) == ("p1", "Jersey", "An island in the Channel.")


def test_wikimed() -> None:
    """Each span has the mention's letters; a link may name several concepts; the split is the file's."""
    found = list(read_wikimed(DATA / "wikimed_made_up.jsonl"))
    assert mentions(iter(found)) == [("cold", ("U1",)), ("cold", ("U1", "U2")), ("rash", ("U3",))]
    assert [text.split for text in found] == ["train", "test"]


def test_cometa() -> None:
    """Nothing is quoted; general and specific concept stand side by side."""
    found = list(read_cometa(DATA / "cometa_made_up" / "train.csv"))
    assert found[0].example == 'my headache is back "again"'
    assert (found[2].general[0], found[2].specific[0], found[2].line) == ("S3", "S4", 4)


def test_pubtator() -> None:
    """Offsets go through title, a separator and abstract; composite concepts are split; other letters are set aside."""
    found = list(read_pubtator(DATA / "abstracts_made_up.pubtator"))
    assert mentions(iter(found)) == [
        ("sore throat", ("M1",)),
        ("Fever", ("M2",)),
        ("Fever and chills", ("M2", "M3")),
        ("Ache", ()),
    ]
    (aside,) = found[0].misplaced
    assert (aside.line, aside.written, aside.at_offsets) == (6, "the throat ", "The throat ")


def first_line(name: str, **changed: object) -> str:
    return json.dumps(json.loads((DATA / name).read_text(encoding="utf-8").splitlines()[0]) | changed) + "\n"


FAULTS: list[tuple[Callable[[Path], Iterator[object]], str, str]] = [
    (read_aida_tsv, "EU\n", "no document begins"),
    (read_aida_tsv, "-DOCSTART- (1 A)\nEU\tB\n", "4 to 7 columns"),
    (read_aida_tsv, "-DOCSTART- (1 A)\nWren\tI\tMary Wren\t--NME--\n", "I continues a mention"),
    (read_aida_tsv, "-DOCSTART- (1 A)\nOslo\tB\tBergen\t--NME--\n", "'Oslo' are not the mention 'Bergen'"),
    (read_candidates, first_line("candidates_made_up.jsonl", candidates=[["a"]]), "not a candidate"),
    (read_elevant, first_line("elevant_made_up.jsonl", labels=[{"span": [0, 99], "entity_id": "Q1"}]), "not a span"),
    (read_elevant, first_line("elevant_made_up.jsonl", text=None), "field 'text' must be text"),
    (read_zelda, first_line("zelda_made_up.jsonl", index=[[0, 3]]), "1 spans do not belong to 4 titles"),
    (read_zelda, first_line("zelda_made_up.jsonl", wikipedia_titles=[None] * 4), "not a title"),
    (read_blink, first_line("links_made_up.jsonl", mention=" "), "mention is empty"),
    (
        read_wikimed,
        first_line(
            "wikimed_made_up.jsonl",
            mentions=[{"mention": "flu", "start_offset": 4, "end_offset": 8, "link_id": "U1"}],
        ),
        "is 'cold', not the mention 'flu'",
    ),
    (read_wikimed, "[1]\n", "not a JSON object"),
    (read_wikimed, "{\n", "not JSON"),
    (read_cometa, "ID\tTerm\n", "are not there once each"),
    (read_pubtator, "1|t|A\n1\t0\n", "no mention of 1"),
    (read_pubtator, "1|a|A\n", "no title line"),
    (read_pubtator, "1|t|A\n2|t|B\n", "another document"),
]


@pytest.mark.parametrize(("reader", "content", "said"), FAULTS)
def test_what_is_not_in_the_format_is_named(
    reader: Callable[[Path], Iterator[object]], content: str, said: str, tmp_path: Path
) -> None:
    """Each fault is named with file and line."""
    path = tmp_path / "broken"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=said) as caught:
        list(reader(path))
    assert caught.value.place is not None
    assert caught.value.place.path == str(path)
    assert caught.value.place.line


@pytest.mark.parametrize("cell", ["", "\t"])
def test_a_row_of_cometa_is_whole(cell: str, tmp_path: Path) -> None:
    """A missing term or a further cell is named with its line."""
    header, row = (DATA / "cometa_made_up" / "dev.csv").read_text(encoding="utf-8").splitlines()
    path = tmp_path / "dev.csv"
    path.write_text(f"{header}\n{row.replace('tired', cell, 1)}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"dev\.csv:2"):
        list(read_cometa(path))


@pytest.mark.parametrize("reader", sorted({each[0] for each in FAULTS}, key=lambda reader: reader.__name__))
def test_an_empty_file_is_no_corpus(reader: Callable[[Path], Iterator[object]], tmp_path: Path) -> None:
    """A file that was cut off to nothing is refused, and so is one in another encoding."""
    path = tmp_path / "empty"
    path.write_bytes(b"\n")
    with pytest.raises(InputError, match="empty"):
        list(reader(path))
    path.write_bytes("Córdoba".encode("latin-1"))
    with pytest.raises(InputError, match="UTF-8"):
        list(reader(path))
