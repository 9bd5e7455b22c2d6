"""How a task with options is asked of a subject that scores texts: each option is what follows a wording.

A task's ``scored.txt`` holds its wordings, in the form of ``prompt.txt``: a section for each language and wording
(``# en/question``). ``## before`` is what an option follows; ``## neutral`` the same without the context, where the
options are compared by what the context adds to their probability; ``## options`` names what is written for each
option (``t: Yes``), where that is not the option's own text. ``$name`` is filled in. The first wording of the file is
asked where a subject names none (``causal_lm:FOLDER?variant=statement``). A variant of the task's prompt, or a file of
words, is a wording too: the options are then the numbers under which the prompt lists them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import cast, get_args

from lexiscope.core.errors import InputError, Place, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.prompt import Prompted, Prompting
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.scoring import Per, ScoredOption, ScoringPolicy, TokenScores
from lexiscope.core.subject import Progress, Scores, ScoresWholes, Subject
from lexiscope.core.usage import Usage
from lexiscope.items.answers.continuations import (
    check_distinct_answers,
    continuation_policy,
    score_items,
    scored_pairs,
)
from lexiscope.items.answers.scale_scoring import prompt_of
from lexiscope.items.answers.sense_options import DIFFERENT, SAME
from lexiscope.items.arrange.views import view_item
from lexiscope.tasks.kit.asking import Asking, fill_template, read_sections, variants_of
from lexiscope.tasks.kit.words_file import is_words_file

FILE, PROMPT = "scored.txt", "prompt.txt"
MEASURE_ODDS, MEASURE_PMI = "log_odds", "pmi"
ODDS_MEASURE = (
    MEASURE_ODDS,
    "log-probability of the answer t minus that of f behind a wording, in nats; wording and policy in brackets; higher "
    "means t",
)
PMI_MEASURE = (
    MEASURE_PMI,
    "log-probability of the option's text in its context minus that without the context, in nats; wording and policy "
    "in brackets; higher means that the context speaks for the option",
)
SCORED_MEASURES = (
    (
        "log_probability",
        "log-probability of an option behind a wording, in nats; policy in brackets; higher means more",
    ),
    ("pseudo_log_probability", "the same by a masked model, each token given the rest; another scale"),
)
"""What a task says of the scores of its options."""

_PARTS = ("before", "neutral", "options")


@dataclass(frozen=True, slots=True)
class ChoiceScoring:
    """The answer function of a task with options for subjects that score texts.

    ``told`` returns the names that a wording may fill in, of an item as the view shows it and one of its options.
    ``texts`` returns the text of each option; ``None`` where the wording itself says what is written (yes and no).
    ``check`` refuses an item that the task cannot ask. ``lowest``: the option with the lowest gain is chosen.
    """

    task: str
    measure: str
    asks: Asking
    told: Callable[[Item, str], Mapping[str, str]]
    check: Callable[[Item], Item]
    texts: Callable[[Item], Mapping[str, str]] | None = None
    lowest: bool = False

    def __call__(
        self,
        items: Sequence[Item],
        subject: Subject,
        *,
        view: str,
        work: Path | None = None,
        progress: Progress | None = None,
    ) -> ResponseTable:
        """Answer with the option that is the most probable behind the wording, or gains most by the context.

        Rows of each item: the choice; for a question with two answers, the log-odds of ``t``; then for each option its
        log-probability and, where the wording has a neutral text, its gain by the context (``pmi``). Of equal options
        the one whose text is first in the alphabet is taken. Errors: :class:`InputError` for a wording that the task
        does not have, or not in the language; those of :func:`~lexiscope.items.answers.continuations.score_items`.
        """
        shown = [self.check(view_item(item, view)) for item in items]
        options = self.options(shown, prompting_of(subject), view)
        texts = [option_texts(own, cast(Scores, subject).policy) for own in options]
        scores = score_items(items, texts, subject, work=work, progress=progress)
        return ResponseTable.from_rows(self.rows(items, options, scores, subject, view=view))

    @property
    def wordings(self) -> tuple[str, ...]:
        """The wordings of the task's file, the one that is asked by default first."""
        return tuple(dict.fromkeys(name for _, name in _wordings(self.asks.screen.folder / FILE)))

    def options(self, items: Sequence[Item], how: Prompting, view: str) -> list[tuple[ScoredOption, ...]]:
        """Return the options of items, which are as the view shows them, in a wording."""
        name = how.variant or self.wordings[0]
        if name not in self.wordings:
            return [self._options_of_prompt(item, how, name, view) for item in items]
        return [self._options_of_wording(item, how, name) for item in items]

    def rows(
        self,
        items: Sequence[Item],
        options: Sequence[Sequence[ScoredOption]],
        scores: Mapping[str, TokenScores],
        subject: Subject,
        *,
        view: str,
    ) -> Iterator[Response]:
        """Yield the rows of every item (:meth:`__call__`); *scores* are those of the texts of its options."""
        policy = continuation_policy(cast(Scores, subject).policy)
        wording = wording_label(prompting_of(subject).variant or self.wordings[0])
        blank = Response(subject.subject_id, subject.kind, "", self.task, self.measure, view=view)
        odds, gain = (policy.named(name, wording=wording) for name in (MEASURE_ODDS, MEASURE_PMI))
        for item, own in zip(items, options, strict=True):
            row = replace(blank, item_id=item.item_id)
            values, gains = option_values(item, own, scores, policy)
            judged = gains or values
            # a prompt asks for the number of the answer: there the most probable one is chosen, whatever is asked
            best = (min if own[0].lowest and gains else max)(judged.values())
            yield replace(row, option=next(name for name, value in judged.items() if value == best))
            if set(values) == {SAME, DIFFERENT}:
                yield replace(row, measure=odds, value=values[SAME] - values[DIFFERENT])
            for option in own:
                yield replace(row, measure=str(policy), value=values[option.value], option=option.value)
                if gains:
                    yield replace(row, measure=gain, value=gains[option.value], option=option.value)

    def _options_of_wording(self, item: Item, how: Prompting, name: str) -> tuple[ScoredOption, ...]:
        wording = _wording_in(self.asks.screen.folder / FILE, name, how.language or item.usages[0].language)
        texts = self.texts(item) if self.texts is not None else wording.options
        made = []
        # the order of a file often says which option is right, and that of a lexicon which one is frequent
        for value in sorted(texts, key=lambda option: (texts[option], option)):
            told = self.told(item, value)
            before, neutral = fill_template(wording.before, told), fill_template(wording.neutral, told)
            made.append(ScoredOption(value, before, texts[value], neutral, self.lowest))
        return tuple(made)

    def _options_of_prompt(self, item: Item, how: Prompting, name: str, view: str) -> tuple[ScoredOption, ...]:
        variants = {*(variant for _, variant in variants_of(self.asks.screen.folder / PROMPT)), *self.asks.variants}
        if not is_words_file(name) and name not in variants:
            hint = f"use one of {', '.join((*self.wordings, *sorted(variants)))}, or a file of words (FILE.yaml)"
            raise InputError(f"the task {self.task!r} has no wording {name!r}", hint=hint)
        question = self.asks(item, view=view, language=how.language, variant=name, shots=how.shots)
        before = prompt_of(question)
        # who cannot decide says so: that is no answer of its own
        offered = [option for option in question.options if not option.flags]
        return tuple(ScoredOption(option.value, before, option.names[0]) for option in offered)


def option_texts(options: Sequence[ScoredOption], policy: ScoringPolicy) -> list[str]:
    """Return the texts that are scored for the options of an item: in their context, then without it."""
    return [before + answer for before, answer in scored_pairs(options, left=policy.conditioning == "left")]


def option_values(
    item: Item, options: Sequence[ScoredOption], scores: Mapping[str, TokenScores], policy: ScoringPolicy
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the log-probability of each option, and what the context adds to it; nothing for a wording without it.

    *Unit:* nats. Errors: :class:`SubjectError` naming the item: a number that is not finite, or two options of which
    the tokens of one begin those of the other.
    """
    texts = option_texts(options, policy)
    in_context, alone = texts[: len(options)], texts[len(options) :]
    if policy.conditioning == "left" and len({option.before for option in options}) == 1:
        check_distinct_answers(sorted(set(in_context)), scores, len(options[0].before), item)

    def value(text: str, before: str) -> float:
        number = policy.value(scores[text], text, (len(before), len(text)))
        if not math.isfinite(number):
            place = Place(item_id=item.item_id, text=text)
            raise SubjectError("a log-probability is not finite", place=place, hint="try dtype=fp32")
        return number

    values = {option.value: value(text, option.before) for option, text in zip(options, in_context, strict=True)}
    if not alone:
        return values, {}
    neutral = {option.value: value(text, option.neutral) for option, text in zip(options, alone, strict=True)}
    return values, {name: values[name] - neutral[name] for name in values}


def gain_around(seen: tuple[Usage, TokenScores], put: tuple[Usage, TokenScores], policy: ScoringPolicy) -> float | None:
    """Return what the tokens around a target gain when another text replaces it; ``None`` where there are none.

    *seen* is the usage with its scores, *put* the same with the other text in its span. Tokens that both texts have
    count, at the same place from the beginning or from the end; for a model that reads from left to right those behind
    the target, for the others cannot depend on it. *Unit:* nats. *Higher means:* the other text fits better.
    """
    before, after = (_tokens_around(usage, scores, left=policy.conditioning != "left") for usage, scores in (seen, put))
    shared = [place for place in before if place in after]
    return math.fsum(after[place] - before[place] for place in shared) if shared else None


def _tokens_around(usage: Usage, scores: TokenScores, *, left: bool) -> dict[tuple[bool, int, int], float]:
    """The log-probabilities of the tokens outside a target by their place from the beginning, or from the end."""
    end, around = len(usage.text), dict[tuple[bool, int, int], float]()
    columns = (scores.starts.tolist(), scores.ends.tolist(), scores.log_probabilities.tolist())
    for start, stop, value in zip(*columns, strict=True):
        if math.isnan(value) or (stop <= usage.start and not left):
            continue
        if stop <= usage.start:
            around[True, start, stop] = value
        elif start >= usage.end:
            around[False, start - end, stop - end] = value
    return around


# -- the probability of whole texts -----------------------------------------------------------------------------------


MEASURE_TOKENS = "n_tokens"


def denominators(subject: Subject) -> list[ScoringPolicy]:
    """Return the policy of a subject that scores with each denominator: text, token, character, byte.

    A subject that knows whole texts only has none by token.
    """
    policy, wholes = cast(Scores, subject).policy, isinstance(subject, ScoresWholes)
    return [policy.divided_by(per) for per in get_args(Per) if per != "token" or not wholes]


def text_measures(subject: Subject) -> list[str]:
    """Return the measures of a text in the order of :func:`text_values`: one by denominator, and how many tokens count.

    A subject that knows whole texts only cannot tell the tokens.
    """
    counted = [] if isinstance(subject, ScoresWholes) else [MEASURE_TOKENS]
    return [*map(str, denominators(subject)), *counted]


def text_values(item: Item, usage: Usage, scores: TokenScores, policies: Sequence[ScoringPolicy]) -> tuple[float, ...]:
    """Return the scores of a text under each policy, and how many of its tokens count under the first.

    Errors: :class:`SubjectError` naming the item: no token counts, or a number is not finite.
    """
    span = (usage.start, usage.end)
    try:
        values = [policy.value(scores, usage.text, span) for policy in policies]
        n_tokens = len(policies[0].counted_tokens(scores, usage.text, span))
    except SubjectError as error:
        place = Place(item_id=item.item_id, text=usage.text)
        raise SubjectError(error.what, code=error.code, place=place, why=error.why, hint=error.hint) from error
    if not all(map(math.isfinite, values)):
        place = Place(item_id=item.item_id, text=usage.text)
        raise SubjectError("a log-probability is not finite", place=place, hint="try dtype=fp32")
    return (*values, float(n_tokens))


def wording_label(name: str) -> str:
    """Return a wording as the name of a measure has it: a file by its name without folder and ending.

    >>> wording_label("question"), wording_label("words/short (2).yaml")
    ('question', 'short_2')
    """
    plain = Path(name).stem if is_words_file(name) else name
    return re.sub(r"[^\w.-]+", "_", plain).strip("_") or "wording"


def prompting_of(subject: Subject) -> Prompting:
    """Return the words in which a subject that scores texts is asked; an empty variant is the first of the task."""
    return subject.prompting if isinstance(subject, Prompted) else Prompting(variant="")


# -- the file of wordings -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _ScoredWording:
    before: str
    neutral: str
    options: Mapping[str, str]


@lru_cache
def _wordings(path: Path) -> Mapping[tuple[str, str], _ScoredWording]:
    """Read a file. Errors: those of :func:`~lexiscope.tasks.kit.asking.read_sections`."""
    return {
        name: _ScoredWording(parts["before"], parts.get("neutral", ""), _options(parts.get("options", "")))
        for name, parts in read_sections(path, _PARTS, "before").items()
    }


def _options(text: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in text.splitlines() if line.strip())
    return {value.strip(): answer.strip() for value, _, answer in pairs}


def _wording_in(path: Path, name: str, language: str) -> _ScoredWording:
    known = "en" if language == "und" else language
    wordings = _wordings(path)
    for tag in (known, known.partition("-")[0]):
        if (tag, name) in wordings:
            return wordings[tag, name]
    place = Place(path.parent.name)
    hint = f"add ?language={next(tag for tag, other in wordings if other == name)}, or name a file of words: "
    hint += f"lexiscope annotate words {path.parent.name} --language {known} --out words.yaml"
    raise InputError(f"the wording {name!r} is not written in {known!r}", code="E616", place=place, hint=hint)
