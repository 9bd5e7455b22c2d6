"""How large a set of usage pairs is: items, words, sentences, and how the two sentences of a pair differ in length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from lexiscope.core.item import Item
from lexiscope.core.result import Estimate, statistic_name


def sizes_of_pairs(items: Sequence[Item]) -> dict[str, Estimate]:
    """Return what there is how many of, by what a table calls it. *Source:* SAW-C §3.1.

    Words of a sentence are what spaces separate. An item without two usages has no difference in length.

    >>> from lexiscope.core.usage import Usage
    >>> texts = ("A bank closed.", "The old bank closed.")
    >>> pair = Item("1", "own", tuple(Usage(text, *(text.index("bank") + k for k in (0, 4))) for text in texts))
    >>> {label: one.value for label, one in sizes_of_pairs([pair]).items()}["Words per sentence, mean"]
    3.5
    """
    per_word = list(Counter(item.word for item in items).values())
    texts = {usage.text for item in items for usage in item.usages}
    lengths = [[len(usage.text.split()) for usage in item.usages] for item in items if len(item.usages) == 2]
    differing = Counter(abs(first - second) for first, second in lengths)
    lists = {item.list_id for item in items} - {None}
    words = float(np.mean([len(text.split()) for text in texts]))
    unequal = {by: statistic_name("items_differing_in_word_count", by=by) for by in ("any", 1, 2)}
    values: dict[str, tuple[str, float]] = {
        "Usage pairs": ("n_items", len(items)),
        "Words": ("n_words", len(per_word)),
        **({"Lists": ("n_lists", len(lists))} if lists else {}),
        "Pairs per word, fewest": ("items_per_word(summary=min)", min(per_word)),
        "Pairs per word, mean": ("items_per_word(summary=mean)", float(np.mean(per_word))),
        "Pairs per word, most": ("items_per_word(summary=max)", max(per_word)),
        "Distinct sentences": ("n_sentences", len(texts)),
        "Words per sentence, mean": ("words_per_sentence(summary=mean)", words),
        "Pairs whose sentences differ in word count": (unequal["any"], differing.total() - differing[0]),
        "… by one word": (unequal[1], differing[1]),
        "… by two words": (unequal[2], differing[2]),
    }
    return {label: Estimate(name, value) for label, (name, value) in values.items()}
