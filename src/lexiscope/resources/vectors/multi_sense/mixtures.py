"""Senses with a prior: adaptive skip-gram (AdaGram) and Gaussian mixtures (word2gm).

Adaptive skip-gram (AdaGram, Bartunov et al. 2016): its model file, its exported text, and saved arrays.

A model file begins with three lines: the number of words, the width and the most senses; the discount d; the longest
path of the Huffman tree. Then come, without anything between, column by column, little-endian: the frequencies (int64),
the codes (int8) and paths (int32) of the tree, the counts of each sense (float32), the vectors of the tree's nodes
(float32). Then each word: lines with its letters, its alpha and its number of senses and, for each sense, a line with
its number from 1 on, the vector (float32) and a line end. Priors follow from counts, alpha and d by stick breaking. The
nodes' vectors belong to no word: there are no vectors of contexts. *Source:* sbos/AdaGram.jl on GitHub, src/util.jl,
src/stick_breaking.jl and export.jl.

The program python-adagram saves a model by ``pickle``. A pickle is a program: to open one is to run it, so it is not
opened here. If python-adagram is installed, these lines save what is needed::

    model = adagram.VectorModel.load("model.pkl")
    numpy.savez("model.npz", In=model.In, counts=model.counts, alpha=model.alpha, d=model.d)
    entries = zip(model.dictionary.id2word, model.dictionary.frequencies)
    open("words.txt", "w", encoding="utf-8").writelines(f"{word} {n}\\n" for word, n in entries)

``In`` (words, senses, width) are the vectors and ``counts`` (words, senses) how often each sense was chosen; priors
follow from them by stick breaking. As in the program, senses that are less probable than .001 are excluded.
*Source:* lopuhin/python-adagram on GitHub, adagram/model.py.

Gaussian mixtures (word2gm, Athiwaratkun & Wilson 2017): a component's mean is a sense, its share the prior.

The program leaves ``vocab.txt``, a line with word and count for each word, and a TensorFlow checkpoint. Where
TensorFlow is installed, the variables ``mu`` (words, components, width) and ``mixture`` of the checkpoint are saved
under these names with ``numpy.savez``: that file is read here, without TensorFlow. ``mixture`` holds scores, as the
program keeps them: (words, components), of which the softmax is the share, or (words,) for two components, of which the
sigmoid is that of the first. Variances are not used: similarity is the cosine of means. *Source:* benathi/word2gm on
GitHub, word2gm_loader.py and README.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from lexiscope.core.errors import InputError, Place
from lexiscope.resources.vectors.multi_sense.form import (
    CODE,
    Floats,
    Ints,
    Lines,
    MultiSense,
    damage_error,
    group_senses,
    read_arrays,
    read_counted_words,
    shares,
    split_name,
)

_LONGEST_LINE = 4096
_PICKLE = b"\x80"


def read_adagram(path: Path) -> MultiSense:
    """Read a model file.

    Errors: :class:`InputError` E720 with the file and the line of the header, or the number of the word: a header that
    is none, a file that is cut off, a sense beyond the most that there are, numbers that are not finite.
    """
    try:
        with path.open("rb") as stream:
            if stream.read(1) == _PICKLE:
                raise InputError(
                    "this is a pickle, as python-adagram writes it: it is not opened, for to open one is to run it",
                    code=CODE,
                    place=Place(str(path)),
                    hint="save its arrays, as the format adagram_arrays describes it, or export the vectors",
                )
            stream.seek(0)
            return _model(stream, path)
    except OSError as error:
        raise damage_error(path, "this file cannot be read", why=str(error)) from error


def read_adagram_text(path: Path) -> MultiSense:
    """Read exported vectors: lines of ``word_sense`` and its numbers. There are no priors in them.

    A name without a number, as the word for unknown words has it, is a word with one sense.
    Errors: :class:`InputError` E720 with file and line: a vector of another width than the first, a sense that occurs
    twice, an empty file.
    """
    lines = Lines(path)
    owners: list[str] = []
    rows: list[Floats] = []
    seen: set[str] = set()
    for line in lines:
        name, _, text = line.partition(" ")
        word = split_name(lines, name, "_")[0] if name.rpartition("_")[2].isdigit() else name
        if not word or name in seen:
            lines.refuse(f"a new sense is needed; there is {name[:40]!r}")
        seen.add(name)
        rows.append(lines.numbers(text, len(rows[0]) if rows else max(1, len(text.split())), f"the vector of {name!r}"))
        owners.append(word)
    if not owners:
        lines.expect("the first sense")
    return group_senses(owners, rows, name=str(path))


def expected_shares(counts: NDArray[np.float64], alpha: float, discount: float) -> NDArray[np.float64]:
    """Return the expected probability of each sense of a word under a Dirichlet or Pitman-Yor process.

    *Shape:* counts (senses,), of all senses that there could be → (senses,), summing to 1. *Source:* AdaGram §3; each
    stick k is Beta(1 + n_k − d, alpha + k d + what remains), the last takes the rest.

    >>> expected_shares(np.array([3.0, 1.0, 0.0]), 1.0, 0.0).round(3).tolist()  # 4/6; 2/6 * 2/3; the rest
    [0.667, 0.222, 0.111]
    """
    remaining = counts.sum() - counts.cumsum()
    k = np.arange(1, len(counts) + 1)
    a, b = 1 + counts - discount, alpha + k * discount + np.maximum(remaining, 0)
    stick = a / (a + b)
    stick[-1] = 1.0
    left = np.concatenate([[1.0], np.cumprod(1 - stick)[:-1]])
    return np.asarray(stick * left)


def _model(stream: BinaryIO, path: Path) -> MultiSense:
    head = _numbers(stream, path, 1, 3)
    (discount,), (depth,) = _numbers(stream, path, 2, 1), _numbers(stream, path, 3, 1)
    n_words, width, most, longest = (_natural(path, number) for number in (*head, depth))
    tree = stream.tell()
    frequencies = _frequencies(stream, path, n_words, longest)
    counts = _floats(stream, path, n_words * most, "the counts").reshape(n_words, most).astype(np.float64)
    _skip(stream, path, 4 * n_words * width)
    if (counts < 0).any() or (frequencies < 0).any():
        raise damage_error(path, "the counts of words and senses cannot be below 0", byte=tree)
    words: dict[str, int] = {}
    rows: list[Floats] = []
    weights: list[float] = []
    for number in range(n_words):
        place, begin = f"word {number + 1}", stream.tell()
        word = _line(stream, path, place)
        if not word or word in words:
            raise damage_error(path, f"{place}: a new word is needed; there is {word[:40]!r}", byte=begin)
        senses = _senses(stream, path, place, counts[number], discount, width)
        words[word] = len(senses)
        rows += [row for row, _ in senses]
        weights += [weight for _, weight in senses]
    if stream.read(_LONGEST_LINE).strip():
        raise damage_error(path, f"the file continues after the {n_words:,} words of its first line")
    starts = np.concatenate([[0], np.cumsum(list(words.values()))]).astype(np.int64)
    priors = shares(np.array(weights), starts)
    return MultiSense(tuple(words), starts, np.array(rows, np.float32), priors, name=str(path), counts=frequencies)


def _frequencies(stream: BinaryIO, path: Path, n_words: int, longest: int) -> Ints:
    """Return how often words occur in the corpus, and pass over the codes and paths of the tree."""
    begin = stream.tell()
    _skip(stream, path, n_words * (8 + longest * (1 + 4)))
    end = stream.tell()
    stream.seek(begin)
    frequencies = np.frombuffer(stream.read(8 * n_words), "<i8").astype(np.int64)
    stream.seek(end)
    return frequencies


def _senses(
    stream: BinaryIO, path: Path, place: str, counts: NDArray[np.float64], discount: float, width: int
) -> list[tuple[Floats, float]]:
    alpha, n_senses = (_cell(_line(stream, path, place), path, place) for _ in range(2))
    if not 1 <= n_senses <= len(counts):
        raise damage_error(path, f"{place}: 1 to {len(counts)} senses are possible; there are {n_senses:g}")
    prior = expected_shares(counts, alpha, discount)
    senses = []
    for _ in range(int(n_senses)):
        k = int(_cell(_line(stream, path, place), path, place))
        if not 1 <= k <= len(counts):
            raise damage_error(path, f"{place}: there is no sense {k} among {len(counts)}")
        senses.append((_floats(stream, path, width, place), float(prior[k - 1])))
        if _line(stream, path, place):
            raise damage_error(path, f"{place}: a vector of sense {k} has another length than {width}")
    return senses


def _line(stream: BinaryIO, path: Path, place: str) -> str:
    begin = stream.tell()
    data = stream.readline(_LONGEST_LINE)
    if not data.endswith(b"\n"):
        raise damage_error(path, f"{place}: the file is cut off, or has no line here", byte=begin)
    try:
        return data[:-1].decode("utf-8")
    except UnicodeDecodeError as error:
        what = f"{place}: what should be a line of text is not UTF-8"
        raise damage_error(path, what, byte=begin, why=str(error)) from error


def _cell(text: str, path: Path, place: str) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise damage_error(path, f"{place}: a number is needed; there is {text[:40]!r}") from error
    if not 0 <= value < np.inf:
        raise damage_error(path, f"{place}: {value} is not an allowed number here")
    return value


def _numbers(stream: BinaryIO, path: Path, line: int, n: int) -> list[float]:
    text = _line(stream, path, f"line {line}")
    if len(text.split()) != n:
        raise damage_error(path, f"line {line} of a model has {n} numbers", line=line, text=text)
    return [_cell(cell, path, f"line {line}") for cell in text.split()]


def _natural(path: Path, number: float) -> int:
    if number < 1 or not number.is_integer():
        raise damage_error(path, f"a model begins with whole numbers from 1 on; there is {number:g}", line=1)
    return int(number)


def _skip(stream: BinaryIO, path: Path, n_bytes: int) -> None:
    here, end = stream.tell(), stream.seek(0, 2)
    if here + n_bytes > end:
        raise damage_error(
            path, f"the file is cut off: {here + n_bytes - end:,} bytes are missing before the first word"
        )
    stream.seek(here + n_bytes)


def _floats(stream: BinaryIO, path: Path, n: int, place: str) -> Floats:
    begin = stream.tell()
    # no more is asked for than there is: a damaged header may promise more than memory holds
    left = stream.seek(0, 2) - begin
    stream.seek(begin)
    row = np.frombuffer(stream.read(4 * n), "<f4") if 4 * n <= left else np.array([np.nan], np.float32)
    if not np.isfinite(row).all():
        raise damage_error(path, f"{place}: cut off, or a number is not finite", byte=begin)
    return row


# -- the arrays of python-adagram, saved without its pickle -----------------------------------------------------------


_NAMES = ("In", "counts", "alpha", "d")
_LEAST = 1e-3


def read_adagram_arrays(arrays: Path, words: Path) -> MultiSense:
    """Read saved arrays, and the words of their rows with their counts.

    Errors: :class:`InputError` E720 with file and, in the words, line: no archive of these arrays, shapes that do not
    go together, counts below 0, an alpha that is not above 0, a d outside 0 to 1, a line without a count.
    """
    named = read_arrays(arrays, _NAMES)
    names, frequencies = read_counted_words(words)
    vectors, counts, alpha, discount = (named[name] for name in _NAMES)
    if vectors.ndim != 3 or vectors.shape[0] != len(names) or 0 in vectors.shape:
        raise damage_error(
            arrays, f"In has the shape {vectors.shape}; it needs (words, senses, width), for {len(names):,} words"
        )
    if counts.shape != vectors.shape[:2] or (counts < 0).any():
        raise damage_error(arrays, f"counts of shape {counts.shape} are needed as {vectors.shape[:2]}, none below 0")
    if alpha.size != 1 or not alpha.item() > 0 or discount.size != 1 or not 0 <= discount.item() < 1:
        raise damage_error(
            arrays, f"alpha must be a number above 0 and d one from 0 to 1; there are {alpha} and {discount}"
        )
    priors = np.array([expected_shares(row, alpha.item(), discount.item()) for row in counts])
    kept = priors >= np.minimum(_LEAST, priors.max(axis=1, keepdims=True))
    starts = np.concatenate([[0], kept.sum(axis=1).cumsum()]).astype(np.int64)
    given = shares(priors[kept], starts)
    return MultiSense(names, starts, vectors[kept].astype(np.float32), given, name=str(arrays), counts=frequencies)


def read_gaussian(parameters: Path, vocabulary: Path) -> MultiSense:
    """Read means and shares of the components from an ``npz`` file, and the words from ``vocab.txt``.

    Errors: :class:`InputError` E720 with file and, in the vocabulary, line: a file that is no archive of arrays, a
    missing ``mu`` or ``mixture``, shapes that do not go together, a line without a count, a word that occurs twice,
    numbers that are not finite.
    """
    arrays = read_arrays(parameters, ("mu", "mixture"))
    mu, mixture = arrays["mu"], arrays["mixture"]
    means = mu[:, None, :] if mu.ndim == 2 else mu
    words, counts = read_counted_words(vocabulary)
    if means.ndim != 3 or len(means) != len(words):
        what = f"mu has the shape {mu.shape}; it needs (words, components, width), for {len(words):,} words"
        raise damage_error(parameters, what)
    priors = _shares(parameters, mixture, means.shape[:2])
    starts = np.arange(0, means.shape[0] * means.shape[1] + 1, means.shape[1], dtype=np.int64)
    senses = means.reshape(-1, means.shape[2]).astype(np.float32)
    return MultiSense(words, starts, senses, priors.reshape(-1).astype(np.float32), name=str(parameters), counts=counts)


def _shares(path: Path, scores: NDArray[np.float64], shape: tuple[int, ...]) -> Floats:
    if shape[1] == 2 and scores.shape == shape[:1]:
        scores = np.stack([scores, np.zeros(len(scores))], axis=1)
    if scores.shape != shape:
        raise damage_error(path, f"mixture has the shape {scores.shape}; with this mu it needs {shape}")
    exponents = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(exponents / exponents.sum(axis=1, keepdims=True), np.float32)
