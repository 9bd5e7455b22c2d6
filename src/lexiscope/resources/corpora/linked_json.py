"""Entity-linking sets in formats of JSON lines: BLINK, ELEVANT, WikiMed and ZELDA."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lexiscope.resources.corpora.linked_text import Line, LinkedText, Mention, Misplaced, concept_ids, json_lines

_WIKIDATA = re.compile(r"Q[1-9]\d*\Z")


@dataclass(frozen=True, slots=True)
class LinkedMention:
    """A mention in its text, and the page it is linked to: its id, title and description."""

    text: str
    start: int
    end: int
    page_id: str
    title: str
    description: str


def read_blink(path: Path) -> Iterator[LinkedMention]:
    """Iterate over the mentions of Wikipedia links in the format of BLINK: a mention per line, with its page.

    Fields: ``context_left``, ``mention``, ``context_right``, ``label_id``, ``label_title``, ``label`` (description).
    The contexts are joined to the mention by a space where none is there, as BLINK's own reader does; outer white
    space of the mention goes to its sides.
    Errors: :class:`~lexiscope.core.errors.InputError` with file and line: a field that is missing, an empty mention.
    """
    for line in json_lines(path):
        left, mention, right = (line.text(name) for name in ("context_left", "mention", "context_right"))
        if not mention.strip():
            raise line.error("the mention is empty")
        before = f"{left} " if left and not left[-1].isspace() else left
        after = f" {right}" if right and right[0].isalnum() else right
        start = len(before) + len(mention) - len(mention.lstrip())
        title = line.text("label_title")
        yield LinkedMention(
            text=f"{before}{mention}{after}",
            start=start,
            end=start + len(mention.strip()),
            page_id=line.text("label_id", title),
            title=title,
            description=line.text("label", ""),
        )


def read_elevant(path: Path) -> Iterator[LinkedText]:
    """Iterate over the articles of a benchmark in the format of ELEVANT: an article per line, labels by Wikidata id.

    Fields: ``id``, ``title``, ``text``, ``labels`` (``span``, ``entity_id``, ``name``).

    A label whose ``entity_id`` is not an id of Wikidata (``<NIL>``, ``<NO_MAPPING>``, ``DATETIME``, ``QUANTITY``) is a
    mention without ids, which ``kind`` names; all others have the ``kind`` ``linked``. Labels may be nested.
    Errors: :class:`~lexiscope.core.errors.InputError` with file and line: a field that is missing, a span outside the
    text.
    """
    for line in json_lines(path):
        text = line.text("text")
        mentions = []
        for label in line.objects("labels"):
            span, entity = label.span(label.values("span"), text), label.text("entity_id")
            linked = _WIKIDATA.match(entity) is not None
            kind, name = "linked" if linked else entity, label.text("name", "")
            mentions.append(Mention(*span, (entity,) if linked else (), kind, name))
        yield LinkedText(line.text("id"), text, tuple(mentions), line.text("title", ""))


def read_wikimed(path: Path) -> Iterator[LinkedText]:
    """Iterate over the documents of WikiMed (MedType): Wikipedia texts with mentions linked to concepts of UMLS.

    Fields: ``_id``, ``title``, ``text``, ``split``, ``mentions``.

    A mention has ``mention``, ``start_offset``, ``end_offset`` and ``link_id``: a UMLS id, or several divided by ``|``.
    Errors: :class:`~lexiscope.core.errors.InputError` with file and line: a field that is missing, a span whose letters
    are not the mention's.
    """
    for line in json_lines(path):
        text = line.text("text")
        mentions = []
        for mention in line.objects("mentions"):
            offsets = (mention.integer("start_offset"), mention.integer("end_offset"))
            span = mention.span(offsets, text, mention.text("mention"))
            mentions.append(Mention(*span, concept_ids(mention.text("link_id"))))
        yield LinkedText(line.text("_id"), text, tuple(mentions), line.text("title", ""), line.text("split", ""))


def read_zelda(path: Path) -> Iterator[LinkedText]:
    """Iterate over the texts of a set in the format of ZELDA: a text per line, with spans linked to pages.

    Fields: ``id``, ``text``, ``index`` (spans), ``wikipedia_titles``, ``wikipedia_ids``.

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
            mention = _zelda_mention(line, span, title, page)
            if _is_whole(text, mention):
                mentions.append(mention)
            else:
                letters = text[mention.start : mention.end]
                misplaced.append(
                    Misplaced(
                        str(path), line.number, document, mention.start, mention.end, mention.name, letters, mention.ids
                    )
                )
        yield LinkedText(document, text, tuple(mentions), misplaced=tuple(misplaced))


def _zelda_mention(line: Line, span: object, title: object, page: object) -> Mention:
    if not isinstance(title, str) or not title:
        raise line.error(f"{title!r} is not a title of a page")
    if not (
        isinstance(span, list) and len(span) == 2 and all(isinstance(offset, int) and offset >= 0 for offset in span)
    ):
        raise line.error(f"{span!r} is not a span")
    return Mention(span[0], span[1], (title,), str(page), title)


def _is_whole(text: str, mention: Mention) -> bool:
    letters = text[mention.start : mention.end]
    inside = text[mention.start - 1 : mention.start].isalnum() and letters[:1].isalnum()
    return 0 < len(letters) == mention.end - mention.start and letters == letters.strip() and not inside
