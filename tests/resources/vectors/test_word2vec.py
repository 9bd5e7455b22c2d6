"""Vectors of words from text files: with and without a first line of sizes, plain and gzipped, and what is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.resources.vectors.word2vec import read_word_vectors

ROWS = "bank 1 0.5\nriver -2 3\nbank 9 9\n"


@pytest.mark.parametrize("text", [ROWS, f"3 2\n{ROWS}"])
def test_only_what_is_asked_for_is_read(tmp_path: Path, text: str) -> None:
    """GloVe's form has no first line, word2vec's has one; the first of two lines of a word counts."""
    (tmp_path / "v.txt").write_text(text)
    found = read_word_vectors(tmp_path / "v.txt", ["bank", "toad"])
    assert {word: vector.tolist() for word, vector in found.items()} == {"bank": [1.0, 0.5]}
    with gzip.open(tmp_path / "v.gz", "wt") as stream:
        stream.write(text)
    assert read_word_vectors(tmp_path / "v.gz", ["river"])["river"].tolist() == [-2.0, 3.0]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("bank 1 2\nriver 1\n", 2, "the vector of 'river' needs 2 numbers; there are 1"),
        ("2 2\nbank 1 2 3\nriver 1 2\n", 3, ""),
        ("bank 1 x\n", 1, "needs 2 numbers"),
        ("", 0, "no vectors"),
        ("bank\n", 1, "a line is a word and its numbers"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, text: str, line: int, message: str) -> None:
    """The error names file and line; a line that nobody asked for is not looked into."""
    path = tmp_path / "v.txt"
    path.write_text(text)
    if not message:
        assert list(read_word_vectors(path, ["river"])) == ["river"]
        return
    with pytest.raises(InputError, match=message) as caught:
        read_word_vectors(path, ["bank", "river"])
    assert caught.value.code == "E720"
    assert caught.value.place is not None
    assert (caught.value.place.line or 0) == line
