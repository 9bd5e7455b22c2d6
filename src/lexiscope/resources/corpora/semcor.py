"""SemCor 3.0: English text tagged with senses of WordNet 3.0, also from its original tag files."""

from __future__ import annotations

from pathlib import Path

from lexiscope.core.errors import InputError, Place
from lexiscope.resources import fetch
from lexiscope.resources.cards import SEMCOR as CARD
from lexiscope.resources.corpora.unified_wsd import Token, UnifiedCorpus
from lexiscope.resources.lexicons.lexicon import Lexicon

_DATA = ("semcor.data.xml.gz", "semcor.data.xml")
_KEYS = ("semcor.gold.key.txt.gz", "semcor.gold.key.txt")
_BELOW = ("", "semcor", "SemCor", "WSD_Training_Corpora/SemCor")
_NAME_KEYS = frozenset({"person%1:03:00::", "group%1:03:00::", "location%1:03:00::"})
_WORDS = frozenset({"person", "persons", "people", "group", "groups", "location", "locations"})


def load(folder: Path | None = None, *, lexicon: Lexicon | None = None) -> UnifiedCorpus:
    """Return SemCor from *folder*, or from the data folders, after checking it.

    In a *folder* the files may be those of another conversion: ``semcor.data.xml`` and ``semcor.gold.key.txt``, as they
    are or compressed. With a *lexicon* every sense key must be one of it.
    Errors: :class:`~lexiscope.core.errors.DataError` where it is not available or not as published;
    :class:`InputError` where *folder* does not hold it.
    """
    if folder is not None:
        return UnifiedCorpus(_one_of(folder, _DATA), _one_of(folder, _KEYS), lexicon)
    data, keys = fetch.locate_all(CARD)[:2]
    return UnifiedCorpus(data.path, keys.path, lexicon)


def is_name(token: Token) -> bool:
    """Return whether a token is a name, tagged as a person, a group or a location.

    Its form then has nothing to do with its lemma, so it is not a use of that word.

    >>> jury = Token("Fulton County Grand Jury", "group", "NOUN", "d000.s000.t000", ("group%1:03:00::",))
    >>> is_name(jury), is_name(Token("groups", "group", "NOUN", "d000.s000.t001", ("group%1:03:00::",)))
    (True, False)
    """
    return not _NAME_KEYS.isdisjoint(token.sense_keys) and token.form.lower() not in _WORDS


def _one_of(folder: Path, names: tuple[str, ...]) -> Path:
    for path in (folder / below / name for below in _BELOW for name in names):
        if path.is_file():
            return path
    what = f"this folder holds neither {names[0]} nor {names[1]}"
    raise InputError(what, place=Place(str(folder)), hint="lexiscope data get semcor says where SemCor comes from")
