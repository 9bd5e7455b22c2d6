"""Whatever happens to a file of vectors, the importer names it and the place, or reads it: it never breaks down."""

from __future__ import annotations

import gzip
import pickle
import random
from pathlib import Path

import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.resources.vectors.multi_sense import CODE, read_multi_sense
from lexiscope.resources.vectors.multi_sense.mixtures import read_adagram, read_adagram_arrays
from lexiscope.senses.induced_senses import senses_of_import

from .test_every_form import DATA, adagram, binary, gaussian

NAMES = (
    *("adagram", "adagram_arrays", "adagram_text", "ego_network", "ego_network_binary"),
    *("gaussian", "mssg", "mssg.gz", "muse"),
)
#: what an error says where it names no line
SIGNS = ("byte ", "line ", "word ", "npz", "shape", "counts", "alpha", "mu ", "cut off", "continues")
INSERTED = (
    *(b"99999999999", b"1e39", b"nan", b"inf", b"-1", b"0"),
    *(b" ", b"\r\n", b"\n", b"\t", b"#", b"_", b"\0", b"\xff"),
)


def saved(folder: Path, **arrays: object) -> tuple[Path, Path]:
    """The model of `adagram` as python-adagram's arrays: bank with senses 1 and 3, river with sense 1."""
    given: dict[str, object] = {
        "In": [[[1, 0], [9, 9], [0, 1]], [[0, 2], [9, 9], [9, 9]]],
        "counts": [[3, 0, 1], [2, 0, 0]],
        "alpha": 0.5,
        "d": 0.0,
    }
    np.savez(folder / "model.npz", **{name: np.array(each) for name, each in (given | arrays).items()})
    (folder / "words.txt").write_text("bank 9\nriver 2\n")
    return folder / "model.npz", folder / "words.txt"


def every(folder: Path) -> dict[str, tuple[str, list[Path]]]:
    packed = folder / "mssg.gz"
    packed.write_bytes(gzip.compress((DATA / "mssg.txt").read_bytes()))
    ego = [DATA / "ego_network.txt", DATA / "ego_network.txt.inventory.csv"]
    return {
        "muse": ("muse", [DATA / "muse_vectors.txt", DATA / "muse_index.tsv"]),
        "mssg": ("mssg", [DATA / "mssg.txt"]),
        "mssg.gz": ("mssg", [packed]),
        "gaussian": ("gaussian", [gaussian(folder), DATA / "gaussian_vocab.txt"]),
        "adagram": ("adagram", [adagram(folder)]),
        "adagram_text": ("adagram_text", [DATA / "adagram_export.txt"]),
        "adagram_arrays": ("adagram_arrays", [*saved(folder)]),
        "ego_network": ("ego_network", ego),
        "ego_network_binary": ("ego_network_binary", [binary(folder)]),
    }


def changed(content: bytes, rng: random.Random) -> bytes:
    """The content with one to three accidents: cut off, a byte changed, bytes inserted, lost or doubled."""
    found = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        at, kind = rng.randrange(len(found) + 1), rng.randrange(5)
        if kind == 0:
            del found[at:]
        elif kind == 1:
            del found[at : at + rng.randint(1, 5)]
        elif kind == 2:
            found[at:at] = rng.choice(INSERTED)
        elif kind == 3:
            found[at : at + 1] = bytes([rng.randrange(256)])
        else:
            found[at:at] = found[at // 2 : at // 2 + rng.randint(1, 20)]
    return bytes(found)


def refusal(form: str, paths: list[Path]) -> InputError | None:
    """What the importer says of the files, or nothing where it reads them, whole and finite."""
    try:
        found = read_multi_sense(form, *paths)
    except InputError as error:
        return error
    assert np.isfinite(found.senses).all()
    assert len(set(found.words)) == len(found.words) == len(found.starts) - 1
    return None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", NAMES)
def test_accidents(tmp_path: Path, name: str) -> None:
    """Each of 150 accidents to each file is refused with E720 and its line, byte or array, or what is left is read."""
    form, paths = every(tmp_path)[name]
    rng, refused = random.Random(name), 0
    for which, path in enumerate(paths):
        whole, broken = path.read_bytes(), tmp_path / f"broken-{path.name}"
        for _ in range(150):
            broken.write_bytes(changed(whole, rng))
            given = [broken if n == which else each for n, each in enumerate(paths)]
            error = refusal(form, given)
            if error is not None:
                assert error.code == CODE
                assert error.place is not None
                assert error.place.line is not None or any(sign in error.what for sign in SIGNS), error
                refused += 1
    assert refused > 90 * len(paths)


def test_saved_arrays_are_the_model(tmp_path: Path) -> None:
    """The same model as a file of AdaGram and as saved arrays: the same words, senses, priors and counts."""
    one, other = read_adagram(adagram(tmp_path)), read_adagram_arrays(*saved(tmp_path))
    assert one.words == other.words == ("bank", "river")
    assert one.counts is not None
    assert other.counts is not None
    assert one.counts.tolist() == other.counts.tolist() == [9, 2]
    # the arrays also hold the second sense of bank, never chosen, whose prior is .1: alpha is .5
    assert other.senses[other.rows("bank")].tolist() == [[1, 0], [9, 9], [0, 1]]
    assert other.priors is not None
    assert other.priors[other.rows("bank")].sum() == pytest.approx(1)
    counts = senses_of_import(other).counts
    assert counts is not None
    assert counts.tolist() == [9, 2]


def test_improbable_senses_are_left_out(tmp_path: Path) -> None:
    """Below a thousandth a sense goes, as in the program; each word keeps one."""
    counts = [[9_000_000, 0, 1_000_000], [0, 0, 9_000_000]]
    found = read_adagram_arrays(*saved(tmp_path, counts=counts, alpha=0.001))
    assert found.senses[found.rows("bank")].tolist() == [[1, 0], [0, 1]]
    assert found.n_senses.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"In": np.zeros((2, 2))}, "In has the shape"),
        ({"In": np.zeros((3, 3, 2))}, "for 2 words"),
        ({"counts": np.full((2, 3), -1)}, "none below 0"),
        ({"counts": np.zeros((2, 2))}, r"are needed as \(2, 3\)"),
        ({"alpha": 0.0}, "alpha must be"),
        ({"d": 1.0}, "alpha must be"),
        ({"In": np.full((2, 3, 2), 1e300)}, "In holds numbers that are not finite"),
    ],
)
def test_arrays_that_do_not_go_together(tmp_path: Path, arrays: dict[str, object], says: str) -> None:
    """Shapes, counts and parameters are checked."""
    with pytest.raises(InputError, match=says):
        read_adagram_arrays(*saved(tmp_path, **arrays))


class Bomb:
    """What a pickle can do when it is opened."""

    def __reduce__(self) -> tuple[object, tuple[str, ...]]:
        return Path.touch, (Path("exploded"),)  # type: ignore[return-value]


@pytest.mark.parametrize("senses", [10**15, 10**30])
def test_a_header_that_promises_too_much(senses: int, tmp_path: Path) -> None:
    """A model that says it has more senses than any memory holds is refused before they are asked for."""
    path = adagram(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"2 2 3\n", b"2 2 %d\n" % senses, 1))
    with pytest.raises(InputError, match=rf"\[{CODE}\] byte .*the counts: cut off"):
        read_adagram(path)


def test_a_pickle_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model file of python-adagram is refused with what to do, and no code in it runs; nor does one in an npz."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(Bomb(), protocol=pickle.HIGHEST_PROTOCOL))
    with pytest.raises(InputError, match="this is a pickle") as caught:
        read_adagram(tmp_path / "model.pkl")
    assert "adagram_arrays" in caught.value.hint
    arrays, words = saved(tmp_path, In=np.array([Bomb()], dtype=object))
    with pytest.raises(InputError, match="not an npz file"):
        read_adagram_arrays(arrays, words)
    assert not (tmp_path / "exploded").exists()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """It is said so, with its name, in the same words for every format, whichever of its files it is."""
    for form, (_, paths) in every(tmp_path).items():
        for which in range(len(paths)):
            given = [tmp_path / "none" if n == which else each for n, each in enumerate(paths)]
            with pytest.raises(InputError) as caught:
                read_multi_sense(form.removesuffix(".gz"), *given)
            assert "none" in str(caught.value)
            assert "there is no such file" in str(caught.value)
