"""Running text: what a line's words are, and what is no text."""

from __future__ import annotations

import bz2
import gzip
import itertools
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core.errors import InputError
from lexiscope.resources.corpora import running_text
from lexiscope.resources.corpora.running_text import corpus_files, read_corpus, read_lines, words_of, words_with_spans

TEXT = "The bank.\nA caf\u00e9 of 1,200.5 m\n"


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)])
def test_packed_text_is_read_as_plain_text(suffix: str, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """A packed file has the lines of the plain one; progress ends at the bytes on disk."""
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(pack(TEXT.encode()))
    heard: list[tuple[str, int, int]] = []
    lines = list(read_corpus([path], part="read", progress=lambda *told: heard.append(told)))
    assert lines == ["The bank.", "A caf\u00e9 of 1,200.5 m"]
    assert heard[-1] == ("read", path.stat().st_size, path.stat().st_size)


def test_folders_are_read_by_name(tmp_path: Path) -> None:
    """Files of a folder come in the order of their paths, nothing hidden; named files come as named."""
    for name in ("b.txt", "a/z.txt", ".hidden", ".git/config.txt", "a/.checkpoints/old/z.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text("x y\n")
    assert corpus_files([tmp_path]) == (tmp_path / "a/z.txt", tmp_path / "b.txt")
    assert corpus_files([tmp_path / "b.txt", tmp_path / "a"]) == (tmp_path / "b.txt", tmp_path / "a/z.txt")


def test_a_path_without_text_is_refused(tmp_path: Path) -> None:
    """E701: a missing file, an empty folder, a pipe."""
    (tmp_path / "empty").mkdir()
    for name in ("missing", "empty"):
        with pytest.raises(InputError, match="E701"):
            corpus_files([tmp_path / name])
    # what comes through a pipe can be read once; it is there, and no folder without files
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match=r"\[E701\] this is neither a file nor a folder"):
        corpus_files([tmp_path / "pipe"])


@pytest.mark.parametrize(
    ("content", "line"), [(b"a b\n\x00\x01\n", 2), (b"a b\nc d\ncaf\xe9 \n", 3), (b"PK\x03\x04\x00", 1)]
)
def test_a_binary_file_is_refused_with_its_line(content: bytes, line: int, tmp_path: Path) -> None:
    """E702 names the file and the line of a zero byte, or of bytes that are no UTF-8."""
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"\[E702\]") as error:
        list(read_lines(path))
    assert error.value.place is not None
    assert (error.value.place.path, error.value.place.line) == (str(path), line)


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """E702: a line longer than any line of text."""
    monkeypatch.setattr(running_text, "LONGEST_LINE", 100)
    (tmp_path / "a.txt").write_text("a" * 101)
    with pytest.raises(InputError, match="longer than") as error:
        list(read_lines(tmp_path / "a.txt"))
    assert error.value.hint == "break it: a line is a sentence or a paragraph"


def test_a_truncated_package_is_refused(tmp_path: Path) -> None:
    """E703: a packed file that is cut off, and a plain file that is named as a packed one."""
    (tmp_path / "cut.gz").write_bytes(gzip.compress(TEXT.encode() * 99)[:-12])
    (tmp_path / "plain.xz").write_text(TEXT)
    for name in ("cut.gz", "plain.xz"):
        with pytest.raises(InputError, match=r"\[E703\]"):
            list(read_lines(tmp_path / name))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("They don't re-open.", "they do n't re open"),
        ("they've 3.5% of 1,000 2nd-hand", "they 've <num> of <num> 2nd hand"),
        ("Scotland\u2019s caf\u00e9s \u2014 na\u00efve", "scotland 's caf\u00e9s na\u00efve"),
        ("cafe\u0301 \ufb01ne", "caf\u00e9 fine"),
        ("<num> in 1914", "<num> in <num>"),
        ("don't", "do n't"),
        ("the bank 's door , and they 've n't", "the bank 's door and they 've n't"),
        ("'s alone, \u2019ll too; ('s not behind a sign)", "'s alone 'll too s not behind a sign"),
        ("\u043f\u0440\u0438\u0432\u0435\u0442, \u4e16\u754c", "\u043f\u0440\u0438\u0432\u0435\u0442 \u4e16\u754c"),
        ("... --- !", ""),
    ],
)
def test_own_words(line: str, words: str) -> None:
    """Each rule of the tokeniser, as its docstring says."""
    assert words_of(line) == words.split()


@given(st.text(max_size=60) | st.text("abnt'.,12_<num>- sreX\u2019\u00e9", max_size=40))
def test_offsets_and_words_agree(text: str) -> None:
    """Words with spans are the words of the line, have no white space in them, and do not overlap."""
    line = text.replace("\n", " ").replace("\r", " ")
    found = words_with_spans(line)
    assert [word for word, _, _ in found] == words_of(line)
    assert all(word and not any(char.isspace() for char in word) for word, _, _ in found)
    assert all(before[2] <= after[1] for before, after in itertools.pairwise(found))


@given(st.text("abnt'.,12_<num>- sredlmvX\u2019", max_size=60))
def test_words_of_cut_text_are_the_same(text: str) -> None:
    """A tokenised line is tokenised to itself: the sets that senses are judged by come with spaces before clitics."""
    words = words_of(text)
    assert words_of(" ".join(words)) == words


def test_a_word_begins_with_a_letter_or_a_digit() -> None:
    """Joiners and accents without a letter, as between parts of an emoji, are no words; behind a letter they stay."""
    assert words_of("a \U0001f468\u200d\U0001f469\u200d\U0001f467 here") == ["a", "here"]
    assert words_of("\u200c one \u0301 two\u0301 do\u0301n\u2019t") == ["one", "tw\u00f3", "d\u00f3", "n't"]
    assert words_with_spans("\u0301x")[0][1:] == (1, 2)
