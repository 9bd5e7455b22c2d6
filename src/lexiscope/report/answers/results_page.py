"""The Results page of a run: the answer at the top, then each question's answer.

A question is answered by its rule or, if none was declared for it, by the type of what it returned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lexiscope.analysis.accuracy import wilson_interval
from lexiscope.core.result import (
    Contrast,
    Counts,
    Curve,
    Curves,
    Estimate,
    Fit,
    Record,
    Result,
    Undefined,
    parse_statistic,
)
from lexiscope.core.showing import counted
from lexiscope.core.study import Question
from lexiscope.report.answers.answer import NO, UNANSWERED, YES, Answer, QuestionRule, undefined_answer, verdict_of
from lexiscope.report.answers.layers import LayerCurves
from lexiscope.report.answers.numbers import Numbers, Quantity, capital, p_text, pick
from lexiscope.report.answers.sentences import named_sentence, words_of
from lexiscope.report.answers.subjects import SubjectEstimates
from lexiscope.report.marks.drawing import Axis, Drawing
from lexiscope.report.marks.forest import Forest, ForestRow


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A section of the page: the question, its word in the strip of contents, its marks, and its answer.

    ``flag`` is *confirmatory*, *confirmatory in part* or *exploratory*; ``place`` where a paper asks it.
    """

    question_id: str
    text: str
    short: str
    answer: Answer
    flag: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class ResultsPage:
    """What the page shows: its title (a question), what the data are, the answer, and the answered questions.

    ``kicker`` says what the data are, ``brand`` is their short name in the bar.

    ``unanswered`` are the questions without an answer and why, by text: they have one line each on the page of
    methods. ``top_question`` is the id of the question that the answer at the top belongs to, if it is that of one.
    ``names`` are what subjects are called on the page, by their ids.
    """

    title: str
    kicker: str
    brand: str
    top: Answer
    questions: tuple[AnsweredQuestion, ...] = ()
    unanswered: tuple[tuple[str, str], ...] = ()
    top_question: str = ""
    names: tuple[tuple[str, str], ...] = ()

    @property
    def answers(self) -> tuple[Answer, ...]:
        """All answers in reading order."""
        return (self.top, *(question.answer for question in self.questions))

    def results(self) -> dict[str, str]:
        """Return the verdict and the first sentence of each answered question, by its id."""
        answers = {question.question_id: question.answer for question in self.questions}
        if self.top_question:
            answers[self.top_question] = self.top
        return {
            question_id: " ".join(filter(None, (answer.verdict, *answer.sentences[:1])))
            for question_id, answer in answers.items()
        }

    def drawings(self) -> tuple[Drawing, ...]:
        """Return the drawings in reading order."""
        return tuple(answer.drawing for answer in self.answers if answer.drawing is not None)


def with_own_names(page: ResultsPage) -> ResultsPage:
    """Return the page with a unique name for each drawing and table: they become names of files."""
    used: set[str] = set()

    def own(name: str, prefix: str) -> str:
        chosen = name if name not in used else f"{prefix}_{name}"
        used.add(chosen)
        return chosen

    def named(answer: Answer, prefix: str) -> Answer:
        drawing, table = answer.drawing, answer.table
        return replace(
            answer,
            drawing=drawing and replace(drawing, name=own(drawing.name, prefix)),
            table=table and replace(table, name=own(table.name, prefix)),
        )

    top = named(page.top, "top")
    questions = tuple(replace(q, answer=named(q.answer, q.question_id.lower())) for q in page.questions)
    return replace(page, top=top, questions=questions)


_SENTENCES = 3
_SYMBOLS = {
    "spearman": "ρ", "pearson": "r", "r_squared": "R²", "krippendorff_alpha": "α", "cohen_kappa": "κ",
    "fleiss_kappa": "κ", "max_r_squared_over_layers": "R²", "min_spearman_over_layers": "ρ",
}  # fmt: skip
_UNITS = {"rating": "points"}
_FROM_0 = ("r_squared", "accuracy", "share", "auc", "coverage")
"""Parts of the names of statistics that cannot be below 0."""


def quantity_of(statistic: str, unit: str = "") -> Quantity:
    """Return how a statistic is shown, from its name and its unit.

    >>> quantity_of("spearman(with=norms)", "correlation").symbol, quantity_of("percent_right", "percent").unit
    ('ρ', '%')
    """
    name, _ = parse_statistic(statistic)
    title = capital(words_of(statistic))
    if unit == "percent":
        return Quantity("", title, (0.0, 100.0), 0, unit="%")
    is_bounded = unit in ("correlation", "share") or name in _SYMBOLS or any(part in name for part in _FROM_0)
    if is_bounded and "difference" not in name:
        low = 0.0 if unit == "share" or any(part in name for part in _FROM_0) else -1.0
        return Quantity(_SYMBOLS.get(name, ""), title, (low, 1.0))
    if is_bounded:
        return Quantity(_SYMBOLS.get(name, ""), title, (-1.0, 1.0))
    # a mean rating of 2.11 is one of 2.11 points
    return Quantity("", title, None, unit=f" {_UNITS.get(unit, unit)}" if unit else "")


def default_answer(results: Sequence[Result], records: Sequence[Record], numbers: Numbers) -> Answer | None:
    """Return the answer from what a question returned: its results by their types, otherwise its records.

    The first of these decides the verdict and the drawing: a comparison, curves over layers, several estimates, one
    estimate, a model's test, counts. The sentences are those of the first three results.
    """
    if not results:
        return _answer_of_records(records, numbers)

    sentences = _sentences(results, numbers)
    if all(isinstance(result, Undefined) for result in results):
        first = results[0]
        assert isinstance(first, Undefined)
        return undefined_answer(capital(words_of(first.name)), first.reason)
    for kind in (Contrast, (Curves, Curve), Estimate, Fit, Counts):
        chosen = [result for result in results if isinstance(result, kind)]
        if chosen:
            verdict, drawing = _verdict_and_drawing(chosen, numbers)
            # the result that decides comes first
            deciding = _sentences([r for r in chosen if _name_of(r) == _name_of(chosen[0])], numbers)[0]
            said = (deciding, *(text for text in sentences if text != deciding))[:_SENTENCES]
            return Answer(verdict, said, apa=" ".join(said), drawing=drawing)
    return None


def _sentences(results: Sequence[Result], numbers: Numbers) -> tuple[str, ...]:
    """A sentence on each statistic, up to three: of several subjects (else conditions) on the extremes."""
    by_name: dict[str, list[Result]] = {}
    for result in results:
        by_name.setdefault(_name_of(result) or f"{len(by_name)}", []).append(result)
    return tuple(
        _extremes(own, numbers) or named_sentence(own[0], numbers.title) for own in [*by_name.values()][:_SENTENCES]
    )


def _name_of(result: Result) -> str:
    return result.name if isinstance(result, Estimate) else ""


def _extremes(results: Sequence[Result], numbers: Numbers) -> str:
    """A sentence on the highest and the lowest of several estimates; none where their names do not differ."""
    known = [result for result in results if isinstance(result, Estimate)]
    labels = [numbers.title(result.subject) for result in known]
    if len(set(labels)) < len(labels):
        labels = [numbers.title(result.condition) for result in known]
    if len(known) < 2 or len(set(labels)) < len(labels) or not all(labels):
        return ""
    quantity = quantity_of(known[0].name, known[0].unit)
    ordered = sorted(zip(known, labels, strict=True), key=lambda pair: pair[0].value)
    low, high = (
        f"{label} ({quantity.both(*result.records(), named=True)})" for result, label in (ordered[0], ordered[-1])
    )
    if len({quantity.text(quantity.value(*result.records())) for result in known}) == 1:
        return f"The {words_of(known[0].name)} is {quantity.both(*known[0].records())} for each of {len(known)}."
    return f"The {words_of(known[0].name)} is highest for {high} and lowest for {low}."


def _verdict_and_drawing(chosen: Sequence[Result], numbers: Numbers) -> tuple[str, Drawing | None]:
    first = chosen[0]
    if isinstance(first, Contrast):
        record = first.records()[0]
        sides = [side_record for side in first.pair for side_record in side.records()]
        forest = _forest_of(sides, quantity_of(first.first.name, first.first.unit), numbers)
        return verdict_of(record, quantity_of(first.name, first.unit)), forest
    if isinstance(first, Curve | Curves):
        entries = first.entries if isinstance(first, Curves) else (first,)
        curves = [entry for entry in entries if isinstance(entry, Curve)]
        if not curves:
            return "", _estimates([entry for entry in entries if isinstance(entry, Estimate)], numbers)
        name = curves[0].statistic
        quantity = quantity_of(name, curves[0].unit)
        rule = LayerCurves(capital(f"{words_of(name)} by layer"), pick(name), quantity, what=f"the {words_of(name)}")
        answer = rule.answer(numbers)
        return "", answer.drawing if answer else None
    if isinstance(first, Estimate):
        return "", _estimates([result for result in chosen if isinstance(result, Estimate)], numbers)
    if isinstance(first, Counts):
        return "", _shares(first)
    return "", None


def _estimates(estimates: Sequence[Estimate], numbers: Numbers) -> Drawing | None:
    """The estimates of one statistic, one row each; none for a single one."""
    same = [estimate for estimate in estimates if estimate.name == estimates[0].name]
    records = [record for estimate in same for record in estimate.records()]
    return _forest_of(records, quantity_of(same[0].name, same[0].unit), numbers) if len(records) > 1 else None


def _forest_of(records: Sequence[Record], quantity: Quantity, numbers: Numbers) -> Forest:
    def label(record: Record) -> str:
        layer = f"layer {record.layer}" if record.layer is not None else ""
        parts = [*map(numbers.title, (record.subject, record.condition)), record.view, layer]
        used = [part for index, part in enumerate(parts) if part and len({_parts(r)[index] for r in records}) > 1]
        return ", ".join(used) or next(filter(None, parts), "all")

    rows = []
    for record in records:
        low, high = quantity.ends(record) or (None, None)
        value = quantity.value(record) if record.value is not None else None
        shown = quantity.both(record) if record.value is not None else ""
        reason = record.note if record.value is None else ""
        rows.append(ForestRow(label(record), value, low, high, shown=shown, reason=reason, people=not record.subject))
    values = [v for row in rows for v in (row.value, row.low, row.high) if v is not None]
    known = [record for record in records if record.value is not None]
    axis = Axis.around(values, quantity.name, bounds=quantity.bounds)
    name = parse_statistic(records[0].statistic)[0]
    return Forest(
        name=name,
        title=quantity.name,
        rows=tuple(rows),
        axis=axis,
        value_head=replace(quantity, symbol="", name="value").head(known),
        note="Lines: 95% CI" if any(row.low is not None for row in rows) else "",
    )


def _parts(record: Record) -> tuple[str, str, str, int | None]:
    return (record.subject, record.condition, record.view, record.layer)


def _shares(counts: Counts) -> Forest | None:
    """Counts as shares of their total with Wilson's intervals."""
    if not counts.total:
        return None
    rows = []
    for label, n in counts.counts:
        interval = wilson_interval(n, counts.total).times(100)
        low, high = interval.low, interval.high
        shown = f"{100 * n / counts.total:.0f}% [{low:.0f}, {high:.0f}]"
        rows.append(ForestRow(label, 100 * n / counts.total, low, high, shown=shown, tip=f"{label}: {n:,}, {shown}"))
    return Forest(
        name=counts.name.partition("(")[0],
        title=f"{capital(words_of(counts.name))}: {counted(counts.total, 'case')}",
        rows=tuple(rows),
        axis=Axis("Percent", 0, 100, leading_zero=True),
        value_head="% [95% CI]",
    )


def _answer_of_records(records: Sequence[Record], numbers: Numbers) -> Answer | None:
    """The first statistic of a question that has values: of several subjects a forest, of one a sentence."""
    measured = [record for record in records if not record.statistic.startswith("n_")]
    known = [record for record in measured if record.value is not None]
    if not known:
        # counts alone are no answer
        return undefined_answer(capital(words_of(measured[0].statistic)), measured[0].note) if measured else None
    first = next((record for record in known if record.low is not None), known[0])
    quantity = quantity_of(first.statistic, first.unit)
    same = [r for r in known if r.statistic == first.statistic and r.question == first.question]
    if len({record.subject for record in same}) == len(same) > 1:
        title = capital(words_of(first.statistic))
        rule = SubjectEstimates(
            title,
            pick(first.statistic, question=first.question),
            quantity,
            "have a value above 0",
            "has a value above 0",
        )
        answer = rule.answer(numbers)
        if answer is not None:
            return Answer("", answer.sentences, apa=answer.apa, drawing=answer.drawing)
    of = f" of {numbers.title(first.subject)}" if first.subject else ""
    text = f"The {words_of(first.statistic)}{of} is {quantity.both(first, named=True)}"
    if len({record.condition for record in same}) == len(same) > 1 and all(r.condition for r in same):
        second = same[1]
        text += f" ({numbers.title(first.condition)}) and {quantity.both(second)} ({numbers.title(second.condition)})"
        ends = [quantity.text(end(map(quantity.value, same))) for end in (min, max)]
        text += f"; all {len(same)} values are between {' and '.join(ends)}" if len(same) > 2 else ""
    test = next((r for r in records if r.p is not None and r.statistic != first.statistic), None)
    of_test = f" ({numbers.title(test.condition)})" if test is not None and test.condition else ""
    tested = f"{capital(words_of(test.statistic))}{of_test}: {p_text(test)}." if test is not None else ""
    drawing = _forest_of(same[:40], quantity, numbers) if len(same) > 1 else None
    return Answer("", (f"{text}.",), tested, apa=f"{text}.", drawing=drawing)


AnswerOf = QuestionRule | Callable[[Numbers, Any], Answer | None]
"""A rule for the answer to a question, or a function that makes it from the numbers of a run, and the run."""
_TOP_SENTENCES = 3
_TOP_WORDS = 70
_SHORT_WORDS = 18


def answer_by(rule: AnswerOf, numbers: Numbers, run: object) -> Answer | None:
    """Return the answer that a rule makes; ``None`` if the run has none of its numbers."""
    return rule(numbers, run) if callable(rule) else rule.answer(numbers)


def answered_questions(
    questions: Sequence[Question],
    rules: Mapping[str, tuple[AnswerOf | None, str]],
    returned: Mapping[str, Sequence[Result]],
    missing: Mapping[str, str],
    numbers: Numbers,
    run: object,
) -> tuple[tuple[AnsweredQuestion, ...], tuple[tuple[str, str], ...]]:
    """Return the answered questions, and those without an answer with the reason.

    *rules* has the rule and the short name of each question by its id, *returned* its results, *missing* why a
    question could not be asked.
    """
    answered, unanswered = [], []
    for question in questions:
        rule, short = rules[question.question_id]
        records = [record for record in numbers.records if record.question == question.question_id]
        answer = None
        if question.question_id not in missing and records:
            answer = answer_by(rule, numbers, run) if rule is not None else None
            answer = answer or default_answer(returned.get(question.question_id, ()), records, numbers)
        if answer is None or answer.verdict == UNANSWERED:
            # a question without a result has no section: one line on the page of methods
            why = " ".join(answer.sentences) if answer is not None else "This run has no numbers for it."
            unanswered.append((question.text, missing.get(question.question_id, why)))
            continue
        # yes and no cannot answer a question such as *How much …?* or *At which …?*
        words = question.text.lower().split()
        if not {*words[:2]}.isdisjoint(("how", "which", "what", "where", "whose")) and answer.verdict in (YES, NO):
            answer = replace(answer, verdict="")
        flag, place = question.analysis, question.section
        name = short or _short(question.text)
        answered.append(AnsweredQuestion(question.question_id, question.text, name, answer, flag, place))
    return tuple(answered), tuple(unanswered)


def results_page(
    title: str,
    kicker: str,
    brand: str,
    top: AnswerOf | None,
    questions: tuple[AnsweredQuestion, ...],
    unanswered: tuple[tuple[str, str], ...],
    numbers: Numbers,
    run: object,
    *,
    title_of: str = "",
) -> ResultsPage | None:
    """Return the page; ``None`` where nothing was answered.

    The answer at the top is that of *top*, with the first sentences of the next questions: up to three, and so few
    words that the figure is on the first screen of a phone. Without a rule it is that of the first question with a
    drawing, which then has no separate section. That question is the title unless the given one is about it: *title_of*
    is the id of the question that the title is about, empty for any.
    An answer at the top without a drawing has the first drawing of the other questions.
    """
    first, top_question = answer_by(top, numbers, run) if top is not None else None, ""
    if top is not None and first is None:
        # the question at the top is not answered by this run: it has the name of the study
        title, kicker = kicker, brand
    if first is None:
        chosen = next((q for q in questions if q.answer.drawing is not None), next(iter(questions), None))
        if chosen is None:
            return None
        first = chosen.answer
    # an answer at the top is not shown a second time below
    own = next((question for question in questions if question.answer == first), None)
    if own is not None:
        top_question = own.question_id
        if top is None and title_of and top_question != title_of:
            title, kicker = own.text, kicker if kicker != title else brand
        questions = tuple(question for question in questions if question is not own)
    shown = next((question for question in questions if question.answer.drawing is not None), None)
    if first.drawing is None and shown is not None:
        first = replace(first, drawing=shown.answer.drawing)
        bare = replace(shown, answer=replace(shown.answer, drawing=None))
        questions = tuple(bare if question is shown else question for question in questions)
    said = list(first.sentences[:_TOP_SENTENCES])
    for added in (question.answer.sentences[:1] for question in questions if question.answer.sentences):
        if len(said) == _TOP_SENTENCES or len(" ".join((*said, *added)).split()) > _TOP_WORDS:
            break
        said += added
    top_answer = replace(first, sentences=tuple(said))
    models = {record.subject for record in numbers.records}
    names = tuple((subject, title) for subject, title in numbers.titles.items() if subject in models)
    page = ResultsPage(title, kicker, brand, top_answer, questions, unanswered, top_question, names)
    return with_own_names(page)


def _short(text: str) -> str:
    """A short name for the strip of contents: the longest words of a question, as many as fit."""
    words = [word.strip("?,.:;()") for word in text.split()]
    longest = sorted(words, key=len, reverse=True)[:1]
    return longest[0][:_SHORT_WORDS].capitalize() if longest else "Question"
