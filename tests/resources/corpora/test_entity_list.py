"""Lists of entities: what a search finds and in which order, its speed in steps, and files that are refused."""

from __future__ import annotations

import random
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core.errors import InputError
from lexiscope.resources.corpora.entity_list import Entity, EntityList, normalise, write_entities

PARIS = (
    Entity("Q4", "Paris Saint-Germain", ("PSG",), "football club"),
    Entity("Q1", "Paris", ("Lutetia", "City of Light"), "capital of France"),
    Entity("Q3", "Paris, Texas", (), "city in Texas"),
    Entity("Q2", "Treaty of Paris (1783)"),
    Entity("Q5", "PSG College", (), "college in Coimbatore"),
    Entity("Q6", "Zürich"),
    Entity("Q7", "Hilton", ("Paris Hilton",)),
)
LIST = EntityList(PARIS)

words = st.text(st.sampled_from("abé "), min_size=1, max_size=8).filter(str.strip)
lists = st.lists(st.tuples(words, st.lists(words, max_size=2)), min_size=1, max_size=25)


def titles(query: str, limit: int = 10) -> list[str]:
    return [entity.title for entity in LIST.search(query, limit)]


def test_the_exact_title_comes_first_then_beginnings_then_words() -> None:
    """Exact title, names that begin so in alphabetical order, then entities that hold the words."""
    assert titles("paris") == ["Paris", "Hilton", "Paris Saint-Germain", "Paris, Texas", "Treaty of Paris (1783)"]
    assert titles("paris", limit=2) == ["Paris", "Hilton"]


def test_another_name_and_an_id_that_equal_the_query_stand_before_beginnings() -> None:
    """PSG is a name of the club and the beginning of a college; an id finds its entity."""
    assert titles("psg") == ["Paris Saint-Germain", "PSG College"]
    assert titles("city of light") == ["Paris"]
    assert titles("Q2") == ["Treaty of Paris (1783)"]
    found = LIST.get("Q1")
    assert found is not None
    assert found.description == "capital of France"
    assert LIST.get("Q99") is None


def test_all_words_are_needed_and_the_last_may_be_unfinished() -> None:
    """Words in any order, the last one as far as it was typed, the others whole."""
    assert titles("1783 par") == ["Treaty of Paris (1783)"]
    assert titles("texas paris") == ["Paris, Texas"]
    assert titles("178 paris") == []
    assert titles("paris london") == []


def test_case_accents_and_form_do_not_count() -> None:
    """ZURICH, zürich and its decomposed form are one query; signs without letters find nothing."""
    for query in ("ZURICH", "zürich", unicodedata.normalize("NFD", "Zürich"), "  zurich "):
        assert titles(query) == ["Zürich"]
    assert titles("") == titles("  ") == titles("?!") == []
    with pytest.raises(InputError, match="at least 1 entity"):
        LIST.search("paris", 0)


def test_vowel_signs_of_indic_scripts_count() -> None:
    """In Devanagari a vowel sign tells words apart: it is no accent."""
    assert normalise("\u0915\u093f") != normalise("\u0915\u0940")
    assert normalise("\u00c9TAT") == "etat"


@given(lists, words, st.integers(1, 8), st.randoms(use_true_random=False))
def test_a_search_finds_what_looking_at_every_entity_finds(
    rows: list[tuple[str, list[str]]], query: str, limit: int, shuffler: random.Random
) -> None:
    """The results equal those of a plain look at every entity, in whatever order the list was given."""
    entities = [Entity(f"Q{n:02}", title, tuple(aliases)) for n, (title, aliases) in enumerate(rows)]
    shuffled = list(entities)
    shuffler.shuffle(shuffled)
    found = EntityList(shuffled).search(query, limit)
    assert found == tuple(entity for entity, _ in sorted(plain_look(entities, query), key=lambda e: e[1]))[:limit]


def plain_look(entities: list[Entity], query: str) -> list[tuple[Entity, tuple]]:
    """Entities with the place that the rule gives them: class, then the alphabet."""
    key = normalise(query)
    found = []
    for entity in entities:
        title, names = normalise(entity.title), [normalise(alias) for alias in entity.aliases]
        place = (title, entity.entity_id)
        begins = [(name, name != title) for name in (title, *names) if name.startswith(key)]
        have = set(" ".join([title, *names]).split())
        *whole, last = key.split()
        if title == key:
            found.append((entity, (0, place)))
        elif key in names:
            found.append((entity, (1, place)))
        elif begins:
            name, other = min(begins)
            found.append((entity, (2, name, other, place)))
        elif set(whole) <= have and any(word.startswith(last) for word in have):
            found.append((entity, (3, place)))
    return found


def test_a_search_looks_at_few_of_many() -> None:
    """Among 20,000 entities a query that begins half of them stops at its limit: it never walks through all."""
    many = EntityList(Entity(str(n), f"{'ab'[n % 2]} {n:05}") for n in range(20_000))
    walked = []
    for number in many._matches("a", "a"):
        walked.append(number)
        if len(walked) == 10:
            break
    assert [many._entities[number].title for number in walked] == [f"a {2 * n:05}" for n in range(10)]
    assert [entity.title for entity in many.search("a 199")] == [f"a {n:05}" for n in range(19_900, 19_920, 2)]


def test_a_file_is_read(tmp_path: Path) -> None:
    """Columns in any order, byte-order mark, CRLF, quotation marks as they stand; without ids the title is the id."""
    path = tmp_path / "pages.tsv"
    path.write_bytes('\ufefftitle\taliases\r\n"Heroes" (song)\tHeroes|Helden\r\n\r\nHero\t\r\n'.encode())
    found = EntityList.read(path)
    assert len(found) == 2
    assert found.search("helden") == (Entity('"Heroes" (song)', '"Heroes" (song)', ("Heroes", "Helden"), ""),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id\tname\nQ1\tx\n", r"pages\.tsv:1: the columns of a list of entities are id, title"),
        ("title\ttitle\nx\ty\n", r"pages\.tsv:1: the columns"),
        ("title\n", r"pages\.tsv:1: this list has no entities"),
        ("", r"pages\.tsv:1: this file is empty"),
        ("id\ttitle\nQ1\tx\nQ2\n", r"pages\.tsv:3: this row has 1 cells, the header has 2"),
        ("id\ttitle\nQ1\tx\nQ2\t \n", r"pages\.tsv:3: this entity has no title"),
        ("id\ttitle\nQ1\tx\nQ1\ty\n", r"pages\.tsv:3: the id 'Q1' is already in line 2"),
        ("title\nx\nx\n", r"pages\.tsv:3: the id 'x' is already in line 2"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    """Every fault names file and line."""
    path = tmp_path / "pages.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        EntityList.read(path)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """A file that is not there, and bytes that are not UTF-8, named with the line on which they stand."""
    with pytest.raises(InputError, match=r"none\.tsv: \[E001\] the file cannot be read"):
        EntityList.read(tmp_path / "none.tsv")
    path = tmp_path / "latin.tsv"
    path.write_bytes("title\nParis\nZürich\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.tsv:3: this file is not UTF-8: byte 0xfc"):
        EntityList.read(path)
    with pytest.raises(InputError, match="two entities have the id 'x'"):
        EntityList([Entity("x", "a"), Entity("x", "b")])


def test_what_somebody_wrote_names_an_entity_or_none() -> None:
    """Id, title, another name, address with and without escapes; a name of two entities names none."""
    found = EntityList(
        [
            Entity("Q1", "Córdoba", ("Corduba",)),
            Entity("Q2", "Córdoba (Argentina)", ("Cordoba city",)),
            Entity("Q3", "Salt", ("Twin",)),
            Entity("Q4", "Salt_(film)", ("Twin",)),
        ]
    )
    named = {
        "Q2": "Q2",
        "cordoba": "Q1",
        " Corduba ": "Q1",
        "https://es.example.org/wiki/C%C3%B3rdoba_(Argentina)": "Q2",
        "http://example.org/Salt/": "Q3",
        "Salt_(film)": "Q4",
        "Twin": None,
        "Salta": None,
        "": None,
    }
    for text, wanted in named.items():
        entity = found.find_named(text)
        assert (None if entity is None else entity.entity_id) == wanted, text


def test_a_list_that_was_written_is_read(tmp_path: Path) -> None:
    """Ids, titles, names and descriptions come back; a line end in a description becomes a space."""
    listed = [Entity("Q1", "Salt", ("table salt", "halite"), "a mineral"), Entity("Q2", "Salt (film)", (), "a film")]
    broken = [listed[0], Entity("Q2", "Salt (film)", (), "a\n\tfilm")]
    write_entities(tmp_path / "pages.tsv", broken)
    assert list(EntityList.read(tmp_path / "pages.tsv")) == listed
