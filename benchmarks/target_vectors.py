"""Target vectors at all layers: Lexiscope against minicons, one sentence at a time, and the pure forward pass.

    pip install 'lexiscope[demo]' minicons==0.3.39        (in an environment of its own)
    LEXISCOPE_DATA=folder python benchmarks/target_vectors.py pairs wsd --sample 200

Workloads: ``pairs`` = RAW-C, 672 pairs, 1,344 usages in 448 sentences (few targets per sentence); ``wsd`` = the
unified evaluation set ALL, many targets per sentence, every target paired with the next one. Each method gets a
loaded model and the same list of usages, and returns vectors at all layers. Measured is the CPU time of the process
on one thread, in interleaved rounds after a warm-up; the table gives medians and minima, and ratios of medians.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
import warnings
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from importlib import metadata
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402

from lexiscope.core import catalog  # noqa: E402
from lexiscope.core.usage import Usage  # noqa: E402
from lexiscope.subjects.local.encoder import Encoder  # noqa: E402
from lexiscope.tasks.kit.distances import cosine_distances  # noqa: E402

Method = Callable[[], np.ndarray]
TOKENS = 1024


def rawc() -> list[Usage]:
    """The 672 pairs of RAW-C as a stream of usages, first and second sentence in turn."""
    return [usage for item in catalog.dataset("raw_c").items for usage in item.usages]


def wsd(folder: Path, *, sample: int | None) -> list[Usage]:
    """The targets of the sentences of ALL, each followed by the next target: a stream of pairs."""
    tree = ElementTree.parse(folder / "wsd_eval" / "ALL" / "ALL.data.xml")
    sentences = [sentence for sentence in tree.iter("sentence") if sentence.find("instance") is not None]
    if sample is not None:
        sentences = [sentences[n] for n in np.random.default_rng(1).permutation(len(sentences))[:sample]]
    targets = [usage for sentence in sentences for usage in _targets(sentence)]
    return [usage for pair in zip(targets, targets[1:] + targets[:1], strict=True) for usage in pair]


def _targets(sentence: ElementTree.Element) -> list[Usage]:
    text, spans = "", []
    for word in sentence:
        start = len(text) + bool(text)
        text = f"{text} {word.text}" if text else str(word.text)
        if word.tag == "instance":
            spans.append((start, len(text)))
    return [Usage(text, *span) for span in spans]


# -- the methods --------------------------------------------------------------------------------------------------


def one_by_one(folder: str, usages: Sequence[Usage]) -> np.ndarray:
    """Every usage of the stream on its own, all layers from output_hidden_states: the reference."""
    tokenizer, model = TOKENIZERS[folder], MODELS[folder]
    found = []
    with torch.inference_mode():
        for usage in usages:
            encoded = tokenizer(usage.text, return_tensors="pt", return_offsets_mapping=True)
            offsets = encoded.pop("offset_mapping")[0].tolist()
            inside = [n for n, (a, b) in enumerate(offsets) if a < usage.end and b > usage.start]
            states = model(**encoded, output_hidden_states=True).hidden_states
            found.append(torch.stack([state[0, inside].mean(dim=0) for state in states]))
    return torch.stack(found).numpy()


def with_minicons(cwe: object, usages: Sequence[Usage], *, batch: int) -> np.ndarray:
    """The stream in batches through CWE.extract_representation, given character spans."""
    parts = []
    with torch.inference_mode():
        for start in range(0, len(usages), batch):
            chunk = [(usage.text, (usage.start, usage.end)) for usage in usages[start : start + batch]]
            parts.append(torch.stack(cwe.extract_representation(chunk, layer="all"), dim=1))  # type: ignore[attr-defined]
    return torch.cat(parts).numpy()


def pure_forward(folder: str, usages: Sequence[Usage]) -> Method:
    """As many tokens as the distinct sentences have, in rectangular batches of their mean length; nothing is kept."""
    lengths = _lengths(folder, usages)
    length = round(statistics.mean(lengths))
    return _run_batches(folder, _random_ids(round(sum(lengths) / length), length).split(max(1, TOKENS // length)))


def pure_forward_equal(folder: str, usages: Sequence[Usage]) -> Method:
    """Sentences of the distinct sentences' own lengths, in batches of equal length without padding; nothing is kept."""
    batches: list[torch.Tensor] = []
    for length, count in sorted(Counter(_lengths(folder, usages)).items()):
        batches += _random_ids(count, length).split(max(1, TOKENS // length))
    return _run_batches(folder, batches)


def _lengths(folder: str, usages: Sequence[Usage]) -> list[int]:
    return [len(ids) for ids in TOKENIZERS[folder](sorted({usage.text for usage in usages}))["input_ids"]]


def _random_ids(rows: int, length: int) -> torch.Tensor:
    return torch.randint(1000, 20_000, (rows, length), generator=torch.Generator().manual_seed(1))


def _run_batches(folder: str, batches: Sequence[torch.Tensor]) -> Method:
    def run() -> np.ndarray:
        with torch.inference_mode():
            for batch in batches:
                MODELS[folder](input_ids=batch)
        return np.empty(0)

    return run


MODELS: dict[str, torch.nn.Module] = {}
TOKENIZERS: dict[str, transformers.PreTrainedTokenizerBase] = {}


def methods(spec: str, usages: Sequence[Usage]) -> dict[str, Method]:
    """Every method by name, its model loaded."""
    encoder = Encoder(spec)
    folder = str(encoder.folder.path)
    TOKENIZERS[folder] = transformers.AutoTokenizer.from_pretrained(folder)
    # what is laid over the last layer for whole sentences is no part of a pass that ends in vectors of tokens
    MODELS[folder] = transformers.AutoModel.from_pretrained(folder, add_pooling_layer=False).eval()
    made: dict[str, Method] = {
        "pure forward": pure_forward(folder, usages),
        "pure forward, own lengths": pure_forward_equal(folder, usages),
        "lexiscope": partial(encoder.embed, usages),
        # what the relatedness task asks for: its pairs point into the vectors of the distinct usages
        "lexiscope, distinct usages": partial(encoder.embed, list(dict.fromkeys(usages))),
    }
    try:
        from minicons import cwe
    except ModuleNotFoundError:
        print("minicons is not installed: its rows are left out", file=sys.stderr)
    else:
        peer = cwe.CWE(folder)
        made |= {f"minicons {n}": partial(with_minicons, peer, usages, batch=n) for n in (8, 32)}
        distinct = list(dict.fromkeys(usages))
        made["minicons 32, distinct usages"] = partial(with_minicons, peer, distinct, batch=32)
    return made | {"one by one": partial(one_by_one, folder, usages)}


# -- measuring ----------------------------------------------------------------------------------------------------


def measure(made: dict[str, Method], *, rounds: int) -> dict[str, list[float]]:
    """CPU seconds of every method in every round; the order of the methods turns from round to round."""
    seconds: dict[str, list[float]] = {name: [] for name in made}
    names = list(made)
    for number in range(rounds + 1):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            begun = time.process_time()
            made[name]()
            if number:
                seconds[name].append(time.process_time() - begun)
    return seconds


def differences(made: dict[str, Method], usages: Sequence[Usage]) -> dict[str, tuple[float, float]]:
    """Max |Δ cosine distance| of the pairs at any layer against one by one: over all pairs, and where no
    sentence holds its target's letters twice."""
    reference = made["one by one"]()
    left = np.arange(0, len(usages), 2)
    expected = cosine_distances(reference, left, left + 1)
    twice = np.array([usage.text.lower().count(usage.target.lower()) > 1 for usage in usages])
    plain = ~(twice[left] | twice[left + 1])
    found = {}
    for name, method in made.items():
        vectors = method()
        if len(vectors) == len(usages):
            delta = np.abs(cosine_distances(vectors, left, left + 1) - expected).max(axis=1)
            found[name] = float(delta.max()), float(delta[plain].max())
    return found


def report(seconds: dict[str, list[float]], deltas: dict[str, tuple[float, float]]) -> None:
    """Print one row per method."""
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    base = [
        statistics.median(a / b for a, b in zip(seconds[name], seconds["pure forward"], strict=True))
        for name in seconds
    ]
    print("| method | median s | min s | × pure forward | × lexiscope | max Δcos | max Δcos, target once |")
    print("|---|---|---|---|---|---|---|")
    for (name, values), over_pure in zip(seconds.items(), base, strict=True):
        cells = [f"{delta:.1e}" for delta in deltas.get(name, ())] or ["", ""]
        ratio = medians[name] / medians["lexiscope"]
        numbers = [f"{medians[name]:.3f}", f"{min(values):.3f}", f"{over_pure:.2f}", f"{ratio:.2f}"]
        print(f"| {' | '.join([name, *numbers, *cells])} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workloads", nargs="+", choices=("pairs", "wsd"))
    parser.add_argument("--model", default="minilm", help="what stands behind encoder: (default: minilm)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sample", type=int, help="use this many sentences of wsd (default: all)")
    parser.add_argument(
        "--methods", nargs="+", help="measure only these (pure forward and lexiscope must be among them)"
    )
    parser.add_argument("--json", type=Path, help="write the seconds and differences here")
    given = parser.parse_args()
    if "LEXISCOPE_DATA" not in os.environ:
        parser.error("LEXISCOPE_DATA must name the folder of the data")
    data = Path(os.environ["LEXISCOPE_DATA"])
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    transformers.utils.logging.set_verbosity_error()
    written = {}
    for workload in given.workloads:
        usages = rawc() if workload == "pairs" else wsd(data, sample=given.sample)
        made = methods(given.model, usages)
        made = {name: made[name] for name in given.methods or made}
        distinct, texts = len(set(usages)), len({usage.text for usage in usages})
        print(f"\n{workload}: {len(usages)} usages, {distinct} distinct, {texts} sentences, {given.model}")
        deltas = differences(made, usages) if "one by one" in made else {}
        seconds = measure(made, rounds=given.rounds)
        report(seconds, deltas)
        written[workload] = {"seconds": seconds, "differences": deltas}
    if given.json is not None:
        versions = {name: metadata.version(name) for name in ("lexiscope", "torch", "transformers")}
        given.json.write_text(json.dumps({"versions": versions, "workloads": written}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
