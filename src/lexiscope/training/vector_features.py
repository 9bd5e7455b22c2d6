"""What the vectors of an encoder that is not trained hold of an item in a view: the input of a linear probe.

Of each usage these are the vector of the target and that of its whole text, each the mean over the layers, of length 1
in each; of a definition that of its text. Two usages are seen with both vectors, their difference without sign, and
their product. Both vectors are there as they are, so that the probe sees which word it is, and not only whether two
words are near each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.core.item import Item
from lexiscope.core.subject import SubjectSpec
from lexiscope.core.usage import Usage
from lexiscope.items.views import view_item
from lexiscope.subjects import encoder
from lexiscope.subjects._loading import load_tokenizer
from lexiscope.subjects._probe import whole_text
from lexiscope.subjects._reading import definition_of, within

_LONGEST = 256

Floats = np.ndarray[Any, np.dtype[np.float64]]


def vector_features(items: Sequence[Item], view: str, spec: str, *, store: Path | None = None) -> Floats:
    """Return the features of pairs, or of usages with a definition, as a view shows them. *Shape: (items, features)*.

    *spec* names an encoder; *store* is a folder in which its vectors are kept. ``label`` has no features. Every feature
    has mean 0 over the items, and together they have length 1 in the mean.
    Errors: those of the encoder.
    """
    if view == "label" or not items:
        return np.zeros((len(items), 0))
    reader = encoder.load(SubjectSpec.parse(spec))
    tokenizer = load_tokenizer(str(reader.folder.path), trust_remote_code=False)[0]
    usages = [usage for item in items for usage in _asked(item, view)]
    vectors = _mean_over_layers(reader, _readable(tokenizer, usages), store)
    each = vectors.reshape(len(items), -1, vectors.shape[-1])
    if each.shape[1] > 1:
        # target, text, target, text of a pair; target, text, definition of one usage; the words alone
        first, second = (each[:, :2], each[:, 2:]) if each.shape[1] == 4 else (each[:, :-1], each[:, -1:])
        each = np.concatenate([each, np.abs(first - second), first * second], axis=1)
    features = each.reshape(len(items), -1)
    features = features - features.mean(axis=0)
    spread = features.std(axis=0)
    features = np.divide(features, spread, out=np.zeros_like(features), where=spread > 1e-9)
    return np.asarray(features / max(1.0, np.sqrt(features.shape[1])))


def n_cut(items: Sequence[Item], view: str, spec: str) -> int:
    """Return of how many items a text is longer than what the encoder is given, as the view shows them.

    Errors: those of the encoder.
    """
    if view == "label" or not items:
        return 0
    reader = encoder.load(SubjectSpec.parse(spec))
    tokenizer = load_tokenizer(str(reader.folder.path), trust_remote_code=False)[0]
    texts = [list(dict.fromkeys(usage.text for usage in _asked(item, view))) for item in items]
    return sum(any(len(each.ids) > _LONGEST for each in tokenizer.encode_batch(own)) for own in texts)


def _asked(item: Item, view: str) -> list[Usage]:
    shown = view_item(item, view).usages
    found = list(shown) if view == "word" else [each for usage in shown for each in (usage, whole_text(usage.text))]
    if "definition" in item.conditions:
        found.append(whole_text(definition_of(item)))
    return found


def _readable(tokenizer: Any, usages: Sequence[Usage]) -> list[Usage]:
    """The usages as far as the encoder reads them: around the target, of a whole text its beginning."""
    whole = [usage.target == usage.text.strip() for usage in usages]
    # what is kept of a whole text is what stands around its first letter
    heads = [replace(usage, end=usage.start + 1) if own else usage for usage, own in zip(usages, whole, strict=True)]
    cut = within(tokenizer, heads, longest=_LONGEST)
    return [whole_text(usage.text) if own else usage for usage, own in zip(cut, whole, strict=True)]


def _mean_over_layers(reader: encoder.Encoder, usages: Sequence[Usage], store: Path | None) -> Floats:
    distinct = {usage.key: usage for usage in usages}
    vectors = np.asarray(reader.embed(tuple(distinct.values()), work=store), dtype=np.float64)
    lengths = np.sqrt((vectors * vectors).sum(axis=-1, keepdims=True))
    means = (vectors / np.maximum(lengths, np.finfo(np.float64).tiny)).mean(axis=1)
    places = {key: place for place, key in enumerate(distinct)}
    return np.asarray(means[[places[usage.key] for usage in usages]])
