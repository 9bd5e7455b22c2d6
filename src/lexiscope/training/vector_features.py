"""What the vectors of an encoder that is not trained hold of an item in a view: the input of a linear probe.

Of each usage these are the vector of the target and that of its whole text, each the mean over the layers, of length 1
in each; of a definition that of its text. Two usages are seen with both vectors, their difference without sign, and
their product. Both vectors are there as they are, so that the probe sees which word it is, and not only whether two
words are near each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.views import view_item
from lexiscope.subjects.trained._probe import UntrainedEncoder, whole_text
from lexiscope.subjects.trained._reading import definition_of

Floats = np.ndarray[Any, np.dtype[np.float64]]


def vector_features(items: Sequence[Item], view: str, encoder: UntrainedEncoder) -> Floats:
    """Return the features of pairs, or of usages with a definition, as a view shows them. *Shape: (items, features)*.

    ``label`` has no features. Every feature has mean 0 over the items, and together they have length 1 in the mean.
    Errors: those of the encoder.
    """
    if view == "label" or not items:
        return np.zeros((len(items), 0))
    usages = [usage for item in items for usage in _asked(item, view)]
    whole = [usage.target == usage.text.strip() for usage in usages]
    vectors = _mean_over_layers(encoder, encoder.readable(usages, whole))
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


def n_cut(items: Sequence[Item], view: str, encoder: UntrainedEncoder) -> int:
    """Return of how many items a text is longer than what the encoder is given, as the view shows them.

    Errors: those of the encoder.
    """
    if view == "label" or not items:
        return 0
    return encoder.n_cut(list(dict.fromkeys(usage.text for usage in _asked(item, view))) for item in items)


def _asked(item: Item, view: str) -> list[Usage]:
    shown = view_item(item, view).usages
    found = list(shown) if view == "word" else [each for usage in shown for each in (usage, whole_text(usage.text))]
    if "definition" in item.conditions:
        found.append(whole_text(definition_of(item)))
    return found


def _mean_over_layers(encoder: UntrainedEncoder, usages: Sequence[Usage]) -> Floats:
    distinct = {usage.key: usage for usage in usages}
    vectors = np.asarray(encoder.embed(tuple(distinct.values())), dtype=np.float64)
    lengths = np.sqrt((vectors * vectors).sum(axis=-1, keepdims=True))
    means = (vectors / np.maximum(lengths, np.finfo(np.float64).tiny)).mean(axis=1)
    places = {key: place for place, key in enumerate(distinct)}
    return np.asarray(means[[places[usage.key] for usage in usages]])
