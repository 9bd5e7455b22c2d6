"""The report of the study: what was asked of which vectors, what came out, what was left out and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lexiscope.core.study import Question
from lexiscope.report.document import Section
from lexiscope.report.part import Part
from lexiscope.report.sections import asked_in, card_section, question_section, questions_table
from lexiscope.report.sense_explorer import Exploration
from lexiscope.report.tables import Column, Table
from lexiscope.studies.sense_induction import contrast, judged, recovery, same_sense, similarity, trainings
from lexiscope.studies.sense_induction.explored import explorer_sections
from lexiscope.studies.sense_induction.material import LeftOut, Material
from lexiscope.studies.sense_induction.settings import SenseInductionSettings
from lexiscope.tasks.relatedness.by_sense import AVG_SIM_C, MAX_SIM

METHODS = (
    "MaxSim of two words is the highest cosine of a sense of the one with a sense of the other, AvgSim the mean "
    "over all pairs of senses. MaxSimC of two usages is the cosine of the senses that are most probable in their "
    "contexts, AvgSimC the mean of all cosines weighted with the probabilities of both contexts: the full sum "
    "over K × K. Guo et al. (2018) print the sum over j ≥ i, which depends on the order of usages and senses; it has "
    "its own column.",
    "A sense's probability is softmax(c̄·s) over the senses of a word, c̄ the mean context vector of the known "
    "words in the window. Vectors of other programs choose the sense whose vector is nearest to the mean of the "
    "context; its probability is 1, so that their AvgSimC is their MaxSimC.",
    "A word is looked up in the form in which it stands. Pairs with a word out of the vocabulary are counted as "
    "not covered; correlations are over covered pairs, and beside them over all.",
    "In pairs of usages that have the same meaning or not, the answer is 'the same' where the most probable sense "
    "is the same one. Where the usages have two forms of a word, both are looked up in the form of the lemma, since "
    "senses belong to forms. What identity cannot decide is answered at random, with a seed, and counted.",
)
OF_RATINGS = (
    "Correlations with ratings of similarity say little of single senses: vectors with one sense for a word do "
    "well. That is what the tests with people, and planted senses, are for.",
    "Published sets of ratings are small and old, and share words. A difference within the intervals is none.",
)


def built(
    material: Material,
    settings: SenseInductionSettings,
    questions: Sequence[Question],
    parts: Mapping[str, Part],
    left_out: Sequence[LeftOut],
    explored: Sequence[Exploration] = (),
) -> tuple[Section, ...]:
    """Return the sections of the report; *parts* are the study's parts by name, *explored* the senses of words."""
    overview = questions_table(questions, _results(material, parts), parts, name="questions")
    sections = [
        Section("questions", "What was asked, and what came out", tables=(overview,)),
        _vectors(parts),
        Section("methods", "How it was computed", (*METHODS, _settings_text(settings))),
    ]
    for question in questions:
        part = parts.get(question.question_id, Part())
        if part.tables or part.figures or part.paragraphs:
            sections.append(question_section(question, (*asked_in(question), *part.paragraphs), part))
    sections += explorer_sections(explored)
    if left_out:
        sections.append(Section("left_out", "What was left out, and why", tables=(left_out_table(material, left_out),)))
    sections.append(_data(material))
    ethics = (f"Ethics: {settings.ethics}",) if settings.ethics else ()
    sections.append(
        Section("limits", "Limits", (OF_RATINGS if any(len(each.ratings) for each in material.sets) else ()) + ethics)
    )
    return tuple(sections)


def left_out_table(material: Material, left_out: Sequence[LeftOut]) -> Table:
    """Return what is not in the run, of which vectors, and why."""
    columns = (Column("What"), Column("Of"), Column("Why it is not in this run"))
    rows = tuple((each.analysis, material.title_of(each.subject) or "all", each.reason) for each in left_out)
    return Table("left_out", "", "Analyses and sets that are not in this run", columns, rows)


def _vectors(parts: Mapping[str, Part]) -> Section:
    part = parts["vectors"]
    return Section("vectors", "The vectors", part.paragraphs, part.tables, part.figures)


def _data(material: Material) -> Section:
    cards = {each.card.name: each.card for each in material.sets if each.card is not None}
    inner = [card_section(card, section_id=f"data_{number}") for number, card in enumerate(cards.values(), start=1)]
    return Section("data", "The sets of pairs", subsections=tuple(inner))


def _settings_text(settings: SenseInductionSettings) -> str:
    return f"{settings.n_bootstrap} bootstrap resamples, seed {settings.seed}."


def _results(material: Material, parts: Mapping[str, Part]) -> dict[str, str]:
    """One line a question, of the numbers themselves."""
    of = {name: part.records for name, part in parts.items()}
    found = {
        "Q1": similarity.result_words(material, of["Q1"], MAX_SIM),
        "Q2": similarity.result_words(material, of["Q2"], AVG_SIM_C),
        "Q3": same_sense.result_words(material, of["Q3"]),
        "Q4": recovery.result_words(material, of["Q4"]),
        "Q5": " ".join(parts["Q5"].paragraphs[:1])
        or trainings.result_words(material, of["Q5"], "noise_sd", "SD of the noise at the end of training")
        or ("See the figures." if parts["Q5"].figures else ""),
        "Q6": trainings.result_words(material, of["Q6"], "senses_per_word", "senses of a word, mean"),
        "Q7": judged.result_words(material, of["Q7"]),
        "Q8": contrast.result_words(parts["Q8"]),
    }
    return {question: text for question, text in found.items() if text}
