"""Exactly the planted violators are excluded, each by one rule, and a rule that cannot judge is an error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lexiscope.analysis.exclusion import (
    RULES,
    AttentionCheck,
    FailedCatch,
    FailedQualification,
    LowAgreement,
    Rule,
    SelfReport,
    ThresholdRule,
    TooSlow,
    apply,
    format_rule,
    parse_rule,
)
from lexiscope.core.errors import InputError, SpecError, StatisticError
from lexiscope.core.response import ResponseTable

PREREGISTERED: tuple[Rule, ...] = (
    FailedCatch(items=("catch",), expected=5),
    TooSlow(sd=3),
    LowAgreement(r_squared=0.1, ignore_items=("catch",)),
    SelfReport(measure="native_speaker", value=0),
)


def rows_of(subject: str, measure: str, values: dict[str, float | None]) -> list[tuple[str, str, str, float | None]]:
    return [(subject, item, measure, value) for item, value in values.items()]


def table_of(rows: list[tuple[str, str, str, Any]], **more: Any) -> ResponseTable:
    subjects, items, measures, values = zip(*rows, strict=True)
    columns = {
        "subject_id": list(subjects),
        "subject_kind": "participant",
        "item_id": list(items),
        "task": "relatedness",
        "measure": list(measures),
        "value": list(values),
        **more,
    }
    return ResponseTable.from_columns(columns)


def person(
    subject: str,
    ratings: dict[str, float],
    *,
    catch: float = 5.0,
    minutes: float = 12.0,
    native: float = 1.0,
) -> list[tuple[str, str, str, Any]]:
    return [
        *rows_of(subject, "rating", {**ratings, "catch": catch}),
        *rows_of(subject, "completion_time", {"session": minutes * 60_000}),
        *rows_of(subject, "native_speaker", {"form": native}),
    ]


def simulated(n_good: int = 30, n_items: int = 40) -> tuple[list[tuple[str, str, str, Any]], dict[str, float]]:
    """Attentive people who follow one truth with a little noise, and that truth."""
    generator = np.random.default_rng(3)
    truth = {f"i{item:02}": float(value) for item, value in enumerate(generator.integers(1, 6, n_items))}
    rows = []
    for number in range(n_good):
        noise = generator.integers(-1, 2, n_items)
        ratings = {item: float(np.clip(value + e, 1, 5)) for (item, value), e in zip(truth.items(), noise, strict=True)}
        rows += person(f"good{number:03}", ratings, minutes=float(generator.normal(12, 1)))
    return rows, truth


def upside_down(truth: dict[str, float]) -> dict[str, float]:
    return {item: 6 - value for item, value in truth.items()}


def unrelated(truth: dict[str, float], seed: int) -> dict[str, float]:
    """Ratings of somebody who clicks in a pattern that has nothing to do with the items."""
    values = np.array(list(truth.values()))
    pattern = np.resize([1.0, 5.0, 2.0, 4.0, 3.0], len(values))
    generator = np.random.default_rng(seed)
    while np.corrcoef(pattern, values)[0, 1] ** 2 > 0.02:
        pattern = generator.permutation(pattern)
    return dict(zip(truth, pattern.tolist(), strict=True))


def test_exactly_the_planted_violators_are_excluded() -> None:
    """One violator per rule, and one of two rules: each is attributed to the first rule that caught them."""
    rows, truth = simulated()
    rows += person("catch_failed", truth, catch=4)
    rows += person("slow", truth, minutes=90)
    rows += person("clicker", unrelated(truth, 1))
    rows += person("reversed", upside_down(truth))
    rows += person("learner", truth, native=0)
    rows += person("twice", truth, catch=1, native=0)
    found = apply(PREREGISTERED, table_of(rows))
    rules = [format_rule(rule) for rule in PREREGISTERED]
    assert found.attribution == {
        "catch_failed": rules[0],
        "twice": rules[0],
        "slow": rules[1],
        "clicker": rules[2],
        "reversed": rules[2],
        "learner": rules[3],
    }
    assert (found.n_before, found.n_after) == (36, 30)
    assert sorted(found.kept.unique("subject_id")) == [f"good{number:03}" for number in range(30)]


def test_the_log_adds_up() -> None:
    """Before − excluded = after, each rule starts where the last one ended, and trials are counted with it."""
    rows, truth = simulated()
    rows += person("catch_failed", truth, catch=4) + person("slow", truth, minutes=90)
    found = apply(PREREGISTERED, table_of(rows))
    assert [entry.order for entry in found.log] == [1, 2, 3, 4]
    assert [(entry.n_before, entry.n_excluded, entry.n_after) for entry in found.log] == [
        (32, 1, 31),
        (31, 1, 30),
        (30, 0, 30),
        (30, 0, 30),
    ]
    # 40 items and a catch item per person
    assert [(entry.trials_before, entry.trials_after) for entry in found.log] == [
        (32 * 41, 31 * 41),
        (31 * 41, 30 * 41),
        (30 * 41, 30 * 41),
        (30 * 41, 30 * 41),
    ]
    assert (found.trials_before, found.trials_after) == (32 * 41, 30 * 41)
    assert found.log[0].description.startswith("Excluded if more than 0 of the catch items catch")


def test_statistics_are_of_those_still_in() -> None:
    """The extreme time of somebody excluded before does not hide the slow one; in the other order it does."""
    rows, truth = simulated(12)
    rows += person("asleep", truth, catch=1, minutes=2000) + person("slow", truth, minutes=60)
    catch, slow = FailedCatch(items=("catch",), expected=5), TooSlow(sd=3)
    assert set(apply([catch, slow], table_of(rows)).attribution) == {"asleep", "slow"}
    # mean and SD over all 14 are so large that nobody but the sleeper is far above the mean
    assert apply([slow, catch], table_of(rows)).attribution == {"asleep": format_rule(slow)}


def test_the_order_of_rows_and_the_names_do_not_matter() -> None:
    """Permuting rows gives the same exclusions and the same kept subjects."""
    rows, truth = simulated()
    rows += person("clicker", unrelated(truth, 1)) + person("learner", truth, native=0)
    order = np.random.default_rng(0).permutation(len(rows))
    first, second = (apply(PREREGISTERED, table_of(some)) for some in (rows, [rows[k] for k in order]))
    assert first.log == second.log
    assert sorted(first.kept.unique("subject_id")) == sorted(second.kept.unique("subject_id"))


def test_the_square_alone_keeps_a_reversed_scale() -> None:
    """r² < .1 as worded keeps r = −.9; ``require_positive`` (the default) does not, and its sentence says so."""
    rows, truth = simulated()
    rows += person("reversed", upside_down(truth))
    plain = LowAgreement(require_positive=False, ignore_items=("catch",))
    assert apply([plain], table_of(rows)).attribution == {}
    strict = LowAgreement(ignore_items=("catch",))
    assert set(apply([strict], table_of(rows)).attribution) == {"reversed"}
    assert "or if r is not positive" in strict.describe()
    assert "or if r is not positive" not in plain.describe()


def test_a_constant_rater_must_be_decided_about() -> None:
    """Their agreement is undefined: an error by default that names them, or exclusion, or keeping with a log entry."""
    rows, truth = simulated(10)
    rows += person("flat", dict.fromkeys(truth, 3.0))
    with pytest.raises(InputError, match=r"low_agreement.*first 'flat': gave 3 to all 40 items"):
        apply([LowAgreement(ignore_items=("catch",))], table_of(rows))
    out = apply([LowAgreement(ignore_items=("catch",), missing="exclude")], table_of(rows))
    assert out.log[0].excluded == ("flat",)
    kept = apply([LowAgreement(ignore_items=("catch",), missing="keep")], table_of(rows))
    assert kept.attribution == {}
    assert kept.log[0].not_judged == (("flat", "gave 3 to all 40 items"),)


@pytest.mark.parametrize(
    "rule",
    [
        FailedCatch(items=("unseen",), expected=5),
        TooSlow(measure="no_such_time"),
        LowAgreement(measure="no_such_rating"),
        SelfReport(measure="no_such_question", value=0),
        AttentionCheck(),
        FailedQualification(minimum=0.8),
        ThresholdRule(measure="no_such_measure", side="above", bound=1),
    ],
)
def test_a_rule_without_its_measure_is_an_error(rule: Rule) -> None:
    """A rule that cannot be judged would pass everybody: it names itself and the measure instead."""
    rows, _ = simulated(4)
    with pytest.raises(InputError, match="cannot be judged") as caught:
        apply([rule], table_of(rows))
    assert format_rule(rule) in str(caught.value)


def test_a_participant_without_the_answer_is_an_error_unless_declared() -> None:
    """Somebody without a completion time is neither fast nor slow."""
    rows, truth = simulated(5)
    rows += rows_of("untimed", "rating", truth)
    with pytest.raises(InputError, match="first 'untimed': has 0 values"):
        apply([TooSlow()], table_of(rows))
    assert apply([TooSlow(missing="exclude")], table_of(rows)).log[0].excluded == ("untimed",)
    assert apply([TooSlow(missing="keep")], table_of(rows)).log[0].not_judged == (("untimed", "has 0 values of value"),)


def test_nobody_left_or_nobody_there_is_an_error() -> None:
    """A rule after everybody is gone cannot be judged, nor can a table without participants."""
    rows, _ = simulated(3)
    everybody = SelfReport(measure="native_speaker", value=1)
    with pytest.raises(InputError, match="earlier rules excluded every participant"):
        apply([everybody, TooSlow()], table_of(rows))
    with pytest.raises(InputError, match="no subject of the kind 'participant'"):
        apply([everybody], table_of(rows, subject_kind="encoder"))
    with pytest.raises(StatisticError, match=r"too_slow.*1 completion times have no standard deviation"):
        apply([TooSlow()], table_of(person("one", {"i": 1.0})))


def test_models_pass_through() -> None:
    """Rules judge people; the rows of a model stay."""
    rows, _ = simulated(4)
    kinds = ["participant"] * len(rows) + ["encoder"]
    rows += [("encoder:small", "i00", "cosine_distance", 0.2)]
    found = apply([SelfReport(measure="native_speaker", value=1)], table_of(rows, subject_kind=kinds))
    assert found.kept.unique("subject_id") == ("encoder:small",)
    assert (found.n_before, found.n_after, found.trials_after) == (4, 0, 0)


def test_no_rules_keep_everything() -> None:
    """An empty list of rules is a declared decision too."""
    rows, _ = simulated(3)
    table = table_of(rows)
    assert apply([], table).kept == table


def test_catch_items_with_tolerance_allowance_and_silence() -> None:
    """A tolerance of 1 accepts a 4, one allowed failure accepts one miss, and no readable answer is a failure."""
    rows = [
        *rows_of("near", "rating", {"c1": 4.0, "c2": 5.0}),
        *rows_of("once", "rating", {"c1": 1.0, "c2": 5.0}),
        *rows_of("mute", "rating", {"c1": None, "c2": None}),
    ]
    items = ("c1", "c2")
    assert set(apply([FailedCatch(items, 5)], table_of(rows)).attribution) == {"near", "once", "mute"}
    assert set(apply([FailedCatch(items, 5, tolerance=1)], table_of(rows)).attribution) == {"once", "mute"}
    assert set(apply([FailedCatch(items, 5, tolerance=1, allowed=1)], table_of(rows)).attribution) == {"mute"}


def test_attention_qualification_and_threshold() -> None:
    """A failed check, a score below the minimum, and a median response time below a bound."""
    rows = [
        *rows_of("fine", "attention_check", {"a": 1.0}),
        *rows_of("absent", "attention_check", {"a": 0.0}),
        *rows_of("fine", "qualification", {"q1": 1.0, "q2": 1.0}),
        *rows_of("absent", "qualification", {"q1": 1.0, "q2": 0.0}),
    ]
    table = table_of(rows, rt_ms=[900.0, 100.0, 900.0, 1000.0, 150.0, 120.0])
    for rule in (
        AttentionCheck(),
        FailedQualification(minimum=0.75),
        ThresholdRule("qualification", "below", 200, summary="median", column="rt_ms"),
        ThresholdRule("qualification", "below", 1, summary="min"),
        ThresholdRule("qualification", "below", 2, summary="sum"),
        ThresholdRule("qualification", "above", 0.5, summary="sd"),
    ):
        assert set(apply([rule], table).attribution) == {"absent"}, rule
    assert apply([ThresholdRule("qualification", "above", 1, summary="max")], table).attribution == {}


def test_a_self_report_can_be_an_option() -> None:
    """An answer given as text is compared as text; a skipped question is undecided."""
    rows = [("a", "form", "native_language", None), ("b", "form", "native_language", None)]
    rule = SelfReport(measure="native_language", value="other")
    table = table_of(rows, option=["spanish", "other"])
    assert set(apply([rule], table).attribution) == {"b"}
    with pytest.raises(InputError, match="first 'a': did not answer native_language"):
        apply([rule], table_of(rows, option=[None, "other"]))


def test_rules_print_and_parse_back() -> None:
    """Every rule is text in a study file, with all its settings, and reads back as itself."""
    rules: list[Rule] = [
        *PREREGISTERED,
        AttentionCheck(allowed=1),
        FailedQualification(minimum=0.75),
        SelfReport(measure="native_language", value="other", missing="keep"),
        ThresholdRule(measure="rating", side="below", bound=1234567.125, summary="median", column="rt_ms"),
        LowAgreement(require_positive=False, method="spearman"),
    ]
    for rule in rules:
        assert parse_rule(format_rule(rule)) == rule
    assert {format_rule(rule).partition("(")[0] for rule in rules} == set(RULES)
    assert parse_rule("too_slow(sd=2.5)") == TooSlow(sd=2.5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("boredom(sd=3)", "no exclusion rule 'boredom'"),
        ("too_slow(3)", r"'too_slow\(3\)' is not an exclusion rule(.|\n)*name\(setting=value,…\)(.|\n)*failed_catch"),
        ("too_slow(sigma=3)", "no setting 'sigma'"),
        ("too_slow(sd=three)", "sd is a number"),
        ("failed_catch(expected=5)", "needs items"),
        ("threshold(measure=m,side=beside,bound=1)", "side is one of above, below"),
        ("low_agreement(require_positive=maybe)", "True or False"),
        ("too_slow(missing=ignore)", "missing is one of"),
    ],
)
def test_a_rule_that_is_none_is_refused(text: str, message: str) -> None:
    """Unknown rules and settings, missing settings and wrong values name what is allowed."""
    with pytest.raises(SpecError, match=message):
        parse_rule(text)


@pytest.mark.published
def test_saw_c_from_139_to_131(sawc_rows: list[dict[str, str]]) -> None:
    """SAW-C's 131 participants plus 8 planted violators: 3 fail the catch item, 2 are slow, 2 disagree, 1 not native.

    The published file holds the 131 who were kept; their times and catch answers are simulated, the ratings theirs.
    """
    generator = np.random.default_rng(0)
    by_person: dict[str, dict[str, float]] = {}
    for row in sawc_rows:
        by_person.setdefault(row["Participant"], {})[row["Tag"]] = float(row["Response"])
    rows = []
    for subject, ratings in sorted(by_person.items()):
        rows += person(subject, ratings, minutes=float(generator.uniform(8, 20)))
    some = [dict(by_person[subject]) for subject in sorted(by_person)[:8]]
    rows += [row for k in range(3) for row in person(f"x_catch{k}", some[k], catch=1)]
    rows += [row for k in range(3, 5) for row in person(f"x_slow{k}", some[k], minutes=90)]
    rows += [row for k in range(5, 7) for row in person(f"x_low{k}", unrelated(some[k], k))]
    rows += person("x_foreign", some[7], native=0)
    found = apply(PREREGISTERED, table_of(rows))
    assert [entry.n_excluded for entry in found.log] == [3, 2, 2, 1]
    assert (found.n_before, found.n_after) == (139, 131)
    assert all(subject.startswith("x_") for subject in found.attribution)
    # every participant also answered one catch item
    assert found.trials_after == 10_639 + 131
