"""Options behind a wording: log-odds, gains by the context, wordings and languages, ties, and what is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from lexiscope.collect import collect, in_wordings
from lexiscope.core import catalog
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import InputError, Place, SpecError, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.prompt import Prompting
from lexiscope.core.response import ResponseTable
from lexiscope.core.scoring import PRESETS, ScoringPolicy, TokenScores
from lexiscope.core.usage import Usage
from lexiscope.tasks.kit.scoring import gain_around, wording_label
from lexiscope.tasks.sense_verification import NO_TOKENS

OPTIONS = ("same_sense", "sense_verification", "sense_disambiguation", "sense_choice", "word_intrusion")
MASKED = ScoringPolicy(bos="no", first="scored", tokens="text", per="token", conditioning="masked")


class Words:
    """A scorer of words: one has −1, or what *logs* say of it in a text that holds another word."""

    kind = "causal_lm"

    def __init__(
        self,
        logs: Mapping[tuple[str, str], float] | None = None,
        *,
        variant: str = "",
        language: str = "",
        policy: ScoringPolicy = PRESETS["published"],
    ) -> None:
        self.logs, self.policy, self.texts = dict(logs or {}), policy, list[str]()
        self.prompting = Prompting(variant, language=language)
        self.subject_id = f"causal_lm:words{'?variant=' + variant if variant else ''}"

    @property
    def facts(self) -> SubjectFacts:
        return SubjectFacts(
            subject_id=self.subject_id, title="words", kind=self.kind, objective="", revision="1", source=""
        )

    def score(self, texts: Sequence[str], *, work: Path | None = None, progress: object = None) -> list[TokenScores]:
        self.texts += texts
        return [self._scores(text) for text in texts]

    def _scores(self, text: str) -> TokenScores:
        found = list(re.finditer(r"\w+|[^\w\s]|\n", text))
        words = {match.group() for match in found}
        values = [
            next((log for (word, other), log in self.logs.items() if match.group() == word and other in words), -1.0)
            for match in found
        ]
        values[0] = math.nan if self.policy.first == "unscored" else values[0]
        spans = np.array([match.span() for match in found])
        return TokenScores(np.array(values), spans[:, 0], spans[:, 1])


def item(text: str, word: str = "bank", *, item_id: str = "i", language: str = "en", **more: object) -> Item:
    start = text.index(word)
    usage = Usage(text, start, start + len(word), lemma=word, language=language)
    options = more.pop("options", ())
    return Item(item_id, "d", (usage,), tuple(options), conditions=more)  # type: ignore[arg-type]


def pair(language: str = "en") -> Item:
    first, second = item("A bank by the river").usages[0], item("The bank lends money").usages[0]
    usages = tuple(Usage(u.text, u.start, u.end, lemma="bank", language=language) for u in (first, second))
    return Item("p", "d", usages)


def senses(**more: object) -> Item:
    return item("The bank lends", glosses="a slope | a house of money", senses="slope|house", **more)


def values(table: ResponseTable, base: str) -> dict[str | None, float]:
    measure = next(name for name in table.unique("measure") if name.partition("(")[0] == base)
    return {row.option: row.value for row in table.where(measure=measure).rows()}  # type: ignore[misc]


# -- what is computed -------------------------------------------------------------------------------------------------


def test_log_odds_are_the_difference_of_both_answers() -> None:
    """Log-probability of the answer that means *same* minus that of the other; the more probable one is chosen."""
    table = collect([pair()], [Words({("Yes", "river"): -0.5, ("No", "river"): -2.0})], "same_sense")
    policy = "bos=no,first=unscored,tokens=continuation,per=text"
    assert table.unique("measure") == ("choice", f"log_odds(wording=question,{policy})", f"log_probability({policy})")
    assert values(table, "log_probability") == {"t": -0.5, "f": -2.0}
    assert values(table, "log_odds") == {None: 1.5}
    assert table.where(measure="choice").column("option").tolist() == ["t"]


def test_answers_of_several_tokens_are_added_up() -> None:
    """*the same* has two tokens, *different* one: nothing divides them, and the name of the measure says so."""
    table = collect([pair()], [Words(variant="completion")], "same_sense")
    assert values(table, "log_probability") == {"t": -2.0, "f": -1.0}
    assert values(table, "log_odds") == {None: -1.0}


def test_the_gain_is_what_the_context_adds() -> None:
    """PMI: the gloss behind the sentence minus the gloss behind the same words without it; the highest is chosen."""
    logs = {("slope", "lends"): -1.5, ("money", "lends"): -0.2}
    subject = Words(logs)
    table = collect([senses()], [subject], "sense_disambiguation")
    # "a slope": -1 - 1.5 against -2; "a house of money": -1 - 1 - 1 - 0.2 against -4
    assert values(table, "log_probability") == pytest.approx({"slope": -2.5, "house": -3.2})
    assert values(table, "pmi") == pytest.approx({"slope": -0.5, "house": 0.8})
    assert table.where(measure="choice").column("option").tolist() == ["house"]
    assert set(subject.texts) == {
        'The bank lends\nDefinition of "bank": a slope',
        'The bank lends\nDefinition of "bank": a house of money',
        'Definition of "bank": a slope',
        'Definition of "bank": a house of money',
    }


def test_a_gloss_that_begins_another_is_ended() -> None:
    """*a bar* begins *a bar of gold*: a line break is scored behind both, in the context and without it."""
    subject = Words()
    given = item("The bank lends", glosses="a bar|a bar of gold", senses="1|2")
    collect([given], [subject], "sense_disambiguation")
    assert all(text.endswith("\n") for text in subject.texts)
    masked = Words(policy=MASKED)
    collect([given], [masked], "sense_disambiguation")
    # who sees the end of the text sees which gloss is whole
    assert not any(text.endswith("\n") for text in masked.texts)


def test_an_intruder_gains_least_by_the_others() -> None:
    """Each word behind the others in alphabetical order; the one with the lowest gain is chosen."""
    words = ("river", "lake", "loan", "sea")
    given = Item("x", "d", (Usage("bank", 0, 4, language="en"),), words, conditions={"sense": "1"})
    subject = Words({("loan", "lake"): -3.0})
    table = collect([given], [subject], "word_intrusion")
    assert values(table, "pmi") == {"river": 0.0, "lake": 0.0, "loan": -2.0, "sea": 0.0}
    assert table.where(measure="choice").column("option").tolist() == ["loan"]
    assert "Words that belong together: lake, loan, sea, river" in subject.texts


def test_groups_are_compared_by_their_words() -> None:
    """A group's words stand behind the sentence in the order of the item, divided by commas."""
    given = item("The bank lends", group_1="river|shore", group_2="loan|cash")
    subject = Words({("cash", "lends"): -0.1})
    table = collect([given], [subject], "sense_choice")
    assert values(table, "pmi") == pytest.approx({"1": 0.0, "2": 0.9})
    assert 'The bank lends\nWords related to "bank": loan, cash' in subject.texts


def test_equal_options_are_taken_by_their_texts() -> None:
    """Neither the order of a lexicon nor that of a file decides: of equal glosses the alphabet's first is taken."""
    for order in ("a slope|the house", "the house|a slope"):
        ids = "slope|house" if order.startswith("a slope") else "house|slope"
        table = collect([item("The bank lends", glosses=order, senses=ids)], [Words()], "sense_disambiguation")
        assert table.where(measure="choice").column("option").tolist() == ["slope"]


@pytest.mark.parametrize("task", OPTIONS)
def test_the_right_answer_is_in_no_text(task: str) -> None:
    """What is scored does not change with the item's gold answer, nor with its other conditions."""
    (example, *_) = catalog.module("tasks", task).example_items("en")  # type: ignore[attr-defined]
    plain, other = Words(), Words()
    collect([example], [plain], task)
    conditions = {name: value for name, value in example.conditions.items() if name != "intruder"} | {"note": "hidden"}
    gone = Item(example.item_id, "elsewhere", example.usages, example.options, None, "list", conditions)
    collect([gone], [other], task)
    assert plain.texts == other.texts


# -- the definition in the target's place -----------------------------------------------------------------------------


def verified(text: str, **more: object) -> Item:
    return item(text, definition="a house of money", hypernyms="", **more)


def test_the_definition_in_the_targets_place() -> None:
    """What the tokens behind the target gain: here *lends*, −2 beside *bank* and −0.5 beside *house*."""
    subject = Words({("lends", "house"): -0.5, ("lends", "bank"): -2.0})
    table = collect([verified("The bank lends")], [subject], "sense_verification")
    assert values(table, "gloss_substitution") == {None: pytest.approx(1.5)}
    assert "The a house of money lends" in subject.texts
    (measure,) = [name for name in table.unique("measure") if name.startswith("gloss")]
    assert measure == "gloss_substitution(bos=no,first=unscored,tokens=around,per=text)"


def test_a_target_at_the_end_depends_on_nothing_behind_it() -> None:
    """From left to right no token depends on a last word: no value, and the reason; a masked model has one."""
    given = verified("They own a bank")
    row = next(collect([given], [Words()], "sense_verification").where(measure=_substituted()).rows())
    assert (row.value, row.raw) == (None, NO_TOKENS)
    masked = Words({("own", "house"): -0.25}, policy=MASKED)
    table = collect([given], [masked], "sense_verification")
    assert values(table, "gloss_substitution") == {None: pytest.approx(0.75)}


def _substituted() -> str:
    return PRESETS["published"].named("gloss_substitution", tokens="around", per="text")


def test_only_the_span_is_replaced_and_shared_tokens_count() -> None:
    """The other *bank* stays; a token at the border that only one text has is left out."""
    subject = Words()
    collect([verified("The bank of a bank")], [subject], "sense_verification")
    assert "The a house of money of a bank" in subject.texts
    seen, put = Usage("a bank's door", 2, 6), Usage("a slope of mud's door", 2, 14)
    one = TokenScores(np.array([-1.0, -1, -1]), np.array([0, 2, 9]), np.array([1, 8, 13]))
    two = TokenScores(np.array([-1.0, -5, -9, -0.25]), np.array([0, 2, 14, 17]), np.array([1, 14, 16, 21]))
    assert gain_around((seen, one), (put, two), PRESETS["published"]) == 0.75


# -- wordings and languages -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", OPTIONS)
@pytest.mark.parametrize("language", ["en", "es"])
def test_every_wording_is_filled_in(task: str, language: str) -> None:
    """In both languages each wording asks each worked example, with no name left open; answers differ."""
    asked = catalog.task(task)
    assert len(asked.wordings) >= 2
    items = list(catalog.module("tasks", task).example_items(language))  # type: ignore[attr-defined]
    for wording in asked.wordings:
        subject = Words(variant=wording, language=language)
        table = collect(items, [subject], task)
        assert len(table.where(measure="choice")) == len(items)
        assert not [text for text in subject.texts if "$" in text]
        assert any(f"wording={wording}," in measure for measure in table.unique("measure"))


def test_languages_of_a_wording() -> None:
    """The item's language is used, or the one that is named; another is refused with what to add."""
    spanish = Words()
    collect([pair("es-MX")], [spanish], "same_sense")
    assert any(text.startswith("Texto 1:") for text in spanish.texts)
    with pytest.raises(InputError, match=r"'question' is not written in 'fi'[\s\S]*\?language=en") as caught:
        collect([pair("fi")], [Words()], "same_sense")
    assert caught.value.code == "E616"
    named = Words(language="en")
    collect([pair("fi")], [named], "same_sense")
    assert any(text.startswith("Text 1:") for text in named.texts)


def test_the_prompt_of_people_is_a_wording_too() -> None:
    """``guidelines``: the options are the numbers under which the prompt lists them; who cannot decide is no option."""
    subject = Words(variant="guidelines")
    table = collect([pair()], [subject], "same_sense", views=["context"])
    assert {text.rsplit("\n", 1)[-1] for text in subject.texts} == {"Number: 1", "Number: 2"}
    assert set(values(table, "log_probability")) == {"t", "f"}
    assert any(name.startswith("log_odds(wording=guidelines,") for name in table.unique("measure"))
    with pytest.raises(InputError, match=r"no wording 'polite'[\s\S]*question, statement, completion, guidelines"):
        collect([pair()], [Words(variant="polite")], "same_sense")


def test_the_number_of_an_intruder_is_the_most_probable_one() -> None:
    """Behind the prompt of people the answer is the intruder's number: the highest probability, not the lowest gain."""
    given = Item("x", "d", (Usage("bank", 0, 4, language="en"),), ("river", "lake", "loan"), conditions={"sense": "1"})
    table = collect([given], [Words({("2", "Number"): -0.1}, variant="guidelines")], "word_intrusion")
    # options are numbered in the order of their keys, the alphabet: lake, loan, river
    assert table.where(measure="choice").column("option").tolist() == ["loan"]


def test_wordings_make_subjects_of_models_that_score() -> None:
    """``--wording`` multiplies those that a task asks in words; the task's first wording is the plain spec."""
    specs = ["causal_lm:tiny", "encoder:minilm"]
    asked = in_wordings(specs, ["question", "statement"], catalog.task("same_sense"))
    assert asked == ("causal_lm:tiny", "causal_lm:tiny?variant=statement", "encoder:minilm")
    for task in (None, catalog.task("minimal_pair")):
        with pytest.raises(SpecError, match="none is asked"):
            in_wordings(specs, ["question"], task)


@pytest.mark.parametrize("task", ["minimal_pair", "substitution"])
def test_a_task_without_words_refuses_a_wording(task: str) -> None:
    """A wording that would change nothing is refused, before any work."""
    with pytest.raises(SpecError, match="there is no wording 'question'"):
        catalog.task(task).answer_function(Words(variant="question"))


def test_a_chat_model_that_continues_texts_is_not_asked_in_words() -> None:
    """Gap filling takes what a chat model generates: two wordings would be the same question, asked twice."""
    with pytest.raises(SpecError, match=r"there is no wording 'short\.yaml'"):
        catalog.task("gap_filling").answer_function(catalog.subject("chat:m@http://127.0.0.1:1/v1?variant=short.yaml"))


def test_the_name_of_a_wording_in_a_measure() -> None:
    """A file is named without folder and ending, and without signs that would end the name."""
    assert wording_label("my/words, second (2).yaml") == "words_second_2"


# -- what cannot be scored --------------------------------------------------------------------------------------------


class Short(Words):
    """Reads at most so many characters."""

    def score(self, texts: Sequence[str], *, work: Path | None = None, progress: object = None) -> list[TokenScores]:
        for text in texts:
            if len(text) > 400:
                raise SubjectError("the text has too many tokens", place=Place(text=text))
        return super().score(texts)


@pytest.mark.parametrize("task", ["same_sense", "substitution"])
def test_a_text_that_is_too_long_names_its_item(task: str) -> None:
    """Nothing is cut off: the error of the model names the item whose text it cannot read."""
    long = "The bank lends" + " and lends" * 50
    usage = item(long).usages[0]
    given = Item("long", "d", (usage, usage)) if task == "same_sense" else Item("long", "d", (usage,), ("lake", "town"))
    with pytest.raises(SubjectError, match="too many tokens") as caught:
        collect([given], [Short()], task)
    assert caught.value.place is not None
    assert caught.value.place.item_id == "long"


def test_a_number_that_is_not_finite_names_its_item() -> None:
    """An infinite log-probability is an error with the item's id, not a choice."""
    with pytest.raises(SubjectError, match="not finite") as caught:
        collect([pair()], [Words({("Yes", "river"): -math.inf})], "same_sense")
    assert caught.value.place is not None
    assert caught.value.place.item_id == "p"
