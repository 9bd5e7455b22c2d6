"""Planted senses: what each subject makes of usages of pseudo-words whose senses are known.

Two figures, which may disagree: by the usages (does the sense that is chosen go with what was planted?), and by what
the senses look like (is the sense that is chosen one whose neighbours are like the planted word?). Near duplicates of
one sense can do well by the first and look all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.planted_senses import SenseRecovery, labels_by_neighbours, planted_selection, sense_recovery
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record
from lexiscope.items.induced_senses import InducedSenses
from lexiscope.report.part import Part, shown, with_interval
from lexiscope.report.sections import drop_empty
from lexiscope.report.tables import BOUNDED, INTEGER, Cell, Column, Format, Table
from lexiscope.resources.sense_vectors import Neighbour, SenseVectors
from lexiscope.studies.sense_induction.material import HasSenses, LeftOut, Material, Planted, ShowsSenses
from lexiscope.studies.sense_induction.settings import SenseInductionSettings

TASK, MEASURE = "planted_senses", "induced_sense"
NEIGHBOURS, SEARCHED = 10, 100
"""Neighbours of a sense that say what it looks like, and how many are searched for as many that the reference knows."""

_NAME, _LOOKS = "Planted senses", "Planted senses by their neighbours"
_BY_RULE = (
    "The text was made by rule in this run: invented words, each line about one of a few topics. It shows that the "
    "measurement works, and which variant tells planted senses apart where that is easy; of real text it says nothing."
)
_NO_REFERENCE = (
    "It needs vectors of the text before planting: --planted FOLDER, with planted.csv and a skip_gram training in "
    "reference."
)


def recovery_part(
    material: Material, settings: SenseInductionSettings
) -> tuple[Part, ResponseTable, tuple[LeftOut, ...]]:
    """Return how far planted senses are recovered, the answers behind it, and the subjects that know none of them."""
    planted = material.planted
    if planted is None:
        reason = "No usages of pseudo-words were given: --planted FILE, or --planted made_up."
        return Part(), ResponseTable.empty(), (LeftOut(_NAME, "", reason),)
    records: list[Record] = []
    rows: list[tuple[Cell, ...]] = []
    answers: list[ResponseTable] = []
    meant = _meant(planted)
    left_out = _without_looks(planted, meant)
    for subject in planted.subjects:
        known = [item for item in planted.items if subject.knows(item.usages[0])]
        if len({item.usages[0].lemma for item in known}) < 2:
            why = "It knows fewer than two of the pseudo-words: train it on the planted text."
            left_out.append(LeftOut(_NAME, material.title_of(subject.subject_id), why))
            continue
        shares = np.asarray(subject.sense_distribution([item.usages[0] for item in known]), np.float64)
        answers.append(_rows(subject, known, shares.argmax(axis=1).tolist()))
        own = [
            *_by_usages(subject, planted, known, shares, settings),
            *_by_looks(subject, planted, meant, known, shares, settings),
        ]
        if meant and isinstance(subject, ShowsSenses) and not any(each.statistic == _BY_LOOKS for each in own):
            why = "It knows fewer than two of the pseudo-words whose planted words the reference knows."
            left_out.append(LeftOut(_LOOKS, material.title_of(subject.subject_id), why))
        records += own
        counts = (len({item.usages[0].lemma for item in known}), len(known), len(planted.items) - len(known))
        by_name = {record.statistic: shown(record) for record in own}
        rows.append((material.title_of(subject.subject_id), *(by_name.get(name) for name in _SHOWN), *counts))
    return _part(planted, records, rows), ResponseTable.concat(answers), tuple(left_out)


def result_words(material: Material, records: Sequence[Record]) -> str:
    """Say in words what share of usages each subject has right: by neighbours where that is known, else by usages."""
    names = {record.statistic for record in records}
    name = _BY_LOOKS if _BY_LOOKS in names else "planted_accuracy"
    found = [record for record in records if record.statistic == name and record.value is not None]
    how = "a sense that looks right is chosen" if name == _BY_LOOKS else "senses go with what was planted"
    texts = [f"{material.title_of(record.subject)} {100 * (record.value or 0):.1f} %" for record in found]
    return f"Usages for which {how}: {'; '.join(texts)}" if texts else ""


_BY_LOOKS = "planted_selection"
_SHOWN = (_BY_LOOKS, "planted_accuracy", "planted_purity", "planted_majority", "planted_recovered")


def _part(planted: Planted, records: Sequence[Record], rows: Sequence[tuple[Cell, ...]]) -> Part:
    if not rows:
        return Part()
    columns = (
        Column("Vectors"),
        Column("By neighbours", BOUNDED, note="The sense that is chosen has neighbours like the word that stood there; "
               "chance is one over the number of planted senses."),
        Column("By usages", BOUNDED, note="Each induced sense may stand for one planted sense, at best."),
        Column("Purity", BOUNDED, note="Each induced sense stands for what is most frequent in it."),
        Column("One sense for all", BOUNDED, note="What no distinction at all reaches by usages."),
        Column("Recovered", Format("number", 2), note="Planted senses of a word that induced ones go with."),
        Column("Pseudo-words", INTEGER), Column("Usages", INTEGER), Column("Unknown", INTEGER),
    )  # fmt: skip
    title = f"Recovery of planted senses: {planted.title}"
    notes = ("Means over pseudo-words; intervals resample them.",)
    table = drop_empty(Table("planted_senses", "", title, columns, tuple(rows), notes))
    return Part(tuple(records), (table,), paragraphs=(_BY_RULE,) if planted.by_rule else ())


def _by_usages(
    subject: HasSenses,
    planted: Planted,
    known: Sequence[Item],
    shares: NDArray[np.float64],
    settings: SenseInductionSettings,
) -> list[Record]:
    words = [str(item.usages[0].lemma) for item in known]
    gold = [str(item.usages[0].sense) for item in known]
    how = {"resamples": settings.n_bootstrap, "seed": settings.seed}
    found: SenseRecovery = sense_recovery(words, shares.argmax(axis=1), gold, **how)
    blank = Record("planted_accuracy", found.accuracy, subject.subject_id, planted.title, n=found.n)
    return [
        with_interval(blank, found.accuracy_interval),
        with_interval(_named(blank, "planted_purity", found.purity), found.purity_interval),
        _named(blank, "planted_majority", found.majority),
        _named(blank, "planted_recovered", found.recovered),
        _named(blank, "n_unknown", float(len(planted.items) - found.n)),
    ]


def _meant(planted: Planted) -> dict[str, list[str]]:
    """The words that were planted as each pseudo-word, where there are two at least and the reference knows them all.

    Of one word alone every sense would look like it, and of an unknown one none would.
    """
    found: dict[str, set[str]] = {}
    for item in planted.items if planted.reference is not None else ():
        found.setdefault(str(item.usages[0].lemma), set()).add(str(item.usages[0].sense))
    index = {} if planted.reference is None else planted.reference.index
    return {word: sorted(own) for word, own in found.items() if len(own) > 1 and all(one in index for one in own)}


def _without_looks(planted: Planted, meant: Mapping[str, Sequence[str]]) -> list[LeftOut]:
    """Say which pseudo-words are not judged by what their senses look like, and why."""
    if planted.reference is None:
        return [LeftOut(_LOOKS, "", _NO_REFERENCE)]
    words = list(dict.fromkeys(str(item.usages[0].lemma) for item in planted.items))
    without = [word for word in words if word not in meant]
    if not without:
        return []
    why = "usages of one planted word only, or a planted word that the reference vectors do not know"
    return [LeftOut(_LOOKS, "", f"{len(without)} of {len(words)} pseudo-words have {why}: {', '.join(without[:5])}.")]


def _by_looks(
    subject: HasSenses,
    planted: Planted,
    meant: Mapping[str, Sequence[str]],
    known: Sequence[Item],
    shares: NDArray[np.float64],
    settings: SenseInductionSettings,
) -> list[Record]:
    """How often the chosen sense looks right; nothing without reference vectors, or neighbours of senses."""
    rows = [row for row, item in enumerate(known) if item.usages[0].lemma in meant]
    words = [str(known[row].usages[0].lemma) for row in rows]
    gold = [str(known[row].usages[0].sense) for row in rows]
    if planted.reference is None or not isinstance(subject, ShowsSenses) or len(set(words)) < 2:
        return []
    labels = looks_of(subject.induced, {word: meant[word] for word in words}, planted.reference)
    fits = [[label == one for label in labels[word]] for word, one in zip(words, gold, strict=True)]
    recovered = {word: len(set(found) - {""}) for word, found in labels.items()}
    how = {"resamples": settings.n_bootstrap, "seed": settings.seed}
    found = planted_selection(words, shares[rows], fits, recovered=recovered, **how)
    blank = Record(_BY_LOOKS, found.accuracy, subject.subject_id, planted.title, n=found.n)
    probability = _named(blank, "planted_probability", found.probability)
    return [
        with_interval(blank, found.accuracy_interval),
        with_interval(probability, found.probability_interval),
        _named(blank, "planted_seen", found.recovered),
    ]


def looks_of(
    senses: InducedSenses, meant: Mapping[str, Sequence[str]], reference: SenseVectors
) -> dict[str, list[str]]:
    """Return what each sense of each pseudo-word looks like: one of the words that *meant* says were planted as it.

    Neighbours are read by the vectors of *reference*, which has one sense for each word. Empty for a sense that is not
    there, or has too few neighbours that it knows.
    """
    rows = [row for word in meant for row in senses.of(word)]
    # the neighbours of all of them in one search, which goes through all vectors
    near = dict(zip(rows, senses.neighbours(rows, SEARCHED), strict=True))
    return {
        word: _labels_of(senses, {row: near[row] for row in senses.of(word)}, planted, reference)
        for word, planted in meant.items()
    }


def _labels_of(
    senses: InducedSenses,
    near_of: Mapping[int, Sequence[Neighbour]],
    planted: Sequence[str],
    reference: SenseVectors,
) -> list[str]:
    """What each sense of a pseudo-word looks like; nothing for one that is not there, or has too few neighbours."""
    found = [""] * senses.most
    kept: list[int] = []
    near: list[NDArray[np.float64]] = []
    for row, neighbours in near_of.items():
        vectors = [_vector(reference, each.word) for each in neighbours if each.word in reference.index][:NEIGHBOURS]
        if len(vectors) == NEIGHBOURS:
            kept.append(int(senses.numbers[row]))
            near.append(np.stack(vectors))
    if kept:
        words = np.stack([_vector(reference, each) for each in planted])
        for number, label in zip(kept, labels_by_neighbours(np.stack(near), words).tolist(), strict=True):
            found[number] = planted[label]
    return found


def _vector(reference: SenseVectors, word: str) -> NDArray[np.float64]:
    return np.asarray(reference.senses[reference.index[word], 0], np.float64)


def _named(record: Record, name: str, value: float) -> Record:
    return Record(name, value, record.subject, record.dataset, n=record.n)


def _rows(subject: HasSenses, items: Sequence[Item], chosen: Sequence[int]) -> ResponseTable:
    columns = {
        "subject_id": subject.subject_id,
        "subject_kind": subject.kind,
        "item_id": np.array([item.item_id for item in items], dtype=object),
        "task": TASK,
        "measure": MEASURE,
        "option": [str(number + 1) for number in chosen],
    }
    return ResponseTable.from_columns(columns)
