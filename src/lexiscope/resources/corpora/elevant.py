"""Entity-linking benchmarks in the jsonl format of ELEVANT: an article a line, with labels by Wikidata id."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lexiscope.resources.corpora.linked_text import Line, LinkedText, Mention, json_lines

_WIKIDATA = re.compile(r"Q[1-9]\d*\Z")


def read_elevant(path: Path) -> Iterator[LinkedText]:
    """Iterate over the articles: fields ``id``, ``title``, ``text``, ``labels`` (``span``, ``entity_id``, ``name``).

    A label whose ``entity_id`` is no id of Wikidata (``<NIL>``, ``<NO_MAPPING>``, ``DATETIME``, ``QUANTITY``) is a
    mention without ids, which ``kind`` names; else ``kind`` is ``linked``. Labels may lie in each other.
    Errors: :class:`~lexiscope.core.errors.InputError` with file and line: a field that is missing, a span outside the
    text.
    """
    for line in json_lines(path):
        text = line.text("text")
        mentions = tuple(_mention(label, text) for label in line.objects("labels"))
        yield LinkedText(line.text("id"), text, mentions, line.text("title", ""))


def _mention(label: Line, text: str) -> Mention:
    (start, end), entity = label.span(label.values("span"), text), label.text("entity_id")
    linked = _WIKIDATA.match(entity) is not None
    return Mention(start, end, (entity,) if linked else (), "linked" if linked else entity, label.text("name", ""))
