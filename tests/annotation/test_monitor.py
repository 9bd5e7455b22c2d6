"""What the researcher watches: each figure is that of the tables, and says why where it has no value."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lexiscope.analysis.exclusion import FailedCatch, TooSlow, parse_rule
from lexiscope.annotation.monitor import (
    ListProgress,
    Losses,
    MonitoredStatistic,
    about_summaries,
    agreement_so_far,
    is_active,
    item_coverage,
    list_progress,
    live_exclusions,
    losses,
    top_up_suggestions,
)
from lexiscope.annotation.store.places import ListLoad
from lexiscope.annotation.study_file.definition import AboutYou, AboutYouOption
from lexiscope.core.response import Response, ResponseTable
from lexiscope.datasets import saw_c

from .made_people import BEGAN, Somebody, person


def rating(who: str, item: str, value: float | None, **more: object) -> Response:
    """One answer."""
    given = {"task": "relatedness", "measure": "rating", "value": value, "list_id": "1"}
    return Response(who, "participant", item, **{**given, **more})  # type: ignore[arg-type]


def test_lists_come_in_their_order() -> None:
    """List 2 stands before list 10; free places and share are those of the counts."""
    loads = {"10": ListLoad("10", 4, 4, 0, 1), "2": ListLoad("2", 4, 1, 2, 0)}
    assert list_progress(loads) == (ListProgress("2", 4, 1, 2, 0, 1), ListProgress("10", 4, 4, 0, 1, 0))
    assert [one.share for one in list_progress(loads)] == [1 / 4, 1.0]


@pytest.mark.published
def test_coverage_of_the_published_ratings(published: Path) -> None:
    """S13: 10 / 13.10 / 17 ratings per pair; a minimum of 11 finds those of the two lists with 10 people."""
    data = saw_c.load(published, models=(), views=("full+final_stop",))
    lists = {item.item_id: str(item.list_id) for item in data.items}
    found = item_coverage(data.responses, lists, minimum=10, measure="rating")
    assert (found.n_min, round(found.n_mean, 2), found.n_max, found.n_items) == (10, 13.10, 17, 812)
    assert found.short == ()
    more = item_coverage(data.responses, lists, minimum=11, measure="rating")
    assert {(one.list_id, one.needed) for one in more.short} == {("6", 1), ("8", 1)}


def test_items_that_nobody_answered_are_short() -> None:
    """Coverage knows every item of the lists; a row without an answer is none."""
    table = ResponseTable.from_rows([rating("a", "i", 4.0), rating("b", "i", None), rating("a", "catch", 5.0)])
    found = item_coverage(table, {"i": "1", "j": "2"}, minimum=2, measure="rating")
    assert (found.n_min, found.n_mean, found.n_max) == (0, 0.5, 1)
    assert [(one.item_id, one.needed) for one in found.short] == [("i", 1), ("j", 2)]


def test_agreement_with_its_range_and_n() -> None:
    """Leave-one-out as the analysis computes it, alpha on the interval level, both with n."""
    values = {"a": [1, 2, 3], "b": [1, 3, 2], "c": [2, 3, 4]}
    rows = [rating(who, item, v) for who, given in values.items() for item, v in zip("ijk", given, strict=True)]
    one, alpha = agreement_so_far(ResponseTable.from_rows(rows), measure="rating")
    # the worked example of leave_one_out: .866, .5, .866
    expected = [3**0.5 / 2, 0.5, 3**0.5 / 2]
    assert (one.n, one.low, one.high) == (3, pytest.approx(0.5), pytest.approx(3**0.5 / 2))
    assert one.value == pytest.approx(float(np.mean(expected)))
    assert (alpha.name, alpha.n) == ("krippendorff_alpha(level=interval)", 9)
    assert alpha.value is not None


def test_agreement_says_why_it_has_no_value() -> None:
    """Nobody, one person, the same answer everywhere, texts: no number, a reason."""
    none = agreement_so_far(ResponseTable.empty(), measure="rating")
    assert none == (MonitoredStatistic("agreement", None, 0, why="nobody's answers count yet"),)
    alone = agreement_so_far(ResponseTable.from_rows([rating("a", "i", 4.0)]), measure="rating")
    assert all(figure.value is None and figure.why for figure in alone)
    same = agreement_so_far(ResponseTable.from_rows([rating(w, i, 3.0) for w in "ab" for i in "ijk"]), measure="rating")
    assert all(figure.value is None and figure.why for figure in same)
    texts = [rating("a", "i", None, measure="text", raw="a sentence")]
    assert "texts" in agreement_so_far(ResponseTable.from_rows(texts), measure="text")[0].why


def test_choices_have_nominal_alpha() -> None:
    """Options have no rank: alpha on the nominal level; ratings t t / f f / t f: 1 − 5 · 2 / (6² − 3² − 3²)."""
    given = {"i": "tt", "j": "ff", "k": "tf"}
    rows = [
        rating(who, item, None, measure="choice", option=option)
        for item, options in given.items()
        for who, option in zip("ab", options, strict=True)
    ]
    (alpha,) = agreement_so_far(ResponseTable.from_rows(rows), measure="choice")
    assert (alpha.name, alpha.value, alpha.n) == ("krippendorff_alpha(level=nominal)", pytest.approx(1 - 10 / 18), 6)


def test_live_exclusions_and_rules_that_wait() -> None:
    """Who failed the catch trial is out at once; a rule on times waits for two people; a broken one says why."""
    rows = [rating("a", "c", 1.0), rating("b", "c", 5.0)]
    rows += [rating("b", "completion_time", 60_000.0, measure="completion_time")]
    rules = [FailedCatch(("c",), 5.0), TooSlow(3.0)]
    found = live_exclusions(rules, ResponseTable.from_rows(rows))
    assert list(found.excluded) == ["a"]
    assert found.excluded["a"].startswith("failed_catch(")
    assert found.waiting == (
        ("too_slow(sd=3,measure=completion_time,missing=error)", "1 person can be compared so far"),
    )
    assert live_exclusions(rules, ResponseTable.empty()).excluded == {}
    broken = live_exclusions([parse_rule("self_report(measure=nobody_asked,value=no)")], ResponseTable.from_rows(rows))
    assert (broken.excluded, broken.waiting[0][0]) == ({}, "the rules")


def test_losses_and_what_to_ask_for() -> None:
    """Of 10 who began 2 left; of the 8 who finished 2 are excluded: 3 valid ones need 3 / (.8 × .75) = 5 people."""
    people = [person(f"f{k}", 12) for k in range(6)] + [person(f"x{k}", 12, "excluded") for k in range(2)]
    people += [person(f"l{k}", None, "returned") for k in range(2)]
    people += [person("at it", None, "active"), Somebody("never began", "timed_out")]
    lost = losses(people)
    assert lost == Losses(n_begun=10, dropout=0.2, n_finished=8, exclusion=0.25)
    progress = [
        ListProgress("1", 10, 7, 0, 2, 3),
        ListProgress("2", 10, 10, 0, 0, 0),
        ListProgress("3", 10, 8, 4, 0, 0),
    ]
    # list 3: 4 who are at it, of whom 4 × .6 = 2.4 are expected: 2 are needed, nobody is to be asked
    (one,) = top_up_suggestions(progress, lost, per_item=10)
    assert (one.list_id, one.needed, one.ask) == ("1", 3, 5)
    silent = [Somebody(f"s{k}", "active", active_at=BEGAN.isoformat(), silent=True) for k in range(2)]
    before = [Somebody("read the consent", "consented", silent=True)]
    # whose place ran out left until they come back; who had not begun the trials is nobody's loss
    assert losses(people + silent + before) == Losses(n_begun=12, dropout=4 / 12, n_finished=8, exclusion=0.25)
    assert [is_active(one) for one in (people[-2], silent[0], before[0], people[0])] == [True, False, False, False]
    nobody = losses([])
    assert (nobody.dropout, nobody.exclusion) == (None, None)
    assert top_up_suggestions(progress[:1], nobody, per_item=10)[0].ask == 3


def test_what_participants_said_about_themselves() -> None:
    """S14: counts by option in the order of the form, options nobody chose with 0; age with mean, median, range."""
    questions = [
        AboutYou(
            measure="country",
            text="?",
            options=(AboutYouOption(value="MX", text="México"), AboutYouOption(value="US", text="US")),
        ),
        AboutYou(measure="age", text="?", kind="number"),
        AboutYou(measure="job", text="?", kind="text"),
    ]
    rows = [rating(f"p{k}", "about:country", None, measure="country", option="MX") for k in range(3)]
    rows += [rating(f"p{k}", "about:age", age, measure="age") for k, age in enumerate((20.0, 28.0, 59.0))]
    rows += [rating("p0", "about:job", None, measure="job", raw="baker")]
    country, age, job = about_summaries(ResponseTable.from_rows(rows), questions)
    assert (country.n, country.counts) == (3, (("MX", 3), ("US", 0)))
    assert (age.n, age.mean, age.median, age.low, age.high) == (3, (20 + 28 + 59) / 3, 28.0, 20.0, 59.0)
    assert job.n == 1
