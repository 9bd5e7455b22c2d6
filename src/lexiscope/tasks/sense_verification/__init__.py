"""Sense verification: is a word used in its text in the sense of a definition and its hypernyms (WiC-TSV)?

People see the text in full, or without the word (``context``), or the word alone (``word``), with the definition and
the broader terms below it, and choose yes or no. Both must hold: the definition fits and the broader terms do. As in
the same-meaning task, who cannot decide without the word says so: that stores *yes* and the flag ``undecided``.

An item has one usage and the conditions ``definition`` and ``hypernyms`` (broader terms, divided by commas; may be
empty); ``gold`` is ``t`` or ``f``. *Source:* the context–word bias study, §2.1 (the combined setting of WiC-TSV).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.screen import Habit, Screen, Shown
from lexiscope.core.subject import Embeds, Progress, Scores, ScoresWholes, Subject
from lexiscope.core.task import Task
from lexiscope.core.usage import whole_text
from lexiscope.items.answers.chat_answers import CHAT_MEASURES
from lexiscope.items.answers.continuations import score_items
from lexiscope.items.answers.sense_options import (
    GLOSSES,
    bracketed_lines,
    bracketed_text,
    definition_of,
    truth_choices,
)
from lexiscope.items.arrange.views import view_item, with_wordform
from lexiscope.items.sheets.form import Sheet, SheetColumn
from lexiscope.tasks.kit.asking import Asking, sentence_examples
from lexiscope.tasks.kit.distances import distance_table, pair_distances
from lexiscope.tasks.kit.judging import TRAINED_MEASURES, judgment_function
from lexiscope.tasks.kit.published_sheets import CONTEXT, Judgments, label_sheet
from lexiscope.tasks.kit.scoring import (
    ODDS_MEASURE,
    SCORED_MEASURES,
    ChoiceScoring,
    gain_around,
    option_texts,
    prompting_of,
)

FOLDER = Path(__file__).parent
"""The folder of the task's words: guidelines.md, words.json, screen.html, prompt.txt, examples.jsonl."""

NAME = "sense_verification"
MEASURE_CHOICE = "choice"
DEFINITION, HYPERNYMS = "definition", "hypernyms"
_NO_HYPERNYMS = "–"


def stimulus(item: Item, shown: Shown) -> Mapping[str, object]:
    """Return what the page shows: the text of the view, the definition, and the hypernyms where there are any."""
    checked = _check_item(item)
    return {
        "sentence": bracketed_lines(checked, shown.appears_as)[0],
        DEFINITION: str(checked.conditions[DEFINITION]),
        HYPERNYMS: str(checked.conditions.get(HYPERNYMS, "")),
    }


def example_items(language: str) -> tuple[Item, ...]:
    """Return the worked examples in a language as items; ``gold`` is the correct answer, ``t`` or ``f``."""
    return sentence_examples(SCREEN, language, task=NAME, gold="answer", conditions=(DEFINITION, HYPERNYMS))


def fields(item: Item, _language: str) -> Mapping[str, str]:
    """Return what a prompt says of an item: the text of the view, the word in brackets where it is in a text."""
    usage = _check_item(item).usages[0]
    return {
        "sentence": bracketed_text(usage),
        DEFINITION: str(item.conditions[DEFINITION]),
        HYPERNYMS: str(item.conditions.get(HYPERNYMS, "")) or _NO_HYPERNYMS,
    }


def _check_item(item: Item) -> Item:
    if len(item.usages) != 1 or not str(item.conditions.get(DEFINITION, "")).strip():
        what = f"an item of this task has one usage (this one has {len(item.usages)}) and a definition"
        hint = f"give the definition in a column {DEFINITION!r}"
        raise InputError(what, code="E617", place=Place(item_id=item.item_id), hint=hint)
    return item


def published_sheets(judgments: Judgments) -> tuple[Sheet, ...]:
    """Return the sheet of WiC-TSV: the context as it was shown, with its sense, label and guessed word."""
    sense = (SheetColumn(DEFINITION, "the sense that was asked about"), SheetColumn(HYPERNYMS, "its broader terms"))
    return (label_sheet(judgments, "verification_judgments.csv", (CONTEXT, *sense)),)


def scored_fields(item: Item, _option: str) -> Mapping[str, str]:
    """Return what a wording says of an item to a subject that scores texts; an item without broader terms has none."""
    usage = item.usages[0]
    sense = {name: str(item.conditions.get(name, "")).strip() for name in (DEFINITION, HYPERNYMS)}
    return {"plain": usage.text, "target": usage.target, **sense}


SCREEN = Screen(
    folder=FOLDER,
    widget="choice",
    measure=MEASURE_CHOICE,
    stimulus=stimulus,
    options=truth_choices,
    requires=(DEFINITION,),
    shows=(HYPERNYMS,),
    advance="press",
    comment=False,
    views=("full", "context", "word"),
    guess_views=("context",),
    reveal_view="context",
    fold_outs=("guidelines",),
    # the context–word bias study, §4: 100 examples each
    habit=Habit(per_item=2, per_list=100),
    on_sheet=lambda item: len(item.usages) == 1 and DEFINITION in item.conditions and GLOSSES not in item.conditions,
    published=published_sheets,
)

asks = Asking(SCREEN, fields, example_items)
"""Makes a chat question of an item."""

by_judgment = judgment_function(NAME, MEASURE_CHOICE, check=_check_item, asks=asks)
"""Answers with the judgments that a subject gives or has recorded."""


# -- sense verification by vectors and by scores --------------------------------------------------------------------
# By vectors: how far the target in its text is from the definition (with the broader terms behind it), whose vector is
# the mean over its tokens. By scores: the log-odds of yes and no behind a wording, and what the text around the target
# gains when the definition stands in its place. No threshold is set here: it is learnt on other words in the analysis
# (:mod:`lexiscope.analysis.thresholds`).


MEASURE_DISTANCE = "cosine_distance(gloss=mean_of_tokens)"
MEASURE_SUBSTITUTION = "gloss_substitution"
NO_TOKENS = "no token depends on the target: this model reads no other token of the text after it"

asking = ChoiceScoring(NAME, MEASURE_CHOICE, asks, scored_fields, _check_item)
"""Asks whether the sense fits: the log-odds of yes and no behind a wording."""


def by_embedding(
    items: Sequence[Item],
    subject: Subject,
    *,
    view: str,
    work: Path | None = None,
    progress: Progress | None = None,
) -> ResponseTable:
    """Answer with the cosine distance of the target's vector and that of the sense, at every layer.

    The sense is read as one text, ``definition ; hypernyms``; its vector is the mean over all of its tokens.
    Rows are in the order of the items, then of the layers; each distinct text is embedded once.
    *Higher means:* the sense fits less. Errors: those of :func:`~lexiscope.tasks.kit.distances.pair_distances`.
    """
    shown = [_check_item(view_item(item, view)) for item in items]
    pairs = [(item.usages[0], whole_text(definition_of(item), item.usages[0].language)) for item in shown]
    distances = pair_distances(shown, pairs, subject, work=work, progress=progress)
    layers = cast(Embeds, subject).layers
    return distance_table(subject, NAME, view, items, layers, distances, measure=MEASURE_DISTANCE)


def by_scoring(
    items: Sequence[Item],
    subject: Subject,
    *,
    view: str,
    work: Path | None = None,
    progress: Progress | None = None,
) -> ResponseTable:
    """Answer with the log-odds of yes and no behind a wording, and with the definition in the target's place.

    Rows: those of :class:`~lexiscope.tasks.kit.scoring.ChoiceScoring`, in the order of the items; then one
    ``gloss_substitution`` for each item: the log-probability of the tokens around the target with the definition in its
    place, minus that with the target. Only tokens count that both texts have, so that a long definition has no
    disadvantage. For a model that reads from left to right they are those behind the target; if there is none, the row
    has no value, and its ``raw`` says so. *Unit:* nats. *Higher means:* the definition fits better.
    A subject that knows whole texts only cannot tell what the tokens around the target gain: it has no such row.
    Errors: those of ``ChoiceScoring``.
    """
    if isinstance(subject, ScoresWholes):
        return asking(items, subject, view=view, work=work, progress=progress)
    shown = [_check_item(view_item(item, view)) for item in items]
    policy = cast(Scores, subject).policy
    options = asking.options(shown, prompting_of(subject), view)
    pairs = [
        (item.usages[0], with_wordform(item.usages[0], str(item.conditions[DEFINITION]).strip())) for item in shown
    ]
    texts = [
        [*option_texts(own, policy), *(usage.text for usage in pair)] for own, pair in zip(options, pairs, strict=True)
    ]
    scores = score_items(items, texts, subject, work=work, progress=progress)
    measure = policy.named(MEASURE_SUBSTITUTION, tokens="around", per="text")
    row = Response(subject.subject_id, subject.kind, "", NAME, measure, view=view)
    rows = list(asking.rows(items, options, scores, subject, view=view))
    for item, (usage, defined) in zip(items, pairs, strict=True):
        gain = gain_around((usage, scores[usage.text]), (defined, scores[defined.text]), policy)
        rows.append(replace(row, item_id=item.item_id, value=gain, raw=NO_TOKENS if gain is None else None))
    return ResponseTable.from_rows(rows)


TASK = Task(
    name=NAME,
    summary="Is a word used in its text in the sense of a definition and its hypernyms?",
    scale=None,
    item_fields=("usages", "conditions", "gold"),
    answers=(("Judges", by_judgment), ("Embeds", by_embedding), ("Scores", by_scoring)),
    measures=(
        (MEASURE_CHOICE, "t: used in this sense; f: used in another one"),
        ("flag_undecided", "1 where a person or chat model could not decide without the word, else 0"),
        ("guessed_word", "a person's guess of the hidden word in its basic form, in raw; without value"),
        ("revealed_choice", "t or f, answered again by the same person, the word now shown"),
        *TRAINED_MEASURES,
        ODDS_MEASURE,
        *SCORED_MEASURES,
        (
            MEASURE_SUBSTITUTION,
            "what the tokens around the target gain in log-probability with the definition in its place, in "
            "nats; policy in brackets; higher means that the definition fits better",
        ),
        *CHAT_MEASURES,
    ),
    asks=asks,
    check=_check_item,
    chosen=(MEASURE_CHOICE, "revealed_choice"),
    options=SCREEN.values_of,
    baselines=("random",),
    truth=True,
    chance=0.5,
    learnt="verification",
    wordings=asking.wordings,
    scored=asking.options,
)
