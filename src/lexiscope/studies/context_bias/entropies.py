"""How ambiguous the words are: label entropy (Table 4), sense entropy (Table 2), and ambiguity beside word bias."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from lexiscope.analysis.entropy import MeanEntropy, label_entropy, sense_entropy
from lexiscope.analysis.view_gaps import ambiguity_and_word_bias
from lexiscope.core.errors import StatisticError
from lexiscope.core.item import Item
from lexiscope.core.result import Record, Undefined, statistic_name
from lexiscope.items.word_of import words_of
from lexiscope.report.bias_tables import AmbiguityRow, ambiguity_table
from lexiscope.report.part import Part, from_estimate, with_interval
from lexiscope.report.sections import drop_empty
from lexiscope.report.tables import BOUNDED, INTEGER, Column, Format, Interval, Missing, Noted, Table
from lexiscope.report.tables import Cell as TableCell
from lexiscope.studies.context_bias.material import PAIR_TASKS, AuditSet, Material
from lexiscope.studies.context_bias.published import ENTROPY_RULES, PUBLISHED
from lexiscope.studies.context_bias.scores import Measured
from lexiscope.studies.context_bias.settings import ContextBiasSettings

FOUR = Format("number", 4, leading_zero=False)
_CAPTION = (
    "Natural logarithm; means over the words of the training items (of all items, where a dataset has no training "
    "items), with intervals that resample words."
)

Found = MeanEntropy | Undefined
_Rule = tuple[str, str]
_Compute = Callable[[AuditSet, ContextBiasSettings], tuple[Found, _Rule]]


def label_part(material: Material, settings: ContextBiasSettings) -> Part:
    """Return the mean label entropy of the words of every dataset of pairs, with the rule of its words (Table 4)."""
    pairs = [audit for audit in material.sets if audit.task in PAIR_TASKS]
    title = "Label entropy: does the word tell the label?"
    return _part(pairs, settings, _labels, "label_entropy", "4", title)


def ambiguity_part(material: Material, everybody: Sequence[Measured], settings: ContextBiasSettings) -> Part:
    """Return the mean sense entropy (Table 2), and its rank correlation with the word bias over datasets."""
    senses = [audit for audit in material.sets if audit.task not in PAIR_TASKS]
    part = _part(senses, settings, _senses, "sense_entropy", "2", "Sense entropy: how ambiguous are the words?")
    entropy = {record.dataset: record.value for record in part.records if record.value is not None
               and record.statistic.startswith("sense_entropy")}  # fmt: skip
    if not entropy:
        return replace(part, paragraphs=("No dataset of this run gives the senses of its words.",))
    tables: list[Table] = []
    records: list[Record] = []
    for subject in dict.fromkeys(each.subject for each in everybody if not each.human):
        word_bias = {each.dataset: each.biases.word.value for each in everybody if each.subject == subject}
        own = {dataset: value for dataset, value in entropy.items() if dataset in word_bias}
        found = ambiguity_and_word_bias(own, word_bias, resamples=settings.n_bootstrap, seed=settings.seed)
        rows = [AmbiguityRow(dataset, value, word_bias[dataset]) for dataset, value in own.items()]
        tables.append(ambiguity_table(rows, found, name=f"ambiguity_{len(tables) + 1}"))
        if isinstance(found, Undefined):
            records.append(Record(statistic_name("spearman"), None, subject, n=found.n, note=found.reason))
        else:
            records.append(from_estimate(found, Record(statistic_name("spearman"), found.value, subject)))
    return Part((*part.records, *records), (*part.tables, *tables), paragraphs=part.paragraphs)


def _part(
    sets: Sequence[AuditSet], settings: ContextBiasSettings, compute: _Compute, name: str, number: str, title: str
) -> Part:
    records: list[Record] = []
    rows: list[tuple[TableCell, ...]] = []
    for audit in sets:
        found, rule = compute(audit, settings)
        records += _records(audit, found)
        rows.append(_row(audit, found, rule))
    columns = (
        Column("Dataset"),
        Column("A word is"),
        Column("Rows"),
        Column("Entropy, nats", FOUR),
        Column("In the paper", FOUR),
        Column("Words", INTEGER),
        Column("Rows used", INTEGER),
        Column("One class only", BOUNDED, note="Share of words all of whose rows have the same class."),
        Column("Majority", BOUNDED, note="Mean over words of the share of their most frequent class."),
    )
    if not rows:
        return Part()
    return Part(tuple(records), (drop_empty(Table(name, number, title, columns, tuple(rows), (_CAPTION,))),))


def _labels(audit: AuditSet, settings: ContextBiasSettings) -> tuple[Found, _Rule]:
    # a file of the user's own may be called wic.csv; it has no card
    rules = ENTROPY_RULES if audit.card is not None else {}
    rule = rules.get(audit.name.partition("?")[0], ("lemma", "all"))
    name = statistic_name("label_entropy", word=rule[0], rows=rule[1], base="e", min_count=2)
    return _computed(audit, rule, name, label_entropy, settings), rule


def _senses(audit: AuditSet, settings: ContextBiasSettings) -> tuple[Found, _Rule]:
    tagged = all(item.usages[0].pos or item.conditions.get("pos") for item in audit.labelled)
    of_word = "lemma_pos" if tagged else "lemma"
    rule = ("surface" if audit.task == "entity_link" else of_word, "all")
    name = statistic_name("sense_entropy", word=rule[0], rows=rule[1], base="e", min_count=1)
    return _computed(audit, rule, name, sense_entropy, settings), rule


def _computed(
    audit: AuditSet, rule: _Rule, name: str, entropy: Callable[..., MeanEntropy], settings: ContextBiasSettings
) -> Found:
    drawn = {"resamples": settings.n_bootstrap, "seed": settings.seed}
    try:
        rows = words_of(_training(audit), word=rule[0], rows=rule[1])
        return entropy(rows.words, rows.labels, word=rows.word, rows=rows.rows, **drawn)
    except StatisticError as error:
        return Undefined(name, error.what, 0)


def _training(audit: AuditSet) -> tuple[Item, ...]:
    """What is published as training items, whatever of it is used as dev in this run; else all labelled items."""
    published = tuple(item for item in audit.labelled if item.conditions.get("split") == "train")
    return published if published and audit.card is not None else audit.labelled


def _records(audit: AuditSet, found: Found) -> list[Record]:
    if isinstance(found, Undefined):
        return [Record(found.name, None, dataset=audit.name, note=found.reason)]
    first = with_interval(Record(found.name, found.value, dataset=audit.name, n=found.n_words), found.interval)
    name = found.name.partition("(")[2]
    more = (("same_share", found.same_share), ("majority_share", found.majority_share))
    return [first, *(Record(f"{which}({name}", value, dataset=audit.name, n=found.n_words) for which, value in more)]


def _row(audit: AuditSet, found: Found, rule: _Rule) -> tuple[TableCell, ...]:
    named = (audit.name, rule[0].replace("_", " "), rule[1].replace("_", " "))
    if isinstance(found, Undefined):
        return (*named, Missing(f"{found.reason}."), _printed(audit, found.name), None, None, None, None)
    value = Interval(found.interval.low, found.interval.high, found.value)
    numbers = (found.n_words, found.n_rows, found.same_share, found.majority_share)
    return (*named, value if found.interval.is_defined else found.value, _printed(audit, found.name), *numbers)


def _printed(audit: AuditSet, name: str) -> TableCell:
    published = PUBLISHED.get(audit.name, ()) if audit.card is not None else ()
    value = next((each for each in published if each.statistic == name), None)
    if value is None:
        return None
    if not value.remark:
        return float(value.printed)
    return Noted(value.printed, f"{value.remark[:1].upper()}{value.remark[1:]}.")
