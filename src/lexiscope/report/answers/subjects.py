"""One estimate for each subject, sorted, compared with people, with chance or with zero: a forest and its sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lexiscope.core.result import Record, parse_statistic
from lexiscope.core.showing import counted, enumerated
from lexiscope.report.answers.answer import (
    NO,
    PARTLY,
    REVERSED,
    UNASKED,
    UNDECIDED,
    YES,
    Answer,
    Direction,
    side_of,
    undefined_answer,
)
from lexiscope.report.answers.numbers import Numbers, Pick, Quantity, capital, pick
from lexiscope.report.marks.drawing import Axis, ReferenceLine
from lexiscope.report.marks.forest import Forest, ForestRow
from lexiscope.report.tables import BOUNDED, Cell, Column, Format, IntervalCell, Table

_MOST_ROWS = 40
PEOPLE = "people"
"""The subject that is everybody who took part."""
SAME_ITEMS = "Same items"
"""The column of values at the layer that was chosen on the same items."""
Field = Literal["subject", "view", "condition", "dataset", "point"]
_IN_ORDER = ("view", "condition", "point")
"""Fields whose values have an order: that of the results."""


@dataclass(frozen=True, slots=True)
class Against:
    """What estimates are compared with: people (a ceiling of a name), a further ceiling, or chance.

    ``name`` is its name in a sentence (``the average person``). Its value is that of a record, or *value*.
    """

    name: str
    wanted: Pick | None = None
    value: float | None = None
    kind: Literal["people", "further", "chance"] = "people"


@dataclass(frozen=True, slots=True)
class Compared:
    """An :class:`Against` of a run: what it is, its value as shown, and its record if it has one."""

    against: Against
    value: float
    record: Record | None


_OF_ONE = {"are": "is", "have": "has"}
"""Verbs of several whose form for one is not made by -s."""


@dataclass(frozen=True, slots=True)
class SubjectEstimates:
    """Estimates of subjects, the highest first, as a verdict, sentences, a forest and a small table.

    ``statistic`` is what is shown, ``title`` what the figure shows, ``claim`` what an estimate above the line of
    chance (else above 0) means, as a verb for several (``follow people's ratings``); empty for estimates that claim
    nothing and have no verdict. ``claim_one`` is for one, if more than the verb changes (else it is made of *claim*:
    ``follows``, ``is``, ``has``). ``in_sample`` is the same
    statistic at the layer chosen on the same items, drawn pale. ``place`` is the share of people below a subject,
    ``raters`` where the values of single people are (:attr:`Numbers.single`). ``rows_are`` names
    the rows: by default models, results where they are grouped, or what their label is. ``label`` and ``group`` are the
    fields that rows are named and grouped by (``point``: the point of the scale that a statistic is about); views,
    conditions and points keep the order of the results. ``uncounted`` are subjects that
    are drawn and not counted (what guessing gives), as baselines are, which are hollow. ``predicted`` is where
    estimates were predicted to be. ``strong`` are subjects that the study is about. ``paired`` are paired differences
    of each estimate from something of a name (a baseline), with their intervals.
    """

    title: str
    statistic: Pick
    quantity: Quantity
    claim: str
    claim_one: str = ""
    against: tuple[Against, ...] = ()
    in_sample: Pick | None = None
    place: Pick | None = None
    raters: str = ""
    rows_are: tuple[str, str] | None = None
    label: Field = "subject"
    group: tuple[Field, ...] = ()
    uncounted: tuple[str, ...] = ()
    predicted: Direction = "above"
    strong: tuple[str, ...] = ()
    note: str = ""
    name: str = "estimates"
    paired: tuple[tuple[str, Pick], ...] = ()
    table_title: str = ""
    with_table: bool = False
    axis: str = ""

    def answer(self, numbers: Numbers) -> Answer | None:
        """Return the answer; ``None`` where the run has no such estimate."""
        every = numbers.all(self.statistic)
        known = [record for record in every if record.value is not None]
        if not every:
            return None
        if not known and self.label == "subject" and all(map(self._is_baseline, every)):
            return Answer(UNASKED, ("Only baselines answered.",), caution=self._caution(every, (), numbers))
        if not known:
            return undefined_answer(self.title, every[0].note)
        every_ranked = sorted(known, key=self.quantity.value, reverse=True)
        ranked = [record for record in every_ranked if not self._is_baseline(record)] or every_ranked
        compared = self._compared(numbers)
        verdict = self._verdict(ranked, compared, numbers)
        sentences = (
            self._first_sentence(ranked, compared, numbers),
            *self._paired_sentences(ranked, numbers),
            *self._people_sentences(ranked, compared, numbers),
        )
        return Answer(
            verdict,
            sentences,
            caution=self._caution(every, ranked, numbers),
            apa=" ".join(sentences),
            drawing=self._forest(every_ranked, every, compared, numbers),
            table=self._table(ranked, compared, numbers) if self.with_table else None,
        )

    # -- what it is compared with -------------------------------------------------------------------------------------

    def _compared(self, numbers: Numbers) -> list[Compared]:
        compared = []
        for against in self.against:
            record = numbers.first(against.wanted)
            if record is not None:
                compared.append(Compared(against, self._plain.value(record), record))
            elif against.value is not None:
                compared.append(Compared(against, against.value, None))
        return compared

    @property
    def _plain(self) -> Quantity:
        """The quantity of what estimates are compared with: never turned round."""
        return replace(self.quantity, sign=1.0)

    @staticmethod
    def _chance(compared: Sequence[Compared]) -> float:
        return next((c.value for c in compared if c.against.kind == "chance"), 0.0)

    @staticmethod
    def _people(compared: Sequence[Compared]) -> Compared | None:
        return next((c for c in compared if c.against.kind == "people"), None)

    # -- in sentences -------------------------------------------------------------------------------------------------

    def _sides(self, ranked: Sequence[Record], chance: float) -> list[int]:
        """On which side of chance each estimate is, as predicted: 1, 0 (or no interval), −1."""
        turn = -1 if self.predicted == "below" else 1
        return [turn * (side_of(record, self.quantity, chance) or 0) for record in ranked]

    def _verdict(self, ranked: Sequence[Record], compared: Sequence[Compared], numbers: Numbers) -> str:
        sides = self._sides(ranked, self._chance(compared))
        for _, wanted in self.paired:
            # as far as a paired difference decides, it decides more strictly than chance
            own = [self._paired_record(record, wanted, numbers) for record in ranked]
            strict = [side_of(p, self.quantity) if p is not None else side for p, side in zip(own, sides, strict=True)]
            sides = [min(side, other or 0) for side, other in zip(sides, strict, strict=True)]
        if not self.claim or all(self.quantity.ends(record) is None for record in ranked):
            return ""
        if self._only_baselines(ranked):
            return UNASKED
        if not any(side > 0 for side in sides):
            below = all(side < 0 for side in sides)
            return REVERSED if self.predicted and below else UNDECIDED if len(ranked) == 1 and not below else NO
        people = self._people(compared)
        if people is not None:
            ends = self.quantity.ends(ranked[0])
            low = people.record and self._plain.ends(people.record)
            below = ends is not None and ends[1] < (low[0] if low else people.value)
            return PARTLY if below or self.quantity.value(ranked[0]) < people.value else YES
        return YES if all(side > 0 for side in sides) else PARTLY

    def _first_sentence(self, ranked: Sequence[Record], compared: Sequence[Compared], numbers: Numbers) -> str:
        n, best = len(ranked), ranked[0]
        if self._only_baselines(ranked):
            return f"Only baselines answered; the highest is {self._of(best, numbers)}."
        chance = next((c for c in compared if c.against.kind == "chance"), None)
        beyond = f"; {chance.against.name} is {self.quantity.text(chance.value)}" if chance else ""
        k = sum(side > 0 for side in self._sides(ranked, self._chance(compared)))
        if n == 1:
            title = self._title_of(best, numbers)
            if k and self.claim:
                # "is below people by 4 points" continues with its value; else it follows a comma
                claim = self._claim_of_one
                if best.subject == PEOPLE:
                    # they are several
                    title, claim = capital(title), f"{self.claim.partition(' ')[0]} {claim.partition(' ')[2]}"
                comma = "" if claim.endswith(" by") else ","
                return f"{title} {claim}{comma} {self.quantity.equation(best, named=True)}{beyond}."
            value = self.quantity.equation(best, named=True)
            if not self.claim or self.quantity.ends(best) is None:
                return f"{self.title}: {value} ({title}){beyond}."
            claim = re.sub(",?( by)?$", "", self._claim_of_one)
            open_ = side_of(best, self.quantity, self._chance(compared)) == 0
            inside = f"; the interval includes {chance.against.name if chance else 0}" if open_ else ""
            return f"It cannot be said that {title} {claim}: {value}{beyond}{inside}."
        size = self._of(best, numbers)
        # "95% CI" is in a sentence once
        lowest = self._of(ranked[-1], numbers, named=self.quantity.ends(best) is None)
        if not self.claim or all(self.quantity.ends(record) is None for record in ranked):
            return f"{self.title}: the highest is {size}, the lowest {lowest}{beyond}."
        rows = self._names_of_rows[1]
        if k == n:
            lead = f"{f'All {n}' if n > 2 else 'Both'} {rows} {self.claim}"
        elif k:
            lead = f"{k} of {n} {rows} {self.claim}"
        else:
            none = f"None of {n}" if n > 2 else "Neither of the two"
            lead = f"{none} {rows} can be said to {re.sub('^are ', 'be ', self.claim)}"
        return f"{lead}; the highest is {size}, the lowest {lowest}{beyond}."

    @staticmethod
    def _paired_record(record: Record, wanted: Pick, numbers: Numbers) -> Record | None:
        return numbers.first(wanted, subject=record.subject, condition=record.condition, view=record.view)

    def _paired_sentences(self, ranked: Sequence[Record], numbers: Numbers) -> tuple[str, ...]:
        sentences = []
        for name, wanted in self.paired:
            known = [p for record in ranked if (p := self._paired_record(record, wanted, numbers)) is not None]
            above = sum(side_of(record, self.quantity) == 1 for record in known)
            if known:
                k = "All" if above == len(known) > 2 else f"{above or 'None'} of"
                k = f"{k} {len(known)} {'is' if above == 1 else 'are'}"
                k = k if len(known) > 1 else "It is" if above else "It is not shown to be"
                sentences.append(f"{k} above {name}, judged by the interval of the paired difference.")
        return tuple(sentences)

    def _people_sentences(
        self, ranked: Sequence[Record], compared: Sequence[Compared], numbers: Numbers
    ) -> tuple[str, ...]:
        people = self._people(compared)
        if people is None:
            return ()
        shown = (
            self._plain.equation(people.record)
            if people.record
            else f"{self.quantity.symbol} = {self._plain.text(people.value)}"
        )
        lead = f"{capital(people.against.name)} reaches {shown}"
        best = ranked[0]
        place = numbers.first(self.place, subject=best.subject, **({"view": best.view} if best.view else {}))
        if place is None or place.value is None:
            word = "below" if self.quantity.value(best) < people.value else "not below"
            return (f"{lead}; {'it' if len(ranked) == 1 else 'the highest estimate'} is {word} that.",)
        n = place.n or 0
        k = round(place.value * n)
        who = "it" if len(ranked) == 1 else "the highest model"
        share = f" ({100 * place.value:.0f}%)" if n >= 30 else ""
        return (
            f"{lead}; {who} is above {k or 'none'} of {'' if k else 'the '}{counted(n, 'person', 'people')}{share}.",
        )

    def _caution(self, every: Sequence[Record], ranked: Sequence[Record], numbers: Numbers) -> str:
        texts = []
        missing = [record for record in every if record.value is None]
        if missing:
            names = enumerated([self._title_of(record, numbers) for record in missing[:3]])
            more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
            texts.append(f"No value for {names}{more}: {missing[0].note.removeprefix('undefined: ').rstrip('.')}.")
        if ranked and "chosen on the same items" in ranked[0].note:
            texts.append("The layer was chosen on the same items, which makes the value too high.")
        return " ".join(texts)

    @property
    def _names_of_rows(self) -> tuple[str, str]:
        """What one row and several are called."""
        name = self.label if self.label != "subject" else "result" if self.group else "model"
        return self.rows_are or (name, f"{name}s")

    @property
    def _claim_of_one(self) -> str:
        verb, _, rest = self.claim.partition(" ")
        return self.claim_one or f"{_OF_ONE.get(verb, verb + 's')} {rest}".rstrip()

    def _is_baseline(self, record: Record) -> bool:
        return record.subject.startswith("baseline:") or record.subject in self.uncounted

    def _only_baselines(self, ranked: Sequence[Record]) -> bool:
        """Whether the rows are subjects and no model is among them: baselines come first only if they are alone."""
        return self.label == "subject" and self._is_baseline(ranked[0])

    def _title_of(self, record: Record, numbers: Numbers) -> str:
        if self.label == "point":
            return parse_statistic(record.statistic)[1].get("point", "")
        return numbers.title(getattr(record, self.label))

    def _of(self, record: Record, numbers: Numbers, *, named: bool = True) -> str:
        groups = [getattr(record, name) for name in self.group]
        titles = [numbers.title(str(part)) for part in groups if part]
        where = f" ({', '.join(titles)})" if titles else ""
        return f"{self._title_of(record, numbers)}{where}, {self.quantity.equation(record, named=named)}".replace(
            ",  =", ","
        )

    # -- as a drawing and a table -------------------------------------------------------------------------------------

    def _forest(
        self, ranked: Sequence[Record], every: Sequence[Record], compared: Sequence[Compared], numbers: Numbers
    ) -> Forest | None:
        rows = self._rows(ranked, every, numbers)
        raters = tuple(numbers.single.get(self.raters, ())) if self.raters else ()
        if len(rows) < 2 and not raters and not compared:
            return None
        references = tuple(self._reference(entry) for entry in compared)
        values = [v for row in rows for v in (row.value, row.low, row.high, row.pale) if v is not None]
        label = self.axis or self.quantity.name or self.quantity.symbol
        shown = [*values, *(r.value for r in references), *raters]
        axis = Axis.around(shown, label, bounds=self.quantity.bounds)
        people = self._people(compared)
        see = self._see(ranked, people, numbers)
        return Forest(
            name=self.name,
            title=self.title,
            see=see,
            note=self._note(rows, len(ranked), numbers),
            rows=rows,
            axis=axis,
            references=references,
            raters=raters,
            rows_name=self._count_of(ranked),
            people_name=counted(len(raters), "person", "people") if raters else "",
            value_head=self.quantity.head(ranked),
            side_head="layer",
        )

    def _count_of(self, ranked: Sequence[Record]) -> str:
        models = [record for record in ranked if not self._is_baseline(record)]
        alone = self.label == "subject" and not self.group
        return counted(len(models), *self._names_of_rows) if models and alone else ""

    def _note(self, rows: Sequence[ForestRow], n: int, numbers: Numbers) -> str:
        notes = [self.note] if self.note else []
        if any(row.pale is not None for row in rows):
            notes.append("Diamond: layer chosen on other items; pale dot: on the same items")
        if any(row.hollow for row in rows) and not all(row.hollow for row in rows):
            notes.append(f"Hollow: {numbers.other_kind or 'baseline'}")
        if n > _MOST_ROWS:
            notes.append(f"{_MOST_ROWS} of {n} rows, the highest first; the CSV of the table has all")
        return ". ".join(notes)

    def _see(self, ranked: Sequence[Record], people: Compared | None, numbers: Numbers) -> str:
        best = ranked[0]
        text = self.quantity.text(self.quantity.value(best))
        if people is not None:
            reaching = [r for r in ranked if (e := self.quantity.ends(r)) is not None and e[1] >= people.value]
            line = f"the line of {people.against.name} ({self._plain.text(people.value)})"
            if len(ranked) == 1:
                return f"Its interval {'reaches' if reaching else 'does not reach'} {line}; the value is {text}."
            if not reaching:
                return f"No interval reaches {line}; the highest value is {text}."
            return f"{len(reaching)} of {len(ranked)} intervals reach {line}; the highest value is {text}."
        if len(ranked) == 1:
            return f"The value is {text}."
        low = self.quantity.text(self.quantity.value(ranked[-1]))
        lowest = self._title_of(ranked[-1], numbers)
        return f"Values range from {low} ({lowest}) to {text} ({self._title_of(best, numbers)})."

    def _rows(self, ranked: Sequence[Record], every: Sequence[Record], numbers: Numbers) -> tuple[ForestRow, ...]:
        ordered = list(ranked[:_MOST_ROWS])
        if self.label in _IN_ORDER:
            ordered = [record for record in every if record.value is not None][:_MOST_ROWS]
        elif self.group:
            # groups in the order of the results, the rows of each in the order of their values
            groups = list(dict.fromkeys(self._group_of(record) for record in every))
            answered = {self._group_of(record) for record in ordered if not self._is_baseline(record)}
            # a baseline beside no model compares nothing
            ordered = [record for record in ordered if not answered or self._group_of(record) in answered]
            ordered.sort(key=lambda record: groups.index(self._group_of(record)))
        rows = [self._row(record, numbers) for record in ordered]
        missing = [record for record in every if record.value is None]
        if not self.group:
            rows += [
                ForestRow(self._title_of(record, numbers), None, reason=record.note.removeprefix("undefined: "))
                for record in missing[: max(0, _MOST_ROWS - len(rows))]
            ]
        return tuple(rows)

    def _group_of(self, record: Record) -> tuple[str, ...]:
        return tuple(str(getattr(record, name)) for name in self.group)

    def _row(self, record: Record, numbers: Numbers) -> ForestRow:
        pale = numbers.first(self.in_sample, subject=record.subject, view=record.view, condition=record.condition)
        layer = record.layer if record.layer is not None else pale.layer if pale is not None else None
        depth = numbers.first(pick("n_layers", subject=record.subject))
        of = f"/{depth.value:.0f}" if depth is not None and depth.value is not None else ""
        side = f"{layer}{of}" if layer is not None and self.label == "subject" else ""
        title = self._title_of(record, numbers)
        n = f", n = {record.n:,}" if record.n else ""
        tip = f"{title}{f', layer {side}' if side else ''}: {self.quantity.equation(record)}{n}".replace(":  =", ":")
        group = ", ".join(numbers.title(str(getattr(record, name))) for name in self.group if getattr(record, name))
        return self.quantity.row(
            record,
            title,
            tip=tip,
            side=side,
            pale=self.quantity.value(pale) if pale is not None else None,
            hollow=record.subject in numbers.other or self._is_baseline(record),
            strong=record.subject in self.strong,
            people=not record.subject,
            group=group,
        )

    def _reference(self, entry: Compared) -> ReferenceLine:
        short = entry.against.name.removeprefix("the ")
        low, high = (self._plain.ends(entry.record) if entry.record is not None else None) or (None, None)
        tip = f"{capital(entry.against.name)}: {self._plain.both(entry.record)}" if entry.record is not None else ""
        label = f"{short} {self._plain.text(entry.value)}"
        return ReferenceLine(label, entry.value, low, high, entry.against.kind, tip)

    def _table(self, ranked: Sequence[Record], compared: Sequence[Compared], numbers: Numbers) -> Table:
        chosen = [ranked[0], *(r for r in ranked[1:] if r.subject in self.strong)]
        for record in ranked[1:]:
            if len(chosen) < 4 and record not in chosen:
                chosen.append(record)
        chosen.sort(key=self.quantity.value, reverse=True)
        form = BOUNDED if self.quantity.bounds in ((-1.0, 1.0), (0.0, 1.0)) else Format("number", self.quantity.digits)
        names = [f"{self.quantity.symbol or self.quantity.name} [95% CI]"]
        names += [SAME_ITEMS] if self.in_sample else []
        names += ["People below"] if self.place and any(numbers.all(self.place)) else []
        rows: list[tuple[Cell, ...]] = []
        for record in chosen:
            cells: list[Cell] = [self._title_of(record, numbers), _interval_cell(self.quantity, record)]
            if self.in_sample:
                pale = numbers.first(self.in_sample, subject=record.subject, view=record.view)
                cells.append(None if pale is None else self.quantity.value(pale))
            if "People below" in names:
                view = {"view": record.view} if record.view else {}
                place = numbers.first(self.place, subject=record.subject, **view)
                cells.append(None if place is None or place.value is None else f"{100 * place.value:.0f}%")
            rows.append(tuple(cells))
        for entry in compared:
            if entry.record is not None:
                blank: list[Cell] = [None] * (len(names) - 1)
                rows.append(
                    (
                        capital(entry.against.name.removeprefix("the ")),
                        _interval_cell(self._plain, entry.record),
                        *blank,
                    )
                )
        columns = (Column(""), *(Column(name, form, align="right") for name in names))
        of = f"{len(chosen)} of {len(ranked)} {self._names_of_rows[1]}" if len(chosen) < len(ranked) else ""
        title = self.table_title or self.title
        notes = [f"{of}."] if of else []
        notes += [f"{SAME_ITEMS}: with the layer that is best on the same items."] if self.in_sample else []
        return Table(f"{self.name}_table", "", title, columns, tuple(rows), tuple(notes))


def _interval_cell(quantity: Quantity, record: Record) -> Cell:
    ends, value = quantity.ends(record), quantity.value(record)
    return IntervalCell(*ends, value) if ends is not None else value


AVERAGE_PERSON = Against(
    "the average person", pick("mean_rater_correlation(variant=leave_one_out,method=spearman)"), kind="people"
)
"""The mean agreement of one rater with the mean of the others (ρ, leave-one-out)."""
RELIABILITY = Against("reliability of the ratings", pick("split_half_reliability("), kind="further")
"""The reliability of the mean ratings from split halves."""
