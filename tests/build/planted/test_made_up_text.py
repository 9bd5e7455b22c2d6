"""Made-up text: its lines are about one topic each, and pseudo-words join words of different topics."""

from __future__ import annotations

import pytest

from lexiscope.build.planted.senses import made_up_text, planted_pairs
from lexiscope.core.errors import InputError


def test_a_line_has_words_of_one_topic_and_common_ones() -> None:
    """Each line: the given number of words, of one topic or common to all; the same seed gives the same text."""
    text = made_up_text(200, n_topics=3, n_words=8, n_common=4, length=9, seed=2)
    assert text == made_up_text(200, n_topics=3, n_words=8, n_common=4, length=9, seed=2)
    assert text != made_up_text(200, n_topics=3, n_words=8, n_common=4, length=9, seed=3)
    common = set(text.common)
    for line in text.lines:
        assert len(line) == 9
        assert any(set(line) - common <= set(topic) for topic in text.topics)
    share = sum(word in common for line in text.lines for word in line) / (200 * 9)
    assert share == pytest.approx(0.2, abs=0.04)


def test_pseudo_words_join_topics() -> None:
    """The two words of a pseudo-word are of different topics, and no word stands in two of them."""
    text = made_up_text(5)
    pairs = planted_pairs(text, 12)
    topic_of = {word: number for number, topic in enumerate(text.topics) for word in topic}
    words = [word for pair in pairs for word in (pair.first, pair.second)]
    assert len(set(words)) == 24
    assert all(topic_of[pair.first] != topic_of[pair.second] for pair in pairs)


def test_what_makes_no_text_is_refused() -> None:
    """No line, a share above 1, one topic, more pseudo-words than words."""
    with pytest.raises(InputError, match="made-up text needs"):
        made_up_text(0)
    with pytest.raises(InputError, match="made-up text needs"):
        made_up_text(1, share_common=1.5)
    for text, n in ((made_up_text(1, n_topics=1), 1), (made_up_text(1, n_topics=2, n_words=2), 3)):
        with pytest.raises(InputError, match="pseudo-words"):
            planted_pairs(text, n)
