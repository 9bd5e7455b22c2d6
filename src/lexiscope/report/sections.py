"""The parts that every results section has: data, subjects, filters, ceilings, missing answers, questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lexiscope.analysis.choices.tokenisation import TokenisationReport
from lexiscope.core.dataset import DatasetCard, SubjectFacts
from lexiscope.core.errors import InputError
from lexiscope.core.response import ResponseTable
from lexiscope.core.study import Question
from lexiscope.report.document import Paragraph, Section
from lexiscope.report.part import Part, joined
from lexiscope.report.tables import INTEGER, Cell, Column, Format, Missing, Table


@dataclass(frozen=True, slots=True)
class FilterStep:
    """One filter: its rule in words, what it counts (trials, participants, items), and how many went in and out."""

    rule: str
    unit: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class AnswerCount:
    """How many answers a subject was asked for, gave, and gave unreadably (refusals, off the scale)."""

    subject: str
    asked: int
    answered: int
    unreadable: int = 0


_FACTS: Mapping[Column, Callable[[SubjectFacts], Cell]] = {
    Column("Subject"): lambda facts: facts.title or facts.subject_id,
    Column("Model"): lambda facts: facts.subject_id,
    Column("Kind"): lambda facts: facts.kind,
    Column("Family"): lambda facts: facts.family,
    Column("Languages"): lambda facts: "multilingual" if facts.multilingual else ", ".join(facts.languages),
    Column("Layers", INTEGER): lambda facts: facts.n_layers,
    Column("Width", INTEGER): lambda facts: facts.width,
    Column("Parameters", INTEGER, note="Counted from the weights where they are at hand, else as published."): (
        lambda facts: facts.n_parameters
    ),
    Column("Tokenizer"): lambda facts: facts.tokenizer,
    Column("Objective"): lambda facts: facts.objective,
    Column("Training text"): lambda facts: facts.corpus,
    Column("Revision"): lambda facts: facts.revision,
}


def subjects_table(
    facts: Sequence[SubjectFacts],
    *,
    name: str = "subjects",
    number: str = "",
    title: str = "Subjects: who was asked",
    without: Sequence[str] = ("Model", "Objective", "Training text"),
) -> Table:
    """Return what is known of the subjects; the columns in *without* and those without content are omitted."""
    shown = {column: fact for column, fact in _FACTS.items() if column.header not in without}
    rows = tuple(tuple(fact(one) for fact in shown.values()) for one in facts)
    return drop_empty(Table(name, number, title, tuple(shown), rows))


def tokens_table(
    reports: Mapping[tuple[str, str], TokenisationReport],
    titles: Mapping[str, str],
    *,
    name: str = "tokens",
    number: str = "",
) -> Table:
    """Return how subjects' tokenizers cut pairs of sentences, by subject and view; views that agree are one row."""
    rows: dict[tuple[Cell, ...], list[str]] = {}
    for (subject, view), report in reports.items():
        numbers = (result.value for result in report.results())
        rows.setdefault((titles.get(subject, subject), *numbers), []).append(view)
    three = Format("number", 3)
    columns = (
        Column("Subject"),
        Column("View"),
        Column("Difference, mean", three, note="tokens by which the two sentences of a pair differ"),
        Column("Mode", INTEGER),
        Column("Max", INTEGER),
        Column("Target tokens", three, note="mean over distinct words"),
        Column("… over pairs", three),
    )
    cells = tuple((row[0], ", ".join(views), *row[1:]) for row, views in rows.items())
    return Table(name, number, "How the subjects' tokenizers cut the stimuli", columns, cells)


def filters_table(steps: Sequence[FilterStep], *, name: str = "filters", number: str = "") -> Table:
    """Return the counts in and out of every filter, in the order of application.

    Errors: :class:`InputError` where a filter lets out more than went in.
    """
    grown = [step.rule for step in steps if step.after > step.before]
    if grown:
        raise InputError(f"a filter cannot add rows: {', '.join(grown)}")
    columns = (
        Column("Filter"),
        Column("Unit"),
        Column("In", INTEGER),
        Column("Out", INTEGER),
        Column("Excluded", INTEGER),
    )
    rows = tuple((step.rule, step.unit, step.before, step.after, step.before - step.after) for step in steps)
    return Table(name, number, "Counts in and out of every filter", columns, rows)


def answers_table(counts: Sequence[AnswerCount], *, name: str = "answers", number: str = "") -> Table:
    """Return missing and unreadable answers per subject, as counts and as a share of what was asked."""
    columns = (
        Column("Subject"),
        Column("Asked", INTEGER),
        Column("Answered", INTEGER),
        Column("Unreadable", INTEGER, note="Refusals, answers off the scale, or with more than one number."),
        Column("Missing", INTEGER, note="Asked, but neither answered nor unreadable."),
        Column("Without value, %", Format(digits=1)),
    )
    rows = tuple((c.subject, c.asked, c.answered, c.unreadable, _missing(c), _share(c)) for c in counts)
    return Table(name, number, "Answers that are missing or could not be read", columns, rows)


def scoring_table(
    routes: Sequence[Mapping[str, Any]],
    titles: Mapping[str, str],
    responses: ResponseTable,
    *,
    name: str = "scoring",
    number: str = "",
) -> Table:
    """Return how live subjects scored texts: policy, route, tokens, self-test.

    *routes* are what the parts of a collection say of their subjects (:func:`lexiscope.collect.scoring_routes`);
    *titles* are by subject; *responses* are the answers, with those to the self-test.
    """
    columns = (
        Column("Subject"),
        Column("Policy"),
        Column("Route", note="How texts that begin alike were computed; the fastest that gives the plain scores."),
        Column("Refused", note="Why a faster route was not used."),
        Column("Tokens scored", INTEGER),
        Column("Tokens read", INTEGER),
        Column("Self-test", note="Does it prefer texts to their own words shuffled?"),
    )
    said = {row.subject_id: row.raw for row in reversed(list(responses.where(measure="self_test_margin").rows()))}
    rows = []
    for route in routes:
        subject, how = route["subject"], [str(route.get(key, "")) for key in ("policy", "route", "refused")]
        test = said.get(subject) or Missing("This subject scores no texts.")
        rows.append((titles.get(subject, subject), *how, route.get("tokens"), route.get("tokens_read"), test))
    return Table(name, number, "How live subjects scored", columns, tuple(rows))


def licences_table(
    data: Mapping[str, str], models: Mapping[str, SubjectFacts], *, name: str = "licences", number: str = ""
) -> Table:
    """Return the licences of data by title, and whose card names those of models, by the name they are shown by."""
    rows: list[tuple[Cell, ...]] = [*data.items()]
    for title, fact in models.items():
        card_of = fact.title or fact.subject_id
        rows.append((title, Missing(f"Not known to Lexiscope: see the card of {card_of}.")))
    note = "A model's licence is its publisher's; Lexiscope does not know it. Read its card before publishing results."
    columns = (Column("What"), Column("Licence"))
    return Table(name, number, "Licences of data and models", columns, tuple(rows), (note,))


def flagged_table(
    flagged: Mapping[str, Sequence[str]], source: str = "", *, name: str = "flagged_words", number: str = ""
) -> Table:
    """Return the flagged words of sentences (:func:`lexiscope.items.check.flagged.flagged_sentences`).

    *source* is the file of the list of words; without one it is that of the package.
    """
    note = (
        f"By {source or 'a short English list of ours, blind to senses'}. Flagged, not dropped: look at these texts "
        "before people are shown them."
    )
    rows = tuple((sentence, ", ".join(words)) for sentence, words in flagged.items())
    title = "Sentences with a word that a person should look at, in the sentence or among its options"
    return Table(name, number, title, (Column("Sentence"), Column("Words")), rows, (note,))


def questions_table(
    questions: Sequence[Question],
    results: Mapping[str, str],
    parts: Mapping[str, Part],
    *,
    name: str = "questions",
    number: str = "",
) -> Table:
    """Return the research questions with their result in words and their flag (SAW-C, Table 1)."""
    columns = (Column("Question"), Column("Asked in"), Column("Analysis"), Column("Result"))
    rows = tuple(
        (q.text, q.section, str(q.analysis), results.get(q.question_id) or _no_result(parts.get(q.question_id, Part())))
        for q in questions
    )
    return drop_empty(Table(name, number, "Research questions", columns, rows))


def _no_result(part: Part) -> Missing:
    analysed = part.tables or part.figures
    return Missing("No single result: see the section of the question." if analysed else "Not analysed in this run.")


def asked_in(question: Question) -> tuple[str, ...]:
    """Return the sentence that names the place of a question in its paper; none if it has no place there.

    >>> asked_in(Question("Q1", "Do people agree?", "§5.1")), asked_in(Question("Q1", "Do people agree?", ""))
    (('Asked in §5.1.',), ())
    """
    if not question.section or question.section.startswith("not in"):
        return ()
    return (f"Asked in {question.section}.",)


def question_section(question: Question, texts: Sequence[Paragraph], part: Part) -> Section:
    """Return the section of a question: what is said of it, the tables and figures of its part, its mark.

    Its id is the question's in lower case: results that no table shows are added to the section by this id.
    """
    title = question.text.rstrip("?")
    return Section(question.question_id.lower(), title, tuple(texts), part.tables, part.figures, flag=question.analysis)


def omissions_section(parts: Iterable[Part]) -> Section | None:
    """Return the section with the analyses that are not in a run, and why; ``None`` if there are none."""
    every = tuple(dict.fromkeys(joined(parts).omissions))
    heads = (Column("What"), Column("Of"), Column("Why it is not in this run"))
    rows = tuple((one.analysis, one.subject or "all", one.reason) for one in every)
    table = Table("left_out", "", "Analyses and sets that are not in this run", heads, rows)
    return Section("left_out", "What was left out, and why", tables=(table,)) if rows else None


def card_section(card: DatasetCard, *, section_id: str = "data") -> Section:
    """Return the section on a dataset: what it is, its counts, source, version, licence and remarks."""
    facts: list[tuple[Cell, ...]] = [
        (label, value)
        for label, value in (
            ("Language", card.language),
            ("Version", card.version),
            ("Licence", card.licence),
            ("Source", card.source),
            ("How to obtain it", card.how_to_obtain),
            *((name, f"{count:,}") for name, count in card.counts),
        )
        if value
    ]
    table = Table(f"card_{section_id}", "", f"{card.title}: card", (Column("Field"), Column("Content")), tuple(facts))
    paragraphs = (card.summary, card.citation, *card.remarks)
    return Section(section_id, f"Data: {card.title}", tuple(text for text in paragraphs if text), (table,))


def drop_empty(table: Table) -> Table:
    """Return the table without columns (after the first) in which no row has anything."""
    full = [i for i in range(len(table.columns)) if i == 0 or any(row[i] not in (None, "") for row in table.rows)]
    columns = tuple(table.columns[index] for index in full)
    rows = tuple(tuple(row[index] for index in full) for row in table.rows)
    return replace(table, columns=columns, rows=rows)


def _missing(count: AnswerCount) -> int:
    return count.asked - count.answered - count.unreadable


def _share(count: AnswerCount) -> Cell:
    return Missing("Nothing was asked.") if count.asked == 0 else 100 * (count.asked - count.answered) / count.asked
