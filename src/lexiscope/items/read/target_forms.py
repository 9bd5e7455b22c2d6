"""Is what is at a span the target? Checks of a published span against the letters of its lemma.

A wordform may differ from its lemma in every letter (*went*, *go*), so the rule is lenient: form and lemma begin alike,
or share half of the shorter one, or are in a short table of suppletive forms. Marks and case are ignored. One row can
pass by accident; a file whose spans are shifted cannot.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from dataclasses import replace

from lexiscope.core.errors import Place, SpanError
from lexiscope.core.usage import Usage, continues_word

_WITHOUT_EDGES = frozenset({"zh", "ja", "ko"})
"""Languages whose words are not set off by spaces, or carry particles behind them."""

# forms that share neither their first letter nor half of their letters with the lemma
_SUPPLETIVE: dict[str, dict[str, str]] = {
    "en": {"be": "am is are was were", "go": "went gone", "good": "better best", "bad": "worse worst"},
    "de": {
        "sein": "bin bist ist war warst waren wart wäre wären gewesen",
        "gut": "besser besten bessere besseren",
        "viel": "mehr meist meisten",
        "gern": "lieber liebsten",
    },
    "fr": {
        "être": "suis sommes sont fus fut furent serai sera seront serait soit soient",
        "aller": "vais vas va vont irai ira iront irait ille",
        "avoir": "eu eus eut eurent",
        "bon": "meilleur meilleure",
    },
    "it": {"andare": "vado vai va vanno", "essere": "sono sei siamo fu furono stato stata", "buono": "migliore"},
    "nl": {"zijn": "ben bent is was waren geweest", "goed": "beter best", "veel": "meer meest"},
    "da": {"være": "er", "god": "bedre bedst", "lille": "små mindre mindst"},
    "et": {"minema": "lähen lähed läheb läheme lähete lähevad läks läksin", "olema": "on"},
    "bg": {"съм": "е са беше бяха", "човек": "хора"},
    "hr": {"biti": "je sam si smo ste su jest", "čovjek": "ljudi ljude"},
    "ja": {"する": "し さ せ", "来る": "き こ"},
}
_PARTICIPLES = {"de": "ge", "nl": "ge"}


def token_span(text: str, index: int) -> tuple[int, int]:
    """Return the span of a token by its position, from 0, in ``text.split(" ")``.

    Only the space separates tokens: a no-break space is part of one.
    Errors: :class:`SpanError` E103 where there is no such token.

    >>> token_span("The roof .\\u00a0", 1)
    (4, 8)
    """
    tokens = text.split(" ")
    if not 0 <= index < len(tokens):
        what = f"there is no token {index} in a text of {len(tokens)} tokens"
        raise SpanError(what, code="E103", place=Place(text=text), hint="positions count from 0, at single spaces")
    start = sum(map(len, tokens[:index])) + index
    return start, start + len(tokens[index])


def is_form_of(form: str, lemma: str, language: str = "und") -> bool:
    """Return whether *form* may be a form of *lemma*: by its letters, or by the table of suppletive forms.

    >>> is_form_of("drove", "drive"), is_form_of("went", "go", "en"), is_form_of("of", "bank")
    (True, True, False)
    """
    if form.casefold() in _SUPPLETIVE.get(language, {}).get(lemma, "").split():
        return True
    own, base = _plain(form), _plain(lemma)
    without_prefix = own.removeprefix(_PARTICIPLES.get(language, ""))
    if not own or not base:
        return False
    return base[0] in (own[0], without_prefix[:1]) or 2 * _longest_shared_run(own, base) >= min(len(own), len(base))


def verified_usage(
    text: str,
    span: tuple[int, int],
    *,
    place: Place,
    lemma: str | None = None,
    pos: str | None = None,
    language: str = "und",
    odd: Collection[tuple[str, str]] = (),
) -> Usage:
    """Return a usage whose span was checked: whole words, and a form of the lemma where one is given.

    *place* says where *text* begins in its file. *odd* are (form, lemma) pairs that are known to differ as published.
    Errors: :class:`SpanError` E101, E103 or E104 with that file, line and column.
    """
    start, end = span
    here = replace(place, column=(place.column or 1) + start, width=max(1, end - start))
    if place.text is None:
        here = replace(here, text=text)
    try:
        usage = Usage(text, start, end, lemma=lemma, pos=pos, language=language)
    except SpanError as error:
        raise SpanError(error.what, code=error.code, place=here, why=error.why, hint=error.hint) from error
    cut = continues_word(usage.text[: usage.start][-1:]) or continues_word(usage.text[usage.end :][:1])
    fault = "it begins or ends inside a word" if cut and usage.language not in _WITHOUT_EDGES else ""
    if not fault and lemma is not None and (usage.target, lemma) not in odd:
        known = is_form_of(usage.target, lemma, language)
        fault = "" if known else f"its letters match no known form of {lemma!r}"
    if fault:
        what = f"span {start}:{end} covers {usage.target!r}: {fault}"
        raise SpanError(what, code="E101", place=here, hint="is the span counted in characters, from 0, end excluded?")
    return usage


def _plain(word: str) -> str:
    letters = unicodedata.normalize("NFD", word.casefold())
    return "".join(char for char in letters if not unicodedata.combining(char))


def _longest_shared_run(first: str, second: str) -> int:
    """The length of the longest run of letters that is in both."""
    best, before = 0, [0] * (len(second) + 1)
    for char in first:
        row = [0]
        for place, match in enumerate(second):
            row.append(before[place] + 1 if char == match else 0)
        best, before = max(best, *row), row
    return best
