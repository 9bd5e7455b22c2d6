"""Model folders of any content: one error of ours that names the file, before anything is built or read from it."""

from __future__ import annotations

import json
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import peft
import pytest
import transformers

from lexiscope.core import catalog
from lexiscope.core.errors import LexiscopeError
from lexiscope.core.run import read_json, sha256_of, write_json
from lexiscope.core.subject import Decoding
from lexiscope.core.usage import Usage
from lexiscope.resources.vectors.sense_vectors import SenseVectors
from lexiscope.subjects.local._model_folder import ModelFolder
from lexiscope.subjects.trained._trained_folder import TrainedFolder, seal_of
from lexiscope.training.gasi.train import write_senses

from .conftest import ARCHITECTURES, CAUSAL

Harm = Callable[[Path], None]
Tiny = Callable[[str], Path]


def config(**changed: Any) -> Harm:
    """Change fields of the configuration; ``None`` takes one away, ``...`` makes it null."""

    def harm(folder: Path) -> None:
        path = folder / "config.json"
        content = json.loads(path.read_text(encoding="utf-8")) | changed
        kept = {k: None if v is ... else v for k, v in content.items() if v is not None or k not in changed}
        path.write_text(json.dumps(kept), encoding="utf-8")

    return harm


def content(name: str, data: bytes) -> Harm:
    return lambda folder: (folder / name).write_bytes(data) and None


def gone(name: str) -> Harm:
    return lambda folder: (folder / name).unlink()


def index(text: str) -> Harm:
    """Put an index in the place of the weights' own name."""

    def harm(folder: Path) -> None:
        (folder / "model.safetensors.index.json").write_text(text, encoding="utf-8")

    return harm


def header(change: Callable[[dict[str, Any]], Any], *, length: int | None = None) -> Harm:
    """Change the header of the weights; *length* is what it says of itself."""

    def harm(folder: Path) -> None:
        path = folder / "model.safetensors"
        raw = path.read_bytes()
        (size,) = struct.unpack("<Q", raw[:8])
        made = json.dumps(change(json.loads(raw[8 : 8 + size]))).encode()
        path.write_bytes(struct.pack("<Q", len(made) if length is None else length) + made + raw[8 + size :])

    return harm


def tokens(folder: Path) -> None:
    """Number one token beyond the model's vocabulary."""
    path = folder / "tokenizer.json"
    read = json.loads(path.read_text(encoding="utf-8"))
    read["model"]["vocab"][next(reversed(read["model"]["vocab"]))] = 10**6
    path.write_text(json.dumps(read), encoding="utf-8")


def first(found: dict[str, Any], **changed: Any) -> dict[str, Any]:
    name = next(each for each in found if each != "__metadata__")
    return found | {name: found[name] | changed}


DEEP = b"[" * 100_000
LAYERS, WIDTH = "num_hidden_layers", "hidden_size"
ODD: dict[str, tuple[Harm, str]] = {
    "no configuration": (gone("config.json"), "config.json"),
    "a configuration that is a list": (content("config.json", b"[]"), "config.json"),
    "a configuration of 100,000 brackets": (content("config.json", DEEP), "config.json"),
    "a configuration that is no UTF-8": (content("config.json", b'{"a": "\xff\xfe'), "config.json"),
    "an empty configuration": (content("config.json", b""), "config.json"),
    "an empty object": (content("config.json", b"{}"), ""),
    "a text part that is a list": (config(text_config=[1]), "config.json"),
    "an unknown kind of model": (config(model_type="nonesuch"), ""),
    "a kind of model that is a number": (config(model_type=4), ""),
    "architectures that are a number": (config(architectures=7, model_type="nonesuch"), ""),
    "layers in words": (config(**{LAYERS: "many"}), "config.json"),
    "1e9 layers": (config(**{LAYERS: 10**9}), "config.json"),
    "1e9 layers as a decimal number": (config(**{LAYERS: 1e9}), "config.json"),
    "-1 layers": (config(**{LAYERS: -1}), "config.json"),
    "0 layers": (config(**{LAYERS: 0}), "config.json"),
    "true layers": (config(**{LAYERS: True}), "config.json"),
    "a list of layers": (config(**{LAYERS: [3]}), "config.json"),
    "90,000 groups of layers": (config(inner_group_num=90_000), "config.json"),
    "90,000 experts": (config(num_local_experts=90_000), "config.json"),
    "layers that are null": (config(**{LAYERS: ...}), "config.json"),
    "a width that is a list": (config(**{WIDTH: []}), "config.json"),
    "a vocabulary that is a list": (config(vocab_size=[]), "config.json"),
    "inner widths that are lists": (config(intermediate_size=[[32]]), "config.json"),
    "inner widths of 1e9": (config(intermediate_size=[10**9]), "config.json"),
    "a width of 1e9": (config(**{WIDTH: 10**9}), "config.json"),
    "a width of -16": (config(**{WIDTH: -16}), "config.json"),
    "1e9 heads": (config(num_attention_heads=10**9), "config.json"),
    "heads in words": (config(num_attention_heads="two"), "config.json"),
    "0 heads": (config(num_attention_heads=0), "config.json"),
    "7 heads": (config(num_attention_heads=7), ""),
    "1e12 words": (config(vocab_size=10**12), "config.json"),
    "fewer words than the tokenizer": (config(vocab_size=16), ""),
    "1e9 positions": (config(max_position_embeddings=10**9), "config.json"),
    "an inner width of 1e9": (config(intermediate_size=10**9), "config.json"),
    "1e9 labels": (config(num_labels=10**9), "config.json"),
    "an unknown activation": (config(hidden_act="nonesuch"), ""),
    "an unknown dtype": (config(dtype="float999"), ""),
    "code of its own": (config(auto_map={"AutoConfig": "x.Y"}, model_type="nonesuch"), ""),
    "no weights": (gone("model.safetensors"), "model.safetensors"),
    "weights that are empty": (content("model.safetensors", b""), "model.safetensors"),
    "weights that are text": (content("model.safetensors", b"version https://git-lfs"), "model.safetensors"),
    "a header of 100,000 brackets": (
        content("model.safetensors", struct.pack("<Q", 100_000) + DEEP),
        "model.safetensors",
    ),
    "a header that is a list": (header(lambda _: []), "model.safetensors"),
    "a header of 2**63 bytes": (header(lambda found: found, length=2**63), "model.safetensors"),
    "a header that is longer than the file": (header(lambda found: found, length=10**8), "model.safetensors"),
    "a shape that is not that of its bytes": (header(lambda f: first(f, shape=[10**12])), "model.safetensors"),
    "a shape in words": (header(lambda f: first(f, shape="large")), "model.safetensors"),
    "offsets outside": (header(lambda f: first(f, data_offsets=[0, 10**12])), "model.safetensors"),
    "offsets that are none": (header(lambda f: first(f, data_offsets=None)), "model.safetensors"),
    "a tensor that is a number": (header(lambda f: f | {"more": 4}), "model.safetensors"),
    "an index without a map": (index("{}"), "index.json"),
    "an index that is a list": (index("[]"), "index.json"),
    "an index of 100,000 brackets": (index(DEEP.decode()), "index.json"),
    "an index of an absent shard": (index('{"weight_map": {"a": "model-9.safetensors"}}'), "model-9.safetensors"),
    "an index that leads elsewhere": (index('{"weight_map": {"a": "../model.safetensors"}}'), "index.json"),
    "an index of a file of the machine": (index('{"weight_map": {"a": "/etc/x.safetensors"}}'), "index.json"),
    "an index of numbers": (index('{"weight_map": {"a": 4}}'), "index.json"),
    "no tokenizer": (gone("tokenizer.json"), "tokenizer"),
    "an empty tokenizer": (content("tokenizer.json", b""), "tokenizer.json"),
    "a tokenizer of 100,000 brackets": (content("tokenizer.json", DEEP), "tokenizer.json"),
    "a tokenizer that is no UTF-8": (content("tokenizer.json", b"\xff\xfe\x00"), "tokenizer.json"),
    "a tokenizer without a model": (content("tokenizer.json", b'{"version": "1.0"}'), "tokenizer.json"),
    "a tokenizer of no tokens": (
        content("tokenizer.json", b'{"model": {"type": "BPE", "vocab": {}}}'),
        "tokenizer.json",
    ),
    "a tokenizer of an unknown kind": (
        content("tokenizer.json", b'{"version": "1.0", "model": {"type": "X", "vocab": {"a": 0}}}'),
        "",
    ),
    "a token beyond the vocabulary": (tokens, "tokenizer.json"),
    "settings of the tokenizer that are a list": (content("tokenizer_config.json", b"[]"), "tokenizer_config.json"),
    "settings of 100,000 brackets": (content("tokenizer_config.json", DEEP), "tokenizer_config.json"),
    "settings of generation that are damaged": (content("generation_config.json", b"{"), "generation_config.json"),
}
USAGES = [Usage("The bank of the river", 4, 8, language="en")]
LOADERS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "encoder": ("bert", lambda subject: subject.embed(USAGES)),
    "causal_lm": ("llama", lambda subject: subject.score(["The bank"])),
    "masked_lm": ("masked", lambda subject: subject.score(["The bank"])),
    "chat": ("llama", lambda subject: subject.generate(["The bank"], Decoding(max_tokens=2))),
}
TEMPLATE = "{% for message in messages %}{{ message.content }} {% endfor %}"


@pytest.fixture(scope="module")
def masked(tiny: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole model that fills masks."""
    folder = Path(shutil.copytree(tiny("bert"), tmp_path_factory.mktemp("masked") / "model"))
    made = transformers.BertForMaskedLM(transformers.AutoConfig.from_pretrained(folder))
    made.save_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"mask_token": "<mask>"})
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def llama(causal: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole model with a template of conversations."""
    folder = Path(shutil.copytree(causal("llama"), tmp_path_factory.mktemp("chat") / "model"))
    (folder / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    return folder


@pytest.fixture
def whole(tiny: Tiny, masked: Path, llama: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that copies the folder of a whole model of an architecture."""

    def copied(architecture: str) -> Path:
        source = {"masked": masked, "llama": llama}.get(architecture) or tiny(architecture)
        return Path(shutil.copytree(source, tmp_path / "model"))

    return copied


def complaint(spec: str, ask: Callable[[Any], object]) -> str:
    """What a subject says when it is asked for its facts and then for an answer; both must be an error of ours."""
    said = []
    for use in (lambda subject: (subject.facts, ask(subject)), ask):
        with pytest.raises(LexiscopeError) as caught:
            use(catalog.subject(spec))
        said.append(str(caught.value))
    assert all(len(line) < 1000 for each in said for line in each.splitlines())
    return "\n".join(said)


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("name", ODD)
def test_an_odd_folder_is_an_error_that_names_the_file(whole: Callable[[str], Path], loader: str, name: str) -> None:
    """Whatever is wrong with a folder, each loader refuses it with the folder or file, and builds nothing of it."""
    architecture, ask = LOADERS[loader]
    folder = whole(architecture)
    harm, named = ODD[name]
    harm(folder)
    said = complaint(f"{loader}:{folder}", ask)
    assert str(folder) in said
    assert named in said


@pytest.mark.parametrize("loader", LOADERS)
def test_a_whole_folder_answers(whole: Callable[[str], Path], loader: str) -> None:
    """What the harms are done to is in order: without one, each loader answers."""
    architecture, ask = LOADERS[loader]
    assert ask(catalog.subject(f"{loader}:{whole(architecture)}")) is not None


@pytest.mark.parametrize("loader", LOADERS)
def test_what_is_no_folder(tmp_path: Path, loader: str) -> None:
    """A file, a link to itself, a link to nothing and an absent path are told apart from an id of the hub."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    os.symlink(tmp_path / "loop", tmp_path / "loop")
    os.symlink(tmp_path / "absent", tmp_path / "dangling")
    (tmp_path / "empty").mkdir()
    (tmp_path / "inner").mkdir()
    os.symlink(tmp_path / "inner" / "config.json", tmp_path / "inner" / "config.json")
    for name, expected in (
        ("file", "this is a file"),
        ("loop", "leads to no folder"),
        ("dangling", "leads to no folder"),
        ("nothing", "there is no model folder"),
        ("empty", "config.json is missing"),
        ("inner", "config.json is missing"),
    ):
        assert expected in complaint(f"{loader}:{tmp_path / name}", LOADERS[loader][1])


def test_whole_folders_are_read(tiny: Tiny, causal: Tiny) -> None:
    """The checks refuse nothing that is whole: every architecture of the tests passes them."""
    for architecture in ARCHITECTURES:
        ModelFolder(tiny(architecture)).check()
    for architecture in CAUSAL:
        ModelFolder(causal(architecture)).check()


# -- folders of trainings -------------------------------------------------------------------------------------

RECORDS = {
    "nothing": b"",
    "a list": b"[]",
    "100,000 brackets": DEEP,
    "no UTF-8": b'{"kind": "\xff"}',
    "an empty object": b"{}",
    "no training": b'{"kind": "KIND", "files": {}}',
    "files that are a list": b'{"kind": "KIND", "training": {}, "files": [1], "shape": [1]}',
    "files elsewhere": b'{"kind": "KIND", "training": {}, "files": {"../x": "0"}, "shape": [1, 1, 1]}',
    "files that are a number": b'{"kind": "KIND", "training": {}, "files": 4, "shape": [1, 1, 1]}',
    "files that are null": b'{"kind": "KIND", "training": {}, "files": null, "shape": [1, 1, 1]}',
    "a shape that is a number": b'{"kind": "KIND", "training": {}, "files": {"vectors.safetensors": "0", '
    b'"vocabulary.tsv": "0"}, "shape": 4, "n_senses": 2}',
    "a shape that is text": b'{"kind": "KIND", "training": {}, "files": {"vectors.safetensors": "0", '
    b'"vocabulary.tsv": "0"}, "shape": "ten", "n_senses": 2}',
    "an encoder that is a list": b'{"kind": "KIND", "training": {"encoder": [1], "view": "full", "method": "pair", '
    b'"task": "same_sense"}, "files": {}}',
    "no shape": b'{"kind": "KIND", "training": {}, "files": {"vectors.safetensors": "0", "vocabulary.tsv": "0"}}',
}


@pytest.mark.parametrize("kind", ["classifier", "bi_encoder"])
@pytest.mark.parametrize("name", RECORDS)
def test_an_odd_record_of_a_training(tmp_path: Path, kind: str, name: str) -> None:
    """The record of a trained model may be anything; it is named."""
    (tmp_path / "run.json").write_bytes(RECORDS[name].replace(b"KIND", kind.encode()))
    (tmp_path / "training.json").write_bytes(b"{}")
    for use in (lambda subject: subject.facts, lambda subject: subject.folder.reader(device="cpu")):
        with pytest.raises(LexiscopeError, match=r"run\.json|holds a|is missing or damaged") as caught:
            use(catalog.subject(f"{kind}:{tmp_path}"))
        assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("name", ["1e9 layers", "layers in words", "an index without a map", "an empty tokenizer"])
def test_an_odd_encoder_of_a_training(whole: Callable[[str], Path], tmp_path: Path, name: str) -> None:
    """A folder that is whole by its checksums may still hold an odd encoder."""
    ODD[name][0](whole("bert"))
    folder = tmp_path / "trained"
    shutil.move(tmp_path / "model", folder / "encoder")
    record = {"kind": "classifier", "training": {"view": "full", "method": "pair", "task": "same_sense"}, "files": {}}
    for shape in ({}, {"shape": 4}, {"shape": {"outputs": 2, "targets": 2, "pooling": "", "longest": 16}}):
        made = record | shape
        write_json(folder / "run.json", made | {"seal": seal_of(made)})
        with pytest.raises(LexiscopeError) as caught:
            TrainedFolder(folder, "classifier").reader(device="cpu")
        assert str(folder) in str(caught.value)


@pytest.mark.parametrize("name", RECORDS)
def test_odd_sense_vectors(tmp_path: Path, name: str) -> None:
    """The record of sense vectors may be anything; so may its vectors, with checksums that fit."""
    senses, mask = np.ones((2, 1, 2), np.float32), np.ones((2, 1), np.bool_)
    vectors = SenseVectors(("the", "bank"), np.array([2, 1]), senses, senses[:, 0], mask)
    write_senses(tmp_path, vectors, {})
    path = next(each for each in tmp_path.glob("*.json") if "files" in read_json(each))
    record = read_json(path)
    path.write_bytes(RECORDS[name].replace(b"KIND", str(record["kind"]).encode()))
    said = complaint(f"gasi:{tmp_path}", lambda subject: subject.embed(USAGES))
    assert str(tmp_path) in said
    for data in (b"", DEEP, struct.pack("<Q", 2**63) + b"{}", struct.pack("<Q", 100_000) + DEEP):
        (tmp_path / "vectors.safetensors").write_bytes(data)
        files = record["files"] | {"vectors.safetensors": sha256_of(tmp_path / "vectors.safetensors")}
        write_json(path, record | {"files": files})
        with pytest.raises(LexiscopeError, match="vectors"):
            catalog.subject(f"gasi:{tmp_path}").embed(USAGES)


def adapter_config(**changed: Any) -> Harm:
    def harm(folder: Path) -> None:
        path = folder / "adapter_config.json"
        path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changed), encoding="utf-8")

    return harm


ADAPTERS: dict[str, Harm] = {
    "a list": content("adapter_config.json", b"[]"),
    "100,000 brackets": content("adapter_config.json", DEEP),
    "no UTF-8": content("adapter_config.json", b"\xff"),
    "nothing": content("adapter_config.json", b""),
    "a rank of 1e9": adapter_config(r=10**9),
    "a rank in words": adapter_config(r="many"),
    "a rank of -1": adapter_config(r=-1),
    "another kind": adapter_config(peft_type="IA3"),
    "a start that is a list": adapter_config(init_lora_weights=[]),
    "targets that are not there": adapter_config(target_modules=["nonesuch"]),
    "targets that are a number": adapter_config(target_modules=4),
    "a base that is a list": adapter_config(base_model_name_or_path=[1]),
    "no weights": gone("adapter_model.safetensors"),
    "weights that are empty": content("adapter_model.safetensors", b""),
    "weights of 100,000 brackets": content("adapter_model.safetensors", struct.pack("<Q", 100_000) + DEEP),
    "a record that is a list": content("run.json", b"[]"),
    "a record of 100,000 brackets": content("run.json", DEEP),
    "files that are a list": content("run.json", b'{"files": [1], "base": 4}'),
}


@pytest.mark.parametrize("loader", ["causal_lm", "chat"])
@pytest.mark.parametrize("name", ADAPTERS)
def test_an_odd_adapter(llama: Path, tmp_path: Path, loader: str, name: str) -> None:
    """An adapter of any content is refused by name, with the base untouched."""
    model = transformers.AutoModelForCausalLM.from_pretrained(llama)
    made = peft.get_peft_model(model, peft.LoraConfig(r=2, target_modules=["q_proj"]))
    made.peft_config["default"].base_model_name_or_path = str(llama)
    made.save_pretrained(tmp_path)
    assert catalog.subject(f"causal_lm:{tmp_path}").score(["The bank"])
    ADAPTERS[name](tmp_path)
    assert str(tmp_path) in complaint(f"{loader}:{tmp_path}", LOADERS[loader][1])
