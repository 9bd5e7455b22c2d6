"""What the researcher watches: figures of the tables, each view by itself, who left, and what ``status`` prints."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from lexiscope.analysis.agreement.alpha import krippendorff_alpha
from lexiscope.analysis.agreement.raters import leave_one_out
from lexiscope.analysis.exclusion import FailedCatch, TooSlow, parse_rule
from lexiscope.analysis.ratings import Ratings
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
    progress_of,
    top_up_suggestions,
)
from lexiscope.annotation.phrases import ARE_TEXTS, NO_ANSWERS, NO_DATA, NO_INTERVAL, NO_VARIATION
from lexiscope.annotation.store.answers import planned_trials
from lexiscope.annotation.store.places import ListLoad
from lexiscope.annotation.store.record import BrowserAnswer, Phase, State
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import (
    AboutYou,
    AboutYouOption,
    CatchSection,
    DesignSection,
    LeaseSection,
    Payment,
    RatingsSection,
    StudyDefinition,
)
from lexiscope.annotation.study_file.definition_file import definition_yaml
from lexiscope.annotation.study_file.freeze import FrozenStudy
from lexiscope.annotation.study_file.study_folder import read_study
from lexiscope.cli.main import cli
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
    assert (one.n, one.lowest, one.highest) == (3, pytest.approx(0.5), pytest.approx(3**0.5 / 2))
    assert one.value == pytest.approx(float(np.mean(expected)))
    assert (alpha.name, alpha.n) == ("krippendorff_alpha(level=interval)", 9)
    assert alpha.value is not None


def test_agreement_has_the_interval_of_the_analysis() -> None:
    """With up to 50 raters the intervals are those of ``lexiscope agree``, and name what is resampled."""
    draws = np.random.default_rng(1).integers(-1, 2, (6, 9))
    rows = [rating(f"p{k}", f"i{n}", float(n % 5 + draws[k, n])) for k in range(6) for n in range(9)]
    one, alpha = agreement_so_far(ResponseTable.from_rows(rows), measure="rating")
    ratings = Ratings.from_table(ResponseTable.from_rows(rows), measure="rating")
    over_raters, over_both = leave_one_out(ratings).interval, krippendorff_alpha(ratings, level="interval").interval
    assert (one.low, one.high, one.resampled) == (over_raters.low, over_raters.high, "raters")
    assert (alpha.low, alpha.high, alpha.resampled) == (over_both.low, over_both.high, "raters_and_items")
    (two, _) = agreement_so_far(ResponseTable.from_rows(rows[:18]), measure="rating")
    assert two.value is not None
    assert (two.low, two.no_interval) == (None, NO_INTERVAL)


def test_agreement_says_why_it_has_no_value() -> None:
    """Nobody, one person, the same answer everywhere, texts: no number, a reason."""
    none = agreement_so_far(ResponseTable.empty(), measure="rating")
    assert none == (MonitoredStatistic("agreement", None, 0, why=NO_ANSWERS),)
    alone = agreement_so_far(ResponseTable.from_rows([rating("a", "i", 4.0)]), measure="rating")
    assert [str(figure.why) for figure in alone] == ["1 participant so far; 2 needed."] * 2
    two = [rating("a", "i", 4.0), rating("b", "i", 3.0), rating("b", "j", 2.0)]
    shared = agreement_so_far(ResponseTable.from_rows(two), measure="rating")
    assert str(shared[0].why) == "1 item with ratings by other participants; 3 needed."
    same = agreement_so_far(ResponseTable.from_rows([rating(w, i, 3.0) for w in "ab" for i in "ijk"]), measure="rating")
    assert [(figure.value, figure.why) for figure in same] == [(None, NO_VARIATION)] * 2
    texts = [rating("a", "i", None, measure="text", raw="a sentence")]
    assert agreement_so_far(ResponseTable.from_rows(texts), measure="text")[0].why == ARE_TEXTS


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
    assert [(rule, str(why)) for rule, why in found.waiting] == [
        ("too_slow(sd=3,measure=completion_time,missing=error)", "1 participant so far; the rule needs 2.")
    ]
    assert live_exclusions(rules, ResponseTable.empty()).excluded == {}
    broken = live_exclusions([parse_rule("self_report(measure=not_asked,value=no)")], ResponseTable.from_rows(rows))
    assert (broken.excluded, broken.waiting[0][1]) == ({}, NO_DATA)


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


N_ITEMS = 7


class Clock:
    """A clock that goes only when it is told to."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC) - timedelta(days=1)

    def __call__(self) -> datetime:
        return self.now

    def steady(self) -> float:
        return self.now.timestamp()

    def forward(self, minutes: float) -> None:
        self.now += timedelta(minutes=minutes)


def made_study(folder: Path) -> FrozenStudy:
    """Seven made pairs on one list, in two views, with two answers each wanted; 12 an hour are promised."""
    rows = [f"i{k},The word{k} lies here.,They sold a word{k}.,word{k}" for k in range(N_ITEMS)]
    (folder / "items.csv").write_text("\n".join(["item_id,sentence_1,sentence_2,target", *rows]) + "\n")
    definition = StudyDefinition(
        name="made",
        task="same_sense",
        language="en",
        items="items.csv",
        views=("full", "context"),
        design=DesignSection(lists=1, confusion=()),
        catch=CatchSection(per_list=0),
        ratings=RatingsSection(per_item=2),
        lease=LeaseSection(minutes=30),
        payment=Payment(amount=3, currency="GBP", hourly_least=12),
    )
    (folder / "study.yaml").write_text(definition_yaml(definition), encoding="utf-8")
    return read_study(folder / "study.yaml").freeze()


def take_part(store: Store, study: FrozenStudy, clock: Clock, name: str, *, answers: int = N_ITEMS) -> str:
    """Read for ten minutes, answer every minute; who answers all has finished."""
    who = store.invite(name)
    store.record_consent(who, text="I take part.", version="1")
    clock.forward(10)
    store.change_state(who, State.QUALIFIED, reason="no test")
    lease = store.take_place(who, choose=study.choose)
    trials = study.trials(lease.list_id, number=lease.ordinal)
    store.lay_out(who, Phase.TRIALS, trials)
    store.change_state(who, State.ACTIVE, reason="begins")
    for position, trial in enumerate(trials[:answers]):
        clock.forward(1)
        store.submit(BrowserAnswer(who, trial.item_id, Phase.TRIALS, f"{name}-{position:08}", position, option="t"))
    if answers == N_ITEMS:
        store.change_state(who, State.FINISHED, reason="answered all")
    return who


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[FrozenStudy, Clock, Store]:
    """The store of the made study, in whose folder the test runs."""
    monkeypatch.chdir(tmp_path)
    study, clock = made_study(tmp_path), Clock()
    return (
        study,
        clock,
        Store.open(tmp_path / "study", study.record, clock=clock, steady=clock.steady, unsafe_fast=True),
    )


def test_every_view_is_covered_by_itself(running: tuple[FrozenStudy, Clock, Store]) -> None:
    """Three people: two in full, one in context, which still needs one answer to each of its seven items.

    Over both views together every item would have three answers of the two that are needed.
    """
    study, clock, store = running
    with store:
        for name in ("first", "second", "third"):
            take_part(store, study, clock, name)
        now = progress_of(study, store)
    by_view = {one: (found.n_min, found.n_max, len(found.short)) for one, found in now.coverage.items()}
    assert by_view == {"full": (2, 2, 0), "context": (1, 1, N_ITEMS)} or by_view == {
        "full": (1, 1, N_ITEMS),
        "context": (2, 2, 0),
    }
    assert {found.minimum for found in now.coverage.values()} == {2}
    short = next(found for found in now.coverage.values() if found.short)
    lacking = next(view for view, found in now.coverage.items() if found.short)
    assert {now.views[one.list_id] for one in short.short} == {lacking}
    assert (now.valid, now.wanted, now.complete) == (3, 1 * 2 * 2, False)
    said = CliRunner().invoke(cli, ["annotate", "status", "study.yaml"], catch_exceptions=False).output
    text = " ".join(said.split())
    assert "Valid participants: 3 of 4 (2 lists × 2)" in text
    # five of the items are named, the rest counted
    assert f"in the view {lacking}: 1 to 1, mean 1.00; 7 items below the 2 needed (i0: 1," in text
    assert "i4: 1 and 2 more)" in text


def test_who_is_silent_has_left_until_they_come_back(running: tuple[FrozenStudy, Clock, Store]) -> None:
    """A place is held for 30 minutes: at 30 after the last answer it is lost, and an answer brings its holder back."""
    study, clock, store = running
    with store:
        who = take_part(store, study, clock, "slow", answers=2)
        store.invite("looked at the page")
        read = store.invite("read the consent")
        store.record_consent(read, text="I take part.", version="1")
        seen = []
        for minutes in (29, 1):
            clock.forward(minutes)
            now = progress_of(study, store)
            seen.append((now.at_it, now.left))
        # who only read the consent is not at it either, and was never a loss
        assert seen == [(2, 0), (0, 1)]
        trial = store.read(planned_trials, who)[2]
        store.submit(BrowserAnswer(who, trial.item_id, Phase.TRIALS, "slow-00000002", 2, option="f"))
        assert (progress_of(study, store).at_it, progress_of(study, store).left) == (1, 0)


def test_pay_counts_from_consent(running: tuple[FrozenStudy, Clock, Store]) -> None:
    """10 minutes of reading and 7 of trials: 3.00 is 10.59 an hour; of 12 an hour 3.40 would be due, 0.40 are owed.

    ``status`` names random ids; ``reconcile``, for the researcher's eyes, the ids of the platform.
    """
    study, clock, store = running
    with store:
        who = take_part(store, study, clock, "5f1e2d3c4b5a69788796a5b4")
    run = CliRunner()
    text = run.invoke(cli, ["annotate", "status", "study.yaml"], catch_exceptions=False).output
    assert f"Median session time: {10 + 7:.1f} min ({3 * 60 / 17:.2f} GBP per hour); paid in total: 3.00" in text
    assert "Median time on trials: 7.0 min" in text
    assert "Underpaid participants: 1; owed in total: 0.40 GBP" in " ".join(text.split())
    assert f"{who}: 17.0 min, 10.59 GBP per hour, owed 0.40" in text
    status = json.loads(run.invoke(cli, ["annotate", "status", "study.yaml", "--json"]).output)
    assert [one["owed"] for one in status["owed"]] == [0.4]
    assert "5f1e2d3c" not in text
    Path("platform.csv").write_text(
        "Submission id,Participant id,Status,Completion code\ns1,5f1e2d3c4b5a69788796a5b4,APPROVED,\n"
    )
    listed = run.invoke(cli, ["annotate", "reconcile", "study.yaml", "platform.csv"], catch_exceptions=False).output
    owed = listed.partition("Underpaid participants")[2]
    assert "5f1e2d3c4b5a69788796a5b4" in owed
    assert "0.40" in owed
