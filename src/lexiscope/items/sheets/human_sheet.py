"""The sheet of the human substitution test: each sentence with its target, then both candidates in random order.

People answer it as items of the task ``substitution`` (:func:`human_sheet`); as text (:func:`sheet_lines`) it is the
sheet that the two annotators of the synonymy study were given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from lexiscope.core.item import Condition, Item
from lexiscope.core.settings import Option
from lexiscope.core.usage import Usage
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem
from lexiscope.items.choice_sets.surface import Mode, place_word

SHEET_SEED = 160
"""The seed of the published order."""


def shown_orders(n_items: int, *, seed: int = SHEET_SEED) -> tuple[bool, ...]:
    """Return, for each item, whether the synonym stands first. *Source:* the synonymy study, released code.

    >>> shown_orders(4)
    (True, True, False, True)
    """
    # the legacy generator, whose stream never changes: it is that of the published sheet
    draw = np.random.RandomState(seed)
    return tuple(int(draw.randint(0, 2)) == 0 for _ in range(n_items))


def human_sheet(
    items: Sequence[SynonymItem],
    *,
    seed: Annotated[int, Option("draws which candidate is A", least=0)] = SHEET_SEED,
    mode: Annotated[Mode, Option("how texts are written")] = "clean",
    dataset: str = "synonymy",
) -> tuple[Item, ...]:
    """Return the sheet as items of the task ``substitution``, the candidates as ``options`` in the order shown.

    ``gold`` is the synonym; the condition ``key`` says whether it is A (first) or B. Ids are
    ``<dataset>/<item>/people``.
    """
    made = []
    for item, first in zip(items, shown_orders(len(items), seed=seed), strict=True):
        placed = place_word(
            item.sentence, (item.start, item.end), _as_written(item), tokenised=item.tokenised, mode=mode
        )
        # the sense stands with the usage, where the page does not show it
        usage = Usage(placed.text, placed.start, placed.end, item.target, "NOUN", item.language, item.sense_key or None)
        words = item.words("controlled", mode=mode)
        about: dict[str, Condition] = {
            "key": "A" if first else "B",
            "mode": mode,
            "item": item.number,
            "target": item.target,
            "sentence": item.sentence_id or item.item_id,
        }
        made.append(
            Item(
                f"{dataset}/{item.item_id}/people",
                dataset,
                (usage,),
                options=words if first else words[::-1],
                gold=words[0],
                conditions=about,
            )
        )
    return tuple(made)


def sheet_lines(items: Sequence[SynonymItem], *, seed: int = SHEET_SEED, mode: Mode = "clean") -> tuple[str, ...]:
    """Return the sheet as text: of each item three lines (number, word, sentence with the word in brackets).

    The target comes first, then the candidates in the order shown.

    >>> oak = SynonymItem.from_tokens("1", "An oak fell .".split(), 1, synonym="tree", distractor="wood")
    >>> [line.split("\\t")[2] for line in sheet_lines([oak])]
    ['An [oak] fell.\\n', 'A [tree] fell.\\n', 'A [wood] fell.\\n']
    """
    lines = []
    for item, first in zip(items, shown_orders(len(items), seed=seed), strict=True):
        words = item.words("controlled", mode=mode)
        for word in (_as_written(item), *(words if first else words[::-1])):
            lines.append(f"{item.number}\t{word}\t{_bracketed(item, word, mode)}\n")
    return tuple(lines)


def _bracketed(item: SynonymItem, word: str, mode: Mode) -> str:
    placed = place_word(
        item.sentence,
        (item.start, item.end),
        word,
        tokenised=item.tokenised,
        language=item.language,
        article=item.article,
        mode=mode,
    )
    return f"{placed.text[: placed.start]}[{placed.word}]{placed.text[placed.end :]}"


def _as_written(item: SynonymItem) -> str:
    return item.sentence[item.start : item.end]
