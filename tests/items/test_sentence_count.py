"""How many sentences a text has: abbreviations, quotation marks, ellipses, inverted marks, five scripts."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.items.sentence_count import count_sentences, not_one_sentence

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
