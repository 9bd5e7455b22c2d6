"""The prefix tree: every prefix once, every node read once, rows that a model can read in one pass."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.subjects.local._score_units import PrefixTree, batch_plan, build_prefix_tree, cut_into_rows, tree_plan

SEQUENCES = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=9).map(tuple), min_size=1, max_size=30)


def prefixes(sequences: list[tuple[int, ...]]) -> set[tuple[int, ...]]:
    return {sequence[:length] for sequence in sequences for length in range(1, len(sequence) + 1)}


def chain(tree: PrefixTree, node: int) -> tuple[int, ...]:
    """The tokens from the root to a node."""
    before = chain(tree, int(tree.parents[node])) if tree.parents[node] >= 0 else ()
    return (*before, int(tree.tokens[node]))


@given(SEQUENCES)
def test_a_node_is_a_distinct_prefix(sequences: list[tuple[int, ...]]) -> None:
    """There is one node per distinct prefix, and a path spells its sequence."""
    tree = build_prefix_tree(sequences)
    assert sorted(chain(tree, node) for node in range(len(tree.tokens))) == sorted(prefixes(sequences))
    for sequence, path in zip(sequences, tree.paths, strict=True):
        assert tuple(tree.tokens[path]) == sequence
        assert tree.depths[path].tolist() == list(range(len(sequence)))


@given(SEQUENCES, st.integers(1, 40), st.integers(1, 40))
def test_rows_hold_every_inner_node_once_with_its_ancestors(
    sequences: list[tuple[int, ...]], budget: int, longest: int
) -> None:
    """A node that another token follows is a row's own once; in every row all its ancestors stand before it."""
    tree = build_prefix_tree(sequences)
    rows = cut_into_rows(tree, budget=budget, longest=longest)
    inner = {node for node in range(len(tree.tokens)) if node in set(tree.parents.tolist())}
    own = [int(node) for row in rows for node in row.nodes[row.repeated :]]
    assert own == sorted(inner)
    for row in rows:
        seen: set[int] = set()
        for node in row.nodes.tolist():
            assert tree.parents[node] < 0 or tree.parents[node] in seen
            seen.add(node)


@given(SEQUENCES, st.integers(1, 40))
def test_a_plan_scores_every_prefix_once(sequences: list[tuple[int, ...]], budget: int) -> None:
    """Each token but a first one is scored once, after its own left context, through the tree and in batches."""
    for plan in (
        tree_plan(sequences, budget=budget, longest=4_096),
        batch_plan(sequences, budget=budget, route="batched"),
        batch_plan(sequences, budget=budget, route="single"),
    ):
        contexts: dict[int, tuple[int, ...]] = {}
        for unit in plan.units:
            width = max(map(len, unit.rows))
            for place, target, node in zip(
                unit.places.tolist(), unit.targets.tolist(), unit.nodes.tolist(), strict=True
            ):
                row, last = unit.rows[place // width], place % width
                if unit.ends is None:
                    context = row[: last + 1]
                else:
                    context = tuple(row[n] for n in range(last + 1) if n <= last < unit.ends[n])
                assert node not in contexts
                contexts[node] = (*context, target)
        for sequence, path in zip(sequences, plan.paths, strict=True):
            found = [contexts[int(node)] for node in path[1:]]
            assert found == [sequence[: length + 1] for length in range(1, len(sequence))]


def test_rows_keep_to_the_budget_and_repeat_little() -> None:
    """Ten trees of 100 nodes: rows of at most 256, cut between the trees, nothing repeated."""
    sequences = [(tree, *range(50), 60 + branch, *range(8)) for tree in range(10) for branch in range(6)]
    rows = cut_into_rows(build_prefix_tree(sequences), budget=256)
    assert max(len(row.nodes) for row in rows) <= 256
    assert sum(row.repeated for row in rows) == 0


@pytest.mark.parametrize("length", [600, 1_500])
def test_a_long_context_is_not_read_again_for_every_row(length: int) -> None:
    """A context longer than a row with many continuations: the row grows instead of repeating it each time."""
    sequences = [(*range(length), branch, *range(20)) for branch in range(60)]
    plan = tree_plan(sequences, budget=512, longest=4_096)
    needed = length + 60 * 20
    assert plan.read == needed + plan.repeated
    assert plan.repeated <= needed / 4
    assert plan.longest_row <= 4_096


def test_a_row_grows_no_further_than_it_may() -> None:
    """A single sequence of 10,000 tokens is cut at the longest row, and its ancestors are repeated."""
    plan = tree_plan([tuple(range(10_000))], budget=512, longest=4_096)
    assert np.array_equal(np.sort(np.concatenate([unit.nodes for unit in plan.units])), np.arange(1, 10_000))
    assert plan.read == 9_999 + plan.repeated
