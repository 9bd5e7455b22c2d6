"""The report of the study: what was asked, of whom, what came out, and what must be said against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import comb
from pathlib import Path

from lexiscope.core.result import Record, parse_statistic
from lexiscope.core.study import Question
from lexiscope.report.document import Section
from lexiscope.report.part import Part
from lexiscope.report.sections import asked_in, card_section, question_section, questions_table
from lexiscope.studies.synonymy.cells import ALONE, CORRECT_VS_RANDOM, INCORRECT_VS_RANDOM, RANDOM, Cell, cell_named
from lexiscope.studies.synonymy.material import Material
from lexiscope.studies.synonymy.published import versus
from lexiscope.studies.synonymy.settings import SynonymySettings

_DECIDED = (
    "A choice set is one right word and one or several others in the same text. The right word wins where its "
    "log-probability, under the stated policy, is strictly greater than that of every other; a tie counts as wrong and "
    "is reported. "
)
_PAPERS_CONDITIONS = (
    "Controlled: the synonym of the target's sense against a synonym of another sense (chance 1/2). "
    "Random: against {nouns} random nouns{one}. Without context the synonym and the distractor are each set against "
    "the random nouns; both must be the two best{of} for “both”{both}."
)
_OWN_CONDITIONS = (
    "Controlled: the right word against the wrong one (chance 1/2). Random: the right word against random words, of n "
    "words 1/n. In tables “synonym” is the right word and “distractor” the wrong one, whatever the relation; where "
    "each is set against the random words, “both” means that they are the best two. Words are inserted as they are: "
    "articles are put right in English only."
)
METHODS = (
    "Accuracies have a percentile bootstrap interval that resamples sentences, since one sentence may serve several "
    "items; the Wilson interval, which takes items as independent, is in results.json. Contrasts are paired t-tests on "
    "the 0/1 vectors, as in Ivan et al. (2025), with McNemar's exact test beside each.",
)
_ITEMS = (
    "Items are nouns of one corpus; some sentences and targets recur. Ten random nouns and one distractor differ in "
    "chance level and in difficulty. "
)
LIMITS = (
    "Random nouns may be rarer than synonyms: see the word-frequency baseline beside every random condition before "
    "reading it as knowledge of meaning.",
    "A mean per token rewards words that are cut into many predictable pieces; see the token effect and the other "
    "denominators.",
)
RECORDED = (
    "Recorded outcomes were made on the published texts, which have flaws (the article of an untouched context follows "
    "the inserted word, one context gives the answer away); live subjects in mode clean read repaired texts."
)


def built(
    material: Material, settings: SynonymySettings, questions: Sequence[Question], parts: Mapping[str, Part]
) -> tuple[Section, ...]:
    """Return the sections of the report; *parts* are the study's parts by name."""
    records = [record for part in parts.values() for record in part.records]
    questions = questions if material.design.is_papers else _own_questions(questions)
    results = _results(material, records)
    overview = questions_table(questions, results, parts, name="questions")
    sections = [
        Section("questions", "What was asked, and what came out", tables=(overview,)),
        _data(material, parts),
        Section("methods", "How it was computed", _methods(material, settings)),
    ]
    for question in questions:
        part = parts.get(question.question_id, Part())
        if part.tables or part.figures or part.paragraphs:
            texts = (*asked_in(question), *part.paragraphs, *dict.fromkeys(part.remarks))
            sections.append(question_section(question, texts, part))
    recorded = (RECORDED,) if material.of_kind("recorded") else ()
    ethics = (f"Ethics: {settings.ethics}",) if settings.ethics else ()
    items = () if material.own else (_ITEMS,)
    sections.append(Section("limits", "Limits", items + LIMITS + recorded + ethics))
    return tuple(sections)


_OWN_QUESTIONS = {
    "Q1": "Do models prefer the right word to the wrong one, and to random words?",
    "Q2": "Do they know the relation of two words without any context?",
    "Q3": "Do they produce the right word when they are asked for it?",
    "Q6": "Which expression of the relation works best, and does it work in both directions?",
}


def _own_questions(questions: Sequence[Question]) -> tuple[Question, ...]:
    """The questions of the study put to relations of the user's own, which no paper has asked."""
    return tuple(replace(each, text=_OWN_QUESTIONS.get(each.question_id, each.text), section="") for each in questions)


def _methods(material: Material, settings: SynonymySettings) -> tuple[str, ...]:
    conditions = _papers_conditions(material) if material.design.is_papers else _OWN_CONDITIONS
    return (_DECIDED + conditions, *METHODS, _settings_text(settings))


def _papers_conditions(material: Material) -> str:
    """The conditions of the paper's templates, with the chance that the random nouns of these items leave."""
    sizes = {
        outcome.n_options
        for answers in material.answers
        for cell, outcome in answers.outcomes.items()
        if cell.condition in (RANDOM, CORRECT_VS_RANDOM, INCORRECT_VS_RANDOM)
    }
    if not sizes:
        return _PAPERS_CONDITIONS.partition(" Random: ")[0]
    if len(sizes) > 1:
        return _PAPERS_CONDITIONS.format(nouns="the", one="", of="", both="")
    n = sizes.pop()
    both = f" (1/{comb(n + 1, 2)})"
    return _PAPERS_CONDITIONS.format(nouns=n - 1, one=f" (1/{n})", of=f" of {n + 1}", both=both)


def _data(material: Material, parts: Mapping[str, Part]) -> Section:
    inner = [card_section(material.card)]
    for name, title in (("collection", "The choice sets"), ("subjects", "Who answered, and how")):
        part = parts[name]
        inner.append(Section(name, title, part.paragraphs + part.remarks, part.tables, part.figures))
    return Section("asked", "What was asked, of whom", subsections=tuple(inner))


def _settings_text(settings: SynonymySettings) -> str:
    return (
        f"{settings.n_bootstrap} bootstrap resamples, seed {settings.seed}; texts in mode {settings.mode}; "
        f"log-probabilities divided by {settings.per} where they decide; gap filling: {settings.gap_filling}; "
        f"templates: {Path(settings.templates).name or 'those of Ivan et al. (2025)'}."
    )


def _results(material: Material, records: Sequence[Record]) -> dict[str, str]:
    """One line a question, of the numbers themselves."""
    found = {
        "Q1": _accuracy_words(material, records, material.design.controlled),
        "Q2": _accuracy_words(material, records, (ALONE,) if material.design.is_papers else material.design.alone),
        "Q3": _gap_words(material, records),
        "Q4": _token_words(records),
        "Q5": _consistency_words(material, records),
        "Q6": _expression_words(material, records),
    }
    return {question: text for question, text in found.items() if text}


def _accuracy_words(material: Material, records: Sequence[Record], cells: Sequence[Cell]) -> str:
    texts = []
    for answers in material.of_kind("recorded", "live"):
        values = [_value(records, answers.subject, cell) for cell in cells]
        if any(value is not None for value in values):
            texts.append(f"{answers.title} {' / '.join('—' if v is None else f'{v:.1f}' for v in values)}")
    names = " / ".join(cell.label for cell in cells)
    return f"{names}, %: {'; '.join(texts)}" if texts else ""


def _value(records: Sequence[Record], subject: str, cell: Cell) -> float | None:
    return next(
        (
            record.value
            for record in records
            if record.subject == subject
            and record.condition == cell.name
            and parse_statistic(record.statistic)[0] == "accuracy"
        ),
        None,
    )


def _gap_words(material: Material, records: Sequence[Record]) -> str:
    own = [record for record in records if parse_statistic(record.statistic)[0] == "gap_accuracy"]
    parts = []
    for record in own:
        given = parse_statistic(record.statistic)[1]
        fact = material.facts.get(record.subject)
        title = (fact.title if fact else "") or record.subject
        parts.append(f"{title}, {given['answers']}, {_predictions(given['n'])}: {record.value:.1f} %")
    return "; ".join(parts)


def _predictions(n: str) -> str:
    return "one prediction" if n == "1" else f"any of {n} predictions"


def _token_words(records: Sequence[Record]) -> str:
    own = [record for record in records if record.statistic == "follows_delta"]
    following = [record for record in own if record.note.startswith("right more often")]
    if not own:
        return "no token counts of a live subject" if records else ""
    return f"decisions follow the token delta in {len(following)} of {len(own)} cells of live subjects"


def _consistency_words(material: Material, records: Sequence[Record]) -> str:
    pairs = material.design.consistency
    if not pairs:
        return ""
    _, first, second = pairs[0]
    condition = versus(first, second)
    titles = {answers.subject: answers.title for answers in material.answers}
    own = [r for r in records if r.statistic == "given(a=1,b=1)" and r.condition == condition and r.value is not None]
    listed = "; ".join(f"{titles[record.subject]} {record.value:.2f}" for record in own)
    said = "relation right given substitution right" if material.design.is_papers else _given(first, second)
    return f"{said}: {listed}" if own else ""


def _expression_words(material: Material, records: Sequence[Record]) -> str:
    titles = {answers.subject: answers.title for answers in material.answers}
    named = [record for record in records if record.statistic == "best_expression"]
    wanted = "relation/controlled" if material.design.is_papers else next((r.condition for r in named), "")
    own = [record for record in named if record.condition == wanted]
    listed = "; ".join(f"{titles[record.subject]} {record.note}" for record in own)
    where = "with context, controlled" if material.design.is_papers else cell_named(wanted).label if own else ""
    return f"{where}: {listed}" if own else ""


def _given(first: Cell, second: Cell) -> str:
    return f"{second.label} right, given {first.label} right"
