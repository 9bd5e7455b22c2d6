"""One line of a battery: its items and people, what a model's answers reach, and why there is no number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.attainable.people import Of, RatedItems, rated_items
from lexiscope.analysis.attainable.reached import (
    Reached,
    choices_reached,
    correlation_reached,
    decisions_reached,
    layer_range,
    separation_reached,
)
from lexiscope.analysis.attainable.shares import Ceiling, Share, share_of
from lexiscope.analysis.attainable.word_draws import WordDraws, word_draws
from lexiscope.analysis.bias.view_errors import is_right
from lexiscope.analysis.bootstrap import GroupOf
from lexiscope.analysis.choices.choice_sets import CORRECT, decisions_of
from lexiscope.analysis.norming.number_needed import number_needed_to_beat
from lexiscope.analysis.ratings import Ratings
from lexiscope.core import catalog
from lexiscope.core.dataset import DatasetCard, SubjectFacts
from lexiscope.core.errors import InputError, LexiscopeError, StatisticError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Estimate, Undefined
from lexiscope.core.scoring import ScoringPolicy
from lexiscope.core.simulated import COLLECTED
from lexiscope.items.answers.sense_options import SAME
from lexiscope.report.profile.content import Gap
from lexiscope.studies.kit.profile.battery import BatteryLine, PrintedFigure

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

NEARER: Mapping[str, float] = {
    "rating": 1.0, "cosine_distance": -1.0, "max_sim_c": 1.0, "avg_sim_c": 1.0, "max_sim": 1.0, "avg_sim": 1.0,
    "jaccard_distance": -1.0, "expected_rating": 1.0, "most_probable_rating": 1.0, "random_number": 1.0,
}  # fmt: skip
"""Measures that rise with a rating, with the sign; of several, the first is the declared one, the others variants."""
YES: Mapping[str, float] = {"cosine_distance": -1.0, "log_odds": 1.0, "gloss_substitution": 1.0}
"""Measures that answer a question with two answers by degree, with the sign with which higher means yes."""
CHOICE = "choice"
ALL_RIGHT = "all right"


@dataclass(frozen=True, slots=True, eq=False)
class AskedLine:
    """A line with its items: what is asked, of how many words, what chance gives, and what people attain.

    ``rated`` are the items with people's ratings, if the line compares with these, ``ratings`` the single ratings;
    ``right`` the correct answers of a question with two answers. ``ceiling`` is what a share is of.
    """

    line: BatteryLine
    card: DatasetCard
    items: tuple[Item, ...]
    draws: WordDraws
    chance: float
    rated: RatedItems | None
    ratings: Ratings | None
    right: Booleans | None
    ceiling: Ceiling | None
    answers: ResponseTable
    facts: tuple[SubjectFacts, ...]

    @property
    def n_items(self) -> int:
        """How many items count: those with norms, where people's ratings are what answers are compared with."""
        return len(self.rated.items) if self.rated is not None else len(self.items)

    @property
    def ceiling_name(self) -> str:
        """What the ceiling is called."""
        if isinstance(self.line.ceiling, PrintedFigure):
            return f"{self.line.ceiling.name}, published"
        return self.line.ceiling.replace("_", " ")


@dataclass(frozen=True, slots=True)
class WayOfAsking:
    """One way of asking, and what the model reaches with it; ``declared`` is the one that the battery fixed."""

    name: str
    value: float
    declared: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A line with a number: what the model reaches, its share of the attainable, refusals, and the variants.

    ``share`` is missing, with the reason in ``no_share``, where the ceiling has no value. ``varied`` says what the
    variants vary. ``measure`` is the measure of the answers that counted. ``needed`` is the number needed to beat;
    lines that do not compare with the mean rating of persons have none.
    """

    reached: Reached
    share: Share | None
    measure: str
    refused: int
    asked: int
    variants: tuple[WayOfAsking, ...]
    varied: str
    no_share: str = ""
    needed: Estimate | Undefined | None = None


@dataclass(frozen=True, slots=True)
class NoNumber:
    """A line without a number, and why.

    ``printed`` is a figure that a paper prints where no rows are published.
    """

    kind: Gap
    why: str
    printed: PrintedFigure | None = None


Outcome = Measured | NoNumber


def ask_line(line: BatteryLine, *, seed: int = 0) -> AskedLine:
    """Load the items of a line and compute people's side of it.

    Errors: those of the dataset; :class:`InputError` for conditions that no item has; :class:`StatisticError` for
    fewer items than the line asks for, or people without a reliability.
    """
    dataset = catalog.dataset(line.data)
    items = tuple(item for item in dataset.items if all(_has(item, name, value) for name, value in line.where.items()))
    if len(items) < line.least:
        raise InputError(
            f"the line {line.line!r} has {len(items)} items of {line.data}, fewer than {line.least}",
            hint="correct where, or least, in the battery",
        )
    rated = ratings = right = None
    if line.has_people:
        rated, ratings = _people_of(line, items, dataset.responses, seed)
        by_id = {item.item_id: item for item in items}
        items = tuple(by_id[name] for name in rated.items)
    elif line.right or catalog.task(line.task).truth or line.statistic == "auc":
        right = np.array([_is_yes(line, item) for item in items], dtype=bool)
    draws = rated.draws if rated is not None else word_draws([_word(item) for item in items], seed=seed)
    chance = _chance(line, items)
    own = dataset.responses.where(task=line.task, view=line.view, item_id=tuple(item.item_id for item in items))
    return AskedLine(
        line, dataset.card, items, draws, chance, rated, ratings, right, _ceiling(line, rated), own, dataset.subjects
    )  # fmt: skip


def recorded_answers(asked: AskedLine, model: str) -> ResponseTable:
    """Return the answers of a model that were published with the dataset of a line; none if there are none."""
    models = asked.answers.filter(~np.isin(asked.answers.column("subject_kind"), COLLECTED))
    return models.where(subject_id=model)


def measure_line(
    asked: AskedLine, answers: ResponseTable, others: Mapping[str, ResponseTable], *, seed: int
) -> Outcome:
    """Return what the answers of a model reach on a line; *others* are its answers in other wordings, by wording.

    A statistic that has no value is not an error: its reason is the outcome.
    """
    # a choice has neither value nor text: its option is the answer
    if not len(answers.answered()) and not any(option is not None for option in answers.unique("option")):
        return NoNumber("no number", "the model gave no answer that could be read")
    ways = ways_of(asked, answers)
    if not ways:
        said = ", ".join(dict.fromkeys(measure.partition("(")[0] for measure in answers.unique("measure")))
        return NoNumber("no number", f"these answers ({said}) have no {_NAMES[asked.line.statistic]}")
    try:
        (measure, compute), *further = ways.items()
        reached = compute(seed)
    except StatisticError as error:
        return NoNumber("no number", error.what)
    if reached.n < asked.line.least:
        return NoNumber(
            "no number", f"{reached.n} of {asked.n_items} items have an answer, {asked.line.least} are needed"
        )
    variants, varied = _variants(asked, measure, reached, further, others, seed)
    share, no_share = None, "the ceiling has no value"
    if asked.ceiling is not None:
        try:
            share = share_of(reached, asked.ceiling, chance=asked.chance)
        except StatisticError as error:
            no_share = error.what
    refused = _refused(asked, answers, measure)
    needed = _needed(asked, reached, seed)
    return Measured(
        reached, share, measure, refused, asked.n_items, variants, varied, "" if share else no_share, needed
    )  # fmt: skip


def _needed(asked: AskedLine, reached: Reached, seed: int) -> Estimate | Undefined | None:
    """How many people's mean is as close to other people as the model is."""
    if asked.ratings is None or asked.line.statistic != "spearman":
        return None
    words = GroupOf({item.item_id: _word(item) for item in asked.items}, "words")
    try:
        own = number_needed_to_beat(
            asked.ratings, {"model": reached.answers}, groups=words, persons=asked.line.raters == "persons", seed=seed
        )
        return own.needed["model"]
    except StatisticError as error:
        return Undefined("number_needed_to_beat(method=spearman)", "; ".join(filter(None, (error.what, error.why))))


_NAMES = {
    "spearman": "ratings or distances",
    "spread": "probabilities of the points of the scale",
    "accuracy": "decisions",
    "auc": "answers by degree",
}


# -- the items ------------------------------------------------------------------------------------------------------


def _has(item: Item, name: str, value: str | bool | float) -> bool:
    if name == "language" and name not in item.conditions:
        return all(usage.language == value for usage in item.usages)
    return name in item.conditions and str(item.conditions[name]) == str(value)


def _word(item: Item) -> str:
    return item.word.casefold()


def _is_yes(line: BatteryLine, item: Item) -> bool:
    for name, value in line.right.items():
        return str(item.condition(name)) == str(value)
    return item.gold == SAME


def _people_of(
    line: BatteryLine, items: Sequence[Item], responses: ResponseTable, seed: int
) -> tuple[RatedItems, Ratings]:
    """What people attain, and their ratings of these items."""
    words = {item.item_id: _word(item) for item in items}
    rows = responses.where(measure="rating", subject_kind=COLLECTED, item_id=tuple(words))
    ratings = Ratings.from_table(rows, kinds=COLLECTED, repeats="mean")
    of: Of = "spread" if line.statistic == "spread" else "mean"
    persons = line.raters == "persons"
    rated = rated_items(ratings, words, of=of, persons=persons, seed=seed)
    return rated, ratings.of_items(list(rated.items))


def _ceiling(line: BatteryLine, rated: RatedItems | None) -> Ceiling | None:
    if isinstance(line.ceiling, PrintedFigure):
        return Ceiling(line.ceiling.value)
    if rated is None:
        return Ceiling(1.0)
    estimate = rated.ceilings[line.ceiling]
    if not isinstance(estimate, Estimate):
        return None
    without = rated.ceiling_without(line.ceiling)
    return Ceiling(estimate.value, rated.ceiling_draws(line.ceiling), without, rated.raters)


def _chance(line: BatteryLine, items: Sequence[Item]) -> float:
    """What is expected of answers that have nothing to do with the items."""
    if line.has_people:
        return 0.0
    if line.right or line.statistic == "auc" or catalog.task(line.task).truth:
        return 0.5
    shares = [n_right / n for n_right, n in (_options(line, item) for item in items) if n]
    return float(np.mean(shares)) if shares else 0.0


def _options(line: BatteryLine, item: Item) -> tuple[int, int]:
    """How many options of an item are right, and how many there are."""
    task = catalog.task(line.task)
    options = tuple(task.options(item, line.view)) if task.options is not None else item.options
    gold = item.gold or ""
    return max(1, sum(is_right(option, gold) for option in options)), len(options)


# -- the answers ----------------------------------------------------------------------------------------------------


def ways_of(asked: AskedLine, answers: ResponseTable) -> dict[str, Callable[[int], Reached]]:
    """Return the ways in which answers can be counted, by their measure: the first is the declared one."""
    statistic = asked.line.statistic
    if statistic == "spread":
        return _spread(asked, answers)
    if statistic == "accuracy" and asked.right is None:
        return _choices(asked, answers)
    signs = NEARER if not catalog.task(asked.line.task).truth else YES
    made: dict[str, Callable[[int], Reached]] = {}
    for base, sign in signs.items():
        for measure in (name for name in answers.unique("measure") if name.partition("(")[0] == base):
            layers, matrix = answer_matrix(answers.where(measure=measure), asked.items)
            made[measure] = _degrees(asked, sign * matrix, layers)
    return made | (_choices(asked, answers) if statistic == "accuracy" else {})


def _degrees(asked: AskedLine, matrix: Floats, layers: tuple[int, ...]) -> Callable[[int], Reached]:
    def compute(seed: int) -> Reached:
        if asked.rated is not None:
            return correlation_reached(matrix, asked.rated, layers=layers, seed=seed)
        assert asked.right is not None
        work = separation_reached if asked.line.statistic == "auc" else decisions_reached
        return work(matrix, asked.right, asked.draws, layers=layers, seed=seed)

    return compute


def _choices(asked: AskedLine, answers: ResponseTable) -> dict[str, Callable[[int], Reached]]:
    measures = [name for name in answers.unique("measure") if name.partition("(")[0] == CHOICE]
    hits: dict[str, tuple[tuple[int, ...], Floats]] = {}
    gold = {item.item_id: item.gold or "" for item in asked.items}
    # of several rules of length the one per token, as everywhere
    for measure in sorted(measures, key=lambda name: (name != CHOICE, "per=token" not in name)):
        own = answers.where(measure=measure)
        rights = [
            float(is_right(option, gold[item]))
            for item, option in zip(own.column("item_id").tolist(), own.column("option").tolist(), strict=True)
        ]
        layers, matrix = answer_matrix(own.with_column("value", np.array(rights)), asked.items)
        hits[measure] = layers, np.nan_to_num(matrix, nan=0.0)
    if not hits and (CORRECT in answers.unique("measure") or len(answers.where(option=CORRECT))):
        place = {item.item_id: row for row, item in enumerate(asked.items)}
        for measure, decided in decisions_of(answers, subject=answers.unique("subject_id")[0]).items():
            column = np.zeros(len(asked.items))
            column[[place[name] for name in decided.item_ids]] = decided.correct
            hits[measure] = (), column

    def counted(layers: tuple[int, ...], matrix: Floats) -> Callable[[int], Reached]:
        return lambda seed: choices_reached(matrix, asked.draws, layers=layers, seed=seed)

    return {measure: counted(layers, matrix) for measure, (layers, matrix) in hits.items()}


def _spread(asked: AskedLine, answers: ResponseTable) -> dict[str, Callable[[int], Reached]]:
    """The standard deviation over the points of the scale, weighted by the model's probabilities of the points."""
    options = answers.column("option").tolist()
    is_point = [option is not None and option.replace(".", "", 1).isdecimal() for option in options]
    points = answers.filter(np.array(is_point, dtype=bool))
    made: dict[str, Callable[[int], Reached]] = {}
    for measure in points.unique("measure"):
        try:
            ScoringPolicy.parse(measure)
        except LexiscopeError:
            continue
        own = points.where(measure=measure)
        made[measure] = _degrees(asked, _weighted_spread(own, asked.items), ())
    return made


def _weighted_spread(own: ResponseTable, items: Sequence[Item]) -> Floats:
    place = {item.item_id: row for row, item in enumerate(items)}
    rows = np.array([place[name] for name in own.column("item_id").tolist()], dtype=np.int64)
    points, values = own.column("option").astype(np.float64), own.column("value")
    highest = np.full(len(items), -np.inf)
    np.maximum.at(highest, rows, values)
    weights = np.exp(values - highest[rows])
    total, first, second = (
        np.bincount(rows, weights=weights * part, minlength=len(items)) for part in (points**0, points, points**2)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt(np.maximum(second / total - (first / total) ** 2, 0.0))


def answer_matrix(own: ResponseTable, items: Sequence[Item]) -> tuple[tuple[int, ...], Floats]:
    """Return the layers of answers and their values, NaN where there is none; repeated answers are averaged.

    *Shape:* (items,) without layers, else (items, layers).
    """
    place = {item.item_id: row for row, item in enumerate(items)}
    codes, names = own.codes("item_id")
    rows = np.array([place[name] for name in names], dtype=np.int64)[codes]
    layer, values = own.column("layer"), own.column("value")
    layers = tuple(int(number) for number in np.unique(layer[~np.isnan(layer)]).tolist())
    columns = np.searchsorted(layers, np.nan_to_num(layer, nan=layers[0])) if layers else np.zeros(len(own), np.int64)
    shape = (len(items), max(1, len(layers)))
    known = ~np.isnan(values)
    sums, counts = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, (rows[known], columns[known]), values[known])
    np.add.at(counts, (rows[known], columns[known]), 1)
    matrix = np.divide(sums, counts, out=np.full(shape, np.nan), where=counts > 0)
    return layers, matrix if layers else matrix[:, 0]


def _refused(asked: AskedLine, answers: ResponseTable, measure: str) -> int:
    """How many items have no answer of the measure that counts."""
    own = answers.where(measure=measure)
    chosen = measure.partition("(")[0] == CHOICE
    given = [
        option is not None if chosen else value == value
        for option, value in zip(own.column("option").tolist(), own.column("value").tolist(), strict=True)
    ]
    answered = {item for item, is_given in zip(own.column("item_id").tolist(), given, strict=True) if is_given}
    return sum(item.item_id not in answered for item in asked.items)


# -- variants -------------------------------------------------------------------------------------------------------


def _variants(
    asked: AskedLine,
    measure: str,
    reached: Reached,
    further: Sequence[tuple[str, Callable[[int], Reached]]],
    others: Mapping[str, ResponseTable],
    seed: int,
) -> tuple[tuple[WayOfAsking, ...], str]:
    """Return the declared way and the others, and what they vary: layers, the way of counting, the wording."""
    variants, varied = [WayOfAsking(measure, reached.value, declared=True)], list[str]()
    span = layer_range(reached)
    if span is not None:
        variants += [WayOfAsking(f"layer {layer}", value) for layer, value in span]
        layers = [layer for layer, _ in reached.layers if layer > 0]
        varied.append(f"layers {min(layers)}–{max(layers)}")
    counted = 1
    for name, compute in further:
        try:
            variants.append(WayOfAsking(name, compute(seed).value))
            counted += 1
        except StatisticError:
            continue
    wordings = 1
    for wording, answers in others.items():
        ways = ways_of(asked, answers)
        try:
            variants.append(WayOfAsking(f"wording {wording}", next(iter(ways.values()))(seed).value))
            wordings += 1
        except (StopIteration, StatisticError):
            continue
    if counted > 1:
        varied.append(f"{counted} ways of counting")
    if wordings > 1:
        varied.append(f"{wordings} wordings")
    return tuple(variants), ", ".join(varied)
