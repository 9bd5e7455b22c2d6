"""The pool of a writing task: every open item equally probable, a form with enough answers never served again."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.annotation.writing.stages import next_draw, retired_forms
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage


def entry(name: str, form: str) -> Item:
    return Item(name, "pool", (Usage(form, 0, len(form)),))


# bank has three pairs of senses, pitch and spring have one: five entries of three forms
POOL = [entry(f"bank-{n}", "bank" if n else "Bank") for n in range(3)] + [
    entry("pitch-0", "pitch"),
    entry("spring-0", "spring"),
]


def test_entries_are_equally_probable() -> None:
    """Over 5,000 participants each of five entries is drawn 1,000 times, within four standard errors.

    A binomial count has the standard error sqrt(5000 · 1/5 · 4/5) = 28.3.
    """
    items = [next_draw(POOL, {}, (), seed=1, number=number, draw=0, at_most=0) for number in range(5000)]
    counts = Counter(item.item_id for item in items if item is not None)
    assert set(counts) == {item.item_id for item in POOL}
    assert all(abs(n - 1000) < 4 * (5000 * 0.2 * 0.8) ** 0.5 for n in counts.values())


def test_a_participant_sees_every_entry_once() -> None:
    """Five draws give all five entries, in an order that differs between participants; the sixth gives none."""
    orders = set()
    for number in range(20):
        seen: list[str] = []
        for draw in range(len(POOL)):
            item = next_draw(POOL, {}, seen, seed=1, number=number, draw=draw, at_most=0)
            assert item is not None
            seen.append(item.item_id)
        assert sorted(seen) == sorted(item.item_id for item in POOL)
        assert next_draw(POOL, {}, seen, seed=1, number=number, draw=len(POOL), at_most=0) is None
        orders.add(tuple(seen))
    assert len(orders) > 10


@given(st.lists(st.integers(0, 12), min_size=5, max_size=5), st.integers(1, 10), st.integers(0, 99), st.integers(0, 99))
def test_a_form_with_enough_answers_is_never_served(written: list[int], at_most: int, number: int, draw: int) -> None:
    """A04: the answers to all entries of a form count together, in any case of its letters; at the cap it is gone."""
    counts = {item.item_id: n for item, n in zip(POOL, written, strict=True)}
    total = {"bank": sum(written[:3]), "pitch": written[3], "spring": written[4]}
    still = {form for form, n in total.items() if n < at_most}
    item = next_draw(POOL, counts, (), seed=1, number=number, draw=draw, at_most=at_most)
    assert (item is None) == (not still)
    assert item is None or item.usages[0].target.casefold() in still
    assert set(retired_forms(POOL, counts, at_most=at_most)) == set(total) - still


def test_no_cap_retires_nothing() -> None:
    """``at_most`` 0 means no limit."""
    assert retired_forms(POOL, {"bank-0": 1000}, at_most=0) == ()


@pytest.mark.parametrize("turned", [False, True])
def test_the_draw_follows_from_seed_participant_and_number(turned: bool) -> None:
    """The same three numbers give the same entry, whatever the order of the items; other ones give others."""
    pool = POOL[::-1] if turned else POOL
    first = [next_draw(pool, {}, (), seed=7, number=n, draw=3, at_most=10) for n in range(40)]
    assert first == [next_draw(POOL, {}, (), seed=7, number=n, draw=3, at_most=10) for n in range(40)]
    for changed in ({"seed": 8, "draw": 3}, {"seed": 7, "draw": 4}):
        assert first != [next_draw(POOL, {}, (), number=n, at_most=10, **changed) for n in range(40)]


def test_a_pool_that_stops_at_the_cap_gives_each_form_its_share() -> None:
    """Served one after the other until nothing is left, every form ends with exactly the cap."""
    counts: Counter[str] = Counter()
    for number in range(100):
        item = next_draw(POOL, counts, (), seed=3, number=number, draw=0, at_most=4)
        if item is None:
            break
        counts[item.item_id] += 1
    by_form: Counter[str] = Counter()
    for name, n in counts.items():
        by_form[name.split("-")[0]] += n
    assert by_form == {"bank": 4, "pitch": 4, "spring": 4}
