"""A made-up lexicon in memory and made-up tagged words: nobody's data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from lexiscope.build.minimal_pairs.occurrences import TaggedOccurrence
from lexiscope.resources.lexicons.lexicon import LexicalSense, Lexicon, Pos, Synset, normalised_lemma


class MadeUpLexicon:
    """Synsets given as (id, supersense, lemmas, hypernyms); a lemma's senses are in the order in which they come."""

    name = "made-up-1"
    language = "en"
    licence = "none"
    citation = "nobody"

    def __init__(
        self,
        synsets: Sequence[tuple[str, str, Sequence[str], Sequence[str]]],
        counts: Mapping[tuple[str, str], int] | None = None,
    ) -> None:
        self._synsets = {
            name: Synset(name, "n", tuple(lemmas), f"gloss of {name}", (), sup) for name, sup, lemmas, _ in synsets
        }
        self._above = {name: tuple(above) for name, _, _, above in synsets}
        self._senses: dict[str, LexicalSense] = {}
        numbers: dict[str, int] = {}
        for name, _, lemmas, _ in synsets:
            for lemma in lemmas:
                numbers[lemma] = numbers.get(lemma, 0) + 1
                count = (counts or {}).get((lemma, name), 0)
                key = f"{lemma}%{name}"
                self._senses[key] = LexicalSense(key, lemma, "n", name, numbers[lemma], count)

    def find_sense(self, sense_key: str) -> LexicalSense | None:
        return self._senses.get(sense_key)

    def sense(self, sense_key: str) -> LexicalSense:
        return self._senses[sense_key]

    def senses(self, lemma: str, pos: Pos | None = None) -> tuple[LexicalSense, ...]:
        wanted = normalised_lemma(lemma)
        return tuple(each for each in self._senses.values() if normalised_lemma(each.lemma) == wanted)

    def synset(self, synset_id: str) -> Synset:
        return self._synsets[synset_id]

    def members(self, synset_id: str) -> tuple[LexicalSense, ...]:
        return tuple(self._senses[f"{lemma}%{synset_id}"] for lemma in self._synsets[synset_id].lemmas)

    def hypernyms(self, synset_id: str) -> tuple[Synset, ...]:
        return tuple(self._synsets[each] for each in self._above[synset_id])


def made_up_lexicon(
    synsets: Sequence[tuple[str, str, Sequence[str], Sequence[str]]],
    counts: Mapping[tuple[str, str], int] | None = None,
) -> Lexicon:
    """Return the lexicon as what it answers like, as far as the builder asks."""
    return cast(Lexicon, MadeUpLexicon(synsets, counts))


def bench_lexicon() -> Lexicon:
    """*Bench* is a seat, with *pew* and *settle*, or a court, with *judiciary* and *court*."""
    return made_up_lexicon(
        [
            ("thing", "noun.Tops", ["thing"], []),
            ("seat", "noun.artifact", ["bench", "pew", "settle", "long_seat"], ["thing"]),
            ("court", "noun.group", ["bench", "judiciary", "court", "Bar", "pew-court"], []),
            ("yard", "noun.artifact", ["court", "yard"], ["thing"]),
        ],
        {
            ("pew", "seat"): 2,
            ("settle", "seat"): 2,
            ("court", "yard"): 9,
            ("court", "court"): 1,
            ("judiciary", "court"): 1,
        },
    )


def occurrence(
    number: int,
    text: str = "They carried the old bench out to the garden before the rain .",
    *,
    target: str = "bench",
    sense: str = "bench%seat",
    **changes: object,
) -> TaggedOccurrence:
    """Return a tagged word; every field can be given."""
    start = text.index(target)
    given: dict[str, object] = {
        "occurrence_id": f"d0.s{number}.t0",
        "sentence_id": f"d0.s{number}",
        "text": text,
        "start": start,
        "end": start + len(target),
        "lemma": target,
        "pos": "n",
        "senses": (sense,),
        "n_tokens": len(text.split()),
    }
    return TaggedOccurrence(**(given | changes))  # type: ignore[arg-type]
