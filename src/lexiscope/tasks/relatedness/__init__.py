"""Relatedness in context: how related are the meanings of one word in two sentences, or of two words in one each?

People rate it from 1 (not related at all) to 5 (the same meaning). A model that gives vectors answers with the
cosine distance between the target's vectors in the two sentences, at every layer. A subject with several vectors for a
word answers with the similarities of its senses too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from lexiscope.core.item import Item
from lexiscope.core.prompt import GUIDELINES
from lexiscope.core.response import ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.core.screen import Habit, Screen, Shown, emphasised_line
from lexiscope.core.subject import Progress, Subject
from lexiscope.core.task import Task
from lexiscope.core.usage import Usage
from lexiscope.items.answers.chat_answers import CHAT_MEASURES, RATING_MEASURES
from lexiscope.items.answers.scale_scoring import RATED, SCORING_MEASURES, scale_options, scoring_function
from lexiscope.items.arrange.views import view_item
from lexiscope.items.sheets.form import Sheet, SheetColumn, sheet_of
from lexiscope.tasks.kit.asking import Asking, Variant, pair_examples, starred_target
from lexiscope.tasks.kit.distances import MEASURE_DISTANCE, distinct_usages, pair_function
from lexiscope.tasks.kit.judging import check_usages, judgment_function
from lexiscope.tasks.kit.published_sheets import Cells, Judgments, answers_by_item, first_condition, number_cells
from lexiscope.tasks.relatedness.by_sense import SENSE_MEASURES, similarity_function

FOLDER = Path(__file__).parent
"""The folder of the task's words: guidelines.md, words.json, screen.html, prompt.txt, examples.jsonl."""

NAME = "relatedness"
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


def stimulus(item: Item, shown: Shown) -> Mapping[str, object]:
    """Return what the page shows: the target and the two sentences, left and right as this trial has them.

    If an item is about two words, both are shown, each on the side of its sentence.
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
    return pair_examples(SCREEN, language, task=NAME, gold="rating")


def _check_item(item: Item) -> Item:
    return check_usages(item, _USAGES, task=NAME)


_distances = pair_function(NAME, check=_check_item)


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
    distances = _distances(items, subject, view=view, work=work, progress=progress)
    if not isinstance(subject, CountsTokens):
        return distances
    usages, sides = distinct_usages([(item.usages[0], item.usages[1]) for item in (view_item(i, view) for i in items)])
    counts, (left, right) = subject.token_counts(usages, work=work), sides.T
    who = {"subject_id": subject.subject_id, "subject_kind": subject.kind, "task": NAME, "view": view}
    item_ids = [item.item_id for item in items]
    values = (counts[left, 0], counts[right, 0], counts[left, 1])
    tables = [distances]
    for measure, column in zip(MEASURES_TOKENS, values, strict=True):
        count = {"item_id": item_ids, "measure": measure, "value": column.astype(np.float64)}
        tables.append(ResponseTable.from_columns(who | count))
    return ResponseTable.concat(tables)


def fields(item: Item, _language: str) -> Mapping[str, str]:
    """Return what a prompt says of an item: the word, and both sentences, with the word between ``**`` and without."""
    shown = stimulus(item, Shown())
    told = {"target": str(shown["target"])}
    for number, usage in enumerate(item.usages, start=1):
        told |= {f"plain_{number}": usage.text}
        told |= {f"sentence_{number}": starred_target(usage)}
    return told


# -- the published sheets ----------------------------------------------------------------------------------------------
# Relatedness ratings as SAW-C published them: a row per rating, and a row per pair with its norm (SAW-C §3). The
# columns are those of the published files, so that what reads those reads these: ``lexiscope agree`` on the ratings,
# ``lexiscope study saw_c --items`` on them, and the dataset's own reader.


_SAME = {True: "Same Sense", False: "Different Sense"}
_SENSES = (
    SheetColumn("Sense_id_s1", "number of the target's sense in sentence 1, within the word", "category"),
    SheetColumn("Sense_id_s2", "number of the target's sense in sentence 2, within the word", "category"),
)
_GENDERS = (
    SheetColumn("Gender_s1", "grammatical gender of the target in sentence 1", "category"),
    SheetColumn("Gender_s2", "grammatical gender of the target in sentence 2", "category"),
)
_NUMBER = SheetColumn("", "number of the row, from 1", "integer", low=1)
_WORD = SheetColumn("Word", "the ambiguous word", "id")
_SAME_SENSE = SheetColumn("Same_sense", "whether the target has the same sense in both sentences", "category")
_SENTENCES = (SheetColumn("Sentence_1", "sentence 1", "text"), SheetColumn("Sentence_2", "sentence 2", "text"))


def published_sheets(judgments: Judgments) -> tuple[Sheet, ...]:
    """Return the ratings and the norms of the study's first view."""
    return rating_sheet(judgments), pair_sheet(judgments)


def rating_sheet(judgments: Judgments) -> Sheet:
    """Return a row per rating that counts."""
    view = judgments.first_view
    pairs = {item_id: pair_cells(item) for item_id, item in judgments.items.items() if len(item.usages) == 2}

    def rows() -> Iterator[Cells]:
        number = 0
        names = ("item_id", "list_id", "participant_id", "response")
        for item_id, list_id, participant_id, response in judgments.valid_rows.columns(*names):
            if response is not None and judgments.view_of(list_id) == view:
                number += 1
                cells: Cells = {"": number, "Participant": participant_id, "Response": float(response)}
                yield pairs[item_id] | cells | {"List": list_id}

    return sheet_of("sawc_judgments.csv", "one rating of one pair by one participant", _rating_columns(), rows())


def pair_sheet(judgments: Judgments) -> Sheet:
    """Return a row per pair, with mean, SD (n − 1), median and number of its ratings."""
    answers, view = answers_by_item(judgments), judgments.first_view
    names = {"mean": "mean_relatedness", "sd": "sd_relatedness", "median": "median_relatedness"}
    rows: list[Cells] = []
    for number, item in enumerate(sorted(judgments.asked, key=_pair_order), start=1):
        given = [float(answer) for answer in answers.get((item.item_id, view), ())]
        statistics = {names[name]: value for name, value in number_cells(given).items()}
        rows.append(pair_cells(item) | {"": number, "List": item.list_id, "count": len(given)} | statistics)
    return sheet_of("sawc_items.csv", "one pair with its norm", _pair_columns(judgments), rows)


def pair_cells(item: Item) -> Cells:
    """Return the cells of a pair; what its items do not say is missing."""
    first, second = item.usages
    conditions = item.conditions
    same = conditions.get("same_sense")
    gender = first_condition(conditions, "Same_gender", "same_gender_published", "same_gender")
    return {
        "Word": item.word,
        "Tag": "__".join(sorted((first.text, second.text))),
        "Same_sense": _SAME.get(str(same).casefold() == "true") if same is not None else None,
        "Sentence_1": first.text,
        "Sentence_2": second.text,
        "Sense_id_s1": sense_number(first, item.word),
        "Sense_id_s2": sense_number(second, item.word),
        "Gender_s1": first_condition(conditions, "Gender_s1", "gender_1"),
        "Gender_s2": first_condition(conditions, "Gender_s2", "gender_2"),
        "context_cue1": first_condition(conditions, "context_cue1", "cue_1"),
        "context_cue2": first_condition(conditions, "context_cue2", "cue_2"),
        "Same_gender": None if gender is None else str(gender).upper(),
    }


def sense_number(usage: Usage, word: str) -> str | None:
    """Return a usage's sense without its word in front, where that is how it is written.

    >>> sense_number(Usage("Fue al banco", 7, 12, sense="banco.2"), "banco")
    '2'
    """
    return None if usage.sense is None else usage.sense.removeprefix(f"{word}.")


def _rating_columns() -> tuple[SheetColumn, ...]:
    tag = SheetColumn("Tag", "the two sentences in alphabetical order, joined by __: identifies the pair", "id")
    cues = ("context_cue1", "part of speech of the cue in sentence 1"), ("context_cue2", "the same for sentence 2")
    return (
        _NUMBER,
        SheetColumn("Participant", "random id of the participant", "id"),
        SheetColumn("Response", "rating; higher means more related", "number", "points"),
        _WORD,
        tag,
        _SAME_SENSE,
        SheetColumn("List", "the list that the participant answered", "category"),
        *(_SENTENCES[0], _SENSES[0], _GENDERS[0], _SENTENCES[1], _SENSES[1], _GENDERS[1]),
        *(SheetColumn(name, meaning, "category") for name, meaning in cues),
        SheetColumn("Same_gender", "whether both genders are the same: TRUE or FALSE", "category"),
    )


def _pair_columns(judgments: Judgments) -> tuple[SheetColumn, ...]:
    low, high = judgments.scale.low, judgments.scale.high
    return (
        *(_NUMBER, SheetColumn("List", "the list that contains the pair", "category"), _WORD, _SAME_SENSE),
        *(*_SENTENCES, *_SENSES, *_GENDERS),
        SheetColumn("mean_relatedness", "mean rating; higher means more related", "number", "points", low, high),
        SheetColumn("sd_relatedness", "standard deviation of the ratings (n − 1)", "number", "points", 0),
        SheetColumn("median_relatedness", "median rating", "number", "points", low, high),
        SheetColumn("count", "ratings that count", "integer", low=0),
    )


def _pair_order(item: Item) -> tuple[object, ...]:
    cells = pair_cells(item)
    names = ("Word", "Same_sense", "Sentence_1", "Sentence_2")
    list_id = item.list_id or ""
    return (len(list_id), list_id, *(str(cells[name]) for name in names))


# -- the page and the task -------------------------------------------------------------------------------------------


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
    published=published_sheets,
)

VARIANTS = {"saw_c": Variant(temperature=0.0, max_tokens=3, takes_shots=False)}
"""``saw_c``: built as SAW-C describes its prompt (A.4.1): the system message is what participants read, in Spanish; the
user's turn asks the question again, with its scale, then has the two sentences on separate lines, ``Palabra: …``, and
the request of one number; temperature 0, at most 3 tokens. The instructions are those of this task: the wording of the
paper's is not available."""

asks = Asking(SCREEN, fields, example_items, VARIANTS)
"""Makes a chat question of an item."""

by_judgment = judgment_function(NAME, MEASURE_RATING, check=_check_item, asks=asks)
"""Answers with the judgments that a subject gives or has recorded."""

by_sense = similarity_function(NAME, MEASURE_DISTANCE, check=_check_item, otherwise=by_embedding)
"""Answers with the similarities of induced senses, for words and in context."""

by_scoring = scoring_function(NAME, MEASURE_RATING, asks)
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
    check=_check_item,
    rated=RATED,
    baselines=("random", "constant", "word_overlap"),
    learnt="pair",
    wordings=(GUIDELINES, *VARIANTS),
    scored=scale_options(asks),
)
