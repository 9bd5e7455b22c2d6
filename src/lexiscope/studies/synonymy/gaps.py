"""Gap filling: does a subject produce a synonym when it is asked for one (§3.2, §4.2, Figures 2 and 3)?

Only live subjects that generate can answer: the predictions of the paper were not released.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from lexiscope.analysis.gap_answers import GapHits, gap_accuracy, gap_contrast, gap_hits
from lexiscope.core.errors import DataError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Estimate, Record, Undefined, parse_statistic, statistic_name
from lexiscope.core.showing import counted
from lexiscope.items.gap_categories import CATEGORIES, count_proposed
from lexiscope.items.gap_filling import COLUMN_SYNSET, MEASURE, Answers, gap_prompt, read_decoding
from lexiscope.items.gap_matching import AnswerRule, mark_completions
from lexiscope.report.accuracy_tables import PERCENT
from lexiscope.report.figure_accuracy import Dot, accuracy_dots, stacked_shares
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import Remark
from lexiscope.report.pivot import Col, Row, pivot
from lexiscope.report.tables import INTEGER, Cell, Column, Table, columns
from lexiscope.resources import wordnet
from lexiscope.studies.synonymy.accuracy import contrast_table
from lexiscope.studies.synonymy.data import NO_CATEGORIES, SynonymyData

_MISSING = "A prediction was not given."
CRITERIA: tuple[Answers, ...] = ("curated", "synset")

Found = Mapping[tuple[str, str, str], GapHits]
"""Hits by subject, decoding and criterion."""


def gap_filling(run: SynonymyData) -> object:
    """Answer whether subjects produce a synonym: both criteria, one prediction and ten, and categories of errors."""
    found: dict[tuple[str, str, str], GapHits] = {}
    for criterion in _criteria(run):
        marked = mark_completions(run.gaps, run.gap_items, AnswerRule(criterion))
        for subject in marked.unique("subject_id"):
            for measure in marked.where(subject_id=subject).unique("measure"):
                found[subject, _decoding(measure), criterion] = gap_hits(marked, measure, subject=subject)
    results, tests = _accuracies(run, found), _contrasts(run, found)
    assert run.gap is not None
    rule = (
        f"Prompt: the sentence, a space, and “{gap_prompt('T', run.gap, mode=run.settings.mode)}”. A prediction is "
        "right where an accepted answer stands in its decoded text at word boundaries, case ignored. With ten "
        "predictions one right one suffices. Curated: the item's right word (synonym); synset: any other lemma of the "
        "target's synset. Seeds are stored with every completion."
    )
    title = "Gap filling: contrasts, t as in Ivan et al. (2025), McNemar's exact test beside it"
    tables = (_table(run, found, results), contrast_table(run, "gap_contrasts", title, tests))
    return results, tests, tables, _figure(run, results), rule, _categories(run)


def said(run: SynonymyData, records: Sequence[Record]) -> str:
    """Return the accuracies in one line."""
    titles = run.in_words(record.subject for record in records)
    own = [record for record in records if parse_statistic(record.statistic)[0] == "gap_accuracy"]
    return "; ".join(
        f"{titles[record.subject]}, {', '.join(_asked(record.statistic)[::-1])}: {record.value:.1f} %" for record in own
    )


def _criteria(run: SynonymyData) -> tuple[Answers, ...]:
    """Which answers are accepted; that of the synset is another than the curated one only where items name synsets."""
    named = any(item.conditions[COLUMN_SYNSET] for item in run.gap_items)
    return CRITERIA if named or not run.own else CRITERIA[:1]


def _sentences(run: SynonymyData) -> Mapping[str, str]:
    return {item.item_id: str(item.conditions["sentence"]) for item in run.gap_items}


def _accuracies(run: SynonymyData, found: Found) -> list[Estimate]:
    sentences, settings, made = _sentences(run), run.settings, []
    for (_, decoding, _), hits in found.items():
        one = gap_accuracy(hits, clusters=sentences, resamples=settings.n_bootstrap, seed=settings.seed)
        made.append(run.about(one.result(), condition=decoding))
    return made


def _decoding(measure: str) -> str:
    """How tokens were chosen, in words.

    >>> _decoding("answer_found(answers=curated,method=greedy,max_tokens=10)")
    'greedy, 10 tokens'
    """
    given = parse_statistic(measure)[1]
    drawn = f", top-k {given['top_k']}, temperature {given['temperature']}" if "top_k" in given else ""
    return f"{given.get('method', 'written')}, {given.get('max_tokens', '?')} tokens{drawn}"


def _table(run: SynonymyData, found: Found, results: Sequence[Estimate]) -> Table:
    titles = run.in_words(subject for subject, _, _ in found)
    labels = columns("Subject", "Decoding", ("Predictions", INTEGER), Column("Items left out", INTEGER, note=_MISSING))
    rows = [
        Row(
            (titles[subject], decoding, hits.n_predictions, hits.n_missing),
            {"subject": subject, "condition": decoding},
            {"n": hits.n_predictions},
        )
        for (subject, decoding, criterion), hits in found.items()
        if criterion == CRITERIA[0]
    ]
    shares = [Col(f"{each.capitalize()}, %", f"gap_accuracy(answers={each},n={{n}})", PERCENT) for each in CRITERIA]
    title = "Gap filling: percent of items with an accepted answer"
    return pivot("gap_accuracy", title, results, shares[: len(_criteria(run))], rows, labels=labels)


def _contrasts(run: SynonymyData, found: Found) -> list[Estimate | Undefined]:
    """Curated against synset for each subject and decoding, and each two subjects under one criterion."""
    sentences, settings, made = _sentences(run), run.settings, []
    for (one, first), (other, second) in combinations(found.items(), 2):
        condition = f"gap filling, n={first.n_predictions}, {one[2]}"
        if one[:2] == other[:2]:
            subject, condition = one[0], f"{condition} vs {other[2]}"
        elif one[1:] == other[1:]:
            subject = f"{one[0]} vs {other[0]}"
        else:
            continue
        test = gap_contrast(first, second, clusters=sentences, resamples=settings.n_bootstrap, seed=settings.seed)
        made += [run.about(each, subject=subject, condition=condition) for each in test.results()]
    return made


def _asked(statistic: str) -> tuple[str, str]:
    """How many predictions there are, and what is accepted."""
    given = parse_statistic(statistic)[1]
    return "one prediction" if given["n"] == "1" else f"any of {given['n']} predictions", given["answers"]


def _figure(run: SynonymyData, results: Sequence[Estimate]) -> Figure:
    titles = run.in_words(each.subject for each in results)
    dots = [
        Dot(", ".join(_asked(one.name)), titles[one.subject], one.value, one.interval.low, one.interval.high, math.nan)
        for one in results
    ]
    caption = "Bars: 95 % interval, sentences resampled. There is no chance level: the answer is produced, not chosen."
    heading = Heading("figure_2_gap_filling", "2", "Gap filling: items with an accepted answer", caption)
    order = [answers.title for answers in run.answers]
    return accuracy_dots(dots, heading, unit="Items with an accepted answer, %", order=order)


# -- categories of errors ---------------------------------------------------------------------------------------------


def _categories(run: SynonymyData) -> object:
    """The error categories that WordNet proposes for the greedy predictions."""
    greedy = _greedy(run.gaps)
    if not len(greedy) or NO_CATEGORIES in dict(run.left_out):
        return None
    try:
        lexicon = wordnet.load()
    except DataError as error:
        return Remark(f"Error categories were not proposed: WordNet is not at hand ({error.what}).")
    counts, unknown = count_proposed(greedy, run.gap_items, lexicon)
    told = (
        f"Error categories were proposed without {len(unknown)} of {counted(len(run.gap_items), 'item')}, the first is "
        f"{unknown[0] if unknown else ''}: the sense of its target is not known. A column sense_key in the collection "
        "names it."
    )
    return _shares(run, counts) if counts else None, Remark(told) if unknown else None


def _greedy(table: ResponseTable) -> ResponseTable:
    own = [measure for measure in table.unique("measure") if parse_statistic(measure)[0] == MEASURE]
    measures = [measure for measure in own if (how := read_decoding(measure)) and how.method == "greedy"]
    return table.where(measure=tuple(measures)) if measures else ResponseTable.empty()


def _shares(run: SynonymyData, counts: Mapping[str, Counter[str]]) -> object:
    records, shares, titles = [], [], run.in_words(counts)
    rows: list[tuple[Cell, ...]] = []
    # no lexicon can tell that an answer is correct and not in the synset
    categories = [category for category in CATEGORIES if category != "correct_not_in_synset"]
    for subject, own in counts.items():
        percent, total = {category: 100 * own[category] / own.total() for category in categories}, own.total()
        for category, value in percent.items():
            name = statistic_name("gap_category", category=category)
            records.append(run.number(name, value, subject=subject, unit="percent", n=total))
            shares.append((titles[subject], category, value))
        rows.append((titles[subject], total, *percent.values()))
    heads = columns("Subject", ("Predictions", INTEGER), *((each.replace("_", " "), PERCENT) for each in categories))
    note = (
        "Proposed from WordNet for the greedy prediction; people have the last word (`correct, not in synset` is never "
        "proposed: no lexicon can tell)."
    )
    table = Table("gap_categories", "", "Error categories as proposed, percent", heads, tuple(rows), (note,))
    heading = Heading("figure_3_gap_categories", "3", "Error categories of greedy predictions, as proposed", note)
    return records, table, stacked_shares(shares, heading, order=CATEGORIES)
