"""Positions in a text of the tokens whose strings a server gave, found by walking through the text, never by a guess.

A server's own ``text_offset`` is not used. vLLM adds up the lengths of the decoded token strings, so that its offsets
are shifted by the name of a special token, by every space that a sentencepiece tokenizer leaves out of a decoded piece
and by every replacement character (``_create_completion_logprobs`` in vllm/entrypoints/openai/serving_completion.py at
commit 00463e627b4c, https://github.com/vllm-project/vllm).

What the string of a token may represent:

- its own letters;
- a space and its letters, where the server leaves out the space before a word (sentencepiece pieces, decoded alone);
- some of the bytes of a character, written as U+FFFD, as nothing, or, for the last ones, as the whole character (what
  vLLM does since its pull requests 28874 and 34875). Such fragments share the span of their character;
- nothing: a bare word boundary, which shares the character that follows.

Pieces that are written in a vocabulary's own alphabet (``Ġbank``, ``▁bank``, ``<0xE9>``; vLLM 0.8.3 did so, its issue
16838) are put back into bytes first. If no cut of the text fits the strings, or several do that differ in a token's
characters, there is no alignment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Span = tuple[int, int]
Cuts = list[dict[int, set[int]]]

_REPLACEMENT = "\ufffd"
_BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


@dataclass(frozen=True, slots=True)
class _Text:
    """A text as bytes, with the character that each byte belongs to."""

    content: bytes
    owner: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> _Text:
        owners = [number for number, char in enumerate(text) for _ in char.encode("utf-8")]
        return cls(text.encode("utf-8"), tuple(owners))

    def is_boundary(self, place: int) -> bool:
        """Return whether a character begins at a byte (or the text ends there)."""
        return place in (0, len(self.owner)) or self.owner[place] != self.owner[place - 1]

    def rest_of_character(self, place: int) -> int:
        """Return where the character to which a byte belongs ends."""
        end = place
        while end < len(self.owner) and self.owner[end] == self.owner[place]:
            end += 1
        return end

    def start_of_character(self, place: int) -> int:
        """Return where the character to which a byte belongs begins."""
        return self.owner.index(self.owner[place])

    def span(self, start: int, end: int) -> Span:
        """Return the characters that some bytes belong to; no bytes share the character that follows (or the last)."""
        if start < end:
            return self.owner[start], self.owner[end - 1] + 1
        shared = self.owner[min(start, len(self.owner) - 1)]
        return shared, shared + 1


def align(text: str, tokens: Sequence[str | None]) -> tuple[Span, ...] | None:
    """Return the half-open character spans of tokens that together are the whole text.

    ``None`` where they cannot be told.
    ``None`` among the *tokens* is one whose string the server did not give: it matches any letters.

    >>> align("A bank", ["A", " bank"])
    ((0, 1), (1, 6))
    >>> align("Ein Café", ["Ein", " Caf", "\ufffd", "\ufffd"])
    ((0, 3), (3, 7), (7, 8), (7, 8))
    >>> align("A bank", ["A", " tank"]) is None
    True
    """
    for spell in (_spell_as_given, _spell_byte_level, _spell_pieces):
        strings = spell(tokens)
        if strings is not None:
            spans = _align_strings(_Text.of(text), strings, exact=spell is not _spell_as_given)
            if spans is not None:
                return spans
    return None


# -- spelling -------------------------------------------------------------------------------------------------

Strings = list[str | bytes | None]


def _spell_as_given(tokens: Sequence[str | None]) -> Strings | None:
    return list(tokens)


def _spell_byte_level(tokens: Sequence[str | None]) -> Strings | None:
    """Read tokens in the alphabet of byte-level vocabularies, where every byte has a visible character."""
    strings: Strings = []
    for token in tokens:
        if token is None:
            strings.append(None)
        elif all(char in _BYTE_OF for char in token):
            strings.append(bytes(_BYTE_OF[char] for char in token))
        else:
            return None
    return strings


def _spell_pieces(tokens: Sequence[str | None]) -> Strings | None:
    """Read tokens as sentencepiece pieces: U+2581 is a space, <0xE9> a byte; a space before the text is dropped."""
    if not any(token and ("\u2581" in token or _BYTE_PIECE.fullmatch(token)) for token in tokens):
        return None
    strings: Strings = []
    for number, token in enumerate(tokens):
        match = _BYTE_PIECE.fullmatch(token) if token else None
        if token is None:
            strings.append(None)
        elif match:
            strings.append(bytes([int(match[1], 16)]))
        else:
            spelled = token.replace("\u2581", " ")
            strings.append((spelled.removeprefix(" ") if number == 0 else spelled).encode())
    return strings


def _visible_bytes() -> dict[str, int]:
    """Return the byte that each character of a byte-level vocabulary represents (GPT-2's ``bytes_to_unicode``)."""
    own = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in own]
    return {chr(byte): byte for byte in own} | {chr(256 + number): byte for number, byte in enumerate(others)}


_BYTE_OF = _visible_bytes()


# -- walking --------------------------------------------------------------------------------------------------


def _align_strings(text: _Text, strings: Strings, *, exact: bool) -> tuple[Span, ...] | None:
    """Follow all cuts of the text that fit the strings; one that leads to the end must be the only one."""
    ends: Callable[[_Text, int, str | bytes], set[int]] = _ends_of_bytes if exact else _ends_of_string
    forward: Cuts = []
    places = {0}
    for string in strings:
        step = {
            place: set(range(place, len(text.content) + 1)) if string is None else ends(text, place, string)
            for place in places
        }
        forward.append(step)
        places = set().union(*step.values())
    if len(text.content) not in places:
        return None
    spans: list[Span] = []
    reached = {len(text.content)}
    for step in reversed(forward):
        cuts = [(start, end) for start, stops in step.items() for end in stops & reached]
        of_token = {text.span(start, end) for start, end in cuts}
        if len(of_token) != 1:
            return None
        spans.append(of_token.pop())
        reached = {start for start, _ in cuts}
    return tuple(reversed(spans))


def _ends_of_bytes(text: _Text, place: int, string: str | bytes) -> set[int]:
    assert isinstance(string, bytes)
    return {place + len(string)} if text.content.startswith(string, place) else set()


def _ends_of_string(text: _Text, place: int, string: str | bytes) -> set[int]:
    """Return where a token may end that begins at a byte and is written as a string."""
    assert isinstance(string, str)
    ends = set()
    if text.content.startswith(string.encode(), place) and text.is_boundary(place):
        ends.add(place + len(string.encode()))
    if string and text.is_boundary(place) and text.content.startswith(b" " + string.encode(), place):
        ends.add(place + 1 + len(string.encode()))
    ends |= _fragment_ends(text, place, string)
    if string == "" and text.is_boundary(place) and text.content.startswith(b" ", place):
        # a word boundary of its own, decoded to nothing, is this space
        ends = {place + 1}
    return ends


def _fragment_ends(text: _Text, place: int, string: str) -> set[int]:
    """Return where a token may end that holds bytes of a character that other tokens share."""
    ends = set()
    length = len(text.content)
    if _REPLACEMENT in string:
        most = sum(3 if char == _REPLACEMENT else len(char.encode()) for char in string)
        for end in range(place + 1, min(place + most, length) + 1):
            if text.content[place:end].decode("utf-8", "replace") == string:
                ends.add(end)
    if string == "" and place < length:
        # bytes before the last of a character, written as nothing
        ends |= set(range(place + 1, text.rest_of_character(place)))
    if string and not text.is_boundary(place):
        # the last bytes of a character, written as the whole of it
        whole = text.content[text.start_of_character(place) :]
        if whole.startswith(string.encode()):
            ends.add(text.start_of_character(place) + len(string.encode()))
    return {end for end in ends if end >= place}
