"""Lexicons of the wn library: two tiny ones in WN-LMF, written here, that share concepts by their ILI."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator

import pytest

from lexiscope.core.errors import DataError, InputError, MissingExtraError
from lexiscope.resources.lexicons import wn_lexicon
from lexiscope.resources.lexicons.lexicon import Synset, hypernym_closure, lemma_count, synonyms
from lexiscope.resources.lexicons.wn_lexicon import WnLexicon, open_lexicon

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE LexicalResource SYSTEM "http://globalwordnet.github.io/schemas/WN-LMF-1.1.dtd">
<LexicalResource xmlns:dc="https://globalwordnet.github.io/schemas/dc/">
"""
ENGLISH = """<Lexicon id="tiny-en" label="Tiny" language="en" email="a@example.org" license="CC0" version="1"
  citation="us">
<LexicalEntry id="e1"><Lemma writtenForm="bank" partOfSpeech="n"/>
  <Sense id="e1-1" synset="tiny-en-1" dc:identifier="bank%1:14:00::"><Count>5</Count><Count>2</Count></Sense>
  <Sense id="e1-2" synset="tiny-en-2" dc:identifier="bank%1:17:01::"/></LexicalEntry>
<LexicalEntry id="e2"><Lemma writtenForm="savings bank" partOfSpeech="n"/>
  <Sense id="e2-1" synset="tiny-en-1" dc:identifier="savings_bank%1:14:00::"/></LexicalEntry>
<LexicalEntry id="e3"><Lemma writtenForm="slope" partOfSpeech="n"/>
  <Sense id="e3-1" synset="tiny-en-3" dc:identifier="slope%1:17:00::"/></LexicalEntry>
<LexicalEntry id="e4"><Lemma writtenForm="bank" partOfSpeech="v"/>
  <Sense id="e4-1" synset="tiny-en-4" dc:identifier="bank%2:40:00::">
    <SenseRelation relType="derivation" target="e1-1"/></Sense></LexicalEntry>
<LexicalEntry id="e5"><Lemma writtenForm="flush" partOfSpeech="s"/>
  <Sense id="e5-1" synset="tiny-en-5" dc:identifier="flush%5:00:02:rich:00"/></LexicalEntry>
<Synset id="tiny-en-1" ili="i1" partOfSpeech="n" lexfile="noun.group">
  <Definition>a firm that lends</Definition></Synset>
<Synset id="tiny-en-2" ili="i2" partOfSpeech="n" lexfile="noun.object"><Definition>ground by a river</Definition>
  <SynsetRelation relType="hypernym" target="tiny-en-3"/><Example>a steep bank</Example></Synset>
<Synset id="tiny-en-3" ili="i3" partOfSpeech="n"><Definition>ground that rises</Definition>
  <SynsetRelation relType="hyponym" target="tiny-en-2"/></Synset>
<Synset id="tiny-en-4" ili="i4" partOfSpeech="v"><Definition>act as a firm</Definition></Synset>
<Synset id="tiny-en-5" ili="i5" partOfSpeech="s"><Definition>with money</Definition></Synset>
</Lexicon>
"""
GERMAN = """<Lexicon id="tiny-de" label="Winzig" language="de" email="a@example.org" license="CC0" version="1">
<LexicalEntry id="d1"><Lemma writtenForm="Bank" partOfSpeech="n"/><Form writtenForm="Banken"/>
  <Sense id="d1-1" synset="tiny-de-1"/></LexicalEntry>
<LexicalEntry id="d2"><Lemma writtenForm="Ufer" partOfSpeech="n"/><Sense id="d2-1" synset="tiny-de-2"/></LexicalEntry>
<Synset id="tiny-de-1" ili="i1" partOfSpeech="n"><Definition>ein Geldhaus</Definition></Synset>
<Synset id="tiny-de-2" ili="i2" partOfSpeech="n"><Definition>Land am Wasser</Definition></Synset>
</Lexicon>
"""


@pytest.fixture(scope="module", autouse=True)
def _database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The library with both lexicons in a database of these tests' own."""
    wn = importlib.import_module("wn")
    folder = tmp_path_factory.mktemp("wn")
    (folder / "tiny.xml").write_text(f"{HEAD}{ENGLISH}{GERMAN}</LexicalResource>\n")
    before = wn.config.data_directory
    wn.config.data_directory = folder / "database"
    wn.add(folder / "tiny.xml", progress_handler=None)
    yield
    wn.config.data_directory = before


@pytest.fixture
def english() -> WnLexicon:
    return wn_lexicon.load("tiny-en:1")


@pytest.fixture
def german() -> WnLexicon:
    return wn_lexicon.load("tiny-de:1")


def _lemmas(synsets: tuple[Synset, ...]) -> list[tuple[str, ...]]:
    return [synset.lemmas for synset in synsets]


def test_senses_have_keys_numbers_and_counts(english: WnLexicon) -> None:
    """Princeton's keys where the lexicon has them; order, counts added up, part of speech."""
    senses = english.senses("Bank")
    assert [sense.sense_key for sense in senses] == ["bank%1:14:00::", "bank%1:17:01::", "bank%2:40:00::"]
    assert [(sense.pos, sense.number, sense.count) for sense in senses] == [("n", 1, 7), ("n", 2, 0), ("v", 1, 0)]
    assert english.sense("bank%1:17:01::") == senses[1]
    assert english.find_sense("bank%1:99:00::") is None
    assert lemma_count(english, "bank", "n") == 7


def test_synsets_have_lemmas_gloss_examples_and_ili(english: WnLexicon) -> None:
    """The words of a lemma are joined by an underscore; lexfile, examples and ILI are kept; satellites are marked."""
    firm, shore = english.synsets("bank", "n")
    assert (firm.lemmas, firm.gloss, firm.ili) == (("bank", "savings_bank"), "a firm that lends", "i1")
    assert (shore.supersense, shore.examples) == ("noun.object", ("a steep bank",))
    assert english.synset(firm.synset_id) == firm
    assert [sense.lemma for sense in english.members(firm.synset_id)] == ["bank", "savings_bank"]
    assert synonyms(english, "bank%1:14:00::") == ("savings_bank",)
    (flush,) = english.synsets("flush", "a")
    assert (flush.pos, flush.satellite) == ("a", True)
    assert english.senses("flush", "a")[0].sense_key == "flush%5:00:02:rich:00"


def test_relations(english: WnLexicon) -> None:
    """Hypernyms, hyponyms and derivations are those of the lexicon; nothing is inferred."""
    assert _lemmas(english.hypernyms("tiny-en-2")) == [("slope",)] == _lemmas(hypernym_closure(english, "tiny-en-2"))
    assert _lemmas(english.hyponyms("tiny-en-3")) == [("bank",)]
    assert english.instance_hypernyms("tiny-en-2") == english.instance_hyponyms("tiny-en-3") == ()
    assert [sense.sense_key for sense in english.derivations("bank%2:40:00::")] == ["bank%1:14:00::"]


def test_a_lexicon_without_keys_has_ids(german: WnLexicon) -> None:
    """Without Princeton's keys the ids of senses stand for them, and every look-up by them works."""
    (sense,) = german.senses("bank", "n")
    assert (sense.sense_key, sense.lemma, sense.number) == ("d1-1", "Bank", 1)
    assert german.sense("d1-1") == sense
    assert german.members(sense.synset_id) == (sense,)
    assert german.find_sense("d9-9") is None


def test_base_forms(english: WnLexicon, german: WnLexicon) -> None:
    """Listed forms in every language, morphy's rules in English only; a form is no lemma."""
    assert german.base_forms("Banken", "n") == ("bank",)
    assert german.synsets("Banken") == ()
    assert english.base_forms("slopes", "n") == ("slope",)
    assert german.base_forms("Ufers", "n") == ()


def test_all_synsets_come_in_file_order(english: WnLexicon) -> None:
    """All of them, or those of a part of speech."""
    assert [synset.synset_id for synset in english.all_synsets()] == [f"tiny-en-{n}" for n in (1, 2, 3, 4, 5)]
    assert [synset.synset_id for synset in english.all_synsets("a")] == ["tiny-en-5"]


def test_translations_share_the_ili(english: WnLexicon, german: WnLexicon) -> None:
    """Synsets of another language that stand for the same concept have its id of the interlingual index."""
    by_ili = {synset.ili: synset.lemmas for synset in german.all_synsets() if synset.ili is not None}
    assert by_ili[english.synset("tiny-en-2").ili] == ("Ufer",)
    assert english.synset("tiny-en-3").ili not in by_ili
    own = {synset.ili: synset.lemmas for synset in english.all_synsets()}
    assert own[german.synset("tiny-de-1").ili] == ("bank", "savings_bank")


def test_a_lexicon_says_who_it_is(english: WnLexicon, german: WnLexicon) -> None:
    """Name with version, language, licence, citation; a lexicon that asks for no citation gives its label."""
    assert (english.name, english.language, english.licence, english.citation) == ("tiny-en:1", "en", "CC0", "us")
    assert (german.language, german.citation) == ("de", "Winzig")
    assert open_lexicon("wn:tiny-de:1").name == "tiny-de:1"


def test_what_is_not_there_is_said(english: WnLexicon, monkeypatch: pytest.MonkeyPatch) -> None:
    """An absent lexicon, an open specifier, an unknown id, an absent library: each with what to do."""
    with pytest.raises(DataError, match=r"no lexicon 'tiny-fr:1'(.|\n)*wn\.add"):
        wn_lexicon.load("tiny-fr:1")
    with pytest.raises(DataError, match="names 2 lexicons: tiny-de:1, tiny-en:1"):
        wn_lexicon.load("tiny-*")
    with pytest.raises(InputError, match="no synset"):
        english.synset("tiny-en-9")
    with pytest.raises(InputError, match="no sense"):
        english.sense("bank%1:99:00::")
    monkeypatch.setitem(sys.modules, "wn", None)
    with pytest.raises(MissingExtraError, match=r"lexiscope\[wordnet\]"):
        wn_lexicon.load("tiny-en:1")
