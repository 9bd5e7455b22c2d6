"""The store gives out lists as the definition declares: its transactions ask the same choice as a rehearsal."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lexiscope.annotation.rehearsal.simulate import Allocator
from lexiscope.annotation.store.record import NoPlaceLeft
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.assignment import Quota, list_chooser, places_per_list

from .made_study import made_study, open_store, qualified

QUOTA = Quota(need=3, first_wave=34)
CHOOSE = list_chooser(QUOTA, seed=7)
PLACES = {str(number): n for number, n in enumerate(places_per_list(QUOTA, 10), 1)}


def _take(store: Store, who: str) -> str | None:
    try:
        return store.take_place(who, choose=CHOOSE).list_id
    except NoPlaceLeft:
        return None


def test_the_store_chooses_as_the_rehearsal_does(tmp_path: Path) -> None:
    """The same arrivals get the same lists from the store's transactions and from the allocator of the rehearsal."""
    allocator = Allocator(10, QUOTA, lease_seconds=1800, seed=7, clock=lambda: 0.0)
    with open_store(tmp_path / "study", made_study(places=PLACES)) as store:
        for number in range(1, 41):
            place = allocator.arrive(f"p{number}")
            wanted = None if place is None else str(place.list_number + 1)
            assert _take(store, qualified(store)) == wanted
        assert [load.valid + load.active for load in store.loads().values()].count(4) == 4


def test_arrivals_at_once_get_exactly_the_quota(tmp_path: Path) -> None:
    """60 people at once for 34 places: 34 get one, no list has more than its part, the others none."""
    with open_store(tmp_path / "study", made_study(places=PLACES)) as store:
        people = [qualified(store) for _ in range(60)]
        with ThreadPoolExecutor(16) as pool:
            found = list(pool.map(lambda who: _take(store, who), people))
        assert sum(each is not None for each in found) == 34
        assert all(load.active <= PLACES[name] for name, load in store.loads().items())
