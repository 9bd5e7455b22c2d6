"""Buttons and messages of the pages, by language: those of the package's catalogues, and a study's own translations."""

from __future__ import annotations

import gettext
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from lexiscope.core.errors import InputError, Place

LOCALE = Path(__file__).parents[1] / "web" / "locale"
"""The folder of the catalogues: ``<language>/LC_MESSAGES/messages.po`` and ``.mo``."""

SOURCE_LANGUAGE = "en"
"""The language in which programs and templates say their texts."""
# its catalogue has the participants' pages and no others
_PARTICIPANTS = LOCALE / "de" / "LC_MESSAGES" / "messages.po"
_TEXT = re.compile(r'^msgid(?:_plural)? ((?:"(?:[^"\\]|\\.)*"\n)+)', re.MULTILINE)


class OwnTexts(gettext.NullTranslations):
    """A study's translations by the English text; missing ones are those of the catalogue, or English."""

    def __init__(self, texts: Mapping[str, str], language: str) -> None:
        super().__init__()
        self._texts = texts
        self.add_fallback(catalogue(language) if has_catalogue(language) else gettext.NullTranslations())

    def gettext(self, message: str) -> str:
        """Return a text."""
        return self._texts.get(message) or super().gettext(message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        """Return a text that counts: its translation for one, or for more."""
        return self._texts.get(msgid1 if n == 1 else msgid2) or super().ngettext(msgid1, msgid2, n)


def has_catalogue(language: str) -> bool:
    """Return whether the package has the texts of the pages in a language.

    >>> has_catalogue("es-MX"), has_catalogue("sw")
    (True, False)
    """
    return language.partition("-")[0] == SOURCE_LANGUAGE or any(path.is_file() for path in _files(language))


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Return the texts of the pages in a language. Errors: :class:`InputError` E633 where there are none."""
    for path in _files(language):
        if path.is_file():
            with path.open("rb") as file:
                return gettext.GNUTranslations(file)
    if language.partition("-")[0] == SOURCE_LANGUAGE:
        return gettext.NullTranslations()
    hint = "Write a file of words: lexiscope annotate words TASK --language TAG --out words.yaml."
    raise InputError(f"The pages have no texts in {language!r}.", code="E633", place=Place(str(LOCALE.name)), hint=hint)


@cache
def participants_texts() -> tuple[str, ...]:
    """Return the English texts of the participants' pages, in the order of the catalogue; plurals by themselves."""
    quoted = _TEXT.findall(_PARTICIPANTS.read_text(encoding="utf-8"))
    texts = ("".join(json.loads(line) for line in lines.splitlines()) for lines in quoted)
    return tuple(text for text in texts if text)


def _files(language: str) -> tuple[Path, ...]:
    names = (language.replace("-", "_"), language.partition("-")[0])
    return tuple(LOCALE / name / "LC_MESSAGES" / "messages.mo" for name in names)
