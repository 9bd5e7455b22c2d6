"""The most polysemous nouns of a lexicon that a sense-tagged corpus has often enough, with their sentences.

*Source:* GASI §4.2: of the word types with at least ten sentences in SemCor the fifty with most senses in WordNet. A
type is taken at its word: a sentence counts where the noun stands in the form of its lemma, in lower case, because
sense vectors belong to forms, and people are to judge the senses of the word that they see. Names that are tagged as a
person, a group or a place are no uses of the word. Of several uses in one sentence the first counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lexiscope.build.minimal_pairs.occurrences import TaggedOccurrence
from lexiscope.core.usage import Usage
from lexiscope.items.choice_sets.surface import place_word
from lexiscope.resources.lexicons.lexicon import Lexicon, normalised_lemma


@dataclass(frozen=True, slots=True)
class PolysemousNoun:
    """A noun, how many senses it has in the lexicon, and its sentences by their ids, in the order of the corpus."""

    word: str
    n_senses: int
    sentences: tuple[tuple[str, Usage], ...]


def polysemous_nouns(
    occurrences: Iterable[TaggedOccurrence], lexicon: Lexicon, *, min_sentences: int = 10, language: str = "en"
) -> tuple[PolysemousNoun, ...]:
    """Return the nouns with two senses or more and at least *min_sentences* sentences, those of most senses first.

    Nouns of equally many senses stand in alphabetical order. The punctuation of a tokenised sentence is joined, and
    the span goes along. Two sentences of one text are one.
    """
    sentences: dict[str, dict[str, tuple[str, Usage]]] = {}
    for each in occurrences:
        if each.pos == "n" and not each.is_name and each.form == normalised_lemma(each.lemma) and each.form.isalpha():
            sentences.setdefault(each.form, {}).setdefault(each.text, (each.sentence_id, _usage(each, language)))
    often = [(word, tuple(found.values())) for word, found in sentences.items() if len(found) >= min_sentences]
    nouns = [PolysemousNoun(word, len(lexicon.senses(word, "n")), found) for word, found in often]
    return tuple(sorted((each for each in nouns if each.n_senses > 1), key=lambda each: (-each.n_senses, each.word)))


def _usage(found: TaggedOccurrence, language: str) -> Usage:
    placed = place_word(found.text, (found.start, found.end), found.form, tokenised=found.tokenised, language=language)
    sense = found.senses[0] if found.senses else None
    return Usage(placed.text, placed.start, placed.end, found.lemma, found.pos, language, sense)
