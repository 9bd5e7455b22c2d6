"""How the answers of the study read on the Results page: what a model is worth, and what that does not say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lexiscope.analysis.norming.alternative_annotator import PASSED
from lexiscope.analysis.norming.rating_distributions import HALF
from lexiscope.core.result import Record, p_of, parse_statistic
from lexiscope.core.showing import enumerated
from lexiscope.report.answers.answer import NO, PARTLY, UNANSWERED, UNDECIDED, YES, Answer, undefined_answer
from lexiscope.report.answers.numbers import (
    POINTS,
    RHO,
    SHARE,
    Numbers,
    Quantity,
    capital,
    p_text,
    pick,
    words_of_condition,
)
from lexiscope.report.marks.drawing import Axis, ReferenceLine
from lexiscope.report.marks.forest import Forest, ForestRow

_RATIO = Quantity("", "Width with the model, as a share of the width of people alone", bounds=(0.0, 1.0))
_NO_REPLACEMENT = "That does not make it a replacement for annotators."
LOGITS = Quantity("", "Severity", bounds=None)
NATS = Quantity("", "Log-probability", bounds=None, unit=" nats")
_ALPHA = 0.05
_SHOWN = ("n", "drawn", "k", "point")


def details(record: Record) -> str:
    """Return the parameters and the condition of a record that its row on the screen needs, in brackets."""
    given = parse_statistic(record.statistic)[1]
    parts = [f"{key.replace('_', ' ')}: {given[key].replace('_', ' ')}" for key in _SHOWN if key in given]
    parts += [words_of_condition(record.condition)] if record.condition else []
    return f" ({', '.join(parts)})" if parts else ""


def _having(records: Sequence[Record], **given: str) -> list[Record]:
    """The records whose statistic has these parameters."""
    return [record for record in records if given.items() <= parse_statistic(record.statistic)[1].items()]


def _first(records: Sequence[Record]) -> Record | None:
    return records[0] if records else None


def _k_of(record: Record) -> int:
    return int(parse_statistic(record.statistic)[1].get("k", 0))


def _resampled(record: Record) -> str:
    """Return the sentence on what the interval of a record resamples, if it has one."""
    resampled = parse_statistic(record.interval)[1].get("resampled", "") if record.interval else ""
    return f"{capital(resampled.replace('_', ' '))} resampled. " if resampled else ""


def _people(k: int) -> str:
    return "one person" if k == 1 else f"{k} people"


@dataclass(frozen=True, slots=True)
class ModelWorth:
    """The number needed to beat of each model, with the curve of people and the models on its axis."""

    name: str = "number_needed"

    def answer(self, numbers: Numbers) -> Answer | None:
        """Return the answer; ``None`` without any number needed."""
        records = numbers.all(pick("number_needed_to_beat("))
        if not records:
            return None
        if not numbers.known(pick("agreement_of_people(")):
            return undefined_answer("The number needed to beat", records[0].note)
        sentences = [self._sentence(record, numbers) for record in records]
        if any(record.value is not None for record in records):
            sentences[-1] = f"{sentences[-1]} {_NO_REPLACEMENT}"
        helped = self._together(records, numbers)
        texts = (*sentences, *helped)
        return Answer("", texts, apa=" ".join(texts), drawing=self._forest(records, numbers))

    def _sentence(self, record: Record, numbers: Numbers) -> str:
        title = numbers.title(record.subject)
        if record.value is None:
            return f"{title}: {record.note.removeprefix('undefined: ')}."
        k = round(record.value)
        interval = f" [{record.low:g}, {record.high:g}]" if record.low is not None and record.high is not None else ""
        how = f"One person{interval}" if k == 1 else f"The mean of about {k} people{interval}"
        note = next((part for part in record.note.split("; ") if part.startswith("no upper end")), "")
        more = f" ({note})" if note else ""
        return f"{how}{more} agrees with other people at least as well as {title}’s ratings do, by rank correlation."

    def _together(self, records: list[Record], numbers: Numbers) -> list[str]:
        """Return what one person and the model together reach, of the first model."""
        first = records[0].subject
        alone = _first(_having(numbers.known(pick("agreement_of_people(")), k="1"))
        joint = _first(_having(numbers.known(pick("agreement_of_people_with_model("), subject=first), k="1"))
        if alone is None or joint is None:
            return []
        return [
            f"One person with {numbers.title(first)} reaches {RHO.equation(joint, named=True)}; one person alone "
            f"{RHO.both(alone)}."
        ]

    def _forest(self, records: list[Record], numbers: Numbers) -> Forest:
        people = numbers.known(pick("agreement_of_people("))
        rows = [
            self._row(capital(_people(_k_of(record))), record, "People with other people", people=True)
            for record in people
        ]
        for record in records:
            title = numbers.title(record.subject)
            k = round(record.value) if record.value is not None else 1
            own = [
                r for r in numbers.known(pick("agreement_with_other_people("), subject=record.subject) if _k_of(r) == k
            ]
            rows += [self._row(title, r, "Models with the same other people", strong=True) for r in own]
        for record in numbers.known(pick("agreement_of_people_with_model("), subject=records[0].subject):
            label = f"{capital(_people(_k_of(record)))} + model"
            rows.append(self._row(label, record, f"People and {numbers.title(records[0].subject)}", hollow=True))
        values = [v for row in rows for v in (row.value, row.low, row.high) if v is not None]
        axis = Axis.around(values, RHO.name, bounds=None, zero=False)
        see = f"The more people, the closer their mean is to other people: from {RHO.number(people[0].value or 0)} "
        see += f"({_people(_k_of(people[0]))}) to {RHO.number(max(r.value or 0 for r in people))}."
        return Forest(
            name=self.name, title="Agreement with the mean of other people", see=see,
            note=f"{_resampled(people[0])}The axis begins where the values do", rows=tuple(rows), axis=axis,
            value_head="ρ [95% CI]",
        )  # fmt: skip

    def _row(
        self,
        label: str,
        record: Record,
        group: str,
        *,
        people: bool = False,
        strong: bool = False,
        hollow: bool = False,
    ) -> ForestRow:
        low, high = RHO.ends(record) or (None, None)
        return ForestRow(
            label, RHO.value(record), low, high, shown=RHO.both(record), group=group, people=people, strong=strong,
            hollow=hollow,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReplacementTest:
    """The alternative annotator test of each model as a verdict, with what the verdict does not say."""

    def answer(self, numbers: Numbers) -> Answer | None:
        """Return the answer; ``None`` without a winning rate."""
        records = numbers.all(pick("winning_rate("))
        known = [record for record in records if record.value is not None]
        if not known:
            return undefined_answer("The winning rate", records[0].note) if records else None
        passed = [record for record in known if (record.value or 0.0) >= PASSED]
        verdict = YES if len(passed) == len(known) else PARTLY if passed else NO
        epsilon = parse_statistic(known[0].statistic)[1].get("epsilon", "")
        sentences = [self._sentence(record, numbers, epsilon) for record in known]
        if not passed:
            rates = enumerated([RHO.number(record.value or 0.0) for record in known])
            rate = "winning rate" if len(known) == 1 else "winning rates"
            sentences = [f"No replacement of annotators is justified ({rate} {rates}; .50 is needed).", *sentences]
        caution = (
            "The test is about single ratings of these items by these annotators. A pass does not make a model a "
            "replacement for annotators: it does not say that the model has people's disagreement, or that it does as "
            "well on other items."
        )
        return Answer(
            verdict, tuple(sentences), caution=caution, apa=" ".join(sentences), drawing=self._forest(numbers)
        )

    def _sentence(self, record: Record, numbers: Numbers, epsilon: str) -> str:
        own = numbers.first(pick("advantage_probability("), subject=record.subject)
        margin = f"with a margin of ε = {epsilon.removeprefix('0')}, "
        share = (
            f"; it is at least as close to the others on {SHARE.both(own, named=True)} of an annotator’s items"
            if own is not None
            else ""
        )
        return (
            f"{numbers.title(record.subject)}: {margin}the model holds against {SHARE.text(SHARE.value(record))} of "
            f"{record.n or 0} annotators{share}."
        )

    def _forest(self, numbers: Numbers) -> Forest | None:
        rows = []
        for name, what in (("advantage_probability(", "the model"), ("annotator_advantage(", "the annotator")):
            for record in numbers.known(pick(name)):
                low, high = SHARE.ends(record) or (None, None)
                label = numbers.title(record.subject)
                group = f"{capital(what)} is at least as close"
                rows.append(
                    ForestRow(
                        label, SHARE.value(record), low, high, shown=SHARE.both(record), group=group,
                        people=what == "the annotator",
                    )
                )  # fmt: skip
        if not rows:
            return None
        return Forest(
            name="advantage", title="Whose ratings are closer to those of the other annotators", rows=tuple(rows),
            axis=Axis("Percent of an annotator’s items", 0.0, 100.0, leading_zero=True), value_head="% [95% CI]",
            note="Ties count for both sides",
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ContaminationAnswer:
    """Whether a model knows the items by heart: both tests of each model, or why it was not tested."""

    def answer(self, numbers: Numbers) -> Answer | None:
        """Return the answer; ``None`` without any test. Yes: a p below .05, divided by the number of tests."""
        orders = numbers.known(pick("order_advantage("))
        gaps = numbers.known(pick("verbatim_continuation_difference"))
        tests = [*orders, *gaps]
        sentences = [*(self._order(record, numbers) for record in orders)]
        sentences += [self._continued(record, numbers) for record in gaps]
        missing = [
            (name, record)
            for name, what in (("order of the items", "order_advantage("), ("continuations", "verbatim_continuations"))
            for record in numbers.all(pick(what))
            if record.value is None
        ]
        reasons: dict[tuple[str, str], list[str]] = {}
        for what, record in missing:
            plain = record.note.removeprefix("undefined: ")
            reasons.setdefault((numbers.title(record.subject), plain), []).append(what)
        sentences += [
            f"{title}, {enumerated(tested)}: not tested ({reason})." for (title, reason), tested in reasons.items()
        ]
        if not tests:
            return Answer(UNANSWERED, tuple(sentences), apa=" ".join(sentences)) if sentences else None
        clear = [r for r in tests if (r.value or 0.0) > 0 and (p_of(r) or 0.0) < _ALPHA / len(tests)]
        caution = (
            "Only a Yes is a finding. The tests see whether the texts were read in their published order: a test that "
            "finds nothing does not show that they were not read, alone, in another order or with their ratings."
        )
        return Answer(YES if clear else UNDECIDED, tuple(sentences), caution=caution, apa=" ".join(sentences))

    def _order(self, record: Record, numbers: Numbers) -> str:
        more = "more" if (record.value or 0.0) > 0 else "less"
        size = replace(record, value=abs(record.value or 0.0), low=None, high=None)
        return (
            f"To {numbers.title(record.subject)}, the published order of the items is {more} probable than other "
            f"orders, by {NATS.both(size)} per shard (difference {NATS.interval(record, named=True)}, "
            f"{p_text(record)}, {record.n or 0} shards)."
        )

    def _continued(self, record: Record, numbers: Numbers) -> str:
        shares = numbers.known(pick("verbatim_continuations("), subject=record.subject)
        n = record.n or 0
        of = {parse_statistic(own.statistic)[1].get("of", ""): own for own in shares}
        hits, others = (round((of[side].value or 0.0) * n) if side in of else 0 for side in ("next_item", "other_item"))
        return (
            f"{numbers.title(record.subject)} continues {hits} of {n} times with the next item word for word, and "
            f"{others} times with an item at another place ({p_text(record)})."
        )


@dataclass(frozen=True, slots=True)
class ModelDifferences:
    """How much less (or more) a model separates the levels of a condition than people, and the norms at its ratings."""

    def answer(self, numbers: Numbers) -> Answer | None:
        """Return the answer; ``None`` where models were not compared with people."""
        effects = numbers.known(pick("condition_effect_difference"))
        points = numbers.known(pick("norm_at_rating("))
        gaps = numbers.known(pick("model_minus_people"))
        correlations = numbers.known(pick("spearman(with=norms)"))
        if not effects and not points and not gaps and not correlations:
            return None
        sentences = [
            f"{numbers.title(record.subject)} agrees with people's mean ratings, ρ = {RHO.both(record, named=True)}."
            for record in correlations
        ]
        for record in effects:
            title, condition = numbers.title(record.subject), record.condition.replace("_", " ")
            more = "more" if (record.value or 0.0) > 0 else "less"
            clear = record.low is not None and record.high is not None and record.low * record.high > 0
            lead = f"{title} separates the levels of {condition} {more} than people"
            if not clear:
                lead = f"These items do not show whether {title} separates the levels of {condition} as people do"
            sentences.append(f"{lead}: its effect minus that of people is {POINTS.both(record, named=True)}.")
        for subject in dict.fromkeys(record.subject for record in points):
            own = [record for record in points if record.subject == subject]
            pairs = ", ".join(f"{POINTS.number(POINTS.value(r))} at {_rating_of(r)}" for r in own)
            sentences.append(f"Mean norm of people at each rating of {numbers.title(subject)}: {pairs}.")
        flat = [record for record in effects if (record.high or 0.0) < 0]
        verdict = PARTLY if flat and len(flat) < len(effects) else YES if flat else ""
        rows = [self._row(record, numbers) for record in (*points, *gaps)]
        values = [v for row in rows for v in (row.value, row.low, row.high) if v is not None]
        drawing = Forest(
            name="differences", title="Norms at each rating of a model, and model minus people by condition",
            rows=tuple(rows), axis=Axis.around(values, "Points of the scale"), value_head="[95% CI]",
        )  # fmt: skip
        texts = tuple(sentences) or ("Models are compared with people by condition in the figure.",)
        return Answer(verdict, texts, apa=" ".join(texts), drawing=drawing if rows else None)

    def _row(self, record: Record, numbers: Numbers) -> ForestRow:
        low, high = POINTS.ends(record) or (None, None)
        rated = record.statistic.startswith("norm_at")
        title = numbers.title(record.subject)
        group = f"Norm of people by rating of {title}" if rated else f"{title} minus people"
        label = f"rated {_rating_of(record)}" if rated else numbers.title(record.condition)
        shown = POINTS.both(record).replace(POINTS.unit, "")
        return ForestRow(label, POINTS.value(record), low, high, shown=shown, group=group, people=rated)


def _rating_of(record: Record) -> str:
    return parse_statistic(record.statistic)[1].get("rating", "")


@dataclass(frozen=True, slots=True)
class PoweredEstimates:
    """How much narrower intervals are with a model: the ratio of widths, its coverage, and the estimates of the run."""

    def answer(self, numbers: Numbers) -> Answer | None:
        """Return the answer; ``None`` without an estimate from people and a model."""
        ratios = [r for r in numbers.known(pick("width_ratio(")) if "of=mean_rating" in r.statistic and not r.condition]
        estimates = _having(numbers.known(pick("mean_rating(")), source="people_and_model")
        if not ratios and not estimates:
            missing = numbers.all(pick("mean_rating("))
            return undefined_answer("The estimate from people and a model", missing[0].note) if missing else None
        repeated = [record for record in ratios if "drawn=with_replacement" in record.statistic]
        sentences = [self._saving(record, numbers) for record in repeated]
        verdict = ""
        if repeated:
            sides = [record.high is not None and record.high < 1 for record in repeated]
            verdict = YES if all(sides) else UNDECIDED
        for number, record in enumerate(estimates[: 2 if repeated else 6]):
            # people rated all items: what follows is not the mean of their ratings
            drawn = f"Example, one draw of {record.n or 0} items: " if repeated and not number else ""
            sentences += [f"{drawn}{sentence}" for sentence in self._estimate(record, numbers, first=not drawn)]
        for record in numbers.known(pick("mean_rating_difference(source=people_and_model)"))[:2]:
            alone = numbers.first(
                pick("mean_rating_difference(source=people)"), subject=record.subject, condition=record.condition
            )
            text = f"The difference {numbers.title(record.condition)} is {POINTS.both(record, named=True)}"
            text += f" with {numbers.title(record.subject)}"
            sentences.append(f"{text}{f', {POINTS.both(alone)} from people alone' if alone else ''}.")
        return Answer(
            verdict, tuple(sentences), caution=_target(estimates), apa=" ".join(sentences),
            drawing=self._forest(numbers, repeated),
        )  # fmt: skip

    def _saving(self, record: Record, numbers: Numbers) -> str:
        given = parse_statistic(record.statistic)[1]
        n, ratio = given.get("n", ""), record.value or 0.0
        of_model = numbers.known(pick("coverage_of_interval("), subject=record.subject)
        hits = [
            _first(_having(of_model, source=source, n=n, drawn="with_replacement"))
            for source in ("people_and_model", "people")
        ]
        # a share of 20 draws in percent would look more precise than it is
        held = [f"{round((hit.value or 0.0) * (record.n or 0)):,}" for hit in hits if hit is not None]
        covered = (
            f"; they hold the truth in {held[0]} of {record.n or 0:,} draws, those of people alone in {held[1]}"
            if len(held) == 2
            else ""
        )
        way = f"{100 * (1 - ratio):.0f}% narrower" if ratio <= 1 else f"{100 * (ratio - 1):.0f}% wider"
        lead = f"With {numbers.title(record.subject)}, intervals of the mean from {n} rated items are {way}"
        return f"{lead} than from people alone{covered}."

    def _estimate(self, record: Record, numbers: Numbers, *, first: bool = True) -> list[str]:
        alone = numbers.first(pick("mean_rating(source=people)"), subject=record.subject, condition=record.condition)
        of = f" ({numbers.title(record.condition)})" if record.condition else ""
        text = f"{'The' if first else 'the'} mean rating{of} is {POINTS.both(record, named=True)}"
        text += f" with {numbers.title(record.subject)}"
        return [f"{text}{f', {POINTS.both(alone)} from the {alone.n} rated items alone' if alone else ''}."]

    def _forest(self, numbers: Numbers, repeated: list[Record]) -> Forest | None:
        rows = []
        for record in repeated:
            low, high = _RATIO.ends(record) or (None, None)
            n = parse_statistic(record.statistic)[1].get("n", "")
            rows.append(
                ForestRow(
                    f"{n} rated items", _RATIO.value(record), low, high, shown=_RATIO.both(record),
                    group=numbers.title(record.subject),
                )
            )  # fmt: skip
        if not rows:
            return None
        values = [v for row in rows for v in (row.value, row.low, row.high) if v is not None]
        axis = Axis(_RATIO.name, 0.0, max(1.0, *values))
        people = ReferenceLine("people alone", 1.0, kind="people")
        return Forest(
            name="width_ratio", title="Width of the interval of the mean, with the model", rows=tuple(rows), axis=axis,
            references=(people,), value_head="Ratio [95% of draws]",
        )  # fmt: skip


def _target(estimates: Sequence[Record]) -> str:
    """The sentence on what the intervals are about, which is how the rated items were drawn."""
    if not estimates:
        return ""
    if any("drawn=apart" in record.interval for record in estimates):
        return (
            "Target: a population of which the words of these items are a sample; the variance of the model’s mean is "
            "part of the intervals."
        )
    return (
        "Target: the items of this list, of which the rated ones are a random part. Intervals about a larger "
        "population of items are wider: --target population."
    )


@dataclass(frozen=True, slots=True)
class DistributionAnswer:
    """How much the distributions of models differ from people's, compared with how much halves of people differ."""

    def answer(self, numbers: Numbers) -> Answer | None:
        """Return the answer; ``None`` without a distance of distributions."""
        known = numbers.known(pick("earth_movers_distance"))
        models = [record for record in known if record.subject != HALF]
        ceiling = _first([record for record in known if record.subject == HALF])
        if not models or ceiling is None:
            return None
        limit = f"between the halves of the raters it is {POINTS.both(ceiling)}"
        sentences = [
            f"The distance of the distribution of {numbers.title(record.subject)} from that of half of the raters is "
            f"{POINTS.both(record, named=True)}; {limit}."
            for record in models
        ]
        spread = numbers.known(pick("disagreement_correlation("))
        sentences += [
            f"Over items, the spread of the ratings of {numbers.title(record.subject)} and the disagreement of raters "
            f"correlate by {RHO.both(record, named=True)}."
            for record in spread
            if record.subject != HALF
        ]
        sentences += self._severity(numbers)
        above = [record for record in models if record.low is not None and record.low > (ceiling.value or 0.0)]
        verdict = NO if len(above) == len(models) else PARTLY if above else UNDECIDED
        rows = []
        for record in known:
            low, high = POINTS.ends(record) or (None, None)
            label = "Other half of the raters" if record is ceiling else numbers.title(record.subject)
            shown, is_people = POINTS.both(record), record is ceiling
            rows.append(ForestRow(label, POINTS.value(record), low, high, shown=shown, people=is_people))
        values = [v for row in rows for v in (row.value, row.low, row.high) if v is not None]
        axis = Axis.around(values, "Earth mover’s distance from half of the raters, points")
        drawing = Forest(
            name="distributions", title="Distributions of ratings: distance from half of the raters", rows=tuple(rows),
            axis=axis, value_head="Points [95% CI]",
        )  # fmt: skip
        return Answer(verdict, tuple(sentences), apa=" ".join(sentences), drawing=drawing)

    def _severity(self, numbers: Numbers) -> list[str]:
        """Return where each model lies among the severities of raters, on their ordinal scale."""
        spread = numbers.first(pick("latent_sd(of=raters,link=logit)"))
        items = numbers.first(pick("latent_sd(of=items,link=logit)"))
        if spread is None or items is None:
            return []
        texts = [
            f"On people's ordinal scale, the severity of {spread.n or 0} raters has an SD of {LOGITS.both(spread)}, "
            f"that of items is {LOGITS.number(items.value or 0.0)}."
        ]
        for record in numbers.known(pick("rater_severity(")):
            share = numbers.first(pick("less_severe_raters("), subject=record.subject)
            value = record.value or 0.0
            way = "more severely" if value > 0 else "less severely"
            below = f"; {SHARE.text(SHARE.value(share))} of the raters are less severe" if share is not None else ""
            texts.append(
                f"{numbers.title(record.subject)} rates {way} than the mean rater: severity "
                f"{LOGITS.both(record, named=True)}{below}."
            )
        return texts


@dataclass(frozen=True, slots=True)
class CentaurAnswer:
    """The error of the norms of items from people and a model, and how many ratings the model is worth."""

    def answer(self, numbers: Numbers) -> Answer | None:
        """Return the answer; ``None`` without centaur norms."""
        records = numbers.known(pick("mean_standard_error(of=people_and_model)"))
        if not records:
            return None
        sentences, rows = [], []
        for record in records:
            alone = numbers.first(pick("mean_standard_error(of=people)"), subject=record.subject)
            worth = numbers.first(pick("ratings_worth"), subject=record.subject)
            title = numbers.title(record.subject)
            text = f"With {title}, the mean error of an item’s norm is {POINTS.text(POINTS.value(record))}"
            text += f", {POINTS.text(POINTS.value(alone))} from people alone" if alone is not None else ""
            text += f"; its prediction is worth {worth.value:.1f} ratings of each item" if worth is not None else ""
            sentences.append(f"{text}.")
            rows.append(ForestRow(title, POINTS.value(record), shown=POINTS.text(POINTS.value(record))))
            if alone is not None and not any(row.people for row in rows):
                shown = POINTS.text(POINTS.value(alone))
                rows.insert(0, ForestRow("People alone", POINTS.value(alone), shown=shown, people=True))
        values = [row.value for row in rows if row.value is not None]
        axis = Axis.around(values, "Mean standard error of an item’s norm, points")
        drawing = Forest(name="centaur_errors", title="Error of the norm of an item", rows=tuple(rows), axis=axis)
        sentences.append("The norms of all items are in tables/centaur_norms.csv.")
        return Answer("", tuple(sentences), apa=" ".join(sentences[:-1]), drawing=drawing)


@dataclass(frozen=True, slots=True)
class NextItems:
    """Which items are allocated to people, and what the allocation saves where that is known."""

    def answer(self, numbers: Numbers) -> Answer | None:
        """Return the answer; ``None`` without an allocation."""
        n = numbers.first(pick("n_allocated_items"))
        ends = [numbers.first(pick(f"{end}_sampling_probability")) for end in ("lowest", "highest")]
        if n is None or None in ends:
            return None
        low, high = (RHO.number(record.value or 0.0) for record in ends if record is not None)
        share = f"from {low} to {high} that grows with the uncertainty of the models" if low != high else f"of {low}"
        sentences = [
            f"{round(n.value or 0)} of {n.n or 0} items are allocated to people, each with a probability {share}."
        ]
        for record in numbers.known(pick("spread_ratio")):
            ratio = record.value or 0.0
            percent = round(100 * (ratio - 1))
            way = f"{abs(percent)}% {'smaller' if percent < 0 else 'larger'} than" if percent else "as large as"
            sentences.append(
                f"With {numbers.title(record.subject)}, the standard error of the mean is {way} from as many items "
                "drawn evenly."
            )
        sentences.append("The item files of the waves and the stopping rule are in allocation/.")
        return Answer("", tuple(sentences), apa=sentences[0])


NEEDED, ANNOTATORS, CONTAMINATION, DIFFERENCES, POWERED, CENTAURS, DISTRIBUTIONS, NEXT = (
    ModelWorth(), ReplacementTest(), ContaminationAnswer(), ModelDifferences(), PoweredEstimates(), CentaurAnswer(),
    DistributionAnswer(), NextItems(),
)  # fmt: skip
