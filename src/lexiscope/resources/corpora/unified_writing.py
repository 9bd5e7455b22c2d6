"""Writing a tagged corpus in the unified WSD layout, so that the same documents always give the same bytes."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from lexiscope.core.run import write_atomically
from lexiscope.resources.corpora.unified_wsd import Document, Token, UnifiedCorpus


def write_unified(documents: Iterable[Document], folder: Path, name: str, *, language: str = "en") -> UnifiedCorpus:
    """Write ``<name>.data.xml.gz`` and ``<name>.gold.key.txt.gz`` into a folder, and return the corpus.

    Errors: :class:`~lexiscope.core.errors.RunError` where they cannot be written; each appears whole or not at all.
    """
    lines = ['<?xml version="1.0" encoding="UTF-8" ?>', f"<corpus lang={quoteattr(language)} source={quoteattr(name)}>"]
    keys: list[str] = []
    for document in documents:
        lines += _document(document)
        tokens = (token for sentence in document.sentences for token in sentence.tokens)
        keys += [f"{token.instance_id} {' '.join(token.sense_keys)}" for token in tokens if token.instance_id]
    corpus = UnifiedCorpus(folder / f"{name}.data.xml.gz", folder / f"{name}.gold.key.txt.gz")
    write_atomically(corpus.data, _packed([*lines, "</corpus>"]))
    write_atomically(corpus.keys, _packed(keys))
    return corpus


def _document(document: Document) -> list[str]:
    source = f" source={quoteattr(document.source)}" if document.source else ""
    lines = [f"<text id={quoteattr(document.document_id)}{source}>"]
    for sentence in document.sentences:
        lines.append(f"<sentence id={quoteattr(sentence.sentence_id)}>")
        lines += [_token(token) for token in sentence.tokens]
        lines.append("</sentence>")
    return [*lines, "</text>"]


def _token(token: Token) -> str:
    lemma, pos, form = quoteattr(token.lemma), quoteattr(token.pos), escape(token.form)
    if token.instance_id is None:
        return f"<wf lemma={lemma} pos={pos}>{form}</wf>"
    return f"<instance id={quoteattr(token.instance_id)} lemma={lemma} pos={pos}>{form}</instance>"


def _packed(lines: list[str]) -> bytes:
    packed = io.BytesIO()
    # neither name nor time in the header: equal content, equal bytes
    with gzip.GzipFile("", "wb", 9, packed, mtime=0) as stream:
        stream.write("".join(f"{line}\n" for line in lines).encode("utf-8"))
    return packed.getvalue()
