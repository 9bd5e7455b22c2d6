"""Candidates for minimal pairs of synonyms: words in context that have a synonym in their sense and in another one.

A candidate is a word in one sense, with the contexts in which a corpus has it, the synonyms of that sense and the
distractors: synonyms of the word's other senses. Every rule is a filter with a name, and what comes in and goes out
of each is counted. *Source:* Ivan, Ramisch and Nasr, section 3.3 and their collection rules.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

from lexiscope.build.minimal_pairs.alternatives import Alternative, Alternatives, FilterCount, Rules
from lexiscope.build.minimal_pairs.occurrences import TaggedOccurrence
from lexiscope.items.check.rows import flagged_words
from lexiscope.items.choice_sets.surface import Placed, place_word
from lexiscope.resources.lexicons.lexicon import POS_NAMES, Lexicon, Pos, normalised_lemma


@dataclass(frozen=True, slots=True)
class Context:
    """A sentence with a candidate in it.

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
        """The word as it is in the text."""
        return self.text[self.start : self.end]

    def with_word(self, word: str | None = None, *, language: str = "en") -> Placed:
        """Return the sentence as subjects read it, with its target or *word* in the target's place."""
        span, inserted = (self.start, self.end), self.target if word is None else word
        return place_word(self.text, span, inserted, tokenised=self.tokenised, language=language)

    def bracketed_text(self, word: str | None = None, *, language: str = "en") -> str:
        """Return the sentence as subjects read it, with its target or *word* in square brackets."""
        return self.with_word(word, language=language).bracketed


_NO_DISTRACTOR = Alternative("", 0, 0, "", "none: the word has one sense")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A word in one sense, with its synonyms there, its distractors (both best first) and its contexts.

    ``synset`` are all lemmas of the sense, ``sense_number`` is its place among the ``n_senses`` of the word in its part
    of speech. A word with one sense (a control) has no distractors.
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
    pos: Pos = "n"

    def pairs(self) -> tuple[tuple[Alternative, Alternative], ...]:
        """Return the pairs of a synonym and a distractor that go together, best synonym first, then best distractor.

        They do not where the synonym also shares the sense from which the distractor is taken. A control has its
        synonyms, each with an empty distractor.
        """
        if self.n_senses == 1:
            return tuple((synonym, _NO_DISTRACTOR) for synonym in self.synonyms)
        return tuple(
            (synonym, distractor)
            for synonym in self.synonyms
            for distractor in self.distractors
            if distractor.goes_with(synonym)
        )

    def context(self, context_id: str) -> Context | None:
        """Return the context with this id, or ``None``."""
        return next((context for context in self.contexts if context.context_id == context_id), None)


@dataclass(frozen=True, slots=True)
class CandidateSet:
    """Candidates in the order in which the corpus has them first, and the count of every filter."""

    candidates: tuple[Candidate, ...]
    counts: tuple[FilterCount, ...]

    def staged(self, rules: Rules) -> CandidateSet:
        """Return the set with stages that say under which rules they were: ``verb, one sense: occurrence``."""
        under = POS_NAMES[rules.pos] + (", one sense" if rules.senses == "one" else "")
        return replace(self, counts=tuple(replace(step, stage=f"{under}: {step.stage}") for step in self.counts))

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
) -> CandidateSet:
    """Return the candidates of a corpus.

    Words of *flagged* are marked in the contexts, which stay unless the rules say otherwise. The corpus is gone through
    once; nothing is drawn at random here.
    """
    rules = rules or Rules()
    alternatives = Alternatives(lexicon, rules)
    filters = _filters(rules, alternatives)
    if rules.leave_out_flagged:
        filters += (("no flagged word", lambda word: not flagged_words(word.text, flagged)),)
    passed = [0] * (len(filters) + 1)
    contexts: dict[str, list[Context]] = {}
    words: dict[str, str] = {}
    for word in occurrences:
        passed[0] += 1
        for place, (_, holds) in enumerate(filters, start=1):
            if not holds(word):
                break
            passed[place] += 1
        else:
            flags = flagged_words(word.text, flagged)
            sentence = (word.occurrence_id, word.sentence_id, word.text, word.start, word.end, word.tokenised)
            contexts.setdefault(word.senses[0], []).append(Context(*sentence, flags, passed[0]))
            words[word.senses[0]] = word.form
    candidates = tuple(_candidate(sense, words[sense], tuple(here), alternatives) for sense, here in contexts.items())
    names = (name for name, _ in filters)
    counts = (FilterCount("occurrence", name, *step) for name, step in zip(names, pairwise(passed), strict=True))
    return CandidateSet(candidates, (*counts, *alternatives.counts()))


Filter = tuple[str, Callable[[TaggedOccurrence], bool]]


def _filters(rules: Rules, alternatives: Alternatives) -> tuple[Filter, ...]:
    """The filters of occurrences in the order in which they are applied: cheap ones first."""

    shared: tuple[Filter, ...] = (
        ("part of speech asked for", lambda word: word.pos == rules.pos),
        ("not a name", lambda word: not word.is_name),
        ("one word", lambda word: rules.is_one_word(word.form) and rules.is_one_word(word.lemma)),
        # a corpus may write lemmas in small letters only (SemCor does); capitals are the next filter's matter
        ("form is the lemma", lambda word: word.lemma in (word.form, word.form.lower())),
        ("letters, lower case", lambda word: rules.is_plain(word.form)),
        (f"sentence of at least {rules.min_tokens} tokens", lambda word: word.n_tokens >= rules.min_tokens),
        ("tagged with one sense", lambda word: len(word.senses) == 1),
        ("sense is in the lexicon", lambda word: alternatives.knows(word.senses[0], normalised_lemma(word.lemma))),
    )
    synonym: Filter = ("a synonym in its sense", lambda word: bool(alternatives.synonyms(word.senses[0])))
    if rules.senses == "one":
        return (*shared, ("one sense", lambda word: alternatives.has_one_sense(word.senses[0])), synonym)
    return (
        *shared,
        ("several senses", lambda word: alternatives.n_senses(word.senses[0]) > 1),
        synonym,
        ("a distractor from another sense", lambda word: bool(alternatives.distractors(word.senses[0]))),
        ("a synonym and a distractor that go together", lambda word: alternatives.has_pair(word.senses[0])),
    )


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
        pos=own.pos,
    )
