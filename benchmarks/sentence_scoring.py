"""Log-probabilities of the synonymy suites: Lexiscope against minicons, lm-evaluation-harness, one by one, the limit.

    pip install 'lexiscope[models]' minicons==0.3.39 lm-eval==0.4.13        (in an environment of its own)
    LEXISCOPE_DATA=folder python benchmarks/sentence_scoring.py gpt2 tiny --sample 3

Sentences: the eight suite files of the study, 96 sentences for each of 200 items; ``--sample N`` takes N items evenly.
``--source wsd`` makes suites of the same shape from sentences of 10 to 35 words of the WSD evaluation sets.
``--source goals`` takes three of those items that are like the bench on which the goals were set, where 4,900 tokens of
288 sentences were scored and 583 must be read: of all threes in the order of the draw, the one nearest to both counts.
Models: ``gpt2`` = a model of GPT-2 small's shape with random weights (initialised at .06) and a byte-level BPE of
32,000 trained on SemCor, both made here; ``tiny`` = tiny-causal-en; anything else is a folder. All methods use one
loaded model object, put the beginning-of-sequence token before a text and score all its tokens. Measured is the CPU
time of the process on one thread, tokenising included, in interleaved rounds after a warm-up; the table gives medians
and minima.

*Pure forward* reads as many tokens as the prefix tree has distinct ones that another token follows, in causal rows of
512 tokens without a mask, and projects each of them on the vocabulary; token ids are prepared outside the clock and
nothing is made of the logits. ``--parts`` measures on the same number of tokens what lean kernels replace and what they
do instead (models of GPT-2's kind), and the matrix products alone, which every method needs.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import random
import statistics
import sys
import tempfile
import time
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib import metadata
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np  # noqa: E402
import tokenizers  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402

from lexiscope.core.scoring import PRESETS  # noqa: E402
from lexiscope.datasets.synonymy import collection  # noqa: E402
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem, suite_lines  # noqa: E402
from lexiscope.items.choice_sets.templates import synonymy_templates  # noqa: E402
from lexiscope.resources.corpora.unified_wsd import UnifiedCorpus  # noqa: E402
from lexiscope.subjects._scoring_options import CausalOptions  # noqa: E402
from lexiscope.subjects.local._causal_forward import (  # noqa: E402
    attend,
    attending_in_blocks,
    log_probabilities,
    tanh_gelu,
    tree_row,
)
from lexiscope.subjects.local._score_units import tree_plan  # noqa: E402
from lexiscope.subjects.local.causal_lm import CausalLM  # noqa: E402

Method = Callable[[], np.ndarray]
BOS = "<|endoftext|>"
ROW = 512
PROJECTED = 176
# tokens scored, and tokens that must be read, on the bench of the goals
OF_GOALS = (4_900, 583)


def wsd_items(data: Path) -> tuple[SynonymItem, ...]:
    """Items of the same shape from the evaluation sets of word sense disambiguation.

    Contexts are sentences of 10 to 35 words, each with one of its tagged nouns as the target, drawn once; the
    twelve words are nouns of the other sentences. They say nothing about synonymy.
    """
    folder = data / "wsd_eval" / "ALL"
    corpus = UnifiedCorpus(folder / "ALL.data.xml", folder / "ALL.gold.key.txt")
    found, nouns, draw = [], dict.fromkeys([""]), random.Random(1)
    for sentence in corpus.sentences():
        tagged = [n for n, token in enumerate(sentence.tokens) if token.pos == "NOUN" and token.sense_keys]
        single = [n for n in tagged if sentence.tokens[n].form.isalpha() and sentence.tokens[n].form.islower()]
        nouns |= dict.fromkeys(sentence.tokens[n].form for n in single)
        if single and 10 <= len(sentence.tokens) <= 35:
            found.append(([token.form for token in sentence.tokens], draw.choice(single)))
    draw.shuffle(found)
    made = []
    for number, (tokens, place) in enumerate(found[:200], start=1):
        words = draw.sample([noun for noun in nouns if noun and noun != tokens[place]], 12)
        item = SynonymItem.from_tokens(str(number), tokens, place, synonym=words[0], distractor=words[1])
        made.append(replace(item, number=number, random_nouns=tuple(words[2:])))
    return tuple(made)


def sentences(*, source: str, data: Path, sample: int | None, folder: Path) -> list[str]:
    """The sentences of the eight suites, item by item; *folder* is that of the model whose tokens are counted."""
    if source == "goals":
        items = wsd_items(data)
        threes = [texts_of(items[n : n + 3]) for n in range(0, len(items) - 2, 3)]
        reader = subject_of(folder)
        return min(threes, key=lambda texts: far_from_goals(reader, texts))
    items = collection() if source == "released" else wsd_items(data)
    if sample is not None:
        items = tuple(items[n] for n in np.linspace(0, len(items) - 1, sample).astype(int))
    return texts_of(items)


def subject_of(folder: Path, route: str = "auto") -> CausalLM:
    """The model of a folder as it is measured here."""
    return CausalLM(str(folder), options=CausalOptions(policy=PRESETS["bos"], route=route, threads=1))


def texts_of(items: Sequence[SynonymItem]) -> list[str]:
    """The sentences of items in the published mode, 96 each."""
    return [
        line.text
        for item in items
        for template in synonymy_templates()
        for line in suite_lines([item], template, mode="published")
    ]


# -- models -------------------------------------------------------------------------------------------------------


def save_gpt2(folder: Path, data: Path) -> Path:
    """Save a model of GPT-2 small's shape with random weights, and a tokenizer trained on SemCor."""
    if (folder / "model.safetensors").is_file():
        return folder
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=32_000,
        special_tokens=[BOS],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_semcor(data), trainer)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=BOS, eos_token=BOS, pad_token=BOS, model_max_length=1_024
    )
    fast.save_pretrained(folder)
    torch.manual_seed(1)
    config = transformers.GPT2Config(initializer_range=0.06, bos_token_id=0, eos_token_id=0)
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def _semcor(data: Path) -> Iterator[str]:
    with gzip.open(data / "semcor" / "semcor.data.xml.gz") as stream:
        for _, element in ElementTree.iterparse(stream):
            if element.tag == "sentence":
                yield " ".join(str(word.text) for word in element)
                element.clear()


def folder_of(name: str, data: Path, made: Path) -> Path:
    """The folder of a model by its name in this script, or the folder itself."""
    if name == "gpt2":
        return save_gpt2(made / "gpt2", data)
    return data.parent / "models" / "tiny-causal-en" if name == "tiny" else Path(name)


# -- the methods --------------------------------------------------------------------------------------------------


def with_lexiscope(subject: CausalLM, texts: Sequence[str]) -> np.ndarray:
    """The sum of the log-probabilities of every text, by one route."""
    return np.array([scores.log_probabilities.sum() for scores in subject.score(texts)])


def one_by_one(subject: CausalLM, tokenizer: transformers.PreTrainedTokenizerBase, texts: Sequence[str]) -> np.ndarray:
    """Every text of the stream on its own: the reference."""
    model, found = subject.forward.model, []
    with torch.inference_mode():
        for text in texts:
            ids = torch.tensor([[tokenizer.bos_token_id, *tokenizer(text, add_special_tokens=False)["input_ids"]]])
            scores = torch.log_softmax(model(ids, use_cache=False).logits[0, :-1], dim=-1)
            found.append(scores.gather(1, ids[0, 1:, None]).double().sum().item())
    return np.array(found)


def counts(subject: CausalLM, texts: Sequence[str]) -> tuple[int, int]:
    """How many tokens are scored, and how many different ones must be read."""
    before = subject._before
    read = subject._read(texts)
    plan = tree_plan([(*before, *text.ids) for text in subject._read(sorted(set(texts)))], budget=ROW, longest=4_096)
    return sum(len(text.ids) for text in read), plan.read - plan.repeated


def far_from_goals(subject: CausalLM, texts: Sequence[str]) -> float:
    """How far texts are from the bench of the goals: the sum of both logarithmic distances."""
    return sum(abs(math.log(found / asked)) for found, asked in zip(counts(subject, texts), OF_GOALS, strict=True))


def sharing(subject: CausalLM, texts: Sequence[str]) -> str:
    """How many times fewer tokens must be read than are scored: what sharing alone can gain."""
    scored, distinct = counts(subject, texts)
    return (
        f"{len(texts):,} sentences, {scored:,} tokens, {distinct:,} must be read: {scored / distinct:.1f} times fewer"
    )


def pure_forward(subject: CausalLM, texts: Sequence[str]) -> Method:
    """The distinct tokens that must be read, in full causal rows, each projected on the vocabulary; nothing is kept."""
    n_tokens = counts(subject, texts)[1]
    model, head = subject.forward.model, subject.forward.model.get_output_embeddings()
    ids = torch.randint(10, 8_000, (n_tokens,), generator=torch.Generator().manual_seed(1))

    def run() -> np.ndarray:
        with torch.inference_mode():
            for row in ids.split(ROW):
                hidden = model.base_model(input_ids=row[None], use_cache=False)[0][0]
                for chunk in hidden.split(PROJECTED):
                    head(chunk)
        return np.empty(0)

    return run


def with_minicons(peer: object, texts: Sequence[str], *, batch: int) -> np.ndarray:
    """The stream in batches through IncrementalLMScorer.sequence_score."""
    found: list[float] = []
    with torch.inference_mode():
        for start in range(0, len(texts), batch):
            chunk = list(texts[start : start + batch])
            found += peer.sequence_score(chunk, reduction=lambda x: x.double().sum(0).item(), bos_token=True)  # type: ignore[attr-defined]
    return np.array(found)


def with_harness(peer: object, texts: Sequence[str]) -> np.ndarray:
    """The stream as requests of the type loglikelihood with an empty context."""
    from lm_eval.api.instance import Instance

    requests = [
        Instance(request_type="loglikelihood", doc={}, arguments=("", text), idx=number)
        for number, text in enumerate(texts)
    ]
    return np.array([score for score, _ in peer.loglikelihood(requests, disable_tqdm=True)])  # type: ignore[attr-defined]


def methods(folder: Path, texts: Sequence[str]) -> tuple[dict[str, Method], CausalLM]:
    """Every method by name, all on one loaded model."""
    tree, batched = subject_of(folder, "tree"), subject_of(folder, "batched")
    tree._route_check  # noqa: B018
    batched.__dict__["forward"] = tree.forward
    batched._route_check  # noqa: B018
    model, tokenizer = tree.forward.model, transformers.AutoTokenizer.from_pretrained(folder)
    made: dict[str, Method] = {
        "pure forward": pure_forward(tree, texts),
        "lexiscope tree": partial(with_lexiscope, tree, texts),
        "lexiscope batched": partial(with_lexiscope, batched, texts),
    }
    try:
        from minicons import scorer

        peer = scorer.IncrementalLMScorer(model, "cpu", tokenizer=transformers.AutoTokenizer.from_pretrained(folder))
        made |= {f"minicons {n}": partial(with_minicons, peer, texts, batch=n) for n in (8, 32)}
    except ModuleNotFoundError as error:
        print(f"minicons is left out: {error}", file=sys.stderr)
    try:
        from lm_eval.models.huggingface import HFLM

        for n in (8, 32):
            harness = HFLM(pretrained=model, tokenizer=tokenizer, batch_size=n, device="cpu", add_bos_token=False)
            made[f"lm-eval {n}"] = partial(with_harness, harness, texts)
    except ModuleNotFoundError as error:
        print(f"lm-evaluation-harness is left out: {error}", file=sys.stderr)
    made["one by one"] = partial(one_by_one, tree, tokenizer, texts)
    return made, tree


# -- parts --------------------------------------------------------------------------------------------------------


def parts(subject: CausalLM, texts: Sequence[str]) -> dict[str, Method]:
    """What is done once in all layers, as transformers does it and lean, on as many rows as the texts have nodes."""
    forward, before = subject.forward, subject._before
    read = subject._read(sorted(set(texts)))
    unit = tree_plan([(*before, *text.ids) for text in read], budget=2_048, longest=4_096).units[0]
    blocks, head, n = forward.model.transformer.h, forward.model.get_output_embeddings(), len(unit.rows[0])
    layers = [
        each for block in blocks for each in (block.attn.c_attn, block.attn.c_proj, block.mlp.c_fc, block.mlp.c_proj)
    ]
    hidden, inner = torch.randn(n, head.weight.shape[1]), torch.randn(n, blocks[0].mlp.c_fc.weight.shape[1])
    heads, size = forward.model.config.n_head, hidden.shape[1] // forward.model.config.n_head
    split = [torch.randn(1, heads, n, size) for _ in range(3)]
    row, mask = tree_row(unit.ends, device="cpu", dtype=torch.float32), forward._mask(unit)["attention_mask"]
    act, rows, targets = blocks[0].mlp.act, torch.arange(n), torch.randint(0, 8_000, (n,))

    def products() -> None:
        for each in layers:
            torch.mm(inner if each.weight.shape[0] == inner.shape[1] else hidden, each.weight)

    def projection() -> None:
        for each in head.weight.split(2_048):
            torch.mm(hidden, each.t())

    def in_chunks() -> None:
        for chunk in hidden.split(PROJECTED):
            for near in head(chunk).split(5):
                torch.logsumexp(near, dim=-1)

    def in_tree_blocks() -> None:
        with attending_in_blocks(forward.model, row) as hides_nothing:
            for _ in blocks:
                attend(None, *split, hides_nothing)

    def attention() -> None:
        for _ in blocks:
            torch.nn.functional.scaled_dot_product_attention(*split, attn_mask=mask)

    made: dict[str, Callable[[], object]] = {
        "matrix products of the layers": products,
        "matrix products of the projection": projection,
        "activation, transformers": lambda: [act(inner) for _ in blocks],
        "activation, lean": lambda: [tanh_gelu(inner.clone()) for _ in blocks],
        "attention, whole row with a mask": attention,
        "attention, in blocks": in_tree_blocks,
        "projection and its sums, 176 rows": in_chunks,
        "projection and its sums, in pieces": lambda: log_probabilities(
            hidden, head, rows, targets, scaling=lambda logits: logits
        ),
    }
    print(f"{n} rows, {len(blocks)} layers, {len(head.weight)} outputs")
    return {name: partial(_without_result, run) for name, run in made.items()}


def _without_result(run: Callable[[], object]) -> np.ndarray:
    with torch.inference_mode():
        run()
    return np.empty(0)


# -- measuring ----------------------------------------------------------------------------------------------------


def measure(made: dict[str, Method], *, rounds: int) -> tuple[dict[str, list[float]], dict[str, np.ndarray]]:
    """CPU seconds of every method in every round, the order turning; and the sums of the warm-up round."""
    seconds: dict[str, list[float]] = {name: [] for name in made}
    sums: dict[str, np.ndarray] = {}
    names = list(made)
    for number in range(rounds + 1):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            begun = time.process_time()
            result = made[name]()
            if number:
                seconds[name].append(time.process_time() - begun)
            else:
                sums[name] = result
    return seconds, sums


def report(seconds: dict[str, list[float]], sums: dict[str, np.ndarray]) -> None:
    """Print one row per method."""
    reference = sums.get("one by one", sums["lexiscope tree"])
    print("| method | median s | min s | × pure forward | × lexiscope tree | max Δ sum log p |")
    print("|---|---|---|---|---|---|")
    for name, values in seconds.items():
        ratios = [
            statistics.median(a / b for a, b in zip(values, seconds[base], strict=True))
            for base in ("pure forward", "lexiscope tree")
        ]
        delta = f"{np.abs(sums[name] - reference).max():.1e}" if len(sums[name]) else ""
        cells = [name, f"{statistics.median(values):.2f}", f"{min(values):.2f}", *(f"{each:.2f}" for each in ratios)]
        print(f"| {' | '.join([*cells, delta])} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", help="gpt2, tiny, or a folder")
    parser.add_argument("--sample", type=int, help="use this many items (default: all 200)")
    parser.add_argument(
        "--source",
        choices=("released", "wsd", "goals"),
        default="released",
        help="the released items, contexts of WSD sets, or three of these as on the bench of the goals",
    )
    parser.add_argument("--count", action="store_true", help="only count what the sentences share")
    parser.add_argument("--parts", action="store_true", help="measure what lean kernels replace, and what they do")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--methods", nargs="+", help="measure only these (pure forward and lexiscope tree must be among them)"
    )
    parser.add_argument("--keep", type=Path, help="keep the model that is made in this folder")
    parser.add_argument("--json", type=Path, help="write the seconds here")
    given = parser.parse_args()
    if "LEXISCOPE_DATA" not in os.environ:
        parser.error("LEXISCOPE_DATA must name the folder of the data")
    data = Path(os.environ["LEXISCOPE_DATA"])
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    transformers.utils.logging.set_verbosity_error()
    written = {}
    with tempfile.TemporaryDirectory() as made_here:
        for name in given.models:
            folder = folder_of(name, data, given.keep or Path(made_here))
            texts = sentences(source=given.source, data=data, sample=given.sample, folder=folder)
            if given.count:
                print(f"{name}, {given.source}: {sharing(subject_of(folder), texts)}")
                continue
            if given.parts:
                for part, values in measure(parts(subject_of(folder), texts), rounds=given.rounds)[0].items():
                    print(f"| {part} | {statistics.median(values):.3f} | {min(values):.3f} |")
                continue
            made, tree = methods(folder, texts)
            made = {each: made[each] for each in given.methods or made}
            seconds, sums = measure(made, rounds=given.rounds)
            used = {key: tree.settings[key] for key in ("route", "kernels", "tokens", "tokens_read", "tokens_repeated")}
            load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
            print(f"\n{name}: {len(texts)} sentences, {len(set(texts))} distinct, {used}, load {load}")
            report(seconds, sums)
            written[name] = {"seconds": seconds, **used}
    if given.json is not None:
        versions = {each: metadata.version(each) for each in ("lexiscope", "torch", "transformers")}
        given.json.write_text(json.dumps({"versions": versions, "models": written}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
