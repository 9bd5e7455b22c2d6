"""B27: the encoders of the context–word bias study are known by the names that it gives them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import huggingface_hub
import pytest

from lexiscope.subjects.local._model_folder import HUB_IDS, PUBLISHED, locate_folder
from lexiscope.subjects.local.causal_lm import CausalLM
from lexiscope.subjects.local.encoder import Encoder
from lexiscope.subjects.local.masked_lm import MaskedLM
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


@pytest.mark.parametrize(("model", "writes_texts"), [(Encoder, False), (MaskedLM, False), (CausalLM, True)])
def test_the_hub_is_asked_for_settings_of_generation_only_where_texts_are_written(
    model: Callable[[str], Encoder | MaskedLM | CausalLM],
    writes_texts: bool,
    tiny: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Weights, configuration and tokenizer are fetched for every model; ``generation_config.json`` for a causal one."""
    asked: list[str] = []

    def download(_: str, *, allow_patterns: list[str], **__: object) -> str:
        asked.extend(allow_patterns)
        return str(tiny("bert"))

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert model("org/model").folder.path == tiny("bert")
    assert {"*.safetensors", "config.json", "tokenizer.json"} < set(asked)
    assert ("generation_config.json" in asked) == writes_texts
