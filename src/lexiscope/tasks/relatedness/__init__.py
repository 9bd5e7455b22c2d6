"""Relatedness in context: how related are the meanings of one word in two sentences, or of two words in one each?

People rate it from 1 (not related at all) to 5 (the same meaning). A model that gives vectors answers with the
cosine distance between the target's vectors in the two sentences, at every layer. A subject with several vectors for a
word answers with the similarities of its senses too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np

from lexiscope.core.errors import InputError, Place, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.core.screen import Habit, Screen, Shown, emphasised_line
from lexiscope.core.subject import Embeds, Floats, Progress, Subject
from lexiscope.core.task import Task
from lexiscope.core.usage import Usage
from lexiscope.items.answers.chat_answers import CHAT_MEASURES, RATING_MEASURES
from lexiscope.items.answers.scale_scoring import RATED, SCORING_MEASURES, scoring
from lexiscope.items.arrange.views import view_item
from lexiscope.tasks.kit.asking import Asking, Variant
from lexiscope.tasks.kit.distances import cosine_distances
from lexiscope.tasks.kit.judging import answering, check_usages
from lexiscope.tasks.kit.one_sentence import starred_target
from lexiscope.tasks.relatedness.by_sense import SENSE_MEASURES, relating_by_sense
from lexiscope.tasks.relatedness.sheet import published

FOLDER = Path(__file__).parent
"""The folder of the task's words: guidelines.md, words.json, screen.html, prompt.txt, examples.jsonl."""

NAME = "relatedness"
MEASURE_DISTANCE = "cosine_distance"
MEASURE_RATING = "rating"
MEASURES_TOKENS = ("n_tokens_1", "n_tokens_2", "target_tokens")
_USAGES = 2

ANCHORS: dict[str, tuple[tuple[float, str], ...]] = {
    "en": ((1.0, "not related at all"), (5.0, "the same meaning")),
    "es": ((1.0, "totalmente sin relación"), (5.0, "mismo significado")),
    "de": ((1.0, "gar nicht verwandt"), (5.0, "dieselbe Bedeutung")),
    "ar": ((1.0, "لا علاقة بينها إطلاقًا"), (5.0, "المعنى نفسه")),
}
"""The words at the ends of the scale, by language; the Spanish ones are SAW-C's (§3.3)."""

SCALE = Scale(1, 5, anchors=ANCHORS["en"])

Rows = np.ndarray[Any, np.dtype[np.int64]]


@runtime_checkable
class CountsTokens(Protocol):
    """A subject that can say how many tokens it makes of a sentence and of its target."""

    def token_counts(self, usages: Sequence[Usage], *, work: Path | None = None) -> Rows:
        """Return the tokens of each usage's sentence and of its target. *Shape: (usages, 2)*."""


def scale_in(language: str) -> Scale:
    """Return the scale with its words in a language (``en``, ``es``).

    Errors: :class:`InputError` for a language in which the anchors are not written.
    """
    if language not in ANCHORS:
        raise InputError(f"the relatedness scale has no words in {language!r}", hint=f"use {', '.join(ANCHORS)}")
    return Scale(SCALE.low, SCALE.high, anchors=ANCHORS[language])


def stimulus(item: Item, shown: Shown) -> Mapping[str, object]:
    """Return what the page shows: the target and the two sentences, left and right as this trial has them.

    Of an item about two words both are shown, each on the side of its sentence.
    """
    left, right = item.usages if shown.side != "swapped" else item.usages[::-1]
    sentences = [emphasised_line(usage.text, usage.start, usage.end) for usage in (left, right)]
    if not item.has_one_word:
        target = f"{left.target} · {right.target}"
    else:
        target = item.word if left.target.casefold() != right.target.casefold() else left.target
    return {"target": target, "sentences": sentences}


def example_items(language: str) -> tuple[Item, ...]:
    """Return the worked examples in a language as items; ``gold`` is the rating that is right."""
    items = []
    for number, row in enumerate(SCREEN.examples(language), start=1):
        usages = tuple(
            Usage(row[f"sentence_{n}"], row[f"start_{n}"], row[f"end_{n}"], lemma=row["word"], language=language)
            for n in (1, 2)
        )
        items.append(Item(f"example_{number}", NAME, usages, gold=str(row["rating"])))
    return tuple(items)


def by_embedding(
    items: Sequence[Item],
    subject: Subject,
    *,
    view: str,
    work: Path | None = None,
    progress: Progress | None = None,
) -> ResponseTable:
    """Answer with the cosine distance of the two targets' vectors, at every layer.

    Rows are in the order of the items, then of the layers. Each distinct usage is embedded once. A subject that can
    count its tokens adds them, behind the distances: ``n_tokens_1`` and ``n_tokens_2`` of the two sentences (special
    tokens included) and ``target_tokens`` of the first target.
    *Source:* SAW-C §4.2. Errors: :class:`InputError` for an item without exactly two usages;
    :class:`SubjectError` naming the item whose usage has no vector, or one of length zero.
    """
    embedder = cast(Embeds, subject)
    layers = np.asarray(embedder.layers)
    shown = [_checked(view_item(item, view)) for item in items]
    usages, left, right = _distinct(shown)
    try:
        vectors = embedder.embed(usages, work=work, progress=progress)
    except SubjectError as error:
        raise _naming_item(error, shown) from error
    _check_lengths(vectors, left, right, shown)
    who = {"subject_id": subject.subject_id, "subject_kind": subject.kind, "task": NAME, "view": view}
    item_ids = np.array([item.item_id for item in shown], dtype=object)
    distances = {
        "item_id": np.repeat(item_ids, len(layers)),
        "measure": MEASURE_DISTANCE,
        "value": cosine_distances(vectors, left, right).ravel(),
        "layer": np.tile(layers, len(shown)),
    }
    tables = [ResponseTable.from_columns(who | distances)]
    if isinstance(subject, CountsTokens):
        counts = subject.token_counts(usages, work=work)
        values = (counts[left, 0], counts[right, 0], counts[left, 1])
        for measure, column in zip(MEASURES_TOKENS, values, strict=True):
            count = {"item_id": item_ids, "measure": measure, "value": column.astype(np.float64)}
            tables.append(ResponseTable.from_columns(who | count))
    return ResponseTable.concat(tables)


def _checked(item: Item) -> Item:
    return check_usages(item, _USAGES, task=NAME)


def _distinct(items: Sequence[Item]) -> tuple[list[Usage], Rows, Rows]:
    """Return the distinct usages and, for every item, the rows of its two."""
    rows: dict[tuple[str, int, int], int] = {}
    usages: list[Usage] = []
    pairs = np.empty((len(items), _USAGES), dtype=np.int64)
    for number, item in enumerate(items):
        for side, usage in enumerate(item.usages):
            if usage.key not in rows:
                rows[usage.key] = len(usages)
                usages.append(usage)
            pairs[number, side] = rows[usage.key]
    return usages, pairs[:, 0], pairs[:, 1]


def _naming_item(error: SubjectError, items: Sequence[Item]) -> SubjectError:
    """Return the same error with the id of the first item that holds the usage it is about."""
    place = error.place
    for item in items if place is not None and place.column is not None else ():
        assert place is not None
        assert place.column is not None
        if (place.text, place.column - 1) in {(usage.text, usage.start) for usage in item.usages}:
            named = Place(item_id=item.item_id, text=place.text, column=place.column, width=place.width)
            return SubjectError(error.what, code=error.code, place=named, why=error.why, hint=error.hint)
    return error


def _check_lengths(vectors: Floats, left: Rows, right: Rows, items: Sequence[Item]) -> None:
    usable = np.isfinite(vectors).all(axis=2) & (vectors != 0).any(axis=2)
    bad = ~(usable[left] & usable[right])
    if not bad.any():
        return
    item, layer = (int(axis[0]) for axis in np.nonzero(bad))
    raise SubjectError(
        f"the cosine distance is undefined at layer {layer}: a target's vector is zero or not finite",
        place=Place(item_id=items[item].item_id),
        hint="leave the item out, or use another model",
    )


def fields(item: Item, _language: str) -> Mapping[str, str]:
    """Return what a prompt says of an item: the word, and both sentences, with the word between ``**`` and without."""
    shown = stimulus(item, Shown())
    told = {"target": str(shown["target"])}
    for number, usage in enumerate(item.usages, start=1):
        told |= {f"plain_{number}": usage.text}
        told |= {f"sentence_{number}": starred_target(usage)}
    return told


SCREEN = Screen(
    folder=FOLDER,
    widget="scale",
    measure=MEASURE_RATING,
    stimulus=stimulus,
    scale=SCALE,
    anchors=ANCHORS,
    n_usages=2,
    swaps_sides=True,
    advance="press",
    comment=False,
    # SAW-C §3.3
    habit=Habit(per_item=10, per_list=82),
    published=published,
)

VARIANTS = {"saw_c": Variant(temperature=0.0, max_tokens=3, takes_shots=False)}
"""``saw_c``: built as SAW-C describes its prompt (A.4.1): the instructions of the participants in Spanish, then the two
sentences on lines of their own and ``Palabra: …``, one number, temperature 0, at most 3 tokens. The instructions are
those of this task: the wording of the paper's is not at hand."""

asks = Asking(SCREEN, fields, example_items, VARIANTS)
"""Makes a chat question of an item."""

by_judgment = answering(NAME, MEASURE_RATING, check=_checked, asks=asks)
"""Answers with the judgments that a subject gives or has recorded."""

by_sense = relating_by_sense(NAME, MEASURE_DISTANCE, check=_checked, otherwise=by_embedding)
"""Answers with the similarities of induced senses, for words and in context."""

by_scoring = scoring(NAME, MEASURE_RATING, asks)
"""Answers with the probability of each point of the scale behind the prompt."""

TASK = Task(
    name=NAME,
    summary="How related are the meanings of one word in two sentences?",
    scale=SCALE,
    item_fields=("usages",),
    answers=(("Judges", by_judgment), ("ChoosesSense", by_sense), ("Embeds", by_embedding), ("Scores", by_scoring)),
    measures=(
        (MEASURE_RATING, "points of the item's scale, 1 to 5 where it names none; higher means more related"),
        (MEASURE_DISTANCE, "1 − cosine, from 0 to 2; higher means less related"),
        *SENSE_MEASURES,
        ("jaccard_distance", "1 − shared words / all words of the contexts, from 0 to 1; higher means less related"),
        (MEASURES_TOKENS[0], "tokens of the first sentence, special tokens included"),
        (MEASURES_TOKENS[1], "tokens of the second sentence, special tokens included"),
        (MEASURES_TOKENS[2], "tokens of the target in the first sentence"),
        *CHAT_MEASURES,
        *RATING_MEASURES,
        *SCORING_MEASURES,
    ),
    asks=asks,
    check=_checked,
    rated=RATED,
    baselines=("random", "constant", "word_overlap"),
    learnt="pair",
)
