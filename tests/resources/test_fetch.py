"""Finding data files: the named folder first, the cache next, and only the pinned bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from lexiscope.core import catalog
from lexiscope.core.dataset import DataFile, DatasetCard
from lexiscope.core.errors import DataError
from lexiscope.resources import fetch

CONTENT = b"word,rating\nbank,3\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
PINNED = DataFile("toy/table.csv", "http://127.0.0.1:9/v1/table.csv", SHA256)
UNPINNED = DataFile("toy/other.csv", "http://127.0.0.1:9/v1/other.csv", None, optional=True)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A data folder and a cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LEXISCOPE_DATA", str(tmp_path / "named"))
    return tmp_path / "named", fetch.cache_folder()


def _put(folder: Path, file: DataFile, content: bytes = CONTENT) -> Path:
    path = folder / file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def _card(*files: DataFile, **more: str) -> DatasetCard:
    facts = {"title": "", "task": "relatedness", "language": "en", "licence": "CC0", "citation": "", "source": ""}
    kind = more.pop("availability", "download")
    return DatasetCard("toy", **facts, version="1", availability=kind, summary="", files=files, **more)  # type: ignore[arg-type]


def test_the_named_folder_comes_first(places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """LEXISCOPE_DATA is read when a file is looked for, and precedes the cache."""
    named, cache = places
    in_cache = _put(cache, PINNED)
    assert fetch.find(PINNED, dataset="toy") == in_cache
    in_folder = _put(named, PINNED)
    assert fetch.find(PINNED, dataset="toy") == in_folder
    assert fetch.data_folders() == (named, cache)
    monkeypatch.delenv("LEXISCOPE_DATA")
    assert fetch.find(PINNED, dataset="toy") == in_cache
    assert fetch.data_folders() == (cache,)


def test_a_given_folder_is_the_only_place(places: tuple[Path, Path], tmp_path: Path) -> None:
    """A folder given in the call is not silently replaced by another place."""
    _put(places[0], PINNED)
    with pytest.raises(DataError, match="elsewhere"):
        fetch.find(PINNED, dataset="toy", folder=tmp_path / "elsewhere")


def test_a_missing_file_names_every_place_and_the_way_out(places: tuple[Path, Path]) -> None:
    """The message says where was looked, from which address the file comes, and where to put it."""
    with pytest.raises(DataError) as caught:
        fetch.find(PINNED, dataset="toy")
    for part in (str(places[0] / PINNED.path), str(places[1] / PINNED.path), PINNED.url, "lexiscope data get toy"):
        assert part in str(caught.value)
    assert fetch.locate_optional(UNPINNED, dataset="toy") is None


def test_wrong_bytes_are_refused_even_where_the_cache_has_the_right_ones(places: tuple[Path, Path]) -> None:
    """A changed file is an error that shows path, expected and actual sha256; nothing else is used instead."""
    _put(places[1], PINNED)
    path = _put(places[0], PINNED, CONTENT + b" ")
    with pytest.raises(DataError) as caught:
        fetch.find(PINNED, dataset="toy")
    actual = hashlib.sha256(CONTENT + b" ").hexdigest()
    assert all(part in str(caught.value) for part in (str(path), SHA256, actual, "lexiscope data get toy"))


def test_an_unpinned_file_is_found_and_its_checksum_recorded(places: tuple[Path, Path]) -> None:
    """Where nothing is pinned, the sha256 of what lies there is returned."""
    path = _put(places[0], UNPINNED)
    assert fetch.locate(UNPINNED, dataset="toy") == fetch.FetchedFile(path, SHA256)


def test_check_reports_every_state(places: tuple[Path, Path]) -> None:
    """``check`` tells ok, wrong checksum, missing and not pinned apart, and raises nothing."""
    ok, wrong = PINNED, DataFile("toy/wrong.csv", "", SHA256)
    gone = DataFile("toy/gone.csv", "", SHA256)
    for file, content in ((ok, CONTENT), (wrong, b"x"), (UNPINNED, CONTENT)):
        _put(places[0], file, content)
    found = fetch.file_states(_card(ok, wrong, gone, UNPINNED))
    assert [row.status for row in found] == ["ok", "wrong checksum", "missing", "not pinned"]
    assert [row.actual for row in found] == [SHA256, hashlib.sha256(b"x").hexdigest(), None, SHA256]


def test_what_cannot_be_downloaded_says_how_to_obtain_it(places: tuple[Path, Path]) -> None:
    """A gated dataset gives its instructions, not a failed download."""
    card = _card(PINNED, availability="obtain", how_to_obtain="ask the authors for the archive")
    with pytest.raises(DataError, match="ask the authors for the archive"):
        fetch.get(card)
    assert not places[1].exists()


def test_embedded_files_need_no_network(places: tuple[Path, Path]) -> None:
    """What the package carries is found in the package, whatever the folders hold."""
    card = catalog.card("mini_relatedness")
    paths = fetch.get(card)
    assert [row.status for row in fetch.file_states(card)] == ["ok"] * len(card.files)
    assert [fetch.sha256_of(path) for path in paths] == [file.sha256 for file in card.files]


def test_a_file_without_address_says_where_to_put_it(places: tuple[Path, Path]) -> None:
    """Nothing is tried where no address is known."""
    with pytest.raises(DataError, match=r"has no address\n.*put the file at toy/table\.csv"):
        fetch.get(_card(DataFile("toy/table.csv", "", SHA256)))


def test_a_file_of_ones_own_is_found_as_it_is(tmp_path: Path) -> None:
    """A path that the user names comes with the sha256 of what lies there; nothing pins it."""
    (tmp_path / "own.csv").write_bytes(CONTENT)
    assert fetch.own_file(tmp_path / "own.csv") == fetch.FetchedFile(tmp_path / "own.csv", SHA256)
