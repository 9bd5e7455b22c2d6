"""SemCor from its original tag files: the traps on a made-up file, and the way back from the published conversion."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.resources.corpora import semcor
from lexiscope.resources.corpora.semcor import convert, read_tagfiles, write_unified
from lexiscope.resources.corpora.unified_wsd import Document, Token

FILE = """<contextfile concordance=brown>
<context filename=br-a02 paras=yes>
<p pnum=1>
<s snum=1>
<wf cmd=ignore pos=DT>The</wf>
<wf cmd=done rdf=group pos=NNP lemma=group wnsn=1 lexsn=1:03:00:: pn=group>Tea_Tasters</wf>
<wf cmd=done pos=VB lemma=Take_Place wnsn=1 lexsn=2:30:00::>took_place</wf>
<wf cmd=done pos=JJ lemma=each wnsn=1 lexsn=5:00:00:all(a):00>each</wf>
<wf cmd=done pos=NN lemma=tin wnsn=0 lexsn=1:06:09::>tea_tin</wf>
<wf cmd=done pos=RB lemma=well wnsn=0;2 lexsn=4:02:09::;4:02:01::>well</wf>
<wf cmd=done pos=NN lemma=pot wnsn=1;2 lexsn=1:06:00::;1:23:00::>pots</wf>
<wf cmd=done pos=IN ot=notag>next_to</wf>
<wf cmd=ignore pos=UH>yes</wf>
<punc>.</punc>
</s>
<s snum=2>
<wf cmd=done pos=NN lemma=pot wnsn=1 lexsn=1:06:00::>Pot</wf>
</s>
</p>
</context>
</contextfile>
"""


def _write(folder: Path, name: str, text: str, part: str = "brown1") -> Path:
    path = folder / part / "tagfiles" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_senses_words_and_ids(tmp_path: Path) -> None:
    """Dead senses go, markers go, tagged expressions stay whole, untagged ones are divided; ids count what is left."""
    _write(tmp_path, "br-a02", FILE)
    _write(tmp_path, "br-a01", "<s snum=1>\n<punc>!</punc>\n</s>\n", part="brownv")
    before, document = read_tagfiles(tmp_path)
    assert (before.document_id, before.source) == ("d000", "br-a01")
    assert (document.document_id, document.source) == ("d001", "br-a02")
    assert document.sentences[0].tokens == (
        Token("The", "the", "DET"),
        Token("Tea Tasters", "group", "NOUN", "d001.s000.t000", ("group%1:03:00::",)),
        Token("took place", "take_place", "VERB", "d001.s000.t001", ("take_place%2:30:00::",)),
        Token("each", "each", "ADJ", "d001.s000.t002", ("each%5:00:00:all:00",)),
        Token("tea", "tea", "NOUN"),
        Token("tin", "tin", "NOUN"),
        Token("well", "well", "ADV", "d001.s000.t003", ("well%4:02:01::",)),
        Token("pots", "pot", "NOUN", "d001.s000.t004", ("pot%1:06:00::", "pot%1:23:00::")),
        Token("next", "next", "ADP"),
        Token("to", "to", "ADP"),
        Token("yes", "yes", "X"),
        Token(".", ".", "."),
    )
    assert document.sentences[1].tokens[0].instance_id == "d001.s001.t000"


def test_a_conversion_reads_back(tmp_path: Path) -> None:
    """What is written in the unified layout is what was read, and semcor.load finds it."""
    _write(tmp_path, "br-a02", FILE)
    corpus = convert(tmp_path, tmp_path / "out" / "semcor")
    assert list(corpus.documents()) == list(read_tagfiles(tmp_path))
    assert semcor.load(tmp_path / "out") == corpus


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (FILE.replace("<punc>.</punc>", "<punc>."), None),
        (FILE.replace("<s snum=1>", "<s snum=1> < "), r"br-a01:4: this is not a line"),
        (FILE.replace("wnsn=1;2 ", "wnsn=1 "), r"br-a01:11: this word has senses without number"),
        (FILE.replace("lemma=each ", ""), r"br-a01:8: this word has senses without number or without lemma"),
    ],
)
def test_faults_are_said_with_their_place(tmp_path: Path, text: str, message: str | None) -> None:
    """A line that is none of a tag file and senses that do not fit their numbers; a missing end tag does no harm."""
    _write(tmp_path, "br-a01", text)
    if message is None:
        assert next(read_tagfiles(tmp_path)).sentences[0].tokens[-1].form == "."
    else:
        with pytest.raises(InputError, match=message):
            list(read_tagfiles(tmp_path))


def test_a_folder_must_hold_one_semcor(tmp_path: Path) -> None:
    """No tag files, or one of them twice: an error, not a corpus of another size."""
    with pytest.raises(InputError, match="no tag files"):
        list(read_tagfiles(tmp_path))
    _write(tmp_path, "br-a01", FILE)
    _write(tmp_path, "br-a01", FILE, part="copy/brown1")
    with pytest.raises(InputError, match="br-a01 is here twice"):
        list(read_tagfiles(tmp_path))


BRILL = {
    "NOUN": "NN", "VERB": "VB", "ADJ": "JJ", "ADV": "RB", "PRON": "PRP", "DET": "DT", "ADP": "IN", "CONJ": "CC",
    "NUM": "CD", "PRT": "TO", "X": "FW",
}  # fmt: skip


def _tag_lines(document: Document) -> Iterator[str]:
    """The lines of a tag file that says what a converted document says."""
    for number, sentence in enumerate(document.sentences, start=1):
        yield f"<s snum={number}>"
        for token in sentence.tokens:
            keys = [key.split("%") for key in token.sense_keys]
            senses = f" lemma={token.lemma} wnsn={';'.join('1' for _ in keys)} lexsn={';'.join(k for _, k in keys)}"
            attributes = f"cmd=done pos={BRILL.get(token.pos)}{senses if keys else ''}"
            form = token.form.replace(" ", "_")
            yield f"<punc>{form}</punc>" if token.pos == "." else f"<wf {attributes}>{form}</wf>"
        yield "</s>"


@pytest.mark.published
def test_the_published_conversion_comes_back(published: Path, tmp_path: Path) -> None:
    """Three texts of SemCor, turned into tag files and converted, are what they were."""
    documents = list(islice(semcor.load(published / "semcor").documents(), 3))
    for document in documents:
        _write(tmp_path, document.source, "\n".join(_tag_lines(document)))
    assert list(read_tagfiles(tmp_path)) == documents


@pytest.mark.published
def test_writing_gives_the_published_letters(published: Path, tmp_path: Path) -> None:
    """Ten texts of the published files, read and written again, are letter for letter what they were."""
    corpus = semcor.load(published / "semcor")
    written = write_unified(islice(corpus.documents(), 10), tmp_path, "semcor")
    for ours, theirs, end in ((written.data, corpus.data, b"</corpus>\n"), (written.keys, corpus.keys, b"")):
        content = gzip.decompress(ours.read_bytes()).removesuffix(end)
        with gzip.open(theirs) as stream:
            assert stream.read(len(content)) == content
    assert sum(1 for _ in written.documents()) == 10
