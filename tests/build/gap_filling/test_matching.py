"""Is an accepted answer in a completion? By words, by forms of words, and by tokens as published."""

from __future__ import annotations

import unicodedata

import pytest

from lexiscope.build.gap_filling.gaps import gap_item
from lexiscope.build.gap_filling.matching import AnswerRule, find_in_text, find_in_tokens, mark_completions
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.usage import Usage

ITEM = gap_item(
    "i1", Usage("Her role is small.", 4, 8), dataset="d", synonym="part", synset=["role", "part", "stage_part"]
)
FORMS = {"parts": ["part"], "stage_parts": ["stage_part"], "roles": ["role"]}


def base_forms(form: str) -> list[str]:
    return FORMS.get(form, [])


#: a made-up tokeniser: "part|ly" is cut where "part" is a token of its own
PIECES = {"part": [7], " part": [8], "partly": [7, 9], " partly": [8, 9], "stage part": [3, 8], " stage part": [4, 8]}


def encode(text: str) -> list[int]:
    return PIECES[text]


@pytest.mark.parametrize(
    "text",
    [
        " part.",
        "PART",
        "“part”",
        "'part'",
        " the word part, and",
        "a\npart",
        "(part)",
        "part's end",
        "part-time",
        "his part",
    ],
)
def test_an_answer_is_found_as_a_whole_word(text: str) -> None:
    """Y16: case, quotes, "the word …" and punctuation do not matter; a hyphen and an apostrophe end a word."""
    assert find_in_text(text, ["part"]) == "part"


@pytest.mark.parametrize("text", ["partly", "apart", "part_1", "part2", "parts", "p art", "", "part\u0301"])
def test_an_answer_inside_a_longer_word_is_none(text: str) -> None:
    """A letter, a digit, an underscore or a mark next to it makes another word; a plural needs inflected forms."""
    assert find_in_text(text, ["part"]) is None


def test_accents_are_composed() -> None:
    """NFC on both sides: a decomposed letter is the composed one, and no accent is not an accent."""
    for answer in ("café", unicodedata.normalize("NFD", "café")):
        assert find_in_text(unicodedata.normalize("NFD", "un CAFÉ"), [answer]) == answer
        assert find_in_text("un cafe", [answer]) is None


def test_answers_of_several_words() -> None:
    """Their words stand next to each other, divided by white space or a hyphen; the longer of two is meant."""
    for text in ("a stage part", "a stage-part", "a stage\n part"):
        assert find_in_text(text, ["part", "stage part"]) == "stage part"
    assert find_in_text("a stage for the part", ["stage part"]) is None
    assert find_in_text("stageparts", ["stage part"]) is None


def test_the_first_one_in_the_text_is_named() -> None:
    """Of two answers the one that stands first is told, not the one that is listed first."""
    assert find_in_text("office, part", ["part", "office"]) == "office"


def test_inflected_forms_are_an_option() -> None:
    """Exact forms by default; with a lexicon's base forms a plural counts, of several words too."""
    assert find_in_text("two parts", ["part"], base_forms=base_forms) == "part"
    assert find_in_text("stage parts", ["part", "stage part"], base_forms=base_forms) == "stage part"
    assert find_in_text("roles", ["part"], base_forms=base_forms) is None


def test_the_two_rules_differ_on_a_part_of_a_word() -> None:
    """Spec §7: token sequences find "part" in "part|ly", words do not; a capital is another token sequence."""
    assert find_in_tokens([5, *encode(" partly")], ["part"], encode) == "part"
    assert find_in_text(" partly", ["part"]) is None
    assert find_in_tokens([5, 6], ["part"], encode) is None
    assert find_in_tokens([4, 8], ["stage part"], encode) == "stage part"
    assert find_in_tokens([8, 4], ["stage part"], encode) is None
    assert find_in_tokens([], ["part"], encode) is None


def completions(*rows: Response) -> ResponseTable:
    return ResponseTable.from_rows(rows)


def row(raw: str | None, measure: str = "completion(method=greedy,max_tokens=10)", **more: object) -> Response:
    return Response("m", "causal_lm", "i1", "gap_filling", measure, raw=raw, view="full", **more)  # type: ignore[arg-type]


def test_marks_are_rows_of_their_own() -> None:
    """A completion has a row 1 or 0 with the answer found; a missing one has no value, an empty one is wrong."""
    given = completions(row(" Part of", repeat=0), row("", repeat=1), row(None, repeat=2), row("stage part", repeat=3))
    marked = mark_completions(given, [ITEM], AnswerRule("synset"))
    assert [(each.value, each.option, each.repeat, each.view) for each in marked.rows()] == [
        (1.0, "part", 0, "full"),
        (0.0, None, 1, "full"),
        (None, None, 2, "full"),
        (1.0, "stage part", 3, "full"),
    ]
    (measure,) = marked.unique("measure")
    rule = "answers=synset,match=words,forms=exact,multiword=accepted"
    assert measure == f"answer_found({rule},method=greedy,max_tokens=10)"


def test_answers_of_several_words_can_be_left_out() -> None:
    """Whether a lemma of several words is accepted is an option, and stands in the measure."""
    rule = AnswerRule("synset", multiword="left_out")
    marked = mark_completions(completions(row("stage of a part"), row("stage-part")), [ITEM], rule)
    assert marked.column("option").tolist() == ["part", "part"]
    assert "multiword=left_out" in marked.unique("measure")[0]


def test_tokens_are_read_from_their_own_rows() -> None:
    """The published rule reads the stored ids; without ids stored a completion has no value, not a wrong one."""
    ids = "completion_tokens(method=greedy,max_tokens=10)"
    given = completions(row(" partly"), row("8 9", ids, value=2.0), row(None, ids), row("", ids, value=0.0))
    marked = mark_completions(given, [ITEM], AnswerRule("curated", match="tokens"), encode=encode)
    assert [each.value for each in marked.rows()] == [1.0, None, 0.0]


def test_rules_that_cannot_be_followed_are_refused() -> None:
    """No silent fallback: forms need a lexicon, tokens a tokeniser, completions their items."""
    table = completions(row("part"))
    with pytest.raises(InputError, match="lexicon"):
        mark_completions(table, [ITEM], AnswerRule("curated", forms="inflected"))
    with pytest.raises(InputError, match="tokeniser"):
        mark_completions(table, [ITEM], AnswerRule("curated", match="tokens"))
    with pytest.raises(SpecError, match="completion_tokens"):
        mark_completions(table, [ITEM], AnswerRule("curated", match="tokens"), encode=encode)
    with pytest.raises(InputError, match="'i1'"):
        mark_completions(table, [], AnswerRule("curated"))
    with pytest.raises(SpecError, match="match=words"):
        AnswerRule("curated", match="tokens", forms="inflected")
    with pytest.raises(SpecError, match="curated, synset"):
        AnswerRule("all")  # type: ignore[arg-type]
