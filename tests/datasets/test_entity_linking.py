"""Entity-linking sets: published counts, the simplest rules, search spaces; gated sets on made-up files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from lexiscope.analysis.choices.retrieval import accuracy_at, chosen, ranked
from lexiscope.core import catalog
from lexiscope.core.errors import DataError, InputError, SpecError
from lexiscope.datasets import aida, cometa, kore50, ncbi_disease, wiki_fair, wikification, wikimed, wned_wiki
from lexiscope.datasets.aida import CandidateMention
from lexiscope.items.answers.search_space import check_reachable
from lexiscope.items.answers.sense_options import correct_ids
from lexiscope.resources import fetch
from lexiscope.subjects.baseline import ClassCounts

MADE_UP = Path(__file__).parents[1] / "data" / "el"


# -- AIDA -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mentions(published: Path) -> tuple[CandidateMention, ...]:
    return aida.mentions()


def linked(mentions: tuple[CandidateMention, ...], split: str) -> list[CandidateMention]:
    return [mention for mention in mentions if mention.split == split and mention.page is not None]


@pytest.mark.published
def test_aida_counts(mentions: tuple[CandidateMention, ...]) -> None:
    """Documents, mentions and linked mentions of the parts; the page is a candidate of all dev and test mentions."""
    splits = ("train", "testa", "testb")
    assert [len({m.document for m in mentions if m.split == split}) for split in splits] == [946, 216, 230]
    assert [sum(m.split == split for m in mentions) for split in splits] == [20_287, 5_191, 4_950]
    assert [len(linked(mentions, split)) for split in splits] == [18_540, 4_791, 4_485]
    found = [sum(m.page in dict(m.candidates) for m in linked(mentions, split)) for split in splits]
    assert found == [18_538, 4_791, 4_485]


@pytest.mark.published
@pytest.mark.parametrize(("split", "most_linked", "prior"), [("testa", 81.44, 66.56), ("testb", 80.20, 51.62)])
def test_aida_simplest_rules(
    mentions: tuple[CandidateMention, ...], split: str, most_linked: float, prior: float
) -> None:
    """The candidate that most links lead to; the page seen most often in training (a mention never seen is wrong)."""
    asked = linked(mentions, split)
    gold = {str(n): {str(mention.page)} for n, mention in enumerate(asked)}
    first = {str(n): [mention.candidates[0][0]] for n, mention in enumerate(asked)}
    assert round(100 * accuracy_at(first, gold, resamples=0).value, 2) == most_linked
    seen = ClassCounts((mention.text, str(mention.page)) for mention in linked(mentions, "train"))
    best = {str(n): [page] for n, mention in enumerate(asked) if (page := seen.most_frequent(mention.text)) is not None}
    assert round(100 * accuracy_at(best, gold, resamples=0).value, 2) == prior


@pytest.mark.published
def test_aida_with_masked_texts(published: Path) -> None:
    """Dev and test mentions in masked texts, with candidates; the baseline answers; all pages can be reached."""
    loaded = aida.load()
    assert Counter(item.conditions["split"] for item in loaded.items) == {"dev": 4_789, "test": 4_483}
    assert all(item.gold in item.options and item.conditions["masked"] is True for item in loaded.items)
    assert any("***" in item.usages[0].text for item in loaded.items)
    space = aida.search_space()
    check_reachable(loaded.items, space)
    subject = catalog.subject("baseline:most_linked")
    table = catalog.task("entity_link").answer_function(subject)(loaded.items, subject, view="full")
    dev = {item.item_id: correct_ids(item) for item in loaded.items if item.conditions["split"] == "dev"}
    found = accuracy_at(ranked(table), dev, n_entries=len(space), resamples=0)
    # 81.44 over 4,791 mentions, of which ELEVANT has 4,789
    assert abs(100 * found.value - 81.44) < 0.05
    assert found.chance == pytest.approx(1 / len(space))
    assert chosen(table, "retrieved")["aida/dev/947/1"] == loaded.items[0].options[0]


def test_aida_with_texts_of_one_s_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All parts of the user's file; NIL mentions are no items; without the list of candidates there are no options."""
    monkeypatch.setenv(fetch.VARIABLE, str(tmp_path))
    loaded = aida.load_texts(MADE_UP / "aida_made_up.tsv")
    assert [(item.item_id, item.usages[0].target) for item in loaded.items] == [
        ("aida/train/1/1", "Lincoln"),
        ("aida/train/1/3", "New York"),
        ("aida/train/1/4", "Oxford"),
        ("aida/dev/947/1", "Oxford"),
        ("aida/dev/947/2", "Cambridge"),
        ("aida/test/1163/1", "Cordoba"),
    ]
    assert all(item.conditions["masked"] is False for item in loaded.items)
    assert loaded.items[-1].gold == "Córdoba,_Spain"


def test_aida_texts_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the news texts the error says where they are looked for and how they are made."""
    monkeypatch.setenv(fetch.VARIABLE, str(tmp_path))
    for call in (aida.load_texts, lambda: catalog.dataset("aida?texts=full")):
        with pytest.raises(DataError, match=r"AIDA-YAGO2-dataset\.tsv"):
            call()
    with pytest.raises(SpecError, match="no texts 'all'"):
        catalog.dataset("aida?texts=all")


# -- open sets ------------------------------------------------------------------------------------------------


@pytest.mark.published
@pytest.mark.parametrize(
    ("module", "n_items", "n_entries"),
    [(wned_wiki, 6_743, 5_290), (kore50, 143, 126), (wiki_fair, 2_344, 1_165), (ncbi_disease, 6_891, 750)],
)
def test_every_right_answer_can_be_reached(module: ModuleType, n_items: int, n_entries: int, published: Path) -> None:
    """The search space of a set holds what is right for its items."""
    items, space = module.load().items, module.search_space()
    check_reachable(items, space)
    assert (len(items), len(space)) == (n_items, n_entries)


@pytest.mark.published
def test_what_is_off_upstream_is_set_aside(published: Path) -> None:
    """One NCBI mention, by name; 22 of WNED-Wiki, 19 of them of one article."""
    (found,) = ncbi_disease.load().set_aside
    cells = dict(found.cells)
    assert (cells["document"], cells["start"], found.line) == ("10923035", "711", 3249)
    assert cells["written"].strip() == cells["found"] == 'generalized epilepsy and febrile seizures " plus "'
    documents = Counter(dict(row.cells)["document"] for row in wned_wiki.load().set_aside)
    assert documents == {"Jiří_Třanovský": 19, "X_Corps_(Union_Army)": 2, "G-sharp_major": 1}


@pytest.mark.published
def test_ncbi_parts(published: Path) -> None:
    """5,145 / 787 / 960 mentions, one of them off; composite mentions have several concepts."""
    items = ncbi_disease.load().items
    assert Counter(item.conditions["split"] for item in items) == {"train": 5_144, "dev": 787, "test": 960}
    asked = next(item for item in items if item.usages[0].target == "colon and some other cancers")
    assert correct_ids(asked) == {"D003110", "D009369"}


@pytest.mark.published
def test_a_sample_by_sentence(published: Path) -> None:
    """The stand-in of Wikification: 600 sentences each to test and for dev, none in two parts, drawn by seed."""
    drawn = catalog.dataset("wned_wiki?sample=7").items
    parts: dict[str, set[str]] = {}
    for item in drawn:
        parts.setdefault(str(item.conditions["split"]), set()).add(str(item.conditions["sentence"]))
    assert {name: len(found) for name, found in parts.items()} == {"test": 600, "dev": 600, "train": 1_643}
    assert not parts["test"] & parts["train"]
    assert not parts["test"] & parts["dev"]
    items = wned_wiki.load().items
    assert drawn == wned_wiki.draw_sample(items, seed=7)
    assert drawn != wned_wiki.draw_sample(items, seed=8)
    with pytest.raises(SpecError, match="not a seed"):
        wned_wiki.load(sample="x")


# -- gated sets -----------------------------------------------------------------------------------------------


def test_wikification() -> None:
    """Links of the user's file, divided by sentence; pages with titles and descriptions."""
    path = MADE_UP / "links_made_up.jsonl"
    loaded = wikification.load(path, n_test=1, n_dev=1, seed=1)
    assert Counter(item.conditions["split"] for item in loaded.items) == {"test": 1, "dev": 1, "train": 2}
    assert [item.usages[0].target for item in loaded.items] == ["Jersey", "Jersey", "Mercury", "mercury"]
    space = wikification.search_space(path)
    check_reachable(loaded.items, space)
    assert space.entries[1].name == "Jersey (clothing)"
    with pytest.raises(InputError, match="4 sentences are too few for 50000 to test"):
        wikification.load(path)


def test_wikimed() -> None:
    """The splits of the file; concepts are named by training mentions, others by their id."""
    path = MADE_UP / "wikimed_made_up.jsonl"
    loaded = wikimed.load(path)
    assert [(item.conditions["split"], item.gold) for item in loaded.items] == [
        ("train", "U1"),
        ("train", "U1|U2"),
        ("test", "U3"),
    ]
    assert [(entry.entry_id, entry.name) for entry in wikimed.search_space(path).entries] == [
        ("U1", "cold"),
        ("U2", "cold"),
        ("U3", "U3"),
    ]


def test_cometa() -> None:
    """A concept of the level asked for; terms that are not there once are set aside; no descriptions."""
    folder = MADE_UP / "cometa_made_up"
    loaded = cometa.load(folder)
    assert [(item.item_id, item.usages[0].target) for item in loaded.items] == [
        ("cometa/train/2", "headache"),
        ("cometa/train/3", "meds"),
        ("cometa/dev/2", "tired"),
        ("cometa/test/2", "sugar"),
    ]
    assert [(row.line, row.reason) for row in loaded.set_aside] == [
        (4, "the term is in its example more than once"),
        (3, "the term is not in its example"),
    ]
    general, specific = (cometa.search_space(folder, level=level) for level in cometa.LEVELS)
    assert ("S3" in general, "S4" in general, "S4" in specific) == (True, False, True)
    assert {entry.description for entry in general.entries} == {""}
    with pytest.raises(SpecError, match="level 'any'"):
        cometa.load(folder, level="any")  # type: ignore[arg-type]


@pytest.mark.parametrize("module", [wikification, wikimed, cometa])
def test_a_gated_set_says_how_to_get_it(module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where its file is not at hand, loading, its search space and getting it say what to do."""
    monkeypatch.setenv(fetch.VARIABLE, str(tmp_path))
    for call in (module.load, module.search_space, lambda: fetch.get(module.CARD)):
        with pytest.raises(DataError, match="cannot be downloaded") as caught:
            call()
        assert caught.value.hint == module.CARD.how_to_obtain
