"""Sense choice: which group of words fits the meaning of a word in its sentence?

People see a sentence with its target marked and K groups of words, the nearest neighbours of each induced sense, and
choose one group: forced choice. *Source:* GASI §4.2 (K = 3, ten words in a group).

An item has one usage and a condition ``group_<sense>`` for each sense: the group's words divided by ``|``, in an item
file a column each (``group_1``, ``group_2``, ``group_3``). What follows ``group_`` is the sense's id: it is what the
answer stores, and never on the page. ``options`` names the senses where not all columns are meant. The conditions
``model_choice`` (an id), ``p_<sense>`` (the model's probabilities) and ``dummy_<sense>`` (true for a group that fills
up a word with too few senses) are for the analysis and are never shown; ``gold`` is the right sense where one is known.
``revision`` says which vectors the groups were made of, ``model`` what they are called:
:func:`lexiscope.build.sense_tests.selection_of_senses.build_selection` makes such items.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.screen import Choice, Habit, Screen, Shown, emphasised_line
from lexiscope.core.task import Task
from lexiscope.core.usage import Usage
from lexiscope.items.answers.chat_answers import CHAT_MEASURES
from lexiscope.items.sheets.sheet import Sheet, SheetColumn
from lexiscope.senses.word_groups import DISTANCE_MEASURE
from lexiscope.tasks.kit.asking import Asking
from lexiscope.tasks.kit.judging import answering, check_usages
from lexiscope.tasks.kit.one_sentence import told_sentence
from lexiscope.tasks.kit.published import SHOWN_ORDER, Cells, Judgments, Row, first_condition, numbered
from lexiscope.tasks.sense_choice.by_vectors import PROBABILITY, choosing_by_embedding, choosing_by_sense

FOLDER = Path(__file__).parent
"""The folder of the task's words: guidelines.md, words.json, screen.html, prompt.txt, examples.jsonl."""

NAME = "sense_choice"
MEASURE = "choice"
GROUP = "group_"
_FEWEST = 2


def groups_of(item: Item) -> dict[str, tuple[str, ...]]:
    """Return the groups of an item: sense id → words, in the order of its options or columns.

    An empty cell is no group, so that words with fewer senses fit into the same file.
    Errors: :class:`InputError` E617 naming an item with fewer than two groups, one that ``options`` names and the item
    lacks, an empty word or one that comes twice in a group, or two groups of the same words.
    """
    named = tuple(GROUP + sense for sense in item.options)
    filled = (name for name, value in item.conditions.items() if name.startswith(GROUP) and str(value).strip())
    names = named or tuple(filled)
    if len(names) < _FEWEST:
        raise _refused(item, f"an item of this task needs two groups of words at least, not {len(names)}")
    groups = {name.removeprefix(GROUP): _words(item, name) for name in names}
    if len({frozenset(words) for words in groups.values()}) < len(names):
        raise _refused(item, "two groups have the same words, so nobody can tell them apart")
    return groups


def stimulus(item: Item, _shown: Shown) -> Mapping[str, object]:
    """Return what the page shows above the groups: the sentence with its target marked."""
    usage = item.usages[0]
    return {"sentence": emphasised_line(usage.text, usage.start, usage.end)}


def options(item: Item, _view: str) -> tuple[Choice, ...]:
    """Return the groups, each as a line of words."""
    groups = groups_of(item)
    # keys follow the words, not the senses: a model's first sense is often its most frequent one
    key = {sense: str(number) for number, sense in enumerate(sorted(groups, key=groups.__getitem__), start=1)}
    return tuple(Choice(key[sense], sense, (((", ".join(words), False),),)) for sense, words in groups.items())


def example_items(language: str) -> tuple[Item, ...]:
    """Return the worked examples in a language as items; ``gold`` is the sense whose group is right."""
    items = []
    for number, row in enumerate(SCREEN.examples(language), start=1):
        usage = Usage(row["sentence"], row["start"], row["end"], language=language)
        conditions = {name: value for name, value in row.items() if name.startswith(GROUP)}
        items.append(Item(f"example_{number}", NAME, (usage,), gold=row["sense"], conditions=conditions))
    return tuple(items)


def _words(item: Item, name: str) -> tuple[str, ...]:
    words = tuple(word.strip() for word in str(item.conditions.get(name, "")).split("|"))
    if not all(words) or len({word.casefold() for word in words}) < len(words):
        raise _refused(item, f"{name} needs words, all different, not {' | '.join(words)!r}")
    return words


def _refused(item: Item, what: str) -> InputError:
    hint = f"give each group in a column {GROUP}<sense>, its words divided by |"
    return InputError(what, code="E617", place=Place(item_id=item.item_id), hint=hint)


def _checked(item: Item) -> Item:
    groups_of(check_usages(item, 1, task=NAME))
    return item


def published(judgments: Judgments) -> tuple[Sheet, ...]:
    """Return which sense group people chose, with what the model chose."""
    columns = (
        SheetColumn("model", "the model whose senses are shown", "category"),
        SheetColumn("word", "the word", "id"),
        SheetColumn("sentence_id", "the sentence", "id"),
        SHOWN_ORDER,
        SheetColumn("choice", "the sense that was chosen", "text", answer=True),
        SheetColumn("model_choice", "the sense that the model chose", "text", answer=True),
        SheetColumn("model_probs", "the model's probability of each sense: sense=probability, joined by ' | '", "text"),
    )

    def cells(_row: Row, item: Item) -> Cells:
        names = ("model", "sentence_id", "model_choice")
        known = {name: first_condition(item.conditions, name) for name in names}
        shares = [f"{name[2:]}={value}" for name, value in item.conditions.items() if name.startswith("p_")]
        return {**known, "word": item.word, "model_probs": " | ".join(shares) or None}

    return (numbered(judgments, "sense_judgments.csv", columns, cells),)


SCREEN = Screen(
    folder=FOLDER,
    widget="choice",
    measure=MEASURE,
    stimulus=stimulus,
    options=options,
    shows=(f"{GROUP}*",),
    shuffles_options=True,
    comment=False,
    # two pages of one word share their groups
    habit=Habit(apart=("word",)),
    published=published,
)

asks = Asking(SCREEN, told_sentence, example_items)
"""Makes a chat question of an item."""

by_judgment = answering(NAME, MEASURE, check=_checked, asks=asks)
"""Answers with the judgments that a subject gives or has recorded."""

by_sense = choosing_by_sense(NAME, groups_of)
"""Answers with the most probable sense; for senses of other vectors with the group that is nearest to the target."""

by_embedding = choosing_by_embedding(NAME, groups_of)
"""Answers with the group whose words are nearest to the target in its sentence, at every layer."""

TASK = Task(
    name=NAME,
    summary="Which group of words fits the meaning of a word in its sentence?",
    scale=None,
    item_fields=("usages", "options", "gold"),
    answers=(("Judges", by_judgment), ("ChoosesSense", by_sense), ("Embeds", by_embedding)),
    measures=(
        (MEASURE, "the id of the sense whose group was chosen, in the column option; no unit, no direction"),
        (PROBABILITY, "how probable a model takes the sense in option to be, 0 to 1; higher means more"),
        DISTANCE_MEASURE,
        *CHAT_MEASURES,
    ),
    asks=asks,
    check=_checked,
    chosen=(MEASURE,),
    options=SCREEN.values_of,
)
