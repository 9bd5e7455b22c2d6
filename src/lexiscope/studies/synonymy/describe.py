"""What was asked, of whom, how it was scored, and under which licences; words that a person should look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.core.result import Record
from lexiscope.items.flagged import FLAGGED_WORDS, flagged_words, read_words
from lexiscope.report.part import Part
from lexiscope.report.tables import INTEGER, Column, Missing, Table
from lexiscope.report.tables import Cell as TableCell
from lexiscope.studies.synonymy.cells import Cell, cell_of, ordered
from lexiscope.studies.synonymy.material import Material
from lexiscope.studies.synonymy.settings import SynonymySettings


def collection(material: Material, settings: SynonymySettings) -> Part:
    """Return counts of the collection, the cells of the design, and the sentences with flagged words."""
    flagged = _flagged(material, settings)
    numbers = {
        "n_items": len(material.numbers),
        "n_sentences": len(set(material.sentences)),
        "n_choice_sets": len(material.items),
        "n_flagged": len(flagged),
    }
    records = tuple(Record(name, float(value), dataset=material.name) for name, value in numbers.items())
    counted = {cell: [item for item in material.items if cell_of(item) == cell] for cell in _asked(material)}
    columns = (
        Column("Cell"),
        Column("Choice sets", INTEGER),
        Column("Options", INTEGER),
        Column("Example: the right option's text"),
    )
    rows = tuple(
        (cell.label, len(items), max(len(item.options) for item in items), items[0].usages[0].text)
        for cell, items in counted.items()
    )
    table = Table("design_cells", "", "What was asked: the cells of the design", columns, rows)
    clusters = (
        f"{numbers['n_items']} items stand in {numbers['n_sentences']} distinct sentences; intervals resample "
        "sentences. Texts are in the mode "
        f"{material.mode!r}" + (": the published texts repaired." if material.mode == "clean" else ", flaws included.")
    )
    if material.own:
        clusters = clusters.partition(" Texts are")[0]
    tables = (table, *_left_out_table(material), *_flagged_table(flagged, settings))
    return Part(records, tables, paragraphs=(clusters,))


def _left_out_table(material: Material) -> tuple[Table, ...]:
    """Which analyses do not apply to a user's own items or templates, and why."""
    if not material.own:
        return ()
    columns = (Column("Analysis"), Column("Why it is left out"))
    rows = (("Comparison with the paper's numbers", _NOT_COMPARED), *material.left_out, *_unanswered(material))
    return (Table("left_out", "", "What does not apply to these items", columns, rows),)


_NOT_COMPARED = "The items or the templates are not the paper's."


_NO_PAIRS = {
    "contrasts_suites": ("Contrasts between suites", "No two suites have a condition in common."),
    "contrasts_conditions": ("Contrasts between conditions", "Every suite has one condition."),
    "contrasts_context": (
        "With context against without",
        "No relation is asked with context (random) and, under the same expression, without (correct_vs_random).",
    ),
    "contrasts_expressions": ("Which expression works best", "No suite has two expressions of its relation."),
}


def _unanswered(material: Material) -> Iterator[tuple[str, str]]:
    """Which analyses the cells and the answers leave out."""
    cells = set(material.cells)
    for family in material.design.families:
        if not any(cells.issuperset(pair) for pair in family.pairs):
            yield _NO_PAIRS[family.name]
    if not any(cells.issuperset(pair) for _, *pair in material.design.consistency):
        yield "Consistency of two tests", "There is one test."
    if not _counts_tokens(material):
        yield "The effect of tokens", "No subject told how many tokens the words have in their texts."


def _counts_tokens(material: Material) -> bool:
    live = material.of_kind("live")
    return any(not np.isnan(outcome.delta).any() for answers in live for outcome in answers.outcomes.values())


def _asked(material: Material) -> tuple[Cell, ...]:
    return ordered(cell_of(item) for item in material.items)


def _flagged(material: Material, settings: SynonymySettings) -> dict[str, tuple[str, ...]]:
    """The flagged words of each sentence and its options, by sentence."""
    words = read_words(Path(settings.word_list)) if settings.word_list else FLAGGED_WORDS
    found: dict[str, dict[str, None]] = {}
    for item in material.items:
        for usage in item.usages:
            for word in flagged_words(usage.text, words):
                found.setdefault(str(item.conditions["sentence"]), {})[word] = None
    return {sentence: tuple(each) for sentence, each in sorted(found.items())}


def _flagged_table(flagged: Mapping[str, tuple[str, ...]], settings: SynonymySettings) -> tuple[Table, ...]:
    source = Path(settings.word_list).name if settings.word_list else "a short English list of ours, blind to senses"
    columns = (Column("Sentence"), Column("Words"))
    rows: list[tuple[TableCell, ...]] = [(sentence, ", ".join(words)) for sentence, words in flagged.items()]
    note = f"By {source}. Flagged, not dropped: look at these texts before people are shown them."
    title = "Sentences with a word that a person should look at, in the sentence or among its options"
    return (Table("flagged_words", "", title, columns, tuple(rows), (note,)),) if rows else ()


def subjects(material: Material) -> Part:
    """Return who answered, with policy, tokens, route and self-test, and the licences."""
    tables = [_registry(material)]
    if material.routes:
        tables.append(_scoring(material))
    columns = (Column("What"), Column("Licence"))
    rows = tuple((what, licence) for what, licence in material.licences)
    models = tuple((answers.title, _licence_of(material, answers.subject)) for answers in material.of_kind("live"))
    note = "A model's licence is its publisher's; Lexiscope does not know it. Read its card before publishing results."
    tables.append(Table("licences", "", "Licences of data and models", columns, rows + models, (note,)))
    return Part(tables=tuple(tables), paragraphs=_policies(material), remarks=material.remarks)


def _licence_of(material: Material, subject: str) -> TableCell:
    fact = material.facts.get(subject)
    return Missing(f"Not known to Lexiscope: see the card of {fact.title or subject}." if fact else "Not known.")


def _policies(material: Material) -> tuple[str, ...]:
    texts = [f"{answers.title}: decided by {answers.measure}." for answers in material.of_kind("live", "baseline")]
    if material.of_kind("recorded"):
        texts.append(
            "Recorded outcomes were decided by the authors, on the published texts: mean log-probability over tokens "
            "2 to n of the whole text, no beginning-of-sequence token (the policy `published`)."
        )
    return tuple(texts)


def _registry(material: Material) -> Table:
    columns = (
        Column("Subject"),
        Column("Kind"),
        Column("Parameters", INTEGER),
        Column("Layers", INTEGER),
        Column("Revision"),
        Column("Cells answered", INTEGER),
    )
    rows = []
    for answers in material.answers:
        fact = material.facts.get(answers.subject)
        known = (fact.n_parameters or None, fact.n_layers, fact.revision[:12]) if fact else (None, None, "")
        rows.append((answers.title, answers.kind, *known, len(answers.outcomes)))
    return Table("subjects", "", "Who answered", columns, tuple(rows))


def _scoring(material: Material) -> Table:
    columns = (
        Column("Subject"),
        Column("Policy"),
        Column("Route", note="How texts that begin alike were computed; the fastest that gives the plain scores."),
        Column("Refused", note="Why a faster route was not used."),
        Column("Tokens scored", INTEGER),
        Column("Tokens read", INTEGER),
        Column("Self-test", note="Does it prefer texts to their own words shuffled?"),
    )
    rows = tuple(_route_row(material, route) for route in material.routes)
    return Table("scoring", "", "How live subjects scored", columns, rows)


def _route_row(material: Material, route: Mapping[str, Any]) -> tuple[TableCell, ...]:
    tested = material.responses.where(subject_id=route["subject"], measure="self_test_margin")
    said = [text for text in tested.column("raw").tolist() if text]
    titles = {answers.subject: answers.title for answers in material.answers}
    return (
        titles.get(route["subject"], route["subject"]),
        str(route.get("policy", "")),
        str(route.get("route", "")),
        str(route.get("refused", "")),
        route.get("tokens"),
        route.get("tokens_read"),
        said[0] if said else Missing("This subject scores no texts."),
    )
