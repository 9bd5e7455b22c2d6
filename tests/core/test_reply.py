"""X08: the strict parser. Every rule that its module states, a corpus of adversarial replies, properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core.errors import InputError
from lexiscope.core.prompt import ChatQuestion, ChatReply, Message, PromptOption
from lexiscope.core.reply import KINDS, NUMBER_WORDS, read_choice, read_rating, read_reply, read_text
from lexiscope.core.scale import Scale

SCALE = Scale(1, 5)
OPTIONS = (
    PromptOption("t", ("1", "same meaning", "t")),
    PromptOption("f", ("2", "different meanings", "f")),
    PromptOption("t", ("3", "cannot decide"), flags=("undecided",)),
)
USER = (Message("user", "?"),)

READ = [
    *("4", " 4 ", "4.", "4!", "**4**", "*4*", "__4__", "`4`", '"4"', "“4”", "«4»", "(4)", "[4]", "{4}", "$4$", "- 4"),
    *("Rating: 4", "**Rating:** 4", "**Rating: 4**", "Rating:4", "Rating = 4", "My rating is 4", "My rating is: 4."),
    *(
        "Puntuación: 4",
        "La respuesta es 4.",
        "Die Antwort ist 4",
        "Rating:\n4",
        "Rating (1-5): 4",
        "Rating [1 to 5]: 4",
    ),
    *(
        "4/5",
        "**4**/5",
        "4 / 5",
        "4 out of 5",
        "4 out of 5.",
        "4 de 5",
        '{"rating": 4}',
        "４",
        "٤",
        "4.0",
        "4,0",
        "4.00",
    ),
    *(
        "four",
        "Four.",
        "FOUR",
        "Rating: four",
        "4\n\nBecause the bird fits.",
        "It fits the bird.\n4",
        "4\nRating: 4",
        *("4 - likely", "4 (likely)", "4 – the meaning fits", "The rating is 4 because it fits", "4, because it fits"),
        *("Rating: 4. It fits.", "<rating>4</rating>", "\\boxed{4}", '{"rating": 4, "why": "It fits"}', "4 (four)"),
        *("Story: a bank by the river and a boat that\nRating: 4", "On a scale from 1 to 5: 4", "4\nbecause it fits"),
        "+4",
    ),
]
UNREAD = [
    *(
        (text, "several")
        for text in ("3 or 4", "3-4", "3–4", "3/4", "4-5", "4 5", "4\n5", "1, 2, 3, 4, 5", "between 2 and 4")
    ),
    *(
        (text, "several")
        for text in ("<think>maybe 3</think>\n4", "Rating: 4\nConfidence: 90", "2 meanings\n4", "4/10")
    ),
    *(
        (text, "off_scale")
        for text in ("0", "6", "-4", "−4", "4.5", "4,5", "1.000", "1,000", "2.500", "100", "1,2", "1.2.3")
    ),
    *((text, "in_prose") for text in ("I would give it a 4 here", "4%", "~4", "4?", "I have 4 cats", ">4", "<4", "$4")),
    *(
        (text, "in_prose")
        for text in ("1. First, I look at the story", "4 meanings are possible", "4 or 4", "at least 4")
    ),
    *(
        (text, "prose")
        for text in ("It is plausible", "4th", "B2B", "none", "cuatro", "IV", "half", "½", "②", "four or five")
    ),
    *(
        (text, "refusal")
        for text in (
            "I'm sorry, I cannot say",
            "I can’t rate this from 1 to 5",
            "As an AI, I do not rate",
            "Lo siento.",
        )
    ),
    *((text, "refusal") for text in ("I am unable to rate this (1-5).", "No puedo valorar eso", "Tut mir leid, nein")),
    *((text, "empty") for text in ("", " ", "\n\n", "\t")),
]


def test_the_corpus_has_the_size_that_was_asked_for() -> None:
    """X08 wants 60 adversarial replies; every kind of text is among them."""
    assert len(READ) + len(UNREAD) >= 60
    assert {kind for _, kind in UNREAD} == set(KINDS) - {"ok", "truncated", "garbled", "fault"}


@pytest.mark.parametrize("text", READ)
def test_what_is_read(text: str) -> None:
    """An answer alone on a line, with the marks, label or end of the scale that the module names."""
    found = read_rating(text, SCALE)
    assert (found.kind, found.value) == ("ok", 4.0)


@pytest.mark.parametrize(("text", "kind"), UNREAD)
def test_what_is_not_read(text: str, kind: str) -> None:
    """All else has no value, and says why."""
    found = read_rating(text, SCALE)
    assert (found.kind, found.value, found.option, found.text) == (kind, None, None, None)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *((text, "truncated") for text in ("4", "4.", "4 ", "4 or", "Rating: 4", "The story", "", "I cannot")),
        *((text, "ok") for text in ("4\n", "**4**", '{"rating": 4}', "4\nBecause the", "Rating: 4\nIt")),
        ("4\nor 5", "several"),
    ],
)
def test_a_reply_that_was_cut(text: str, kind: str) -> None:
    """A number at the end of a broken reply may be the half of one (4.5, 4 or 5): only a finished line is read."""
    assert read_rating(text, SCALE, cut=True).kind == kind


@pytest.mark.parametrize(
    "text", ["Certainly not: 4", "not = 4", "no es 4", "Das ist nicht: 4", "Would not say it is 4", "Not plausible = 1"]
)
def test_a_label_that_denies_is_none(text: str) -> None:
    """What the line says is that the number is *not* the answer."""
    assert read_rating(text, SCALE).kind == "in_prose"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *((text, "several") for text in ("Rating: 4\nOn second thought, five", "4\nOr rather, one.", "4\nNo: two")),
        *(
            (text, "refusal")
            for text in ("I'm sorry, but\n3", "4\n\nI'm sorry, I can't rate this.", "4\nI must decline.")
        ),
        *(
            (text, "in_prose")
            for text in ("minus\n4", "Rating is not\n4", "not\n\n4", "anything but\n4", "4\nis wrong")
        ),
        *(
            (text, "in_prose")
            for text in ("4\nScratch that.", "4 - too high", "4\n%", "Confidence: 4", "Others say:\n4")
        ),
        *(
            (text, "ok")
            for text in ("4\nI can't see another sense.", "4\nOf the two, this one fits.", "4\n\nnothing else")
        ),
        *(
            (text, "ok")
            for text in ("It is not the bank.\n4", "Rating\n4", "My rating of this story is\n4", "4\nWhy: it fits")
        ),
    ],
)
def test_what_stands_around_an_answer(text: str, kind: str) -> None:
    """A number beside a refusal, a second thought or a sentence that runs on is not read; explanations do no harm."""
    assert read_rating(text, SCALE).kind == kind


def test_the_words_of_another_point_contradict_a_number() -> None:
    """*4 – not plausible at all* names two points; *1 – not plausible at all* names one."""
    scale = Scale(1, 5, anchors=((1, "not plausible at all"), (5, "very plausible")))
    found = [read_rating(text, scale) for text in ("1 – not plausible at all", "4 – Not plausible at all", "5 - fits")]
    assert [(each.kind, each.value) for each in found] == [("ok", 1), ("several", None), ("ok", 5)]


@pytest.mark.parametrize("text", ["Same meaning\n\nI'm sorry, I can't decide.", "The answer is not\nsame meaning"])
def test_what_stands_around_a_choice(text: str) -> None:
    """The same holds for a choice."""
    assert read_choice(text, OPTIONS).option is None


@pytest.mark.parametrize(
    ("text", "cut", "kind"),
    [
        ("<think>\nFirst\n4\nand then", True, "truncated"),
        ("<think>\nFirst\n4\n", False, "in_prose"),
        ("<think>\n4\n</think>\n", False, "in_prose"),
        ("perhaps\n4\n</think>\nHard to say.", False, "in_prose"),
        ("<think>hm</think>\n4", False, "ok"),
        ("<think>hm</think>4", False, "ok"),
        ("hm\n</think>\n\n4", False, "ok"),
        ("<think>\n3\n</think>\n4", False, "several"),
    ],
)
def test_a_thought_is_no_answer(text: str, cut: bool, kind: str) -> None:
    """A line of the reasoning is never taken for the answer; a number in it may contradict one."""
    assert read_rating(text, SCALE, cut=cut).kind == kind


def test_number_words_are_those_of_the_question() -> None:
    """A word counts in the language of the question only, and only alone on its line."""
    for language, words in NUMBER_WORDS.items():
        assert [read_rating(word, Scale(0, 10), language=language).value for word in words] == list(range(11))
    assert read_rating("cuatro", SCALE, language="es-MX").value == 4
    assert read_rating("cuatro veces", SCALE, language="es").kind == "prose"
    assert read_rating("four\nfive", SCALE).kind == "several"


def test_other_scales() -> None:
    """The scale is the question's: zero, steps of a half, a slider; the end behind a number is its own."""
    assert read_rating("0", Scale(0, 4)).value == 0
    assert read_rating("3.5", Scale(1, 5, step=0.5)).value == 3.5
    assert read_rating("37.25", Scale(0, 100, step=0)).value == 37.25
    assert read_rating("0.375", Scale(0, 1, step=0)).value == 0.375
    assert read_rating("85/100", Scale(0, 100)).value == 85
    assert read_rating("4/5", Scale(0, 100)).kind == "several"
    assert read_rating("-2", Scale(-3, 3)).value == -2


@given(st.text())
def test_no_text_breaks_the_parser(text: str) -> None:
    """Whatever comes back, it has one kind; it has a value on the scale exactly where it is ok."""
    for cut in (False, True):
        found = read_rating(text, SCALE, cut=cut)
        assert found.kind in KINDS
        assert (found.value is not None) == (found.kind == "ok")
        assert found.value is None or SCALE.contains(found.value)
        choice = read_choice(text, OPTIONS, cut=cut)
        assert (choice.option is not None) == (choice.kind == "ok")


@given(st.integers(-20, 20), st.sampled_from(["{}", "{}.", "**{}**", "Rating: {}", "({})", "{}/5", "{}\n\nIt fits."]))
def test_a_number_in_a_stated_form_is_that_number_or_off_scale(number: int, form: str) -> None:
    """Nothing is imputed or clipped: on the scale it is itself, off it there is no value."""
    found = read_rating(form.format(number), SCALE)
    assert found.value == (float(number) if 1 <= number <= 5 else None)
    assert found.kind == ("ok" if 1 <= number <= 5 else "off_scale")


@given(
    st.lists(st.integers(1, 5), min_size=2, max_size=4, unique=True),
    st.sampled_from([" or ", ", ", " ", "\n", " and "]),
)
def test_two_numbers_are_never_one(numbers: list[int], between: str) -> None:
    """Several different numbers are several, however they are joined."""
    assert read_rating(between.join(map(str, numbers)), SCALE).kind == "several"


@given(st.integers(1, 5), st.text(alphabet="bcdefgh ", min_size=1))
def test_words_around_a_finished_line_change_nothing(number: int, inner: str) -> None:
    """An explanation without numbers before or after the line of the answer does not change it."""
    words = f"A{inner}."
    assert read_rating(f"{number}\n{words}", SCALE).value == number
    assert read_rating(f"{words}\n{number}", SCALE).value == number


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        *(
            (text, "ok", "t")
            for text in ("1", "1.", "Same meaning", "**same meaning**.", "1: Same meaning", "1) same meaning")
        ),
        *((text, "ok", "f") for text in ("Answer: 2", "different meanings", "2\n\nThey differ.", "F")),
        *(
            (text, "several", None)
            for text in ("1 or 2", "1: different meanings", "same meaning\ndifferent meanings", "t/f")
        ),
        *((text, "off_scale", None) for text in ("4", "0", "**7**")),
        *((text, "in_prose", None) for text in ("They have the same meaning here", "I choose 2 for this")),
        *((text, "prose", None) for text in ("Hard to say", "sam", "both")),
        *((text, "refusal", None) for text in ("I cannot answer that", "Lo siento")),
        ("", "empty", None),
    ],
)
def test_choices(text: str, kind: str, value: str | None) -> None:
    """Exactly one option, by its number or its words, or both where they agree."""
    found = read_choice(text, OPTIONS)
    assert found.kind == kind
    assert (found.option.value if found.option else None) == value


def test_an_option_keeps_its_flags() -> None:
    """*Cannot decide* stores the answer *same*, and says that it was none."""
    found = read_choice("Cannot decide", OPTIONS)
    assert found.option is not None
    assert (found.option.value, found.option.flags) == ("t", ("undecided",))


def test_a_longer_option_hides_a_shorter() -> None:
    """Of *press* and *press release*, the longer name that stands there is meant; *pressing* names neither."""
    options = (PromptOption("press", ("press",)), PromptOption("press release", ("press release",)))
    found = read_choice("press release", options)
    assert found.option is not None
    assert found.option.value == "press release"
    assert read_choice("pressing", options).kind == "prose"


def test_texts() -> None:
    """A written answer is the reply without outer white space; a refusal, none, and a cut one are none."""
    assert read_text(" A sentence. \n").text == "A sentence."
    assert [read_text(text).kind for text in ("", "I'm sorry, I can't do that.")] == ["empty", "refusal"]
    assert read_text("A sentence that", cut=True).kind == "truncated"


def test_a_reply_is_read_as_its_question_wants() -> None:
    """Scale, options or text; the endpoint's own marks come first, and a cut reply is known by its finish."""
    rating = ChatQuestion(USER, scale=SCALE)
    assert read_reply(ChatReply("4"), rating).value == 4
    assert read_reply(ChatReply("1"), ChatQuestion(USER, options=OPTIONS)).option == OPTIONS[0]
    assert read_reply(ChatReply("4"), ChatQuestion(USER)).text == "4"
    assert read_reply(ChatReply("4", refused=True), rating).kind == "refusal"
    assert read_reply(ChatReply("", fault="no choices"), rating).kind == "fault"
    assert read_reply(ChatReply("4", "length"), rating).kind == "truncated"
    assert read_reply(ChatReply("cuatro"), ChatQuestion(USER, scale=SCALE, language="es")).value == 4


def test_a_question_is_checked() -> None:
    """It ends with the user, and is answered in one way."""
    with pytest.raises(InputError, match="ends with"):
        ChatQuestion((Message("user", "?"), Message("assistant", "4")))
    with pytest.raises(InputError, match="not both"):
        ChatQuestion(USER, scale=SCALE, options=OPTIONS)


@pytest.mark.parametrize("text", ["é" * 50_000, "a-" * 20_000, "4 " * 5_000, "I can't " * 3_000 + "\n4"])
def test_a_long_reply_is_read_in_bounded_time(text: str) -> None:
    """No pattern needs more than about linear time: a model that babbles does not stop a run."""
    assert read_rating(text, SCALE).kind in KINDS
