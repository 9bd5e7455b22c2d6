"""Views: which part of an item is shown to a subject. A view never moves a target: the span is carried along.

The names are ``full`` (the text unchanged), ``full+final_stop`` (with a full stop at its end), ``context`` (``[X]`` in
the target's place and in all other places where the texts of the item show the word), ``context_span`` (``[X]`` in the
target's place alone, as published), ``word`` (the target alone), ``label`` (``[X]`` alone) and ``guessed_word`` (what a
participant guessed, in the target's place). Participants of SAW-C saw no final stop, models were given one (footnotes 9
and 11); the others are the partial inputs of the context–word bias study (its §2.2 and §3.2). People see ``[X]``; a
model puts its own mask token in exactly that span (:func:`with_mask`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from lexiscope.core.errors import InputError, Place, SpecError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage, occurrences
from lexiscope.items.arrange.view_names import CONTEXT as CONTEXT
from lexiscope.items.arrange.view_names import CONTEXT_SPAN as CONTEXT_SPAN
from lexiscope.items.arrange.view_names import GUESSED_WORD as GUESSED_WORD
from lexiscope.items.text_rules import compose_text, word_spans

_CLOSING = "\"'”’»)]"
_STOPS = (".", "!", "?", "…")

MASK = "[X]"
"""What is in the place of a hidden target."""


def with_final_stop(usage: Usage) -> Usage:
    """Return the usage with a full stop at the end of its text, unless a sentence-final sign is there.

    >>> with_final_stop(Usage("Guardó la lima madura", 10, 14)).text
    'Guardó la lima madura.'
    """
    if usage.text.rstrip(_CLOSING).endswith(_STOPS):
        return usage
    return replace(usage, text=f"{usage.text}.")


def with_mask(usage: Usage, token: str = MASK) -> Usage:
    """Return the usage with one *token* in exactly its span, which then covers the token; nothing else changes.

    A model gives its own mask token: one for the whole target, regardless of its length. If a usage is already masked,
    every ``[X]`` is replaced.

    >>> seen = with_mask(Usage("The bank of the river.", 4, 8), "<mask>")
    >>> seen.text, seen.target
    ('The <mask> of the river.', '<mask>')
    >>> with_mask(Usage("A [X], the [X].", 11, 14), "<mask>").text
    'A <mask>, the <mask>.'
    """
    if not is_masked(usage):
        return _in_place(usage, token)
    before, after = (part.replace(MASK, token) for part in (usage.text[: usage.start], usage.text[usage.end :]))
    return replace(usage, text=f"{before}{token}{after}", start=len(before), end=len(before) + len(token))


def without_target(usage: Usage) -> Usage:
    """Return the usage with ``[X]`` in the target's place; the span covers it.

    Only the span is replaced: where the same word is in the text again, it stays (:func:`without_word` hides it
    there too). The lemma and the sense id are kept for grouping; they are not shown.

    >>> seen = without_target(Usage("The bank of the river.", 4, 8, lemma="bank"))
    >>> seen.text, seen.target
    ('The [X] of the river.', '[X]')
    """
    return _in_place(usage, MASK)


def without_word(usage: Usage) -> Usage:
    """Return the usage with ``[X]`` wherever its text shows the word; the span covers that of the target.

    If an item has several usages, the word is hidden in the forms of all of them: :func:`view_item`.

    >>> without_word(Usage("A bank is not a Bank.", 2, 6)).text
    'A [X] is not a [X].'
    """
    return hide_forms(usage, shown_forms([usage]), MASK)


def shows_word(item: Item) -> bool:
    """Return whether the texts of an item show the word at another place than the span of a target.

    >>> shows_word(Item("i", "d", (Usage("A bank.", 2, 6), Usage("The Banks by a bank.", 4, 9))))
    True
    """
    forms = shown_forms(item.usages)
    return any(other_spans(usage, forms) for usage in item.usages)


def with_wordform(usage: Usage, form: str) -> Usage:
    """Return the usage with a guessed wordform in the target's place; the span covers it.

    The form is put there as it is given: inflect it first. The lemma is kept, for grouping.
    Errors: :class:`InputError` E105 for a form without letters or with white space around it.

    >>> guessed = with_wordform(Usage("He sat on the bank.", 14, 18), "bench")
    >>> guessed.text, guessed.target
    ('He sat on the bench.', 'bench')
    """
    if not form or form != form.strip():
        what = f"{form!r} cannot replace the target: it is empty or has white space around it"
        place = Place(text=usage.text, column=usage.start + 1, width=usage.end - usage.start)
        raise InputError(what, code="E105", place=place, hint="give the word form for this text")
    return _in_place(usage, form)


def is_masked(usage: Usage) -> bool:
    """Return whether ``[X]`` is in the target's place.

    >>> is_masked(without_target(Usage("The bank.", 4, 8)))
    True
    """
    return usage.target == MASK


def target_alone(usage: Usage) -> Usage:
    """Return the usage with the target as its whole text.

    >>> target_alone(Usage("The bank of the river.", 4, 8)).text
    'bank'
    """
    return replace(usage, text=usage.target, start=0, end=usage.end - usage.start)


def nothing_shown(usage: Usage) -> Usage:
    """Return the usage with ``[X]`` as its whole text: neither its length nor a letter of it is left.

    >>> nothing_shown(Usage("The bank of the river.", 4, 8)).text
    '[X]'
    """
    return replace(usage, text=MASK, start=0, end=len(MASK))


def _in_place(usage: Usage, letters: str) -> Usage:
    text = usage.text[: usage.start] + letters + usage.text[usage.end :]
    return replace(usage, text=text, end=usage.start + len(letters))


VIEWS: dict[str, Callable[[Usage], Usage]] = {
    "full": lambda usage: usage,
    "full+final_stop": with_final_stop,
    CONTEXT: without_word,
    CONTEXT_SPAN: without_target,
    "word": target_alone,
    "label": nothing_shown,
}
"""Each view by name, as a function of a usage; ``guessed_word`` is one of an item, which has the guess."""


def view_usage(usage: Usage, view: str) -> Usage:
    """Return what a subject is shown of a usage.

    Errors: :class:`SpecError` where there is no view of that name, or where it is one of items.
    """
    if view == GUESSED_WORD:
        raise SpecError("the view 'guessed_word' is one of an item that has a guess", hint="use view_item")
    if view not in VIEWS:
        raise SpecError(f"there is no view {view!r}", hint=f"use one of {', '.join(VIEWS)}, {GUESSED_WORD}")
    return VIEWS[view](usage)


def view_item(item: Item, view: str) -> Item:
    """Return the item with all its usages in a view; id, options, gold and conditions stay.

    In ``context`` the word is hidden in all usages by the forms that it has in any of them (*Boards* and *board*).
    For ``guessed_word`` the conditions ``guessed_word_1`` and ``guessed_word_2`` give the wordform of each usage, or
    ``guessed_word`` that of all.
    Errors: :class:`SpecError` for an unknown view; :class:`InputError` E402, naming the item, if it has no guess.
    """
    if view == GUESSED_WORD:
        usages = []
        for number, usage in enumerate(item.usages, start=1):
            own = f"{GUESSED_WORD}_{number}"
            guess = str(item.condition(own if own in item.conditions else GUESSED_WORD))
            usages.append(with_wordform(usage, guess))
        return replace(item, usages=tuple(usages))
    if view == CONTEXT:
        forms = shown_forms(item.usages)
        return replace(item, usages=tuple(hide_forms(usage, forms, MASK) for usage in item.usages))
    return replace(item, usages=tuple(view_usage(usage, view) for usage in item.usages))


def shown_texts(item: Item, view: str) -> tuple[str, ...]:
    """Return the texts of an item in a view as sheets and tables show them: in ``full`` the target is in brackets.

    >>> item = Item("i", "d", (Usage("The bank.", 4, 8),))
    >>> [shown_texts(item, view) for view in ("full", "context", "word")]
    [('The [bank].',), ('The [X].',), ('bank',)]
    """
    return tuple(usage.bracketed if view == "full" else usage.text for usage in view_item(item, view).usages)


# -- hiding a word --------------------------------------------------------------------------------------------------
# Hiding a word: every place at which a text shows the target again, and the text with a mask at each of them.
#
# A target stands a second time in its text, or in the other text of its pair, in 1 % of the items of WiC and in 27 % of
# those of AM²iCo. If the span alone is masked, the text then shows the word as well.


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

    The part of speech is not asked for: a form that there is not is in no text.

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


def other_spans(usage: Usage, forms: Iterable[str]) -> list[tuple[int, int]]:
    """Return where forms occur in the text as whole words outside the target's span, case ignored, in order.

    >>> other_spans(Usage("The bank by the Bank of the embankment.", 4, 8), ["bank"])
    [(16, 20)]
    """
    taken = [(usage.start, usage.end)]
    # offsets of word_spans count in composed letters; a text in decomposed ones is searched as it is
    whole = compose_text(usage.text) == usage.text
    # most texts have no second place: that is seen at once where no letter can be written in two ways
    plain = usage.text.casefold() if usage.text.isascii() else None
    for form in forms:
        letters = form.casefold()
        if plain is not None and letters not in plain[: usage.start] and letters not in plain[usage.end :]:
            continue
        spans = word_spans(usage.text, form) if whole else occurrences(usage.text, form)
        taken += [span for span in spans if all(span[1] <= start or end <= span[0] for start, end in taken)]
    return sorted(taken[1:])


def hide_forms(usage: Usage, forms: Iterable[str], mask: str) -> Usage:
    """Return the usage with a mask in its span, which covers it, and at every other place of one of the forms.

    >>> seen = hide_forms(Usage("A bank by the Bank.", 2, 6), ["bank"], "[X]")
    >>> seen.text, seen.start, seen.target
    ('A [X] by the [X].', 2, '[X]')
    """
    pieces: list[str] = []
    done, start = 0, usage.start
    for begin, end in sorted([*other_spans(usage, forms), (usage.start, usage.end)]):
        pieces.append(usage.text[done:begin])
        if begin == usage.start:
            start = sum(map(len, pieces))
        pieces.append(mask)
        done = end
    text = "".join((*pieces, usage.text[done:]))
    return replace(usage, text=text, start=start, end=start + len(mask))
