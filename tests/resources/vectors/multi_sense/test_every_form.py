"""Importers of multi-sense vectors: each fixture is read into the one form; each damage is named with its place."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lexiscope.core.errors import InputError, SpecError
from lexiscope.resources.vectors.multi_sense import CODE, MultiSense, read_multi_sense
from lexiscope.resources.vectors.multi_sense.clusters import (
    read_ego_network,
    read_ego_network_binary,
    read_mssg,
    read_muse,
)
from lexiscope.resources.vectors.multi_sense.mixtures import (
    expected_shares,
    read_adagram,
    read_adagram_text,
    read_gaussian,
)
from lexiscope.resources.vectors.sense_vectors import SenseVectors
from lexiscope.resources.vectors.word2vec import write_word2vec

DATA = Path(__file__).parents[3] / "data" / "multi_sense"


def senses(found: MultiSense) -> dict[str, list[list[float]]]:
    return {word: found.senses[found.rows(word)].tolist() for word in found.words}


def priors(found: MultiSense) -> dict[str, list[float]]:
    assert found.priors is not None
    return {word: [round(each, 6) for each in found.priors[found.rows(word)].tolist()] for word in found.words}


def binary(folder: Path, end: bytes = b"\n") -> Path:
    rows = {"bank#0": (1, 0), "river#0": (0, 1), "bank#1": (0, 2)}
    path = folder / "senses.bin"
    body = b"".join(name.encode() + b" " + np.array(row, "<f4").tobytes() + end for name, row in rows.items())
    path.write_bytes(b"3 2\n" + body)
    return path


def adagram(folder: Path) -> Path:
    """Two words, width 2, 3 senses at most, discount 0, paths of length 2; senses 1 and 3 of bank, 1 of river."""
    path = folder / "model.adagram"
    counts = np.array([[3, 0, 1], [2, 0, 0]], "<f4")
    tree = np.array([9, 2], "<i8").tobytes() + bytes(2 * 2 * 1) + bytes(2 * 2 * 4)
    body = b"2 2 3\n0.0\n2\n" + tree + counts.tobytes() + np.ones((2, 2), "<f4").tobytes()
    for word, found in (("bank", {1: (1, 0), 3: (0, 1)}), ("river", {1: (0, 2)})):
        body += f"{word}\n0.5\n{len(found)}\n".encode()
        for k, row in found.items():
            body += f"{k}\n".encode() + np.array(row, "<f4").tobytes() + b"\n"
    path.write_bytes(body)
    return path


def gaussian(folder: Path, **arrays: object) -> Path:
    path = folder / "word2gm.npz"
    given: dict[str, object] = {"mu": [[[1, 0], [0, 1]], [[3, 4], [0, 2]]], "mixture": [[0, np.log(3)], [2, 2]]}
    np.savez(path, **{name: np.array(each, np.float32) for name, each in (given | arrays).items()})
    return path


def test_muse() -> None:
    """A line of numbers for each sense, named in the index; a word may hold the sign before the number."""
    found = read_muse(DATA / "muse_vectors.txt", DATA / "muse_index.tsv")
    assert found.words == ("bank", "made_up")
    assert found.senses[found.rows("bank")].tolist() == [[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]]
    assert (found.priors, found.contexts, found.centres) == (None, None, None)


def test_mssg() -> None:
    """Global vectors are contexts, centres choose the sense; a word beyond the most frequent has one sense."""
    found = read_mssg(DATA / "mssg.txt")
    assert senses(found) == {"bank": [[1, 0], [0, 1]], "river": [[0, 4]]}
    assert found.contexts is not None
    assert found.contexts.tolist() == [[0.5, 0.5], [0, 2]]
    assert found.selectors.tolist() == [[2, 0], [0, 3], [1, 1]]


def test_mssg_packed_and_without_centres(tmp_path: Path) -> None:
    """The release is gzip, and the variant MaxOut has no centres: its senses choose."""
    path = tmp_path / "vectors.gz"
    path.write_bytes(gzip.compress(b"1 2 2 1\nbank 2\n1 1\n1 0\n0 1\n"))
    found = read_mssg(path)
    assert found.centres is None
    assert found.selectors.tolist() == [[1, 0], [0, 1]]


def test_gaussian(tmp_path: Path) -> None:
    """Means are senses; the softmax of the scores is the prior: 1/4 and 3/4 of scores 0 and log 3."""
    found = read_gaussian(gaussian(tmp_path), DATA / "gaussian_vocab.txt")
    assert senses(found) == {"bank": [[1, 0], [0, 1]], "river": [[3, 4], [0, 2]]}
    assert priors(found) == {"bank": [0.25, 0.75], "river": [0.5, 0.5]}


def test_gaussian_of_two_components(tmp_path: Path) -> None:
    """One score a word is that of the first component: its share is 1 / (1 + exp(-score))."""
    found = read_gaussian(gaussian(tmp_path, mixture=[np.log(4), 0]), DATA / "gaussian_vocab.txt")
    assert priors(found) == {"bank": [0.8, 0.2], "river": [0.5, 0.5]}


def test_ego_network() -> None:
    """Senses of a word need not stand together; the inventory has their probabilities; a word may hold the sign."""
    found = read_ego_network(DATA / "ego_network.txt", DATA / "ego_network.txt.inventory.csv")
    assert senses(found) == {"bank": [[1, 0], [0, 2]], "river": [[0, 1]], "c#": [[3, 4]]}
    assert priors(found) == {"bank": [0.25, 0.75], "river": [1.0], "c#": [1.0]}
    assert read_ego_network(DATA / "ego_network.txt").priors is None


@pytest.mark.parametrize("end", [b"\n", b""])
def test_ego_network_in_binary(tmp_path: Path, end: bytes) -> None:
    """The binary form is read with and without a line end behind each vector."""
    found = read_ego_network_binary(binary(tmp_path, end))
    assert senses(found) == {"bank": [[1, 0], [0, 2]], "river": [[0, 1]]}


@pytest.mark.parametrize("form", ["text", "binary"])
def test_what_lexiscope_exports_is_read_back(tmp_path: Path, form: str) -> None:
    """The export of sense vectors to word2vec's forms comes back as the same numbers, without masked senses."""
    vectors = np.array([[[0.1, 0.2], [9, 9]], [[1, 2], [3, 4]]], np.float32)
    mask = np.array([[True, False], [True, True]])
    own = SenseVectors(("river", "bank"), np.array([5, 4]), vectors, np.zeros((2, 2), np.float32), mask)
    write_word2vec(tmp_path / "out", own, form)  # type: ignore[arg-type]
    name = "ego_network" if form == "text" else "ego_network_binary"
    found = read_multi_sense(name, tmp_path / "out")
    assert found.words == own.words
    assert np.array_equal(found.senses, vectors[mask])


def test_adagram(tmp_path: Path) -> None:
    """Senses that were kept, with priors by stick breaking from their counts, among those that were kept."""
    found = read_adagram(adagram(tmp_path))
    assert senses(found) == {"bank": [[1, 0], [0, 1]], "river": [[0, 2]]}
    # counts 3 0 1, alpha .5, d 0: sticks 4/5.5, 1/2.5, rest
    first, third = 4 / 5.5, (1 - 4 / 5.5) * (1 - 1 / 2.5)
    assert priors(found)["bank"] == pytest.approx([first / (first + third), third / (first + third)], abs=1e-6)
    assert expected_shares(np.array([5.0, 1.0, 2.0]), 0.1, 0.3).sum() == pytest.approx(1)


def test_adagram_exported() -> None:
    """The exported text names senses by their number; the word for unknown words has none."""
    found = read_adagram_text(DATA / "adagram_export.txt")
    assert senses(found) == {"bank": [[1, 0], [0, 1]], "*UNKNOWN*": [[0.5, 0.5]]}


def test_words_without_context_vectors_are_the_mean_of_their_senses() -> None:
    """By priors where there are some (.25 and .75), else evenly."""
    with_priors = read_ego_network(DATA / "ego_network.txt", DATA / "ego_network.txt.inventory.csv")
    assert with_priors.context_vectors[0].tolist() == [0.25, 1.5]
    assert read_ego_network(DATA / "ego_network.txt").context_vectors[0].tolist() == [0.5, 1.0]


def changed(folder: Path, name: str, old: str, new: str) -> Path:
    text = (DATA / name).read_text(encoding="utf-8")
    assert text.count(old) >= 1
    path = folder / name
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


DAMAGES: tuple[tuple[str, str, str, int, str], ...] = (
    ("muse_vectors.txt", "0 1 0\n", "0 1\n", 2, "needs 3 numbers; there are 2"),
    ("muse_vectors.txt", "0.6", "zero", 3, "could not convert"),
    ("muse_vectors.txt", "-1", "nan", 4, "not finite"),
    ("muse_vectors.txt", "-1 0 0\n", "", 4, "the file ends where the vector of 'made_up_2'"),
    ("muse_vectors.txt", "-1 0 0\n", "-1 0 0\n1 1 1\n", 5, "more vectors than the 4 senses"),
    ("muse_index.tsv", "bank_2", "bank_1", 2, "occurs twice"),
    ("muse_index.tsv", "bank_2", "bank", 2, "a sense is named WORD_SENSE"),
    ("muse_index.tsv", "bank_2", "bank_x", 2, "must be a whole number"),
    ("mssg.txt", "2 2 3 0", "2 2 3", 1, "the first line has"),
    ("mssg.txt", "2 2 3 0", "2 two 3 0", 1, "must be a whole number"),
    ("mssg.txt", "bank 2", "bank 4", 2, "says 3 at most"),
    ("mssg.txt", "0 3 \n", "0 3 1\n", 7, "the centre of a sense of 'bank' needs 2 numbers; there are 3"),
    ("mssg.txt", "river 1", "bank 1", 8, "a new word"),
    ("mssg.txt", "1 1 \n", "", 11, "the file ends where the centre of a sense of 'river'"),
    ("mssg.txt", "1 1 \n", "1 1 \nsea 1\n", 12, "continues after the 2 words"),
    ("ego_network.txt", "4 2", "4", 1, "the first line has"),
    ("ego_network.txt", "4 2", "5 2", 5, "says 5 vectors; there are 4"),
    ("ego_network.txt", "river#0", "river", 3, "a sense is named WORD#SENSE"),
    ("ego_network.txt", "bank#1", "bank#0", 4, "occurs twice"),
    ("ego_network.txt.inventory.csv", "bank#1", "bank#9", 2, "a sense of ego_network.txt is needed"),
    ("ego_network.txt.inventory.csv", "c##0\t1\n", "", 3, "1 senses of ego_network.txt have no probability"),
    ("ego_network.txt.inventory.csv", "0.75", "-1", 2, "cannot be negative"),
    ("adagram_export.txt", "bank_3", "bank_1", 2, "a new sense is needed"),
    ("adagram_export.txt", "0 1\n", "0 1 1\n", 2, "needs 2 numbers; there are 3"),
    ("gaussian_vocab.txt", "river 40", "river", 2, "the count behind a word"),
    ("gaussian_vocab.txt", "river 40", "bank 40", 2, "a new word"),
)


@pytest.mark.parametrize(("name", "old", "new", "line", "says"), DAMAGES)
def test_a_damaged_file_is_named_with_its_line(
    tmp_path: Path, name: str, old: str, new: str, line: int, says: str
) -> None:
    """E720, the file and the line of what is wrong, for every text file."""
    path = changed(tmp_path, name, old, new)
    readers: dict[str, Callable[[], MultiSense]] = {
        "muse_vectors.txt": lambda: read_muse(path, DATA / "muse_index.tsv"),
        "muse_index.tsv": lambda: read_muse(DATA / "muse_vectors.txt", path),
        "mssg.txt": lambda: read_mssg(path),
        "ego_network.txt": lambda: read_ego_network(path),
        "ego_network.txt.inventory.csv": lambda: read_ego_network(DATA / "ego_network.txt", path),
        "adagram_export.txt": lambda: read_adagram_text(path),
        "gaussian_vocab.txt": lambda: read_gaussian(gaussian(tmp_path), path),
    }
    with pytest.raises(InputError) as error:
        readers[name]()
    assert says in error.value.what
    assert error.value.code == CODE
    assert error.value.place is not None
    assert (error.value.place.path, error.value.place.line) == (str(path), line)


def test_a_binary_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    """Wherever a model or a binary vector file is cut, the file is named, and nothing else is raised."""
    for path, reader in ((adagram(tmp_path), read_adagram), (binary(tmp_path), read_ego_network_binary)):
        whole = path.read_bytes()
        # the last byte is the line end behind the last vector, which word2vec's form may lack
        for length in range(len(whole) - 1):
            path.write_bytes(whole[:length])
            with pytest.raises(InputError) as error:
                reader(path)
            assert error.value.code == CODE
            assert error.value.place is not None
            assert error.value.place.path == str(path)


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"mu": np.zeros((3, 2, 2))}, r"mu has the shape \(3, 2, 2\)"),
        ({"mixture": np.zeros((2, 3))}, r"mixture has the shape \(2, 3\)"),
        ({"mu": np.full((2, 2, 2), np.nan)}, "mu holds numbers that are not finite"),
    ],
)
def test_arrays_that_do_not_go_together_are_refused(tmp_path: Path, arrays: dict[str, object], says: str) -> None:
    """Shapes and numbers of a Gaussian mixture are checked against the vocabulary."""
    with pytest.raises(InputError, match=says):
        read_gaussian(gaussian(tmp_path, **arrays), DATA / "gaussian_vocab.txt")


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    """Text, an empty file, a missing file, and a pickle are no archive of arrays."""
    path = tmp_path / "word2gm.npz"
    for content in (b"", b"bank 1 2 3\n", b"PK\x03\x04broken"):
        path.write_bytes(content)
        with pytest.raises(InputError, match="not an npz file"):
            read_gaussian(path, DATA / "gaussian_vocab.txt")
    np.savez(path, mu=np.array([{}], dtype=object), mixture=np.zeros(1))
    with pytest.raises(InputError, match="not an npz file"):
        read_gaussian(path, DATA / "gaussian_vocab.txt")


def test_files_that_are_not_there_or_not_text_are_refused(tmp_path: Path) -> None:
    """A missing file, one that is not UTF-8, an empty one, and a broken gzip file: E720."""
    path = tmp_path / "vectors"
    for content in (None, b"", b"\xff\xfe\x00", b"\x1f\x8bbroken"):
        if content is not None:
            path.write_bytes(content)
        for reader in (read_mssg, read_ego_network, read_ego_network_binary, read_adagram, read_adagram_text):
            with pytest.raises(InputError) as error:
                reader(path)
            assert error.value.code == CODE


def test_a_format_is_named_with_its_files() -> None:
    """An unknown format and another number of files are refused with what is possible."""
    with pytest.raises(SpecError, match="not a format"):
        read_multi_sense("glove", DATA / "mssg.txt")
    with pytest.raises(SpecError) as error:
        read_multi_sense("muse", DATA / "muse_vectors.txt")
    assert "vectors, index" in error.value.hint
    assert read_multi_sense("mssg", DATA / "mssg.txt").words == ("bank", "river")
