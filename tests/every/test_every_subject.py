"""What every kind of subject in the catalog owes: declared capabilities, item ids kept, seeds, order, company."""

from __future__ import annotations

import json
import math
import re
import threading
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
import tokenizers
import torch
import transformers

from lexiscope.collect import collect
from lexiscope.core import catalog
from lexiscope.core.errors import CapabilityError, InputError, LexiscopeError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.subject import (
    Subject,
    SubjectSpec,
)
from lexiscope.core.usage import Usage
from lexiscope.items.answers.scale_scoring import prompt_of
from lexiscope.items.answers.search_space import Entry, SearchSpace
from lexiscope.resources.vectors.sense_vectors import SenseVectors
from lexiscope.resources.vectors.word2vec import write_word2vec
from lexiscope.subjects.local._model_check import rounding
from lexiscope.testing.contract import hold
from lexiscope.testing.subject import SUBJECT_CONTRACTS, LoadedSubject
from lexiscope.training.bi_encoder import train_bi_encoder
from lexiscope.training.classifier import train_pair_classifier
from lexiscope.training.gasi.train import write_senses
from lexiscope.training.methods import fit_threshold, train_method
from lexiscope.training.settings import TrainingSettings
from lexiscope.training.usage_clusters import ClusterSettings, make_usage_clusters

TEXTS = [
    "The bank of the river was wet",
    "The bank of the lake was wet",
    "She robbed the bank in town at noon",
    "A bank lends",
    "The old bank lends money to the poor and the rich of the town",
]
USAGES = [Usage(text, text.index("bank"), text.index("bank") + 4, lemma="bank", language="en") for text in TEXTS]
ITEMS = [Item(f"{a}-{b}", "contract", (USAGES[a], USAGES[b])) for a in range(5) for b in range(a)]
MEANINGS = [Item(f"m{n}", "contract", (usage,), gold=("slope", "house")[n % 2]) for n, usage in enumerate(USAGES)]
SPACE = SearchSpace("contract", (Entry("slope", "bank", "the side of the river"), Entry("house", "bank", "it lends")))

# specs of the kinds that need a folder or a server of this test; any other kind names its EXAMPLES itself
SPECS = {
    "encoder": ["encoder:minilm"],
    "baseline": ["baseline:random", "baseline:constant", "baseline:word_overlap"],
    "recorded": ["recorded:{folder}/answers.parquet"],
    "causal_lm": ["causal_lm:{folder}/causal_lm", "causal_lm:{folder}/causal_lm?policy=word"],
    "masked_lm": ["masked_lm:{folder}/masked_lm", "masked_lm:{folder}/masked_lm?conditioning=masked"],
    "completions": ["completions:served@{url}", "completions:served@{url}?policy=bos"],
    "chat": ["chat:served@{url}", "chat:served@{url}?shots=1&repeats=2&temperature=1"],
    "classifier": ["classifier:{folder}/classifier", "classifier:{folder}/probe"],
    "bi_encoder": ["bi_encoder:{folder}/bi_encoder"],
    "gasi": ["gasi:{folder}/gasi"],
    "sense_embedding": ["sense_embedding:ego_network:{folder}/gasi.txt"],
    "usage_clusters": ["usage_clusters:{folder}/usage_clusters"],
}
NEEDING_NOTHING = {
    kind: list(getattr(catalog.module("subjects", kind), "EXAMPLES", ()))
    for kind in catalog.names("subjects")
    if kind not in SPECS and catalog.origin("subjects", kind) == catalog.PACKAGE
}
SPECS |= NEEDING_NOTHING
# an item of each task, in the words of TEXTS, which are all that the small models know
ONE = USAGES[0]
SENSES = {"glosses": "the side of the river | lends money", "senses": "slope | house"}
STORY = {"precontext": "She lends money .", "ending": "The lake was wet .", "sense": "the river", "example": TEXTS[1]}
BOTH = {"sense_1": "the river", "example_1": TEXTS[0], "sense_2": "money", "example_2": TEXTS[4]}
OTHER = {"other_sense": "money", "other_example": TEXTS[4]}
LAKE = Usage("The lake of the river was wet", 4, 8, lemma="lake", language="en")
OF_TASK = {
    "relatedness": ITEMS[:2],
    "same_sense": [replace(item, gold="tf"[n % 2]) for n, item in enumerate(ITEMS)],
    "plausibility": [Item("s", "contract", (ONE,), conditions=STORY)],
    "minimal_pair": [Item("p", "contract", (ONE, LAKE), ("bank", "lake"), gold="bank")],
    "substitution": [Item(f"w{n}", "contract", (u,), ("lake", "town"), gold="lake") for n, u in enumerate(USAGES)],
    "gap_filling": [Item("g", "contract", (ONE,), conditions={"prompt": "bank is the"})],
    "sense_choice": [
        Item(f"c{n}", "contract", (usage,), conditions={"group_1": "river|lake", "group_2": "lends|money"})
        for n, usage in enumerate(USAGES)
    ],
    "word_intrusion": [
        Item(f"x{n}", "contract", (Usage("bank", 0, 4, language="en"),), ("river", "lake", word), word)
        for n, word in enumerate(("lends", "money", "town"))
    ],
    "sense_disambiguation": [replace(item, conditions=SENSES) for item in MEANINGS],
    "sense_verification": [
        replace(item, gold="tf"[n % 2], conditions={"definition": "the side of the river", "hypernyms": ""})
        for n, item in enumerate(MEANINGS)
    ],
    "sense_retrieval": MEANINGS,
    "entity_link": [replace(item, options=("slope", "house")) for item in MEANINGS],
    "ambiguous_sentence": [Item("a", "contract", (Usage("bank", 0, 4, language="en"),), conditions=BOTH)],
    "story_ending": [Item("e", "contract", (ONE,), conditions=STORY | OTHER)],
}
# any other task brings items of its own
OF_TASK |= {
    name: list(catalog.module("tasks", name).example_items("en"))  # type: ignore[attr-defined]
    for name in catalog.names("tasks")
    if name not in OF_TASK and catalog.origin("tasks", name) == catalog.PACKAGE
}
# who answers one task alone, on items of its shape
OWN_TASK = {"classifier": ("same_sense", ITEMS), "bi_encoder": ("sense_retrieval", MEANINGS)}
# what a question about pairs of usages can be asked of
RELATING = [
    kind
    for task, kind, by in catalog.pairings()
    if task == "relatedness" and kind in NEEDING_NOTHING and by in ("Judges", "ChoosesSense", "Embeds")
]
PAIRS = [
    spec
    for kind in ("encoder", "baseline", "recorded", "chat", "gasi", "sense_embedding", "usage_clusters", *RELATING)
    for spec in SPECS[kind]
]
ALL = [(kind, spec) for kind, specs in SPECS.items() for spec in specs]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("recorded")
    rows = [
        Response(f"p{n % 3}", "participant", item.item_id, "relatedness", "rating", float(1 + n % 5))
        for n, item in enumerate(ITEMS)
    ]
    ResponseTable.from_rows(rows).write_parquet(folder / "answers.parquet")
    save_causal_lm(folder / "causal_lm")
    save_masked_lm(folder / "masked_lm")
    save_masked_lm(folder / "masked_of_prompts", [*prompts_of_tasks(), "1 2 3 4 5"])
    save_trained(folder)
    save_senses(folder / "gasi")
    save_clusters(folder)
    save_of_tasks(folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), ServedLetters) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        (folder / "url").write_text(f"http://127.0.0.1:{server.server_address[1]}/v1")
        yield folder
        server.shutdown()


def prompts_of_tasks() -> list[str]:
    """Return what the tasks put before answers: their prompts, and the wordings in which texts are scored."""
    prompts = [prompt_of(asks(item)) for name in OF_TASK if (asks := catalog.task(name).asks) for item in OF_TASK[name]]
    for path in sorted(Path(catalog.module("tasks", "same_sense").__file__ or "").parents[1].glob("*/scored.txt")):
        prompts.append(re.sub(r"\$\w+", "bank", path.read_text(encoding="utf-8")))
    words = [str(value) for items in OF_TASK.values() for item in items[:1] for value in item.conditions.values()]
    return [*prompts, *TEXTS, *words, " , ".join(("river", "lake", "lends", "town", "money"))]


class ServedLetters(BaseHTTPRequestHandler):
    """An endpoint: completions that echo, with a made-up log-probability for every letter, and chat with a rating."""

    def do_GET(self) -> None:
        self.reply({"data": [{"id": "served", "root": "made up"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "messages" in body:
            said = str(zlib.crc32(json.dumps(body).encode()) % 5 + 1)
            message = {"role": "assistant", "content": said}
            self.reply({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
            return
        prompts = body["prompt"] if isinstance(body["prompt"], list) else [body["prompt"]]
        before = ["<s>"] if body.get("add_special_tokens", True) else []
        listed = [[*before, *prompt] for prompt in prompts]
        self.reply(
            {
                "choices": [
                    {"index": n, "text": f" {body.get('seed')}", "logprobs": echoed(tokens)}
                    for n, tokens in enumerate(listed)
                ],
                "usage": {"prompt_tokens": sum(map(len, listed))},
            }
        )

    def reply(self, answer: dict[str, object]) -> None:
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Keep the test's output quiet."""


def echoed(tokens: list[str]) -> dict[str, object]:
    values = [-1 - zlib.crc32("".join(tokens[: n + 1]).encode()) % 100 / 10 for n in range(len(tokens))]
    return {"tokens": tokens, "token_logprobs": [None, *values[1:]]}


def save_causal_lm(folder: Path) -> None:
    """Save a causal language model of random weights that reads letters."""
    letters = {letter: number for number, letter in enumerate(["<s>", *sorted(set("".join(TEXTS)))])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(letters, unk_token="<s>"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    torch.manual_seed(1)
    config = transformers.GPT2Config(vocab_size=len(letters), n_embd=16, n_layer=2, n_head=2, n_positions=4000)
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>")
    fast.save_pretrained(folder)


def save_masked_lm(folder: Path, texts: Sequence[str] = TEXTS) -> None:
    """Save a masked language model of random weights that reads the words of some texts."""
    split = tokenizers.pre_tokenizers.Whitespace()
    words = sorted({word for text in texts for word, _ in split.pre_tokenize_str(text)})
    numbers = {word: number for number, word in enumerate(["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]", *words])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    torch.manual_seed(1)
    small = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    small["max_position_embeddings"] = 1000
    transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=len(numbers), **small)).save_pretrained(folder)
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)


def save_trained(folder: Path) -> None:
    """Train on the contract's own items, with answers made up by rule: a classifier, a probe, a bi-encoder."""
    once = TrainingSettings(epochs=1, batch=4)
    model, items = str(folder / "masked_lm"), [replace(item, gold="tf"[n % 2]) for n, item in enumerate(ITEMS)]
    train_pair_classifier(items, items, model, view="full", out=folder / "classifier", settings=once)
    fit_threshold(items, items, model, view="full", out=folder / "probe")
    train_bi_encoder(MEANINGS, MEANINGS, SPACE, model, view="full", out=folder / "bi_encoder", settings=once)


def save_of_tasks(folder: Path) -> None:
    """Record an answer to every task, and train what answers one task alone on each that it can be trained for."""
    for name, items in OF_TASK.items():
        measure = catalog.task(name).measure
        rated = 3.0 if measure == "rating" else None
        row = Response("p", "participant", items[0].item_id, name, measure, rated, raw="said")
        ResponseTable.from_rows([row]).write_csv(folder / f"{name}.csv")
    once, model = TrainingSettings(epochs=1, batch=4), str(folder / "masked_lm")
    learnt_tasks = catalog.tasks_where(lambda task: bool(task.learnt) and task.scale is None)
    for task in learnt_tasks:
        method = catalog.task(task).learnt
        learnt, more = OF_TASK[task], {"space": SPACE} if method == "bi_encoder" else {}
        train_method(method, "full", learnt, learnt, model, out=folder / f"of_{task}", settings=once, task=task, **more)
    numbers = [replace(item, gold=str(1 + n % 5)) for n, item in enumerate(ITEMS)]
    number = replace(once, head="number")
    train_method(
        "pair", "full", numbers, numbers, model, out=folder / "of_relatedness", settings=number, task="relatedness"
    )


def save_senses(folder: Path) -> None:
    """Save random sense vectors of the words of the texts, and the same for other programs."""
    words = sorted({word for text in TEXTS for word in text.lower().split()})
    rng = np.random.default_rng(1)
    senses, contexts = (rng.normal(size=(len(words), *shape)).astype(np.float32) for shape in ((3, 8), (8,)))
    mask = np.ones((len(words), 3), np.bool_)
    vectors = SenseVectors(tuple(words), np.ones(len(words), np.int64), senses, contexts, mask)
    write_senses(folder, vectors, {})
    write_word2vec(folder.with_suffix(".txt"), vectors)


def save_clusters(folder: Path) -> None:
    """Cluster the usages of every word of the texts in the vectors of a small model, each sentence thrice."""
    words = sorted({word for text in TEXTS for word in text.lower().split()})
    usages = {word: [Usage(f"{text} {again}", start, start + len(word))
                     for text in TEXTS for again in ("of the town", "at noon", "and the lake", "in the river", ".")
                     for start in [text.lower().find(word)] if start >= 0] * 5 for word in words}  # fmt: skip
    settings = ClusterSettings(n_senses=2, fewest=10)
    made = make_usage_clusters(
        catalog.subject(f"encoder:{folder / 'masked_lm'}"), usages, out=folder / "usage_clusters", settings=settings
    )
    assert not made.left_out


def subject_of(spec: str, folder: Path) -> Subject:
    return catalog.subject(spec.format(folder=folder, url=(folder / "url").read_text()))


def test_every_kind_has_a_contract() -> None:
    """A new file in subjects/ names specs that answer on any machine: ``EXAMPLES = ("kind:name",)``."""
    assert [kind for kind, specs in SPECS.items() if not specs] == []


def loaded(spec: str, folder: Path) -> LoadedSubject:
    """A subject with the items of this test, in words that the small models know: one task, pairs if it relates."""
    made = spec.format(folder=folder, url=(folder / "url").read_text())
    name, asked = OWN_TASK.get(SubjectSpec.parse(made).kind, ("relatedness", ITEMS))
    return LoadedSubject(made, {name: asked})


ASKED_ALONE = {"answers_depend_on_the_item_alone", "some_task_is_answered"}
"""The contracts for which items are answered: of what relates pairs or answers one task."""
RELATED = {*PAIRS, *SPECS["classifier"], *SPECS["bi_encoder"]}


@pytest.mark.parametrize(
    ("spec", "contract"),
    [
        (spec, contract)
        for _, spec in ALL
        for contract in SUBJECT_CONTRACTS
        if contract != "right_answers_are_not_looked_at" and (spec in RELATED or contract not in ASKED_ALONE)
    ],
)
def test_the_contracts_of_the_kit(spec: str, contract: str, folder: Path) -> None:
    """What every kind of subject owes, of the package or not: :mod:`lexiscope.testing`."""
    hold(f"subject {spec}", loaded(spec, folder), SUBJECT_CONTRACTS, contract)


# -- who answers what -----------------------------------------------------------------------------------------

OF_KIND = {
    "classifier": "classifier:{folder}/of_{task}",
    "bi_encoder": "bi_encoder:{folder}/of_{task}",
    "baseline": "baseline:random",
    "recorded": "recorded:{folder}/{task}.csv",
    # a prompt has other words than TEXTS
    "masked_lm": "masked_lm:{folder}/masked_of_prompts",
}
PAIRINGS = catalog.pairings()
NO_PAIRINGS = [
    (task, kind)
    for task in OF_TASK
    for kind in SPECS
    if (task, kind) not in {(name, able) for name, able, _ in PAIRINGS}
]


def test_every_task_has_an_item() -> None:
    """The pairings of every task are tried: with an item of this test, or with the task's own ``example_items``."""
    assert [task for task, items in OF_TASK.items() if not items] == []


@pytest.mark.parametrize(("task", "kind", "capability"), PAIRINGS)
def test_every_listed_pairing_answers(task: str, kind: str, capability: str, folder: Path) -> None:
    """`lexiscope list pairings` is true: a subject of the kind answers an item of the task, by that function."""
    spec = OF_KIND.get(kind, SPECS[kind][0]).replace("{task}", task)
    subject = subject_of(spec, folder)
    asked = catalog.task(task)
    assert asked.answer_function(subject) is dict(asked.answers)[capability]
    table = collect(OF_TASK[task][:1], [subject], task)
    assert table.unique("item_id") == (OF_TASK[task][0].item_id,)
    assert any(
        value is not None for name in ("value", "option", "raw") for value in table.arrow.column(name).to_pylist()
    )


BY_MODEL = [
    (task, kind, by)
    for task, kind, by in PAIRINGS
    if by in ("Embeds", "Scores") and kind in ("encoder", "causal_lm", "masked_lm") and len(OF_TASK[task]) > 1
]


@pytest.mark.parametrize(("task", "kind", "capability"), BY_MODEL)
def test_answers_by_capability_depend_on_the_item_alone(task: str, kind: str, capability: str, folder: Path) -> None:
    """Backwards and one by one an item has the same answers, and other right answers of the items change none."""
    subject = subject_of(OF_KIND.get(kind, SPECS[kind][0]), folder)
    items, asked = list(OF_TASK[task]), catalog.task(task)

    def rows(items: Sequence[Item]) -> dict[tuple[object, ...], float]:
        table = asked.answer(items, subject, view="full")
        assert table.unique("item_id") == tuple(item.item_id for item in items)
        return {
            (row.item_id, row.measure, row.layer, row.option): math.nan if row.value is None else row.value
            for row in table.rows()
        }

    forwards = rows(items)
    alone = {key: value for item in items for key, value in rows([item]).items()}
    without = rows([replace(item, gold=None) for item in items])
    for other in (rows(items[::-1]), alone, without):
        assert other.keys() == forwards.keys()
        for key, value in forwards.items():
            assert other[key] == pytest.approx(value, abs=rounding(abs(value) + 1), nan_ok=True), key


@pytest.mark.parametrize(("task", "kind"), NO_PAIRINGS)
def test_every_other_pairing_is_refused(task: str, kind: str, folder: Path, tmp_path: Path) -> None:
    """What is not listed is refused before work starts: the error names the task and what could answer it."""
    for spec in SPECS[kind]:
        subject = subject_of(spec, folder)
        with pytest.raises(CapabilityError, match=f"cannot answer the task '{task}'") as caught:
            collect(OF_TASK[task], [subject], task, out=tmp_path / "run")
        assert all(capability in str(caught.value) for capability, _ in catalog.task(task).answers)
        assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("task", ["sense_verification", "relatedness"])
def test_a_trained_folder_answers_the_task_of_its_training(task: str, folder: Path) -> None:
    """One classifier of a kind that is listed for a task may be trained for another: it is refused before work."""
    subject = subject_of("classifier:{folder}/classifier", folder)
    with pytest.raises(CapabilityError, match=r"cannot answer the task[\s\S]*it answers same_sense"):
        collect(OF_TASK[task], [subject], task)


EMBEDDED = {
    **{
        name: catalog.module("tasks", name).example_items("en")  # type: ignore[attr-defined]
        for name in OF_TASK
    },
    **{
        name: catalog.dataset(name).items[:3]
        for name in catalog.names("datasets")
        if catalog.card(name).availability == "embedded"
    },
}
OTHERS = [(task, source) for task in catalog.names("tasks") for source in EMBEDDED if source != task]


@pytest.mark.parametrize(("task", "source"), OTHERS)
def test_items_of_every_other_task_are_answered_or_refused(task: str, source: str, folder: Path) -> None:
    """Items made for one task, asked as another: an answer, or an error that names task and item; never a traceback."""
    items = list(EMBEDDED[source][:1])
    specs = [SPECS[kind][0] for kind in ("causal_lm", "encoder", "baseline", "gasi")]
    named: list[str] = []
    for subject in (subject_of(spec, folder) for spec in specs):
        try:
            collect(items, [subject], task)
        except LexiscopeError as error:
            named.append(str(error))
    assert all(task in said or any(item.item_id in said for item in items) for said in named), named


def test_relatedness_of_minimal_pairs_is_refused(folder: Path) -> None:
    """A choice set has a text per option, not two usages of a word: the error names the task, the item, what it has.

    The embedded items have eleven options; one with two has as many usages as a pair of usages, and is told by them.
    """
    eleven, two = catalog.dataset("mini_synonymy").items[0], OF_TASK["minimal_pair"][0]
    for item, what in ((eleven, "two usages, this one has 11"), (two, r"has options \(bank, lake\)")):
        for spec in ("causal_lm:{folder}/causal_lm", "encoder:minilm", "baseline:random"):
            with pytest.raises(InputError, match=rf"'relatedness' cannot be asked[\s\S]*{what}") as caught:
                collect([item], [subject_of(spec, folder)], "relatedness")
            assert caught.value.place is not None
            assert caught.value.place.item_id == item.item_id
