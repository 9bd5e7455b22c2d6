"""Attention over a row of a prefix tree in blocks: a block of nodes is compared with what it can see and little else.

A node sees its ancestors and itself: some 30 of the 2,000 nodes of a row. Nodes that follow each other in depth-first
order have nearly all ancestors in common, so a block of them is given the keys of the ancestors of its first node and
its own. Hidden are only nodes of the block that are no ancestors, by a mask that is added as in whole rows. Blocks with
keys of similar number are read together, so that the nodes of a row are put into the order of these groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexiscope.core.errors import require
from lexiscope.core.scoring import Offsets

NAME = "lexiscope_tree"
"""The name of this attention among those of transformers."""

# nodes of a block: large enough for fast products, small enough to share their ancestors (benchmarks/README.md)
_BLOCK = 32
# blocks with keys of similar number are read together; padding one of them wastes at most this many
_SPREAD = 16
# what changes attention beyond a mask and a scale; a model that gives one of these is not understood
_NOT_UNDERSTOOD = ("softcap", "s_aux", "position_bias", "sinks")


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of as many nodes and keys each.

    ``nodes`` and ``keys`` are places in the row. *Shapes:* (blocks, nodes of a block) and (blocks, keys of a block);
    ``seen`` says which of the keys a node sees, *shape:* (blocks, nodes of a block, keys of a block).
    """

    nodes: Offsets
    keys: Offsets
    seen: np.ndarray[Any, np.dtype[np.bool_]]


def cut(ends: Offsets, *, size: int = _BLOCK) -> tuple[Blocks, ...]:
    """Cut a row into blocks. *ends* is for every node one past its last descendant.

    >>> (both,) = cut(np.array([6, 3, 3, 6, 6, 6]), size=3)
    >>> both.nodes.tolist(), both.keys.tolist()
    ([[0, 1, 2], [3, 4, 5]], [[0, 1, 2, 0], [0, 3, 4, 5]])
    >>> both.seen[0].tolist()
    [[True, False, False, False], [True, True, False, False], [True, True, True, False]]
    """
    spans = [np.arange(first, min(first + size, len(ends))) for first in range(0, len(ends), size)]
    # an ancestor stands before the block and its descendants reach past the block's first node
    keys = [np.concatenate([np.flatnonzero(ends[: span[0]] > span[0]), span]) for span in spans]
    order = sorted(range(len(spans)), key=lambda number: (len(spans[number]), len(keys[number]), number))
    groups: list[list[int]] = []
    for number in order:
        group = groups[-1] if groups else []
        alike = group and len(spans[group[0]]) == len(spans[number])
        if alike and len(keys[number]) <= len(keys[group[0]]) + _SPREAD:
            group.append(number)
        else:
            groups.append([number])
    return tuple(_together([spans[n] for n in group], [keys[n] for n in group], ends) for group in groups)


def _together(spans: Sequence[Offsets], keys: Sequence[Offsets], ends: Offsets) -> Blocks:
    width = max(map(len, keys))
    real = np.array([np.arange(width) < len(each) for each in keys])
    padded = np.zeros((len(keys), width), dtype=np.int64)
    padded[real] = np.concatenate(keys)
    nodes = np.stack(spans)
    before = padded[:, None, :] <= nodes[:, :, None]
    seen = real[:, None, :] & before & (nodes[:, :, None] < ends[padded][:, None, :])
    return Blocks(nodes, padded, seen)


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A row of a prefix tree as tensors: groups of blocks, and the order in which the row must be read.

    ``order`` are the places of the row in that order, ``inverse`` says for every place where it went.
    """

    order: Offsets
    inverse: Offsets
    groups: tuple[_Group, ...]


@dataclass(frozen=True, slots=True)
class _Group:
    """Blocks that are read together: their nodes' stretch of the order, the places of their keys, and the mask."""

    nodes: slice
    keys: Any
    shape: tuple[int, int, int]
    mask: Any


_READ: ContextVar[TreeRow] = ContextVar("lexiscope_tree_row")


def tree_row(ends: Offsets, *, device: str, dtype: Any) -> TreeRow:
    """Prepare a row whose nodes' last descendants end at *ends*."""
    torch = require("torch", "models")
    groups, first, made = cut(ends), 0, []
    order = np.concatenate([each.nodes.ravel() for each in groups])
    inverse = np.argsort(order)
    for each in groups:
        seen = torch.from_numpy(each.seen[:, None]).to(device)
        mask = torch.zeros(seen.shape, dtype=dtype, device=device).masked_fill_(~seen, torch.finfo(dtype).min)
        keys = torch.from_numpy(inverse[each.keys.ravel()]).to(device)
        made.append(_Group(slice(first, first := first + each.nodes.size), keys, each.seen.shape, mask))
    return TreeRow(order, inverse, tuple(made))


@contextmanager
def in_blocks(model: Any, row: TreeRow) -> Iterator[Any]:
    """Let *model* attend in the blocks of *row* inside the context; gives the mask that the model is called with.

    The model's settings are put back at its end, also after an error.
    """
    _register()
    found = {id(config): config for module in model.modules() if (config := getattr(module, "config", None))}
    configs = [config for config in found.values() if hasattr(config, "_attn_implementation")]
    before = [config._attn_implementation for config in configs]
    token = _READ.set(row)
    try:
        for config in configs:
            config._attn_implementation = NAME
        # a mask of four dimensions is passed on as it is; this one hides nothing
        yield row.groups[0].mask.new_zeros((1, 1, 1, 1))
    finally:
        _READ.reset(token)
        for config, name in zip(configs, before, strict=True):
            config._attn_implementation = name


def _register() -> None:
    interface = require("transformers", "models").AttentionInterface
    interface.register(NAME, attend)


def attend(
    module: Any, query: Any, key: Any, value: Any, attention_mask: Any, scaling: float | None = None, **given: Any
) -> tuple[Any, None]:
    """Attend in the blocks of the row that is being read, as transformers asks an attention.

    *Shapes:* (1, heads, nodes, size of a head) in, (1, nodes, heads, size of a head) out.
    Errors: :class:`ValueError` where a model asks for more than a mask and a scale.
    """
    torch = require("torch", "models")
    asked = [name for name in _NOT_UNDERSTOOD if given.get(name) is not None]
    if asked or attention_mask is None or attention_mask.numel() != 1 or query.shape[0] != 1:
        raise ValueError(f"attention with {', '.join(asked) or 'a mask of its own'} cannot be read in blocks")
    queries, keys, values = (each[0].transpose(0, 1) for each in (query, key, value))
    found = torch.empty((*queries.shape[:2], values.shape[2]), dtype=query.dtype, device=query.device)
    for group in _READ.get().groups:
        number, size, width = group.shape
        split = [queries[group.nodes].unflatten(0, (number, size)).transpose(1, 2)]
        for each in (keys, values):
            split.append(each.index_select(0, group.keys).unflatten(0, (number, width)).transpose(1, 2))
        read = torch.nn.functional.scaled_dot_product_attention(
            *split, attn_mask=group.mask, scale=scaling, enable_gqa=keys.shape[1] != queries.shape[1]
        )
        found[group.nodes].unflatten(0, (number, size)).copy_(read.transpose(1, 2))
    return found[None], None
