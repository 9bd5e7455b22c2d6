"""Princeton WordNet from its own files: a tiny one in full, the real one by its published counts and against NLTK."""

from __future__ import annotations

import hashlib
import importlib
import random
import shutil
import tarfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lexiscope.core.errors import DataError, InputError, SpecError
from lexiscope.resources.lexicons import wordnet
from lexiscope.resources.lexicons.lexicon import (
    POS,
    Sense,
    Synset,
    common_hypernyms,
    derived_lemmas,
    hypernym_closure,
    hyponym_closure,
    inventory,
    lemma_count,
    plain_lemmas,
    supersense,
    synonyms,
)
from lexiscope.resources.lexicons.wn_lexicon import open_lexicon
from lexiscope.resources.lexicons.wordnet import CARD, DICT_FILES, WordNet

from .. import tiny_wordnet


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> WordNet:
    """The tiny wordnet."""
    return WordNet(tiny_wordnet.write(tmp_path_factory.mktemp("tiny")))


@pytest.fixture(scope="module")
def full(published: Path) -> WordNet:
    """WordNet 3.0."""
    return WordNet(published / "wordnet30" / "WordNet-3.0.tar.xz")


def _names(synsets: tuple[Synset, ...]) -> list[str]:
    return [synset.lemmas[0] for synset in synsets]


def test_senses_come_in_the_order_of_the_index(tiny: WordNet) -> None:
    """Senses and synsets of a lemma come in sense order, with key, number and tag count; capitals do not matter."""
    senses = tiny.senses("Bank", "n")
    assert [sense.sense_key for sense in senses] == ["bank%1:14:00::", "bank%1:17:01::"]
    assert [(sense.number, sense.count) for sense in senses] == [(1, 7), (2, 5)]
    assert _names(tiny.synsets("bank", "n")) == ["bank", "bank"]
    assert [synset.supersense for synset in tiny.synsets("bank")] == ["noun.group", "noun.object", "verb.possession"]
    assert lemma_count(tiny, "bank") == 7 + 5
    assert tiny.senses("nothing") == ()


def test_a_synset_has_lemmas_gloss_and_examples(tiny: WordNet) -> None:
    """Lemmas stay in order with their capitals and without marker; the gloss is divided into meaning and examples."""
    shore = tiny.synsets("shore")[0]
    assert (shore.lemmas, shore.gloss, shore.examples) == (("bank", "shore"), "ground by a river", ("a steep bank",))
    assert (shore.pos, shore.satellite, shore.supersense) == ("n", False, "noun.object")
    assert tiny.synset(shore.synset_id) == shore
    assert tiny.synsets("loaded")[0].lemmas == ("flush", "loaded")
    assert synonyms(tiny, "bank%1:14:00::") == ("banking_firm",)
    assert supersense(tiny, "banker%1:18:00::") == "noun.person"
    assert inventory(tiny, "soil") == (Sense("soil%1:17:00::", "soil", "what one stands on", "n", "wordnet-9.9"),)


def test_satellites_have_the_key_of_their_head(tiny: WordNet) -> None:
    """A satellite's key names the head of its cluster, without the marker of syntax; its part of speech is a."""
    (sense,) = tiny.senses("flush", "a")
    assert (sense.sense_key, sense.pos, sense.count) == ("flush%5:00:02:rich:00", "a", 1)
    assert tiny.synset(sense.synset_id).satellite
    assert tiny.sense("flush%5:00:02:rich:00") == sense


def test_lemmas_that_differ_in_capitals_share_a_sense(tiny: WordNet) -> None:
    """As index.sense has it: one key for Thames and thames in one synset."""
    (sense,) = tiny.senses("thames")
    assert (sense.sense_key, sense.lemma) == ("thames%1:17:00::", "Thames")
    assert tiny.members(sense.synset_id) == (sense,)
    assert tiny.synset(sense.synset_id).lemmas == ("Thames", "thames")


def test_relations(tiny: WordNet) -> None:
    """Hypernyms and hyponyms, of instances apart, direct and over several steps, nearest first; a cycle ends."""
    shore, thames, firm = (tiny.synsets(word)[0].synset_id for word in ("shore", "thames", "banking firm"))
    assert _names(tiny.hypernyms(shore)) == ["ground"]
    assert (tiny.hypernyms(thames), _names(tiny.instance_hypernyms(thames))) == ((), ["ground"])
    assert _names(hypernym_closure(tiny, thames)) == ["ground", "thing"]
    assert _names(hyponym_closure(tiny, tiny.synsets("thing")[0].synset_id)) == ["ground", "bank"]
    assert _names(common_hypernyms(tiny, shore, thames)) == ["ground", "thing"]
    assert _names(common_hypernyms(tiny, shore, firm)) == ["thing"]
    assert common_hypernyms(tiny, shore, firm, levels=1) == ()
    assert _names(hypernym_closure(tiny, tiny.synsets("act")[0].synset_id)) == ["do"]


def test_derivations_hold_between_words(tiny: WordNet) -> None:
    """banker (the second word of its synset) derives from bank, and bank from banker; man and lend from nothing."""
    assert [sense.sense_key for sense in tiny.derivations("banker%1:18:00::")] == ["bank%2:40:00::"]
    assert [sense.sense_key for sense in tiny.derivations("bank%2:40:00::")] == ["banker%1:18:00::"]
    assert tiny.derivations("man%1:18:00::") == tiny.derivations("lend%2:40:00::") == ()
    assert derived_lemmas(tiny, "bank") == ("banker",)


@pytest.mark.parametrize(
    ("form", "pos", "bases"),
    [
        ("men", "n", ("man",)),  # an exception
        ("shores", "n", ("shore", "bank")),  # exceptions come before endings
        ("Soils", "n", ("soil",)),
        ("bankers", "n", ("banker",)),
        ("banking firms", "n", ("banking_firm",)),
        ("lending", "v", ("lend",)),
        ("acted", "v", ("act",)),
        ("does", "v", ("do",)),
        ("richest", "a", ("rich",)),
        ("bank", "n", ("bank",)),
        ("richly", "r", ("richly",)),
        ("houses", "n", ()),
    ],
)
def test_base_forms(tiny: WordNet, form: str, pos: Any, bases: tuple[str, ...]) -> None:
    """Exceptions first, else endings by morphy's rules; only lemmas of the part of speech are returned."""
    assert tiny.base_forms(form, pos) == bases


def test_iteration_is_in_file_order(tiny: WordNet) -> None:
    """All synsets come in the order of the file, a part of speech or all."""
    rows = [row.words[0][0].removesuffix("(p)") for row in tiny_wordnet.ROWS]
    assert _names(tuple(tiny.all_synsets())) == rows
    assert _names(tuple(tiny.all_synsets("v"))) == ["bank", "act", "do"]
    assert plain_lemmas(tiny, "n", 6) == ("thing", "ground", "soil", "bank", "shore", "thames")
    assert "banking_firm" not in plain_lemmas(tiny, "n")


def test_name_and_licence_are_those_of_the_files(tiny: WordNet) -> None:
    """The notice at the top of the files is the licence, and it names the version."""
    assert tiny.licence == "A notice.\nTiny WordNet 9.9 ours."
    assert tiny.name == "wordnet-9.9"


@pytest.mark.parametrize("below", ["", "dict", "WordNet-3.0/dict", "corpora/wordnet"])
def test_a_folder_may_hold_the_folder(tmp_path: Path, below: str) -> None:
    """The files are found where archives and NLTK put them."""
    tiny_wordnet.write(tmp_path / below)
    assert wordnet.load(tmp_path).senses("soil")[0].sense_key == "soil%1:17:00::"
    assert open_lexicon(f"wordnet:{tmp_path}").name == "wordnet-9.9"


@pytest.mark.parametrize("packing", ["xz", "gz"])
def test_an_archive_is_read_without_unpacking(tmp_path: Path, packing: str) -> None:
    """An archive is read in memory: nothing new lies beside it."""
    tiny_wordnet.write(tmp_path / "WordNet-3.0" / "dict")
    path = tmp_path / f"WordNet-3.0.tar.{packing}"
    with tarfile.open(path, f"w:{packing}") as archive:  # type: ignore[call-overload]
        archive.add(tmp_path / "WordNet-3.0", "WordNet-3.0")
    shutil.rmtree(tmp_path / "WordNet-3.0")
    assert len(WordNet(path).senses("bank")) == 3
    assert list(tmp_path.iterdir()) == [path]


def test_unknown_names_are_said(tiny: WordNet) -> None:
    """A key or an id that the lexicon does not have is an error that names the keys of the lemma."""
    with pytest.raises(InputError, match=r"no sense 'bank%1:99:00::'(.|\n)*bank%1:14:00::, bank%1:17:01::"):
        tiny.sense("bank%1:99:00::")
    assert tiny.find_sense("bank%1:99:00::") is None
    for wrong in ("00000007-n", "bank", "00000007-x"):
        with pytest.raises(InputError):
            tiny.synset(wrong)
    for spec in ("wordnet:", "wn", "frames:x"):
        with pytest.raises(SpecError):
            open_lexicon(spec)


def test_what_is_no_wordnet_is_refused(tmp_path: Path) -> None:
    """Empty folder, absent path, broken archive, missing file, damaged line: each is said, with the place."""
    with pytest.raises(InputError, match="holds no WordNet"):
        WordNet(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        WordNet(tmp_path / "absent")
    (tmp_path / "x.tar.xz").write_bytes(b"\xfd7zXZ\x00 broken")
    with pytest.raises(InputError, match="cannot be read"):
        WordNet(tmp_path / "x.tar.xz")
    damaged = WordNet(tiny_wordnet.write(tmp_path / "tiny"))
    text = (tmp_path / "tiny" / "data.noun").read_text()
    (tmp_path / "tiny" / "data.noun").write_text(text.replace(" | a firm", " , a firm"))
    with pytest.raises(InputError, match=r"data\.noun.*\n.*no gloss"):
        damaged.synsets("bank", "n")
    (tmp_path / "tiny" / "noun.exc").unlink()
    with pytest.raises(InputError, match=r"noun\.exc"):
        damaged.base_forms("men", "n")


def test_missing_wordnet_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a folder, an absent or a changed WordNet is a data error."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LEXISCOPE_DATA", str(tmp_path))
    with pytest.raises(DataError, match="lexiscope data get wordnet"):
        wordnet.load()
    tiny_wordnet.write(tmp_path / "wordnet30" / "dict")
    with pytest.raises(DataError, match="sha256 expected"):
        wordnet.load()


@pytest.mark.published
def test_published_counts(full: WordNet, monkeypatch: pytest.MonkeyPatch, published: Path) -> None:
    """Keys, synsets, lemmas and polysemous lemmas are as counted independently (README of the data; the card)."""
    assert len(full.sense_keys) == 206_941 == CARD.count("sense_keys")
    per_pos = {pos: sum(1 for _ in full.all_synsets(pos)) for pos in POS}
    assert per_pos == {"n": 82_115, "v": 13_767, "a": 18_156, "r": 3_621}
    assert sum(per_pos.values()) == 117_659 == CARD.count("synsets")
    lemmas = [(lemma, pos) for pos in POS for lemma in full.all_lemmas(pos)]
    assert len(lemmas) == 155_287 == CARD.count("lemmas")
    assert sum(len(full.synsets(*pair)) > 1 for pair in lemmas) == 26_896 == CARD.count("polysemous")
    monkeypatch.setenv("LEXISCOPE_DATA", str(published))
    assert (wordnet.load().name, full.name) == ("wordnet-3.0", "wordnet-3.0")
    assert "WordNet 3.0 Copyright 2006 by Princeton University.  All rights reserved." in full.licence


@pytest.mark.published
def test_every_key_belongs_to_a_member(full: WordNet) -> None:
    """The keys put together from the data files are exactly those of index.sense, and lead back to their synset."""
    found = {}
    for synset in full.all_synsets():
        for sense in full.members(synset.synset_id):
            found[sense.sense_key] = sense.synset_id
            assert sense.synset_id == synset.synset_id
    assert found.keys() == set(full.sense_keys)


@pytest.mark.published
def test_random_nouns_are_the_released_ones(full: WordNet, published: Path) -> None:
    """The first 10,000 plain nouns in file order are the list that was released (8,201 distinct)."""
    released = (published / "synonymy" / "random_nouns_10000.txt").read_text().split()
    nouns = plain_lemmas(full, "n", 10_000)
    assert list(nouns) == released
    assert len(set(nouns)) == 8_201


@pytest.fixture(scope="module")
def oracle(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """NLTK's reader of the same files; it reads only below the folders of its own list."""
    folder = tmp_path_factory.mktemp("nltk")
    with tarfile.open(published / "wordnet30" / "WordNet-3.0.tar.xz") as archive:
        archive.extractall(folder / "corpora", filter="data")
    (folder / "corpora" / "WordNet-3.0" / "dict").rename(folder / "corpora" / "wordnet")
    data = importlib.import_module("nltk.data")
    reader = importlib.import_module("nltk.corpus.reader.wordnet").WordNetCorpusReader
    data.path.append(str(folder))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it has no translations here
        yield reader(str(folder / "corpora" / "wordnet"), None)
    data.path.remove(str(folder))
    shutil.rmtree(folder)


def _id(synset: Any) -> str:
    return f"{synset.offset():08d}-{synset.pos().replace('s', 'a')}"


@pytest.mark.published
def test_an_independent_reader_agrees(full: WordNet, oracle: Any) -> None:
    """NLTK's reader says the same of 1,000 lemmas: senses, synsets, relations, derivations, counts, base forms."""
    rng = random.Random(0)
    for pos in POS:
        for lemma in rng.sample(full.all_lemmas(pos), 250):
            theirs = [each for each in oracle.synsets(lemma, pos) if lemma in map(str.lower, each.lemma_names())]
            ours = full.synsets(lemma, pos)
            assert [synset.synset_id for synset in ours] == list(dict.fromkeys(map(_id, theirs)))
            for form in (lemma, lemma + rng.choice(["s", "es", "ed", "ing", "er", "est"])):
                assert sorted(full.base_forms(form, pos)) == sorted(set(oracle._morphy(form, pos)))
            for synset in ours:
                _same_synset(full, synset, oracle.synset_from_pos_and_offset(pos, int(synset.synset_id[:8])))


def _same_synset(full: WordNet, ours: Synset, theirs: Any) -> None:
    assert (ours.lemmas, ours.gloss) == (tuple(theirs.lemma_names()), theirs.definition())
    assert (ours.examples, ours.supersense) == (tuple(theirs.examples()), theirs.lexname())
    for relation in ("hypernyms", "hyponyms", "instance_hypernyms", "instance_hyponyms"):
        found = [synset.synset_id for synset in getattr(full, relation)(ours.synset_id)]
        assert sorted(found) == sorted(map(_id, getattr(theirs, relation)()))
    for sense in full.members(ours.synset_id):
        lemma = _lemma(theirs, sense.sense_key)
        related = {each.key() for each in lemma.derivationally_related_forms()}
        assert {each.sense_key for each in full.derivations(sense.sense_key)} == related
        # NLTK looks up satellites without the marker that cntlist.rev has, and finds 0
        assert ours.satellite or lemma.count() == sense.count


def _lemma(synset: Any, sense_key: str) -> Any:
    """The lemma of NLTK's synset with this key."""
    return next(lemma for lemma in synset.lemmas() if lemma.key() == sense_key)


@pytest.mark.published
def test_the_archive_holds_the_pinned_files(published: Path) -> None:
    """Every file that is read is pinned, and has the bytes that the archive holds: either may be fetched."""
    assert [Path(file.path).name for file in CARD.files] == list(DICT_FILES)
    with tarfile.open(published / CARD.packed[0].path) as archive:
        held = {Path(member.name).name: archive.extractfile(member) for member in archive if member.isfile()}
        found = {name: hashlib.sha256(stream.read()).hexdigest() for name, stream in held.items() if stream}
    assert all(found[Path(file.path).name] == file.sha256 for file in CARD.files)
