"""Pay per hour is that of the whole session; who earned too little is owed the rest."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from lexiscope.annotation.export.pay import hourly_pay, pay_so_far, pay_top_ups
from lexiscope.core.errors import StatisticError

from ..made_people import BEGAN, person


def test_the_hourly_pay_of_saw_c() -> None:
    """S08: 2.40 for 12 min 23 s is 11.63 an hour; the printed 11.64 needs a median between 741.95 and 742.59 s."""
    assert hourly_pay(2.40, 12 * 60 + 23) == pytest.approx(2.40 * 3600 / 743)
    assert f"{hourly_pay(2.40, 743):.2f}" == "11.63"
    assert [f"{hourly_pay(2.40, seconds):.2f}" for seconds in (741.96, 742, 742.58)] == ["11.64"] * 3
    assert {f"{hourly_pay(2.40, seconds):.2f}" for seconds in (741.9, 742.7)} == {"11.65", "11.63"}
    with pytest.raises(StatisticError):
        hourly_pay(2.40, 0)


def test_pay_is_over_everybody_who_finished() -> None:
    """The median of 10, 12 and 20 minutes; the excluded one was paid too; who is at it has no time."""
    people = [person("a", 10), person("b", 12, "excluded"), person("c", 20, "accepted"), person("d", None, "active")]
    found = pay_so_far(people, amount=3, currency="EUR")
    assert (found.n, found.median_minutes, found.hourly, found.total) == (3, 12.0, 3 * 60 / 12, 9)
    assert (found.least_minutes, found.most_minutes) == (10.0, 20.0)
    set_back = replace(people[0], finished_at=(BEGAN - timedelta(hours=1)).isoformat())
    assert pay_so_far([set_back], amount=3, currency="EUR").n_without_time == 1
    assert pay_so_far([], amount=3, currency="EUR").hourly is None


def test_pay_is_for_the_whole_session() -> None:
    """Consent at 12:00, first trial at 12:08, last answer at 12:20: 20 minutes are paid, 12 are those of the trials."""
    consented = (BEGAN - timedelta(minutes=8)).isoformat()
    one = replace(person("a", 12), consented_at=consented)
    found = pay_so_far([one], amount=3, currency="EUR")
    assert (found.median_minutes, found.median_trial_minutes, found.hourly) == (20.0, 12.0, 3 * 60 / 20)
    # 10 an hour are 3.333… for 20 minutes, and would be 2 for 12
    (due,) = pay_top_ups([one], amount=3, hourly_least=10)
    assert (due.minutes, due.owed) == (20.0, 0.34)


def test_who_earned_too_little_gets_the_rest() -> None:
    """A14: at 11 an hour, 30 minutes are 5.50: with 2.40 paid, 3.10 are owed; 13 minutes are 2.383…: nothing."""
    people = [person("fast", 13), person("slow", 30), person("odd", 13.5, "excluded"), person("left", None, "returned")]
    found = pay_top_ups(people, amount=2.40, hourly_least=11)
    assert [(one.participant_id, one.owed) for one in found] == [("slow", 3.10), ("odd", 0.08)]
    # 11 × 13.5 / 60 − 2.40 = 0.075, rounded up to 0.08
    assert found[0].hourly == pytest.approx(4.80)
    assert pay_top_ups(people, amount=2.40, hourly_least=0) == ()
    assert pay_top_ups([person("exact", 12)], amount=2.40, hourly_least=12) == ()
