"""Sense vectors of other people's libraries for `planted_senses.py`, in the formats that Lexiscope imports.

    pip install gensim scikit-learn chinese-whispers
    python benchmarks/sense_peers.py TEXT WORDS FOLDER --senses 3

Runs in an environment of its own. All three start from gensim's skip-gram of TEXT, a line of words with spaces between:

* ``skip_gram.bin``: its vectors, one sense for each word, in the binary format of word2vec;
* ``ego_network.bin`` and ``ego_network.tsv``: senses as SenseGram makes them (Pelevina et al. 2016, the settings of its
  program): the 200 nearest words of a word are clustered by Chinese whispers, edges being those between near words, a
  cluster of 5 or more is a sense, its vector the mean of its 20 nearest words, weighted by nearness;
* ``context_groups_3.txt``: senses as Schütze (1998) discriminates contexts: k-means of the mean vectors of up to 500
  windows of a word, in the format of MSSG; the centre of a group is also the vector of the sense.

Senses are induced for the words of WORDS, one on a line, whose every other word keeps its one vector.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import networkx as nx  # noqa: E402
import numpy as np  # noqa: E402
from chinese_whispers import aggregate_clusters, chinese_whispers  # noqa: E402
from gensim.models import KeyedVectors, Word2Vec  # noqa: E402
from sklearn.cluster import KMeans  # noqa: E402

NEAR, SMALLEST, POOLED = 200, 5, 20
WINDOW, CONTEXTS, BLOCK = 5, 500, 512
Senses = dict[str, list[np.ndarray]]


def neighbours(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers and cosines of the nearest other words of every word, nearest first. *Shape:* (words, NEAR) both."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    near = np.empty((len(unit), NEAR), np.int32)
    cosine = np.empty((len(unit), NEAR), np.float32)
    for start in range(0, len(unit), BLOCK):
        found = unit[start : start + BLOCK] @ unit.T
        rows = np.arange(len(found))
        found[rows, start + rows] = -np.inf
        part = np.argpartition(-found, NEAR, axis=1)[:, :NEAR]
        order = np.argsort(-np.take_along_axis(found, part, 1), axis=1)
        near[start : start + BLOCK] = np.take_along_axis(part, order, 1)
        cosine[start : start + BLOCK] = np.take_along_axis(found, near[start : start + BLOCK], 1)
    return near, cosine


def ego_networks(model: KeyedVectors, words: list[str], seed: int) -> tuple[Senses, dict[str, list[float]]]:
    """Senses of *words* by clusters of their neighbours, and each cluster's share of the neighbours in any."""
    near, cosine = neighbours(model.vectors)
    senses: Senses = {}
    shares: dict[str, list[float]] = {}
    for word in words:
        ego = model.key_to_index[word]
        weight = dict(zip(near[ego].tolist(), cosine[ego].tolist(), strict=True))
        graph = nx.Graph()
        graph.add_nodes_from(weight)
        for node in weight:
            edges = zip(near[node].tolist(), cosine[node].tolist(), strict=True)
            graph.add_weighted_edges_from((node, other, w) for other, w in edges if other in weight)
        chinese_whispers(graph, weighting="top", iterations=20, seed=seed)
        found = [sorted(each, key=lambda n: -weight[n]) for each in aggregate_clusters(graph).values()]
        kept = sorted((each for each in found if len(each) >= SMALLEST), key=len, reverse=True)
        if kept:
            pooled = [each[:POOLED] for each in kept]
            senses[word] = [
                np.average(model.vectors[each], axis=0, weights=[weight[n] for n in each]) for each in pooled
            ]
            total = sum(map(len, kept))
            shares[word] = [len(each) / total for each in kept]
    return senses, shares


def context_groups(model: KeyedVectors, text: Path, words: list[str], n_senses: int, seed: int) -> Senses:
    """Senses of *words* by clusters of the mean vectors of their windows, all of length 1."""
    index, rng = model.key_to_index, np.random.default_rng(seed)
    with text.open(encoding="utf-8") as lines:
        tokens = np.array([number for line in lines for number in (*(index[word] for word in line.split()), -1)])
    tokens = np.concatenate([[-1], tokens])
    order = np.argsort(tokens, kind="stable")
    starts = np.searchsorted(tokens[order], np.arange(len(model.vectors) + 1))
    senses: Senses = {}
    for word in words:
        places = order[starts[index[word]] : starts[index[word] + 1]]
        places = rng.choice(places, CONTEXTS, replace=False) if len(places) > CONTEXTS else places
        means = window_means(model.vectors, tokens, places)
        if len(means) >= n_senses:
            senses[word] = list(KMeans(n_senses, n_init=3, random_state=seed).fit(means).cluster_centers_)
    return senses


def window_means(vectors: np.ndarray, tokens: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The mean vectors of the words beside *places* in their line, of length 1. *Shape:* (places, width) or fewer."""
    total = np.zeros((len(places), vectors.shape[1]))
    for step in (-1, 1):
        inside = np.ones(len(places), np.bool_)
        for distance in range(1, WINDOW + 1):
            # a line end stands at both ends of the text, and nothing beyond one is read
            there = tokens[np.clip(places + step * distance, 0, len(tokens) - 1)]
            inside &= there >= 0
            total[inside] += vectors[there[inside]]
    lengths = np.linalg.norm(total, axis=1)
    return total[lengths > 0] / lengths[lengths > 0, None]


def write_word2vec(path: Path, model: KeyedVectors, senses: Senses) -> None:
    """Write all senses in the binary format, as ``word#1``, ``word#2``."""
    rows = [(f"{word}#{k}", each) for word in model.index_to_key
            for k, each in enumerate(senses.get(word, [model[word]]), start=1)]  # fmt: skip
    with path.open("wb") as stream:
        stream.write(f"{len(rows)} {model.vector_size}\n".encode())
        stream.writelines(name.encode() + b" " + np.asarray(each, "<f4").tobytes() + b"\n" for name, each in rows)


def write_shares(path: Path, model: KeyedVectors, shares: dict[str, list[float]]) -> None:
    """Write how probable each sense of each word is."""
    rows = [(f"{word}#{k}", p) for word in model.index_to_key for k, p in enumerate(shares.get(word, [1.0]), start=1)]
    path.write_text("".join(f"{name}\t{p:.6f}\n" for name, p in rows), encoding="utf-8")


def write_mssg(path: Path, model: KeyedVectors, senses: Senses, n_senses: int) -> None:
    """Write all senses as MSSG does: the global vector, then each sense and the centre of its contexts."""
    with path.open("w", encoding="utf-8") as stream:
        stream.write(f"{len(model.index_to_key)} {model.vector_size} {n_senses} 0\n")
        for word in model.index_to_key:
            own = numbers(model[word])
            each = [numbers(row) for row in senses[word]] if word in senses else [own]
            stream.write(f"{word} {len(each)}\n{own}\n" + "".join(f"{row}\n{row}\n" for row in each))


def numbers(row: np.ndarray) -> str:
    """A vector as text."""
    return " ".join(f"{value:.5f}" for value in row.tolist())


def main() -> None:
    """Train, induce and write what is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("text", "words", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--dimensions", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--learning-rate", type=float, default=0.025)
    parser.add_argument("--senses", type=int, nargs="+", default=[3], help="groups of contexts")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    kept = given.out / "model.kv"
    if not kept.is_file():
        model = Word2Vec(
            corpus_file=str(given.text), vector_size=given.dimensions, window=WINDOW, min_count=1, sample=1e-4,
            negative=5, sg=1, workers=1, shrink_windows=False, epochs=given.epochs, alpha=given.learning_rate,
            seed=given.seed,
        )  # fmt: skip
        model.wv.save(str(kept))
    vectors = KeyedVectors.load(str(kept))
    words = [word for word in given.words.read_text(encoding="utf-8").split() if word in vectors.key_to_index]
    write_word2vec(given.out / "skip_gram.bin", vectors, {})
    senses, shares = ego_networks(vectors, words, given.seed)
    write_word2vec(given.out / "ego_network.bin", vectors, senses)
    write_shares(given.out / "ego_network.tsv", vectors, shares)
    for n in given.senses:
        groups = context_groups(vectors, given.text, words, n, given.seed)
        write_mssg(given.out / f"context_groups_{n}.txt", vectors, groups, n)


if __name__ == "__main__":
    main()
