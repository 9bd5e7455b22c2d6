"""The encoder on hidden targets: its own mask token, one, exactly in the span; without one it is refused by name."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from lexiscope.core import catalog
from lexiscope.core.catalog import subject as make
from lexiscope.core.errors import CapabilityError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.views import view_usage, with_mask
from lexiscope.subjects.local._model_check import rounding
from lexiscope.subjects.local.encoder import Encoder

Folders = Callable[[str], Path]

USAGE = Usage("She could hear the loud barking of the dog.", 24, 31)


def _masking(folder: Path, tmp_path: Path) -> Path:
    """A copy of a tiny model whose tokenizer has a mask token that takes the space before it, as RoBERTa's does."""
    copy = tmp_path / "masking"
    shutil.copytree(folder, copy)
    tokenizer = transformers.AutoTokenizer.from_pretrained(copy)
    tokenizer.add_special_tokens({"mask_token": transformers.AddedToken("<mask>", lstrip=True)})
    tokenizer.save_pretrained(copy)
    return copy


def test_minilm_reads_one_mask() -> None:
    """The vector of a hidden target is that of the one token [MASK], worked out plainly with transformers."""
    encoder = make("encoder:minilm")
    assert isinstance(encoder, Encoder)
    hidden = view_usage(USAGE, "context")
    assert encoder.mask_token == "[MASK]"
    assert encoder.token_counts([hidden])[0, 1] == 1
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder.folder.path)
    model = transformers.AutoModel.from_pretrained(encoder.folder.path).eval()
    encoded = tokenizer("She could hear the loud [MASK] of the dog.", return_tensors="pt")
    place = encoded["input_ids"][0].tolist().index(tokenizer.mask_token_id)
    with torch.no_grad():
        states = model(**encoded, output_hidden_states=True).hidden_states
    plain = np.stack([state[0, place].numpy() for state in states])
    np.testing.assert_allclose(encoder.embed([hidden])[0], plain, atol=rounding(np.abs(plain).max()), rtol=0)


def test_the_hidden_word_changes_nothing() -> None:
    """Two words of different length in one place give one vector in `context`, and all give one in `label`."""
    encoder = make("encoder:minilm")
    assert isinstance(encoder, Encoder)
    other = Usage("She could hear the loud thunderstorms of the dog.", 24, 37)
    bank = Usage("A bank.", 2, 6)
    contexts = encoder.embed([view_usage(one, "context") for one in (USAGE, other)])
    assert np.array_equal(contexts[0], contexts[1])
    labels = encoder.embed([view_usage(one, "label") for one in (USAGE, bank)])
    assert np.array_equal(labels[0], labels[1])
    assert not np.allclose(contexts[0, -1], labels[0, -1])


@pytest.mark.parametrize("architecture", ["roberta", "xlm_roberta", "bert"])
def test_any_mask_token_is_one_token(tiny: Folders, tmp_path: Path, architecture: str) -> None:
    """A mask token of another spelling, which takes the space before it, is one token, and the only one of the span."""
    encoder = Encoder(str(_masking(tiny(architecture), tmp_path)))
    hidden = view_usage(USAGE, "context")
    whole, target = encoder.token_counts([hidden])[0].tolist()
    assert target == 1
    full = encoder.token_counts([USAGE])[0].tolist()
    # the mask may take the space before it, never a neighbour's letters
    assert whole <= full[0] - full[1] + 1
    assert np.array_equal(encoder.embed([hidden]), encoder.embed([with_mask(USAGE, "<mask>")]))


def test_a_tokenizer_without_a_mask_token_is_refused(tiny: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    """The refusal names the subject, says what to do, and comes before any weights are read; full views still work."""
    folder = tiny("gpt2")
    encoder = Encoder(str(folder))
    assert encoder.embed([USAGE, view_usage(USAGE, "word")]).shape[0] == 2
    again = Encoder(str(folder))
    monkeypatch.setattr("lexiscope.subjects.local.encoder.ForwardPass", None)
    for view in ("context", "label"):
        with pytest.raises(CapabilityError, match=r"encoder:.*no mask token(.|\n)*full and word"):
            again.embed([USAGE, view_usage(USAGE, view)])


@pytest.mark.published
def test_one_mask_in_any_script(published: Path) -> None:
    """In contexts of AM²iCo in five scripts the hidden target is one token, also where no space sets it off."""
    encoder = make("encoder:minilm")
    assert isinstance(encoder, Encoder)
    items = [item for name in ("zh", "ja", "ko", "ar", "ka") for item in _dev_items(f"am2ico?language={name}")[:20]]
    hidden = [view_usage(usage, "context") for item in items for usage in item.usages]
    # a context that is longer is refused by the model, with or without its target
    short = [usage for usage in hidden if len(usage.text) < 300]
    assert len(short) > 100
    assert set(encoder.token_counts(short)[:, 1].tolist()) == {1}


def _dev_items(name: str) -> list[Item]:
    return [item for item in catalog.dataset(name).items if item.conditions["split"] == "dev"]
