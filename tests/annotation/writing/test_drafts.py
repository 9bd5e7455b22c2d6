"""Drafts by a language model: guarded when they come, decided by a person, guarded again, and marked for good."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from lexiscope.annotation.store.record import Review
from lexiscope.annotation.writing.drafts import (
    DRAFT_COLUMNS,
    Draft,
    accepted_draft_texts,
    cleaning_reviews,
    draft_table,
    draft_texts,
    provenance_table,
    read_drafts,
)
from lexiscope.annotation.writing.review import AcceptedText, WrittenText, accepted_texts
from lexiscope.annotation.writing.staging import Stage
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import CapabilityError, InputError
from lexiscope.core.item import Item
from lexiscope.core.prompt import ChatQuestion, ChatReply, Prompting
from lexiscope.core.subject import Continuation, Decoding
from lexiscope.core.usage import Usage
from lexiscope.tasks import ambiguous_sentence, story_ending

SENSES = {"sense_1": "where money is kept", "example_1": "", "sense_2": "side of a river", "example_2": "The bank."}
BANK = Item("bank", "pool", (Usage("bank", 0, 4, lemma="bank", language="en"),), conditions=SENSES)
PARTS = ("precontext", "sense", "example", "other_sense", "other_example")
ENDING = Item("e", "d", (Usage("The bank shut.", 4, 8, language="en"),), conditions=dict.fromkeys(PARTS, "."))
TEXT = "i go to the bank of town"
SENTENCES, ENDINGS = ambiguous_sentence.SCREEN.writing, story_ending.SCREEN.writing


@dataclass
class Writer:
    """A model that answers each text with the reply that it was given for it; made for these tests."""

    replies: Mapping[str, ChatReply]
    prompting: Prompting = field(default_factory=Prompting)
    subject_id: str = "chat:made@http://127.0.0.1/v1"
    kind: str = "chat"
    facts: SubjectFacts = field(default_factory=lambda: SubjectFacts("chat:made@http://127.0.0.1/v1"))

    def converse(
        self, questions: Sequence[ChatQuestion], *, work: object = None, progress: object = None
    ) -> Sequence[Sequence[ChatReply]]:
        return [[self.replies[question.messages[-1].content]] for question in questions]


class Continuing:
    """A model that continues every prompt in one way."""

    subject_id = kind = "causal_lm:made"
    facts = SubjectFacts("causal_lm:made")

    def generate(
        self, prompts: Sequence[str], decoding: Decoding, *, work: object = None, progress: object = None
    ) -> Sequence[Sequence[Continuation]]:
        assert all(prompt.endswith("Answer:") for prompt in prompts)
        return [[Continuation(" He goes to the bank.", finish="stop")] for _ in prompts]


assert SENTENCES is not None
assert ENDINGS is not None


def clean_with(reply: ChatReply) -> Draft:
    request = ambiguous_sentence.cleaning_request(TEXT, BANK, draft_id="1")
    (draft,) = draft_texts([request], Writer({TEXT: reply}))
    return draft


def accepted_one(text: str = TEXT) -> AcceptedText:
    return AcceptedText(WrittenText(1, "p", "bank", text), Review(1, "accepted", "", None, "editor", "t"))


def test_the_prompts_ask_for_what_the_paper_says() -> None:
    """B.1: spelling, grammar, third person, nothing else, the word stays; B.2: three sentences, nothing resolved."""
    told = ambiguous_sentence.cleaning_request(TEXT, BANK, draft_id="1").question
    assert [message.role for message in told.messages] == ["system", "user"]
    assert told.messages[1].content == TEXT
    for words in ("spelling", "grammar", "third person", "Change nothing else", '"bank" must stand in it exactly once'):
        assert words in told.messages[0].content
    before = ambiguous_sentence.precontext_request(
        Usage("The bank shut.", 4, 8), ("money", "river"), draft_id="s"
    ).question
    for words in ("exactly three sentences", "both meanings are equally plausible", "do not resolve the ambiguity"):
        assert words in before.messages[0].content
    assert before.messages[1].content == "Sentence: The bank shut.\nMeaning 1: money\nMeaning 2: river"
    ending = story_ending.cleaning_request("they cries", ENDING, draft_id="2").question
    assert ending.messages[1].content == "Sentence before it: The bank shut.\nLast sentence: they cries"


@pytest.mark.published
def test_drafts_are_asked_for_in_the_words_of_the_paper(published: Path) -> None:
    """B.1 and B.2: one message of the user with the texts in their places, the same rules for what comes back."""
    clean = ambiguous_sentence.cleaning_request(TEXT, BANK, draft_id="1", published=True)
    (told,) = clean.question.messages
    assert (told.role, clean.question.variant) == ("user", "ambiguous_sentence/clean_published")
    assert f"The sentence is: {TEXT}\n" in told.content
    ending = story_ending.cleaning_request("they cries", ENDING, draft_id="2", published=True)
    assert f'follows this sentence: "{ENDING.usages[0].text}"' in ending.question.messages[0].content
    assert ending.faults("The bank cried.") == ("word_recurs",)
    usage = Usage("The bank shut.", 4, 8, language="en")
    before = ambiguous_sentence.precontext_request(usage, ("money", "river"), draft_id="s", published=True)
    assert 'the word bank can mean either "money" or "river"' in before.question.messages[0].content
    with pytest.raises(InputError, match="not written in 'es'"):
        ambiguous_sentence.precontext_request(
            Usage("El banco cerró.", 3, 8, language="es"), ("m", "r"), draft_id="s", published=True
        )


@pytest.mark.parametrize(
    ("reply", "faults"),
    [
        (ChatReply("He goes to the shore of the town.", "stop"), ("word_not_once",)),
        (ChatReply("He goes to the bank. He stays.", "stop"), ("not_one_sentence",)),
        (ChatReply("I'm sorry, I can't help with that.", "stop"), ("refusal",)),
        (ChatReply("He goes to the", "length"), ("truncated",)),
        (ChatReply("", "stop"), ("empty",)),
        (ChatReply("", "", fault="half a body"), ("fault",)),
        (ChatReply("no", "stop", refused=True), ("refusal",)),
    ],
)
def test_a_draft_that_breaks_a_rule_goes_no_further(reply: ChatReply, faults: tuple[str, ...]) -> None:
    """A model that swaps the word, adds a sentence, refuses or is cut off: named, kept, and without text to accept."""
    draft = clean_with(reply)
    assert (draft.faults, draft.text, draft.verdict) == (faults, "", "")
    assert draft.drafted == reply.text


def test_a_good_draft_waits_for_a_person() -> None:
    """Both texts are kept, the model is named, quotation marks around the whole are left out, nobody has decided."""
    draft = clean_with(ChatReply('"He goes to the bank of the town."', "stop"))
    assert draft == Draft(
        "sentence",
        "1",
        TEXT,
        "He goes to the bank of the town.",
        "He goes to the bank of the town.",
        "chat:made@http://127.0.0.1/v1",
    )
    assert cleaning_reviews([draft], [accepted_one()], {"bank": BANK}, field="sentence", faults=_faults) == ()


def test_precontexts_endings_and_examples_have_guards_of_their_own() -> None:
    """Three sentences without the word; an ending without it; an example with it."""
    before = ambiguous_sentence.precontext_request(Usage("The bank shut.", 4, 8), ("m", "r"), draft_id="s")
    assert before.faults("It rained. Ana read. She ate.") == ()
    assert before.faults("It rained. Ana read.") == ("not_three_sentences",)
    assert before.faults("It rained. Ana read. The bank shut.") == ("word_recurs",)
    assert story_ending.cleaning_request("x", ENDING, draft_id="2").faults("The bank cried.") == ("word_recurs",)
    assert ambiguous_sentence.example_request(BANK, "1").faults("Pay at the till.") == ("word_not_once",)
    assert (ambiguous_sentence.example_request(BANK, "2").field, ambiguous_sentence.example_request(BANK, "2").raw) == (
        "example_2",
        "The bank.",
    )


def test_a_subject_that_generates_drafts_too_and_one_that_rates_does_not() -> None:
    """Chat models and language models draft; others are refused before anything is asked."""
    (draft,) = draft_texts([ambiguous_sentence.cleaning_request(TEXT, BANK, draft_id="1")], Continuing())
    assert (draft.text, draft.drafted_by) == ("He goes to the bank.", "causal_lm:made")
    silent = type("Silent", (), {"subject_id": "encoder:x", "kind": "encoder", "facts": SubjectFacts("encoder:x")})
    with pytest.raises(CapabilityError, match="can draft no text"):
        draft_texts([ambiguous_sentence.cleaning_request(TEXT, BANK, draft_id="1")], silent())


def test_the_table_comes_back_as_it_was(tmp_path: Path) -> None:
    """Written, filled in and read: every field, also text that a spreadsheet would run."""
    drafts = (
        Draft("sentence", "1", '=raw, "x"', "d", "t", "chat:x", ("word_not_once", "x"), "rejected", "lost"),
        Draft("precontext", "bank_1", "", "a\nb", "a b", "chat:x", (), "accepted"),
    )
    file = tmp_path / "drafts.csv"
    file.write_text(draft_table(drafts), encoding="utf-8")
    assert read_drafts(file) == drafts
    assert accepted_draft_texts(drafts, "precontext") == {"bank_1": "a b"}


@pytest.mark.parametrize(
    ("change", "what"),
    [({"verdict": "maybe"}, "no verdict"), ({"verdict": "accepted", "text": " "}, "has no text"), ({}, "twice")],
)
def test_a_table_that_cannot_be_meant_is_refused(tmp_path: Path, change: dict[str, str], what: str) -> None:
    """An unknown verdict, an accepted draft without text, one text drafted twice, another table."""
    row = dict.fromkeys(DRAFT_COLUMNS, "") | {"field": "sentence", "id": "1", "text": "t"} | change
    stream = io.StringIO()
    writer = csv.DictWriter(stream, DRAFT_COLUMNS)
    writer.writeheader()
    writer.writerows([row] * (1 if change else 2))
    file = tmp_path / "drafts.csv"
    file.write_text(stream.getvalue(), encoding="utf-8")
    with pytest.raises(InputError, match=what):
        read_drafts(file)
    file.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="not a table of drafts"):
        read_drafts(file)


def test_an_accepted_draft_takes_the_place_of_the_text_and_both_stay() -> None:
    """The stage's table shows the text as written and as cleaned, and by whom; provenance says if it was edited."""
    draft = replace(clean_with(ChatReply("He goes to the bank of town.", "stop")), verdict="accepted")
    stage = Stage(SENTENCES, "s", {"bank": BANK}, (accepted_one().answer,), (accepted_one().review,))
    (row,) = csv.DictReader(io.StringIO(stage.with_drafts([draft], _faults).table()))
    assert (row["sentence_raw"], row["sentence_clean"]) == (TEXT, "He goes to the bank of town.")
    assert row["reason"] == "cleaned by chat:made@http://127.0.0.1/v1"
    edited = replace(draft, text="She goes to the bank of town.")
    (told,) = csv.DictReader(io.StringIO(provenance_table([edited, replace(draft, verdict="rejected")])))
    assert (told["raw"], told["drafted"], told["text"]) == (TEXT, draft.drafted, edited.text)
    assert (told["drafted_by"], told["edited"]) == ("chat:made@http://127.0.0.1/v1", "yes")


def test_the_guard_holds_again_when_a_person_has_edited() -> None:
    """A draft that an editor's change robbed of its word, or of a text that has changed since, is refused."""
    good = replace(clean_with(ChatReply("He goes to the bank of town.", "stop")), verdict="accepted")
    for draft, text, what in (
        (replace(good, text="He goes to the shore."), TEXT, "breaks the rules"),
        (good, "i went to the bank", "not this one any more"),
    ):
        with pytest.raises(InputError, match=what):
            cleaning_reviews([draft], [accepted_one(text)], {"bank": BANK}, field="sentence", faults=_faults)


def test_a_stage_knows_what_is_to_be_drafted() -> None:
    """Accepted texts alone are cleaned and get precontexts; a study of endings has none."""
    answers = (WrittenText(1, "p", "bank", "The bank shut."), WrittenText(2, "p", "bank", "A bank."))
    stage = Stage(SENTENCES, "s", {"bank": BANK}, answers, (Review(1, "accepted", "", None, "e", "t"),))
    assert len(accepted_texts(answers, stage.reviews)) == 1
    assert [request.draft_id for request in stage.cleaning_requests()] == ["1"]
    assert [request.draft_id for request in stage.precontext_requests()] == ["bank_1"]
    endings = Stage(ENDINGS, "s", {"e": ENDING}, (), ())
    with pytest.raises(InputError, match="endings, which have no precontexts"):
        endings.precontext_requests()
    assert (SENTENCES.next_task, SENTENCES.file) == (story_ending.NAME, "sentences.csv")
    assert (ENDINGS.next_task, ENDINGS.file) == ("plausibility", "endings.csv")


def _faults(text: str, item: Item) -> tuple[str, ...]:
    return ambiguous_sentence.faults(text, item)
