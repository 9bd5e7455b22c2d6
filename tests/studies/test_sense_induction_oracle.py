"""The figures of the study against a second reading of the raw files: formulas written out, nothing shared with it."""

from __future__ import annotations

import gzip
import math
import tarfile
import unicodedata
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest

from lexiscope.core.result import Record, find_record, read_records
from lexiscope.resources.vectors.sense_vectors import SenseVectors
from lexiscope.studies.sense_induction import study as sense_induction
from lexiscope.studies.sense_induction.settings import SenseInductionSettings
from lexiscope.training.gasi.settings import GasiSettings
from lexiscope.training.gasi.train import write_senses

pytestmark = pytest.mark.published

K, WIDTH, WINDOW = 3, 6, 4
SETS = {"mc30": "EN-MC-30", "ws353": "EN-WS-353-ALL", "rw2k": "EN-RW-STANFORD"}
CLITICS = ("n't", "'s", "'re", "'ve", "'ll", "'d", "'m")


# -- words, as the README of the corpus says what they are -------------------------------------------------------


@cache
def cut(piece: str) -> tuple[str, ...]:
    """The words of what stands between two spaces."""
    text = unicodedata.normalize("NFKC", piece).lower().replace("\u2019", "'")
    if text == "<num>" or text in CLITICS:
        return (text,)
    end = next((c for c in CLITICS if text.endswith(c) and text[-len(c) - 1 : -len(c)].isalnum()), "")
    text, found, run, place = text.removesuffix(end), list[str](), "", 0
    while place < len(text):
        stop = place
        while not run and stop < len(text) and (text[stop].isdigit() or inner(text, stop)):
            stop += 1
        if stop > place and not text[stop : stop + 1].isalnum():
            found, place = [*found, "<num>"], stop
            continue
        run += text[place] if text[place].isalnum() else " "
        found, run = (found, run) if run[-1] != " " else ([*found, run[:-1]] if run[:-1] else found, "")
        place += 1
    words = [*found, run] if run else found
    return tuple(["<num>" if word.isdecimal() else word for word in words] + ([end] if end else []))


def inner(text: str, place: int) -> bool:
    """A point or comma between two digits."""
    return text[place] in ".," and text[place - 1 : place].isdigit() and text[place + 1 : place + 2].isdigit()


@dataclass
class Model:
    """Vectors drawn at random, in plain arrays: softmax(c·s), c the mean context vector of the known words around."""

    index: dict[str, int]
    senses: np.ndarray
    contexts: np.ndarray
    mask: np.ndarray

    def beside(self, pieces: Sequence[str], target: int) -> tuple[int | None, np.ndarray]:
        """The number of the target, one of the pieces, and the probability of its senses."""
        whole = self.index.get(pieces[target].lower())
        word = self.index.get(" ".join(cut(pieces[target]))) if whole is None else whole
        left = [self.index[one] for piece in pieces[:target] for one in cut(piece) if one in self.index]
        right = [self.index[one] for piece in pieces[target + 1 :] for one in cut(piece) if one in self.index]
        around = [*left[-WINDOW:], *right[:WINDOW]]
        there = self.mask[0 if word is None else word]
        if word is None or not around:
            return word, there / there.sum()
        signal = self.senses[word].astype(float) @ self.contexts[around].astype(float).mean(axis=0)
        weights = np.exp(signal) * there
        return word, weights / weights.sum()

    def cosine(self, a: tuple[int, int], b: tuple[int, int]) -> float:
        one, other = self.senses[a].astype(float), self.senses[b].astype(float)
        return float(one @ other / math.sqrt((one @ one) * (other @ other)))

    def pairs(self, a: int, b: int) -> list[tuple[int, int]]:
        return [(i, j) for i in range(K) for j in range(K) if self.mask[a, i] and self.mask[b, j]]


def rho(x: Sequence[float], y: Sequence[float]) -> float:
    """100 x Spearman's rho by definition: Pearson's r of mean ranks; equal cosines are equal to ten digits."""

    def ranks(values: Sequence[float]) -> list[float]:
        rounded = [round(value, 10) for value in values]
        order = sorted(rounded)
        first, n = {v: k for k, v in reversed(list(enumerate(order)))}, Counter(order)
        return [first[value] + (n[value] - 1) / 2 for value in rounded]

    a, b = np.array(ranks(x)), np.array(ranks(y))
    a, b = a - a.mean(), b - b.mean()
    return 100 * float((a * b).sum() / math.sqrt((a * a).sum() * (b * b).sum()))


# -- the raw files -------------------------------------------------------------------------------------------------


def marked(context: str) -> tuple[list[str], int]:
    pieces = context.split(" ")
    place = pieces.index("<b>")
    return [*pieces[:place], pieces[place + 1], *pieces[place + 3 :]], place


def scws(folder: Path) -> list[tuple[list[float], tuple[list[str], int], tuple[list[str], int]]]:
    lines = (folder / "scws" / "ratings.txt").read_text(encoding="utf-8").splitlines()
    cells = [line.split("\t") for line in lines]
    return [([float(cell) for cell in row[8:18]], marked(row[5]), marked(row[6])) for row in cells]


def wic(folder: Path, split: str) -> list[tuple[bool, str, tuple[list[str], int], tuple[list[str], int]]]:
    place = folder / "wic" / "WiC_dataset" / split
    gold = (place / f"{split}.gold.txt").read_text().split()
    rows = [line.split("\t") for line in (place / f"{split}.data.txt").read_text(encoding="utf-8").splitlines()]
    found = []
    for (word, _, numbers, one, other), label in zip(rows, gold, strict=True):
        i, j = map(int, numbers.split("-"))
        found.append((label == "T", word, (one.split(" "), i), (other.split(" "), j)))
    return found


def wordsim(folder: Path, name: str) -> list[tuple[str, str, float]]:
    lines = (folder / "wordsim" / f"{SETS[name]}.txt").read_text(encoding="utf-8").split("\n")
    return [(a.lower(), b.lower(), float(c)) for a, b, c in (line.split() for line in lines if line.strip())]


def semcor(folder: Path, lemma: str, number: int) -> list[tuple[list[str], int]]:
    """Every usage of a noun's sense, its form replaced by the lemma."""
    with tarfile.open(folder / "wordnet30" / "WordNet-3.0.tar.xz") as packed:
        stream = packed.extractfile("WordNet-3.0/dict/index.sense")
        assert stream is not None
        keys = [line.split() for line in stream.read().decode().splitlines() if line.startswith(f"{lemma}%1:")]
    (key,) = [found for found, _, sense, _ in keys if int(sense) == number]
    with gzip.open(folder / "semcor" / "semcor.gold.key.txt.gz", "rt") as lines:
        asked = {line.split()[0] for line in lines if key in line.split()[1:]}
    found = []
    with gzip.open(folder / "semcor" / "semcor.data.xml.gz") as packed_text:
        for _, node in ElementTree.iterparse(packed_text):
            if node.tag == "sentence":
                for place, token in enumerate(node):
                    if token.get("id") in asked:
                        forms = [str(each.text) for each in node]
                        pieces = " ".join(forms[:place]).split()
                        found.append(([*pieces, lemma, *" ".join(forms[place + 1 :]).split()], len(pieces)))
                node.clear()
    return found


# -- one run, and the same figures again -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], tuple[Model, tuple[Record, ...]]]:
    """Run the study once on vectors of the commonest words of SCWS, and of some others."""
    done: list[tuple[Model, tuple[Record, ...]]] = []

    def once(published: Path) -> tuple[Model, tuple[Record, ...]]:
        if not done:
            done.append(_run(published, tmp_path_factory.mktemp("oracle")))
        return done[0]

    return once


def _run(published: Path, folder: Path) -> tuple[Model, tuple[Record, ...]]:
    texts = (pieces for _, *both in scws(published) for pieces, _ in both)
    counted = Counter(word for pieces in texts for piece in pieces for word in cut(piece))
    others = [word for name in SETS for a, b, _ in wordsim(published, name)[::2] for word in (a, b)]
    words = list(dict.fromkeys([*(word for word, _ in counted.most_common(4000)), *others, "bank"]))
    rng = np.random.default_rng(5)
    senses = rng.normal(size=(len(words), K, WIDTH)).astype(np.float32)
    contexts = rng.normal(size=(len(words), WIDTH)).astype(np.float32)
    mask = rng.random((len(words), K)) < 0.7
    mask[:, 1] |= ~mask.any(axis=1)
    mask[words.index("bank")] = True
    (folder / "a").mkdir()
    vectors = SenseVectors(tuple(words), np.arange(len(words), 0, -1), senses, contexts, mask)
    how = {"settings": GasiSettings(senses=K, dimensions=WIDTH, window=WINDOW).deciding_values()}
    write_senses(folder / "a", vectors, how)
    settings = SenseInductionSettings(datasets=("scws", "wic", *(f"wordsim?set={name}" for name in SETS)),
        subjects=(f"gasi:{folder / 'a'}",), synset="bank.n.01", words=(), n_bootstrap=5,
    )  # fmt: skip
    sense_induction.run(settings, folder / "run")
    index = {word: number for number, word in enumerate(words)}
    # what the paper prints of vectors that nobody has is among the records of the same sets
    records = read_records(folder / "run" / "results.json")
    own = tuple(record for record in records if record.status != "not reproducible")
    return Model(index, senses, contexts, mask), own


Run = Callable[[Path], tuple[Model, tuple[Record, ...]]]


def test_similarity_in_context(published: Path, run: Run) -> None:
    """SCWS: MaxSimC, AvgSimC over K x K and over j >= i, MaxSim, AvgSim, over covered pairs and over all; coverage."""
    model, records = run(published)
    rows, ratings = [], []
    for people, *both in scws(published):
        (a, p), (b, q) = (model.beside(*each) for each in both)
        ratings.append(sum(people) / 10)
        if a is None or b is None:
            rows.append([math.nan] * 5)
            continue
        table = {(i, j): model.cosine((a, i), (b, j)) for i, j in model.pairs(a, b)}
        weighted = {(i, j): p[i] * q[j] * cosine for (i, j), cosine in table.items()}
        upper = sum(value for (i, j), value in weighted.items() if j >= i)
        chosen = table[int(p.argmax()), int(q.argmax())]
        rows.append([chosen, sum(weighted.values()), upper, max(table.values()), sum(table.values()) / len(table)])
    measures = np.array(rows)
    covered = np.isfinite(measures[:, 0])
    assert 500 < covered.sum() < 2003
    find_in = partial(find_record, records, dataset="scws")
    assert find_in("coverage").value == pytest.approx(100 * covered.mean())
    for column, name in enumerate(("max_sim_c", "avg_sim_c", "avg_sim_c_upper", "max_sim", "avg_sim")):
        values, people = measures[:, column], np.array(ratings)
        every = np.where(covered, values, 0.0)
        over = f"spearman_x100(similarity={name}"
        assert find_in(f"{over})").value == pytest.approx(rho(values[covered].tolist(), people[covered].tolist()))
        assert find_in(f"{over},uncovered=0)").value == pytest.approx(rho(every.tolist(), people.tolist()))


def test_agreement_of_the_ratings(published: Path, run: Run) -> None:
    """SCWS: the mean correlation of a column of ratings with the mean of the other nine."""
    _, records = run(published)
    table = np.array([people for people, *_ in scws(published)])
    each = [rho(table[:, k].tolist(), np.delete(table, k, axis=1).mean(axis=1).tolist()) for k in range(10)]
    assert find_record(records, "rater_agreement_x100(variant=leave_one_out)").value == pytest.approx(sum(each) / 10)


@pytest.mark.parametrize("name", SETS)
def test_similarity_of_words(name: str, published: Path, run: Run) -> None:
    """MaxSim, the highest cosine of two senses that are there, and how many pairs it covers."""
    model, records = run(published)
    rows = wordsim(published, name)
    known = [(model.index[a], model.index[b], mean) for a, b, mean in rows if {a, b} <= model.index.keys()]
    best = [max(model.cosine((a, i), (b, j)) for i, j in model.pairs(a, b)) for a, b, _ in known]
    found = find_record(records, "spearman_x100(similarity=max_sim)", dataset=f"wordsim?set={name}")
    assert (found.value, found.n) == (pytest.approx(rho(best, [mean for *_, mean in known])), len(known))
    coverage = find_record(records, "coverage", dataset=f"wordsim?set={name}")
    assert coverage.value == pytest.approx(100 * len(known) / len(rows))


@pytest.mark.parametrize("split", ["dev", "test"])
def test_the_same_sense(split: str, published: Path, run: Run) -> None:
    """WiC: the same sense is the most probable one twice; unknown words, words with one sense and ties are counted."""
    model, records = run(published)
    why = Counter[str]()
    right = []
    for gold, lemma, *both in wic(published, split):
        forms = {pieces[place].casefold() for pieces, place in both}
        shown = [[*pieces[:place], *([lemma] if len(forms) > 1 else [pieces[place]]), *pieces[place + 1 :]]
                 for pieces, place in both]  # fmt: skip
        (a, p), (b, q) = (model.beside(pieces, place) for pieces, (_, place) in zip(shown, both, strict=True))
        reason = _undecided(model, a, b, p, q)
        why[reason] += 1
        right += [] if reason else [(int(p.argmax()) == int(q.argmax())) == gold]
    find_in = partial(find_record, records, dataset="wic", condition=split)
    assert min(why.values()) > 0
    for reason in ("out_of_vocabulary", "one_sense", "no_sense_preferred"):
        assert find_in(f"n_random(reason={reason})").value == why[reason]
    assert find_in("percent_right(of=decided)").value == pytest.approx(100 * sum(right) / len(right))
    expected = (sum(right) + (why.total() - len(right)) / 2) / why.total()
    assert find_in("expected_accuracy").value == pytest.approx(100 * expected)


def _undecided(model: Model, a: int | None, b: int | None, p: np.ndarray, q: np.ndarray) -> str:
    if a is None or b is None:
        return "out_of_vocabulary"
    if model.mask[a].sum() == 1:
        return "one_sense"
    tied = any(sorted(np.float32(shares))[-1] == sorted(np.float32(shares))[-2] for shares in (p, q))
    return "no_sense_preferred" if tied else ""


def test_the_senses_of_a_synset(published: Path, run: Run) -> None:
    """Figure 5: the mean probability of each sense over a synset's usages in SemCor, ranked, and the mean entropy."""
    model, records = run(published)
    usages = semcor(published, "bank", 1)
    table = np.array([model.beside(pieces, place)[1] for pieces, place in usages])
    found = [find_record(records, f"selection_share(rank={rank})") for rank in range(1, K + 1)]
    assert [record.value for record in found] == pytest.approx(sorted(table.mean(axis=0), reverse=True))
    assert {record.n for record in found} == {len(usages)}
    entropy = -sum(share * math.log(share) for row in table for share in row) / len(usages)
    assert find_record(records, "sentence_entropy").value == pytest.approx(entropy)


def test_words_are_cut_as_the_corpus_is() -> None:
    """The oracle's own rule, by hand."""
    pieces = ("1,200.5", "3-6", "don't", "'s", "A.D.", "x2", "fret-like", "-LRB-", ".")
    expected = ["<num>", "<num> <num>", "do n't", "'s", "a d", "x2", "fret like", "lrb", ""]
    assert [" ".join(words) for words in map(cut, pieces)] == expected
