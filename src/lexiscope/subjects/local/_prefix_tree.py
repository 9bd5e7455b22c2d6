"""The prefix tree of token sequences, and how it is cut into rows that a model reads in one pass each.

Sequences that begin alike share nodes. A node's token must be read only where another token follows it, so that the
last tokens of sequences are scored but never read. A row holds such nodes in depth-first order; where the tree is cut,
the next row repeats the ancestors of its first node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexiscope.core.scoring import Offsets

# a row may grow to this length where cutting it earlier would repeat more than an eighth of it
_LONGEST_ROW = 4_096


@dataclass(frozen=True, slots=True)
class PrefixTree:
    """Nodes in depth-first order: token, parent (-1 for a first token), depth, and one past the last descendant.

    ``paths`` holds the nodes of every sequence, in the order in which the sequences were given.
    """

    tokens: Offsets
    parents: Offsets
    depths: Offsets
    ends: Offsets
    paths: tuple[Offsets, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """Nodes that are read together, in depth-first order. The first ``repeated`` of them belong to an earlier row."""

    nodes: Offsets
    repeated: int


def grow(sequences: Sequence[Sequence[int]]) -> PrefixTree:
    """Make the prefix tree of token sequences.

    >>> tree = grow([(7, 8, 9), (7, 8, 5), (4,)])
    >>> tree.tokens.tolist(), tree.parents.tolist(), tree.ends.tolist()
    ([4, 7, 8, 5, 9], [-1, -1, 1, 2, 2], [1, 5, 5, 4, 5])
    >>> [path.tolist() for path in tree.paths]
    [[1, 2, 4], [1, 2, 3], [0]]
    """
    tokens: list[int] = []
    parents: list[int] = []
    depths: list[int] = []
    paths: list[list[int]] = [[]] * len(sequences)
    before: Sequence[int] = ()
    path: list[int] = []
    for number in sorted(range(len(sequences)), key=lambda number: tuple(sequences[number])):
        sequence = sequences[number]
        shared = _shared(before, sequence)
        first, new = len(tokens), len(sequence) - shared
        tokens += sequence[shared:]
        parents += [path[shared - 1] if shared else -1, *range(first, first + new - 1)][:new]
        depths += range(shared, len(sequence))
        path = path[:shared] + list(range(first, first + new))
        paths[number] = path
        before = sequence
    return PrefixTree(
        tokens=np.array(tokens, dtype=np.int64),
        parents=np.array(parents, dtype=np.int64),
        depths=np.array(depths, dtype=np.int64),
        ends=_ends(depths),
        paths=tuple(np.array(each, dtype=np.int64) for each in paths),
    )


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place
    return min(len(one), len(other))


def _ends(depths: Sequence[int]) -> Offsets:
    """Return for every node the next node that is not deeper: one past its last descendant."""
    ends = np.full(len(depths), len(depths), dtype=np.int64)
    open_nodes: list[int] = []
    for node, depth in enumerate(depths):
        while len(open_nodes) > depth:
            ends[open_nodes.pop()] = node
        open_nodes.append(node)
    return ends


def pack(tree: PrefixTree, *, budget: int, longest: int = _LONGEST_ROW) -> list[Row]:
    """Cut the nodes that must be read into rows of about *budget*, where the cut repeats the fewest ancestors.

    A row grows up to *longest* nodes where cutting it would repeat more than an eighth of it.

    >>> rows = pack(grow([(1, 2, 3, 4), (1, 2, 5, 6), (8, 9)]), budget=4, longest=4)
    >>> [(row.nodes.tolist(), row.repeated) for row in rows]
    [([0, 1, 2, 4], 0), ([6], 0)]
    """
    inner = np.flatnonzero(tree.ends > np.arange(len(tree.ends)) + 1)
    depths = tree.depths[inner]
    rows: list[Row] = []
    start = 0
    while start < len(inner):
        ancestors = _ancestors(tree, int(inner[start]))
        end = _cut(depths, start, len(ancestors), budget, longest)
        rows.append(Row(np.concatenate([ancestors, inner[start:end]]), len(ancestors)))
        start = end
    return rows


def _cut(depths: Offsets, start: int, repeated: int, budget: int, longest: int) -> int:
    """Return the end of the row that begins at *start*: as shallow as possible, as late as possible."""
    limit = budget
    while True:
        room = max(limit - repeated, min(budget, limit) // 2, 1)
        if start + room >= len(depths):
            return len(depths)
        # the node at the cut begins the next row: its depth is the number of ancestors that are repeated there
        window = depths[start + max(1, room // 2) : start + room + 1][::-1]
        end = start + room - int(window.argmin())
        if 8 * int(window.min()) <= limit or 2 * limit > longest:
            return end
        limit *= 2


def _ancestors(tree: PrefixTree, node: int) -> Offsets:
    found = []
    while (node := int(tree.parents[node])) >= 0:
        found.append(node)
    return np.array(found[::-1], dtype=np.int64)
