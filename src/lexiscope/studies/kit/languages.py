"""Models and items in different languages: a warning that names both."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lexiscope.core.dataset import Dataset, SubjectFacts
from lexiscope.core.item import Item
from lexiscope.core.subject import Subject

_NAMES = {"en": "English", "es": "Spanish", "de": "German", "fr": "French", "pt": "Portuguese", "it": "Italian"}
_FUNCTION_WORDS = {
    "en": "the of and to in is was that for with his her they she he it are on by from this had not but",
    "es": "el los las del una con por para que como está era fue muy más pero sus este esta al lo se su y",
    "de": "der die das und ist war ein eine nicht mit den dem auf für im von sich auch wir ich zu als",
    "fr": "le les des une est était dans pour avec pas sur qui du au elle nous vous ce cette et il",
    "pt": "o os uma não com para que foi são mais mas do da dos das ao à seu sua em e no na",
    "it": "il gli della di un è non con per che sono nel alla dei si lo ma più era suo sua",
}
"""Frequent words of languages that are written with Latin letters; a text is told by those that are no other's."""
_SAMPLE = 200
_FEWEST, _TIMES = 20, 3
_WORD = re.compile(r"[^\W\d_]+")


def language_remarks(subjects: Iterable[Subject], items: Sequence[Item]) -> list[str]:
    """Return a warning for each subject whose known languages are not that of the items.

    The language of items is the one that they state, otherwise the one of their function words; that of a model is the
    one of its card. If one of them is not known, there is no warning.
    """
    warnings = []
    for subject in subjects:
        spoken, language = other_language(subject.facts, items)
        if spoken:
            warnings.append(
                f"W217 {subject.subject_id} is a model of {spoken}, the items are in {language}. "
                f"Use a model of {language} or a multilingual one."
            )
    return warnings


def other_language(facts: SubjectFacts, items: Sequence[Item]) -> tuple[str, str]:
    """Return the languages that a model declares and that of the items, where the items are in none of them.

    Both are empty where they agree, or one of them is not known.
    """
    stated = {usage.language for item in items for usage in item.usages} - {"", "und"}
    language = stated.pop() if len(stated) == 1 else "" if stated else language_of(items)
    known = {name.partition("-")[0].lower() for name in facts.languages}
    if not language or not known or facts.multilingual or "multilingual" in known:
        return "", ""
    if language.partition("-")[0].lower() in known:
        return "", ""
    return " and ".join(sorted(map(language_name, known))), language_name(language)


def with_language_remarks(data: Dataset, subjects: Iterable[Subject]) -> Dataset:
    """Return a dataset that is about to be answered by subjects, with a remark on each of another language."""
    remarks = language_remarks(subjects, data.items)
    return replace(data, card=replace(data.card, remarks=(*data.card.remarks, *remarks))) if remarks else data


def language_name(code: str) -> str:
    """Return the name of a language, or its code.

    >>> language_name("es"), language_name("eu")
    ('Spanish', 'eu')
    """
    return _NAMES.get(code.partition("-")[0].lower(), code)


def language_of(items: Sequence[Item]) -> str:
    """Return the language of the texts of items by their function words; empty if these do not tell it clearly.

    >>> from lexiscope.core.usage import Usage
    >>> texts = ["El banco de la plaza es muy viejo y está roto.", "Se sentó en el banco para ver los barcos."] * 4
    >>> language_of([Item(f"i{n}", "d", (Usage(text, 0, 2),)) for n, text in enumerate(texts)])
    'es'
    """
    words = Counter(
        word.casefold() for item in items[:_SAMPLE] for usage in item.usages for word in _WORD.findall(usage.text)
    )
    n_lists = Counter(word for text in _FUNCTION_WORDS.values() for word in set(text.split()))
    scores = {
        code: sum(words[word] for word in set(text.split()) if n_lists[word] == 1)
        for code, text in _FUNCTION_WORDS.items()
    }
    (best, most), (_, second) = sorted(scores.items(), key=lambda pair: -pair[1])[:2]
    return best if most >= _FEWEST and most >= _TIMES * second else ""
