"""The most polysemous nouns of a lexicon that a sense-tagged corpus has often enough, with their sentences.

*Source:* GASI §4.2: of the word types with at least ten sentences in SemCor the fifty with most senses in WordNet. A
type is taken at its word: a sentence counts where the noun stands in the form of its lemma, in lower case, because
sense vectors belong to forms, and people are to judge the senses of the word that they see. Names that are tagged as a
person, a group or a place are no uses of the word. Of several uses in one sentence the first counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lexiscope.build.minimal_pairs.occurrences import TaggedOccurrence
from lexiscope.build.minimal_pairs.sources import open_corpus, open_named_lexicon, read_nouns
from lexiscope.core.run import sha256_of
from lexiscope.core.settings import option
from lexiscope.core.usage import Usage
from lexiscope.items.choice_sets.surface import place_word
from lexiscope.items.tables.left_out import LeftOut
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


# -- nouns by the names of their sources ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NounSource:
    """Where nouns and their sentences come from."""

    words: Path | None = option(None, "a word a line: only these", metavar="FILE")
    corpus: str = option(
        "semcor",
        "sense-tagged sentences: SemCor, a folder in the unified layout, or a table of your own",
        metavar="semcor|FOLDER|FILE",
    )
    lexicon: str = option("wordnet", "says which nouns are polysemous", metavar="SPEC")
    min_sentences: int = option(10, "a noun has so many sentences at least", least=1)
    language: str = option("en", "of the words", metavar="TAG")

    def listed(self) -> tuple[tuple[str, ...], Mapping[str, str]]:
        """Return the words of the list and the sha256 of its file; nothing where there is no list."""
        return ((), {}) if self.words is None else (read_nouns(self.words), {self.words.name: sha256_of(self.words)})

    def nouns(self) -> SourceNouns:
        """Return the polysemous nouns of the corpus; where there is a list, those of it.

        Errors: those of the corpus, the lexicon and the list.
        """
        listed, own = self.listed()
        corpus = open_corpus(self.corpus)
        lexicon, files = open_named_lexicon(self.lexicon)
        found = polysemous_nouns(corpus.occurrences, lexicon, min_sentences=self.min_sentences, language=self.language)
        checksums = {**corpus.checksums, **files, **own}
        if self.words is None:
            return SourceNouns(found, checksums, corpus.licence)
        known = {noun.word for noun in found}
        why = f"not among the nouns with two senses in the lexicon and {self.min_sentences} sentences in the corpus"
        absent = tuple(LeftOut(word, why) for word in dict.fromkeys(listed) if word not in known)
        return SourceNouns(tuple(noun for noun in found if noun.word in listed), checksums, corpus.licence, absent)


@dataclass(frozen=True, slots=True)
class SourceNouns:
    """Nouns with their sentences, the files and the licence of these; *absent*: words of the list that are none."""

    nouns: tuple[PolysemousNoun, ...]
    checksums: Mapping[str, str]
    licence: str
    absent: tuple[LeftOut, ...] = ()
