"""Addresses of the Hugging Face Hub: their grammar, and the folder that they lead to. No test uses the network."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from lexiscope.core.errors import DataError, SpecError
from lexiscope.resources import fetch
from lexiscope.resources.fetch import HubAddress, download_from_hub, is_hub_address


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("hf://datasets/lab/norms", ("lab/norms", "", "")),
        ("hf://datasets/lab/norms@v1", ("lab/norms", "v1", "")),
        ("hf://datasets/lab/norms@refs/convert/parquet", ("lab/norms", "refs/convert/parquet", "")),
        ("hf://datasets/lab/norms/ratings/", ("lab/norms", "", "ratings")),
    ],
)
def test_an_address_has_name_revision_and_folder(text: str, parts: tuple[str, str, str]) -> None:
    """A revision may hold slashes; what is behind the name without one is a folder or file."""
    address = HubAddress.parse(text)
    assert is_hub_address(text)
    assert (address.name, address.revision, address.inner) == parts


@pytest.mark.parametrize("text", ["hf://models/lab/bert", "hf://datasets/norms", "hf://"])
def test_another_address_is_an_error(text: str) -> None:
    """The hint has the form that is read."""
    with pytest.raises(SpecError, match="is not the address of a dataset"):
        HubAddress.parse(text)


def test_a_folder_is_downloaded_once_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the library of the Hub is asked for: name, revision, tables and card; a folder inside is returned."""
    asked: list[tuple[str, dict[str, object]]] = []

    def snapshot(name: str, **given: object) -> str:
        asked.append((name, given))
        return str(tmp_path)

    monkeypatch.setattr(fetch, "require", lambda *_: SimpleNamespace(snapshot_download=snapshot))
    (tmp_path / "ratings").mkdir()
    assert download_from_hub(HubAddress("lab/norms", "v1")) == tmp_path
    assert download_from_hub(HubAddress("lab/norms", inner="ratings")) == tmp_path / "ratings"
    assert [(name, given["revision"]) for name, given in asked] == [("lab/norms", "v1"), ("lab/norms", None)]
    assert "*.parquet" in str(asked[0][1]["allow_patterns"])
    with pytest.raises(DataError, match="has no 'items'"):
        download_from_hub(HubAddress("lab/norms", inner="items"))


def test_a_dataset_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the Hub or the network says is the reason, in one line."""

    def fail(*_: object, **__: object) -> str:
        raise OSError("404: no such repository\nmore")

    monkeypatch.setattr(fetch, "require", lambda *_: SimpleNamespace(snapshot_download=fail))
    with pytest.raises(DataError, match=r"could not get lab/norms from the Hub") as caught:
        download_from_hub(HubAddress("lab/norms"))
    assert caught.value.why == "404: no such repository"
