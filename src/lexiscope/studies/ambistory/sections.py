"""The report of the study: what was asked, of whom, what came out, and what must be said against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lexiscope.core.result import Record
from lexiscope.core.study import Question
from lexiscope.report.document import Section
from lexiscope.report.part import Part
from lexiscope.report.sections import asked_in, card_section, question_section, questions_table, subjects_table
from lexiscope.report.tables import Column, Table
from lexiscope.studies.ambistory import effects, kinds, models, people
from lexiscope.studies.ambistory.material import Material
from lexiscope.studies.ambistory.published import STATEMENTS
from lexiscope.studies.ambistory.settings import AmbistorySettings

METHODS = (
    "A sample is one meaning of a homonym, judged in one story from 1 (not plausible at all) to "
    "5 (the only plausible meaning). The mean rating is the sum over the count, its SD has n − 1. Nothing is filtered. "
    "Subjects are asked the question that people were asked, one sample at a time, without row numbers, ids, or the "
    "other meaning of the story.",
    "Correlations are Spearman's, with average ranks. Intervals of subjects resample words, those of alpha setups: "
    "samples of one word are not independent. Rank tests take samples as independent, as in Gehring & Roth (2025).",
)
LIMITS = (
    "The two meanings of a story are not a distribution: both can be plausible, and both can be not. A system that "
    "reads both meanings of a story, or its place in the setup, sees more than any rater did.",
    "Accuracy within SD has a wide threshold where people disagree; there nearly every prediction is right.",
)
OF_AMBISTORY = (
    "Five or six people judged each sample. Ties among the mean ratings are many (38 distinct values).",
    "Words come from puns; writers and raters were crowd workers, nine in ten of them from the United Kingdom; the "
    "precontexts are a language model's. Models may have read the released files: a high score is no proof of "
    "understanding.",
)


def built(
    material: Material, settings: AmbistorySettings, questions: Sequence[Question], parts: Mapping[str, Part]
) -> tuple[Section, ...]:
    """Return the sections of the report; *parts* are the study's parts by name."""
    overview = questions_table(questions, _results(material, parts), parts, name="questions")
    sections = [
        Section("questions", "What was asked, and what came out", tables=(overview,)),
        _data(material, parts),
        Section("methods", "How it was computed", (*METHODS, _settings_text(material, settings))),
    ]
    for question in questions:
        part = parts.get(question.question_id, Part())
        if part.tables or part.figures or part.paragraphs or part.remarks:
            texts = (*asked_in(question), *part.paragraphs, *dict.fromkeys(part.remarks))
            sections.append(question_section(question, texts, part))
    cases = parts.get("cases", Part())
    if cases.tables or cases.remarks:
        sections.append(Section("cases", "Single samples", cases.paragraphs + cases.remarks, cases.tables))
    if material.name == "ambistory":
        sections.append(Section("statements", "What the paper says and the data do not", tables=(_statements(),)))
    of_data = OF_AMBISTORY if material.name == "ambistory" else ()
    ethics = (f"Ethics: {settings.ethics}",) if settings.ethics else ()
    sections.append(Section("limits", "Limits", LIMITS + of_data + ethics))
    return tuple(sections)


def _data(material: Material, parts: Mapping[str, Part]) -> Section:
    inner = [card_section(material.card)]
    stories = parts["stories"]
    inner.append(Section("stories", "The stories", stories.paragraphs + stories.remarks, stories.tables))
    if material.facts:
        table = subjects_table(tuple(material.facts.values()))
        inner.append(Section("subjects", "Who was asked", material.remarks, (table,)))
    return Section("asked", "What was asked, of whom", subsections=tuple(inner))


def _settings_text(material: Material, settings: AmbistorySettings) -> str:
    return (
        f"{settings.n_bootstrap} bootstrap resamples, seed {settings.seed}. Live subjects were asked the "
        f"{len(material.asked)} samples of: {material.split}."
    )


def _statements() -> Table:
    columns = (Column("Said in the paper"), Column("What the released data say"))
    return Table("statements", "", "Statements that the data do not support as worded", columns, STATEMENTS)


def _results(material: Material, parts: Mapping[str, Part]) -> dict[str, str]:
    """One line a question, of the numbers themselves."""

    def of(name: str) -> tuple[Record, ...]:
        return parts.get(name, Part()).records

    found = {
        "Q1": people.result_words(of("Q1")),
        "Q2": effects.ending_words(of("Q2")),
        "Q3": effects.scale_words(of("Q3")),
        "Q4": models.result_words(material, of("Q4")),
        "Q5": kinds.result_words(of("Q5")),
        "Q6": kinds.tuning_words(of("Q6")),
    }
    return {question: text for question, text in found.items() if text}
