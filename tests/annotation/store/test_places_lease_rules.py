"""The store and the rehearsal give out, renew, free and judge places by the same rules: both get the same events."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from lexiscope.annotation.rehearsal.simulate import Allocator
from lexiscope.annotation.store.places import HasPlace, ListLoad
from lexiscope.annotation.store.record import NoPlaceLeft, Phase, State, StoredTrial
from lexiscope.annotation.study_file.assignment import Load, Quota, list_chooser, places_per_list
from lexiscope.annotation.study_file.assignment import has_place as rule_of

from .made_study import Clock, answer, made_study, open_store, qualified

HOLD = 600


def has_place(quota: Quota) -> HasPlace:
    """The rule of the assignment, as the store asks for it."""

    def ask(loads: dict[str, ListLoad], list_id: str) -> bool:
        counted = [Load(one.valid, one.active, one.excluded) for one in loads.values()]
        return rule_of(counted, list(loads).index(list_id), quota)

    return ask  # type: ignore[return-value]


class Places(RuleBasedStateMachine):
    """Whatever comes in whatever order, list, surplus and loads are the same."""

    # few lists and places: what matters happens where they are full
    @initialize(
        n_lists=st.integers(1, 2),
        need=st.integers(1, 2),
        wave=st.integers(0, 4),
        most=st.sampled_from([0, 0, 5]),
        seed=st.integers(0, 9),
    )
    def launch(self, n_lists: int, need: int, wave: int, most: int, seed: int) -> None:
        quota = Quota(need, wave, most)
        self.clock = Clock()
        begin = self.clock()
        self.allocator = Allocator(
            n_lists, quota, lease_seconds=HOLD, seed=seed, clock=lambda: (self.clock() - begin).total_seconds()
        )
        self.choose = list_chooser(quota, seed=seed)
        places = {str(number): n for number, n in enumerate(places_per_list(quota, n_lists), 1)}
        self.folder = TemporaryDirectory()
        self.store = open_store(
            Path(self.folder.name),
            made_study(places=places),
            unsafe_fast=True,
            clock=self.clock,
            has_place=has_place(quota),
        )
        self.people: list[str] = []

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.folder.cleanup()

    def _who(self, pick: st.DataObject, *states: str) -> str | None:
        known = [who for who in self.people if self.allocator.place_of(who).state in states]
        return pick.draw(st.sampled_from(known)) if known else None

    @rule()
    def arrive(self) -> None:
        who = qualified(self.store)
        place = self.allocator.arrive(who)
        try:
            list_id = self.store.take_place(who, hold=timedelta(seconds=HOLD), choose=self.choose).list_id
        except NoPlaceLeft:
            list_id = None
        assert list_id == (None if place is None else str(place.list_number + 1))
        if place is not None:
            self.people.append(who)
            self.store.lay_out(who, Phase.TRIALS, [StoredTrial("i0")])
            self.store.change_state(who, State.ACTIVE, reason="go")

    @rule(minutes=st.sampled_from([1, 4, 9, 10, 11]))
    def time_passes(self, minutes: int) -> None:
        self.clock.forward(minutes=minutes)

    @precondition(lambda self: self.people)
    @rule(pick=st.data())
    def renew(self, pick: st.DataObject) -> None:
        who = self._who(pick, "active")
        if who is not None:
            self.allocator.renew(who)
            self.store.renew_place(who, hold=timedelta(seconds=HOLD))

    @precondition(lambda self: self.people)
    @rule(pick=st.data())
    def finish(self, pick: st.DataObject) -> None:
        who = self._who(pick, "active")
        if who is not None:
            self.allocator.finish(who)
            self.store.submit(answer(who, "i0", 0))
            self.store.change_state(who, State.FINISHED, reason="answered all")

    @precondition(lambda self: self.people)
    @rule(pick=st.data())
    def give_back(self, pick: st.DataObject) -> None:
        who = self._who(pick, "active")
        if who is not None:
            self.allocator.release(who, reason="returned")
            self.store.change_state(who, State.RETURNED, reason="returned")

    @precondition(lambda self: self.people)
    @rule(pick=st.data())
    def judge(self, pick: st.DataObject) -> None:
        """A rule changes its mind about one person: in or out."""
        who = self._who(pick, "finished", "excluded")
        if who is None:
            return
        excluded = {one.participant: "rule" for one in self.allocator.places if one.state == "excluded"}
        out = who not in excluded
        self.allocator.set_exclusions(
            {**excluded, who: "rule"} if out else {k: v for k, v in excluded.items() if k != who}
        )
        self.store.change_state(who, State.EXCLUDED if out else State.ACCEPTED, reason="rule")

    @invariant()
    def both_agree(self) -> None:
        if not hasattr(self, "store"):
            return
        loads = [Load(one.valid, one.active, one.excluded) for one in self.store.loads().values()]
        assert loads == list(self.allocator.loads())
        mine = {one.participant_id: (one.number, one.list_id, one.surplus) for one in self.store.people()}
        for place in self.allocator.places:
            assert mine[place.participant] == (place.number, str(place.list_number + 1), place.surplus)


Places.TestCase.settings = settings(max_examples=12, stateful_step_count=24, deadline=None, derandomize=True)
TestPlaces = Places.TestCase


def test_an_excluded_answer_keeps_its_place_of_the_first_wave(tmp_path: Path) -> None:
    """Two of the first wave on a list that needs one: one is excluded, one is valid, and who comes late is surplus."""
    clock, quota = Clock(), Quota(need=1, first_wave=2)
    with open_store(tmp_path, made_study(places={"1": 2}), clock=clock, has_place=has_place(quota)) as store:

        def take() -> str:
            who = qualified(store)
            store.take_place(who, choose=list_chooser(quota, seed=1))
            store.lay_out(who, Phase.TRIALS, [StoredTrial("i0")])
            store.change_state(who, State.ACTIVE, reason="go")
            return who

        def finish(who: str) -> None:
            store.submit(answer(who, "i0", 0))
            store.change_state(who, State.FINISHED, reason="answered all")

        late, out = take(), take()
        finish(out)
        store.change_state(out, State.EXCLUDED, reason="rule")
        clock.forward(minutes=31)
        finish(take())
        # 1 valid of 1 needed, and 1 valid + 1 excluded of a first wave of 2
        assert store.renew_place(late).surplus
        # judged anew, the excluded one is what they were before
        store.change_state(out, State.ACCEPTED, reason="rule")
        assert {person.participant_id: person.surplus for person in store.people()}[out] is False
        assert store.loads()["1"].surplus == 1
