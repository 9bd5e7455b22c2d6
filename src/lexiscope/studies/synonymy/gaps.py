"""Gap filling: does a subject produce a synonym when it is asked for one (§3.2, §4.2, Figures 2 and 3)?

Only live subjects that generate can answer: the predictions of the paper were not released.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lexiscope.analysis.bootstrap import GroupOf
from lexiscope.analysis.choices import gap_answers
from lexiscope.analysis.choices.gap_answers import GapHits, coding_results
from lexiscope.build.choice_items import CATEGORIES_OF_GAPS
from lexiscope.build.gap_filling.categories import CATEGORIES
from lexiscope.build.gap_filling.coding_sheet import (
    answers_to_code,
    proposed_categories,
    read_codings,
    write_coding_sheet,
)
from lexiscope.build.gap_filling.gaps import Answers, greedy_completions, sentences_of
from lexiscope.build.gap_filling.matching import AnswerRule, mark_completions
from lexiscope.core.errors import DataError
from lexiscope.core.result import Record
from lexiscope.core.showing import counted
from lexiscope.report.figures import Heading
from lexiscope.report.part import Remark
from lexiscope.report.parts import accuracy_tables as parts
from lexiscope.resources.lexicons import wordnet
from lexiscope.resources.lexicons.lexicon import Lexicon
from lexiscope.studies.kit.answered_pages import pages_beside_people
from lexiscope.studies.synonymy.accuracy import contrast_table
from lexiscope.studies.synonymy.data import TEXTS, SynonymyData
from lexiscope.tasks.gap_filling import TEN

CRITERIA: tuple[Answers, ...] = ("curated", "synset")
SHEET = "gap_coding.csv"
RIGHT = {"synset": ("correct",), "any": ("correct", "correct_not_in_synset")}
# no lexicon can tell that an answer is correct and not in the synset
PROPOSED = [category for category in CATEGORIES if category != "correct_not_in_synset"]


def gap_filling(run: SynonymyData) -> object:
    """Answer whether subjects produce a synonym: both criteria, one prediction and ten, and categories of errors."""
    items, order = run.asked.gap_items, [answers.title for answers in run.answers]
    # the synset is another criterion than the curated synonym only where items name synsets
    rules = [AnswerRule(criterion) for criterion in (CRITERIA if run.names_synsets else CRITERIA[:1])]
    every = [hit for rule in rules for hit in gap_answers.every_gap_hits(mark_completions(run.gaps, items, rule))]
    hits = [hit for hit in every if hit.top_k in (0, TEN.top_k)]
    sentences = GroupOf(sentences_of(items), "sentences")
    results = [run.about(gap_answers.gap_accuracy(hit, clusters=sentences, **run.resampling)) for hit in hits]
    tests = run.about_all(gap_answers.gap_contrasts(hits, clusters=sentences, **run.resampling))
    (rule,), (caption,) = TEXTS["rule of gap filling"], TEXTS["caption of gap filling"]
    rule = rule.format(prompt=run.asked.prompt(mode=run.settings.mode))
    title = "Gap filling: contrasts, t as in Ivan et al. (2025), and McNemar's exact test"
    heading = Heading("figure_2_gap_filling", "2", "Gap filling: items with an accepted answer", caption)
    names = run.result_labels(results)
    tables = parts.gap_accuracy_table(hits, results, names=names), contrast_table(run, "gap_contrasts", title, tests)
    figure = parts.gap_accuracy_figure(results, heading, names=names, order=order) if results else None
    return results, tests, tables, figure, rule, _sweep(run, every), _errors(run), _codings(run)


def beside_people(run: SynonymyData) -> object:
    """Return people's forced choices and gap answers, with models on the same items; how chat models use the order."""
    asked = run.asked.pages, run.asked.gap_items
    results = run.about_all(pages_beside_people(run.people, run.told, *asked, run.answers, run.gaps, **run.resampling))
    return results, parts.beside_people_table(results, names=run.result_labels(results)) if results else None


def _sweep(run: SynonymyData, hits: Sequence[GapHits]) -> object:
    """The same over values of top-k (§6), if there are several."""
    sentences = GroupOf(sentences_of(run.asked.gap_items), "sentences")
    results = run.about_all(gap_answers.top_k_results(hits, clusters=sentences, **run.resampling))
    names, title = run.result_labels(results), "Gap filling: contrasts between values of top-k"
    heading = Heading("gap_top_k", "", "Items with an accepted answer over top-k", "Bands: 95 % interval, sentences.")
    tests = [result for result in results if " vs top-k " in result.condition]
    contrasts = contrast_table(run, "gap_top_k_contrasts", title, tests) if tests else None
    figure = parts.top_k_figure(results, heading, names=names)
    return results, parts.top_k_table(results, names=names), contrasts, figure


def _errors(run: SynonymyData) -> object:
    """The error categories that WordNet proposes for the greedy predictions."""
    greedy, items = greedy_completions(run.gaps), run.asked.gap_items
    if not len(greedy) or CATEGORIES_OF_GAPS in run.omitted:
        return None
    lexicon = _lexicon_or_error()
    if isinstance(lexicon, DataError):
        return Remark(f"Error categories were not proposed: WordNet is not available ({lexicon.what}).")
    coded, unknown = proposed_categories(greedy, items, lexicon)
    (missing,), (caption,) = TEXTS["gaps without a category"], TEXTS["caption of categories"]
    if unknown:
        missing = missing.format(n=len(unknown), items=counted(len(items), "item"), first=unknown[0])
    heading = Heading("figure_3_gap_categories", "3", "Error categories of greedy predictions, as proposed", caption)
    sentences = GroupOf(sentences_of(items), "sentences")
    results = run.about_all(gap_answers.every_category_shares(coded, PROPOSED, clusters=sentences, **run.resampling))
    shown = parts.gap_categories(results, PROPOSED, heading, names=run.result_labels(results)) if results else None
    return results, shown, Remark(missing) if unknown else None


def _codings(run: SynonymyData) -> object:
    """What people coded on the sheet: the accuracy under each coding, and their agreement with each other and WordNet.

    Errors: those of :func:`~lexiscope.build.gap_filling.coding_sheet.read_codes`, for each sheet.
    """
    greedy, items = greedy_completions(run.gaps), run.asked.gap_items
    if not len(greedy) or not run.settings.codings:
        told = TEXTS["sheet of gaps"] if len(greedy) else ()
        return [text.format(sheet=SHEET, categories=", ".join(CATEGORIES)) for text in told]
    lexicon = None if CATEGORIES_OF_GAPS in run.omitted else _lexicon_or_error()
    codings = read_codings(run.settings.codings, greedy, items, None if isinstance(lexicon, DataError) else lexicon)
    results = run.about_all(coding_results(*codings, CATEGORIES, sentences_of(items), accepted=RIGHT, **run.resampling))
    return results, parts.coding_tables(results, names=run.result_labels(results))


def _lexicon_or_error() -> Lexicon | DataError:
    try:
        return wordnet.load()
    except DataError as error:
        return error


def write_sheet(run: SynonymyData, folder: Path, _records: tuple[Record, ...]) -> tuple[str, ...]:
    """Write the greedy predictions for people to code; return the name of the file, none where there are none."""
    greedy = greedy_completions(run.gaps)
    if not len(greedy):
        return ()
    write_coding_sheet(folder / SHEET, answers_to_code(greedy, run.asked.gap_items), proposals="hidden")
    return (SHEET,)
