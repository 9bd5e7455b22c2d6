"""The figures of the overview and the pieces behind the pages, worked out by hand."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.annotation.export.pay import pay_top_ups
from lexiscope.annotation.store.overview import ListedParticipant
from lexiscope.annotation.store.places import ListLoad
from lexiscope.annotation.store.record import State
from lexiscope.annotation.study_file.definition import Payment
from lexiscope.annotation.web.admin import summary as summary_module
from lexiscope.annotation.web.admin.overview_page import key_figures, list_lines, needs_of, top_up_lines
from lexiscope.annotation.web.admin.summary import SummaryCache
from lexiscope.annotation.web.security import remember

from .made_admin import answer_by_rule, researcher, run, running
from .made_web import made_definition

START = "2026-03-01T12:00:00+00:00"


def person(
    number: int, state: State, minutes: int = 0, *, surplus: bool = False, silent: bool = False
) -> ListedParticipant:
    """A participant who took so many minutes."""
    end = f"2026-03-01T12:{minutes:02}:00+00:00" if minutes else None
    begun = START if minutes else None
    times = (START, begun, end, 5, end or START)
    return ListedParticipant(
        f"p{number}", state, "", "1", number, number, surplus, *times, consented_at=START, silent=silent
    )


def test_key_figures() -> None:
    """Times and pay are those of everybody who finished, the excluded too; surplus people count beside the wanted."""
    people = [
        person(1, State.FINISHED, 10),
        person(2, State.ACCEPTED, 20),
        person(3, State.EXCLUDED, 30),
        person(4, State.ACTIVE),
        person(5, State.CONSENTED),
        person(6, State.FINISHED, 20, surplus=True),
        person(7, State.RETURNED),
        person(8, State.ACTIVE, silent=True),
        replace(person(9, State.ACTIVE, silent=True), active_at=START),
    ]
    figures = key_figures(people, wanted=6, payment=Payment(amount=3, currency="GBP", hourly_least=9.5))
    assert (figures.valid, figures.wanted, figures.active, figures.excluded, figures.surplus) == (2, 6, 2, 1, 1)
    assert figures.pay.median_minutes == pytest.approx((20 + 20) / 2)
    assert figures.pay.hourly == pytest.approx(3 * 60 / 20)
    assert figures.is_underpaid
    # 9.5 an hour: 20 minutes are 3.1666…, 30 are 4.75; 10 are less than the 3 that were paid
    assert [(one.participant_id, one.owed) for one in figures.owed] == [("p3", 1.75), ("p2", 0.17), ("p6", 0.17)]
    # of those whose place ran out, the one who had begun the trials left; nobody of them is at it
    assert figures.dropped_out == 1


def test_places_that_were_added_are_wanted() -> None:
    """A list of ten to which two places were added needs twelve; one that got fewer needs what the study needs."""
    loads = {"1": ListLoad("1", 12, valid=9, active=1), "2": ListLoad("2", 8, valid=3)}
    needs = needs_of(loads, need=10, planned={"1": 10, "2": 10}.items())
    assert needs == {"1": 12, "2": 10}
    lines = list_lines(loads, needs, {"1": "full", "2": "full"})
    assert [(one.missing, one.free, one.view) for one in lines] == [(3, 2, ""), (7, 7, "")]
    assert [one.view for one in list_lines(loads, needs, {"1": "full", "2": "word"})] == ["full", "word"]


def test_suggested_places_let_all_in_at_once() -> None:
    """Half of those who finished were excluded: two valid people more are four to ask for, so two places are added."""
    people = [person(k, State.FINISHED, 10) for k in range(8)] + [person(8 + k, State.EXCLUDED, 10) for k in range(8)]
    loads = {"1": ListLoad("1", 10, valid=8, excluded=8)}
    (line,) = top_up_lines(people, loads, need=10, planned={"1": 10})
    assert (line.suggestion.needed, line.suggestion.ask) == (2, 4)
    assert line.places == 10 + (8 + 4 - 10)


def test_only_the_last_values_are_remembered() -> None:
    """The oldest values beyond the limit are removed; a key that comes again is the newest."""
    memory: OrderedDict[str, int] = OrderedDict()
    for number in range(12):
        remember(memory, str(number), number, most=10)
    assert list(memory) == [str(number) for number in range(2, 12)]
    remember(memory, "2", 0, most=10)
    remember(memory, "12", 12, most=10)
    assert list(memory)[:2] == ["4", "5"]
    assert list(memory)[-2:] == ["2", "12"]


def test_the_overview_names_who_is_owed(tmp_path: Path) -> None:
    """A14: whose pay comes to less than the promised minimum stands in the overview, under the random id, with the sum.

    The simulated sessions take a moment, and the minimum is so high that a moment is worth more than 0.
    """
    pay = Payment(amount=0, currency="GBP", hourly_least=1e6)
    with running(tmp_path, made_definition(payment=pay)) as app:
        answer_by_rule(app, 2, careless=0)
        owed = pay_top_ups(app.store.people(), amount=0, hourly_least=1e6)
        assert len(owed) == 2

        async def look() -> None:
            async with researcher(app) as browser:
                page = (await browser.get("/researcher")).text
                assert "Underpaid participants" in page
                for one in owed:
                    assert one.participant_id[:8] in page
                    assert f"{one.owed:.2f} GBP" in page
                assert f"{sum(one.owed for one in owed):.2f} GBP" in page
                assert "Dropped out" in page

        run(look)


def test_pages_do_not_wait_for_the_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the first look is made there is none; a later page has it; it is not made twice at once."""
    go_on, begun = threading.Event(), []
    real = summary_module.summarise_answers

    def slow(*arguments: object) -> object:
        begun.append(1)
        go_on.wait(20)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(summary_module, "summarise_answers", slow)
    with running(tmp_path) as app:
        answer_by_rule(app, 2, careless=0)
        summaries = SummaryCache(app.study, app.store, patience=0.01)
        assert [summaries.latest() for _ in range(5)] == [None] * 5
        assert begun == [1]
        go_on.set()
        summaries.patience = 20
        found = summaries.latest()
        assert found is not None
        # two lists of three items: two people on different lists give every item one answer
        assert {one.valid for one in found.items} == {1}
        assert summaries.latest() is found
        summaries.refresh()
        assert summaries.latest() is not found
