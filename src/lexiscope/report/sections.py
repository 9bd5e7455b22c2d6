"""The parts that every results section has: data, subjects, filters, ceilings, missing answers, questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lexiscope.core.dataset import DatasetCard, SubjectFacts
from lexiscope.core.errors import InputError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Estimate
from lexiscope.core.showing import counted, enumerated
from lexiscope.core.study import CollectionPlan, Deviation, Question
from lexiscope.report.document import Paragraph, Section
from lexiscope.report.part import Part, join_parts
from lexiscope.report.tables import INTEGER, Cell, Column, Format, Head, Missing, Table, columns, drop_empty, table_of


def paid_caution(counts: Mapping[str, int]) -> str:
    """Return the caution on requests that may have been paid without a reply, by subject; empty without any.

    >>> paid_caution({"chat:m@http://h/v1": 2})
    'Caution: 2 requests to chat:m@http://h/v1 may have been paid without a reply.'
    """
    if not counts:
        return ""
    parts = enumerated([f"{counted(count, 'request')} to {subject}" for subject, count in counts.items()])
    return f"Caution: {parts} may have been paid without a reply."


@dataclass(frozen=True, slots=True)
class FilterStep:
    """One filter: its rule as text, what it counts (trials, participants, items), and how many went in and out."""

    rule: str
    unit: str
    before: int
    after: int


_FACTS: Mapping[Head, Callable[[SubjectFacts], Cell]] = {
    "Subject": lambda facts: facts.title or facts.subject_id,
    "Model": lambda facts: facts.subject_id,
    "Kind": lambda facts: facts.kind,
    "Family": lambda facts: facts.family,
    "Languages": lambda facts: "multilingual" if facts.multilingual else ", ".join(facts.languages),
    ("Layers", INTEGER): lambda facts: facts.n_layers,
    ("Width", INTEGER): lambda facts: facts.width,
    Column("Parameters", INTEGER, note="Counted from the weights if they are installed, otherwise as published."): (
        lambda facts: facts.n_parameters
    ),
    "Tokenizer": lambda facts: facts.tokenizer,
    "Objective": lambda facts: facts.objective,
    "Training text": lambda facts: facts.corpus,
    "Revision": lambda facts: facts.revision,
}


def subjects_table(
    facts: Sequence[SubjectFacts],
    *,
    name: str = "subjects",
    number: str = "",
    title: str = "Subjects",
    without: Sequence[str] = ("Model", "Objective", "Training text"),
) -> Table:
    """Return what is known of the subjects; the columns in *without* and those without content are omitted."""
    cells = {head: cell for head, cell in _FACTS.items() if head not in without}
    return drop_empty(table_of(name, title, facts, cells, number=number))


def subject_counts(facts: Iterable[SubjectFacts]) -> dict[str, Estimate]:
    """Return how many subjects there are of each kind, by its label: family, multilingual or not, both, layers.

    >>> counts = subject_counts([SubjectFacts("a", family="BERT", n_layers=12), SubjectFacts("b", family="BERT")])
    >>> {label: count.value for label, count in counts.items()}["family: BERT"]
    2
    """
    listed = list(facts)
    flags = [f"multilingual={bool(of.multilingual)}" for of in listed]
    families = [f"family={of.family}" for of in listed]
    both = [f"{family} {flag}" for family, flag in zip(families, flags, strict=True)]
    counts = Counter([*flags, *families, *both, *(f"layers={of.n_layers}" for of in listed)])
    return {
        condition.replace("=", ": "): Estimate("n_models", count, condition=condition)
        for condition, count in sorted(counts.items())
    }


def tokens_table(
    counts: Mapping[tuple[str, str], Sequence[Estimate]],
    titles: Mapping[str, str],
    *,
    name: str = "tokens",
    number: str = "",
) -> Table:
    """Return how subjects' tokenizers cut pairs of sentences, by subject and view; views that agree are one row."""
    rows: dict[tuple[Cell, ...], list[str]] = {}
    for (subject, view), results in counts.items():
        numbers = (result.value for result in results)
        rows.setdefault((titles.get(subject, subject), *numbers), []).append(view)
    three = Format("number", 3)
    heads = columns(
        *("Subject", "View"),
        Column("Difference, mean", three, note="tokens by which the two sentences of a pair differ"),
        *(("Mode", INTEGER), ("Max", INTEGER)),
        Column("Target tokens", three, note="mean over distinct words"),
        ("… over pairs", three),
    )
    cells = tuple((row[0], ", ".join(views), *row[1:]) for row, views in rows.items())
    return Table(name, number, "How the subjects' tokenizers cut the stimuli", heads, cells)


def filters_table(steps: Sequence[FilterStep], *, name: str = "filters") -> Table:
    """Return the counts in and out of every filter, in the order of application.

    Errors: :class:`InputError` where a filter lets out more than went in.
    """
    grown = [step.rule for step in steps if step.after > step.before]
    if grown:
        raise InputError(f"a filter cannot add rows: {', '.join(grown)}")
    cells: Mapping[Head, Callable[[FilterStep], Cell]] = {
        "Filter": lambda step: step.rule,
        "Unit": lambda step: step.unit,
        ("In", INTEGER): lambda step: step.before,
        ("Out", INTEGER): lambda step: step.after,
        ("Excluded", INTEGER): lambda step: step.before - step.after,
    }
    return table_of(name, "Counts in and out of every filter", steps, cells)


def scoring_table(routes: Sequence[Mapping[str, Any]], titles: Mapping[str, str], responses: ResponseTable) -> Table:
    """Return how live subjects scored texts: policy, route, tokens, self-test.

    *routes* are what the parts of a collection say of their subjects (:func:`lexiscope.collect.scoring_routes`);
    *titles* are by subject; *responses* are the answers, with those to the self-test.
    """
    tests = {row.subject_id: row.raw for row in reversed(list(responses.where(measure="self_test_margin").rows()))}
    untested = Missing("This subject scores no texts.")
    cells: Mapping[Head, Callable[[Mapping[str, Any]], Cell]] = {
        "Subject": lambda route: titles.get(route["subject"], route["subject"]),
        "Policy": lambda route: str(route.get("policy", "")),
        Column("Route", note="How texts that begin alike were computed; the fastest that gives the plain scores."): (
            lambda route: str(route.get("route", ""))
        ),
        Column("Refused", note="Why a faster route was not used."): lambda route: str(route.get("refused", "")),
        ("Tokens scored", INTEGER): lambda route: route.get("tokens"),
        ("Tokens read", INTEGER): lambda route: route.get("tokens_read"),
        Column("Self-test", note="Does it prefer texts to their own words shuffled?"): (
            lambda route: tests.get(route["subject"]) or untested
        ),
    }
    return table_of("scoring", "How live subjects scored", routes, cells)


def licences_table(data: Mapping[str, str], models: Mapping[str, SubjectFacts]) -> Table:
    """Return the licences of data by title, and whose card names those of models, by the name they are shown by."""
    rows: list[tuple[Cell, ...]] = [*data.items()]
    for title, fact in models.items():
        card_of = fact.title or fact.subject_id
        rows.append((title, Missing(f"Not known to Lexiscope: see the card of {card_of}.")))
    note = "A model's licence is its publisher's; Lexiscope does not know it. Read its card before publishing results."
    return Table("licences", "", "Licences of data and models", columns("What", "Licence"), tuple(rows), (note,))


def flagged_table(flagged: Mapping[str, Sequence[str]], source: str = "") -> Table:
    """Return the flagged words of sentences (:func:`lexiscope.items.check.rows.flagged_sentences`).

    *source* is the file of the list of words; without one it is that of the package.
    """
    note = (
        f"By {source or 'a short English list of ours, blind to senses'}. Flagged, not dropped: look at these texts "
        "before people are shown them."
    )
    rows = tuple((sentence, ", ".join(words)) for sentence, words in flagged.items())
    title = "Sentences with a word that a person should look at, in the sentence or among its options"
    return Table("flagged_words", "", title, columns("Sentence", "Words"), rows, (note,))


def questions_table(
    questions: Sequence[Question], results: Mapping[str, str], parts: Mapping[str, Part], *, name: str = "questions"
) -> Table:
    """Return the research questions with their result as text and their flag (SAW-C, Table 1)."""

    def result_of(question: Question) -> Cell:
        part = parts.get(question.question_id, Part())
        missing = "No single result: see the section of the question."
        return results.get(question.question_id) or Missing(
            missing if part.tables or part.figures else "Not analysed in this run."
        )

    cells: Mapping[Head, Callable[[Question], Cell]] = {
        "Question": lambda question: question.text,
        "Asked in": lambda question: question.section,
        "Analysis": lambda question: str(question.analysis),
        "Result": result_of,
    }
    return drop_empty(table_of(name, "Research questions", questions, cells))


def asked_in(question: Question) -> tuple[str, ...]:
    """Return the sentence that names the place of a question in its paper; none if it has no place there.

    >>> asked_in(Question("Q1", "Do people agree?", "§5.1")), asked_in(Question("Q1", "Do people agree?", ""))
    (('Asked in §5.1.',), ())
    """
    if not question.section or question.section.startswith("not in"):
        return ()
    return (f"Asked in {question.section}.",)


def plan_sections(plan: CollectionPlan | None) -> tuple[Section, ...]:
    """Return the section on the plan that was signed for the answers: who, when, what deviates; none without a plan."""
    if plan is None:
        return ()
    cells: Mapping[Head, Callable[[Deviation], Cell]] = {
        "About": lambda deviation: deviation.about,
        "Planned": lambda deviation: deviation.planned,
        "Done": lambda deviation: deviation.done,
    }
    tables = (table_of("deviations", "Deviations from the plan", plan.deviations, cells),) if plan.deviations else ()
    none = () if tables or plan.refused else ("The collection and this run follow the plan.",)
    return (Section("plan", "The plan", (plan.said(), *none), tables),)


def question_section(question: Question, texts: Sequence[Paragraph], part: Part) -> Section:
    """Return the section of a question: its sentences, the tables and figures of its part, its mark.

    Its id is the question's in lower case: results that no table shows are added to the section by this id.
    """
    title = question.text.rstrip("?")
    return Section(question.question_id.lower(), title, tuple(texts), part.tables, part.figures, flag=question.analysis)


def omissions_section(parts: Iterable[Part]) -> Section | None:
    """Return the section with the analyses that are not in a run, and why; ``None`` if there are none."""
    omissions = tuple(dict.fromkeys(join_parts(parts).omissions))
    heads = columns("What", "Of", "Why it is not in this run")
    rows = tuple((omission.analysis, omission.subject or "all", omission.reason) for omission in omissions)
    table = Table("left_out", "", "Analyses and sets that are not in this run", heads, rows)
    return Section("left_out", "Excluded data", tables=(table,)) if rows else None


def card_section(card: DatasetCard, *, section_id: str = "data") -> Section:
    """Return the section on a dataset: what it is, its counts, source, version, licence and remarks."""
    facts = (
        ("Language", card.language),
        ("Version", card.version),
        ("Licence", card.licence),
        ("Source", card.source),
        ("How to obtain it", card.how_to_obtain),
        *((name, f"{count:,}") for name, count in card.counts),
    )
    rows = tuple(fact for fact in facts if fact[1])
    table = Table(f"card_{section_id}", "", f"{card.title}: card", columns("Field", "Content"), rows)
    paragraphs = (card.summary, card.citation, *card.remarks)
    return Section(section_id, f"Data: {card.title}", tuple(text for text in paragraphs if text), (table,))
