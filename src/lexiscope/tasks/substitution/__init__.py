"""Substitution: which of two words keeps the meaning of the target in its sentence?

People see the sentence with its target in brackets and twice again with a candidate in the target's place, and choose
one: forced choice, with a mark for items that are themselves wrong. *Source:* the synonymy study, §3.4.

An item has one usage. Its two candidates are ``options``, or the conditions ``option_1`` and ``option_2`` (columns of
an item file); the right one is ``gold``, or the condition ``correct_option``. Neither is shown on the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np

from lexiscope.core.errors import InputError, Place, SpecError
from lexiscope.core.item import Item
from lexiscope.core.prompt import Prompting
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import statistic_name
from lexiscope.core.scoring import ScoredOption
from lexiscope.core.screen import Choice, Habit, Line, Screen, Shown
from lexiscope.core.subject import Embeds, Progress, Subject
from lexiscope.core.task import Task
from lexiscope.core.usage import Usage
from lexiscope.items.answers.chat_answers import CHAT_MEASURES
from lexiscope.items.answers.continuations import score_items
from lexiscope.items.answers.known_words import unknown_words
from lexiscope.items.choice_sets.articles import with_article
from lexiscope.items.choice_sets.surface import join_punctuation
from lexiscope.items.sheets.form import Sheet, SheetColumn
from lexiscope.items.tables.neutral import Cell
from lexiscope.senses.word_groups import DISTANCE_MEASURE, OptionDistances, blank_row, distance_rows
from lexiscope.tasks.kit.asking import Asking, plain_text, sentence_examples
from lexiscope.tasks.kit.distances import distances_of_options
from lexiscope.tasks.kit.judging import check_usages, judgment_function
from lexiscope.tasks.kit.published_sheets import (
    COMMENT,
    SHOWN_ORDER,
    Cells,
    Judgments,
    Row,
    first_condition,
    numbered_sheet,
)
from lexiscope.tasks.kit.scoring import MEASURE_TOKENS, denominators, text_measures, text_values

FOLDER = Path(__file__).parent
"""The folder of the task's words: guidelines.md, words.json, screen.html, prompt.txt, examples.jsonl."""

NAME = "substitution"
MEASURE = "choice"
MEASURE_WEIRD = "flag_weird"
COLUMNS = ("option_1", "option_2")
COLUMN_RIGHT = "correct_option"
_CANDIDATES = 2


def candidates(item: Item) -> tuple[str, str]:
    """Return the two candidates of an item, in the order of its file.

    Errors: :class:`InputError` E617 naming the item, if there are not two different ones.
    """
    given = item.options or tuple(str(item.conditions.get(name, "")) for name in COLUMNS)
    words = tuple(word.strip() for word in given)
    if len(words) != _CANDIDATES or not all(words) or words[0].casefold() == words[1].casefold():
        raise InputError(
            f"an item of this task needs two different candidates, not {given!r}",
            code="E617",
            place=Place(item_id=item.item_id),
            hint=f"give them as the columns {' and '.join(COLUMNS)}",
        )
    return words[0], words[1]


def right_candidate(item: Item) -> str | None:
    """Return the candidate that is right, or ``None`` where the item does not say.

    Errors: :class:`InputError` naming an item whose correct answer is not one of its candidates.
    """
    right = item.gold or str(item.conditions.get(COLUMN_RIGHT, "")).strip() or None
    if right is not None and right not in candidates(item):
        what = f"the correct answer {right!r} is not one of the candidates {', '.join(map(repr, candidates(item)))}"
        raise InputError(what, place=Place(item_id=item.item_id), hint=f"correct {COLUMN_RIGHT} or the candidates")
    return right


def sentence_with(usage: Usage, word: str) -> Line:
    """Return a sentence with a word in brackets in its target's place, the word emphasised.

    Tokenised punctuation is joined. In English an article right before the target follows the word.

    >>> sentence_with(Usage("She wore an anorak , too .", 12, 18, language="en"), "jacket")
    (('She wore a ', False), ('[jacket]', True), (', too.', False))
    """
    before, after = _text_around(usage, word)
    pieces = ((before, False), (f"[{word}]", True), (after, False))
    return tuple(piece for piece in pieces if piece[0])


def usage_with(usage: Usage, word: str) -> Usage:
    """Return the sentence with a word in its target's place, as :func:`sentence_with` shows it, without brackets.

    >>> seen = usage_with(Usage("She wore an anorak , too .", 12, 18, language="en"), "jacket")
    >>> seen.text, seen.target
    ('She wore a jacket, too.', 'jacket')
    """
    before, after = _text_around(usage, word)
    return replace(usage, text=f"{before}{word}{after}", start=len(before), end=len(before) + len(word))


def _text_around(usage: Usage, word: str) -> tuple[str, str]:
    before, after = join_punctuation(usage.text[: usage.start]), join_punctuation(usage.text[usage.end :])
    # elsewhere "a" is another word: a preposition in Spanish
    return (with_article(before, word) if usage.language.partition("-")[0] == "en" else before), after


def stimulus(item: Item, _shown: Shown) -> Mapping[str, object]:
    """Return what the page shows above the options: the sentence as it was written, its target in brackets."""
    usage = item.usages[0]
    return {"sentence": sentence_with(usage, usage.target)}


def options(item: Item, _view: str) -> tuple[Choice, ...]:
    """Return the two candidates, each with its sentence."""
    words = candidates(item)
    # keys follow the alphabet: the order of a file often tells which one is right, and keys are in the page's source
    key = {word: str(number) for number, word in enumerate(sorted(words), start=1)}
    return tuple(Choice(key[word], word, (sentence_with(item.usages[0], word),)) for word in words)


def example_items(language: str) -> tuple[Item, ...]:
    """Return the worked examples in a language as items; ``gold`` is the right candidate."""
    return sentence_examples(SCREEN, language, task=NAME, gold=COLUMN_RIGHT, conditions=COLUMNS)


def fields(item: Item, _language: str) -> Mapping[str, str]:
    """Return what a prompt says of an item above the options: the sentence, its target in brackets."""
    return {"sentence": plain_text(sentence_with(item.usages[0], item.usages[0].target))}


def _check_item(item: Item) -> Item:
    candidates(check_usages(item, 1, task=NAME))
    return item


def published_sheets(judgments: Judgments) -> tuple[Sheet, ...]:
    """Return the forced choices between two substitutes."""
    columns = (
        SheetColumn("item", "the item", "id"),
        SheetColumn("target", "the word that is substituted", "id"),
        SheetColumn("option1", "first candidate as given", "text"),
        SheetColumn("option2", "second candidate as given", "text"),
        SheetColumn("correct_option", "the right candidate, as the items give it", "text"),
        SheetColumn("choice", "the candidate that was chosen; empty where none was", "text", answer=True),
        SheetColumn("weird", "the participant marked the item as weird", "truth"),
        COMMENT,
        SHOWN_ORDER,
    )

    def cells(_row: Row, item: Item) -> Cells:
        words: tuple[Cell, ...] = item.options or tuple(first_condition(item.conditions, name) for name in COLUMNS)
        given: Cells = {f"option{k}": word for k, word in enumerate(words, start=1)}
        right = item.gold or first_condition(item.conditions, COLUMN_RIGHT)
        return {**given, "item": item.item_id, "target": item.usages[0].target, "correct_option": right}

    return (numbered_sheet(judgments, "substitution_judgments.csv", columns, cells),)


SCREEN = Screen(
    folder=FOLDER,
    widget="choice",
    measure=MEASURE,
    stimulus=stimulus,
    options=options,
    shows=COLUMNS,
    shuffles_options=True,
    flags=("weird",),
    may_stay_empty=True,
    # the synonymy study, §5: both annotators do all items
    habit=Habit(per_item=2, per_list=0, back=True),
    published=published_sheets,
)

asks = Asking(SCREEN, fields, example_items)
"""Makes a chat question of an item."""

by_judgment = judgment_function(NAME, MEASURE, check=_check_item, asks=asks)
"""Answers with the judgments that a subject gives or has recorded."""


# -- substitution by vectors, by sense and by scores ------------------------------------------------------------------
# By vectors: the candidate whose vector in the target's place is nearest to the target's own, in the sentence with
# joined punctuation. By scores: the candidate whose sentence is more probable. What a sum is divided by decides between
# candidates of unequal length: each denominator has a choice of its own (design/0014).


def by_embedding(
    items: Sequence[Item],
    subject: Subject,
    *,
    view: str,
    work: Path | None = None,
    progress: Progress | None = None,
) -> ResponseTable:
    """Answer with the candidate that, in the target's place, is nearest to the target, at every layer.

    Rows of each item: the choice of each layer, then the distance of each candidate (``cosine_distance``) at each
    layer. Of equal candidates the first in the alphabet is taken. Errors: :class:`SpecError` for a view other than
    ``full``; those of :func:`~lexiscope.tasks.kit.distances.pair_distances`.
    """
    return _nearest(items, subject, view, cast(Embeds, subject).layers, work, progress)


def by_sense(
    items: Sequence[Item],
    subject: Subject,
    *,
    view: str,
    work: Path | None = None,
    progress: Progress | None = None,
) -> ResponseTable:
    """Answer with the candidate whose sense, chosen by the sentence, is nearest to that of the target.

    A word out of the vocabulary leaves the item without an answer, and its row says which word it is. Rows and errors
    as of :func:`by_embedding`, without layers; :class:`CapabilityError` for a subject without vectors.
    """
    return _nearest(items, subject, view, (None,), work, progress)


def by_scoring(
    items: Sequence[Item],
    subject: Subject,
    *,
    view: str,
    work: Path | None = None,
    progress: Progress | None = None,
) -> ResponseTable:
    """Answer with the log-probability of the sentence with each candidate in the target's place.

    Rows of each item: a choice for each denominator (``choice(per=token)``), then for each candidate its
    log-probability under each denominator of the subject's policy, and the number of tokens that count (``n_tokens``).
    Of equal candidates the first in the alphabet is taken. Errors: :class:`SpecError` for a view other than ``full``;
    those of :func:`~lexiscope.items.answers.continuations.score_items`.
    """
    _check_view(view)
    shown = [_check_item(item) for item in items]
    placed = _placed_candidates(shown)
    texts = [[usage.text for _, usage in own] for own in placed]
    scores = score_items(items, texts, subject, work=work, progress=progress)
    policies, names = denominators(subject), text_measures(subject)
    blank, rows = blank_row(subject, NAME, view), list[Response]()
    for item, own in zip(items, placed, strict=True):
        row = replace(blank, item_id=item.item_id)
        values = {word: text_values(item, usage, scores[usage.text], policies) for word, usage in own}
        for column, policy in enumerate(policies):
            best = max(values, key=lambda word: values[word][column])
            rows.append(replace(row, measure=statistic_name(MEASURE, per=policy.per), option=best))
        for word, numbers in values.items():
            known = zip(names, numbers[: len(names)], strict=True)
            rows += [replace(row, measure=name, value=value, option=word) for name, value in known]
    return ResponseTable.from_rows(rows)


def scored_options(items: Sequence[Item], _how: Prompting, _view: str) -> list[tuple[ScoredOption, ...]]:
    """Return the candidates of items as scorers read them: the sentence with each of them, in alphabetical order."""
    placed = _placed_candidates([_check_item(item) for item in items])
    return [tuple(ScoredOption(word, "", usage.text) for word, usage in own) for own in placed]


def _placed_candidates(items: Sequence[Item]) -> list[list[tuple[str, Usage]]]:
    return [[(word, usage_with(item.usages[0], word)) for word in sorted(candidates(item))] for item in items]


def _nearest(
    items: Sequence[Item],
    subject: Subject,
    view: str,
    layers: Sequence[int | None],
    work: Path | None,
    progress: Progress | None,
) -> ResponseTable:
    _check_view(view)
    shown = [_check_item(item) for item in items]
    targets = [usage_with(item.usages[0], item.usages[0].target) for item in shown]
    placed = _placed_candidates(shown)
    unknown = [
        unknown_words(subject, [target, *(usage for _, usage in own)])
        for target, own in zip(targets, placed, strict=True)
    ]
    known = [place for place, missing in enumerate(unknown) if not missing]
    made = distances_of_options(
        [shown[place] for place in known],
        [targets[place] for place in known],
        [placed[place] for place in known],
        subject,
        work=work,
        progress=progress,
    )
    answers = [OptionDistances((), None, missing) for missing in unknown]
    for place, answer in zip(known, made, strict=True):
        answers[place] = answer
    rows = distance_rows(items, answers, blank_row(subject, NAME, view), layers=layers, pick=np.argmin)
    return ResponseTable.from_rows(rows)


def _check_view(view: str) -> None:
    if view != "full":
        raise SpecError(f"a substitute has no view {view!r}: it is part of the text", hint="use the view full")


TASK = Task(
    name=NAME,
    summary="Which of two words keeps the meaning of the target in its sentence?",
    scale=None,
    item_fields=("usages", "options", "gold"),
    answers=(
        ("Judges", by_judgment),
        ("ChoosesSense", by_sense),
        ("Embeds", by_embedding),
        ("Scores", by_scoring),
    ),
    measures=(
        (MEASURE, "the candidate that was chosen, in the column option; no unit, no direction"),
        (MEASURE_WEIRD, "1 where the item was marked as weird on a sheet, else 0"),
        DISTANCE_MEASURE,
        ("log_probability", "nats under the policy in brackets; higher means more probable; one row per candidate"),
        ("pseudo_log_probability", "the same by a masked model, each token given the rest; another scale"),
        (MEASURE_TOKENS, "tokens that count under the policy"),
        *CHAT_MEASURES,
    ),
    asks=asks,
    check=_check_item,
    chosen=(MEASURE,),
    options=SCREEN.values_of,
    scored=scored_options,
)
