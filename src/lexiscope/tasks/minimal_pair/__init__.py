"""Minimal pair: which of several texts that differ in one word is the better one?

An item is a choice set: its ``options`` are the words, the right one first, and ``usages[k]`` is the whole text with
option *k*, the word at its span. Two options are a pair; eleven are a word against ten others. People and chat models
read the texts as they are, in a drawn order, and choose one; the answer is its word. Of subjects that score texts
nothing is decided here: the rows hold the score of every option, and :mod:`lexiscope.analysis` compares them.
*Source:* the synonymy study, §3.1 and §3.6. People of that study see the sentence with its target instead, and are
asked for the word that keeps its meaning (the task ``substitution``).

Before a scorer is used, it is tested: does it prefer a text to the same words in another order? Every language model
should, in every language; one that does not is broken, wrongly set up, or not a model of the items' language, and its
accuracies would not show knowledge of word meaning.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

import numpy as np

from lexiscope.core.errors import InputError, Place, SpecError, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.prompt import Prompting
from lexiscope.core.response import ResponseTable
from lexiscope.core.scoring import ScoredOption, ScoringPolicy, TokenScores
from lexiscope.core.screen import Choice, Screen
from lexiscope.core.subject import Progress, Scores, Subject
from lexiscope.core.task import Task
from lexiscope.core.usage import Usage
from lexiscope.items.answers.chat_answers import CHAT_MEASURES
from lexiscope.items.choice_sets.choice_set_file import read_minimal_pairs
from lexiscope.tasks.kit.asking import Asking
from lexiscope.tasks.kit.judging import judgment_function
from lexiscope.tasks.kit.scoring import MEASURE_TOKENS, denominators, text_measures, text_values

MOST_PAIRS = 40
"""How many texts are tried; fewer only where the items have fewer."""

ALPHA = 0.05
_FEWEST_PARTS = 4
# single precision: a uniform model's sums differ by some steps of the last digit between processors
_SAME = 64 * float(np.finfo(np.float32).eps)
_TRIES = 20


@runtime_checkable
class SelfTested(Protocol):
    """A subject that says whether it should be tested; a control model (one of equal probabilities) should not."""

    @property
    def self_test(self) -> bool:
        """Whether the test will be run."""


@dataclass(frozen=True, slots=True)
class EasyPair:
    """A text of an item, and the same words shuffled."""

    item_id: str
    text: str
    shuffled: str


@dataclass(frozen=True, slots=True)
class SelfTest:
    """What the test found. ``margins``: log-probability per token of each text minus that of its shuffled words.

    *Unit of margins:* nats per token. *Higher means:* the text is preferred. A tie is not a preference.

    >>> pair = EasyPair("i", "a b c d", "d b a c")
    >>> SelfTest((pair,) * 6, (0.1,) * 6).verdict
    '6 of 6 texts preferred to their own words shuffled, p = 0.0156'
    """

    pairs: tuple[EasyPair, ...]
    margins: tuple[float, ...]

    @property
    def n_preferred(self) -> int:
        """How many texts were preferred."""
        return sum(margin > 0 for margin in self.margins)

    @property
    def p(self) -> float:
        """The one-sided exact binomial probability of as many preferences or more by chance."""
        return binomial_tail(self.n_preferred, len(self.margins))

    @property
    def decidable(self) -> bool:
        """Whether there are enough texts for all of them, preferred, to be above chance."""
        return 0.5 ** len(self.margins) < ALPHA

    @property
    def verdict(self) -> str:
        """The result as text, as it is recorded."""
        told = (
            f"{self.n_preferred} of {len(self.margins)} texts preferred to their own words shuffled, p = {self.p:.3g}"
        )
        return told if self.decidable else f"{told}: too few texts to judge by"


def binomial_tail(k: int, n: int) -> float:
    """Return the probability of *k* or more heads in *n* tosses of a fair coin.

    >>> binomial_tail(5, 5) == 1 / 32, binomial_tail(0, 7)
    (True, 1.0)
    """
    return float(sum(math.comb(n, heads) for heads in range(k, n + 1)) / 2**n)


def easy_pairs(items: Sequence[Item], *, seed: int = 0, most: int = MOST_PAIRS) -> tuple[EasyPair, ...]:
    """Return up to *most* pairs from different texts of the items, spread evenly over them.

    A text is cut at white space; where that gives fewer than four parts (a script without spaces), into its characters.
    The order depends on the seed and the text only. A text whose parts are all the same has no other order and is
    passed over.
    """
    first = {item.usages[0].text: item.item_id for item in reversed(items)}
    texts = list(dict.fromkeys(item.usages[0].text for item in items))
    # twice as many as are wanted, for some texts have no other order
    pairs = []
    for text in texts[:: max(1, len(texts) // (2 * most))]:
        shuffled = _shuffle_words(text, seed)
        if shuffled != text:
            pairs.append(EasyPair(first[text], text, shuffled))
    return tuple(pairs[:: max(1, len(pairs) // most)][:most])


def self_test(items: Sequence[Item], subject: Subject, *, seed: int = 0, work: Path | None = None) -> SelfTest | None:
    """Test a subject on texts of the items, and return what was found; ``None`` where the subject declines.

    With *work*, scores are kept there: a run that is continued asks nothing again.

    Errors: :class:`SubjectError` for scores that are NaN or infinite, all the same, or no better than chance (one-sided
    exact binomial test, p < .05; fewer than five texts are not enough).
    """
    if isinstance(subject, SelfTested) and not subject.self_test:
        return None
    pairs = easy_pairs(items, seed=seed)
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.text, pair.shuffled)))
    scorer = cast(Scores, subject)
    scored = dict(zip(texts, scorer.score(texts, work=work), strict=True)) if texts else {}
    # the texts have no word in question: all of their tokens are compared, whatever counts in the run
    policy = replace(scorer.policy, tokens="text", per="token")
    _check_scores(scored, subject)
    values = {text: policy.value(scores, text) for text, scores in scored.items()}
    tested = SelfTest(pairs, tuple(values[pair.text] - values[pair.shuffled] for pair in pairs))
    if tested.decidable and tested.p >= ALPHA:
        raise SubjectError(
            f"{subject.subject_id} fails the self-test: {tested.verdict}",
            why="it does not prefer a text to its own words in disorder, so its choices between words mean little",
            hint=_HINT,
        )
    return tested


_HINT = "check the model, its tokenizer and the language of the items; score a control model with self_test=no"


def _check_scores(scored: dict[str, TokenScores], subject: Subject) -> None:
    kept = []
    for text, scores in scored.items():
        # the first token has no score if nothing precedes it
        values = np.asarray(scores.log_probabilities, dtype=np.float64)[
            int(np.isnan(scores.log_probabilities[:1]).any()) :
        ]
        if not np.isfinite(values).all():
            raise SubjectError(
                f"{subject.subject_id} fails the self-test: a score is NaN or infinite in {text!r}",
                hint="try dtype=fp32; check that the weights are complete",
            )
        kept.append(values)
    everything = np.concatenate(kept) if kept else np.empty(0)
    # a smaller share of the size is rounding, not preference
    if len(everything) > 1 and np.ptp(everything) <= _SAME * np.abs(everything).max():
        raise SubjectError(
            f"{subject.subject_id} fails the self-test: every token has the same log-probability",
            why=f"{len(everything)} tokens of {len(scored)} texts all have {everything[0]:.6g} nats",
            hint=_HINT,
        )


def _shuffle_words(text: str, seed: int) -> str:
    parts, between = text.split(), " "
    if len(parts) < _FEWEST_PARTS:
        parts, between = list(text), ""
    if len(parts) < _FEWEST_PARTS or len(set(parts)) == 1:
        return text
    # seeded by the text too: an item gets the same shuffle regardless of the other items
    draw = random.Random(f"{seed}\n{text}")
    for _ in range(_TRIES):
        draw.shuffle(parts)
        if between.join(parts) != text:
            return between.join(parts)
    return text


FOLDER = Path(__file__).parent
"""The folder of the task's words: guidelines.md, words.json, screen.html, prompt.txt, examples.jsonl."""

NAME = "minimal_pair"
VIEW = "full"
MEASURE = "choice"
MEASURE_WEIRD = "flag_weird"
MEASURE_OUTCOME = "correct"
MEASURE_SELF_TEST = "self_test_margin"
CORRECT = "correct"
_FEWEST = 2


def option_names(n_options: int) -> tuple[str, ...]:
    """Return how the options of a choice set are named in the column ``option``.

    >>> option_names(3)
    ('correct', 'incorrect_1', 'incorrect_2')
    """
    return (CORRECT, *(f"incorrect_{number}" for number in range(1, n_options)))


def by_scoring(
    items: Sequence[Item],
    subject: Subject,
    *,
    view: str,
    work: Path | None = None,
    progress: Progress | None = None,
) -> ResponseTable:
    """Answer with the log-probability of every option's text.

    Each distinct text is scored once, all in one call. An option has a row for each denominator of the subject's
    policy (``text``, ``token``, ``character``, ``byte``), its measure the policy's printed form, and one with the
    number of tokens that count (``n_tokens``). First the subject is tested on texts of the items
    (:func:`~lexiscope.tasks.minimal_pair.self_test`); its result is in rows of the measure
    ``self_test_margin``, one per text that was tried, under the item it is from, the verdict in ``raw`` of the first.
    Errors: :class:`InputError` for an item that is no choice set; :class:`SpecError` for a view other than ``full``;
    :class:`SubjectError` for a subject that fails the test, or a score that is missing or not finite.
    """
    if view != VIEW:
        raise SpecError(f"a choice set has no view {view!r}: its texts are what is compared", hint=f"use {VIEW}")
    for item in items:
        check_choice_set(item)
    # before the run: it costs a hundred texts at most and may save an hour of worthless scores
    tested = self_test(items, subject, work=work)
    texts = list(dict.fromkeys(usage.text for item in items for usage in item.usages))
    scorer = cast(Scores, subject)
    scores = scorer.score(texts, work=work, progress=progress)
    if len(scores) != len(texts):
        raise SubjectError(f"{subject.subject_id} gave {len(scores)} scores for {len(texts)} texts")
    by_text = dict(zip(texts, scores, strict=True))
    who = {"subject_id": subject.subject_id, "subject_kind": subject.kind, "task": NAME, "view": view}
    rows = _option_rows(items, by_text, denominators(subject), text_measures(subject))
    return ResponseTable.concat(
        [ResponseTable.from_columns(who | columns) for columns in (rows, _self_test_rows(items, tested))]
    )


def scored_options(items: Sequence[Item], _how: Prompting, _view: str) -> list[tuple[ScoredOption, ...]]:
    """Return the options of choice sets as scorers read them: whole texts, the right one first."""
    return [
        tuple(
            ScoredOption(name, "", usage.text)
            for name, usage in zip(option_names(len(item.options)), item.usages, strict=True)
        )
        for item in items
    ]


def check_choice_set(item: Item) -> None:
    """Check that an item is a choice set: two or more different options, a usage for each.

    Errors: :class:`InputError` E451 naming the item.
    """
    fault = ""
    if len(item.options) < _FEWEST:
        fault = f"it needs two options or more, not {len(item.options)}"
    elif len(item.usages) != len(item.options):
        fault = f"it has {len(item.options)} options and {len(item.usages)} usages, one is needed for each"
    elif len({usage.key for usage in item.usages}) < len(item.usages):
        fault = "two of its options make the same text: they could only tie"
    if fault:
        hint = "the correct option is first: lexiscope.items.choice_sets.minimal_pairs makes such items"
        raise InputError(
            f"this is not a choice set: {fault}", code="E451", place=Place(item_id=item.item_id), hint=hint
        )


def example_items(language: str) -> tuple[Item, ...]:
    """Return the worked examples in a language as items, the right option first."""
    items = []
    for number, line in enumerate((FOLDER / "examples.jsonl").read_text(encoding="utf-8").splitlines(), start=1):
        row = json.loads(line)
        if row["language"] == language:
            before, after = row["pattern"].split("{word}")
            usages = tuple(
                Usage(before + word + after, len(before), len(before) + len(word), lemma=word, language=language)
                for word in row["options"]
            )
            items.append(Item(f"example_{number}", NAME, usages, tuple(row["options"]), gold=row["options"][0]))
    return tuple(items)


def _option_rows(
    items: Sequence[Item],
    by_text: dict[str, TokenScores],
    policies: Sequence[ScoringPolicy],
    measures: Sequence[str],
) -> dict[str, object]:
    """The columns of the rows of all options: by item, by option, by measure."""
    # the synonym of an item is in two choice sets of a suite: the same text and span have the same values
    known: dict[tuple[str, int, int], tuple[float, ...]] = {}
    values: list[tuple[float, ...]] = []
    for item in items:
        for usage in item.usages:
            if usage.key not in known:
                known[usage.key] = text_values(item, usage, by_text[usage.text], policies)[: len(measures)]
            values.append(known[usage.key])
    options = [name for item in items for name in option_names(len(item.options))]
    item_ids = [item.item_id for item in items for _ in item.options]
    return {
        "item_id": np.repeat(np.array(item_ids, dtype=object), len(measures)),
        "option": np.repeat(np.array(options, dtype=object), len(measures)),
        "measure": np.tile(np.array(measures, dtype=object), len(options)),
        "value": np.array(values, dtype=np.float64).ravel(),
    }


def _self_test_rows(items: Sequence[Item], tested: SelfTest | None) -> dict[str, object]:
    """The columns of what the self-test found; one row without value where the subject declined it."""
    if tested is None:
        said = "self-test not run: the subject declines it (self_test=no)"
        return {"item_id": [items[0].item_id], "measure": MEASURE_SELF_TEST, "value": [None], "raw": [said]}
    if not tested.pairs:
        said = "self-test not run: no text of the items has another order"
        return {"item_id": [items[0].item_id], "measure": MEASURE_SELF_TEST, "value": [None], "raw": [said]}
    return {
        "item_id": [pair.item_id for pair in tested.pairs],
        "measure": MEASURE_SELF_TEST,
        "value": list(tested.margins),
        "raw": [tested.verdict, *([None] * (len(tested.pairs) - 1))],
    }


def options(item: Item, _view: str) -> tuple[Choice, ...]:
    """Return the texts of a choice set, each stored as its word; nothing in them shows where they differ."""
    # keys follow the alphabet: the right text is the first of the item, and keys are in the page's source
    key = {text: str(number) for number, text in enumerate(sorted(usage.text for usage in item.usages), start=1)}
    pairs = zip(item.options, item.usages, strict=False)
    return tuple(Choice(key[usage.text], word, (((usage.text, False),),)) for word, usage in pairs)


def fields(_item: Item, _language: str) -> Mapping[str, str]:
    """Return nothing: what a prompt says of an item are its options."""
    return {}


SCREEN = Screen(
    folder=FOLDER,
    widget="choice",
    measure=MEASURE,
    options=options,
    n_usages=0,
    shuffles_options=True,
    flags=("weird",),
    may_stay_empty=True,
)

asks = Asking(SCREEN, fields, example_items)
"""Makes a chat question of an item."""

by_judgment = judgment_function(NAME, MEASURE, check=check_choice_set, asks=asks)
"""Answers with the text that a subject chooses, or with the choices or outcomes that are on record."""

TASK = Task(
    name=NAME,
    summary="Which of several texts that differ in one word is the better one?",
    scale=None,
    item_fields=("usages", "options", "gold"),
    answers=(("Judges", by_judgment), ("Scores", by_scoring)),
    measures=(
        (MEASURE, "the word of the text that was chosen, in the column option; no unit, no direction"),
        (MEASURE_WEIRD, "1 where the item was marked as weird, else 0"),
        (MEASURE_OUTCOME, "1 where the right option won, 0 where it did not (ties are 0); recorded outcomes only"),
        ("log_probability", "nats under the policy in its parentheses; higher means more probable; one row per option"),
        (
            "pseudo_log_probability",
            "the same by a masked model, each token given the rest; another scale",
        ),
        (MEASURE_TOKENS, "tokens that count under the policy"),
        (MEASURE_SELF_TEST, "nats per token; above 0 means that a text was preferred to its own words shuffled"),
        ("score", "a number of a subject's own for each option; the option with the highest one is preferred"),
        ("word_count", "occurrences of the option's word, counted where the parentheses say; higher: more frequent"),
        ("random_number", "drawn by a baseline, from 0 to 1; the option with the highest one is preferred"),
        *CHAT_MEASURES,
    ),
    asks=asks,
    check=check_choice_set,
    chosen=(MEASURE,),
    options=SCREEN.values_of,
    baselines=("random", "frequency"),
    reads=read_minimal_pairs,
    scored=scored_options,
)
