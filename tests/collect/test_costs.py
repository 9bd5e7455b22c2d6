"""What a collection would cost: models are timed on some of the items, what is finished costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lexiscope.collect import collect, kept_answers
from lexiscope.collect.costs import PROBED, collection_costs, costs_of_work, total_cost
from lexiscope.core import catalog
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import InputError, SubjectError
from lexiscope.core.subject import Floats
from lexiscope.core.usage import Usage

ITEMS = catalog.dataset("mini_relatedness").items


class Slow:
    """An encoder that counts what it is asked."""

    kind = "encoder"
    layers = (0,)

    def __init__(self, broken: bool = False) -> None:
        self.asked: list[int] = []
        self.broken = broken
        self.subject_id = "encoder:slow"
        self.facts = SubjectFacts(self.subject_id, kind=self.kind)

    def embed(self, usages: Sequence[Usage], **_: Any) -> Floats:
        self.asked.append(len(usages))
        if self.broken:
            raise SubjectError("it is broken")
        return np.ones((len(usages), 1, 2), dtype=np.float32)


def test_a_model_is_timed_on_some_items() -> None:
    """On one item, which loads it, then on 32 of all; the hours are for all items."""
    slow = Slow()
    (cost,) = collection_costs(ITEMS, [slow], "relatedness")
    assert len(slow.asked) == 2
    assert slow.asked[1] <= 2 * PROBED < len(ITEMS)
    assert (cost.probed, cost.n_items, cost.n_requests, cost.sends) == (PROBED, len(ITEMS), 0, False)
    assert cost.device_hours is not None
    assert cost.device_hours > 0


def test_a_model_that_fails_has_no_time() -> None:
    """The reason is there, and the total is not known."""
    (cost,) = collection_costs(ITEMS, [Slow(broken=True)], "relatedness")
    assert (cost.device_hours, cost.probed) == (None, 0)
    assert "it is broken" in cost.assumption
    assert total_cost([cost])["device_hours"] is None


def test_what_is_finished_costs_nothing(tmp_path: Path) -> None:
    """Answers of a run folder and of the cache, each for its own items; a model is not asked for them."""
    collect(ITEMS, [Slow()], "relatedness", out=tmp_path / "run")
    kept_answers(ITEMS[:40], Slow(), "relatedness", cache=tmp_path / "cache")
    slow = Slow()
    (run,) = collection_costs(ITEMS, [slow], "relatedness", out=tmp_path / "run")
    (cached,) = collection_costs(ITEMS[:40], [slow], "relatedness", cache=tmp_path / "cache")
    assert (run.device_hours, cached.device_hours, slow.asked) == (0, 0, [])
    (other,) = collection_costs(ITEMS[:41], [slow], "relatedness", cache=tmp_path / "cache")
    assert other.probed == PROBED


def test_the_collections_of_some_work_are_counted(tmp_path: Path) -> None:
    """Each is counted and asks nothing; work that needs answers, or a request, is followed until then."""
    chat, served = "chat:m@http://127.0.0.1:1/v1?retries=0", "completions:m@http://127.0.0.1:1/v1?retries=0"
    slow = Slow()

    def work() -> None:
        assert len(collect(ITEMS, [slow, chat], "relatedness", out=tmp_path / "run")) == 0
        collect(ITEMS[:5], [served], "relatedness", views=("full", "word"))
        assert "served" in str(catalog.subject(served).facts)

    costs, why = costs_of_work(work)
    assert [(cost.subject.split(":")[0], cost.view, cost.n_items, cost.n_requests) for cost in costs] == [
        ("encoder", "full", len(ITEMS), 0),
        ("chat", "full", len(ITEMS), len(ITEMS)),
        ("completions", "full", 5, None),
        ("completions", "word", 5, None),
    ]
    assert why == "a dry run sends no request"
    assert not (tmp_path / "run").exists()
    assert len(collect(ITEMS[:3], [slow], "relatedness")) == 3, "counting ends with the work"

    def failing() -> None:
        raise InputError("nothing to ask")

    with pytest.raises(InputError, match="nothing to ask"):
        costs_of_work(failing)
