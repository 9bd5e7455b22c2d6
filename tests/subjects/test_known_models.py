"""B27: the encoders of the context–word bias study are known by the names that it gives them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import huggingface_hub
import pytest

from lexiscope.subjects.local._model_folder import HUB_IDS, PUBLISHED, locate_folder
from lexiscope.subjects.local.encoder import Encoder
from lexiscope.training._base import base_of


@pytest.mark.parametrize("name", ["bert-base-uncased", "roberta-base", "pubmedbert", "deberta-large"])
def test_a_known_name_stands_for_a_hub_id(
    name: str, tiny: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hub is asked for the id; facts and records keep the name, and say where it comes from."""
    asked = []

    def download(repo: str, **_: object) -> str:
        asked.append(repo)
        return str(tiny("bert"))

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert locate_folder(name, "", allow=()).path == tiny("bert")
    assert base_of(name).record()["name"] == name
    facts = Encoder(name).facts
    assert set(asked) == {HUB_IDS[name]}
    assert (facts.title, facts.source) == (PUBLISHED[name]["title"], HUB_IDS[name])
    assert facts.languages == ("en",)
