"""Wordnets of many languages through the ``wn`` library, a ``Lexicon`` of each; and lexicons by name.

Needs the extra ``wordnet``. The library keeps its lexicons in a separate database, to which ``python -m wn download``
adds from a network and ``wn.add(FILE)`` from a file in the format WN-LMF; nothing is added here.

A command line or a study file names a lexicon as :func:`open_lexicon` reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lexiscope.core.errors import DataError, InputError, SpecError, require
from lexiscope.resources.lexicons import wordnet
from lexiscope.resources.lexicons.lexicon import POS, LexicalSense, Lexicon, Pos, Synset, normalised_lemma

# the library writes what it knows from another lexicon's relations only as a synset of this id
_INFERRED = "*INFERRED*"
_LETTERS: dict[Pos, tuple[str, ...]] = {"n": ("n",), "v": ("v",), "a": ("a", "s"), "r": ("r",)}


def load(specifier: str) -> WnLexicon:
    """Return a lexicon of the library's database by its specifier (``oewn:2024``, ``omw-fr:1.4``).

    Errors: :class:`~lexiscope.core.errors.MissingExtraError` without the library;
    :class:`~lexiscope.core.errors.DataError` where the database does not hold the lexicon, or not exactly one.
    """
    wn = require("wn", "wordnet")
    try:
        wordnet = wn.Wordnet(specifier)
    except wn.Error as error:
        hint = f"python -m wn download {specifier}; or, with a WN-LMF file, in Python: import wn; wn.add(FILE)"
        raise DataError(f"the wn library has no lexicon {specifier!r}", why=str(error), hint=hint) from error
    specifiers = sorted(lexicon.specifier() for lexicon in wordnet.lexicons())
    if len(specifiers) != 1:
        what = f"{specifier!r} names {len(specifiers)} lexicons: {', '.join(specifiers)}"
        raise DataError(what, hint="name one, with its version")
    return WnLexicon(wordnet)


class WnLexicon:
    """A lexicon of the ``wn`` library's database.

    Sense keys are those of Princeton if the lexicon has them (English), otherwise those of the library.
    """

    def __init__(self, wordnet: Any) -> None:
        self._wordnet = wordnet
        self._about = wordnet.lexicons()[0]
        self._compat = require("wn.compat.sensekey", "wordnet")
        self._error: type[Exception] = require("wn", "wordnet").Error
        self._getter = self._compat.sense_key_getter(self.name) if self._about.id == "oewn" else _identifier
        english = self.language.split("-")[0] == "en"
        self._morphy = require("wn.morphy", "wordnet").Morphy(wordnet) if english else None

    @property
    def name(self) -> str:
        """The library's specifier, with the version."""
        return str(self._about.specifier())

    @property
    def language(self) -> str:
        """BCP 47 code of the language."""
        return str(self._about.language)

    @property
    def licence(self) -> str:
        """The licence as the lexicon names it."""
        return str(self._about.license)

    @property
    def citation(self) -> str:
        """What the lexicon asks its users to cite; its label where it asks nothing."""
        return str(self._about.citation or self._about.label)

    def synset(self, synset_id: str) -> Synset:
        """Return a synset by its id.

        Errors: :class:`InputError` where there is none.
        """
        return self._synset(self._its_synset(synset_id))

    def synsets(self, lemma: str, pos: Pos | None = None) -> tuple[Synset, ...]:
        """Return the synsets of a lemma in the order of its senses; without *pos* nouns, verbs, adjectives, adverbs."""
        return tuple(self._synset(sense.synset()) for sense in self._its_senses(lemma, pos))

    def sense(self, sense_key: str) -> LexicalSense:
        """Return a sense by its key.

        Errors: :class:`InputError` where there is none.
        """
        sense = self.find_sense(sense_key)
        if sense is None:
            raise InputError(f"{self.name} has no sense {sense_key!r}", hint="ask for the senses of the lemma")
        return sense

    def find_sense(self, sense_key: str) -> LexicalSense | None:
        """Return a sense by its key, or ``None``."""
        lemma, percent, _ = sense_key.partition("%")
        if not percent:
            try:
                lemma = self._wordnet.sense(sense_key).word().lemma()
            except self._error:
                return None
        return next((sense for sense in self.senses(lemma) if sense.sense_key == sense_key), None)

    def senses(self, lemma: str, pos: Pos | None = None) -> tuple[LexicalSense, ...]:
        """Return the senses of a lemma in their order; without *pos* nouns, verbs, adjectives, adverbs."""
        return tuple(
            self._sense(sense, number, part)
            for part in (POS if pos is None else (pos,))
            for number, sense in enumerate(self._its_senses(lemma, part), start=1)
        )

    def members(self, synset_id: str) -> tuple[LexicalSense, ...]:
        """Return the senses of a synset in the order of its lemmas."""
        return tuple(self.sense(self._key(sense)) for sense in self._its_synset(synset_id).senses())

    def hypernyms(self, synset_id: str) -> tuple[Synset, ...]:
        """Return the synsets directly above."""
        return self._related_synsets(synset_id, "hypernym")

    def instance_hypernyms(self, synset_id: str) -> tuple[Synset, ...]:
        """Return the synsets of which this one names an instance."""
        return self._related_synsets(synset_id, "instance_hypernym")

    def hyponyms(self, synset_id: str) -> tuple[Synset, ...]:
        """Return the synsets directly below."""
        return self._related_synsets(synset_id, "hyponym")

    def instance_hyponyms(self, synset_id: str) -> tuple[Synset, ...]:
        """Return the synsets that name instances of this one."""
        return self._related_synsets(synset_id, "instance_hyponym")

    def similar(self, synset_id: str) -> tuple[Synset, ...]:
        """Return the synsets of the same cluster of adjectives."""
        return self._related_synsets(synset_id, "similar")

    def derivations(self, sense_key: str) -> tuple[LexicalSense, ...]:
        """Return the senses that are derivationally related to this one."""
        own = self.sense(sense_key)
        senses = [sense for sense in self._its_senses(own.lemma, own.pos) if self._key(sense) == sense_key]
        related = [target for sense in senses for target in sense.get_related("derivation")]
        return tuple(self.sense(self._key(target)) for target in related)

    def base_forms(self, form: str, pos: Pos) -> tuple[str, ...]:
        """Return the lemmas of which *form* may be an inflected form: by the lexicon's own list of forms.

        In English also by morphy's rules.
        """
        words = self._words(form, pos)
        lemmas = [normalised_lemma(word.lemma()) for word in words]
        if self._morphy is not None:
            stems = self._morphy(form.replace("_", " "), pos).get(pos, ())
            lemmas += sorted(normalised_lemma(stem) for stem in stems)
        return tuple(dict.fromkeys(lemmas))

    def all_synsets(self, pos: Pos | None = None) -> Iterator[Synset]:
        """Iterate over all synsets in the order of the lexicon's file."""
        wanted = {letter for part in (POS if pos is None else (pos,)) for letter in _LETTERS[part]}
        for synset in self._wordnet.synsets():
            if synset.pos in wanted:
                yield self._synset(synset)

    def _words(self, form: str, pos: Pos) -> list[Any]:
        spoken = " ".join(form.replace("_", " ").split())
        # the library takes a form as it is written where it finds one
        spellings = dict.fromkeys((spoken, spoken.lower(), spoken.capitalize(), spoken.title()))
        words: dict[str, Any] = {}
        for letter in _LETTERS[pos]:
            for spelling in spellings:
                words.update((word.id, word) for word in self._wordnet.words(spelling, pos=letter))
        return list(words.values())

    def _its_senses(self, lemma: str, pos: Pos | None) -> list[Any]:
        wanted = normalised_lemma(lemma)
        return [
            sense
            for part in (POS if pos is None else (pos,))
            for word in self._words(lemma, part)
            if normalised_lemma(word.lemma()) == wanted
            for sense in word.senses()
        ]

    def _its_synset(self, synset_id: str) -> Any:
        try:
            return self._wordnet.synset(synset_id)
        except self._error as error:
            raise InputError(f"{self.name} has no synset {synset_id!r}", why=str(error)) from error

    def _related_synsets(self, synset_id: str, relation: str) -> tuple[Synset, ...]:
        synsets = self._its_synset(synset_id).get_related(relation)
        return tuple(self._synset(synset) for synset in synsets if synset.id != _INFERRED)

    def _synset(self, synset: Any) -> Synset:
        part = next((pos for pos, letters in _LETTERS.items() if synset.pos in letters), None)
        if part is None:
            raise InputError(
                f"a synset of the part of speech {synset.pos!r} has no place here", hint="n, v, a, s and r have"
            )
        return Synset(
            synset.id,
            part,
            tuple(lemma.replace(" ", "_") for lemma in synset.lemmas()),
            synset.definition() or "",
            tuple(synset.examples()),
            synset.lexfile() or "",
            synset.pos == "s",
            synset.ili,
        )

    def _sense(self, sense: Any, number: int, pos: Pos) -> LexicalSense:
        lemma = sense.word().lemma().replace(" ", "_")
        return LexicalSense(self._key(sense), lemma, pos, sense.synset().id, number, sum(sense.counts()))

    def _key(self, sense: Any) -> str:
        return str(self._getter(sense) or sense.id)


def _identifier(sense: Any) -> str | None:
    identifier = sense.metadata().get("identifier")
    return str(identifier) if identifier and "%" in identifier else None


def open_lexicon(spec: str) -> Lexicon:
    """Return the lexicon that a spec names.

    ``wordnet`` is WordNet 3.0 in the data folders, ``wordnet:PATH`` Princeton's files in a folder or archive,
    ``wn:SPECIFIER`` a lexicon of the ``wn`` library (``wn:omw-fr:1.4``).
    Errors: :class:`SpecError` for another spec; those of :func:`~lexiscope.resources.lexicons.wordnet.load` and
    :func:`~lexiscope.resources.lexicons.wn_lexicon.load`.
    """
    kind, colon, rest = spec.partition(":")
    if kind == "wordnet" and (rest or not colon):
        return wordnet.load(Path(rest) if rest else None)
    if kind == "wn" and rest:
        return load(rest)
    raise SpecError(f"{spec!r} names no lexicon", hint="write wordnet, wordnet:FOLDER or wn:SPECIFIER (wn:omw-fr:1.4)")
