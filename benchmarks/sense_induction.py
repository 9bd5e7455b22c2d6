"""Training sense vectors: Lexiscope's kernel, the same objective in plain torch, and gensim's word2vec.

    pip install 'lexiscope[train]'
    LEXISCOPE_DATA=folder python benchmarks/sense_induction.py speed --gensim PYTHON --rounds 5
    LEXISCOPE_DATA=folder python benchmarks/sense_induction.py threads

*speed* trains on the same numbers of words everywhere: d = 300, window 5, 5 negatives, sub-sampling 1e-4, one thread.
Ours and torch learn three senses (GASI-β); gensim, in an environment of its own (--gensim), learns one vector for each
word, with the fixed window that ours has and with its default, a window of random width. *faithful* draws 5 negatives
for each pair of words, *shared* 10 for a window. Measured is the CPU time of the process for one pass, vocabulary and
compiling outside the clock, in interleaved rounds after a warm-up round; rates are corpus tokens before sub-sampling.
Torch gets a shorter text. *threads* measures wall time with one and two threads, and is of use on a quiet machine only.

The text of *speed* is the beginning of the shared corpus with its 14,000 most frequent words; the stream of 100,000
words is drawn at random from a Zipf distribution, line by line: the worst case for memory, as no word makes another
one likely.
"""

from __future__ import annotations

import argparse
import bz2
import itertools
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402

from lexiscope.core.errors import require  # noqa: E402
from lexiscope.training.gasi._engine import (  # noqa: E402
    CompiledEngine,
    TorchEngine,
    learn_batch,
    windows_of,
)
from lexiscope.training.gasi.settings import GasiSettings  # noqa: E402
from lexiscope.training.gasi.train import first_vectors  # noqa: E402
from lexiscope.training.gasi.vocabulary import Vocabulary  # noqa: E402

CORPUS = Path("corpus") / "english-wiki-books-50m.txt.bz2"
TEXT_WORDS, ZIPF_WORDS, LINE = 14_000, 100_000, 25
FAITHFUL = GasiSettings()
SHARED = replace(FAITHFUL, shared_negatives=10)
#: tokens a second of the paper on its GPU, as performance notes of the project give them
PAPER_RATE = 46_300
GENSIM = """
import json, sys, time
from gensim.models import Word2Vec
corpus, width, n_tokens = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
models = {}
for line in sys.stdin:
    shrink = json.loads(line)
    if shrink not in models:
        model = Word2Vec(vector_size=width, window=5, min_count=1, sample=1e-4, negative=5, sg=1, workers=1,
                         shrink_windows=shrink, seed=1)
        model.build_vocab(corpus_file=corpus)
        models[shrink] = model
    model = models[shrink]
    start = time.process_time()
    model.train(corpus_file=corpus, total_examples=model.corpus_count, total_words=n_tokens, epochs=1)
    print(json.dumps(time.process_time() - start), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Stream:
    """A text as numbers, -1 at the end of a line."""

    name: str
    tokens: np.ndarray
    vocabulary: Vocabulary

    @property
    def n_tokens(self) -> int:
        return int((self.tokens >= 0).sum())

    def part(self, n: int) -> Stream:
        """Return its beginning, with the frequencies of the whole."""
        return replace(self, tokens=self.tokens[:n])

    def write(self, path: Path) -> None:
        """Write it for other programs."""
        lines = np.split(self.tokens, np.flatnonzero(self.tokens < 0) + 1)
        path.write_text(
            "".join(" ".join(f"w{word}" for word in line if word >= 0) + "\n" for line in lines if len(line) > 1)
        )


def corpus_lines(n_tokens: int) -> Iterator[list[str]]:
    """The first lines of the shared corpus, about so many tokens."""
    read = 0
    with bz2.open(Path(os.environ["LEXISCOPE_DATA"]) / CORPUS, "rt", encoding="utf-8") as stream:
        for line in stream:
            yield (words := line.split())
            read += len(words)
            if read >= n_tokens:
                return


def text(n_tokens: int) -> Stream:
    """The beginning of the corpus with its most frequent words."""
    lines = list(corpus_lines(n_tokens))
    kept = Counter(itertools.chain.from_iterable(lines)).most_common(TEXT_WORDS)
    index = {word: number for number, (word, _) in enumerate(kept)}
    numbers = [[index[word] for word in line if word in index] + [-1] for line in lines]
    tokens = np.array(list(itertools.chain.from_iterable(numbers)), np.int32)
    counts = np.array([count for _, count in kept])
    return Stream("text", tokens, Vocabulary(tuple(index), counts, int(counts.sum())))


def zipf(n_tokens: int) -> Stream:
    """Words drawn by rank: the k-th has a share of 1/(k + 2.7)."""
    shares = 1.0 / (np.arange(ZIPF_WORDS) + 2.7)
    drawn = np.random.default_rng(0).choice(ZIPF_WORDS, size=n_tokens, p=shares / shares.sum()).astype(np.int32)
    drawn[LINE::LINE] = -1
    counts = np.maximum(np.bincount(drawn[drawn >= 0], minlength=ZIPF_WORDS), 1)
    return Stream("Zipf", drawn, Vocabulary(tuple(f"w{k}" for k in range(ZIPF_WORDS)), counts, int(counts.sum())))


# -- the methods ----------------------------------------------------------------------------------------------


def compiled(stream: Stream, how: GasiSettings, threads: int = 1) -> Callable[[], None]:
    """Return one pass of the kernel over a stream."""
    words = stream.vocabulary.words
    mask = np.ones((len(words), how.n_senses), np.bool_)
    engine = CompiledEngine(how, stream.vocabulary, first_vectors(len(words), how, 0), mask)
    chunks = [stream.tokens[k : k + how.chunk_tokens] for k in range(0, len(stream.tokens), how.chunk_tokens)]

    def run() -> None:
        if threads == 1:
            for number, chunk in enumerate(chunks):
                engine.learn(chunk, (0.01, 0.01), number)
            return
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda pair: engine.learn(pair[1], (0.01, 0.01), pair[0]), enumerate(chunks)))

    return run


def in_torch(stream: Stream) -> Callable[[], None]:
    """Return one pass of the reference with autograd, in batches of 512, without the figures that a training logs."""
    words, how = stream.vocabulary.words, replace(FAITHFUL, backend="torch")
    torch = require("torch", "train")
    torch.set_num_threads(1)
    mask = np.ones((len(words), how.n_senses), np.bool_)
    engine = TorchEngine(how, stream.vocabulary, first_vectors(len(words), how, 0), mask)

    def run() -> None:
        rng = np.random.default_rng(0)
        tokens = stream.tokens
        kept = tokens[(tokens < 0) | (rng.random(len(tokens)) < engine.keep[tokens])]
        centres, context = windows_of(kept, how.window)
        for k in range(0, len(centres), how.batch):
            batch = engine._batch(centres[k : k + how.batch], context[k : k + how.batch], rng)
            learn_batch(engine._vectors, engine.mask, batch, rate=0.01, sharpness=how.sharpness)

    return run


class Gensim:
    """gensim's word2vec in another interpreter, which waits for its rounds."""

    def __init__(self, python: Path, stream: Stream, folder: Path) -> None:
        path = folder / f"{stream.name}.txt"
        stream.write(path)
        command = [str(python), "-c", GENSIM, str(path), str(FAITHFUL.dimensions), str(stream.n_tokens)]
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, *, shrink: bool) -> float:
        """Train one pass; return its CPU seconds."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.child.stdin.write(json.dumps(shrink) + "\n")
        self.child.stdin.flush()
        return float(self.child.stdout.readline())

    def close(self) -> None:
        """End the interpreter."""
        assert self.child.stdin is not None
        self.child.stdin.close()
        self.child.wait()


def clocked(run: Callable[[], None], clock: Callable[[], float] = time.process_time) -> float:
    """Return the seconds of a run."""
    start = clock()
    run()
    return clock() - start


# -- what is printed ------------------------------------------------------------------------------------------


def interleaved(methods: dict[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each method in each round; a first round warms up and is not counted."""
    found: dict[str, list[float]] = {name: [] for name in methods}
    for number in range(rounds + 1):
        for name, method in methods.items():
            seconds = method()
            if number:
                found[name].append(seconds)
    return found


def speed(stream: Stream, torch_tokens: int, rounds: int, gensim: Path | None) -> None:
    """Print the rates of all methods on one stream, and their ratios."""
    short = stream.part(torch_tokens)
    methods: dict[str, Callable[[], float]] = {
        "plain torch": partial(clocked, in_torch(short)),
        "lexiscope, faithful": partial(clocked, compiled(stream, FAITHFUL)),
        "lexiscope, shared": partial(clocked, compiled(stream, SHARED)),
    }
    with tempfile.TemporaryDirectory() as folder:
        peer = Gensim(gensim, stream, Path(folder)) if gensim else None
        if peer is not None:
            methods["gensim, fixed window"] = partial(peer.seconds, shrink=False)
            methods["gensim, its default window"] = partial(peer.seconds, shrink=True)
        found = interleaved(methods, rounds)
        if peer is not None:
            peer.close()
    sizes = {name: short.n_tokens if name == "plain torch" else stream.n_tokens for name in methods}
    rates = {name: [sizes[name] / each for each in seconds] for name, seconds in found.items()}
    print(f"\n{stream.name}: {stream.n_tokens:,} tokens, {len(stream.vocabulary.words):,} words, {rounds} rounds\n")
    print("| method | tokens/s, median | best | × plain torch | × gensim, fixed window | × the paper's GPU |")
    print("|---|---|---|---|---|---|")
    for name, each in rates.items():
        others = (rates["plain torch"], rates.get("gensim, fixed window"))
        ratios = [
            f"{statistics.median(a / b for a, b in zip(each, other, strict=True)):.2f}" if other else ""
            for other in others
        ]
        middle = statistics.median(each)
        print(
            f"| {name} | {middle:,.0f} | {max(each):,.0f} | {' | '.join(ratios)} | {middle / PAPER_RATE:.2f} |",
            flush=True,
        )


def threads(stream: Stream, rounds: int) -> None:
    """Print wall time with one and two threads."""
    print(f"\n{stream.name}: {stream.n_tokens:,} tokens, {len(stream.vocabulary.words):,} words; wall time\n")
    print("| method | 1 thread, tokens/s | 2 threads, tokens/s | ratio |\n|---|---|---|---|")
    for name, how in (("faithful", FAITHFUL), ("shared", SHARED)):
        methods = {str(n): partial(clocked, compiled(stream, how, n), time.monotonic) for n in (1, 2)}
        found = interleaved(methods, rounds)
        ratio = statistics.median(a / b for a, b in zip(found["1"], found["2"], strict=True))
        rates = [stream.n_tokens / statistics.median(found[n]) for n in ("1", "2")]
        print(f"| {name} | {rates[0]:,.0f} | {rates[1]:,.0f} | {ratio:.2f} |", flush=True)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("speed", "threads"))
    parser.add_argument("--gensim", type=Path, help="an interpreter that has gensim")
    parser.add_argument("--tokens", type=int, default=400_000)
    parser.add_argument("--torch-tokens", type=int, default=40_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--streams", nargs="+", choices=("text", "zipf"), default=["text", "zipf"])
    given = parser.parse_args()
    made = {"text": text, "zipf": zipf}
    for name in given.streams:
        stream = made[name](given.tokens)
        if given.what == "speed":
            speed(stream, given.torch_tokens, given.rounds, given.gensim)
        else:
            threads(stream, given.rounds)


if __name__ == "__main__":
    main()
