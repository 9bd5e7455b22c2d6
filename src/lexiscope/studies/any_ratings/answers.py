"""The rules that answer the questions of any ratings: conditions in the file's words, models compared with raters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lexiscope.analysis.accuracy import wilson_interval
from lexiscope.core.result import Record, parse_statistic
from lexiscope.core.showing import counted
from lexiscope.report.answers.answer import PARTLY, UNDECIDED, YES, Answer, side_of
from lexiscope.report.answers.numbers import (
    PERCENT,
    POINTS,
    RHO,
    SHARE,
    Numbers,
    Pick,
    Quantity,
    adjusted_text,
    capital,
    likelihood_ratio_text,
    p_text,
    pick,
)
from lexiscope.report.answers.one import Named, OneEstimate
from lexiscope.report.answers.subjects import AVERAGE_PERSON, RELIABILITY, Against, SubjectEstimates
from lexiscope.report.marks.drawing import Axis
from lexiscope.report.marks.forest import Forest, ForestRow
from lexiscope.studies.any_ratings.data import CONDITIONS, RatedRun

_MOST_ROWS, _MOST_SENTENCES = 16, 3
_LEVEL = 0.05
_ALPHA = Quantity("α", "Krippendorff’s α")
_AVERAGE = pick("mean_rater_correlation(variant=leave_one_out,method=spearman)")
_RELIABILITY = pick("split_half_reliability(")
_ONE_RATER = pick("leave_one_out_agreement(method=spearman,summary=mean)")
_CHOSEN = ("spearman(with=norms)", "spearman(with=norms,layer=chosen)")

CLOSENESS = SubjectEstimates(
    "Agreement of models and of people with the mean ratings",
    Pick("spearman(", {"statistic": lambda name: name in _CHOSEN, "layer": None}),
    RHO,
    claim="follow people’s ratings",
    against=(AVERAGE_PERSON, RELIABILITY),
    place=pick("raters_below_model("),
    raters="raters",
    name="agreement",
    with_table=True,
    table_title="Agreement with the mean ratings",
    axis="Spearman’s ρ with the mean rating of people",
    note="For a model with layers: the layer chosen on other words",
)
AGAINST_RATERS = SubjectEstimates(
    "Share of raters who are farther from the mean ratings than a model",
    pick("raters_below_model("),
    SHARE,
    claim="are closer to the mean ratings than half of the raters",
    claim_one="is closer to the mean ratings than half of the raters,",
    against=(Against("half", value=50.0, kind="chance"),),
    predicted="",
    name="raters_below",
    axis="Percent of the raters",
)
_CEILINGS = OneEstimate(
    Named("the agreement of the average person with the mean of the others", _AVERAGE, RHO, "average person"),
    (Named("the reliability of the mean ratings", _RELIABILITY, RHO, "reliability of the mean ratings"),),
    title="What a model can be expected to reach",
)
_AGREEMENT = OneEstimate(
    Named("the agreement of one rater with the mean of the others (Spearman)", _ONE_RATER, RHO),
    (
        Named(
            "the agreement of all raters (Krippendorff, interval)", pick("krippendorff_alpha(level=interval)"), _ALPHA
        ),
    ),
)


def headline(run: RatedRun) -> str:
    """Return the question at the top: about models if there are any, else about conditions, else about raters."""
    if run.has("models") and run.has("norms"):
        return "How close do models come to people’s ratings?"
    if run.has("ratings") and run.has(CONDITIONS):
        return "Do the conditions change the ratings?"
    return "How well do the raters agree?"


def top(numbers: Numbers, run: RatedRun) -> Answer | None:
    """Return the answer to the question of :func:`headline`."""
    if run.has("models") and run.has("norms"):
        return CLOSENESS.answer(numbers)
    return condition_effects(numbers, run) if run.has("ratings") and run.has(CONDITIONS) else agreement(numbers, run)


def agreement(numbers: Numbers, _run: object) -> Answer | None:
    """Return how well raters agree, with a dot for each of them; ``None`` if they rate on no scale."""
    answer, mean = _AGREEMENT.answer(numbers), numbers.first(_ONE_RATER)
    raters = tuple(numbers.single.get("raters", ()))
    if answer is None or mean is None or not raters:
        return answer
    spread = f"Single raters range from {RHO.text(min(raters))} to {RHO.text(max(raters))}."
    row = RHO.row(mean, "average rater", people=True)
    drawing = Forest(
        name="raters", title="Agreement of each rater with the mean of the others", rows=(row,), raters=raters,
        axis=Axis.around([*raters, RHO.value(mean)], "Spearman’s ρ", bounds=RHO.bounds), see=spread,
        people_name=counted(len(raters), "rater"), value_head="ρ [95% CI]",
    )  # fmt: skip
    return replace(answer, apa=" ".join((*answer.sentences, spread)), drawing=drawing)


def ceilings(numbers: Numbers, _run: object) -> Answer | None:
    """Return what a model can be expected to reach: the reliability of the mean ratings, and the average person."""
    answer = _CEILINGS.answer(numbers)
    average, reliability = numbers.first(_AVERAGE), numbers.first(_RELIABILITY)
    if answer is None or average is None or reliability is None:
        return answer
    text = (
        "The reliability of the mean ratings limits the agreement of a model: "
        f"{RHO.equation(reliability, named=True)}; the average person reaches {RHO.equation(average)}."
    )
    return replace(answer, sentences=(text,), apa=text)


def distribution(numbers: Numbers, _run: object) -> Answer | None:
    """Return the mean rating, how much raters differ on an item, and the shares of the points of the scale."""
    known = numbers.known(pick("n_ratings_at"))
    mean = numbers.first(pick("mean_rating(over=items)", condition=""))
    if mean is None or not known:
        return None
    sentences = [f"The mean rating of an item is {POINTS.both(mean, named=True)}."]
    spread = numbers.first(pick("mean_item_sd(ddof=1)"))
    if spread is not None:
        sentences.append(f"The ratings of one item have a mean SD of {POINTS.text(POINTS.value(spread))}.")
    n = sum(record.value or 0.0 for record in known)
    rows = []
    for record in known:
        share = wilson_interval(int(record.value or 0), int(n)).times(100)
        value = 100 * (record.value or 0.0) / n
        rows.append(ForestRow(record.condition, value, share.low, share.high, f"{PERCENT.text(value)}", people=True))
    drawing = Forest(
        name="points", title="Ratings by point of the scale", rows=tuple(rows),
        axis=Axis.around([0.0, *(row.high or 0.0 for row in rows)], "Percent of the ratings"), value_head="percent",
    )  # fmt: skip
    return Answer("", tuple(sentences), apa=" ".join(sentences), drawing=drawing if len(rows) <= _MOST_ROWS else None)


def condition_effects(numbers: Numbers, run: object) -> Answer | None:
    """Return how much the levels of each condition differ: the direction, the size, both means, the test.

    A condition counts as one that changes the ratings if the p of its test, adjusted for the tests of all conditions,
    is below .05 and, with two levels, the interval of their difference excludes 0.
    """
    # a level whose own name has a minus between spaces is in the table only
    pairs = {r.condition.partition("=")[0]: r for r in numbers.known(pick("mean_difference")) if len(_sides(r)) == 2}
    tests = {r.condition: r for r in numbers.known(pick("chi2(")) if " given " not in r.condition}
    related = {parse_statistic(r.statistic)[1].get("of", ""): r for r in numbers.known(pick("spearman("))}
    means = {r.condition: r for r in numbers.known(pick("mean_rating(over=items)")) if r.condition.count("=") == 1}
    if not pairs and not tests:
        return None
    effects: list[tuple[bool, str]] = []
    for name in dict.fromkeys((*tests, *pairs)):
        pair, test = pairs.get(name), tests.get(name)
        correlation = related.get(run.column(name) if isinstance(run, RatedRun) else name)
        decided = _is_decided(pair, test)
        if pair is not None:
            effects.append((decided, _difference_sentence(pair, test, means)))
        elif correlation is not None and test is not None:
            rho = RHO.equation(correlation, named=True)
            effects.append((decided, f"The mean ratings correlate with {name}: {rho}; {_test_text(test)}."))
        elif test is not None:
            changes = "change" if decided else "are not shown to change"
            effects.append((decided, f"The levels of {name} {changes} the ratings: {_test_text(test)}."))
    n_decided = sum(decided for decided, _ in effects)
    verdict = YES if n_decided == len(effects) else PARTLY if n_decided else UNDECIDED
    # the sentences of conditions that change the ratings come first: there may be more conditions than sentences
    sentences = tuple(text for _, text in sorted(effects, key=lambda effect: not effect[0])[:_MOST_SENTENCES])
    if len(effects) > _MOST_SENTENCES:
        change = "changes" if n_decided == 1 else "change"
        counts = f"{n_decided} of {counted(len(effects), 'condition')} {change} the ratings (adjusted p < .05)."
        sentences = (counts, *sentences)
    # a sentence of several levels or of a number has its χ² already
    of_pairs = [record for name, record in tests.items() if name in pairs]
    test_line = _tests_line("Likelihood-ratio tests in mixed models", of_pairs)
    return Answer(verdict, sentences, test_line, apa=" ".join(sentences), drawing=_means(tuple(means.values())))


def crossed_conditions(numbers: Numbers, _run: object) -> Answer | None:
    """Return the combination of conditions with the lowest mean rating, and the one with the highest."""
    means = [r for r in numbers.known(pick("mean_rating(over=items)")) if r.condition.count("=") > 1]
    if len(means) < 2:
        return None
    lowest, highest = min(means, key=POINTS.value), max(means, key=POINTS.value)
    text = (
        f"The lowest mean rating is that of {_items(lowest.condition)}, {POINTS.both(lowest, named=True)}; the highest "
        f"is that of {_items(highest.condition)}, {POINTS.both(highest)}."
    )
    given = [record for record in numbers.known(pick("chi2(")) if " given " in record.condition]
    test_line = _tests_line("Likelihood-ratio tests of each condition, given the others", given)
    return Answer("", (text,), test_line, apa=text, drawing=_means(means) if len(means) <= _MOST_ROWS else None)


def differences(numbers: Numbers, _run: object) -> Answer | None:
    """Return how many paired differences between models are decided, and the largest."""
    pairs = [record for record in numbers.known(pick("spearman_difference(")) if RHO.ends(record) is not None]
    if not pairs:
        return None
    decided = [r for r in pairs if _p(r) is not None and (_p(r) or 0.0) < _LEVEL]
    verdict = YES if len(decided) == len(pairs) else PARTLY if decided else UNDECIDED
    difference = Quantity("Δρ", "Difference in ρ", bounds=(-1.0, 1.0))
    widest = max(pairs, key=lambda record: abs(difference.value(record)))
    sides = [part.partition("@") for part in widest.subject.split(" − ")]
    names = [f"{numbers.title(name)}{f' (layer {layer})' if layer else ''}" for name, _, layer in sides]
    closer = names if difference.value(widest) > 0 else names[::-1]
    have = "have" if len(decided) != 1 else "has"
    sentences = [
        f"{len(decided)} of {counted(len(pairs), 'paired difference')} between models {have} p < .05 after the "
        "adjustment for their number.",
        f"The largest is that of {' minus '.join(closer)}: {difference.equation(_upward(widest), named=True)}.",
    ]
    chosen = numbers.first(pick("spearman_difference_at_chosen_layers("), subject=widest.subject)
    if chosen is not None and chosen.value is not None:
        value = difference.equation(_upward(chosen), named=True)
        sentences.append(f"With each layer chosen on other words: {value}.")
    return Answer(verdict, tuple(sentences), apa=" ".join(sentences))


# -- in the file's own words ------------------------------------------------------------------------------------------


def _p(record: Record) -> float | None:
    return record.p_adjusted if record.p_adjusted is not None else record.p


def _items(condition: str) -> str:
    """Return levels as the items that have them: ``items with sense “same”``."""
    levels = [level.partition("=") for level in condition.split(", ")]
    return f"items with {' and '.join(f'{name} “{value}”' for name, _, value in levels)}"


def _sides(record: Record) -> list[str]:
    sides = record.condition.split(" − ")
    return sides if all("=" in side for side in sides) else []


def _upward(record: Record) -> Record:
    """Return a difference with a positive value: its two sides are named in this order."""
    if (record.value or 0.0) >= 0:
        return record
    low, high = (None if end is None else -end for end in (record.high, record.low))
    return replace(record, value=-(record.value or 0.0), low=low, high=high)


def _is_decided(pair: Record | None, test: Record | None) -> bool:
    """Whether the interval of a difference and the adjusted p of its test, those that a condition has, agree on it."""
    evidence = [] if pair is None or side_of(pair, POINTS) is None else [side_of(pair, POINTS) != 0]
    evidence += [] if test is None else [(_p(test) or 0.0) < _LEVEL]
    return bool(evidence) and all(evidence)


def _test_text(test: Record) -> str:
    """Return a test with the p that decides: the adjusted one, if the test is one of several."""
    return likelihood_ratio_text(test, p=adjusted_text(test))


def _tests_line(lead: str, tests: Sequence[Record]) -> str:
    texts = [f"{record.condition.partition(' given ')[0]}: {_test_text(record)}" for record in tests]
    more = f". {len(texts) - _MOST_SENTENCES} more in the table" if len(texts) > _MOST_SENTENCES else ""
    return f"{lead}. {'. '.join(texts[:_MOST_SENTENCES])}{more}." if texts else ""


def _difference_sentence(record: Record, test: Record | None, means: dict[str, Record]) -> str:
    sides = _sides(record)
    if (record.value or 0.0) < 0:
        sides.reverse()
    first, second = sides
    shown = [POINTS.number(means[side].value or 0.0) for side in sides if side in means]
    upward = _upward(record)
    p = f"{', ' if test else ''}{adjusted_text(test) or p_text(test) if test else ''}"
    if not _is_decided(record, test):
        own = f" (means {shown[0]} and {shown[1]})" if len(shown) == 2 else ""
        lead = f"{capital(_items(first))} and {_items(second)} differ by {POINTS.both(upward, named=True)}{own}"
        if side_of(record, POINTS) == 0:
            return f"{lead}: these data allow a difference in either direction{p}."
        return f"{lead}: this difference is not decided{p}."
    interval = POINTS.interval(upward, named=True)
    size = f"{POINTS.text(POINTS.value(upward))} higher{f', {interval},' if interval else ''}"
    tail = f": mean {shown[0]} compared with {shown[1]}" if len(shown) == 2 else ""
    return f"{capital(_items(first))} were rated {size} than {_items(second)}{tail}{p}."


def _means(means: Sequence[Record]) -> Forest | None:
    if len(means) < 2:
        return None
    rows = []
    for record in means[:_MOST_ROWS]:
        levels = [level.partition("=") for level in record.condition.split(", ")]
        label = ", ".join(value for _, _, value in levels)
        row = POINTS.row(record, label, group=", ".join(name for name, _, _ in levels), people=True)
        # the axis has the unit
        rows.append(replace(row, shown=row.shown.replace(" points", "")))
    values = [v for row in rows for v in (row.value, row.low, row.high) if v is not None]
    note = f"{_MOST_ROWS} of {len(means)} rows" if len(means) > _MOST_ROWS else ""
    return Forest(
        name="means", title="Mean ratings by condition", rows=tuple(rows), value_head="mean [95% CI]", note=note,
        axis=Axis.around(values, "Mean rating", zero=False),
        see=f"Means range from {POINTS.number(min(r.value or 0.0 for r in rows))} to "
        f"{POINTS.number(max(r.value or 0.0 for r in rows))} points.",
    )  # fmt: skip
