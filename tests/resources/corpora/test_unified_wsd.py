"""Corpora of the unified WSD layout: what is read, and what is refused, with file, line and instance."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.usage import Usage
from lexiscope.resources.corpora.unified_wsd import POS_OF_TAG, Token, UnifiedCorpus, read_keys
from lexiscope.resources.lexicons.wordnet import WordNet

from .. import tiny_wordnet

DATA = """<?xml version="1.0" encoding="UTF-8" ?>
<corpus lang="en" source="ours">
<text id="d000" source="first">
<sentence id="d000.s000">
<wf lemma="the" pos="DET">The</wf>
<instance id="d000.s000.t000" lemma="banking_firm" pos="NOUN">banking firm</instance>
<instance id="d000.s000.t001" lemma="lend" pos="VERB">lent</instance>
<wf lemma="&amp;" pos=".">&amp;</wf>
</sentence>
<sentence id="d000.s001">
<wf lemma="na\u00efve" pos="ADJ">Na\u00efve</wf>
</sentence>
</text>
<text id="d001">
<sentence id="d001.s000">
<instance id="d001.s000.t000" lemma="bank" pos="NOUN">Banks</instance>
</sentence>
</text>
</corpus>
"""
KEYS = """d000.s000.t000 banking_firm%1:14:00::
d001.s000.t000 bank%1:17:01:: bank%1:14:00::
d000.s000.t001 lend%2:40:00::
"""


def _corpus(folder: Path, data: str = DATA, keys: str = KEYS) -> UnifiedCorpus:
    (folder / "c.data.xml").write_text(data, encoding="utf-8")
    (folder / "c.gold.key.txt").write_text(keys, encoding="utf-8")
    return UnifiedCorpus(folder / "c.data.xml", folder / "c.gold.key.txt")


def test_documents_sentences_and_tokens(tmp_path: Path) -> None:
    """Everything is read in order: sources, sentences, forms with entities and blanks, lemmas, ids, several keys."""
    first, second = _corpus(tmp_path).documents()
    assert (first.document_id, first.source, second.source) == ("d000", "first", "")
    assert [sentence.sentence_id for sentence in first.sentences] == ["d000.s000", "d000.s001"]
    assert first.sentences[0].tokens == (
        Token("The", "the", "DET"),
        Token("banking firm", "banking_firm", "NOUN", "d000.s000.t000", ("banking_firm%1:14:00::",)),
        Token("lent", "lend", "VERB", "d000.s000.t001", ("lend%2:40:00::",)),
        Token("&", "&", "."),
    )
    assert first.sentences[1].text == "Na\u00efve"
    assert first.sentences[1].instances == ()
    assert second.sentences[0].tokens[0].sense_keys == ("bank%1:17:01::", "bank%1:14:00::")


def test_usages_have_exact_spans(tmp_path: Path) -> None:
    """A sentence is its tokens joined by single spaces; the span of an instance covers it, several words too."""
    usages = [sentence.usage(place) for sentence, place in _corpus(tmp_path).instances()]
    text = "The banking firm lent &"
    assert usages[0] == Usage(text, 4, 16, "banking_firm", "NOUN", "en", "banking_firm%1:14:00::")
    assert [usage.target for usage in usages] == ["banking firm", "lent", "Banks"]
    assert usages[2].sense == "bank%1:17:01::"
    sentence = next(_corpus(tmp_path).sentences())
    assert [sentence.text[start:end] for start, end in sentence.spans] == [token.form for token in sentence.tokens]
    assert sentence.usage(0).sense is None
    assert POS_OF_TAG[usages[0].pos or ""] == "n"


def test_a_corpus_can_be_gone_through_again_and_compressed(tmp_path: Path) -> None:
    """Every pass reads the file anew; gzip makes no difference."""
    corpus = _corpus(tmp_path)
    once = list(corpus.documents())
    assert list(corpus.documents()) == once
    for path in (corpus.data, corpus.keys):
        Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes()))
    packed = UnifiedCorpus(Path(f"{corpus.data}.gz"), Path(f"{corpus.keys}.gz"))
    assert list(packed.documents()) == once


DTD = '<!DOCTYPE c [<!ENTITY a "x">]>'
UNUSED = "d009.s000.t000 bank%1:17:01::\n"
FAULTS = {
    "broken XML": (DATA.replace("</sentence>\n</text>\n</corp", "</corp"), KEYS, r"c\.data\.xml:17:3: this is not XML"),
    "ends early": (DATA[: DATA.index("</corpus>")], KEYS, "this is not XML"),
    "no gold key": (DATA, KEYS.replace("t001", "t009"), r"xml:7:\d+, item 'd000\.s000\.t001'.*no gold"),
    "no instance": (DATA, KEYS + UNUSED, r"key\.txt:4, item 'd009\.s000\.t000': 1 gold keys"),
    "id twice": (DATA.replace("t001", "t000"), KEYS, r"xml:7:\d+, item 'd000\.s000\.t000'.*comes twice"),
    "keys twice": (DATA, KEYS + KEYS, r"key\.txt:4, item 'd000\.s000\.t000': .*two lines"),
    "key without sense": (DATA, KEYS + "d009\n", r"key\.txt:4, item 'd009': d009 has no sense key"),
    "element out of place": (DATA.replace("<wf", "<b><wf", 1), KEYS, r"xml:5:1: <b> has no place in <sentence>"),
    "no id": (DATA.replace(' id="d000.s000.t001"', ""), KEYS, r"xml:7:\d+: this <instance> has no id"),
    "no text": (
        DATA.replace(">lent<", "> <"),
        KEYS,
        r"xml:7:\d+, item 'd000\.s000\.t001': this <instance> has no text",
    ),
    "an entity": (DATA.replace("<corpus", f"{DTD}<corpus", 1), KEYS, "the entity &a; is declared"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_said_with_their_place(tmp_path: Path, fault: str) -> None:
    """Each fault is an input error with file, line and, where there is one, the instance."""
    data, keys, message = FAULTS[fault]
    with pytest.raises(InputError, match=message):
        list(_corpus(tmp_path, data, keys).documents())


def test_a_key_that_the_lexicon_does_not_have_is_refused(tmp_path: Path) -> None:
    """With a lexicon every key must be one of its senses."""
    tiny = WordNet(tiny_wordnet.write(tmp_path / "tiny"))
    good = _corpus(tmp_path)
    assert len(list(UnifiedCorpus(good.data, good.keys, tiny).instances())) == 3
    bad = _corpus(tmp_path, keys=KEYS.replace("bank%1:14:00::\nd000", "bank%1:99:00::\nd000"))
    with pytest.raises(
        InputError, match=r"xml:16:\d+, item 'd001\.s000\.t000': wordnet-9\.9 has no sense 'bank%1:99:00::'"
    ):
        list(UnifiedCorpus(bad.data, bad.keys, tiny).instances())


def test_unreadable_files_are_said(tmp_path: Path) -> None:
    """An absent file, a broken archive, letters that are not UTF-8."""
    with pytest.raises(InputError, match="cannot be opened"):
        read_keys(tmp_path / "absent")
    (tmp_path / "k.gz").write_bytes(gzip.compress(KEYS.encode())[:-12])
    with pytest.raises(InputError, match="cannot be read"):
        read_keys(tmp_path / "k.gz")
    (tmp_path / "k").write_bytes(b"d0 b\xff%1\n")
    with pytest.raises(InputError, match="not UTF-8"):
        read_keys(tmp_path / "k")


# Raganato et al. 2017, Table 1, and the README of the data: sentences, tokens, nouns, verbs, adjectives, adverbs,
# instances with several keys
SETS = {
    "senseval2": (242, 5_766, 1_066, 517, 445, 254, 103),
    "senseval3": (352, 5_541, 900, 588, 350, 12, 37),
    "semeval2007": (135, 3_201, 159, 296, 0, 0, 4),
    "semeval2013": (306, 8_391, 1_644, 0, 0, 0, 12),
    "semeval2015": (138, 2_604, 531, 251, 160, 80, 184),
    "ALL": (1_173, 25_503, 4_300, 1_652, 955, 346, 340),
}


@pytest.mark.published
@pytest.mark.parametrize("name", SETS)
def test_evaluation_sets_have_their_published_counts(published: Path, name: str) -> None:
    """Sentences, tokens, instances by part of speech, and instances with several keys."""
    folder = published / "wsd_eval" / name
    sentences = list(UnifiedCorpus(folder / f"{name}.data.xml", folder / f"{name}.gold.key.txt").sentences())
    tagged = [sentence.tokens[place] for sentence in sentences for place in sentence.instances]
    tags = Counter(token.pos for token in tagged)
    found = (len(sentences), sum(len(sentence.tokens) for sentence in sentences), *(tags[tag] for tag in POS_OF_TAG))
    assert (*found, sum(len(token.sense_keys) > 1 for token in tagged)) == SETS[name]
