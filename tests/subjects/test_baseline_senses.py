"""The baselines of sense disambiguation and entity linking on a corpus of four words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage

K1, K2, K3 = "pitch%1:15:00::", "pitch%1:07:00::", "pitch%1:27:00::"
TAGGED = (K1, f"{K2} {K1}", f"{K3} {K2}", K3)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Four uses of *pitch*, made up: K1, K2 (and K1), K3 (and K2), K3."""
    words = "".join(f'<instance id="d.s.t{n}" lemma="pitch" pos="NOUN">pitch</instance>' for n in range(len(TAGGED)))
    (tmp_path / "semcor.data.xml").write_text(
        f'<corpus lang="en"><text id="d"><sentence id="d.s">{words}</sentence></text></corpus>'
    )
    (tmp_path / "semcor.gold.key.txt").write_text("".join(f"d.s.t{n} {keys}\n" for n, keys in enumerate(TAGGED)))
    return tmp_path


def item(*options: str, lemma: str = "pitch", pos: str = "NOUN") -> Item:
    return Item("i", "d", (Usage("A pitch.", 2, 7, lemma=lemma, pos=pos),), options)


def answer(spec: str, asked: Item, task: str = "sense_disambiguation") -> str | None:
    table = catalog.subject(spec).judge([asked], task)  # type: ignore[attr-defined]
    (option,) = table.column("option").tolist()
    return option  # type: ignore[no-any-return]


def test_first_sense_and_most_linked() -> None:
    """The first option, whatever the item says."""
    assert answer("baseline:first_sense", item(K2, K1)) == K2
    assert answer("baseline:most_linked", item("Paris", "Paris_(Texas)"), "entity_link") == "Paris"


def test_the_first_key_of_an_instance_counts(corpus: Path) -> None:
    """K3 was the first key twice, K1 and K2 once each; among K1 and K2 the one that stands first wins."""
    spec = f"baseline:most_frequent_sense?corpus={corpus}"
    assert answer(spec, item(K1, K2, K3)) == K3
    assert (answer(spec, item(K2, K1)), answer(spec, item(K1, K2))) == (K2, K1)


def test_tag_and_lexicon_letter_are_one_part_of_speech(corpus: Path) -> None:
    """NOUN in the corpus is n in a user's file; another part of speech is another word."""
    spec = f"baseline:most_frequent_sense?corpus={corpus}&back_off=no"
    assert answer(spec, item(K1, K3, pos="n")) == K3
    assert answer(spec, item(K1, K3, pos="VERB")) is None


def test_back_off(corpus: Path) -> None:
    """A word that the corpus does not have gets its first sense, or no answer."""
    spec = f"baseline:most_frequent_sense?corpus={corpus}"
    assert answer(spec, item("bow%1", "bow%2", lemma="bow")) == "bow%1"
    assert answer(f"{spec}&back_off=no", item("bow%1", "bow%2", lemma="bow")) is None


def test_its_spec_parses_back(corpus: Path) -> None:
    """Corpus and back-off are part of the id; the gold keys are part of the revision."""
    spec = f"baseline:most_frequent_sense?corpus={corpus}&back_off=no"
    subject = catalog.subject(spec)
    assert subject.subject_id == spec
    before = subject.facts.revision
    (corpus / "semcor.gold.key.txt").write_text("d.s.t0 other%1\n")
    assert catalog.subject(spec).facts.revision != before


def test_random_draws_an_option_by_item_and_seed() -> None:
    """The same item and seed get the same option; over many items every option comes."""
    asked = [replace(item(K1, K2, K3), item_id=f"i{n}") for n in range(60)]
    drawn = [answer("baseline:random?seed=3", each) for each in asked]
    assert drawn == [answer("baseline:random?seed=3", each) for each in asked]
    assert set(drawn) == {K1, K2, K3}
    assert drawn != [answer("baseline:random?seed=4", each) for each in asked]


@pytest.mark.parametrize(
    ("spec", "asked", "task", "error"),
    [
        ("baseline:first_sense", item(K1), "entity_link", InputError),
        ("baseline:most_linked", item(K1), "sense_disambiguation", InputError),
        ("baseline:first_sense", item(), "sense_disambiguation", InputError),
        ("baseline:word_overlap", item(K1), "sense_disambiguation", InputError),
        ("baseline:first_sense?corpus=x", item(K1), "sense_disambiguation", SpecError),
        ("baseline:most_frequent_sense?back_off=yes", item(K1), "sense_disambiguation", SpecError),
    ],
)
def test_what_it_refuses(spec: str, asked: Item, task: str, error: type[Exception]) -> None:
    """Another task, an item without options, an option that the rule does not have."""
    with pytest.raises(error):
        answer(spec, asked, task)


def test_a_usage_needs_lemma_and_part_of_speech(corpus: Path) -> None:
    """Without them it is not known which word of the corpus is meant: the item is named."""
    bare = Item("i", "d", (Usage("A pitch.", 2, 7),), (K1,))
    with pytest.raises(InputError, match=r"item 'i': .* lemma and part of speech"):
        answer(f"baseline:most_frequent_sense?corpus={corpus}", bare)
