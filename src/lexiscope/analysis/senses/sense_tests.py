"""People's tests of induced senses: word intrusion and sense selection.

Word intrusion: how often people and models find the word that does not belong among a sense's neighbours. An instance
is one (sense, intruder): nine neighbours of the sense and a word from elsewhere. *Source:* GASI §4.1.

Sense selection: whether people choose the group that a model chooses, and how a model's choices are divided. A question
shows a sentence and K groups of words, one for each induced sense of the target. *Source:* GASI §4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.agreement.choices import (
    Majority,
    chance_of_majority,
    chance_of_vote_share,
    hits_per_item,
    majority,
    majority_of,
    mean_chance,
    share,
    vote_share,
)
from lexiscope.analysis.bootstrap import (
    BoolArray,
    FloatArray,
    GroupLabels,
    cluster_labels,
    group_codes,
    groups_of,
    percentile_interval,
    ratio_draws,
    resampled_units,
)
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import ResponseColumns
from lexiscope.core.result import Estimate, Undefined, statistic_name

INTRUSION_RULE = "an instance is right where more than half of its judgments find the intruder: 2 of 3"
"""When an instance counts as right."""


@dataclass(frozen=True, slots=True)
class WordIntrusion:
    """How well people find intruders: shares from 0 to 1, higher means that the senses are easier to interpret.

    ``sense_accuracy`` is the share of instances that are right by :data:`INTRUSION_RULE`, ``judgment_accuracy`` the
    share of single judgments. ``agreement`` is the mean share of the winning word, whether right or not;
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


SELECTION_RULE = "a question is consistent where more than half of its judgments choose the model's sense: 2 of 3"
"""When people and model agree on a question; three different answers of three do not."""

# probabilities are printed with few digits, so their sum may be a little off
_MOST = 1.01


@dataclass(frozen=True, slots=True)
class ModelAnswers:
    """What a model says of each question: the sense it chooses, and how probable each sense is (empty: not known)."""

    choice: Mapping[str, str]
    probabilities: Mapping[str, Mapping[str, float]]

    @classmethod
    def of(cls, items: Sequence[Item]) -> ModelAnswers:
        """Read the conditions ``model_choice`` and ``p_<sense>`` of the items; a file's text is read as a number.

        Errors: :class:`InputError` naming the item without ``model_choice``, or whose probability is none.

        >>> from lexiscope.core.usage import Usage
        >>> item = Item("i", "d", (Usage("bank", 0, 4),), conditions={"model_choice": "s1", "p_s1": "0.7", "p_s2": 0.3})
        >>> ModelAnswers.of([item]).probabilities
        {'i': {'s1': 0.7, 's2': 0.3}}
        """
        choice = {item.item_id: str(item.condition("model_choice")) for item in items}
        answers = {item.item_id: _probabilities(item) for item in items}
        return cls(choice, {item_id: given for item_id, given in answers.items() if given})


@dataclass(frozen=True, slots=True)
class SenseSelection:
    """How often people and a model choose the same sense: shares from 0 to 1, higher means more often.

    ``accuracy`` is the share of questions that are consistent by :data:`SELECTION_RULE`, ``judgment_accuracy`` the
    share of single judgments that choose the model's sense. ``probability`` is the model's mean probability of the
    sense that a majority chose (over the ``probability.n`` questions that have one), ``judgment_probability`` of every
    single judgment's sense; both are ``None`` where the model gives no probabilities. ``agreement`` is the mean share
    of the winning sense, ``trust_weighted_agreement`` weighs each vote by its rater's trust. ``human_choice`` is the
    majority's sense of each question, ``None`` where no sense has more than half: ``n_undecided`` counts these,
    ``n_tied`` those of them where two senses share the most votes. Each ``chance`` is what blind choices would give.
    """

    accuracy: Estimate
    judgment_accuracy: Estimate
    probability: Estimate | Undefined | None
    judgment_probability: Estimate | None
    agreement: Estimate | Undefined
    trust_weighted_agreement: Estimate | Undefined | None
    human_choice: Mapping[str, str | None]
    chance_of_accuracy: float
    chance_of_judgment: float
    chance_of_agreement: float
    n_questions: int
    n_judgments: int
    n_without: int
    n_undecided: int
    n_tied: int
    n_missing: int

    @property
    def accuracies(self) -> tuple[tuple[Estimate, float], ...]:
        """The share of questions and of judgments, each with what blind choices would give."""
        return (self.accuracy, self.chance_of_accuracy), (self.judgment_accuracy, self.chance_of_judgment)


def sense_selection(
    ratings: Ratings,
    options: Sequence[str],
    *,
    model: ModelAnswers,
    groups: Mapping[str, str] | None = None,
    trust: Mapping[str, float] | None = None,
    n_options: int = 3,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> SenseSelection:
    """Return how often people choose the model's sense. *Source:* GASI §4.2, Table 2.

    *ratings* and *options* are the choices, of :func:`lexiscope.analysis.ratings.choices_from_table` or
    :func:`lexiscope.analysis.agreement.choices.choices_from_arrays`. *groups* (item id → word) are resampled whole.
    *n_options* is how many groups of words a page shows, dummies included.
    Errors: :class:`InputError` for a question without a prediction of the model, a chosen sense without a probability
    (a dummy group has 0), a missing word or trust; :class:`StatisticError` without judgments or with fewer than two
    groups.

    Two questions have a majority for the model's sense, the third has three different answers:

    >>> from lexiscope.analysis.agreement.choices import choices_from_arrays
    >>> choices = ["s1", "s1", "s2", "s1", "s1", "s1", "s1", "s2", "s3"]
    >>> ratings, options = choices_from_arrays(list("abc") * 3, ["q1"] * 3 + ["q2"] * 3 + ["q3"] * 3, choices)
    >>> probable = {"s1": 0.75, "s2": 0.25, "s3": 0.0}
    >>> model = ModelAnswers(dict.fromkeys(["q1", "q2", "q3"], "s1"), dict.fromkeys(["q1", "q2", "q3"], probable))
    >>> found = sense_selection(ratings, options, model=model, resamples=200)
    >>> found.accuracy.value == 2 / 3, found.judgment_accuracy.value == 6 / 9, found.human_choice
    (True, True, {'q1': 's1', 'q2': 's1', 'q3': None})
    >>> found.probability.value, found.probability.n, found.judgment_probability.value  # (6 * .75 + 2 * .25) / 9
    (0.75, 2, 0.5555555555555556)
    >>> found.chance_of_accuracy == 7 / 27, found.n_undecided, found.n_tied
    (True, 1, 1)
    """
    n = ratings.counts()
    kept = n > 0
    if not kept.any():
        raise StatisticError("sense selection is undefined: there is no judgment")
    # a majority of the judgments that are there: of one that was planned and is missing nothing is known
    hits = hits_per_item(ratings, options, model.choice)[kept]
    right = hits >= np.array([majority_of(size) for size in n[kept].tolist()])
    labels = cluster_labels(ratings.item_ids, groups) or GroupLabels(range(ratings.n_items), "items")
    asked = groups_of(labels, kept)
    counted = partial(share, level=level, resamples=resamples, seed=seed)
    agreed = partial(vote_share, ratings, groups=groups, level=level, resamples=resamples, seed=seed)
    of_majority, of_judgments = (statistic_name("model_probability", of=unit) for unit in ("majority", "judgments"))
    voted = majority(ratings)
    table = _probability_table(ratings, options, model) if model.probabilities else None
    return SenseSelection(
        accuracy=counted(
            statistic_name("selection_accuracy", of="questions"),
            right,
            np.ones(len(right)),
            groups=asked,
        ),
        judgment_accuracy=counted(statistic_name("selection_accuracy", of="judgments"), hits, n[kept], groups=asked),
        probability=None if table is None else _of_majority(of_majority, table, voted, labels, counted),
        judgment_probability=None
        if table is None
        else counted(of_judgments, _sums(ratings, table)[kept], n[kept], groups=asked),
        agreement=agreed(),
        trust_weighted_agreement=None if trust is None else agreed(trust=trust),
        human_choice=_human_choice(voted, options, kept),
        chance_of_accuracy=mean_chance(chance_of_majority, n[kept], n_options),
        chance_of_judgment=1 / n_options,
        chance_of_agreement=mean_chance(chance_of_vote_share, n[n > 1], n_options),
        n_questions=int(kept.sum()),
        n_judgments=int(n.sum()),
        n_without=int((~kept).sum()),
        n_undecided=int((kept & ~voted.absolute).sum()),
        n_tied=int((kept & voted.tied).sum()),
        n_missing=ratings.n_missing,
    )


def _human_choice(voted: Majority, options: Sequence[str], kept: BoolArray) -> dict[str, str | None]:
    return {
        item_id: options[int(voted.value[row])] if voted.absolute[row] else None
        for row, item_id in enumerate(voted.item_ids)
        if kept[row]
    }


def _probability_table(ratings: Ratings, options: Sequence[str], model: ModelAnswers) -> FloatArray:
    """The model's probability of each option that a person chose for an item, else NaN. *Shape:* (items, options)."""
    table = np.full((ratings.n_items, len(options)), np.nan)
    # only what somebody chose needs a probability; pairs are sorted so that the first fault is always the same
    for row, column in sorted(set(zip(ratings.item.tolist(), ratings.value.astype(int).tolist(), strict=True))):
        item_id, option = ratings.item_ids[row], options[column]
        known = model.probabilities.get(item_id, {})
        if option not in known:
            what = f"the model gives no probability to {option!r}, which a person chose"
            raise InputError(what, place=Place(item_id=item_id), hint="give it; a dummy group has probability 0")
        table[row, column] = known[option]
    return table


def _sums(ratings: Ratings, table: FloatArray) -> FloatArray:
    """The sum over an item's judgments of the probability of what was chosen. *Shape:* (items,)."""
    chosen = table[ratings.item, ratings.value.astype(int)]
    return np.bincount(ratings.item, weights=chosen, minlength=ratings.n_items).astype(np.float64)


def _of_majority(
    name: str, table: FloatArray, voted: Majority, labels: GroupLabels, counted: Callable[..., Estimate]
) -> Estimate | Undefined:
    rows = np.flatnonzero(voted.absolute)
    groups = groups_of(labels, rows)
    if len(set(groups or ())) < 2:
        return Undefined(name, "fewer than two questions (or words) have a majority for one sense", len(rows))
    return counted(name, table[rows, voted.value[rows].astype(int)], np.ones(len(rows)), groups=groups)


def _probabilities(item: Item) -> dict[str, float]:
    given: dict[str, float] = {}
    for name, value in item.conditions.items():
        if name.startswith("p_") and value != "":
            given[name.removeprefix("p_")] = _probability(item, name, value)
    if sum(given.values()) > _MOST:
        what = f"the probabilities of its senses sum to {sum(given.values()):g}"
        raise InputError(what, place=Place(item_id=item.item_id), why="together they are at most 1")
    return given


def _probability(item: Item, name: str, value: Condition) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        what = f"{name} is not a probability: {value!r}"
        raise InputError(what, place=Place(item_id=item.item_id), hint="give a number from 0 to 1")
    return number


# -- log odds ----------------------------------------------------------------------------------------------------------
# Graded answers: how much less probable than its own choice a model finds what people chose.


LEAST_PROBABLE = 0.01
"""A probability below this counts as this one: of 0 (a dummy, a choice without degrees) there is no logarithm."""


def log_odds_name(least: float = LEAST_PROBABLE) -> str:
    """Return the name of the log odds with this least probability.

    >>> log_odds_name()
    'log_odds(of=judgments,least=0.01)'
    """
    return statistic_name("log_odds", of="judgments", least=least)


@dataclass(frozen=True, slots=True)
class LogOdds:
    """How much less probable the model finds what people chose than its own choice, and what blind choices give.

    ``odds`` is the mean over judgments of log p(people's choice) − log p(the model's choice), in nats: 0 where every
    person makes the model's choice, below 0 elsewhere, by little where the model finds both senses nearly as probable.
    ``chance`` is that mean for choices at random among the groups of each page. ``n_least`` judgments chose a group
    that is less probable than ``least``, and count as if it had that probability.
    """

    odds: Estimate
    chance: float
    least: float
    n_least: int


def log_odds(
    ratings: Ratings,
    options: Sequence[str],
    *,
    model: ModelAnswers,
    groups: Mapping[str, str] | None = None,
    least: float = LEAST_PROBABLE,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> LogOdds | Undefined:
    """Return the log odds of people's choices: accuracy that counts a wrong choice by how improbable it is.

    Arguments are those of :func:`sense_selection`. A model that gives one sense probability 1 has no degrees: its log
    odds are its accuracy in other units. *Unit:* nats, at most 0. *Higher means:* people choose what the model finds
    probable. *Source:* GASI §6.1; Chang et al. 2009, topic log odds.
    Errors: :class:`InputError` for a question without a prediction of the model, and a *least* that is not a
    probability above 0; :class:`StatisticError` with fewer than two groups.

    Of two judgments one chooses the model's sense (.8), the other its second (.2):

    >>> from lexiscope.analysis.agreement.choices import choices_from_arrays
    >>> ratings, options = choices_from_arrays(["a", "b"], ["i", "j"], ["1", "2"])
    >>> model = ModelAnswers({"i": "1", "j": "1"}, dict.fromkeys("ij", {"1": 0.8, "2": 0.2}))
    >>> found = log_odds(ratings, options, model=model, resamples=200)
    >>> round(found.odds.value, 4), round(found.chance, 4)  # (0 + ln .2/.8) / 2, and the same by chance
    (-0.6931, -0.6931)
    """
    name = log_odds_name(least)
    if not 0 < least < 1:
        raise InputError(f"a least probability is between 0 and 1, and {least} does not")
    if not model.probabilities:
        return Undefined(name, "the items hold no probabilities")
    n = ratings.counts()
    if not n.any():
        return Undefined(name, "there is no judgment")
    table = _probability_table(ratings, options, model)
    chosen = table[ratings.item, ratings.value.astype(int)]
    ids = ratings.item_ids
    unknown = next((i for i in ids if model.choice.get(i) not in model.probabilities.get(i, {})), None)
    if unknown is not None:
        raise InputError("the model gives no probability to the sense that it chooses", place=Place(item_id=unknown))
    own = np.array([model.probabilities[item_id][model.choice[item_id]] for item_id in ids])
    relative = np.log(np.maximum(chosen, least)) - np.log(np.maximum(own, least))[ratings.item]
    sums = np.bincount(ratings.item, weights=relative, minlength=ratings.n_items)
    blind = np.array([
        np.mean(np.log(np.maximum(list(model.probabilities[item_id].values()), least))) for item_id in ids
    ]) - np.log(np.maximum(own, least))  # fmt: skip
    labels = cluster_labels(ids, groups) or GroupLabels(range(ratings.n_items), "items")
    codes, n_groups = group_codes(labels, ratings.n_items)
    draws = ratio_draws(sums, n, codes, n_groups, resamples=resamples, seed=seed)
    interval = percentile_interval(draws, level=level, resampled=resampled_units(labels), n_groups=n_groups)
    odds = Estimate(name, float(sums.sum() / n.sum()), interval, int(n.sum()), n_groups, unit="nats")
    return LogOdds(odds, float((blind * n).sum() / n.sum()), least, int((chosen < least).sum()))


# -- choice shares --------------------------------------------------------------------------------------------------
# How a choice among induced senses is divided over usages of one meaning: mean probabilities by rank, mean entropy.


def selection_share(rank: int) -> str:
    """Return the name of the mean probability of the sense that is probable in this rank, from 1."""
    return statistic_name("selection_share", rank=rank)


def choice_shares(probabilities: ArrayLike) -> tuple[Estimate, ...]:
    """Return the mean probability of the senses over usages, the most probable first, then the mean entropy of a usage.

    Senses of two models are not the same senses: they are in descending order of probability, each model by its own.
    *Shape:* probabilities (usages, senses). *Unit:* probability; nats. *Higher means:* of the entropy, a choice that is
    left more open. *Source:* GASI Figure 5.
    Errors: :class:`StatisticError` without usages or senses.

    >>> found = choice_shares([[1.0, 0.0], [0.5, 0.5]])
    >>> [(result.name, round(result.value, 3)) for result in found]  # (1 + .5) / 2, (0 + .5) / 2, (0 + ln 2) / 2
    [('selection_share(rank=1)', 0.75), ('selection_share(rank=2)', 0.25), ('sentence_entropy', 0.347)]
    """
    table = np.asarray(probabilities, np.float64)
    if table.ndim != 2 or not table.size:
        raise StatisticError(f"probabilities of senses are a table of usages and senses, not {table.shape}")
    logarithms = np.log(table, out=np.zeros_like(table), where=table > 0)
    entropy = float(-(table * logarithms).sum(axis=1).mean())
    means = np.sort(table.mean(axis=0))[::-1].tolist()
    shares = [Estimate(selection_share(rank), value, n=len(table)) for rank, value in enumerate(means, start=1)]
    return *shares, Estimate("sentence_entropy", entropy, n=len(table), unit="nats")
