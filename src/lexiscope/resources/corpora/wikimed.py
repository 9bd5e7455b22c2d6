"""WikiMed in its jsonl format (MedType): Wikipedia texts whose mentions are linked to concepts of UMLS."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lexiscope.resources.corpora.linked_text import Line, LinkedText, Mention, json_lines
from lexiscope.resources.corpora.pubtator import concept_ids


def read_wikimed(path: Path) -> Iterator[LinkedText]:
    """Iterate over the documents: fields ``_id``, ``title``, ``text``, ``split``, ``mentions``.

    A mention has ``mention``, ``start_offset``, ``end_offset`` and ``link_id``: a UMLS id, or several divided by ``|``.
    Errors: :class:`~lexiscope.core.errors.InputError` with file and line: a field that is missing, a span whose letters
    are not the mention's.
    """
    for line in json_lines(path):
        text = line.text("text")
        mentions = tuple(_mention(mention, text) for mention in line.objects("mentions"))
        yield LinkedText(line.text("_id"), text, mentions, line.text("title", ""), line.text("split", ""))


def _mention(line: Line, text: str) -> Mention:
    span = (line.integer("start_offset"), line.integer("end_offset"))
    return Mention(*line.span(span, text, line.text("mention")), concept_ids(line.text("link_id")))
