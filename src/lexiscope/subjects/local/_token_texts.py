"""Texts as a scorer reads them: whole strings, their tokens, and where in the text each token stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexiscope.core.errors import Place, SubjectError
from lexiscope.core.scoring import Offsets


@dataclass(frozen=True, slots=True)
class TokenText:
    """The tokens of a text, without special tokens, and their half-open character offsets."""

    ids: tuple[int, ...]
    starts: Offsets
    ends: Offsets


def read_texts(
    tokenizer: Any, texts: Sequence[str], *, longest: int | None, unknown: int | None = None
) -> list[TokenText]:
    """Tokenise whole texts; nothing is added, nothing cut off.

    *tokenizer* is a ``tokenizers.Tokenizer``; *longest* the most tokens of a text, *unknown* the id of its unknown
    token.
    Errors: :class:`SubjectError` for a text without tokens, a text that is too long, and a text with a character
    that the tokenizer does not know; it shows the first and counts the others.
    """
    encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    found = [_token_text(text, encoding) for text, encoding in zip(texts, encodings, strict=True)]
    refused = [
        error
        for text, tokens in zip(texts, found, strict=True)
        if (error := _refusal(text, tokens, longest, unknown)) is not None
    ]
    if len(refused) > 1:
        first = refused[0]
        why = f"{len(refused)} texts cannot be scored; this is the first"
        raise SubjectError(first.what, place=first.place, why=why, hint=first.hint)
    if refused:
        raise refused[0]
    return found


def _token_text(text: str, encoding: Any) -> TokenText:
    offsets = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
    starts, ends = offsets[:, 0], offsets[:, 1]
    # the mark of a word's beginning may have no character of its own: it belongs to the character that follows
    ends = np.where(ends > starts, ends, np.minimum(starts + 1, len(text)))
    return TokenText(tuple(encoding.ids), starts, ends)


def _refusal(text: str, tokens: TokenText, longest: int | None, unknown: int | None) -> SubjectError | None:
    if not tokens.ids:
        return SubjectError("a text without tokens has no log-probability", place=Place(text=text))
    if longest is not None and len(tokens.ids) > longest:
        what = f"the text has {len(tokens.ids)} tokens, the model reads at most {longest}"
        return SubjectError(what, place=Place(text=text), hint="shorten the text: nothing is ever cut off")
    if unknown is not None and unknown in tokens.ids:
        start, end = (int(each[tokens.ids.index(unknown)]) for each in (tokens.starts, tokens.ends))
        return SubjectError(
            "the tokenizer does not know a part of the text: the probability of an unknown token says nothing of it",
            place=Place(text=text, column=start + 1, width=end - start),
            hint="write it in another way, leave out the item, or use another model",
        )
    return None
