"""From text to numbers: the vocabulary, the files on disk, and what cannot be learnt from."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from lexiscope.build.planted.senses import PseudoWord, plant_words
from lexiscope.core.errors import InputError, RunError
from lexiscope.core.run import folder_lock
from lexiscope.training.gasi.shards import LINE_END, make_shards, open_shards, renamed_shards
from lexiscope.training.gasi.vocabulary import (
    Vocabulary,
    VocabularyLimits,
    choose_words,
    count_words,
    negative_table,
    read_vocabulary,
)

from .corpus import topic_lines, write_corpus

FEW = VocabularyLimits(min_count=1)


def test_words_come_by_frequency(tmp_path: Path) -> None:
    """Words by falling count, ties in code point order; a minimum count and a number of words both cut."""
    path = tmp_path / "a.txt"
    path.write_text("b a c\nb a b\nd c e\n")
    found = count_words([path], FEW)
    assert found.words == ("b", "a", "c", "d", "e")
    assert found.counts.tolist() == [3, 2, 2, 1, 1]
    assert found.n_tokens == 9
    assert count_words([path], VocabularyLimits(min_count=2)).words == ("b", "a", "c")
    assert count_words([path], VocabularyLimits(min_count=1, top=2)).words == ("b", "a")


def test_numbers_stand_for_the_known_words_of_lines(tmp_path: Path) -> None:
    """Unknown words are left out, a line ends with -1, a line with fewer than two known words is left out."""
    path = tmp_path / "a.txt"
    path.write_text("b a x b\nb\ny b z\na b\n")
    shards = make_shards([path], tmp_path / "s", limits=VocabularyLimits(min_count=2))
    assert shards.vocabulary.words == ("b", "a")
    assert shards.chunk(0, 99).tolist() == [0, 1, 0, LINE_END, 1, 0, LINE_END]


def test_shards_are_the_same_bytes_for_the_same_text(tmp_path: Path) -> None:
    """Made twice, from plain and from renamed text: the same numbers; small shards hold the same stream."""
    path = write_corpus(tmp_path)
    first = make_shards([path], tmp_path / "a", limits=FEW)
    second = make_shards([path], tmp_path / "b", limits=FEW)
    for name in first.about["files"]:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert first.about == second.about
    small = make_shards([path], tmp_path / "c", limits=FEW, shard_tokens=100)
    assert len(small.parts) == -(-first.n_tokens // 100)
    for start, size in ((0, 5000), (95, 10), (100, 100), (250, 333), (2690, 50)):
        np.testing.assert_array_equal(small.chunk(start, size), first.chunk(start, size))


def test_memory_does_not_grow_with_the_text(tmp_path: Path) -> None:
    """A text is counted and numbered line by line: half a megabyte, or twice as much, in the same room."""
    line = " ".join(f"word{number}" for number in range(40)) + "\n"
    peaks = []
    for times in (2000, 4000):
        path = tmp_path / f"{times}.txt"
        path.write_text(line * times)
        tracemalloc.start()
        made = make_shards([path], tmp_path / f"s{times}", limits=FEW, tokenisation="given", shard_tokens=8_000)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert made.n_tokens == 41 * times
    assert max(peaks) < 500_000 < path.stat().st_size
    assert peaks[1] < 1.2 * peaks[0]


def test_finished_shards_are_opened(tmp_path: Path) -> None:
    """The same call reads nothing but checksums; other text or other limits make them again."""
    path = write_corpus(tmp_path)
    make_shards([path], tmp_path / "s", limits=FEW)
    before = (tmp_path / "s" / "shard-00000.i32").stat().st_mtime_ns
    make_shards([path], tmp_path / "s", limits=FEW)
    assert (tmp_path / "s" / "shard-00000.i32").stat().st_mtime_ns == before
    assert len(make_shards([path], tmp_path / "s", limits=VocabularyLimits(1, 10)).vocabulary.words) == 10


def test_shards_of_another_vocabulary_are_made_again(tmp_path: Path) -> None:
    """Of given words, all count, and how often they occur: five equal words at the start are not enough."""
    path = write_corpus(tmp_path)
    plain = count_words([path], FEW)
    swapped = Vocabulary((*plain.words[:-2], plain.words[-1], plain.words[-2]), plain.counts, plain.n_tokens)
    for vocabulary in (plain, swapped):
        found = make_shards([path], tmp_path / "s", vocabulary=vocabulary)
        assert found.vocabulary.words == vocabulary.words


def test_renamed_words_are_as_if_written_so(tmp_path: Path) -> None:
    """Numbers and vocabulary equal those of the planted text; finished ones are only opened; E706 for unknown words."""
    words = [PseudoWord("rivera", "moneyb"), PseudoWord("musicc", "gardena")]
    names = {word: each.name for each in words for word in (each.first, each.second)}
    lines = topic_lines(200)
    (tmp_path / "plain.txt").write_text("".join(" ".join(line) + "\n" for line in lines))
    (tmp_path / "planted.txt").write_text("".join(" ".join(line) + "\n" for line in plant_words(lines, words)))
    plain = make_shards([tmp_path / "plain.txt"], tmp_path / "a", limits=FEW, shard_tokens=500)
    expected = make_shards([tmp_path / "planted.txt"], tmp_path / "b", limits=FEW, shard_tokens=500)
    found = renamed_shards(plain, names, tmp_path / "c")
    assert found.vocabulary.text() == expected.vocabulary.text()
    np.testing.assert_array_equal(found.chunk(0, 9999), expected.chunk(0, 9999))
    before = (tmp_path / "c" / "shard-00000.i32").stat().st_mtime_ns
    assert renamed_shards(plain, names, tmp_path / "c").about == found.about
    assert (tmp_path / "c" / "shard-00000.i32").stat().st_mtime_ns == before
    with pytest.raises(InputError, match=r"\[E706\].*'bank'"):
        renamed_shards(plain, {"bank": "bench"}, tmp_path / "d")


def test_a_damaged_shard_is_refused(tmp_path: Path) -> None:
    """E707 for numbers that are not those that were written."""
    make_shards([write_corpus(tmp_path)], tmp_path / "s", limits=FEW)
    part = tmp_path / "s" / "shard-00000.i32"
    part.write_bytes(part.read_bytes()[:-4])
    with pytest.raises(InputError, match=r"shard-00000.i32: \[E707\]"):
        open_shards(tmp_path / "s")


def test_two_corpora_are_not_mixed_in_one_folder(tmp_path: Path) -> None:
    """While one process writes, another is refused; finished shards are opened whoever holds the folder."""
    corpus = write_corpus(tmp_path)
    with folder_lock(tmp_path / "s"), pytest.raises(RunError, match="another process"):
        make_shards([corpus], tmp_path / "s", limits=FEW)
    made = make_shards([corpus], tmp_path / "s", limits=FEW)
    with folder_lock(tmp_path / "s"):
        assert make_shards([corpus], tmp_path / "s", limits=FEW).about == made.about
        with pytest.raises(RunError, match="another process"):
            make_shards([corpus], tmp_path / "s", limits=VocabularyLimits(2))
        with pytest.raises(RunError, match="another process"):
            renamed_shards(made, {made.vocabulary.words[0]: "x"}, tmp_path / "s")


def test_a_corpus_must_have_neighbours(tmp_path: Path) -> None:
    """E704 for a list of words, one to a line, and for a file without a word; it names the file."""
    for text, what in (("bank\nriver\n", "two words"), ("...\n\n", "no word")):
        (tmp_path / "a.txt").write_text(text)
        with pytest.raises(InputError, match=rf"a.txt:1: \[E704\].*{what}"):
            count_words([tmp_path / "a.txt"], FEW)


def test_an_empty_vocabulary_is_refused(tmp_path: Path) -> None:
    """E705 says how frequent the most frequent word is."""
    (tmp_path / "a.txt").write_text("b a b c\n")
    with pytest.raises(InputError, match=r"\[E705\]") as error:
        count_words([tmp_path / "a.txt"], VocabularyLimits(min_count=5))
    assert "0 occur 5 times or more; the most frequent, 'b', 2 times" in str(error.value)
    assert "smaller --min-count" in str(error.value)
    with pytest.raises(InputError, match=r"1 of 3 words are learnt(.|\n)*larger --top"):
        count_words([tmp_path / "a.txt"], VocabularyLimits(min_count=1, top=1))
    other = choose_words(Counter({"x": 3, "y": 2}), FEW, tmp_path)
    with pytest.raises(InputError, match=r"\[E704\]"):
        make_shards([tmp_path / "a.txt"], tmp_path / "s", vocabulary=other)


def test_a_vocabulary_reads_back(tmp_path: Path) -> None:
    """What is written is read; E706 names a line that is none."""
    found = count_words([write_corpus(tmp_path)], FEW)
    (tmp_path / "v.tsv").write_text(found.text())
    again = read_vocabulary(tmp_path / "v.tsv")
    assert again.words == found.words
    assert again.counts.tolist() == found.counts.tolist()
    for broken in ("bank\t3\nriver 4\n", "bank\t3\nbank\t2\n", "bank\t0\n", ""):
        (tmp_path / "v.tsv").write_text(broken)
        with pytest.raises(InputError, match="E706"):
            read_vocabulary(tmp_path / "v.tsv")


def test_negatives_stand_in_their_shares() -> None:
    """Each word fills its share of the table to within one place."""
    p = np.array([0.6, 0.3, 0.09, 0.01])
    counts = np.bincount(negative_table(p, 1000), minlength=4)
    assert counts.sum() == 1000
    np.testing.assert_allclose(counts, p * 1000, atol=1)
