"""Lexicons by name: what a command line or a study file may say."""

from __future__ import annotations

from pathlib import Path

from lexiscope.core.errors import SpecError
from lexiscope.resources.lexicons import wn_lexicon, wordnet
from lexiscope.resources.lexicons.lexicon import Lexicon


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
        return wn_lexicon.load(rest)
    raise SpecError(f"{spec!r} names no lexicon", hint="write wordnet, wordnet:FOLDER or wn:SPECIFIER (wn:omw-fr:1.4)")
