"""The most polysemous nouns of a lexicon that a sense-tagged corpus has often enough, with their sentences.

*Source:* GASI §4.2: of the word types with at least ten sentences in SemCor the fifty with most senses in WordNet. A
type is a form: a sentence counts if the noun has the form of its lemma, in lower case, because sense vectors belong to
forms, and people judge the senses of the word that they see. Names that are tagged as a person, a group or a place do
not count as uses of the word. If a sentence has several uses, the first counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lexiscope.build.minimal_pairs.occurrences import TaggedOccurrence, open_corpus, open_named_lexicon, read_nouns
from lexiscope.core.run import sha256_of
from lexiscope.core.settings import option
from lexiscope.core.usage import Usage
from lexiscope.items.choice_sets.surface import place_word
from lexiscope.items.tables.findings import ExcludedEntry
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

    Nouns of equally many senses are in alphabetical order. The punctuation of a tokenised sentence is joined, and
    the span goes along. Two sentences of one text are one.
    """
    sentences: dict[str, dict[str, tuple[str, Usage]]] = {}
    for word in occurrences:
        form, span = word.form, (word.start, word.end)
        if word.pos != "n" or word.is_name or form != normalised_lemma(word.lemma) or not form.isalpha():
            continue
        placed = place_word(word.text, span, form, tokenised=word.tokenised, language=language)
        sense = word.senses[0] if word.senses else None
        usage = Usage(placed.text, placed.start, placed.end, word.lemma, word.pos, language, sense)
        sentences.setdefault(form, {}).setdefault(word.text, (word.sentence_id, usage))
    nouns = [
        PolysemousNoun(form, len(lexicon.senses(form, "n")), tuple(distinct.values()))
        for form, distinct in sentences.items()
        if len(distinct) >= min_sentences
    ]
    return tuple(sorted((noun for noun in nouns if noun.n_senses > 1), key=lambda noun: (-noun.n_senses, noun.word)))


# -- nouns by the names of their sources ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NounSource:
    """Where nouns and their sentences come from."""

    words: Path | None = option(None, "only these words, one per line", metavar="FILE")
    corpus: str = option(
        "semcor",
        "sense-tagged sentences: SemCor, a folder in the unified layout, or your table",
        metavar="semcor|FOLDER|FILE",
    )
    lexicon: str = option("wordnet", "says which nouns are polysemous", metavar="SPEC")
    min_sentences: int = option(10, "least number of sentences of a noun", least=1)
    language: str = option("en", "language of the words", metavar="TAG")

    def read_word_list(self) -> tuple[tuple[str, ...], Mapping[str, str]]:
        """Return the words of the list and the sha256 of its file; nothing where there is no list."""
        return ((), {}) if self.words is None else (read_nouns(self.words), {self.words.name: sha256_of(self.words)})

    def nouns(self) -> SourceNouns:
        """Return the polysemous nouns of the corpus; if there is a list, those in it.

        Errors: those of the corpus, the lexicon and the list.
        """
        listed, own = self.read_word_list()
        corpus = open_corpus(self.corpus)
        lexicon, files = open_named_lexicon(self.lexicon)
        nouns = polysemous_nouns(corpus.occurrences, lexicon, min_sentences=self.min_sentences, language=self.language)
        checksums = {**corpus.checksums, **files, **own}
        if self.words is None:
            return SourceNouns(nouns, checksums, corpus.licence)
        known = {noun.word for noun in nouns}
        why = f"not among the nouns with two senses in the lexicon and {self.min_sentences} sentences in the corpus"
        absent = tuple(ExcludedEntry(word, why) for word in dict.fromkeys(listed) if word not in known)
        return SourceNouns(tuple(noun for noun in nouns if noun.word in listed), checksums, corpus.licence, absent)


@dataclass(frozen=True, slots=True)
class SourceNouns:
    """Nouns with their sentences, the files and the licence of these; *absent*: words of the list that are none."""

    nouns: tuple[PolysemousNoun, ...]
    checksums: Mapping[str, str]
    licence: str
    absent: tuple[ExcludedEntry, ...] = ()
