"""The stimuli in numbers: pairs, words, lists, sentence lengths, pairs that differ in word count (SAW-C §3.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from lexiscope.core.item import Item
from lexiscope.core.result import Record, statistic_name
from lexiscope.report.part import Part
from lexiscope.report.tables import Table
from lexiscope.studies.saw_c.material import Material
from lexiscope.studies.saw_c.show import count_table


def design(material: Material) -> Part:
    """Describe the items. *Source: SAW-C §3.1.*"""
    items = material.items
    records = [
        _count(material, "n_items", len(items)),
        _count(material, "n_words", len(set(material.words))),
        *_lists(material),
        *_per_word(material),
        *_lengths(material),
        *_flagged_words(material),
    ]
    return Part(records=tuple(records), tables=(_table(records),), remarks=_remarks(material))


def _remarks(material: Material) -> tuple[str, ...]:
    without = [item.item_id for item in material.items if "same_sense" not in item.conditions]
    remarks = []
    if 0 < len(without) < len(material.items):
        remarks.append(
            f"{len(without)} of {len(material.items)} pairs have no sense relation, first {without[0]}: "
            "nothing is said of senses."
        )
    heard = {distances.subject for distances in material.distances}
    if material.rated.any():
        heard |= set(material.responses.where(measure="rating").unique("subject_id"))
    silent = sorted(material.live - heard)
    if silent:
        remarks.append(
            f"{', '.join(silent)}: no distances among the answers, and no ratings beside people's: "
            "nothing in this study is said of them."
        )
    if len(set(material.words)) == 1:
        remarks.append("All pairs have one word: there are no words to resample, so items have no intervals.")
    return tuple(remarks)


def _count(material: Material, statistic: str, value: float, condition: str = "", note: str = "") -> Record:
    return Record(statistic, float(value), dataset=material.name, condition=condition, note=note)


def _lists(material: Material) -> list[Record]:
    lists = {item.list_id for item in material.items if item.list_id is not None}
    return [_count(material, "n_lists", len(lists))] if lists else []


def _per_word(material: Material) -> list[Record]:
    counts = list(Counter(material.words).values())
    summaries = {"min": min(counts), "mean": float(np.mean(counts)), "max": max(counts)}
    return [_count(material, statistic_name("items_per_word", summary=k), v) for k, v in summaries.items()]


def _lengths(material: Material) -> list[Record]:
    texts = {usage.text for item in material.items for usage in item.usages}
    lengths = [len(text.split()) for text in texts]
    pairs = [item for item in material.items if len(item.usages) == 2]
    records = [
        _count(material, "n_sentences", len(texts)),
        _count(material, statistic_name("words_per_sentence", summary="mean"), float(np.mean(lengths))),
    ]
    differences = Counter(abs(_n_words(item, 0) - _n_words(item, 1)) for item in pairs)
    unequal = sum(n for difference, n in differences.items() if difference)
    records += [_count(material, statistic_name("items_differing_in_word_count", by="any"), unequal)]
    for by in (1, 2):
        records.append(_count(material, statistic_name("items_differing_in_word_count", by=by), differences[by]))
    return records


def _n_words(item: Item, usage: int) -> int:
    return len(item.usages[usage].text.split())


def _flagged_words(material: Material) -> list[Record]:
    flags: tuple[tuple[str, str, Callable[[Item], bool]], ...] = (
        ("same_gender", "gender_change", lambda item: not item.conditions["same_gender"]),
        (
            "same_gender_published",
            "gender_change_as_published",
            lambda item: not item.conditions["same_gender_published"],
        ),
        ("cue_1", "verb_cue", lambda item: item.conditions["cue_1"] == "verb"),
    )
    records = []
    for needed, label, test in flags:
        if all(needed in item.conditions for item in material.items):
            words = {item.word for item in material.items if test(item)}
            records.append(_count(material, statistic_name("n_words_with", property=label), len(words)))
    return records


_LABELS = {
    "n_items": "Usage pairs",
    "n_words": "Words",
    "n_lists": "Lists",
    "items_per_word(summary=min)": "Pairs per word, fewest",
    "items_per_word(summary=mean)": "Pairs per word, mean",
    "items_per_word(summary=max)": "Pairs per word, most",
    "n_sentences": "Distinct sentences",
    "words_per_sentence(summary=mean)": "Words per sentence, mean",
    "items_differing_in_word_count(by=any)": "Pairs whose sentences differ in word count",
    "items_differing_in_word_count(by=1)": "… by one word",
    "items_differing_in_word_count(by=2)": "… by two words",
    "n_words_with(property=gender_change)": "Words whose gender changes with the sense",
    "n_words_with(property=gender_change_as_published)": "… counting the published gender column as it is",
    "n_words_with(property=verb_cue)": "Words with verb cues",
}


def _table(records: Sequence[Record]) -> Table:
    return count_table("stimuli", "", "The stimuli", [(_LABELS[record.statistic], record) for record in records])
