"""Drift of senses in a report: the words that changed, each of their senses with neighbours and examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lexiscope.analysis.senses.drift import VERDICTS, WordDrift, named
from lexiscope.core.showing import counted
from lexiscope.core.usage import Usage
from lexiscope.report.document import Section
from lexiscope.report.tables import INTEGER, P_VALUE, Cell, Column, Format, IntervalCell, Table, columns

_SHARE, _BITS = Format("number", 1), Format("number", 3, leading_zero=False)


@dataclass(frozen=True, slots=True)
class DriftExamples:
    """What is shown of a word: the neighbours of each sense, and example usages of each sense in each corpus.

    *Shape:* neighbours (senses,); examples (senses, 2).
    """

    neighbours: tuple[tuple[str, ...], ...]
    examples: tuple[tuple[tuple[Usage, ...], ...], ...]


def drift_sections(
    words: Sequence[WordDrift],
    shown: Mapping[str, DriftExamples],
    names: tuple[str, str],
    left_out: Mapping[str, str] | None = None,
) -> tuple[Section, ...]:
    """Return the sections of a page: all words by their drift, then each word that changed.

    *shown* are examples by word, *names* what the two corpora are called, *left_out* reasons by word.
    """
    changed = [word for word in words if word.drifts]
    told = [
        f"{verdict}: {', '.join(own)}" for verdict in VERDICTS if verdict != "steady" and (own := named(words, verdict))
    ]
    first = (
        f"{len(changed)} of {counted(len(words), 'word')} changed from {names[0]} to {names[1]} (p < .05 after Holm's "
        "adjustment over all words). The others may have changed, too: see their numbers of usages."
    )
    how = (
        "Each usage counts for its most probable sense. The divergence of Jensen and Shannon is 0 where both corpora "
        "use the senses alike and 1 bit where they share none; what chance alone makes of samples of these sizes is "
        "in the next column. Intervals of differences resample the usages of each corpus."
    )
    caution = (
        "Test and intervals take usages for independent. Those of one text are not: a word that one long text uses in "
        "its own way can make a change that the corpus does not have. Read the examples."
    )
    without = [f"{word} ({why})" for word, why in (left_out or {}).items()]
    missing = (f"Excluded: {', '.join(without)}.",) if without else ()
    summary = Section(
        "drift", "Words whose senses changed", (first, *told, how, caution, *missing), (_words_table(words, names),)
    )
    return summary, *(
        Section(
            f"word_{number}",
            word.word,
            _example_texts(word, shown[word.word], names),
            (_senses_table(number, word, shown[word.word], names),),
        )
        for number, word in enumerate(changed, start=1)
    )


def _words_table(words: Sequence[WordDrift], names: tuple[str, str]) -> Table:
    heads = columns(
        "Word",
        *((f"Usages, {name}", INTEGER) for name in names),
        ("Divergence, bits", _BITS),
        Column("By chance", _BITS, note="The mean divergence where usages change their corpus at random."),
        ("p", P_VALUE),
        Column("p, Holm", P_VALUE, note=f"Adjusted for {counted(len(words), 'test')}."),
        "Senses that changed",
    )
    rows = []
    for word in words:
        verdicts = ", ".join(f"{sense.number} {sense.verdict}" for sense in word.senses if sense.verdict != "steady")
        test = word.divergence
        rows.append(
            (word.word, word.n_first, word.n_second, test.value, word.by_chance, test.p, test.p_adjusted, verdicts)
        )
    return Table("drift_of_words", "", "Words by the drift of their senses", heads, tuple(rows))


def _senses_table(number: int, word: WordDrift, shown: DriftExamples, names: tuple[str, str]) -> Table:
    heads = columns(
        ("Sense", INTEGER),
        "Verdict",
        *((f"{name}, %", _SHARE) for name in names),
        ("Difference, points", _SHARE),
        "Neighbours",
    )
    rows = []
    for sense, neighbours in zip(word.senses, shown.neighbours, strict=True):
        change = sense.difference.times(100, "percent")
        cell: Cell = change.value
        if change.interval.is_defined:
            cell = IntervalCell(change.interval.low, change.interval.high, change.value)
        rows.append((sense.number, sense.verdict, 100 * sense.first, 100 * sense.second, cell, ", ".join(neighbours)))
    return Table(f"senses_{number}", "", f"The senses of {word.word}", heads, tuple(rows))


def _example_texts(word: WordDrift, shown: DriftExamples, names: tuple[str, str]) -> tuple[str, ...]:
    return tuple(
        f"Sense {sense.number}, {name}: {usage.text[: usage.start]}[{usage.target}]{usage.text[usage.end :]}"
        for sense, sides in zip(word.senses, shown.examples, strict=True)
        for name, usages in zip(names, sides, strict=True)
        for usage in usages
    )
