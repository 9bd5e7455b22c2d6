"""On every device of this machine, with the batches of an accelerator, models answer as on the processor.

On a machine with a GPU, ``pytest -k "device or cuda"`` runs these tests and those of training there.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from lexiscope.core.usage import Usage
from lexiscope.subjects._options import Device
from lexiscope.subjects._scoring_options import CausalOptions
from lexiscope.subjects.local.causal_lm import CausalLM
from lexiscope.subjects.local.encoder import Encoder, EncoderOptions
from lexiscope.subjects.local.masked_lm import MaskedLM, MaskedOptions

from .conftest import CORPUS
from .local.test_masked_lm import save_tiny as save_masked

Folders = Callable[[str], Path]
AVAILABLE: dict[Device, bool] = {
    "cpu": True,
    "cuda": torch.cuda.is_available(),
    "mps": torch.backends.mps.is_available(),
}
on_every_device = pytest.mark.parametrize("device", [name for name, is_there in AVAILABLE.items() if is_there])


def close(found: np.ndarray, expected: np.ndarray) -> None:
    """An accelerator adds in another order, and multiplies with other instructions."""
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


@on_every_device
@pytest.mark.parametrize("architecture", ["bert", "modernbert", "gpt2", "t5_encoder"])
def test_vectors_of_a_device(architecture: str, device: Device, tiny: Folders) -> None:
    """Every layer of every target."""
    shown = [(text, text.index(word)) for text in CORPUS for word in ("bank", "bark") if word in text]
    usages = [Usage(text, start, start + 4) for text, start in shown]
    expected = Encoder(str(tiny(architecture))).embed(usages)
    found = Encoder(str(tiny(architecture)), options=EncoderOptions(device=device, batch_tokens=16_384)).embed(usages)
    close(found, expected)


@on_every_device
@pytest.mark.parametrize("route", ["tree", "batched", "single"])
@pytest.mark.parametrize("architecture", ["gpt2", "qwen2"])
def test_scores_of_a_device(architecture: str, route: str, device: Device, causal: Folders) -> None:
    """Every token of texts that begin alike, through the tree of their beginnings too."""
    texts = [*dict.fromkeys(CORPUS), *(f"He scraped the {word} of the tree." for word in ("bark", "rind", "bank"))]
    expected = CausalLM(str(causal(architecture)), options=CausalOptions(route="single")).score(texts)
    how = CausalOptions(device=device, route=route, row_tokens=1_024, batch_tokens=16_384)  # type: ignore[arg-type]
    for one, other in zip(CausalLM(str(causal(architecture)), options=how).score(texts), expected, strict=True):
        close(one.log_probabilities, other.log_probabilities)


@on_every_device
def test_masked_scores_of_a_device(device: Device, tmp_path: Path) -> None:
    """Every token of every text, hidden one at a time."""
    folder, texts = str(save_masked(tmp_path, "roberta")), list(dict.fromkeys(CORPUS))[:3]
    expected = MaskedLM(folder).score(texts)
    found = MaskedLM(folder, options=MaskedOptions(device=device, batch_tokens=32_768)).score(texts)
    for one, other in zip(found, expected, strict=True):
        close(one.log_probabilities, other.log_probabilities)
