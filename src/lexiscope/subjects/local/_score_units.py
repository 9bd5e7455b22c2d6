"""What is read in one pass, and which tokens are scored from it: rows of a prefix tree, or batches of texts.

A unit says all that its numbers depend on, so that it is also the name under which they are stored. The nodes of a plan
are the distinct scored places: of a prefix tree, or, if nothing is shared, of every text by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lexiscope.core.scoring import Offsets
from lexiscope.subjects.local._span_tokens import plan_batches

Route = Literal["tree", "batched", "single"]


@dataclass(frozen=True, slots=True)
class Unit:
    """Rows of token ids that are read together, and the tokens that are scored from them.

    In a ``tree`` unit ``depths`` and ``ends`` are the positions of the row's tokens and one past the last descendant of
    each. ``places`` are positions in the rows laid end to end (padding included), ascending; token ``targets[i]`` is
    scored after ``places[i]`` and its log-probability belongs to node ``nodes[i]``.
    """

    route: Route
    rows: tuple[tuple[int, ...], ...]
    places: Offsets
    targets: Offsets
    nodes: Offsets
    depths: Offsets | None = None
    ends: Offsets | None = None

    @property
    def content(self) -> list[Any]:
        """All that its numbers depend on, as a JSON value."""
        shape = [] if self.depths is None or self.ends is None else [self.depths.tolist(), self.ends.tolist()]
        return [self.route, self.rows, self.places.tolist(), self.targets.tolist(), *shape]


@dataclass(frozen=True, slots=True)
class ScorePlan:
    """How sequences are scored: units, the number of nodes, and the nodes of every sequence.

    ``read`` counts the tokens that are read, ``repeated`` those of them that another row reads too, or padding.
    """

    units: tuple[Unit, ...]
    n_nodes: int
    paths: tuple[Offsets, ...]
    read: int
    repeated: int

    @property
    def longest_row(self) -> int:
        """The most tokens of a row."""
        return max((len(row) for unit in self.units for row in unit.rows), default=0)


def tree_plan(sequences: Sequence[Sequence[int]], *, budget: int, longest: int) -> ScorePlan:
    """Plan the rows of a prefix tree; a row that must not be cut grows up to *longest* tokens."""
    tree = build_prefix_tree(sequences)
    rows = cut_into_rows(tree, budget=budget, longest=longest)
    units = tuple(_tree_units(tree, rows))
    read, repeated = sum(len(row.nodes) for row in rows), sum(row.repeated for row in rows)
    return ScorePlan(units, len(tree.tokens), tree.paths, read, repeated)


def _tree_units(tree: PrefixTree, rows: Sequence[NodeRow]) -> Iterator[Unit]:
    scored = np.flatnonzero(tree.parents >= 0)
    # children of one parent come together, parents in depth-first order
    scored = scored[np.argsort(tree.parents[scored], kind="stable")]
    above = tree.parents[scored]
    for row in rows:
        own = row.nodes[row.repeated :]
        children = scored[np.searchsorted(above, own[0]) : np.searchsorted(above, own[-1], side="right")]
        yield Unit(
            route="tree",
            rows=(tuple(tree.tokens[row.nodes].tolist()),),
            places=np.searchsorted(row.nodes, tree.parents[children]),
            targets=tree.tokens[children],
            nodes=children,
            depths=tree.depths[row.nodes],
            ends=np.searchsorted(row.nodes, tree.ends[row.nodes]),
        )


def batch_plan(sequences: Sequence[Sequence[int]], *, budget: int, route: Route) -> ScorePlan:
    """Plan batches of similar length, or, on the route ``single``, the same texts one at a time."""
    lengths = [len(sequence) for sequence in sequences]
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    paths = tuple(np.arange(first[n], first[n + 1]) for n in range(len(sequences)))
    # the last token of a text is scored and never read; a text of one token has nothing to score
    readable = [
        number for number in sorted(range(len(sequences)), key=lambda n: tuple(sequences[n])) if lengths[number] > 1
    ]
    groups = plan_batches([lengths[number] - 1 for number in readable], budget=budget)
    units = tuple(_batch_unit(sequences, [readable[place] for place in group], first, route) for group in groups)
    read = sum(len(unit.rows) * max(map(len, unit.rows)) for unit in units) if route == "batched" else 0
    needed = sum(length - 1 for length in lengths)
    return ScorePlan(units, int(first[-1]), paths, max(read, needed), max(read - needed, 0))


def _batch_unit(sequences: Sequence[Sequence[int]], group: Sequence[int], first: Offsets, route: Route) -> Unit:
    width = max(len(sequences[number]) for number in group) - 1
    spans = [np.arange(len(sequences[number]) - 1) for number in group]
    return Unit(
        route=route,
        rows=tuple(tuple(sequences[number][:-1]) for number in group),
        places=np.concatenate([row * width + span for row, span in enumerate(spans)]),
        targets=np.concatenate([np.array(sequences[number][1:], dtype=np.int64) for number in group]),
        nodes=np.concatenate([first[number] + 1 + span for number, span in zip(group, spans, strict=True)]),
    )


# -- the prefix tree of token sequences, and how it is cut into rows that a model reads in one pass each ------------
# Sequences that begin alike share nodes. A node's token must be read only where another token follows it, so that the
# last tokens of sequences are scored but never read. A row holds such nodes in depth-first order; where the tree is
# cut, the next row repeats the ancestors of its first node.


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
class NodeRow:
    """Nodes that are read together, in depth-first order. The first ``repeated`` of them belong to an earlier row."""

    nodes: Offsets
    repeated: int


def build_prefix_tree(sequences: Sequence[Sequence[int]]) -> PrefixTree:
    """Make the prefix tree of token sequences.

    >>> tree = build_prefix_tree([(7, 8, 9), (7, 8, 5), (4,)])
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
        pairs = enumerate(zip(before, sequence, strict=False))
        shared = next((place for place, (a, b) in pairs if a != b), min(len(before), len(sequence)))
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
        ends=_descendant_ends(depths),
        paths=tuple(np.array(nodes, dtype=np.int64) for nodes in paths),
    )


def _descendant_ends(depths: Sequence[int]) -> Offsets:
    """Return for every node the next node that is not deeper: one past its last descendant."""
    ends = np.full(len(depths), len(depths), dtype=np.int64)
    open_nodes: list[int] = []
    for node, depth in enumerate(depths):
        while len(open_nodes) > depth:
            ends[open_nodes.pop()] = node
        open_nodes.append(node)
    return ends


def cut_into_rows(tree: PrefixTree, *, budget: int, longest: int = _LONGEST_ROW) -> list[NodeRow]:
    """Cut the nodes that must be read into rows of about *budget*, where the cut repeats the fewest ancestors.

    A row grows up to *longest* nodes where cutting it would repeat more than an eighth of it.

    >>> rows = cut_into_rows(build_prefix_tree([(1, 2, 3, 4), (1, 2, 5, 6), (8, 9)]), budget=4, longest=4)
    >>> [(row.nodes.tolist(), row.repeated) for row in rows]
    [([0, 1, 2, 4], 0), ([6], 0)]
    """
    inner = np.flatnonzero(tree.ends > np.arange(len(tree.ends)) + 1)
    depths = tree.depths[inner]
    rows: list[NodeRow] = []
    start = 0
    while start < len(inner):
        above, node = [], int(inner[start])
        while (node := int(tree.parents[node])) >= 0:
            above.append(node)
        ancestors = np.array(above[::-1], dtype=np.int64)
        end = _row_end(depths, start, len(ancestors), budget, longest)
        rows.append(NodeRow(np.concatenate([ancestors, inner[start:end]]), len(ancestors)))
        start = end
    return rows


def _row_end(depths: Offsets, start: int, repeated: int, budget: int, longest: int) -> int:
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
