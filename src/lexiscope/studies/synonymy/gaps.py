"""Gap filling: does a subject produce a synonym when it is asked for one? Accuracy and error categories (Figures 2, 3).

Only live subjects that generate can answer: the predictions of the paper were not released.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

from lexiscope.analysis.gap_answers import GapHits, gap_accuracy, gap_contrast, gap_hits
from lexiscope.core.errors import DataError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record, parse_statistic, statistic_name
from lexiscope.items.gap_categories import CATEGORIES, proposed
from lexiscope.items.gap_filling import COLUMN_SYNSET, MEASURE, Answers, read_decoding
from lexiscope.items.gap_matching import AnswerRule, mark_completions
from lexiscope.report.figure_accuracy import Dot, accuracy_dots, stacked_shares
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import Part, joined, pick, shown, with_interval
from lexiscope.report.tables import INTEGER, P_VALUE, Column, Table
from lexiscope.report.tables import Cell as TableCell
from lexiscope.resources import wordnet
from lexiscope.studies.synonymy.material import Material
from lexiscope.studies.synonymy.numbers import PERCENT, TWO, contrast_records
from lexiscope.studies.synonymy.settings import SynonymySettings
from lexiscope.studies.synonymy.source import NO_CATEGORIES

CRITERIA: tuple[Answers, ...] = ("curated", "synset")


def gap_filling(material: Material, settings: SynonymySettings) -> Part:
    """Return accuracy of gap filling under both criteria, with one prediction and with ten, and error categories."""
    if not len(material.gaps):
        return Part()
    sentences = {item.item_id: str(item.conditions["sentence"]) for item in material.gap_items}
    records: list[Record] = []
    found: dict[tuple[str, str, str], GapHits] = {}
    criteria = _criteria(material)
    for criterion in criteria:
        marked = mark_completions(material.gaps, material.gap_items, AnswerRule(criterion))
        for subject in marked.unique("subject_id"):
            for measure in marked.where(subject_id=subject).unique("measure"):
                hits = gap_hits(marked, measure, subject=subject)
                found[subject, measure, criterion] = hits
                records.append(_record(material, hits, criterion, sentences, settings))
    tests = _contrasts(material, found, sentences, settings)
    table = _table(material, found, records)
    categories = _categories(material)
    return Part(
        (*records, *tests, *categories.records),
        (table, *_contrast_table(material, tests), *categories.tables),
        (_figure(material, records), *categories.figures),
        (_rule(material),),
        categories.remarks,
    )


def _rule(material: Material) -> str:
    return (
        f"Prompt: the sentence, a space, and “{material.gap}”. A prediction is right where an accepted answer stands "
        "in its decoded text at word boundaries, case ignored. With ten predictions one right one suffices. Curated: "
        "the item's right word (synonym); synset: any other lemma of the target's synset. Seeds are stored with every "
        "completion."
    )


def _criteria(material: Material) -> tuple[Answers, ...]:
    """Which answers are accepted; that of the synset is another than the curated one only where items name synsets."""
    named = any(item.conditions[COLUMN_SYNSET] for item in material.gap_items)
    return CRITERIA if named or not material.own else CRITERIA[:1]


def _record(
    material: Material, hits: GapHits, criterion: str, sentences: Mapping[str, str], settings: SynonymySettings
) -> Record:
    found = gap_accuracy(hits, clusters=sentences, resamples=settings.n_bootstrap, seed=settings.seed)
    record = Record(
        statistic_name("gap_accuracy", answers=criterion, n=hits.n_predictions),
        100 * found.accuracy.value,
        subject=hits.subject,
        dataset=material.name,
        condition=_decoding(hits.measure),
        unit="percent",
        n=found.accuracy.n,
        note=f"{100 * found.mean_right:.1f} % of single predictions" if hits.n_predictions > 1 else "",
    )
    return with_interval(record, found.accuracy.clustered, times=100)


def _decoding(measure: str) -> str:
    """How tokens were chosen, in words.

    >>> _decoding("answer_found(answers=curated,method=greedy,max_tokens=10)")
    'greedy, 10 tokens'
    """
    given = parse_statistic(measure)[1]
    drawn = f", top-k {given['top_k']}, temperature {given['temperature']}" if "top_k" in given else ""
    return f"{given.get('method', 'written')}, {given.get('max_tokens', '?')} tokens{drawn}"


def _table(material: Material, found: Mapping[tuple[str, str, str], GapHits], records: Sequence[Record]) -> Table:
    columns = (
        Column("Subject"),
        Column("Decoding"),
        Column("Predictions", INTEGER),
        *(Column(f"{criterion.capitalize()}, %", PERCENT) for criterion in _criteria(material)),
        Column("Items left out", INTEGER, note="A prediction was not given."),
    )
    rows: list[tuple[TableCell, ...]] = []
    for subject, measure, criterion in found:
        if criterion == CRITERIA[0]:
            hits = found[subject, measure, criterion]
            names = [statistic_name("gap_accuracy", answers=each, n=hits.n_predictions) for each in _criteria(material)]
            shares = [pick(records, name, subject=subject, condition=_decoding(measure)) for name in names]
            row = (_title(material, subject), _decoding(measure), hits.n_predictions, *map(shown, shares))
            rows.append((*row, hits.n_missing))
    title = "Gap filling: percent of items with an accepted answer"
    return Table("gap_accuracy", "", title, columns, tuple(rows))


def _contrasts(
    material: Material,
    found: Mapping[tuple[str, str, str], GapHits],
    sentences: Mapping[str, str],
    settings: SynonymySettings,
) -> list[Record]:
    """Curated against synset for each subject and decoding, and each two subjects under one criterion."""
    records: list[Record] = []
    for (one, first), (other, second) in combinations(found.items(), 2):
        if one[2] != other[2] and _bare(one) == _bare(other):
            subject, condition = one[0], f"gap filling, n={first.n_predictions}, {one[2]} vs {other[2]}"
        elif one[0] != other[0] and one[1:] == other[1:]:
            subject, condition = f"{one[0]} vs {other[0]}", f"gap filling, n={first.n_predictions}, {one[2]}"
        else:
            continue
        contrast = gap_contrast(first, second, clusters=sentences, resamples=settings.n_bootstrap, seed=settings.seed)
        records += contrast_records(material, contrast, subject=subject, condition=condition)
    return records


def _bare(key: tuple[str, str, str]) -> tuple[str, str]:
    """Subject and decoding, without the criterion that the measure names too."""
    return key[0], _decoding(key[1])


def _contrast_table(material: Material, records: Sequence[Record]) -> tuple[Table, ...]:
    if not records:
        return ()
    columns = (
        Column("Subject"),
        Column("Contrast"),
        Column("Difference, points", PERCENT),
        Column("t", TWO),
        Column("p", P_VALUE),
        Column("p, exact", P_VALUE),
    )
    names = ("difference", "paired_t", "paired_t_p", "mcnemar_p")
    rows = [
        (
            " vs. ".join(_title(material, each) for each in subject.split(" vs ")),
            condition.removeprefix("gap filling, ").replace(" vs ", " vs. "),
            *(shown(pick(records, name, subject=subject, condition=condition)) for name in names),
        )
        for subject, condition in dict.fromkeys((record.subject, record.condition) for record in records)
    ]
    title = "Gap filling: contrasts, t as in Ivan et al. (2025), McNemar's exact test beside it"
    return (Table("gap_contrasts", "", title, columns, tuple(rows)),)


def _figure(material: Material, records: Sequence[Record]) -> Figure:
    dots = []
    for record in records:
        given = parse_statistic(record.statistic)[1]
        n = int(given["n"])
        words = f"{'one prediction' if n == 1 else f'any of {n} predictions'}, {given['answers']}"
        low, high = (float("nan") if each is None else each for each in (record.low, record.high))
        dots.append(Dot(words, _title(material, record.subject), record.value or 0.0, low, high, float("nan")))
    caption = "Bars: 95 % interval, sentences resampled. There is no chance level: the answer is produced, not chosen."
    return accuracy_dots(
        dots,
        Heading("figure_2_gap_filling", "2", "Gap filling: items with an accepted answer", caption),
        unit="Items with an accepted answer, %",
        order=[answers.title for answers in material.answers],
    )


def _categories(material: Material) -> Part:
    """The error categories that WordNet proposes for the greedy predictions."""
    greedy = _greedy(material.gaps)
    if not len(greedy) or NO_CATEGORIES in dict(material.left_out):
        return Part()
    try:
        lexicon = wordnet.load()
    except DataError as error:
        return Part(remarks=(f"Error categories were not proposed: WordNet is not at hand ({error.what}).",))
    items = {item.item_id: item for item in material.gap_items}
    counts: dict[str, Counter[str]] = {}
    unknown: set[str] = set()
    for row in greedy.rows():
        if row.raw is None:
            continue
        found = proposed(items[row.item_id], row.raw, lexicon)
        if found is None:
            unknown.add(row.item_id)
            continue
        counts.setdefault(row.subject_id, Counter())[found.category] += 1
    part = _category_part(material, counts) if counts else Part()
    return joined([part, Part(remarks=(_unknown(unknown, len(items)),))]) if unknown else part


def _unknown(item_ids: Collection[str], n_items: int) -> str:
    return (
        f"Error categories were proposed without {len(item_ids)} of {n_items} items, the first is {min(item_ids)}: the "
        "sense of its target is not known. A column sense_key in the collection names it."
    )


def _greedy(table: ResponseTable) -> ResponseTable:
    measures = [
        measure
        for measure in table.unique("measure")
        if parse_statistic(measure)[0] == MEASURE and (how := read_decoding(measure)) and how.method == "greedy"
    ]
    return table.where(measure=tuple(measures)) if measures else ResponseTable.empty()


def _category_part(material: Material, counts: Mapping[str, Counter[str]]) -> Part:
    records: list[Record] = []
    rows: list[tuple[TableCell, ...]] = []
    shares: list[tuple[str, str, float]] = []
    for subject, own in counts.items():
        total = sum(own.values())
        title = _title(material, subject)
        percent = {category: 100 * own[category] / total for category in CATEGORIES}
        for category, value in percent.items():
            if category != "correct_not_in_synset":
                name = statistic_name("gap_category", category=category)
                records.append(Record(name, value, subject=subject, dataset=material.name, unit="percent", n=total))
                shares.append((title, category, value))
        rows.append((title, total, *(percent[c] for c in CATEGORIES if c != "correct_not_in_synset")))
    columns = (
        Column("Subject"),
        Column("Predictions", INTEGER),
        *(Column(c.replace("_", " "), PERCENT) for c in CATEGORIES if c != "correct_not_in_synset"),
    )
    note = (
        "Proposed from WordNet for the greedy prediction; people have the last word (`correct, not in synset` is never "
        "proposed: no lexicon can tell)."
    )
    table = Table("gap_categories", "", "Error categories as proposed, percent", columns, tuple(rows), (note,))
    heading = Heading("figure_3_gap_categories", "3", "Error categories of greedy predictions, as proposed", note)
    return Part(tuple(records), (table,), (stacked_shares(shares, heading, order=CATEGORIES),) if shares else ())


def _title(material: Material, subject: str) -> str:
    titles = {answers.subject: answers.title for answers in material.answers}
    fact = material.facts.get(subject)
    return titles.get(subject) or (fact.title if fact else "") or subject
