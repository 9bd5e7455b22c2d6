"""Candidates for minimal pairs of synonyms: words in context that have a synonym in their sense and in another one.

A candidate is a word in one sense, with the contexts in which a corpus has it, the synonyms of that sense and the
distractors: synonyms of the word's other senses. Every rule is a filter with a name, and what comes in and goes out
of each is counted. *Source:* Ivan, Ramisch and Nasr, section 3.3 and their collection rules.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from itertools import pairwise

from lexiscope.build.minimal_pairs.alternatives import Alternative, Alternatives, FilterCount, Rules
from lexiscope.build.minimal_pairs.occurrences import TaggedOccurrence
from lexiscope.items.check.flagged import flagged_words
from lexiscope.items.choice_sets.surface import Placed, place_word
from lexiscope.resources.lexicons.lexicon import Lexicon, normalised_lemma


@dataclass(frozen=True, slots=True)
class Context:
    """A sentence in which a candidate stands.

    ``flagged`` are its words that a curator should look at; ``place`` is its place among the tagged words of the
    corpus.
    """

    context_id: str
    sentence_id: str
    text: str
    start: int
    end: int
    tokenised: bool = True
    flagged: tuple[str, ...] = ()
    place: int = 0

    @property
    def target(self) -> str:
        """The word as it stands in the text."""
        return self.text[self.start : self.end]

    def placed(self, word: str | None = None, *, language: str = "en") -> Placed:
        """Return the sentence as subjects read it, with its target or *word* in the target's place."""
        span, inserted = (self.start, self.end), self.target if word is None else word
        return place_word(self.text, span, inserted, tokenised=self.tokenised, language=language)

    def marked(self, word: str | None = None, *, language: str = "en") -> str:
        """Return the sentence as subjects read it, with its target or *word* in square brackets."""
        made = self.placed(word, language=language)
        return f"{made.text[: made.start]}[{made.word}]{made.text[made.end :]}"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A word in one sense, with its synonyms there, its distractors (both best first) and its contexts.

    ``synset`` are all lemmas of the sense, ``sense_number`` is its place among the ``n_senses`` of the word.
    """

    sense: str
    word: str
    gloss: str
    sense_number: int
    n_senses: int
    synset: tuple[str, ...]
    synonyms: tuple[Alternative, ...]
    distractors: tuple[Alternative, ...]
    contexts: tuple[Context, ...] = ()

    def pairs(self) -> tuple[tuple[Alternative, Alternative], ...]:
        """Return the pairs of a synonym and a distractor that go together, best synonym first, then best distractor.

        They do not where the synonym also shares the sense from which the distractor is taken.
        """
        return tuple((one, other) for one in self.synonyms for other in self.distractors if other.goes_with(one))

    def context(self, context_id: str) -> Context | None:
        """Return the context with this id, or ``None``."""
        return next((each for each in self.contexts if each.context_id == context_id), None)


@dataclass(frozen=True, slots=True)
class FoundCandidates:
    """Candidates in the order in which the corpus has them first, and the count of every filter."""

    candidates: tuple[Candidate, ...]
    counts: tuple[FilterCount, ...]

    @property
    def n_contexts(self) -> int:
        """The number of occurrences that passed all filters."""
        return sum(len(candidate.contexts) for candidate in self.candidates)

    @property
    def n_words(self) -> int:
        """The number of distinct words."""
        return len({candidate.word for candidate in self.candidates})


def find_candidates(
    occurrences: Iterable[TaggedOccurrence],
    lexicon: Lexicon,
    *,
    rules: Rules | None = None,
    flagged: Collection[str] = (),
) -> FoundCandidates:
    """Return the candidates of a corpus.

    Words of *flagged* are marked in the contexts, which stay unless the rules say otherwise. The corpus is gone through
    once; nothing is drawn at random here.
    """
    rules = rules or Rules()
    alternatives = Alternatives(lexicon, rules)
    filters = _filters(rules, alternatives)
    if rules.leave_out_flagged:
        filters += (("no flagged word", lambda one: not flagged_words(one.text, flagged)),)
    passed = [0] * (len(filters) + 1)
    contexts: dict[str, list[Context]] = {}
    words: dict[str, str] = {}
    for one in occurrences:
        passed[0] += 1
        for place, (_, holds) in enumerate(filters, start=1):
            if not holds(one):
                break
            passed[place] += 1
        else:
            words[one.senses[0]] = one.form
            contexts.setdefault(one.senses[0], []).append(_context(one, flagged, passed[0]))
    found = tuple(_candidate(sense, words[sense], tuple(here), alternatives) for sense, here in contexts.items())
    names = (name for name, _ in filters)
    counts = (FilterCount("occurrence", name, *step) for name, step in zip(names, pairwise(passed), strict=True))
    return FoundCandidates(found, (*counts, *alternatives.counts()))


Filter = tuple[str, Callable[[TaggedOccurrence], bool]]


def _filters(rules: Rules, alternatives: Alternatives) -> tuple[Filter, ...]:
    """The filters of occurrences in the order in which they are applied: cheap ones first."""

    def polysemous(one: TaggedOccurrence) -> bool:
        return alternatives.n_senses(one.senses[0]) > 1

    return (
        ("part of speech asked for", lambda one: one.pos == rules.pos),
        ("not a name", lambda one: not one.is_name),
        ("one word", lambda one: rules.is_one_word(one.form) and rules.is_one_word(one.lemma)),
        ("form is the lemma", lambda one: one.form == one.lemma or _differs_in_case(one)),
        ("letters, lower case", lambda one: rules.is_plain(one.form)),
        (f"sentence of at least {rules.min_tokens} tokens", lambda one: one.n_tokens >= rules.min_tokens),
        ("tagged with one sense", lambda one: len(one.senses) == 1),
        ("sense is in the lexicon", lambda one: alternatives.knows(one.senses[0], normalised_lemma(one.lemma))),
        ("several senses", polysemous),
        ("a synonym in its sense", lambda one: bool(alternatives.synonyms(one.senses[0]))),
        ("a distractor from another sense", lambda one: bool(alternatives.distractors(one.senses[0]))),
        ("a synonym and a distractor that go together", lambda one: alternatives.has_pair(one.senses[0])),
    )


def _differs_in_case(one: TaggedOccurrence) -> bool:
    # a corpus may write lemmas in small letters only (SemCor does); capitals are the next filter's matter
    return one.form.lower() == one.lemma


def _candidate(sense: str, word: str, contexts: tuple[Context, ...], alternatives: Alternatives) -> Candidate:
    own, synset = alternatives.sense(sense), alternatives.synset(sense)
    return Candidate(
        sense=sense,
        word=word,
        gloss=synset.gloss,
        sense_number=own.number,
        n_senses=alternatives.n_senses(sense),
        synset=synset.lemmas,
        synonyms=alternatives.synonyms(sense),
        distractors=alternatives.distractors(sense),
        contexts=contexts,
    )


def _context(one: TaggedOccurrence, flagged: Collection[str], place: int) -> Context:
    found = flagged_words(one.text, flagged)
    return Context(one.occurrence_id, one.sentence_id, one.text, one.start, one.end, one.tokenised, found, place)
