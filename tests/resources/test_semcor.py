"""SemCor: where it is looked for, what a name is, and the published counts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from lexiscope.core.errors import DataError, InputError
from lexiscope.resources import semcor
from lexiscope.resources.semcor import CARD, is_name
from lexiscope.resources.unified_wsd import Token
from lexiscope.resources.wordnet import WordNet


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
    documents = sentences = tokens = bare = 0
    tagged: Counter[Token] = Counter()
    for document in semcor.load().documents():
        documents += 1
        sentences += len(document.sentences)
        tokens += sum(len(sentence.tokens) for sentence in document.sentences)
        bare += sum(not sentence.instances for sentence in document.sentences)
        for sentence in document.sentences:
            own = (sentence.tokens[place] for place in sentence.instances)
            tagged.update(Token(token.form, token.lemma, token.pos, None, token.sense_keys) for token in own)
    keys = {key for token in tagged for key in token.sense_keys}
    types = {(token.lemma, token.pos) for token in tagged}
    counts = (documents, sentences, tokens, tagged.total(), len(keys), len(types))
    assert counts == (352, 37_176, 802_443, 226_036, 33_362, 22_436)
    assert counts == tuple(number for _, number in CARD.counts)
    tags = Counter(token.pos for token in tagged.elements())
    assert tags == {"NOUN": 87_002, "VERB": 88_334, "ADJ": 31_753, "ADV": 18_947}
    assert (bare, sum(n for token, n in tagged.items() if len(token.sense_keys) > 1)) == (878, 656)
    # tagged as names are 8,741; one of them (people) is a form of the word
    assert sum(n for token, n in tagged.items() if is_name(token)) == 8_740
    lexicon = WordNet(published / "wordnet30" / "WordNet-3.0.tar.xz")
    assert keys <= set(lexicon.sense_keys)
