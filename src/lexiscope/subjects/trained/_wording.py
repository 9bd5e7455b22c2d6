"""What a trained model reads of a question: one text or two, and the places in them that must not be cut off.

The words are put together here, once, for training and for answering alike. If a view hides a target (``[X]``), the
model's own mask token is put at exactly those places. If it hides the word, its lemma is hidden as well; if it hides
everything (``label``), so are the texts of the candidates.
*Source:* the context–word bias study, §2.2 and §2.4; Huang et al. 2019 (GlossBERT) for the marks of weak supervision.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lexiscope.core.errors import InputError, Place, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.answers.search_space import Entry
from lexiscope.items.answers.sense_options import definition_of, glosses_of
from lexiscope.items.arrange.views import CONTEXT, CONTEXT_SPAN, MASK, is_masked, with_mask
from lexiscope.subjects.local._span_tokens import Span, overlapping_tokens

HIDING = (CONTEXT, CONTEXT_SPAN, "label")
"""The views that hide the target."""

_PAIR = 2
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s")


@dataclass(frozen=True, slots=True)
class TextsWithTargets:
    """One text or two, and targets in them: (0 or 1 for the text, start, end)."""

    first: str
    second: str | None = None
    targets: tuple[tuple[int, int, int], ...] = ()

    def texts(self) -> tuple[str, ...]:
        """The texts in order."""
        return (self.first,) if self.second is None else (self.first, self.second)


@dataclass(frozen=True, slots=True)
class Wording:
    """How the questions of one view are worded for one model; *mask* is its mask token, if it has one."""

    view: str
    mask: str | None

    # -- the questions ----------------------------------------------------------------------------------------

    def pair(self, item: Item) -> TextsWithTargets:
        """Two usages as one input with both targets (SuperGLUE practice).

        Errors: :class:`InputError` naming an item that has not two usages, is shown in another view, or must be masked
        for a model without a mask token.
        """
        if len(item.usages) != _PAIR:
            raise _shape_error(item, f"two usages are compared, this item has {len(item.usages)}")
        first, second = (self._shown_usage(item, usage) for usage in item.usages)
        targets = ((0, first.start, first.end), (1, second.start, second.end))
        return TextsWithTargets(first.text, second.text, targets)

    def verification(self, item: Item) -> TextsWithTargets:
        """The sentence, the target between quotation marks, and ``lemma: definition ; hypernyms`` (WiC-TSV).

        Errors: those of :meth:`pair`; an item without the condition ``definition``.
        """
        return self._with_meaning(item, definition_of(item))

    def senses(self, item: Item) -> tuple[TextsWithTargets, ...]:
        """The marked sentence with ``lemma: gloss``, for every sense of the item (GlossBERT).

        Errors: those of :meth:`pair`; :class:`InputError` E617 for an item without glosses.
        """
        return tuple(self._with_meaning(item, gloss) for gloss in glosses_of(item).values())

    def query(self, item: Item) -> TextsWithTargets:
        """The sentence with the target between ``[`` and ``]``.

        Errors: those of :meth:`pair`.
        """
        usage = with_marks(self._single_usage(item), "[", "]")
        return TextsWithTargets(usage.text, None, ((0, usage.start, usage.end),))

    def usages(self, item: Item) -> tuple[Usage, ...]:
        """The usages as an encoder that is not trained reads them.

        Errors: those of :meth:`pair`, but for the number of usages.
        """
        return tuple(self._shown_usage(item, usage) for usage in item.usages)

    def meaning(self, item: Item, text: str) -> str:
        """Return the text of a candidate as this view shows it: hidden where everything is.

        Errors: :class:`InputError` where it must be masked for a model without a mask token.
        """
        return self._mask(item) if self.view == "label" else text

    def _with_meaning(self, item: Item, meaning: str) -> TextsWithTargets:
        usage = self._single_usage(item)
        hidden = self._mask(item) if self.view in HIDING else None
        # a lemma of several words has _ between them; no model learnt to read that
        lemma = hidden or (item.usages[0].lemma or item.usages[0].target).replace("_", " ")
        quoted = with_marks(usage, '"', '"')
        # where everything is hidden, candidates must not be told apart either
        other = self.meaning(item, f"{lemma}: {meaning}")
        return TextsWithTargets(quoted.text, other, ((0, quoted.start, quoted.end),))

    # -- the view ---------------------------------------------------------------------------------------------

    def _single_usage(self, item: Item) -> Usage:
        if len(item.usages) != 1:
            raise _shape_error(item, f"one usage is asked about, this item has {len(item.usages)}")
        return self._shown_usage(item, item.usages[0])

    def _shown_usage(self, item: Item, usage: Usage) -> Usage:
        """Return the usage with the mask token in the place of ``[X]``; refuse an item shown in another view."""
        hidden = is_masked(usage)
        fits = {
            CONTEXT: hidden,
            CONTEXT_SPAN: hidden,
            "label": usage.text == MASK,
            "word": usage.text == usage.target and not hidden,
        }.get(self.view, not hidden)
        if not fits:
            what = f"the item is not shown in the view {self.view!r}, on which the model was trained"
            raise SubjectError(what, place=Place(item_id=item.item_id), hint=f"ask it with --view {self.view}")
        return with_mask(usage, self._mask(item)) if hidden else usage

    def _mask(self, item: Item) -> str:
        if not self.mask:
            raise InputError(
                f"the view {self.view!r} hides the target, and this model's tokenizer has no mask token",
                place=Place(item_id=item.item_id),
                hint="use a masked language model (BERT, RoBERTa, DeBERTa …), or the views full and word",
            )
        return self.mask


def with_marks(usage: Usage, before: str, after: str) -> Usage:
    """Return the usage with marks around its target; the span still covers the target alone.

    >>> with_marks(Usage("The bank shut.", 4, 8), "[", "]").text
    'The [bank] shut.'
    """
    text = f"{usage.text[: usage.start]}{before}{usage.target}{after}{usage.text[usage.end :]}"
    return replace(usage, text=text, start=usage.start + len(before), end=usage.end + len(before))


def entry_text(entry: Entry, description: str) -> str:
    """Return what is read of an entry between the special tokens: ``name ‖ description``, or the name alone.

    *description* is ``none``, ``gloss`` (all of it) or ``first_sentence``.

    >>> page = Entry("Q1", "Bank", "A place for money. It lends.")
    >>> [entry_text(page, how) for how in ("none", "gloss", "first_sentence")]
    ['Bank', 'Bank ‖ A place for money. It lends.', 'Bank ‖ A place for money.']
    """
    description_shown = entry.description.strip()
    if description == "first_sentence":
        description_shown = _SENTENCE_END.split(description_shown, maxsplit=1)[0]
    return f"{entry.name} ‖ {description_shown}" if description_shown and description != "none" else entry.name


def _shape_error(item: Item, what: str) -> InputError:
    return InputError(what, place=Place(item_id=item.item_id), hint="ask it items of the task that it was trained on")


# -- tokens ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Encoded:
    """A reading as a model reads it: tokens, the text each belongs to, the sub-words of every target.

    ``cut``: the context was longer than the model reads and was cut off, far from the targets.
    """

    ids: tuple[int, ...]
    types: tuple[int, ...]
    targets: tuple[tuple[int, ...], ...]
    cut: bool = False


def encode_readings(tokenizer: Any, readings: Sequence[TextsWithTargets], *, longest: int) -> list[Encoded]:
    """Tokenise readings with the special tokens that the model wants; *tokenizer* is a ``tokenizers.Tokenizer``.

    A reading of more than *longest* tokens is cut to the tokens around its targets (its beginning where it has none).
    Errors: :class:`SubjectError` for a target without a sub-word, or that alone is longer than the model reads.
    """
    inputs = [reading.first if reading.second is None else (reading.first, reading.second) for reading in readings]
    encoded = []
    for reading, encoding in zip(readings, tokenizer.encode_batch(inputs), strict=True):
        room, cut, shown, now = longest, False, reading, encoding
        while len(now.ids) > longest:
            shown = _shorten(reading, encoding, room)
            now = tokenizer.encode(*shown.texts())
            # a text that is cut can have a token more than it had as a part of the whole
            room, cut = room - max(1, len(now.ids) - longest), True
        encoded.append(Encoded(tuple(now.ids), tuple(now.type_ids), _target_tokens(shown, now), cut))
    return encoded


def cut_to_length(tokenizer: Any, usages: Sequence[Usage], *, longest: int) -> list[Usage]:
    """Return the usages, those of more than *longest* tokens cut to the tokens around their target.

    Errors: :class:`SubjectError` for a target that alone is longer.
    """
    shortened = []
    for usage, encoding in zip(usages, tokenizer.encode_batch([usage.text for usage in usages]), strict=True):
        now, room = usage, longest
        while len(tokenizer.encode(now.text).ids if now is not usage else encoding.ids) > longest:
            cut = _shorten(TextsWithTargets(usage.text, None, ((0, usage.start, usage.end),)), encoding, room)
            now = replace(usage, text=cut.first, start=cut.targets[0][1], end=cut.targets[0][2])
            room -= 1
        shortened.append(now)
    return shortened


def _target_tokens(reading: TextsWithTargets, encoding: Any) -> tuple[tuple[int, ...], ...]:
    """Return the sub-words of every target."""
    owners, offsets = encoding.sequence_ids, encoding.offsets
    targets = []
    for text, start, end in reading.targets:
        foreign = [int(owner != text) for owner in owners]
        places = overlapping_tokens(offsets, foreign, (start, end))
        if not places:
            line = reading.texts()[text]
            place = Place(text=line, column=start + 1, width=end - start)
            what = "no sub-word of the tokenizer overlaps the target"
            raise SubjectError(what, place=place, hint="correct or leave out the item, or use another model")
        targets.append(places)
    return tuple(targets)


def _shorten(reading: TextsWithTargets, encoding: Any, longest: int) -> TextsWithTargets:
    """Return the reading with every text cut to its share of the tokens, around its target."""
    tokens = [
        [span for span, owner in zip(encoding.offsets, encoding.sequence_ids, strict=True) if owner == text]
        for text in range(len(reading.texts()))
    ]
    room = longest - sum(owner is None for owner in encoding.sequence_ids)
    shares = _shares([len(spans) for spans in tokens], room)
    texts, starts = [], []
    for number, (text, spans, share) in enumerate(zip(reading.texts(), tokens, shares, strict=True)):
        target = next(((start, end) for owner, start, end in reading.targets if owner == number), None)
        start, end = _window(spans, target, share, text)
        texts.append(text[start:end])
        starts.append(start)
    targets = tuple((text, start - starts[text], end - starts[text]) for text, start, end in reading.targets)
    return TextsWithTargets(texts[0], texts[1] if len(texts) > 1 else None, targets)


def _shares(lengths: Sequence[int], room: int) -> list[int]:
    """Return how many tokens each text may keep: all of a short one, the rest for the other.

    >>> _shares([90, 10], 50), _shares([90, 80], 50), _shares([90], 50)
    ([40, 10], [25, 25], [50])
    """
    if len(lengths) == 1:
        return [room]
    first = min(lengths[0], max(room // 2, room - lengths[1]))
    return [first, min(lengths[1], room - first)]


def _window(spans: Sequence[Span], target: Span | None, share: int, text: str) -> Span:
    """Return the characters of *share* tokens around the target."""
    if len(spans) <= share:
        return 0, len(text)
    inside = [n for n, (start, end) in enumerate(spans) if target and start < target[1] and end > target[0]]
    low, high = (inside[0], inside[-1] + 1) if inside else (0, 0)
    if high - low > share or share < 1:
        place = Place(text=text, column=(target or (0, 0))[0] + 1)
        raise SubjectError("the target alone is longer than the model reads", place=place, hint="leave out the item")
    begin = min(max(0, low - (share - (high - low)) // 2), len(spans) - share)
    start, end = spans[begin][0], spans[begin + share - 1][1]
    return (min(start, target[0]), max(end, target[1])) if target else (start, end)
