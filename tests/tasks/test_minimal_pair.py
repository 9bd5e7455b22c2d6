"""The minimal pair task: rows per denominator, distinct texts once, the self-test, ties. Scorers here are scripted."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from lexiscope.analysis.choices.choice_sets import decide
from lexiscope.collect import collect
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import InputError, SpecError, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.scoring import PRESETS, PUBLISHED, ScoringPolicy, TokenScores
from lexiscope.core.screen import TaskWords
from lexiscope.core.subject import Progress
from lexiscope.core.usage import Usage
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem, choice_sets
from lexiscope.tasks.minimal_pair import (
    SCREEN,
    binomial_tail,
    by_scoring,
    check_choice_set,
    easy_pairs,
    example_items,
    self_test,
)


def made(n: int = 24) -> tuple[SynonymItem, ...]:
    """Items whose sentences all differ: made of numbers, they mean nothing."""
    sentences = [f"Keeper {k} closed the gate of yard {k} before night {k} fell." for k in range(n)]
    return tuple(
        SynonymItem(
            f"{k:02d}",
            "gate",
            "door",
            "doorway",
            text,
            text.index("gate"),
            text.index("gate") + 4,
            number=k + 1,
            random_nouns=("apple", "moon"),
        )
        for k, text in enumerate(sentences)
    )


ITEMS = choice_sets(made(), suites=["substitution"], dataset="made")


def words_of(text: str) -> list[tuple[int, int]]:
    """Half-open spans of the parts between spaces."""
    spans, start = [], 0
    for part in text.split(" "):
        spans.append((start, start + len(part)))
        start += len(part) + 1
    return spans


@dataclass
class Scorer:
    """A scripted scorer: every part between spaces is a token, *rule* gives the log-probabilities of a text."""

    rule: Callable[[str], list[float]]
    policy: ScoringPolicy = PUBLISHED
    subject_id: str = "causal_lm:scripted"
    kind: str = "causal_lm"
    calls: list[list[str]] = field(default_factory=list)

    @property
    def facts(self) -> SubjectFacts:
        return SubjectFacts(self.subject_id, kind=self.kind)

    def score(
        self, texts: Sequence[str], *, work: Path | None = None, progress: Progress | None = None
    ) -> Sequence[TokenScores]:
        self.calls.append(list(texts))
        if progress is not None:
            progress(len(texts), len(texts))
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> TokenScores:
        spans = words_of(text)
        values = np.array(self.rule(text))
        assert len(values) == len(spans)
        if self.policy.bos == "no":
            values[0] = math.nan
        return TokenScores(values, np.array([s for s, _ in spans]), np.array([e for _, e in spans]))


class Control(Scorer):
    """A scorer that declines the self-test."""

    self_test = False


def sensible(text: str) -> list[float]:
    """Prefers texts that begin with "Keeper" and end with a full stop, and *door* to all other words."""
    ordered = text.startswith("Keeper") and text.endswith("fell.")
    return [-(1.0 if ordered else 3.0) - (0.5 if "door " not in text else 0.0)] * len(text.split(" "))


def varied(rule: Callable[[str], list[float]]) -> Callable[[str], list[float]]:
    """Tell tokens apart by a little, by their letters, so that not all scores are the same."""
    return lambda text: [v - len(w) * 1e-3 for v, w in zip(rule(text), text.split(" "), strict=True)]


def uniform(text: str) -> list[float]:
    return [-math.log(100)] * len(text.split(" "))


def answered(subject: Scorer, items: Sequence[Item] = ITEMS) -> ResponseTable:
    return by_scoring(items, subject, view="full")


def test_every_option_has_a_row_per_denominator_and_its_tokens() -> None:
    """4 denominators and n_tokens for each option; the value is the sum over its unit."""
    scorer = Scorer(varied(sensible))
    table = answered(scorer)
    item = ITEMS[0]
    rows = table.where(item_id=item.item_id, option="correct")
    text = item.usages[0].text
    counted = varied(sensible)(text)[1:]
    assert {row.measure: row.value for row in rows.rows()} == {
        str(PUBLISHED.divided_by("text")): pytest.approx(sum(counted)),
        str(PUBLISHED.divided_by("token")): pytest.approx(sum(counted) / len(counted)),
        str(PUBLISHED.divided_by("character")): pytest.approx(sum(counted) / len(text)),
        str(PUBLISHED.divided_by("byte")): pytest.approx(sum(counted) / len(text.encode())),
        "n_tokens": len(counted),
    }
    assert len(table.where(measure="n_tokens")) == sum(len(item.options) for item in ITEMS)
    assert table.where(item_id=item.item_id, measure="n_tokens").unique("option") == ("correct", "incorrect_1")


def test_each_text_is_scored_once_in_one_call() -> None:
    """Behind the self-test there is one call, without a text twice; the pair and the random set share the synonym's."""
    scorer, told = Scorer(varied(sensible)), []
    by_scoring(ITEMS, scorer, view="full", progress=lambda done, total: told.append((done, total)))
    assert len(scorer.calls) == 2
    assert len(scorer.calls[1]) == len(set(scorer.calls[1])) == 24 * len({"door", "doorway", "apple", "moon"})
    assert told[-1] == (24 * 4, 24 * 4)


@pytest.mark.parametrize("preset", ["word", "continuation"])
def test_the_span_of_the_word_decides_what_counts(preset: str) -> None:
    """``word``: the inserted word alone; ``continuation``: the word and all that follows."""
    scorer = Scorer(varied(sensible), policy=PRESETS[preset])
    table = answered(scorer)
    item = ITEMS[0]
    text, start = item.usages[0].text, item.usages[0].start
    inside = [v for v, (s, _) in zip(varied(sensible)(text), words_of(text), strict=True) if s >= start]
    expected = inside[:1] if preset == "word" else inside
    (row,) = table.where(item_id=item.item_id, option="correct", measure=str(PRESETS[preset])).rows()
    assert row.value == pytest.approx(sum(expected))


def test_rows_decide_as_planted() -> None:
    """A scorer that prefers *door* is right everywhere; the analysis reads the rows."""
    table = answered(Scorer(varied(sensible)))
    decisions = decide(table, subject="causal_lm:scripted", measure=str(PUBLISHED.divided_by("text")))
    assert decisions.correct.all()
    assert len(decisions) == len(ITEMS)


def test_a_uniform_model_ties_everywhere() -> None:
    """Equal probabilities: by the mean every decision is a tie, counted wrong; the self-test is not run, and that is
    recorded."""
    table = answered(Control(uniform))
    decisions = decide(table, subject="causal_lm:scripted", measure=str(PUBLISHED))
    assert decisions.tied.all()
    assert not decisions.correct.any()
    (record,) = table.where(measure="self_test_margin").rows()
    assert record.value is None
    assert "not run" in str(record.raw)


def test_a_uniform_model_is_refused_by_the_self_test() -> None:
    """Without declining, a model of equal probabilities is refused, and the message says how to go on."""
    with pytest.raises(SubjectError, match=r"same log-probability(?s:.*)self_test=no"):
        answered(Scorer(uniform))


@pytest.mark.parametrize("bad", [math.nan, -math.inf])
def test_scores_that_are_no_numbers_are_refused(bad: float) -> None:
    """NaN and infinity are refused before the run."""
    scorer = Scorer(lambda text: [-1.0, bad, *([-2.0] * (len(text.split(" ")) - 2))])
    with pytest.raises(SubjectError, match="NaN or infinite"):
        answered(scorer)
    assert len(scorer.calls) == 1


def test_a_model_at_chance_is_refused() -> None:
    """Scores that do not depend on the order of the words: as good as tossing a coin."""

    def tossed(text: str) -> list[float]:
        draw = random.Random(text)
        return [-draw.random() for _ in text.split(" ")]

    with pytest.raises(SubjectError, match=r"fails the self-test: .* of 24 texts preferred"):
        answered(Scorer(tossed))


def test_what_the_self_test_found_is_recorded() -> None:
    """One row per text under its item; the verdict stands in the first."""
    table = answered(Scorer(varied(sensible)))
    rows = list(table.where(measure="self_test_margin").rows())
    assert len(rows) == 24
    assert str(rows[0].raw).startswith("24 of 24 texts preferred")
    # 1 nat per token against 3; half a nat more where the shuffle moves "door" to the end
    assert all(1.9 < (row.value or 0) < 2.6 for row in rows)


def test_few_texts_cannot_be_judged() -> None:
    """With four texts even four of four are not above chance: nothing is refused, and the record says so."""
    backwards = Scorer(varied(lambda text: [-v - 9 for v in sensible(text)]))
    found = self_test(choice_sets(made(4), suites=["substitution"]), backwards)
    assert found is not None
    assert (found.n_preferred, found.decidable) == (0, False)
    assert "too few texts" in found.verdict


def test_easy_pairs_are_the_items_own_words() -> None:
    """At most 40 different texts, spread over the items, each with its own words in another order, by seed."""
    pairs = easy_pairs(choice_sets(made(100), suites=["substitution"]))
    assert len(pairs) == 40
    assert len({pair.text for pair in pairs}) == 40
    assert len({int(pair.item_id.split("/")[1]) // 25 for pair in pairs}) == 4
    for pair in pairs:
        assert sorted(pair.text.split()) == sorted(pair.shuffled.split())
        assert pair.text != pair.shuffled
    assert easy_pairs(ITEMS) == easy_pairs(ITEMS)
    assert easy_pairs(ITEMS, seed=1) != easy_pairs(ITEMS)


def test_easy_pairs_of_a_script_without_spaces() -> None:
    """Where there are no spaces the characters are shuffled."""
    usages = (Usage("他去了银行。", 3, 5), Usage("他去了学校。", 3, 5))
    (pair,) = easy_pairs((Item("i", "d", usages, ("银行", "学校")),))
    assert sorted(pair.shuffled) == sorted("他去了银行。")


def test_the_binomial_tail() -> None:
    """P(X >= k) of a fair coin, by the definition."""
    assert binomial_tail(8, 10) == sum(math.comb(10, k) for k in (8, 9, 10)) / 2**10


def test_what_is_no_choice_set_is_refused() -> None:
    """One option, a usage too few, or two equal texts: refused before anything is scored."""
    item = ITEMS[0]
    broken = (
        replace(item, options=item.options[:1], usages=item.usages[:1]),
        replace(item, usages=item.usages[:1]),
        replace(item, usages=(item.usages[0], item.usages[0])),
    )
    for each in broken:
        with pytest.raises(InputError, match=r"made/00/substitution/controlled.*\[E451\]"):
            check_choice_set(each)


def test_only_the_whole_text_is_a_view() -> None:
    """Another view would change the texts that are compared."""
    with pytest.raises(SpecError, match="use full"):
        by_scoring(ITEMS, Scorer(varied(sensible)), view="context")


def test_a_score_that_is_missing_in_the_run_names_its_item() -> None:
    """A text that only the run scores and that has no number is named with its item."""
    scorer = Control(lambda text: [-1.0, math.nan if "moon" in text else -2.0] + [-1.0] * (len(text.split(" ")) - 2))
    with pytest.raises(SubjectError, match="made/00/substitution/random"):
        answered(scorer)


class Recorder:
    """A subject whose outcomes are on record."""

    subject_id, kind, facts = "olmo", "causal_lm", SubjectFacts("olmo")

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        return ResponseTable.from_rows(
            Response("olmo", "causal_lm", item.item_id, task, "correct", 1.0) for item in items
        )


def test_recorded_outcomes_pass_as_they_are() -> None:
    """A subject that judges answers with measure ``correct``, one row per item."""
    table = collect(ITEMS, [Recorder()], "minimal_pair")
    assert table.unique("measure") == ("correct",)
    assert table.unique("item_id") == tuple(item.item_id for item in ITEMS)


@pytest.mark.parametrize("language", ["en", "es"])
def test_worked_examples_are_choice_sets(language: str) -> None:
    """The examples of the folder are items of the task."""
    items = example_items(language)
    assert items
    for item in items:
        check_choice_set(item)
        assert [usage.target for usage in item.usages] == list(item.options)


def test_the_page_does_not_tell_which_text_is_right() -> None:
    """Keys follow the alphabet of the texts, and a question can name no word, for the first one is the right one."""
    good, bad = Usage("They sold two keys.", 14, 18, "keys"), Usage("They sold two key.", 14, 17, "key")
    pair = Item("i", "own", (good, bad), ("keys", "key"), gold="keys")
    choices = SCREEN.options_of(pair, "full")
    assert [(choice.value, choice.key) for choice in choices] == [("keys", "2"), ("key", "1")]
    assert [choice.lines for choice in choices] == [(((usage.text, False),),) for usage in (good, bad)]
    named = replace(SCREEN, given=TaskWords("en", {"question": "Is {target} right?"}))
    with pytest.raises(InputError, match="target"):
        named.question(pair, "en")
