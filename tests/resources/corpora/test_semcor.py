"""SemCor: where it is looked for, what a name is, and the published counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from lexiscope.core.errors import DataError, InputError
from lexiscope.resources.corpora import semcor
from lexiscope.resources.corpora.semcor import CARD, is_name
from lexiscope.resources.corpora.unified_wsd import Document, Token, corpus_counts
from lexiscope.resources.lexicons.wordnet import WordNet


def test_a_folder_may_hold_the_plain_files(tmp_path: Path) -> None:
    """The public conversion is read from the folder that it is unpacked to; nothing is an error that says so."""
    with pytest.raises(InputError, match=r"neither semcor\.data\.xml\.gz nor semcor\.data\.xml"):
        semcor.load(tmp_path)
    below = tmp_path / "WSD_Training_Corpora" / "SemCor"
    below.mkdir(parents=True)
    (below / "semcor.data.xml").write_text("<corpus/>")
    (below / "semcor.gold.key.txt").write_text("")
    for folder in (below, below.parent, tmp_path):
        assert list(semcor.load(folder).documents()) == []


def test_absent_semcor_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a folder and without data at hand the error names the place to put the files."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("LEXISCOPE_DATA", raising=False)
    with pytest.raises(DataError, match=r"semcor/semcor\.data\.xml\.gz"):
        semcor.load()


@pytest.mark.parametrize(
    ("form", "lemma", "key", "name"),
    [
        ("Atlanta City Council", "group", "group%1:03:00::", True),
        ("Peterson", "person", "person%1:03:00::", True),
        ("London", "location", "location%1:03:00::", True),
        ("People", "person", "person%1:03:00::", False),
        ("groups", "group", "group%1:03:00::", False),
        ("Atlanta", "atlanta", "atlanta%1:15:00::", False),
        ("group", "group", "group%2:33:00::", False),
    ],
)
def test_names_are_told_from_uses_of_the_words(form: str, lemma: str, key: str, name: bool) -> None:
    """A name carries the sense of person, group or location without being a form of the word."""
    assert is_name(Token(form, lemma, "NOUN", "d000.s000.t000", (key,))) is name


@pytest.mark.published
def test_published_counts(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts of Raganato et al. 2017 and of the data's README; every key is a sense of WordNet 3.0."""
    monkeypatch.setenv("LEXISCOPE_DATA", str(published))
    seen, tags, keys = Counter[str](), Counter[str](), set[str]()

    def watched() -> Iterator[Document]:
        for document in semcor.load().documents():
            for sentence in document.sentences:
                tagged = [sentence.tokens[place] for place in sentence.instances]
                seen["without"] += not tagged
                seen["several keys"] += sum(len(token.sense_keys) > 1 for token in tagged)
                seen["names"] += sum(map(is_name, tagged))
                tags.update(token.pos for token in tagged)
                keys.update(key for token in tagged for key in token.sense_keys)
            yield document

    assert corpus_counts(watched()) == dict(CARD.counts)
    wanted = {"documents": 352, "sentences": 37_176, "tokens": 802_443, "instances": 226_036}
    assert dict(CARD.counts) == {**wanted, "sense_keys": 33_362, "word_types": 22_436}
    assert tags == {"NOUN": 87_002, "VERB": 88_334, "ADJ": 31_753, "ADV": 18_947}
    # tagged as names are 8,741; one of them (people) is a form of the word
    assert seen == {"without": 878, "several keys": 656, "names": 8_740}
    lexicon = WordNet(published / "wordnet30" / "WordNet-3.0.tar.xz")
    assert keys <= set(lexicon.sense_keys)
