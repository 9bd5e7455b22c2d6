"""Word intrusion: how often people and models find the word that does not belong among a sense's neighbours.

An instance is one (sense, intruder): nine neighbours of the sense and a word from elsewhere. *Source:* GASI §4.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from lexiscope.analysis.agreement.choices import (
    chance_of_majority,
    chance_of_vote_share,
    hits_per_item,
    majority,
    majority_of,
    mean_chance,
    share,
    vote_share,
)
from lexiscope.analysis.bootstrap import cluster_labels, groups_of
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.response import ResponseColumns
from lexiscope.core.result import Estimate, Undefined, statistic_name

RULE = "an instance is right where more than half of its judgments find the intruder: 2 of 3"
"""When an instance counts as right."""


@dataclass(frozen=True, slots=True)
class WordIntrusion:
    """How well people find intruders: shares from 0 to 1, higher means that the senses are easier to interpret.

    ``sense_accuracy`` is the share of instances that are right by :data:`RULE`, ``judgment_accuracy`` the share of
    single judgments. ``agreement`` is the mean share of the winning word, whether right or not;
    ``trust_weighted_agreement`` weighs each vote by its rater's trust, and is ``None`` where no trust is known. The
    ``chance`` of each is what blind choices would give with as many judgments of each instance. ``n_without`` counts
    instances without any judgment, ``n_undecided`` those without a majority for any word, ``n_missing`` judgments
    without a choice.
    """

    sense_accuracy: Estimate
    judgment_accuracy: Estimate
    agreement: Estimate | Undefined
    trust_weighted_agreement: Estimate | Undefined | None
    chance_of_sense: float
    chance_of_judgment: float
    chance_of_agreement: float
    n_instances: int
    n_judgments: int
    n_without: int
    n_undecided: int
    n_missing: int

    @property
    def accuracies(self) -> tuple[tuple[Estimate, float], ...]:
        """The share of senses and of judgments, each with what blind choices would give."""
        return (self.sense_accuracy, self.chance_of_sense), (self.judgment_accuracy, self.chance_of_judgment)


def word_intrusion(
    ratings: Ratings,
    options: Sequence[str],
    *,
    intruders: Mapping[str, str],
    groups: Mapping[str, str] | None = None,
    trust: Mapping[str, float] | None = None,
    n_options: int = 10,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> WordIntrusion:
    """Return accuracy and agreement of word-intrusion judgments. *Source:* GASI §4.1, Table 1.

    *ratings* and *options* are the choices, of :func:`lexiscope.analysis.ratings.choices_from_table` or
    :func:`lexiscope.analysis.agreement.choices.choices_from_arrays`; *intruders* names each item's intruder. *groups*
    (item id → word or sense) are resampled whole: instances of one sense are not independent. *trust*: see
    :func:`lexiscope.analysis.agreement.choices.rater_trust`. *n_options* is how many words a page shows.
    Errors: :class:`InputError` for an item without an intruder, a word or a rater's trust; :class:`StatisticError`
    where there is no judgment, or fewer than two groups.

    Two senses of *bank*, three judgments each; the first intruder is found by two, the second by one:

    >>> from lexiscope.analysis.agreement.choices import choices_from_arrays
    >>> choices = ["tree", "tree", "coin", "loan", "shore", "river"]
    >>> ratings, options = choices_from_arrays(list("abcabc"), ["s1"] * 3 + ["s2"] * 3, choices)
    >>> found = word_intrusion(ratings, options, intruders={"s1": "tree", "s2": "loan"}, resamples=200)
    >>> found.sense_accuracy.value, found.judgment_accuracy.value, found.n_undecided  # 1 of 2, 3 of 6
    (0.5, 0.5, 1)
    >>> found.agreement.value, round(found.chance_of_sense, 3), found.chance_of_judgment  # (2/3 + 1/3) / 2
    (0.5, 0.028, 0.1)
    """
    n = ratings.counts()
    kept = n > 0
    if not kept.any():
        raise StatisticError("word intrusion is undefined: there is no judgment")
    # a majority of the judgments that are there, not of those that were planned
    hits = hits_per_item(ratings, options, intruders)[kept]
    right = hits >= np.array([majority_of(size) for size in n[kept].tolist()])
    labels = groups_of(cluster_labels(ratings.item_ids, groups), kept)
    counted = partial(share, groups=labels, level=level, resamples=resamples, seed=seed)
    agreed = partial(vote_share, ratings, groups=groups, level=level, resamples=resamples, seed=seed)
    return WordIntrusion(
        sense_accuracy=counted(statistic_name("intrusion_accuracy", of="senses"), right, np.ones(len(right))),
        judgment_accuracy=counted(statistic_name("intrusion_accuracy", of="judgments"), hits, n[kept]),
        agreement=agreed(),
        trust_weighted_agreement=None if trust is None else agreed(trust=trust),
        chance_of_sense=mean_chance(chance_of_majority, n[kept], n_options),
        chance_of_judgment=1 / n_options,
        chance_of_agreement=mean_chance(chance_of_vote_share, n[n > 1], n_options),
        n_instances=int(kept.sum()),
        n_judgments=int(n.sum()),
        n_without=int((~kept).sum()),
        n_undecided=int((~majority(ratings).absolute & kept).sum()),
        n_missing=ratings.n_missing,
    )


# -- how often models, at each of their layers, give the right answer to the tests that people take -----------------


def model_hits(
    table: ResponseColumns,
    right: Mapping[str, str],
    *,
    name: str,
    words: Mapping[str, str],
    measure: str = "choice",
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[tuple[Estimate | Undefined, int], ...]:
    """Return the share of correct answers of every subject and layer, and how many items it left unanswered.

    They come in the order of the rows. An item without an option is wrong. *Unit:* share, 0 to 1.

    *right* names the right option of each item, *words* (item → word) what is resampled, *name* the statistic. An item
    that was asked several times counts each time.
    Errors: :class:`InputError` E506 for an item that *right* does not name.

    >>> from lexiscope.core.response import Response, ResponseTable
    >>> rows = [Response("e", "encoder", item, "t", "choice", option=option, layer=1) for item, option in ("ix", "jy")]
    >>> hits = model_hits(ResponseTable.from_rows(rows), {"i": "x", "j": "x"}, name="hits", words={"i": "a", "j": "b"})
    >>> [(share.subject, share.layer, share.value, n_unanswered) for share, n_unanswered in hits]
    [('e', 1, 0.5, 0)]
    """
    rows = table.where(measure=measure)
    subjects, items = ([names[code] for code in codes.tolist()] for codes, names in map(rows.codes, _KEYS))
    layers, options = rows.column("layer").tolist(), rows.column("option").tolist()
    unknown = next((item for item in items if item not in right), None)
    if unknown is not None:
        what, hint = "no correct answer is known of this item", "give the file of items that was asked"
        raise InputError(what, code="E506", place=Place(item_id=unknown), hint=hint)
    parts: dict[tuple[str, int | None], list[int]] = {}
    for number, (subject, layer) in enumerate(zip(subjects, layers, strict=True)):
        # a column with missing values comes as floats
        layer_number = None if layer is None or layer != layer else int(str(layer).partition(".")[0])
        parts.setdefault((subject, layer_number), []).append(number)
    shares = []
    for (subject, layer), numbers in parts.items():
        hits = [float(options[number] == right[items[number]]) for number in numbers]
        groups = cluster_labels([items[number] for number in numbers], words, what="word")
        try:
            accuracy: Estimate | Undefined = share(
                name, hits, np.ones(len(hits)), groups=groups, level=level, resamples=resamples, seed=seed
            )
        except StatisticError as error:
            accuracy = Undefined(name, error.what, len(hits))
        n_unanswered = sum(options[number] is None for number in numbers)
        shares.append((accuracy.about(subject=subject, layer=layer), n_unanswered))
    return tuple(shares)


_KEYS = ("subject_id", "item_id")
