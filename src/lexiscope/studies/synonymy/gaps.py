"""Gap filling: does a subject produce a synonym when it is asked for one (§3.2, §4.2, Figures 2 and 3)?

Only live subjects that generate can answer: the predictions of the paper were not released.
"""

from __future__ import annotations

from collections.abc import Sequence

from lexiscope.analysis.bootstrap import GroupOf
from lexiscope.analysis.choices.gap_answers import category_shares, every_gap_hits, gap_accuracy, gap_contrasts
from lexiscope.build.choice_items import CATEGORIES_OF_GAPS
from lexiscope.build.gap_filling.categories import CATEGORIES
from lexiscope.build.gap_filling.coding_sheet import proposed_categories
from lexiscope.build.gap_filling.gaps import Answers, gap_prompt, greedy_completions, sentences_of
from lexiscope.build.gap_filling.matching import AnswerRule, mark_completions
from lexiscope.core.errors import DataError
from lexiscope.core.result import Record, parse_statistic
from lexiscope.core.showing import counted
from lexiscope.report.figures import Heading
from lexiscope.report.part import Remark
from lexiscope.report.parts.accuracy_tables import (
    criterion_in_words,
    gap_accuracy_figure,
    gap_accuracy_table,
    gap_categories,
)
from lexiscope.resources.lexicons import wordnet
from lexiscope.studies.synonymy.accuracy import contrast_table
from lexiscope.studies.synonymy.data import SynonymyData

CRITERIA: tuple[Answers, ...] = ("curated", "synset")
# no lexicon can tell that an answer is correct and not in the synset
PROPOSED = [category for category in CATEGORIES if category != "correct_not_in_synset"]


def gap_filling(run: SynonymyData) -> object:
    """Answer whether subjects produce a synonym: both criteria, one prediction and ten, and categories of errors."""
    items, gap, order = run.asked.gap_items, run.asked.gap, [answers.title for answers in run.answers]
    assert gap is not None
    # the synset is another criterion than the curated synonym only where items name synsets
    rules = [AnswerRule(criterion) for criterion in (CRITERIA if run.names_synsets else CRITERIA[:1])]
    hits = [hit for rule in rules for hit in every_gap_hits(mark_completions(run.gaps, items, rule))]
    sentences, n, seed = GroupOf(sentences_of(items), "sentences"), run.settings.n_bootstrap, run.settings.seed
    results = [run.about(gap_accuracy(hit, clusters=sentences, resamples=n, seed=seed)) for hit in hits]
    tests = run.about_all(gap_contrasts(hits, clusters=sentences, resamples=n, seed=seed))
    rule = (
        f"Prompt: the sentence, a space, and “{gap_prompt('T', gap, mode=run.settings.mode)}”. A prediction is "
        "right if an accepted answer occurs in its decoded text at word boundaries, case ignored. With ten "
        "predictions one right one suffices. Curated: the item's right word (synonym); synset: any other lemma of the "
        "target's synset. Seeds are stored with every completion."
    )
    title = "Gap filling: contrasts, t as in Ivan et al. (2025), McNemar's exact test beside it"
    caption = "Bars: 95 % interval, over sentences. There is no chance level: the answer is produced, not chosen."
    heading = Heading("figure_2_gap_filling", "2", "Gap filling: items with an accepted answer", caption)
    names = run.result_labels(results)
    tables = gap_accuracy_table(hits, results, names=names), contrast_table(run, "gap_contrasts", title, tests)
    return results, tests, tables, gap_accuracy_figure(results, heading, names=names, order=order), rule, _errors(run)


def gap_words(run: SynonymyData, records: Sequence[Record]) -> str:
    """Return the accuracies in one line."""
    titles = run.labels_of(record.subject for record in records)
    return "; ".join(
        f"{titles[record.subject]}, {', '.join(criterion_in_words(record.statistic))}: {record.value:.1f} %"
        for record in records
        if parse_statistic(record.statistic)[0] == "gap_accuracy"
    )


def _errors(run: SynonymyData) -> object:
    """The error categories that WordNet proposes for the greedy predictions."""
    greedy, items = greedy_completions(run.gaps), run.asked.gap_items
    if not len(greedy) or CATEGORIES_OF_GAPS in run.omitted:
        return None
    try:
        lexicon = wordnet.load()
    except DataError as error:
        return Remark(f"Error categories were not proposed: WordNet is not available ({error.what}).")
    coded, unknown = proposed_categories(greedy, items, lexicon)
    text = (
        f"Error categories were proposed without {len(unknown)} of {counted(len(items), 'item')}, the first is "
        f"{unknown[0]}: the sense of its target is not known. A column sense_key in the collection names it."
        if unknown
        else ""
    )
    caption = (
        "Proposed from WordNet for the greedy prediction; people have the last word (`correct, not in synset` is never "
        "proposed: no lexicon can tell)."
    )
    heading = Heading("figure_3_gap_categories", "3", "Error categories of greedy predictions, as proposed", caption)
    sentences, n, seed = GroupOf(sentences_of(items), "sentences"), run.settings.n_bootstrap, run.settings.seed
    results = [
        run.about(share)
        for subject in coded.unique("subject_id")
        for measure in coded.where(subject_id=subject).unique("measure")
        for share in category_shares(
            coded, measure, PROPOSED, subject=subject, clusters=sentences, resamples=n, seed=seed
        )
    ]
    shown = gap_categories(results, PROPOSED, heading, names=run.result_labels(results)) if results else None
    return results, shown, Remark(text) if text else None
