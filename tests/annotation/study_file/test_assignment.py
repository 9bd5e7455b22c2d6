"""Designs, places and trials: quotas are met, constraints hold, everything follows from seeds."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.annotation.rehearsal.simulate import Allocator, HeldPlace
from lexiscope.annotation.study_file.assignment import (
    AssignedTrial,
    Load,
    Quota,
    choose_list,
    list_chooser,
    places_per_list,
    plan_trials,
)
from lexiscope.annotation.study_file.definition import (
    CatchSection,
    Confusion,
    DesignSection,
    KnownQuestion,
    RatingsSection,
    StudyDefinition,
)
from lexiscope.annotation.study_file.design import DividedLists, build_design, confusion_set
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.read.importer import import_items

NO_CATCH = CatchSection(per_list=0)


def pair(name: str, word: str, **conditions: str | bool) -> Item:
    """A pair of two sentences of a word."""
    usages = (Usage(f"{word} one {name}", 0, len(word)), Usage(f"{word} two {name}", 0, len(word)))
    return Item(name, "d", usages, conditions=conditions)


def stories(n_setups: int, n_forms: int, seed: int) -> list[Item]:
    """Six variants per setup: two meanings × three endings, as in AmbiStory; several setups share a form."""
    rng = random.Random(seed)
    forms = [f"form{rng.randrange(n_forms)}" for _ in range(n_setups)]
    return [
        pair(f"{s:04d}-{m}{e}", forms[s], setup=str(s), meaning=f"m{m}", ending=f"e{e}")
        for s in range(n_setups)
        for m in range(2)
        for e in range(3)
    ]


def most(design: DividedLists, condition: str) -> int:
    """The most items of one confusion set in any list."""
    return max(max(Counter(confusion_set(item, condition) for item in items).values()) for items in design.lists)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), more=st.integers(1, 12))
def test_no_two_variants_and_no_word_twice(seed: int, more: int) -> None:
    """AmbiStory's groups: no setup and no word form twice in a list, meanings × endings balanced (§2.4)."""
    items = [pair(i.item_id, i.word, **{**i.conditions, "form": i.word}) for i in stories(40, 28, seed)]  # type: ignore[arg-type]
    largest = max(Counter(item.word for item in items).values())
    both = (Confusion(condition="setup", at_most=1), Confusion(condition="form", at_most=1))
    wanted = DesignSection(lists=largest + more, confusion=both, balance=("meaning", "ending"), seed=seed)
    design = build_design(items, wanted, NO_CATCH)
    assert most(design, "setup") == most(design, "form") == 1
    assert max(map(len, design.lists)) - min(map(len, design.lists)) <= 1
    cells = [Counter((i.conditions["meaning"], i.conditions["ending"]) for i in members) for members in design.lists]
    for cell in {cell for counts in cells for cell in counts}:
        assert max(counts[cell] for counts in cells) - min(counts[cell] for counts in cells) <= 1
    with pytest.raises(InputError, match="E421"):
        build_design(items, wanted.model_copy(update={"lists": largest - 1}), NO_CATCH)


def test_ambistory_size() -> None:
    """3,798 samples in 130 groups of 29 or 30, no setup and no word form twice, open endings a third (§2.4)."""
    items = [pair(i.item_id, i.word, **{**i.conditions, "form": i.word}) for i in stories(633, 225, 1)]  # type: ignore[arg-type]
    both = (Confusion(condition="setup", at_most=1), Confusion(condition="form", at_most=1))
    design = build_design(items, DesignSection(lists=130, confusion=both, balance=("meaning", "ending")), NO_CATCH)
    assert {len(members) for members in design.lists} == {29, 30}
    assert most(design, "setup") == most(design, "form") == 1
    open_share = [sum(i.conditions["ending"] == "e0" for i in members) for members in design.lists]
    assert set(open_share) <= {9, 10}


def test_overlap_of_two_annotators() -> None:
    """Two annotators of 100 items each with 50 in common: 150 distinct items, 50 of them double (BIAS §2.2)."""
    items = [pair(f"i{k}", f"w{k}", same=k % 2 == 0) for k in range(638)]
    wanted = DesignSection(lists=2, per_list=100, shared=50, balance=("same",), seed=4)
    design = build_design(items, wanted, NO_CATCH)
    first, second = ({item.item_id for item in members} for members in design.lists)
    assert (len(first), len(second), len(first | second)) == (100, 100, 150)
    assert first & second == design.shared
    assert build_design(items[::-1], wanted, NO_CATCH) == design


def test_the_design_is_deterministic_and_follows_the_seed() -> None:
    """The same items in any order give the same design; another seed gives another."""
    items = stories(30, 20, 3)
    wanted = DesignSection(lists=8, balance=("meaning",), seed=5)
    design = build_design(items, wanted, CatchSection())
    assert build_design(random.Random(1).sample(items, len(items)), wanted, CatchSection()) == design
    other = wanted.model_copy(update={"seed": 6})
    assert build_design(items, other, CatchSection()).lists != design.lists


def test_catch_trials_are_made_or_taken() -> None:
    """A catch trial is a sentence of the list twice with the right answer, or an item that the file marks."""
    items = [pair(f"i{k}", f"w{k}") for k in range(10)]
    made = build_design(items, DesignSection(lists=2), CatchSection(per_list=2, answer=5))
    for members, catch in zip(made.lists, made.catch, strict=True):
        assert len(catch) == 2
        assert all(trial.usages[0] == trial.usages[1] and trial.gold == "5" for trial in catch)
        assert {trial.usages[0] for trial in catch} <= {item.usages[0] for item in members}
    marked = [*items, pair("c1", "w0", catch=True)]
    taken = build_design(marked, DesignSection(lists=2), CatchSection(per_list=1, answer=5))
    assert taken.catch_ids == ("c1",)
    assert sum(map(len, taken.lists)) == 10
    with pytest.raises(InputError, match="E421"):
        build_design(marked, DesignSection(lists=2), CatchSection(per_list=2))


def test_the_table_counts() -> None:
    """The printed table has a line per list, and its numbers are those of the lists."""
    items = [pair(f"i{k}", f"w{k % 3}", same=k % 2 == 0) for k in range(12)]
    design = build_design(items, DesignSection(lists=3, balance=("same",)), CatchSection())
    assert design.text().splitlines() == [
        "list  items  catch  most per word  same=False  same=True",
        *(f"   {k}      4      1              2           2          2" for k in (1, 2, 3)),
    ]


# -- trials ---------------------------------------------------------------------------------------------------


def _study(**changes: object) -> StudyDefinition:
    shows = {"target": "sol", "sentence_1": "El sol.", "sentence_2": "Un sol."}
    attention = (KnownQuestion(id="check", shows=shows, accept=(4, 5)),)
    return StudyDefinition(name="s", task="relatedness", language="es", attention=attention).model_copy(update=changes)


DESIGN = build_design([pair(f"i{k}", f"w{k % 7}") for k in range(60)], DesignSection(lists=3), CatchSection())


def _trials(number: int, list_number: int = 0) -> tuple[AssignedTrial, ...]:
    return plan_trials(_study(), DESIGN, list_number=list_number, number=number)


@settings(max_examples=1000, deadline=None)
@given(number=st.integers(1, 10**9), list_number=st.integers(0, 2))
def test_trials_hold_the_list_and_its_checks(number: int, list_number: int) -> None:
    """Everybody gets every item of the list once, the catch trial and the attention check, neither first nor last."""
    trials = _trials(number, list_number)
    assert [trial.position for trial in trials] == list(range(22))
    assert Counter(trial.kind for trial in trials) == {"item": 20, "catch": 1, "attention": 1}
    shown = {trial.item.item_id for trial in trials if trial.kind == "item"}
    assert shown == {item.item_id for item in DESIGN.lists[list_number]}
    assert trials[0].kind == trials[-1].kind == "item"
    assert _trials(number, list_number) == trials


def test_order_and_sides_differ_between_participants() -> None:
    """No order is that of another participant, a side is swapped in about half of all trials, a catch trial wanders."""
    orders = [tuple(trial.item.item_id for trial in _trials(number)) for number in range(1, 201)]
    assert len(set(orders)) == 200
    swapped = [trial.side == "swapped" for number in range(1, 201) for trial in _trials(number)]
    # 4,400 fair coins: 0.5 ± 4 standard errors of sqrt(.25 / 4400) = .0075
    assert abs(sum(swapped) / len(swapped) - 0.5) < 0.03
    places = {trial.position for number in range(1, 201) for trial in _trials(number) if trial.kind == "catch"}
    assert places == set(range(1, 21))


def test_the_order_is_fixed_for_good() -> None:
    """The stored seed and number give this order in any later version: a change would break old exports."""
    design = build_design([pair(f"i{k}", "w") for k in range(6)], DesignSection(lists=1, seed=9), CatchSection())
    study = _study(attention=())
    trials = plan_trials(study, design, list_number=0, number=3)
    assert [(trial.item.item_id, trial.side == "swapped") for trial in trials] == FIXED


#: (item, swapped) of every trial, as first written
FIXED = [("i4", False), ("i5", True), ("i1", False), ("catch-i4", True), ("i3", True), ("i2", True), ("i0", False)]


def test_sides_as_given() -> None:
    """Where sides are not random, no trial is swapped."""
    trials = plan_trials(_study(side="as_given"), DESIGN, list_number=1, number=5)
    assert {trial.side for trial in trials} == {"as_given"}


# -- places ---------------------------------------------------------------------------------------------------


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def _allocator(n_lists: int = 2, need: int = 2, **quota: int) -> tuple[Allocator, Clock]:
    clock = Clock()
    return Allocator(n_lists, Quota(need, **quota), lease_seconds=60, seed=1, clock=clock), clock


def _place(allocator: Allocator, participant: str) -> HeldPlace:
    place = allocator.arrive(participant)
    assert place is not None
    return place


def test_least_valid_plus_active_is_served_first() -> None:
    """Arrivals spread evenly, ties are broken by the seed, and nobody is let in beyond the quota."""
    allocator, _ = _allocator(n_lists=10, need=12)
    given_lists = [_place(allocator, f"p{k}").list_number for k in range(120)]
    assert all(Counter(given_lists[: 10 * (k + 1)]) == dict.fromkeys(range(10), k + 1) for k in range(12))
    assert given_lists[:10] != sorted(given_lists[:10])
    assert [allocator.arrive(f"late{k}") for k in range(200)] == [None] * 200


def test_one_place_per_participant() -> None:
    """Who comes again gets the place they had, and no second one."""
    allocator, clock = _allocator()
    first = _place(allocator, "p")
    clock.now = 59
    again = _place(allocator, "p")
    assert (again.list_number, again.number, again.until) == (first.list_number, 1, 119)
    allocator.finish("p")
    assert _place(allocator, "p").state == "finished"
    assert len(allocator.places) == 1


def test_a_lease_that_ran_out_frees_the_place_and_a_late_comer_is_recorded() -> None:
    """After the lease somebody else gets the place; who comes back late is kept, surplus only if it was filled."""
    allocator, clock = _allocator(n_lists=1, need=1)
    _place(allocator, "slow")
    assert allocator.arrive("next") is None
    clock.now = 60
    assert _place(allocator, "next").list_number == 0
    late = allocator.finish("slow")
    assert (late.state, late.surplus) == ("finished", True)
    assert allocator.finish("next").surplus is False

    empty, clock = _allocator(n_lists=1, need=1)
    _place(empty, "slow")
    clock.now = 600
    assert empty.renew("slow").surplus is False
    assert empty.arrive("next") is None


def test_a_returned_place_is_free_at_once() -> None:
    """Returning or being timed out frees the place in the same second; the person gets no second one."""
    allocator, _ = _allocator(n_lists=1, need=1)
    _place(allocator, "a")
    allocator.release("a", reason="returned")
    assert _place(allocator, "b").number == 2
    assert _place(allocator, "a").state == "released"
    with pytest.raises(InputError, match="E632"):
        allocator.finish("a")


def test_exclusions_reopen_and_can_be_taken_back() -> None:
    """An excluded participant's place is open again; a judgement that falls away closes it again."""
    allocator, _ = _allocator(n_lists=1, need=1)
    _place(allocator, "a")
    allocator.finish("a")
    assert allocator.is_complete()
    allocator.set_exclusions({"a": "failed_catch"})
    assert not allocator.is_complete()
    assert allocator.place_of("a").reason == "failed_catch"
    assert _place(allocator, "b").list_number == 0
    allocator.set_exclusions({})
    assert allocator.place_of("a").state == "finished"
    with pytest.raises(InputError, match="E632"):
        allocator.set_exclusions({"b": "failed_catch"})
    with pytest.raises(InputError, match="E631"):
        allocator.set_exclusions({"nobody": "failed_catch"})


def test_the_first_wave_is_given_out_whoever_is_excluded() -> None:
    """First 120 places in 10 lists of need 10: 12 a list; afterwards only lists that lack valid answers open."""
    quota = Quota(need=10, first_wave=120)
    full = [Load(valid=12)] * 9
    assert choose_list([*full, Load(valid=11)], quota, seed=1, number=1) == 9
    assert choose_list([*full, Load(valid=12)], quota, seed=1, number=1) is None
    assert choose_list([*full, Load(valid=9, excluded=3)], quota, seed=1, number=1) == 9
    assert choose_list([*full, Load(valid=10, excluded=2)], quota, seed=1, number=1) is None
    assert choose_list([Load(valid=1)] * 2, Quota(need=5, people_at_most=2), seed=1, number=1) is None


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 5)] * 3), min_size=1, max_size=12), st.integers(1, 500))
def test_a_store_gets_the_same_choice(counts: list[tuple[int, int, int]], number: int) -> None:
    """Asked by list id, in whatever order, the choice is that of the counted lists."""
    loads = [Load(*each) for each in counts]
    by_id = {str(k + 1): load for k, load in enumerate(loads)}
    quota = Quota(4, first_wave=55)
    chosen = choose_list(loads, quota, seed=3, number=number)
    expected = None if chosen is None else str(chosen + 1)
    assert list_chooser(quota, seed=3)(dict(sorted(by_id.items())), number) == expected
    if chosen is not None:
        # a store with these places never refuses what is chosen
        assert loads[chosen].valid + loads[chosen].active < places_per_list(quota, len(loads))[chosen]


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), n_lists=st.integers(1, 6), need=st.integers(1, 5))
def test_any_sequence_of_events_keeps_the_quota(seed: int, n_lists: int, need: int) -> None:
    """Whatever happens, a list has at most its need of people who count, but for those who came back late."""
    rng, clock = random.Random(seed), Clock()
    allocator = Allocator(n_lists, Quota(need), lease_seconds=10, seed=seed, clock=clock)
    for step in range(150):
        clock.now += rng.random() * 4
        active = [place.participant for place in allocator.places if place.state == "active"]
        event = rng.choice(("arrive", "arrive", "finish", "renew", "release", "judge"))
        if event == "arrive":
            allocator.arrive(f"p{step}")
        elif event == "judge":
            done = [p.participant for p in allocator.places if p.finished is not None]
            allocator.set_exclusions({p: "rule" for p in done if p in _caught(seed)})
        elif active:
            who = rng.choice(active)
            {"finish": allocator.finish, "renew": allocator.renew}.get(
                event, lambda p: allocator.release(p, reason="returned")
            )(who)
        surplus = Counter(p.list_number for p in allocator.places if p.surplus)
        for number, load in enumerate(allocator.loads()):
            assert load.valid + load.active <= need + surplus[number]


def _caught(seed: int) -> frozenset[str]:
    return frozenset(f"p{k}" for k in random.Random(seed).sample(range(150), 15))


# -- published ------------------------------------------------------------------------------------------------


@pytest.mark.published
def test_sawc_lists(published: Path) -> None:
    """SAW-C's 812 pairs in 10 lists of 81 or 82: at most 3 pairs of a word (the 28-pair word), 24-25 same-sense."""
    items = import_items(published / "sawc" / "sawc_sentence_pairs.csv", dataset="sawc", language="es").items
    design = build_design(items, DesignSection(lists=10, balance=("same_sense",)), CatchSection(answer=5))
    assert sorted(len(members) for members in design.lists) == [81] * 8 + [82] * 2
    assert most(design, "word") == 3
    sizes = Counter(item.word for item in items)
    for members in design.lists:
        for word, n in Counter(item.word for item in members).items():
            assert n <= -(-sizes[word] // 10)
        assert 24 <= sum(bool(item.conditions["same_sense"]) for item in members) <= 25
    assert all(len(catch) == 1 for catch in design.catch)
    wanted = DesignSection(lists=10, confusion=(Confusion(at_most=2),))
    with pytest.raises(InputError, match="at least 14 lists"):
        build_design(items, wanted, CatchSection())


def test_quota_of_a_definition() -> None:
    """The quota is what the file declares."""
    study = _study(ratings=RatingsSection(per_item=7, first_wave=30, people_at_most=50))
    assert Quota.of(study) == Quota(need=7, first_wave=30, people_at_most=50)
