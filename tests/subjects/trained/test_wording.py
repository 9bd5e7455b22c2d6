"""What a trained model reads: exact texts, the mask in exactly the span, contexts cut far from the target."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from lexiscope.core.errors import InputError, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.answers.search_space import Entry
from lexiscope.items.arrange.views import view_item
from lexiscope.subjects.trained._wording import TextsWithTargets, Wording, cut_to_length, encode_readings, entry_text

BANK = Usage("The bank of the bank shut.", 16, 20, lemma="bank", language="en")
LIMA = Usage("Una lima.", 4, 8, lemma="lima")
PAIR = Item("p1", "made", (BANK, LIMA), gold="t")
VERIFIED = Item("v1", "made", (BANK,), gold="t", conditions={"definition": "a house", "hypernyms": "firm, building"})
SENSES = Item("s1", "made", (BANK,), ("k1", "k2"), "k1", conditions={"glosses": "a house|a slope"})


def wording(view: str, mask: str | None = "<mask>") -> Wording:
    return Wording(view, mask)


def words() -> Any:
    """A tokenizer whose tokens are words and signs, each with an unknown id, between [CLS] and [SEP]."""
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "[CLS]": 1, "[SEP]": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return tokenizer


@pytest.mark.parametrize(
    ("view", "texts"),
    [
        ("full", ("The bank of the bank shut.", "Una lima.")),
        ("context", ("The <mask> of the <mask> shut.", "Una <mask>.")),
        ("context_span", ("The bank of the <mask> shut.", "Una <mask>.")),
        ("word", ("bank", "lima")),
        ("label", ("<mask>", "<mask>")),
    ],
)
def test_a_pair_in_every_view(view: str, texts: tuple[str, str]) -> None:
    """The model's own mask token stands in the span, on both sides; the other *bank* is hidden in context too."""
    reading = wording(view).pair(view_item(PAIR, view))
    assert reading.texts() == texts
    shown = [reading.texts()[text][start:end] for text, start, end in reading.targets]
    assert shown == (["<mask>"] * 2 if view in ("context", "context_span", "label") else ["bank", "lima"])


@pytest.mark.parametrize(
    ("view", "first", "second"),
    [
        ("full", 'The bank of the "bank" shut.', "bank: a house"),
        ("context", 'The <mask> of the "<mask>" shut.', "<mask>: a house"),
        ("context_span", 'The bank of the "<mask>" shut.', "<mask>: a house"),
        ("word", '"bank"', "bank: a house"),
        ("label", '"<mask>"', "<mask>"),
    ],
)
def test_marks_of_weak_supervision(view: str, first: str, second: str) -> None:
    """The target in quotation marks, lemma and gloss; the lemma is hidden with the target, the gloss in label alone."""
    readings = wording(view).senses(view_item(SENSES, view))
    assert readings[0].texts() == (first, second)
    assert len(readings) == 2
    assert (readings[0] == readings[1]) == (view == "label")


def test_a_lemma_of_several_words_is_read_as_words() -> None:
    """WordNet writes ``belong_to``: the gloss side reads ``belong to: …``, as the sentence does."""
    usage = Usage("Both belong to a choir.", 5, 14, lemma="belong_to", pos="v")
    item = Item("s2", "made", (usage,), ("s1", "s2"), gold="s1", conditions={"glosses": "be owned by|be a part of"})
    assert wording("full").senses(item)[1].texts() == ('Both "belong to" a choir.', "belong to: be a part of")


def test_a_definition_with_hypernyms() -> None:
    """WiC-TSV: ``lemma: definition ; hypernyms`` on the second side; without hypernyms the definition alone."""
    assert wording("full").verification(VERIFIED).second == "bank: a house ; firm, building"
    bare = replace(VERIFIED, conditions={"definition": "a house"})
    assert wording("full").verification(bare).second == "bank: a house"
    assert wording("label").verification(view_item(VERIFIED, "label")).second == "<mask>"


def test_a_query_and_an_entry() -> None:
    """``[`` and ``]`` around the target; the tokenizer puts ``[CLS]`` and ``[SEP]`` around ``name ‖ description``."""
    item = Item("r1", "made", (BANK,), gold="e1")
    assert wording("full").query(item).first == "The bank of the [bank] shut."
    assert wording("context").query(view_item(item, "context")).first == "The <mask> of the [<mask>] shut."
    text = entry_text(Entry("e1", "bank, depository", 'a house; "he went"'), "gloss")
    assert text == 'bank, depository ‖ a house; "he went"'
    assert words().encode(text).tokens[0] == "[CLS]"
    assert words().encode(text).tokens[-1] == "[SEP]"


@pytest.mark.parametrize(
    ("trained", "shown"), [("full", "context"), ("context", "full"), ("word", "full"), ("label", "word")]
)
def test_an_item_in_another_view_is_refused(trained: str, shown: str) -> None:
    """A model is asked in the view that it was trained on; the error names the item."""
    with pytest.raises(SubjectError, match="p1"):
        wording(trained).pair(view_item(PAIR, shown))


def test_a_tokenizer_without_a_mask_token_is_refused() -> None:
    """Where a view hides the target, the row and what to do are named."""
    with pytest.raises(InputError, match=r"'p1'.*no mask token(.|\n)*full and word"):
        wording("context", None).pair(view_item(PAIR, "context"))
    assert wording("full", None).pair(PAIR)


def test_items_of_another_shape_are_refused() -> None:
    """Two usages, one usage, glosses, a definition: what is missing is said of the item."""
    with pytest.raises(InputError, match="s1"):
        wording("full").pair(SENSES)
    with pytest.raises(InputError, match="p1"):
        wording("full").query(PAIR)
    with pytest.raises(InputError, match="E617"):
        wording("full").senses(VERIFIED)
    with pytest.raises(InputError, match="E402"):
        wording("full").verification(SENSES)


def test_targets_are_found_in_their_own_text() -> None:
    """The sub-words of a target are those of its text, though both texts have the same offsets."""
    reading = TextsWithTargets("one two three", "one two three", ((0, 4, 7), (1, 8, 13)))
    (found,) = encode_readings(words(), [reading], longest=20)
    assert found.targets == ((2,), (7,))
    assert found.types == (0,) * 5 + (1,) * 4
    assert not found.cut


@given(st.integers(1, 60), st.integers(0, 60), st.integers(1, 60), st.integers(10, 40))
def test_a_long_context_is_cut_far_from_the_targets(before: int, after: int, other: int, longest: int) -> None:
    """Whatever stands around it, the target stays whole, and the reading has at most so many tokens."""
    first = " ".join(["w"] * before + ["TARGET"] + ["w"] * after)
    second = " ".join(["v"] * other + ["GOAL"])
    targets = ((0, 2 * before, 2 * before + 6), (1, 2 * other, 2 * other + 4))
    tokenizer = words()
    (found,) = encode_readings(tokenizer, [TextsWithTargets(first, second, targets)], longest=longest)
    whole = before + 1 + after + other + 1 + 3
    assert len(found.ids) == min(longest, whole)
    assert found.cut == (whole > longest)
    assert all(len(places) == 1 for places in found.targets)


def test_a_usage_is_cut_around_its_target() -> None:
    """An encoder that cuts nothing gets a text that fits; a short one is left as it is."""
    text = " ".join(["w"] * 30 + ["TARGET"] + ["w"] * 30)
    usage, short = Usage(text, 60, 66), Usage("a TARGET", 2, 8)
    cut, same = cut_to_length(words(), [usage, short], longest=9)
    assert cut.target == "TARGET"
    assert len(cut.text.split()) == 7
    assert same == short
