"""Lexical resources: what their cards say, and that one packed file stands for many."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.core import catalog
from lexiscope.core.dataset import DataFile
from lexiscope.core.errors import DataError, SpecError
from lexiscope.resources import fetch
from lexiscope.resources.cards import CARDS, ResourceCard, resource

from .conftest import FaultyServer


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of the test's own, and an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LEXISCOPE_DATA", str(tmp_path / "named"))
    return tmp_path / "named"


def _put(folder: Path, file: DataFile, content: bytes) -> Path:
    path = folder / file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def _toy(content: bytes, url: str = "") -> ResourceCard:
    sha256 = hashlib.sha256(content).hexdigest()
    files = tuple(DataFile(f"toy/{name}", url, sha256) for name in ("one.txt", "two.txt"))
    return replace(resource("wordnet"), name="toy", files=files, packed=(DataFile("toy.xz", sha256=sha256),))


@pytest.mark.parametrize("name", CARDS)
def test_a_card_is_complete(name: str) -> None:
    """A card says what, whose, under which licence and how to get it; no dataset has its name."""
    card = CARDS[name]
    said = ("title", "language", "licence", "citation", "source", "version", "summary")
    assert [field for field in said if not getattr(card, field).strip()] == []
    assert (card.name, name in catalog.names("datasets")) == (name, False)
    assert card.availability != "obtain" or card.how_to_obtain
    assert all(number > 0 for _, number in card.counts)


@pytest.mark.parametrize("name", CARDS)
def test_every_file_is_pinned(name: str) -> None:
    """A file lies below the data folder and has a sha256; what is downloaded has an address with a version."""
    for file in CARDS[name].files + CARDS[name].packed:
        assert not os.path.isabs(file.path)
        assert ".." not in file.path
        assert re.fullmatch("[0-9a-f]{64}", file.sha256 or "")
    if CARDS[name].availability == "download":
        assert all(re.match(r"https://\S+/[0-9a-f]{40}/\S+$", file.url) for file in CARDS[name].files)


def test_the_files_are_downloaded_and_verified(server: FaultyServer, content: bytes, data: Path) -> None:
    """All files come into the cache; a second call asks nothing of the server."""
    card = _toy(content, server.url("ok"))
    paths = fetch.get(card)
    assert paths == tuple(fetch.cache_folder() / file.path for file in card.files)
    assert [found.path for found in fetch.locate_all(card)] == list(paths)
    assert (fetch.get(card), server.asked["ok"]) == (paths, 2)


def test_changed_files_are_not_kept(server: FaultyServer, content: bytes) -> None:
    """A file that is not the pinned one is an error, and nothing of it stays."""
    with pytest.raises(DataError, match="sha256 expected"):
        fetch.get(_toy(content, server.url("changed")), wait=lambda seconds: None)
    assert not [path for path in fetch.cache_folder().rglob("*") if path.is_file()]


def test_a_packed_file_stands_for_all(server: FaultyServer, content: bytes, data: Path) -> None:
    """Where the packed file lies it is verified and enough; where the files themselves lie they count."""
    card = _toy(content, server.url("ok"))
    packed = _put(data, card.packed[0], content)
    assert (fetch.get(card), server.asked["ok"]) == ((packed,), 0)
    assert [(row.file, row.status) for row in fetch.file_states(card)] == [(card.packed[0], "ok")]
    assert [found.path for found in fetch.locate_all(card)] == [packed]
    one = _put(data, card.files[0], content)
    assert [row.status for row in fetch.file_states(card)] == ["ok", "missing"]
    assert (fetch.get(card)[0], server.asked["ok"]) == (one, 1)
    packed.write_bytes(b"changed")
    assert len(fetch.locate_all(card)) == 2


def test_what_is_to_be_obtained_is_verified_where_it_lies(content: bytes, data: Path) -> None:
    """By-hand resources say how to get them while a file is missing, and are verified once all are there."""
    card = replace(_toy(content), availability="obtain", how_to_obtain="ask for it", packed=())
    first = _put(data, card.files[0], content)
    for call in (fetch.get, fetch.locate_all):
        with pytest.raises(DataError, match=r"two\.txt(.|\n)*ask for it"):
            call(card)
    second = _put(data, card.files[1], content)
    assert fetch.get(card) == (first, second)
    second.write_bytes(b"changed")
    with pytest.raises(DataError, match="sha256 expected"):
        fetch.locate_all(card)


def test_an_unknown_resource_names_those_there_are() -> None:
    """The error lists the resources."""
    with pytest.raises(SpecError, match="wordnet, semcor"):
        resource("framenet")
