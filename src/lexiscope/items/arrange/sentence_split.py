"""A split by sentence: so many sentences for testing, so many for development, the rest to train on.

All items of a sentence stay together. *Source:* the context–word bias study, §2.1 (Wikification: 50,000 sentences each
for test and dev).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item


def split_by_sentence(
    items: Sequence[Item], *, n_test: int, n_dev: int, seed: int = 0, group: str = "sentence"
) -> tuple[Item, ...]:
    """Return the items with the condition ``split``: test, dev or train, in the order given.

    The sentences (values of the condition *group*) are sorted and then shuffled with *seed*, so that neither the order
    of the items nor the run of the process decides. An item's id is left as it is.
    Errors: :class:`InputError` for fewer sentences than test and dev need and one to train on, or a negative number.

    >>> from lexiscope.core.usage import Usage
    >>> made = [Item(f"i{n}", "d", (Usage("x", 0, 1),), conditions={"sentence": f"s{n // 2}"}) for n in range(8)]
    >>> [item.conditions["split"] for item in split_by_sentence(made, n_test=1, n_dev=1, seed=2)]
    ['train', 'train', 'test', 'test', 'dev', 'dev', 'train', 'train']
    """
    names = sorted({str(item.condition(group)) for item in items})
    if min(n_test, n_dev) < 0 or n_test + n_dev >= len(names):
        what = f"{len(names)} sentences are too few for {n_test} to test, {n_dev} for development and some to train on"
        raise InputError(what, hint="ask for fewer sentences")
    random.Random(seed).shuffle(names)
    part = dict.fromkeys(names[:n_test], "test") | dict.fromkeys(names[n_test : n_test + n_dev], "dev")
    return tuple(
        replace(item, conditions={**item.conditions, "split": part.get(str(item.condition(group)), "train")})
        for item in items
    )
