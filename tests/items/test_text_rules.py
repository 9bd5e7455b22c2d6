"""The rules for written texts: the word once or never, no text twice, and how many sentences a text has."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.items.text_rules import (
    already_written,
    compose_text,
    count_sentences,
    not_one_sentence,
    same_text_key,
    word_not_once,
    word_recurs,
    word_spans,
)

ONCE = [
    ("The point was lost on her.", "point"),
    ("POINT taken.", "point"),
    ("The point's edge was blunt.", "point"),
    ("El banco, lleno de peces, cerró.", "banco"),
    ("¿Banco?", "banco"),
    ("Die Straße war leer.", "STRASSE"),
    ("Er sah den Schloss-Hof.", "schloss"),
    ("ذهب إلى البنك أمس.", "البنك"),
    ("他去了银行。", "银行"),
    ("彼は橋を見た。", "橋"),
    ("เขาไปธนาคารแล้ว", "ธนาคาร"),
    ("La man\u0303ana es fría.", "mañana"),
    ("The po\u00adint was lost.", "point"),
    ("Ο δρόμος ήταν κλειστός.", "ΔΡΌΜΟΣ"),
]


NOT_ONCE = [
    ("The pointed remark hurt.", "point", 0),
    ("Nothing of it.", "point", 0),
    ("The point has a point.", "point", 2),
    ("Point by point, she won.", "point", 2),
    ("Mañana por la man\u0303ana.", "mañana", 2),
    ("从银行到银行。", "银行", 2),
    ("هو في البنوك.", "البنك", 0),
    ("caf\u00e9s", "cafe", 0),
    ("cafe\u0301", "cafe", 0),
]


@pytest.mark.parametrize(("text", "word"), ONCE)
def test_a_word_that_stands_once_is_no_fault(text: str, word: str) -> None:
    """One whole token, case ignored: no fault; and its span covers the word's letters."""
    assert word_not_once(text, word) is None
    assert word_recurs(text, word) == "word_recurs"
    ((start, end),) = word_spans(text, word)
    assert same_text_key(compose_text(text)[start:end]) == same_text_key(word)


@pytest.mark.parametrize(("text", "word", "n"), NOT_ONCE)
def test_a_word_that_stands_never_or_twice_is_a_fault(text: str, word: str, n: int) -> None:
    """A part of a longer word is not the word; a capital at the start of a sentence does not hide a second one."""
    assert len(word_spans(text, word)) == n
    assert word_not_once(text, word) == "word_not_once"
    assert word_recurs(text, word) == ("word_recurs" if n else None)


def test_the_lost_word_of_a_released_sentence_is_caught() -> None:
    """collection.md §2.2: a cleaned sentence said *denotations* where the word was *denominations*."""
    assert word_not_once("The meeting had many denotations.", "denominations") == "word_not_once"


@given(st.text(alphabet="abñé ", max_size=20), st.sampled_from(["bank", "mañana", "éa"]), st.booleans())
def test_normal_forms_and_case_change_nothing(around: str, word: str, upper: bool) -> None:
    """A word between spaces is found in NFC and NFD, and in capitals; the counts agree."""
    text = f"{around} {word} {around}"
    shown = text.upper() if upper else text
    counts = {len(word_spans(unicodedata.normalize(form, shown), word)) for form in ("NFC", "NFD")}
    assert counts == {text.split().count(word)}


@given(st.text(max_size=40), st.text(min_size=1, max_size=4))
def test_spans_lie_in_the_composed_text(text: str, word: str) -> None:
    """Whatever is written, spans are inside the composed text, in order, and do not overlap."""
    spans = word_spans(text, word)
    ends = [0, *(place for span in spans for place in span)]
    assert ends == sorted(ends)
    assert ends[-1] <= len(compose_text(text))


def test_a_text_is_written_before_whatever_its_dress() -> None:
    """Case, punctuation, white space and normal form do not make a new text; another word does."""
    known = ["The bank was shut.", "Mañana será otro día."]
    for same in ("the  bank was shut", "“The bank was shut!”", "man\u0303ana SERÁ otro día…"):
        assert already_written(same, known) == "already_written"
    assert already_written("The bank was open.", known) is None
    assert already_written("The bank was shut.", []) is None


CASES = [
    ("Mrs. Hall saw the bank.", "en", 1),
    ("The bank shut", "en", 1),
    ("She saw it. Then she left.", "en", 2),
    ("He won! The crowd cheered.", "en", 2),
    ("What?! Really?", "en", 2),
    ("She said no. He left.", "en", 2),
    ("It was I. He left.", "en", 2),
    ("He won!! the crowd cheered", "en", 1),
    ("Well... maybe the bank shut.", "en", 1),
    ("I… I saw the bank.", "en", 1),
    ("He is no. 5 at the bank.", "en", 1),
    ("J. R. Hill saw it.", "en", 1),
    ("The rate was 3.5 percent at 5 p.m. in the U.S. Army bank.", "en", 1),
    ('"Stop! Not there!" she called.', "en", 1),
    ('"Stop!" Mary shouted.', "en", 1),
    ('"I saw it," she said, "and left."', "en", 1),
    ("She asked, 'Is the bank shut?' and left.", "en", 1),
    ('He said "Stop." Then he left.', "en", 2),
    ('"I saw the bank. It was big."', "en", 2),
    ("The boys' bank. The end", "en", 2),
    ("¿Vienes? ¡Qué bien!", "es", 2),
    ("¡Qué banco!", "es", 1),
    ("¡Hola!, dijo la Sra. Gil.", "es", 1),
    ("¿Quién?, preguntó el Dr. Paz...", "es", 1),
    ("Vio el mar. Se fue.", "es", 2),
    ("Er ging am 3. Mai zur Bank.", "de", 1),
    ("Es ist z.B. Herr Maier da.", "de", 1),
    ("Es ist z. B. Herr Maier da.", "de", 1),
    ("„Die Bank ist zu. Geh!“, rief er.", "de", 1),
    ("»Die Bank ist zu«, sagte er. Er ging.", "de", 2),
    ("هل ذهب إلى البنك؟", "ar", 1),
    ("ذهب إلى البنك. ثم عاد.", "ar", 2),
    ("هل ذهب؟ نعم ذهب.", "ar", 2),
    ("银行很远。", "zh", 1),
    ("银行很远。他走了。", "zh", 2),
    ("他说：“你好。”", "zh", 1),
    ("“你好。”他说。", "zh", 1),
    ("कमरा खाली था। वह गया।", "hi", 2),
    ("...", "en", 0),
    ("", "en", 0),
]


@pytest.mark.parametrize(("text", "language", "n"), CASES)
def test_the_count(text: str, language: str, n: int) -> None:
    """A stop ends a sentence only where it does so beyond doubt; the normal form changes nothing."""
    assert count_sentences(text, language) == n
    assert count_sentences(unicodedata.normalize("NFD", text), language) == n
    assert not_one_sentence(text, language) == (None if n == 1 else "not_one_sentence")


@given(st.text(max_size=60))
def test_any_text_has_a_count(text: str) -> None:
    """No text breaks the count; a text with a letter has at least one sentence, one without has none."""
    has_letter = any(char.isalpha() for char in unicodedata.normalize("NFC", text))
    assert (count_sentences(text) > 0) == has_letter


@given(st.integers(1, 5), st.sampled_from([".", "!", "?", "?!", "؟", "。"]))
def test_plain_sentences_are_counted(n: int, stop: str) -> None:
    """n plain sentences side by side are n."""
    assert count_sentences(" ".join(f"The bank was shut{stop}" for _ in range(n))) == n
