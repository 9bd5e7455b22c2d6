"""Single words: how a synset's sentences are divided among senses (Fig. 5); a map of a word's neighbours (Fig. 2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.tsne import tsne
from lexiscope.core.errors import DataError, InputError
from lexiscope.core.result import Record, statistic_name
from lexiscope.core.usage import Usage
from lexiscope.items.induced_senses import InducedSenses
from lexiscope.items.sense_entries import WordEntry
from lexiscope.items.views import with_wordform
from lexiscope.report.figure_accuracy import stacked_shares
from lexiscope.report.figure_senses import MapPoint, neighbour_map
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import Part
from lexiscope.report.sense_explorer import Exploration
from lexiscope.report.tables import BOUNDED, Cell, Column, Table
from lexiscope.resources import semcor, wordnet
from lexiscope.resources.lexicon import Lexicon, Pos
from lexiscope.studies.sense_induction.material import LeftOut, Material, ShowsSenses
from lexiscope.studies.sense_induction.settings import SenseInductionSettings

NEIGHBOURS = 10
"""Neighbours of a sense that are shown, on maps and pages."""

MOST_MAPS = 6
"""Maps in one report; the others are left out, and counted."""

_SYNSET, _MAP = "Choice of a sense over a synset's sentences", "Map of neighbours"
_RANKED = (
    "Senses of two trainings are not the same senses: they stand by falling probability, each training by its own, and "
    "the first of one is not the first of another."
)


def synset_part(material: Material, settings: SenseInductionSettings) -> tuple[Part, tuple[LeftOut, ...]]:
    """Return how probable each sense is over the SemCor sentences of a synset, for every subject (Figure 5)."""
    if not settings.synset or not material.subjects:
        return Part(), (LeftOut(_SYNSET, "", "No synset was named: --synset." if material.subjects else _NOBODY),)
    try:
        lemma, usages = synset_usages(settings.synset)
    except DataError as error:
        return Part(), (LeftOut(_SYNSET, "", f"Not at hand: {error.what}."),)
    if not usages:
        return Part(), (LeftOut(_SYNSET, "", f"SemCor has no sentence with {lemma!r} in {settings.synset}."),)
    left_out, records, rows, shares = [], [], list[tuple[Cell, ...]](), list[tuple[str, str, float]]()
    for subject in material.subjects:
        title = material.title_of(subject.subject_id)
        if not subject.knows(usages[0]) or subject.sense_count(usages[0]) < 2:
            left_out.append(LeftOut(_SYNSET, title, f"It has no two senses of {lemma!r}."))
            continue
        table = np.asarray(subject.sense_distribution(usages), np.float64)
        own = _ranked(table, subject.subject_id, settings.synset)
        records += own
        named = [(f"sense of rank {rank}", 100 * (each.value or 0.0)) for rank, each in enumerate(own[:-1], start=1)]
        shares += [(title, name, value) for name, value in named if value > 0]
        rows.append((title, own[-1].value, *(value / 100 for _, value in named)))
    if not rows:
        return Part(), tuple(left_out)
    return _synset_parts(settings.synset, lemma, len(usages), records, rows, shares), tuple(left_out)


def check_synset(name: str) -> None:
    """Check that a synset's name is one, and WordNet has it, where WordNet is at hand.

    Errors: :class:`InputError` for a name that is none.
    """
    try:
        _keys_of(name, wordnet.load())
    except DataError:
        # the report says what is not at hand
        return


def synset_usages(name: str) -> tuple[str, tuple[Usage, ...]]:
    """Return the lemma of a synset's name (``bond.n.02``) and its usages in SemCor, the lemma standing in its place.

    Vectors of *bonds* and of *bond* have senses of their own: to be compared, all usages are looked up in one form.
    Errors: :class:`DataError` where WordNet or SemCor is not at hand; :class:`InputError` for a name that is none.
    """
    lexicon = wordnet.load()
    lemma, keys = _keys_of(name, lexicon)
    found = []
    for sentence in semcor.load().sentences():
        for place in sentence.instances:
            token = sentence.tokens[place]
            if keys.intersection(token.sense_keys) and not semcor.is_name(token):
                found.append(with_wordform(sentence.usage(place), lemma))
    return lemma, tuple(found)


def maps_part(
    material: Material, settings: SenseInductionSettings, explored: Sequence[Exploration]
) -> tuple[Part, tuple[LeftOut, ...]]:
    """Return maps of the neighbours of words, one colour for each sense (Figure 2).

    *explored* has the senses and neighbours of the words, of every subject that knows one of them.
    """
    entries = {(each.subject_id, entry.word): entry for each in explored for entry in each.words}
    figures: list[Figure] = []
    left_out: list[LeftOut] = []
    for word in settings.words:
        for subject in material.subjects:
            title = material.title_of(subject.subject_id)
            entry = entries.get((title, word))
            if not isinstance(subject, ShowsSenses):
                left_out.append(LeftOut(_MAP, title, "It gives no vectors of its senses."))
            elif entry is None or len(entry.senses) < 2:
                left_out.append(LeftOut(_MAP, title, f"It has no two senses of {word!r}."))
            elif sum(len(sense.neighbours) for sense in entry.senses) < 2:
                left_out.append(LeftOut(_MAP, title, f"The senses of {word!r} have no direction, and no neighbours."))
            elif len(figures) == MOST_MAPS:
                left_out.append(LeftOut(_MAP, title, f"{MOST_MAPS} maps are drawn: name fewer words or subjects."))
            else:
                figures.append(_map(entry, subject.induced, title, len(figures) + 1, settings.seed))
    if not material.subjects:
        left_out.append(LeftOut(_MAP, "", _NOBODY))
    elif not settings.words:
        left_out.append(LeftOut(_MAP, "", "No word was named: --word."))
    return Part(figures=tuple(figures)), tuple(left_out)


_NOBODY = "No vectors were given: --subject."
_SYNSET_NAME = re.compile(r"(\S+)\.([nvar])\.(\d+)")


def _keys_of(name: str, lexicon: Lexicon) -> tuple[str, frozenset[str]]:
    match = _SYNSET_NAME.fullmatch(name)
    if match is None:
        raise InputError(f"{name!r} names no synset", hint="write lemma.pos.number, as bond.n.02")
    lemma, pos, number = match[1], cast(Pos, match[2]), int(match[3])
    senses = [sense for sense in lexicon.senses(lemma, pos) if sense.number == number]
    if not senses:
        raise InputError(f"{lexicon.name} has no sense {number} of {lemma!r} ({pos})", hint="give another synset")
    return lemma, frozenset(sense.sense_key for sense in senses)


def _ranked(table: NDArray[np.float64], subject: str, synset: str) -> list[Record]:
    """The mean probability of the senses, the most probable first, and the mean entropy of a sentence."""
    means = np.sort(table.mean(axis=0))[::-1]
    logs = np.log(table, out=np.zeros_like(table), where=table > 0)
    entropy = float(-(table * logs).sum(axis=1).mean())
    where = {"subject": subject, "condition": synset}
    shares = [
        Record(statistic_name("selection_share", rank=rank), float(value), n=len(table), **where)  # type: ignore[arg-type]
        for rank, value in enumerate(means, start=1)
    ]
    return [*shares, Record("sentence_entropy", entropy, n=len(table), unit="nats", **where)]  # type: ignore[arg-type]


def _synset_parts(
    synset: str,
    lemma: str,
    n: int,
    records: Sequence[Record],
    rows: Sequence[tuple[Cell, ...]],
    shares: Sequence[tuple[str, str, float]],
) -> Part:
    most = max(len(row) for row in rows) - 2
    columns = (Column("Vectors"), Column("Entropy", BOUNDED, note="Of a usage's distribution, mean, in nats."),
               *(Column(f"Rank {rank}", BOUNDED) for rank in range(1, most + 1)))  # fmt: skip
    filled = tuple((*row, *[None] * (most + 2 - len(row))) for row in rows)
    title = f"Mean probability of the senses of {lemma!r} over {n} usages of {synset} in SemCor"
    names = list(dict.fromkeys(name for _, name, _ in shares))
    heading = Heading("synset_senses", "5", f"Senses chosen in the usages of {synset}", _RANKED)
    figure = stacked_shares(
        shares, heading, order=sorted(names, key=lambda name: int(name.split()[-1])), unit="Mean probability, %"
    )
    return Part(tuple(records), (Table("synset_senses", "", title, columns, filled, (_RANKED,)),), (figure,))


def _map(entry: WordEntry, senses: InducedSenses, title: str, number: int, seed: int) -> Figure:
    """Draw the neighbours of a word's senses: the vector of each is that of the sense that is near."""
    points = [(sense.number, near) for sense in entry.senses for near in sense.neighbours]
    vectors = senses.vectors([senses.row(near) for _, near in points])
    places = tsne(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), seed=seed)
    drawn = [
        MapPoint(near.word, f"sense {sense}", x, y)
        for (sense, near), (x, y) in zip(points, places.tolist(), strict=True)
    ]
    caption = (
        f"The {NEIGHBOURS} words nearest to each sense of {entry.word!r}, placed by t-SNE: only nearness means "
        "something."
    )
    return neighbour_map(drawn, Heading(f"map_{number}", "2", f"Neighbours of {entry.word!r}: {title}", caption))
