"""Hiding a word: every place at which a text shows the target again, and the text with a mask at each of them.

A target stands a second time in its text, or in the other text of its pair, in 1 % of the items of WiC and in 27 % of
those of AM²iCo. Who masks the span alone then shows the word beside the mask.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lexiscope.core.usage import Usage, occurrences
from lexiscope.items.text_rules import composed, word_spans

_VOWELS = "aeiou"
_HISSING = ("s", "x", "z", "ch", "sh", "o")


def shown_forms(usages: Sequence[Usage]) -> tuple[str, ...]:
    """Return the forms by which a text would show the target of an item: of all its usages, longest first.

    These are the targets as they are written, the lemmas (with spaces for ``_``) and, in English, the regular forms of
    a lemma of one word. Irregular forms that are no target of the item are not known.

    >>> shown_forms([Usage("He nailed boards.", 10, 16, lemma="board", language="en")])
    ('boarding', 'boarded', 'boards', 'board')
    """
    forms: dict[str, None] = {}
    for usage in usages:
        lemma = (usage.lemma or "").replace("_", " ").strip()
        regular = english_forms(lemma) if usage.language.partition("-")[0] == "en" else ()
        for form in (usage.target, lemma, *regular):
            if form:
                forms.setdefault(form.casefold())
    # a longer form first: what it covers is not looked at again
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def english_forms(lemma: str) -> tuple[str, ...]:
    """Return the regular forms of an English lemma of one word, in -s, -ed and -ing; of another text none.

    The part of speech is not asked for: a form that there is not stands in no text.

    >>> english_forms("carry"), english_forms("stop")
    (('carries', 'carried', 'carrying'), ('stops', 'stoped', 'stoping', 'stopped', 'stopping'))
    >>> english_forms("give up")
    ()
    """
    if len(lemma) < 2 or not (lemma.isascii() and lemma.isalpha()):
        return ()
    word = lemma.lower()
    after_consonant = word[-2] not in _VOWELS
    if word.endswith("y") and after_consonant:
        return (f"{word[:-1]}ies", f"{word[:-1]}ied", f"{word}ing")
    plural = f"{word}es" if word.endswith(_HISSING) else f"{word}s"
    if word.endswith("ie"):
        return (plural, f"{word}d", f"{word[:-2]}ying")
    if word.endswith("e"):
        return (plural, f"{word}d", f"{word[:-1]}ing", f"{word}ing")
    simple = (plural, f"{word}ed", f"{word}ing")
    doubled = word[-1] not in f"{_VOWELS}wxy" and not after_consonant
    return (*simple, f"{word}{word[-1]}ed", f"{word}{word[-1]}ing") if doubled else simple


def other_places(usage: Usage, forms: Iterable[str]) -> list[tuple[int, int]]:
    """Return where forms stand in the text as whole words outside the target's span, case ignored, in order.

    >>> other_places(Usage("The bank by the Bank of the embankment.", 4, 8), ["bank"])
    [(16, 20)]
    """
    taken = [(usage.start, usage.end)]
    # offsets of word_spans count in composed letters; a text in decomposed ones is searched as it is
    whole = composed(usage.text) == usage.text
    # most texts have no second place: that is seen at once where no letter can be written in two ways
    plain = usage.text.casefold() if usage.text.isascii() else None
    for form in forms:
        if plain is not None and not _outside(plain, form, usage):
            continue
        found = word_spans(usage.text, form) if whole else occurrences(usage.text, form)
        taken += [span for span in found if all(span[1] <= start or end <= span[0] for start, end in taken)]
    return sorted(taken[1:])


def _outside(plain: str, form: str, usage: Usage) -> bool:
    """Whether the letters stand before or behind the span, as a word or inside one."""
    letters = form.casefold()
    return letters in plain[: usage.start] or letters in plain[usage.end :]


def hidden(usage: Usage, forms: Iterable[str], mask: str) -> Usage:
    """Return the usage with a mask in its span, which covers it, and at every other place of one of the forms.

    >>> seen = hidden(Usage("A bank by the Bank.", 2, 6), ["bank"], "[X]")
    >>> seen.text, seen.start, seen.target
    ('A [X] by the [X].', 2, '[X]')
    """
    pieces: list[str] = []
    done, start = 0, usage.start
    for begin, end in sorted([*other_places(usage, forms), (usage.start, usage.end)]):
        pieces.append(usage.text[done:begin])
        if begin == usage.start:
            start = sum(map(len, pieces))
        pieces.append(mask)
        done = end
    text = "".join((*pieces, usage.text[done:]))
    return replace(usage, text=text, start=start, end=start + len(mask))
