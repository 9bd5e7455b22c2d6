"""The budget: what is left out, in which order, and that it is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core.errors import InputError
from lexiscope.training.budget import Sizes, Speed, choose_protocol, cost_of, plan_budget, read_duration
from lexiscope.training.selection import Grid
from lexiscope.training.settings import TrainingSettings

from .tiny_views import QUICK, pairs, retrievals, senses

SETTINGS = TrainingSettings(epochs=10)
SIZES = Sizes(train=5_428, dev=638, test=1_400)
SPEEDS = {"full": Speed(0.02, 0.005), "word": Speed(0.01, 0.002)}


def test_the_cost_is_worked_out() -> None:
    """Nine trainings of ten epochs over train and dev on each view, and the test once."""
    by_hand = 9 * 10 * (5_428 * (0.02 + 0.01) + 638 * (0.005 + 0.002)) + 1_400 * (0.005 + 0.002)
    assert cost_of(SPEEDS, SIZES, Grid(), SETTINGS) == pytest.approx(by_hand)
    retrieval = replace(SIZES, entries=1_000, epoch_entries=100)
    more = 9 * (1_000 + 10 * 100) * (0.005 + 0.002)
    assert cost_of(SPEEDS, retrieval, Grid(), SETTINGS) == pytest.approx(by_hand + more)


@pytest.mark.parametrize(
    ("seconds", "protocol", "said"),
    [
        (1e6, "full", ()),
        (7_000, "reduced", ("2 of 3 learning rates",)),
        (2_200, "reduced", ("2 of 3 learning rates", "2 of 3 seeds, and with them the SD over seeds")),
        (
            700,
            "reduced",
            ("2 of 3 learning rates", "2 of 3 seeds, and with them the SD over seeds", "epochs beyond 3 (of 10)"),
        ),
        (
            150,
            "reduced",
            (
                "2 of 3 learning rates",
                "2 of 3 seeds, and with them the SD over seeds",
                "epochs beyond 3 (of 10)",
                "4,428 of 5,428 training items",
                "138 of 638 dev items",
            ),
        ),
        (10, "zero_shot", ("all training: layer and threshold of an encoder as it is are chosen on train and dev",)),
    ],
)
def test_what_is_left_out_is_said(seconds: float, protocol: str, said: tuple[str, ...]) -> None:
    """Rates go first, then seeds, epochs, items; then training itself. Every omission stands in the words."""
    plan = choose_protocol(SPEEDS, SIZES, seconds=seconds, grid=Grid(), settings=SETTINGS)
    assert (plan.protocol, plan.left_out) == (protocol, said)
    assert all(each in plan.words for each in said)
    assert plan.seconds_full == cost_of(SPEEDS, SIZES, Grid(), SETTINGS)
    if plan.protocol == "reduced":
        assert plan.grid.learning_rates == (2e-5,)


@given(st.floats(1, 1e6), st.floats(1e-4, 1.0))
def test_a_plan_keeps_its_budget(seconds: float, learnt: float) -> None:
    """Whatever the speed: a plan with training is expected to need at most its budget, with a margin of a quarter."""
    speeds = {"full": Speed(learnt, learnt / 4)}
    plan = choose_protocol(speeds, SIZES, seconds=seconds, grid=Grid(), settings=SETTINGS)
    assert plan.protocol == "zero_shot" or 1.25 * plan.seconds <= seconds


def test_durations() -> None:
    """Hours, minutes and seconds; anything else is refused."""
    assert [read_duration(text) for text in ("30m", "2h", "45", "1h2m3s")] == [1800, 7200, 45, 3723]
    for wrong in ("", "soon", "0m", "5d", "-3m"):
        with pytest.raises(InputError):
            read_duration(wrong)


@pytest.mark.parametrize(("method", "make"), [("pair", pairs), ("gloss", senses), ("bi_encoder", retrievals)])
def test_steps_are_measured(bert: Path, method: str, make: object) -> None:
    """A plan for the tiny encoder: with an hour nothing is left out, with a blink everything."""
    given_items = {"train": make(40), "dev": make(16)}  # type: ignore[operator]
    for seconds, protocol in ((3600.0, "full"), (1e-4, "zero_shot")):
        plan = plan_budget(
            method, ("full", "label"), **given_items, encoder=str(bert), seconds=seconds, settings=QUICK, n_test=10
        )
        assert plan.protocol == protocol
        assert 0 < plan.seconds <= plan.seconds_full
    with pytest.raises(InputError, match="not trained in steps"):
        plan_budget("threshold", ("full",), **given_items, encoder=str(bert), seconds=1.0)
