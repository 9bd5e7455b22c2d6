"""Views: what a subject is shown of an item; the target is carried along."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, SpanError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.view_names import VIEW_NAMES
from lexiscope.items.arrange.views import (
    MASK,
    VIEWS,
    is_masked,
    nothing_shown,
    shows_word,
    target_alone,
    view_item,
    view_usage,
    with_final_stop,
    with_mask,
    with_wordform,
    without_target,
)


def test_a_final_stop_is_added_once() -> None:
    """The stop is added only where no sentence-final sign stands, and the span stays."""
    for text, stopped in [
        ("A bank", "A bank."),
        ("A bank.", "A bank."),
        ("A bank!", "A bank!"),
        ('A "bank."', 'A "bank."'),
    ]:
        usage = Usage(text, text.index("bank"), text.index("bank") + 4)
        found = with_final_stop(usage)
        assert (found.text, found.start, found.end) == (stopped, usage.start, usage.end)
    # a stop that belongs to the target is the last sign of the text too
    assert with_final_stop(Usage("in the U.S.", 7, 11)).text == "in the U.S."


@given(st.text(max_size=20))
def test_adding_a_stop_twice(rest: str) -> None:
    """Adding a stop is without effect the second time, adds one character at most, and never changes the target."""
    usage = Usage(f"bank{rest}", 0, 4)
    stopped = with_final_stop(usage)
    assert with_final_stop(stopped) == stopped
    assert stopped.text in (usage.text, f"{usage.text}.")
    assert stopped.target == "bank"


@given(st.text(max_size=20), st.text(max_size=20), st.sampled_from(["bank", "X", "[X]", "niño", "銀行"]))
def test_hiding_the_target_is_exact(before: str, after: str, word: str) -> None:
    """In `context` the text around the span is untouched and the span covers the mask; in `word` it is all there is."""
    usage = Usage(f"{before}{word}{after}", len(before), len(before) + len(word), lemma="l", pos="n", sense="s")
    hidden, alone = without_target(usage), target_alone(usage)
    assert (hidden.text[: hidden.start], hidden.target, hidden.text[hidden.end :]) == (before, "[X]", after)
    assert (alone.text, alone.start, alone.target) == (word, 0, word)
    for seen in (hidden, alone):
        assert (seen.lemma, seen.pos, seen.language, seen.sense) == ("l", "n", "und", "s")


def test_the_published_view_hides_the_marked_occurrence_alone() -> None:
    """A span is one place: in context_span the same letters elsewhere in the sentence are not searched for."""
    usage = Usage("A bank is not a bank", 16, 20)
    assert view_usage(usage, "context_span").text == "A bank is not a [X]"


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        # every occurrence, in any case, as a whole word; the span stays that of the target
        (("A bank is not a *bank*. BANK!", "An *embankment*."), ("A [X] is not a [X]. [X]!", "An [X].")),
        # the form of one text is hidden in the other
        (("He nailed *boards*.", "The board of *board* games, with boards."),
         ("He nailed [X].", "The [X] of [X] games, with [X].")),
        # longer words that hold the letters are other words
        (("A *bank* for the bankrupt.", "The *bank*."), ("A [X] for the bankrupt.", "The [X].")),
        (("The *bank*'s bank-holiday.", "A *bank*."), ("The [X]'s [X]-holiday.", "A [X].")),
        # scripts without spaces: every occurrence counts
        (("他去了*银行*，银行关门。", "*银行*。"), ("他去了[X]，[X]关门。", "[X]。")),
    ],
)  # fmt: skip
def test_context_hides_the_word_wherever_the_item_shows_it(texts: tuple[str, str], shown: tuple[str, str]) -> None:
    """CONTEXT shows no form of the target in either text; * marks the span, which covers its own mask afterwards."""
    found = view_item(Item("i", "d", tuple(map(starred, texts))), "context").usages
    assert tuple(usage.text for usage in found) == shown
    for usage, text in zip(found, texts, strict=True):
        assert is_masked(usage)
        places = [n for n in range(len(usage.text)) if usage.text.startswith(MASK, n)]
        assert places.index(usage.start) == hidden_before(text)


def starred(text: str) -> Usage:
    """A usage whose target stands between two stars."""
    before, target, after = text.split("*")
    return Usage(before + target + after, len(before), len(before) + len(target))


def hidden_before(text: str) -> int:
    """How many masks stand before that of the target, counted by hand: occurrences before the first star."""
    return {"A bank is not a *bank*. BANK!": 1, "The board of *board* games, with boards.": 1}.get(text, 0)


def test_regular_forms_of_an_english_lemma_are_hidden_too() -> None:
    """With a lemma in English: -s, -ed, -ing; in another language the lemma and the targets alone."""
    text = "Boarding the boarded boards, a board."
    for language, shown in (("en", "[X] the [X] [X], a [X]."), ("und", "Boarding the boarded boards, a [X].")):
        usage = Usage(text, 31, 36, lemma="board", language=language)
        assert view_item(Item("i", "d", (usage,)), "context").usages[0].text == shown


@given(st.lists(st.sampled_from(["bank", "Bank", "a", ".", "銀行"]), min_size=1, max_size=8), st.data())
def test_no_text_shows_a_hidden_word(parts: list[str], data: st.DataObject) -> None:
    """Whatever surrounds it: the word is nowhere left, the span covers a mask, the rest of the text is untouched."""
    number = data.draw(st.sampled_from([n for n, part in enumerate(parts) if part.lower() == "bank"] or [0]))
    start = len(" ".join([*parts[:number], ""])) if number else 0
    usage = Usage(" ".join(parts), start, start + len(parts[number]))
    seen = view_usage(usage, "context")
    assert seen.target == MASK
    assert parts[number].casefold() not in seen.text.casefold().replace(MASK.casefold(), "").split()
    kept = [part for part in parts if part.casefold() != parts[number].casefold()]
    assert [part for part in seen.text.split() if part != MASK] == kept


@pytest.mark.published
@pytest.mark.parametrize(
    ("name", "share"), [("wic", 1.1), pytest.param("mcl_wic", 6.2, marks=pytest.mark.soak), ("wic_tsv", 2.8)]
)
def test_so_many_published_items_show_the_target_again(published: Path, name: str, share: float) -> None:
    """The shares of the specification (statistics, §6), recounted; CONTEXT shows it in none, other items stay."""
    items = catalog.dataset(name).items
    again = {item.item_id for item in items if recurs(item)}
    assert round(100 * len(again) / len(items), 1) == share
    for item in items:
        seen = view_item(item, "context")
        assert not recurs(Item(item.item_id, "d", seen.usages), forms=[usage.target for usage in item.usages])
        if not shows_word(item):
            assert seen == view_item(item, "context_span")
    assert again <= {item.item_id for item in items if shows_word(item)}


def recurs(item: Item, forms: Sequence[str] = ()) -> bool:
    """Whether a text has a target of the item outside the span, found with a pattern of the test's own."""
    wanted = forms or [usage.target for usage in item.usages]
    edge = r"(?<![\w]){}(?![\w])"
    pattern = re.compile("|".join(edge.format(re.escape(form)) for form in wanted), re.IGNORECASE)
    rests = [part for usage in item.usages for part in (usage.text[: usage.start], usage.text[usage.end :])]
    return any(pattern.search(part) for part in rests)


def test_views_by_name() -> None:
    """A view applies to all usages and keeps the item; an unknown view is an error that names the known ones."""
    item = Item("i", "d", (Usage("A bank", 2, 6), Usage("The bank.", 4, 8)), conditions={"same_sense": True})
    assert view_item(item, "full") == item
    shown = {view: [usage.text for usage in view_item(item, view).usages] for view in VIEWS}
    assert shown == {
        "full": ["A bank", "The bank."],
        "full+final_stop": ["A bank.", "The bank."],
        "context": ["A [X]", "The [X]."],
        "context_span": ["A [X]", "The [X]."],
        "word": ["bank", "bank"],
        "label": ["[X]", "[X]"],
    }
    with pytest.raises(SpecError, match=r"full\+final_stop"):
        view_usage(item.usages[0], "half")


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    """A target of letters that stand nowhere else, in a context of other letters, in two scripts."""
    target = draw(st.text(alphabet="qzQZ銀", min_size=1, max_size=30))
    before, after = (
        draw(st.text(alphabet="abc .'行\u00a0", max_size=30)),
        draw(st.text(alphabet="abc .'行", max_size=30)),
    )
    return Usage(f"{before}{target}{after}", len(before), len(before) + len(target), lemma="l", language="zh")


@given(usages(), st.sampled_from(["[MASK]", "<mask>", MASK]))
def test_context_keeps_no_letter_of_the_target(usage: Usage, token: str) -> None:
    """CONTEXT: one mask token for the whole target, however long; none of its letters is left, all others are."""
    for seen in (with_mask(usage, token), with_mask(view_usage(usage, "context"), token)):
        assert seen.target == token
        assert seen.text.count(token) == 1
        assert not set("qzQZ銀") & set(seen.text.replace(token, ""))
        assert (seen.text[: seen.start], seen.text[seen.end :]) == (usage.text[: usage.start], usage.text[usage.end :])


@given(usages())
def test_word_keeps_no_letter_of_the_context(usage: Usage) -> None:
    """WORD: the surface form as it stands, and nothing of the context, not even white space."""
    seen = view_usage(usage, "word")
    assert (seen.text, seen.target) == (usage.target, usage.target)
    assert not set("abc .'行\u00a0") & set(seen.text)


@given(usages(), usages())
def test_label_is_the_same_for_all(one: Usage, other: Usage) -> None:
    """LABEL: one mask and nothing else, so that neither text nor length tells two usages apart."""
    assert (nothing_shown(one).text, nothing_shown(one).target) == (MASK, MASK)
    assert nothing_shown(one).key == view_usage(other, "label").key
    assert is_masked(nothing_shown(one))
    assert with_mask(nothing_shown(one), "<mask>").text == "<mask>"


@given(usages(), st.sampled_from(["bench", "Sitzbank", "長椅", "X Y"]))
def test_a_guess_stands_where_the_target_stood(usage: Usage, form: str) -> None:
    """GUESSEDWORD: the form stands in the span, the rest is untouched; the target back again gives the usage back."""
    guessed = with_wordform(usage, form)
    assert guessed.target == form
    assert with_wordform(guessed, usage.target) == usage


def test_the_guess_of_an_item() -> None:
    """A guess is a condition of the item, one for all usages or one each; without one the item is named."""
    pair = (Usage("A bank", 2, 6), Usage("Two banks.", 4, 9))
    item = Item("i", "d", pair, conditions={"guessed_word": "shop", "guessed_word_2": "shops"})
    assert [usage.text for usage in view_item(item, "guessed_word").usages] == ["A shop", "Two shops."]
    with pytest.raises(InputError, match=r"item 'j'.*E402.*guessed_word"):
        view_item(Item("j", "d", pair), "guessed_word")
    with pytest.raises(SpecError, match="view_item"):
        view_usage(pair[0], "guessed_word")


@pytest.mark.parametrize("form", ["", " ", "shop ", "\u3000"])
def test_a_blank_guess_is_refused(form: str) -> None:
    """A guess without letters, or with white space around it, cannot stand in a text."""
    with pytest.raises(InputError, match="E105"):
        with_wordform(Usage("A bank", 2, 6), form)


@pytest.mark.parametrize("blank", [" ", "  ", "\t", "\u00a0", "\u3000"])
def test_a_target_of_white_space_is_no_usage(blank: str) -> None:
    """A span that covers white space only, or nothing, makes no usage, so that no view can hide nothing."""
    with pytest.raises(SpanError, match="E104"):
        Usage(f"A{blank}bank", 1, 1 + len(blank))
    with pytest.raises(SpanError, match="E103"):
        Usage(f"A{blank}bank", 1, 1)


def test_the_names_of_the_views_are_those_of_the_views() -> None:
    """Options are listed from the names alone: they are the keys of the views, in their order."""
    assert tuple(VIEWS) == VIEW_NAMES
