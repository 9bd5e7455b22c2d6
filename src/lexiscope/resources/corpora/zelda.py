"""Entity-linking sets in the jsonl format of ZELDA: a text a line, with spans and the pages they are linked to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lexiscope.resources.corpora.linked_text import Line, LinkedText, Mention, Misplaced, json_lines


def read_zelda(path: Path) -> Iterator[LinkedText]:
    """Iterate over the texts: fields ``id``, ``text``, ``index`` (spans), ``wikipedia_titles``, ``wikipedia_ids``.

    A mention is linked to the title; ``kind`` is the id of its page as text. The format does not say what is written at
    a span. One that ends outside the text, begins or ends with white space, or begins inside a word is kept in
    ``misplaced``: offsets of some texts were counted in another encoding.
    Errors: :class:`~lexiscope.core.errors.InputError` with file and line: a field that is missing, lists of unequal
    length, a span that is none.
    """
    for line in json_lines(path):
        text, document = line.text("text"), line.text("id")
        spans, titles, pages = (line.values(name) for name in ("index", "wikipedia_titles", "wikipedia_ids"))
        if not len(spans) == len(titles) == len(pages):
            raise line.error(f"{len(spans)} spans do not belong to {len(titles)} titles and {len(pages)} ids")
        mentions: list[Mention] = []
        misplaced: list[Misplaced] = []
        for span, title, page in zip(spans, titles, pages, strict=True):
            mention = _mention(line, span, title, page)
            if _stands(text, mention):
                mentions.append(mention)
            else:
                letters = text[mention.start : mention.end]
                misplaced.append(
                    Misplaced(
                        str(path), line.number, document, mention.start, mention.end, mention.name, letters, mention.ids
                    )
                )
        yield LinkedText(document, text, tuple(mentions), misplaced=tuple(misplaced))


def _mention(line: Line, span: object, title: object, page: object) -> Mention:
    if not isinstance(title, str) or not title:
        raise line.error(f"{title!r} is no title of a page")
    if not (
        isinstance(span, list) and len(span) == 2 and all(isinstance(offset, int) and offset >= 0 for offset in span)
    ):
        raise line.error(f"{span!r} is no span")
    return Mention(span[0], span[1], (title,), str(page), title)


def _stands(text: str, mention: Mention) -> bool:
    letters = text[mention.start : mention.end]
    inside = text[mention.start - 1 : mention.start].isalnum() and letters[:1].isalnum()
    return 0 < len(letters) == mention.end - mention.start and letters == letters.strip() and not inside
