"""Items of gap filling: the prompt, the accepted answers, and the names of what was generated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.build.gap_filling.gaps import (
    accepted_answers,
    decoding_measure,
    gap_item,
    gap_items,
    gap_prompt,
    prompt_of,
    read_decoding,
)
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.subject import Decoding
from lexiscope.core.usage import Usage
from lexiscope.datasets.synonymy import collection
from lexiscope.items.arrange.views import view_item
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem, realise_text
from lexiscope.items.choice_sets.surface import Mode
from lexiscope.items.choice_sets.templates import Template, synonymy_templates

SENTENCE = "The clerk filed the Report;"
USAGE = Usage(SENTENCE, 20, 26, lemma="report", language="en")


def item(**changed: object) -> Item:
    given: dict[str, object] = {"dataset": "d", "synonym": "account", "synset": ["report", "account", "news_report"]}
    return gap_item("i1", USAGE, **(given | changed))  # type: ignore[arg-type]


def test_the_prompt_is_that_of_the_suite_cut_before_the_word() -> None:
    """Spec §7: `S T is a synonym of`, as T11; one space joins S and the prompt whatever S ends in."""
    assert prompt_of(item()) == SENTENCE + " Report is a synonym of"
    assert item().condition("expression") == "is a synonym of"


@pytest.mark.parametrize(
    ("name", "prompt"),
    [
        ("T11", "Role is a synonym of"),
        ("T14", "Role means"),
        ("T15", "Role is the same as"),
        ("T7", "Role is a synonym of"),
    ],
)
def test_every_relation_of_the_study_makes_a_prompt(name: str, prompt: str) -> None:
    """Other expressions: any template of a relation, with the sentence or without, cut before its word."""
    (template,) = [each for each in synonymy_templates() if each.name == name]
    assert gap_prompt("role", template) == prompt


@pytest.mark.parametrize("name", ["T12", "T13"])
def test_a_template_without_the_target_before_its_gap_is_refused(name: str) -> None:
    """Substitution has its word inside the sentence, reference does not name the target: neither makes a gap."""
    (template,) = [each for each in synonymy_templates() if each.name == name]
    with pytest.raises(InputError, match=f"{name}.*makes no gap"):
        gap_prompt("role", template)


def test_templates_of_other_languages() -> None:
    """Templates are data: a Spanish one makes a Spanish prompt."""
    template = Template("es1", "gap", "{context} «{target}» es lo mismo que {word}.", "es lo mismo que", language="es")
    made = gap_item("i", Usage("El rostro.", 3, 9, language="es"), dataset="d", synonym="cara", template=template)
    assert prompt_of(made) == "El rostro. «rostro» es lo mismo que"


def test_capitals_of_the_two_modes() -> None:
    """Published: all letters but the first are small (spec §1); clean keeps an abbreviation."""
    (template,) = [each for each in synonymy_templates() if each.name == "T11"]
    assert gap_prompt("DNA", template, mode="published") == "Dna is a synonym of"
    assert gap_prompt("DNA", template) == "DNA is a synonym of"


def test_views() -> None:
    """In the view `word` the prompt stands alone; `context` would hide what the prompt names and is refused."""
    assert prompt_of(view_item(item(), "word"), view="word") == "Report is a synonym of"
    assert prompt_of(view_item(item(), "full+final_stop"), view="full+final_stop").startswith(SENTENCE + ".")
    with pytest.raises(InputError, match="hides the target"):
        prompt_of(view_item(item(), "context"), view="context")


def test_accepted_answers_are_nested_and_leave_the_target_out() -> None:
    """Curated: the curated one. Synset: all its lemmas but the target, several words with spaces, the curated too."""
    assert accepted_answers(item(), "curated") == ("account",)
    assert accepted_answers(item(), "synset") == ("account", "news report")
    outside = item(synonym="write-up", synset=["Report", "account", "ACCOUNT"])
    assert accepted_answers(outside, "synset") == ("write-up", "account")
    assert set(accepted_answers(outside, "curated")) <= set(accepted_answers(outside, "synset"))


@pytest.mark.parametrize("synonym", ["", "report", ["account", "REPORT"]])
def test_an_item_needs_a_synonym_other_than_its_target(synonym: object) -> None:
    """An answer that is the target itself would count the word as its own synonym."""
    with pytest.raises(InputError, match="E617"):
        item(synonym=synonym)


def test_unknown_answers_and_items_without_any_are_refused() -> None:
    """The criteria are two; an item of a file without the columns is named."""
    with pytest.raises(SpecError, match="curated or synset"):
        accepted_answers(item(), "both")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="'bare'"):
        accepted_answers(Item("bare", "d", (USAGE,)), "curated")
    with pytest.raises(InputError, match="no accepted answer"):
        accepted_answers(Item("bare", "d", (USAGE,), conditions={"synonym": " | "}), "curated")


@pytest.mark.parametrize(
    "decoding",
    [Decoding(), Decoding("sample", n=10, top_k=10, seed=7), Decoding("sample", temperature=0.7, max_tokens=3)],
)
def test_the_measure_says_how_tokens_were_chosen_and_reads_back(decoding: Decoding) -> None:
    """Greedy and drawn answers have different measures: their repeats never stand under one name."""
    assert read_decoding(decoding_measure("completion", decoding)) == decoding


def test_what_is_no_measure_of_gap_filling() -> None:
    """A person's completion has no decoding; another measure and stop texts are refused."""
    assert read_decoding("completion") is None
    with pytest.raises(SpecError):
        read_decoding("rating(method=greedy)")
    with pytest.raises(SpecError, match="stop"):
        decoding_measure("completion", Decoding(stop=(".",)))


def test_a_collection_becomes_gaps() -> None:
    """Each item of a collection has one gap; its sentence is joined, its target keeps its place, its columns stay."""
    tokens = ["``", "Ask", "the", "clerk", "(", "an", "old", "hand", ")", ",", "''", "she", "said", "."]
    one = SynonymItem.from_tokens("7", tokens, 7, synonym="worker", distractor="palm")
    one = replace(one, sense_key="hand%1:18:00::", synset=("hired_hand", "hand", "hired_man"), sentence_id="s1")
    (made,) = gap_items([one], dataset="own")
    assert made.item_id == "own/7/gap_filling/is_a_synonym_of"
    assert prompt_of(made) == '"Ask the clerk (an old hand)," she said. Hand is a synonym of'
    assert (made.usages[0].target, made.usages[0].sense) == ("hand", "hand%1:18:00::")
    assert accepted_answers(made, "synset") == ("worker", "hired hand", "hired man")
    assert [made.condition(name) for name in ("distractor", "sentence", "mode")] == ["palm", "s1", "clean"]


@pytest.mark.published
@pytest.mark.parametrize("mode", ["clean", "published"])
def test_the_published_prompts(published: Path, mode: Mode) -> None:
    """Spec §7: 200 prompts, each a T11 text cut before its word (the article may follow the word there)."""
    items = collection(published)
    gaps = gap_items(items, mode=mode)
    (template,) = [each for each in synonymy_templates() if each.name == "T11"]
    cut = len(" is a synonym of")
    for item, gap in zip(items, gaps, strict=True):
        text = realise_text(item, template, item.target, mode=mode)
        assert prompt_of(gap) == text.text[: text.start - 1]
        assert prompt_of(gap)[:-cut].endswith(item.target.capitalize())
        assert gap.usages[0].target == item.target
        assert accepted_answers(gap, "curated")[0] == item.synonym
    assert len(gaps) == 200
    # README of the data: 57 synsets have one member beside the target; two targets are plural forms
    assert sum(len(accepted_answers(gap, "synset")) == 1 for gap in gaps) == 57
