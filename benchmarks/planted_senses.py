"""Quality of sense vectors at equal corpus: planted senses and SCWS, by variant, beside other people's libraries.

    pip install 'lexiscope[train]'
    LEXISCOPE_DATA=folder python benchmarks/planted_senses.py --work FOLDER --peers PYTHON

Pseudo-words of unambiguous nouns of WordNet are planted in the beginning of the shared corpus, every method learns that
text, and usages from the text behind it are judged. Each of --seeds is a draw of pseudo-words, none of whose words is
in another draw, and the seed of the trainings; draw 0 is for choosing settings, and not among the default ones.
Trainings in --work are not done again. --peers names an interpreter with gensim, scikit-learn and chinese-whispers, for
`sense_peers.py`: a skip-gram, ego networks and context groups.

*One to one*: a usage is right where its most probable sense is mapped to the word that stood there, each sense of a
pseudo-word to one of its two words and each word to one sense, at best for the usages themselves. One sense for all
reaches the share of the more frequent word, which is what the row of a skip-gram shows; it is the chance level.
*Purity* maps each sense to the word that is most frequent in it; more senses never do worse. *By neighbours* fits
nothing to the usages: a sense stands for the word to which the mean of its ten nearest words is nearer, in vectors of
the text before planting, and a usage is right where its most probable sense stands for the word that stood there
(chance .5). *Recovered*: for how many of the two words there is a sense, by purity and by neighbours. *Pruned* is after
the duplicates went, with the threshold that is drawn from the vectors themselves. Figures are means over pseudo-words
of all draws, intervals resample pseudo-words, *by seed* gives the mean of each draw.

*MaxSimC* and *AvgSimC* are 100 x Spearman's rho on the pairs of SCWS whose words are known, means over seeds; intervals
are the mean bounds of the seeds, each resampling target words.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402

from lexiscope.analysis.bootstrap import mean_interval  # noqa: E402
from lexiscope.analysis.senses.planted import (  # noqa: E402
    PlantedSelection,
    SenseRecovery,
    sense_recovery,
)
from lexiscope.analysis.senses.similarity import similarity_correlation  # noqa: E402
from lexiscope.build.planted.senses import PseudoWord, planted_usages, pseudo_words, unambiguous_nouns  # noqa: E402
from lexiscope.core import catalog  # noqa: E402
from lexiscope.core.errors import InputError  # noqa: E402
from lexiscope.core.result import Estimate  # noqa: E402
from lexiscope.core.usage import Usage  # noqa: E402
from lexiscope.resources.lexicons import wordnet  # noqa: E402
from lexiscope.resources.vectors.sense_vectors import SenseVectors, read_sense_vectors  # noqa: E402
from lexiscope.senses.similarity import avg_sim_c, max_sim_c  # noqa: E402
from lexiscope.subjects.senses.gasi import Gasi  # noqa: E402
from lexiscope.subjects.senses.sense_embedding import SenseEmbedding  # noqa: E402
from lexiscope.training.gasi.planted import selection_by_neighbours  # noqa: E402
from lexiscope.training.gasi.pruning import pruned_mask, pruning_threshold  # noqa: E402
from lexiscope.training.gasi.settings import VARIANTS, GasiSettings  # noqa: E402
from lexiscope.training.gasi.shards import Shards, make_shards, renamed_shards  # noqa: E402
from lexiscope.training.gasi.train import train_gasi  # noqa: E402
from lexiscope.training.gasi.vocabulary import VocabularyLimits  # noqa: E402
from sense_induction import corpus_lines  # noqa: E402

FRESH, PRUNED = "_fresh", ", pruned"
EACH = 50
#: the vectors of the text before planting, by which neighbours are read: the same for every setting
REFERENCE = GasiSettings(
    variant="skip_gram", senses=1, dimensions=100, epochs=3, learning_rate=0.05, shared_negatives=10
)
Subject = Gasi | SenseEmbedding
PEERS = Path(__file__).with_name("sense_peers.py")


@dataclass(frozen=True, slots=True)
class Draw:
    """A text with the pseudo-words of a seed, and usages of the text behind it."""

    seed: int
    shards: Shards
    words: tuple[PseudoWord, ...]
    usages: tuple[Usage, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """What a method made of one draw."""

    method: str
    senses: float
    selection: PlantedSelection
    recovery: SenseRecovery
    max_c: Estimate
    avg_c: Estimate


Measure = Callable[[Row], list[float]]
ONE_TO_ONE: Measure = lambda row: [word.accuracy for word in row.recovery.words]  # noqa: E731
PURITY: Measure = lambda row: [word.purity for word in row.recovery.words]  # noqa: E731
BY_NEIGHBOURS: Measure = lambda row: [word.accuracy for word in row.selection.words]  # noqa: E731


# -- the text -------------------------------------------------------------------------------------------------


def draws(given: argparse.Namespace) -> tuple[Shards, list[Draw]]:
    """Write the beginning of the corpus to --work as numbers, without and with the pseudo-words of each draw."""
    lines = corpus_lines(given.tokens + given.held_out)
    read, path = 0, given.work / "corpus.txt"
    given.work.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as stream:
        while read < given.tokens:
            words = next(lines)
            read += len(words)
            stream.write(" ".join(words) + "\n")
    behind = list(lines)
    plain = make_shards([path], given.work / "plain", limits=VocabularyLimits(10, 0), tokenisation="given")
    found = []
    for seed, drawn in enumerate(disjoint(plain, given.pairs, list(itertools.pairwise(given.bands)), max(given.seeds))):
        if seed in given.seeds:
            names = {word: each.name for each in drawn for word in (each.first, each.second)}
            planted = renamed_shards(plain, names, given.work / f"draw-{seed}" / "planted")
            found.append(Draw(seed, planted, drawn, planted_usages(behind, drawn, per_word=EACH, seed=seed)))
    return plain, found


def disjoint(plain: Shards, pairs: int, bands: list[tuple[int, int]], last: int) -> Iterator[tuple[PseudoWord, ...]]:
    """The pseudo-words of draw 0 to the last one: no word is in two of them."""
    counts = dict(zip(plain.vocabulary.words, plain.vocabulary.counts.tolist(), strict=True))
    lowest = min(low for low, _ in bands)
    nouns = unambiguous_nouns((word for word, count in counts.items() if count >= lowest), wordnet.load())
    for seed in range(last + 1):
        yield (drawn := pseudo_words(counts, pairs, bands=bands, kinds=nouns, seed=seed))
        taken = {word for each in drawn for word in (each.first, each.second)}
        nouns = {word: kind for word, kind in nouns.items() if word not in taken}


# -- the methods ----------------------------------------------------------------------------------------------


def settings_of(given: argparse.Namespace, variant: str, n_senses: int) -> GasiSettings:
    """How a variant is trained."""
    fresh = variant.endswith(FRESH)
    return GasiSettings(
        variant=variant.removesuffix(FRESH),
        senses=n_senses,
        dimensions=given.dimensions,
        epochs=given.epochs,
        learning_rate=given.learning_rate,
        shared_negatives=0 if fresh else given.shared_negatives,
        threads=given.threads,
    )


def trained(shards: Shards, folder: Path, how: GasiSettings, seed: int) -> Path:
    """Train, or find, the vectors of some settings; return their folder."""
    numbers = (how.senses, how.dimensions, how.epochs, f"{how.learning_rate:g}", how.shared_negatives)
    out = folder / "-".join(map(str, (how.variant, *numbers)))
    train_gasi(shards, out=out, settings=how, seed=seed)
    return out


def ours(given: argparse.Namespace, draw: Draw) -> Iterator[tuple[str, Subject]]:
    """Every variant with every number of senses, as it was trained and without duplicates."""
    folder = given.work / f"draw-{draw.seed}"
    for variant in given.variants:
        for n in [1] if variant == "skip_gram" else given.senses:
            how = settings_of(given, variant, n)
            subject = Gasi(str(trained(draw.shards, folder, how, draw.seed)))
            name = variant if n == 1 else f"{variant}, K = {n}"
            yield name, subject
            if n > 1:
                yield f"{name}{PRUNED}", without_duplicates(subject)


def without_duplicates(subject: Gasi) -> Gasi:
    """Return a subject with the senses that are left after pruning; the threshold is drawn from its vectors."""
    try:
        value = pruning_threshold(subject.vectors).value
    except InputError as error:
        print(f"{subject.name}: not pruned: {error.what}")
        return subject
    left = Gasi(subject.name)
    left.__dict__["vectors"] = replace(subject.vectors, mask=pruned_mask(subject.vectors, value))
    return left


def peers(given: argparse.Namespace, draw: Draw) -> Iterator[tuple[str, Subject]]:
    """Vectors of other libraries for the same text, brought through the importers."""
    folder = given.work / f"draw-{draw.seed}"
    out = folder / f"peers-{given.dimensions}-{given.epochs}-{given.learning_rate:g}"
    text, words = folder / "planted.txt", folder / "words.txt"
    names = draw.shards.vocabulary.words
    with text.open("w", encoding="utf-8") as stream:
        for part in draw.shards.parts:
            stream.write(" ".join("\n" if number < 0 else names[number] for number in part.tolist()))
    wanted = {each.name for each in draw.words} | {use.target.lower() for item in scws() for use in item.usages}
    words.write_text("\n".join(sorted(wanted)), encoding="utf-8")
    same = ("dimensions", "epochs", "learning_rate")
    how = [each for name in same for each in (f"--{name.replace('_', '-')}", getattr(given, name))]
    how += ["--seed", draw.seed, "--senses", *given.senses]
    subprocess.run(list(map(str, (given.peers, PEERS, text, words, out, *how))), check=True)
    yield "gensim, skip-gram", SenseEmbedding("ego_network_binary", str(out / "skip_gram.bin"))
    files = f"{out / 'ego_network.bin'},{out / 'ego_network.tsv'}"
    yield "gensim, ego networks", SenseEmbedding("ego_network_binary", files)
    for n in given.senses:
        yield f"gensim, {n} context groups", SenseEmbedding("mssg", str(out / f"context_groups_{n}.txt"))


# -- the measures ---------------------------------------------------------------------------------------------


def judged(method: str, subject: Subject, draw: Draw, reference: SenseVectors) -> Row:
    """Judge the choices of a subject by the neighbours of its senses, by the usages themselves, and on SCWS."""
    p = subject.sense_distribution(draw.usages)
    words, gold = ([str(getattr(each, name)) for each in draw.usages] for name in ("lemma", "sense"))
    meant = {each.name: (each.first, each.second) for each in draw.words}
    selection = selection_by_neighbours(subject.induced, draw.usages, p, meant, reference)
    senses = float(np.mean([len(subject.induced.of(each.name)) for each in draw.words]))
    return Row(method, senses, selection, sense_recovery(words, p.argmax(axis=1), gold), *in_context(subject))


def scws() -> tuple:
    """The items of SCWS."""
    return catalog.dataset("scws").items


def in_context(subject: Subject) -> tuple[Estimate, Estimate]:
    """Return the correlations of MaxSimC and AvgSimC with people's ratings on SCWS, over pairs that it knows."""
    responses = catalog.dataset("scws").responses
    names, values = responses.column("item_id"), responses.column("value")
    items = [item for item in scws() if all(subject.knows(usage) for usage in item.usages)]
    ratings = [float(np.mean(values[names == item.item_id])) for item in items]
    sides = [[item.usages[side] for item in items] for side in (0, 1)]
    given = [subject.senses_of(side)[0] for side in sides] + [subject.sense_distribution(side) for side in sides]
    words = [item.usages[0].target.lower() for item in items]
    return tuple(  # type: ignore[return-value]
        similarity_correlation(measure(*given), ratings, measure=name, groups=words)
        for name, measure in (("max_sim_c", max_sim_c), ("avg_sim_c", avg_sim_c))
    )


# -- what is printed ------------------------------------------------------------------------------------------


def pooled(rows: Sequence[Row], of: Measure) -> dict[str, object]:
    """The mean of a measure over the pseudo-words of all draws, its interval, and the mean of each draw."""
    return summary([of(row) for row in rows])


def summary(each: Sequence[Sequence[float]]) -> dict[str, object]:
    """The mean of numbers in groups, with an interval over the numbers, and the mean of each group."""
    values = list(itertools.chain.from_iterable(each))
    found = mean_interval(values)
    means = [float(np.mean(group)) for group in each]
    return {"value": float(np.mean(values)), "low": found.low, "high": found.high, "by_seed": means}


def shown(found: dict, form: str = ".3f") -> str:
    """A mean with its interval, and in the next cell the mean of each draw."""
    seeds = " ".join(f"{value:{form}}" for value in found["by_seed"])
    return f"{found['value']:{form}} [{found['low']:{form}}, {found['high']:{form}}] | {seeds}"


def tables(found: dict[str, list[Row]]) -> dict[str, dict[str, object]]:
    """Print what the methods came to; return it."""
    kept: dict[str, dict[str, object]] = {}
    columns = ("method", "senses", "one to one [95 %]", "by seed", "purity [95 %]", "by seed",
               "by neighbours [95 %]", "by seed", "recovered, by purity", "by neighbours")  # fmt: skip
    print(f"\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for name, rows in found.items():
        measures = {"one_to_one": ONE_TO_ONE, "purity": PURITY, "by_neighbours": BY_NEIGHBOURS}
        kept[name] = {key: pooled(rows, measure) for key, measure in measures.items()}
        senses = np.mean([row.senses for row in rows])
        recovered = [np.mean([getattr(row, kind).recovered for row in rows]) for kind in ("recovery", "selection")]
        kept[name] |= {"senses": senses, "recovered_by_purity": recovered[0], "recovered_by_neighbours": recovered[1]}
        cells = " | ".join(shown(kept[name][key]) for key in measures)  # type: ignore[arg-type]
        print(f"| {name} | {senses:.2f} | {cells} | {recovered[0]:.2f} | {recovered[1]:.2f} |", flush=True)
    print("\n| method | MaxSimC [95 %] | by seed | AvgSimC [95 %] | by seed | pairs |\n|---|---|---|---|---|---|")
    for name, rows in found.items():
        for key in ("max_c", "avg_c"):
            each = [getattr(row, key) for row in rows]
            ends = {part: float(np.mean([getattr(one.interval, part) for one in each])) for part in ("low", "high")}
            kept[name][key] = {
                "value": float(np.mean([one.value for one in each])),
                **ends,
                "by_seed": [one.value for one in each],
            }
        cells = " | ".join(shown(kept[name][key], ".1f") for key in ("max_c", "avg_c"))  # type: ignore[arg-type]
        print(f"| {name} | {cells} | {rows[0].avg_c.n} |", flush=True)
    return kept


def differences(found: dict[str, list[Row]]) -> dict[str, dict[str, object]]:
    """Print how much better GASI-β is than each other, over the same pseudo-words; return it."""
    print("\n| difference | one to one [95 %] | by seed | by neighbours [95 %] | by seed |\n|---|---|---|---|---|")
    kept: dict[str, dict[str, object]] = {}
    for one, other in compared(list(found)):
        name = f"{one} − {other}"
        pairs = list(zip(found[one], found[other], strict=True))
        kept[name] = {
            key: summary([[a - b for a, b in zip(of(x), of(y), strict=True)] for x, y in pairs])
            for key, of in (("one_to_one", ONE_TO_ONE), ("by_neighbours", BY_NEIGHBOURS))
        }
        print(f"| {name} | {' | '.join(shown(each, '+.3f') for each in kept[name].values())} |", flush=True)  # type: ignore[arg-type]
    return kept


def compared(names: list[str]) -> Iterator[tuple[str, str]]:
    """GASI-β and every other with as many senses and as pruned; and every peer with each GASI-β."""
    best = [name for name in names if name.startswith("gasi_beta,")]
    for one in best:
        _, _, how = one.partition(",")
        yield from ((one, other) for other in names if other.partition(",")[::2][1] == how and other != one)
        if not one.endswith(PRUNED):
            yield from ((one, other) for other in names if other == "skip_gram" or other.startswith("gensim"))


def main() -> None:
    """Train, judge and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=Path("planted-senses"), help="where text and vectors are kept")
    parser.add_argument("--peers", type=Path, help="an interpreter that has gensim, scikit-learn, chinese-whispers")
    for name, default in (("--tokens", 8_000_000), ("--held-out", 3_000_000), ("--pairs", 15), ("--dimensions", 100),
                          ("--epochs", 3), ("--shared-negatives", 10), ("--threads", 1)):  # fmt: skip
        parser.add_argument(name, type=int, default=default)
    parser.add_argument("--learning-rate", type=float, default=0.05)
    parser.add_argument("--bands", type=int, nargs="+", default=[100, 250, 5_000], help="limits of frequency")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="draws; 0 is for choosing settings")
    parser.add_argument("--senses", type=int, nargs="+", default=[3])
    parser.add_argument("--variants", nargs="+", choices=[*VARIANTS, f"gasi_beta{FRESH}"], default=list(VARIANTS))
    given = parser.parse_args()
    plain, drawn = draws(given)
    reference = read_sense_vectors(trained(plain, given.work, REFERENCE, 0))
    print(
        f"{plain.vocabulary.n_tokens:,} tokens, {len(plain.vocabulary.words):,} words; draws {given.seeds}, each ",
        end="",
    )
    print(
        f"{len(drawn[0].words)} pseudo-words in bands {given.bands}, {[len(one.usages) for one in drawn]} usages; ",
        end="",
    )
    print(settings_of(given, "gasi_beta", given.senses[0]), flush=True)
    found: dict[str, list[Row]] = {}
    for draw in drawn:
        for name, subject in itertools.chain(ours(given, draw), peers(given, draw) if given.peers else ()):
            found.setdefault(name, []).append(row := judged(name, subject, draw, reference))
            line = (
                f"{row.recovery.accuracy:.3f} {row.selection.accuracy:.3f} {row.max_c.value:.1f} {row.avg_c.value:.1f}"
            )
            print(f"draw {draw.seed}: {name}: {line}", flush=True)
    kept = {"methods": tables(found), "differences": differences(found)}
    (given.work / "quality.json").write_text(json.dumps(kept, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
