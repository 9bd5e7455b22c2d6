"""The encoder subject: the right sub-words, the right layers, once each, whatever the company."""

from __future__ import annotations

import random
import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from lexiscope.core.catalog import subject as make
from lexiscope.core.errors import MissingExtraError, SpecError, SubjectError
from lexiscope.core.subject import SubjectSpec, capabilities
from lexiscope.core.usage import Usage, occurrences
from lexiscope.subjects.local._model_check import rounding
from lexiscope.subjects.local.encoder import CAPABILITIES, Encoder, EncoderOptions, load

Folders = Callable[[str], Path]
ARCHITECTURES = [
    "bert",
    "electra",
    "distilbert",
    "mpnet",
    "deberta_v2",
    "modernbert",
    "roberta",
    "xlm_roberta",
    "albert",
    "albert_groups",
    "gpt2",
    "gpt_neox",
    "opt",
    "bloom",
    "llama",
    "mistral",
    "qwen2",
    "gemma",
    "phi",
    "t5_encoder",
]

BANKS = "The bank of the river is far from the bank in town."


def usages_in(text: str, word: str) -> list[Usage]:
    return [Usage(text, start, end) for start, end in occurrences(text, word)]


USAGES = [
    *usages_in(BANKS, "bank"),
    *usages_in(BANKS, "river"),
    *usages_in("She could hear the loud bark of the dog.", "bark"),
    *usages_in("He scraped the bark of the old oak tree.", "bark"),
    *usages_in("El banco del parque está lejos.", "banco"),
    *usages_in("Bark", "Bark"),
    *usages_in("¿Quién usó la lima de uñas?", "uñas"),
]


def same(found: np.ndarray, vectors: np.ndarray) -> None:
    """Compare to rounding, which grows with the size of the numbers and differs between processors."""
    np.testing.assert_allclose(found, vectors, atol=rounding(np.abs(vectors).max()), rtol=0)


def expected(folder: Path, usage: Usage) -> np.ndarray:
    """The definition, written plainly: one sentence, output_hidden_states, offsets ∩ span, mean."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    model = model.get_encoder() if model.config.is_encoder_decoder else model
    encoded = tokenizer(usage.text, return_offsets_mapping=True, return_special_tokens_mask=True, return_tensors="pt")
    inside = [
        number
        for number, (first, last) in enumerate(encoded["offset_mapping"][0].tolist())
        if first < usage.end and last > usage.start and not encoded["special_tokens_mask"][0][number]
    ]
    with torch.no_grad():
        output = model(
            input_ids=encoded["input_ids"], attention_mask=encoded["attention_mask"], output_hidden_states=True
        )
    return torch.stack([state[0, inside].mean(dim=0) for state in output.hidden_states]).numpy()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_layer_equals_output_hidden_states(tiny: Folders, architecture: str) -> None:
    """All layers of one pass equal output_hidden_states of each sentence alone, to 1e-5, for every architecture."""
    encoder = Encoder(str(tiny(architecture)))
    vectors = encoder.embed(USAGES)
    assert vectors.shape == (len(USAGES), len(encoder.layers), 16)
    assert vectors.dtype == np.float32
    for usage, vector in zip(USAGES, vectors, strict=True):
        same(vector, expected(tiny(architecture), usage))
    assert encoder.settings["route"] == "hooks"
    layers_differ = np.abs(np.diff(vectors, axis=1)).max(axis=(0, 2))
    assert (layers_differ > 1e-3).all(), "two layers are the same: the test would not see a shift by one"


@pytest.mark.parametrize("architecture", ["bert", "albert", "llama"])
def test_layers_without_known_blocks_come_from_hidden_states(
    tiny: Folders, architecture: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no modules prove to be the blocks, the same numbers come from output_hidden_states, and it is said."""
    by_hooks = Encoder(str(tiny(architecture))).embed(USAGES)
    monkeypatch.setattr("lexiscope.subjects.local.encoder._module_lists", lambda torch, model: iter(()))
    encoder = Encoder(str(tiny(architecture)))
    same(encoder.embed(USAGES), by_hooks)
    assert encoder.settings["route"] == "hidden_states"


def test_two_occurrences_give_two_vectors(tiny: Folders) -> None:
    """Two banks in one sentence are two usages with two vectors at every contextual layer."""
    first, second = Encoder(str(tiny("bert"))).embed(usages_in(BANKS, "bank"))
    assert (np.abs(first - second).max(axis=1)[1:] > 1e-3).all()


@pytest.mark.parametrize("architecture", ["bert", "modernbert", "xlm_roberta", "gpt2", "llama"])
def test_company_and_order_do_not_matter(tiny: Folders, architecture: str) -> None:
    """The same usage has the same vector alone, among others, repeated, in any order and batch size (1e-5)."""
    folder = str(tiny(architecture))
    together = Encoder(folder).embed(USAGES)
    shuffled = random.Random(3).sample(range(len(USAGES)), len(USAGES))
    others = Encoder(folder, options=EncoderOptions(batch_tokens=1)).embed([USAGES[n] for n in shuffled] * 2)
    for place, number in enumerate([*shuffled, *shuffled]):
        same(others[place], together[number])


def test_same_request_in_another_order_has_the_same_bytes(tiny: Folders) -> None:
    """Batches follow from the set of sentences, so that the order of the items changes no bit."""
    encoder = Encoder(str(tiny("bert")))
    forwards = encoder.embed(USAGES)
    backwards = encoder.embed(USAGES[::-1])
    assert forwards.tobytes() == np.ascontiguousarray(backwards[::-1]).tobytes()


def test_each_sentence_is_read_once(tiny: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three targets in one sentence and repeated usages cost one reading of each distinct sentence."""
    encoder = Encoder(str(tiny("bert")))
    read: list[int] = []
    run = encoder._forward.run
    monkeypatch.setattr(encoder._forward, "run", lambda batch: read.append(len(batch)) or run(batch))
    encoder.embed(USAGES * 3)
    assert sum(read) == len({usage.text for usage in USAGES})


def test_no_hidden_state_outlives_the_next_block(
    tiny: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory does not grow with the layers: of 24 hidden states two are alive at a time (all, were they returned)."""
    config = transformers.BertConfig(vocab_size=200, hidden_size=16, num_attention_heads=2, intermediate_size=32)
    config.num_hidden_layers = 24
    transformers.BertModel(config).save_pretrained(copy_of(tiny("bert"), tmp_path / "deep"))
    encoder = Encoder(str(tmp_path / "deep"))
    states: list[weakref.ref[torch.Tensor]] = []
    alive: list[int] = []

    def count(_module: torch.nn.Module, args: tuple[torch.Tensor, ...]) -> None:
        states.append(weakref.ref(args[0]))
        alive.append(sum(state() is not None for state in states))

    for block in encoder._forward._blocks:
        block.register_forward_pre_hook(count)
    encoder.embed(USAGES[:1])
    assert len(alive) == 24
    assert max(alive) <= 2
    states.clear()
    alive.clear()
    monkeypatch.setattr(encoder._forward, "route", "hidden_states")
    encoder.embed(USAGES[:1])
    assert max(alive) == 24


def test_a_mask_of_ones_changes_nothing(tiny: Folders) -> None:
    """A batch of equal lengths is read without attention mask; that gives the numbers of a mask of ones."""
    usages = [*usages_in("the bark of the dog", "bark"), *usages_in("the bank of the river", "bank")]
    for architecture in ("bert", "modernbert", "roberta", "gpt2", "llama"):
        vectors = Encoder(str(tiny(architecture))).embed(usages)
        for usage, vector in zip(usages, vectors, strict=True):
            same(vector, expected(tiny(architecture), usage))


def test_progress_counts_distinct_usages(tiny: Folders) -> None:
    """Progress rises to the number of distinct usages."""
    seen: list[tuple[int, int]] = []
    encoder = Encoder(str(tiny("bert")), options=EncoderOptions(batch_tokens=1))
    encoder.embed(USAGES + USAGES[:2], progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(USAGES), len(USAGES))
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})


def test_no_usages_give_no_vectors(tiny: Folders) -> None:
    """Nothing asked, nothing loaded, an empty array of the right shape."""
    assert Encoder(str(tiny("bert"))).embed([]).shape == (0, 4, 16)


def test_bf16_stays_near_and_is_another_subject(tiny: Folders) -> None:
    """bf16 gives float32 vectors near those of fp32, under another subject id."""
    folder = str(tiny("bert"))
    plain, coarse = Encoder(folder), Encoder(folder, options=EncoderOptions(dtype="bf16"))
    difference = np.abs(plain.embed(USAGES) - coarse.embed(USAGES)).max()
    assert 0 < difference < 0.2
    assert coarse.subject_id == f"{plain.subject_id}?dtype=bf16"


def test_facts_are_counted(tiny: Folders) -> None:
    """Parameters, layers and width are those of the model itself."""
    model = transformers.AutoModel.from_pretrained(tiny("bert"))
    facts = Encoder(str(tiny("bert"))).facts
    assert facts.n_parameters == sum(parameter.numel() for parameter in model.parameters())
    assert (facts.n_layers, facts.width, facts.architecture) == (3, 16, "BertModel")


def test_token_counts(tiny: Folders) -> None:
    """Sentence tokens include the special tokens; target tokens are those that overlap the span."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny("bert"))
    counts = Encoder(str(tiny("bert"))).token_counts(USAGES)
    for usage, (sentence, target) in zip(USAGES, counts.tolist(), strict=True):
        assert sentence == len(tokenizer(usage.text)["input_ids"])
        assert target == len(tokenizer(usage.target, add_special_tokens=False)["input_ids"])


def test_threads_are_given_back(tiny: Folders) -> None:
    """The thread option holds during the forward pass only."""
    before = torch.get_num_threads()
    Encoder(str(tiny("bert")), options=EncoderOptions(threads=before + 1)).embed(USAGES)
    assert torch.get_num_threads() == before


# -- what cannot be answered ----------------------------------------------------------------------------------


def test_the_threads_that_were_used_are_recorded(tiny: Folders, tmp_path: Path) -> None:
    """Settings name the number of threads that torch used, also where none was asked for and nothing was computed."""
    folder, before = str(tiny("bert")), torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        encoder = Encoder(folder)
        encoder.embed(USAGES[:2], work=tmp_path)
        assert encoder.settings["threads"] == 2
    finally:
        torch.set_num_threads(before)
    stored = Encoder(folder)
    stored.embed(USAGES[:2], work=tmp_path)
    assert stored.settings["threads"] == 2
    asked = Encoder(folder, options=EncoderOptions(threads=3))
    asked.embed(USAGES[:3])
    assert asked.settings["threads"] == 3


def test_a_sentence_that_is_too_long_is_refused(tiny: Folders) -> None:
    """Nothing is ever cut off: the message names the target and says whether it would have been lost."""
    text = "the bank " * 40
    late, early = Usage(text, 355, 359), Usage(text, 4, 8)
    with pytest.raises(SubjectError, match="at most 64: the target itself would be lost"):
        Encoder(str(tiny("bert"))).embed([late])
    with pytest.raises(SubjectError, match="the end of its context would be cut off"):
        Encoder(str(tiny("bert"))).embed([early])


def test_positions_of_roberta_start_behind_the_padding(tiny: Folders) -> None:
    """A RoBERTa of 66 positions with padding index 0 reads 65 tokens."""
    encoder = Encoder(str(tiny("roberta")))
    assert encoder._forward.longest == 65


def test_a_target_without_sub_words_is_refused(tiny: Folders) -> None:
    """A target that the normaliser removes has no vector: the error shows it with a caret."""
    with pytest.raises(SubjectError, match=r"no sub-word[^^]*\n[^^]*\^"):
        Encoder(str(tiny("bert"))).embed([Usage("the \u200b\u0007 bank", 4, 6)])


def test_an_unknown_target_is_refused(tiny: Folders) -> None:
    """A target that is all [UNK] has a vector that says nothing of it: refused, not scored."""
    with pytest.raises(SubjectError, match="does not know the target"):
        Encoder(str(tiny("bert"))).embed([Usage("the 漢字 of the river", 4, 6)])


def test_all_refused_usages_are_counted(tiny: Folders) -> None:
    """One of three bad usages is shown, all are counted, before anything is computed."""
    bad = [Usage("the 漢字 of the river", 4, 6), Usage("漢字", 0, 2), Usage("the bank " * 40, 4, 8)]
    with pytest.raises(SubjectError, match="3 usages cannot be used"):
        Encoder(str(tiny("bert"))).embed([*USAGES, *bad])


def test_a_vector_that_is_not_finite_is_refused(tiny: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    """NaN in a layer is an error that names layer and target."""
    encoder = Encoder(str(tiny("bert")))
    run = encoder._forward.run

    def broken(batch: list) -> np.ndarray:
        vectors = run(batch).copy()
        vectors[0, 2, 5] = np.nan
        return vectors

    monkeypatch.setattr(encoder._forward, "run", broken)
    with pytest.raises(SubjectError, match=r"not finite .* at layer 2"):
        encoder.embed(USAGES)


# -- what cannot be loaded ------------------------------------------------------------------------------------


def copy_of(folder: Path, to: Path, *, without: tuple[str, ...] = ()) -> Path:
    to.mkdir()
    for path in folder.iterdir():
        if path.name not in without:
            (to / path.name).write_bytes(path.read_bytes())
    return to


def test_pickled_weights_are_refused(tiny: Folders, tmp_path: Path) -> None:
    """A folder with only pytorch_model.bin is refused without reading it, and the message says why."""
    folder = copy_of(tiny("bert"), tmp_path / "pickled", without=("model.safetensors",))
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'touch canary'\ntR.")
    with pytest.raises(SubjectError, match=r"only pytorch_model.bin[\s\S]*pickle"):
        Encoder(str(folder)).embed(USAGES)
    assert not Path("canary").exists()


@pytest.mark.parametrize(
    ("without", "message"),
    [
        (("tokenizer.json", "vocab.txt"), "no tokenizer"),
        (("config.json",), "config.json is missing"),
        (("model.safetensors",), "model.safetensors is missing"),
    ],
)
def test_an_incomplete_folder_is_refused(tiny: Folders, tmp_path: Path, without: tuple[str, ...], message: str) -> None:
    """A folder without tokenizer, configuration or weights is refused by name."""
    folder = copy_of(tiny("bert"), tmp_path / "incomplete", without=without)
    with pytest.raises(SubjectError, match=message):
        Encoder(str(folder)).layers  # noqa: B018


def test_truncated_weights_are_refused(tiny: Folders, tmp_path: Path) -> None:
    """A weight file that was cut off is named with its real and promised size."""
    folder = copy_of(tiny("bert"), tmp_path / "cut")
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])
    with pytest.raises(SubjectError, match=r"model.safetensors[\s\S]*promises"):
        Encoder(str(folder)).facts  # noqa: B018


def test_weights_of_another_model_are_refused(tiny: Folders, tmp_path: Path) -> None:
    """Layers that the weights lack would be random numbers: refused."""
    folder = copy_of(tiny("bert"), tmp_path / "deeper")
    config = folder / "config.json"
    config.write_text(config.read_text().replace('"num_hidden_layers": 3', '"num_hidden_layers": 4'))
    with pytest.raises(SubjectError, match="do not fit the model's configuration"):
        Encoder(str(folder)).embed(USAGES)


def test_code_of_a_model_is_not_run(tiny: Folders, tmp_path: Path) -> None:
    """A model that needs its own code is refused, also where another revision is named."""
    folder = copy_of(tiny("bert"), tmp_path / "own_code")
    config = folder / "config.json"
    config.write_text(
        config.read_text().replace(
            '"model_type": "bert"',
            '"model_type": "mine", "auto_map": {"AutoConfig": "code.C", "AutoModel": "code.M"}',
        )
    )
    canary = tmp_path / "canary"
    (folder / "code.py").write_text(f"open({str(canary)!r}, 'w')\n")
    with pytest.raises(SubjectError, match="needs code that comes with it"):
        Encoder(str(folder)).embed(USAGES)
    with pytest.raises(SubjectError, match="not the revision of this model"):
        Encoder(str(folder), options=EncoderOptions(trust_remote_code="0123456789abcdef")).embed(USAGES)
    assert not canary.exists()


def test_unknown_names_are_refused() -> None:
    """A folder that is not there and a hub id that cannot be reached are named."""
    with pytest.raises(SubjectError, match="no model folder"):
        Encoder("/nowhere/at/all").layers  # noqa: B018
    with pytest.raises(SubjectError, match="could not load"):
        Encoder("nobody/nothing", revision="v9").layers  # noqa: B018


def test_a_model_that_is_not_installed_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package of the demo model the error is the install line."""
    monkeypatch.setattr("lexiscope.subjects.local._model_folder.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'lexiscope\[demo\]'"):
        Encoder("minilm").layers  # noqa: B018


def test_specs() -> None:
    """Name, revision and options parse; unknown options are refused; only what changes numbers is in the id."""
    encoder = load(SubjectSpec.parse("encoder:org/model#v1?dtype=bf16&threads=2&device=cpu&batch_tokens=99"))
    assert encoder.subject_id == "encoder:org/model#v1?dtype=bf16"
    assert encoder.options == EncoderOptions("bf16", "cpu", 2, 99)
    for wrong in ("org/m?dtype=fp8", "org/m?speed=high", "org/m?threads=two", "?threads=2", "org/m?threads"):
        with pytest.raises(SpecError):
            load(SubjectSpec("encoder", wrong))


# -- the embedded model ---------------------------------------------------------------------------------------


def test_minilm() -> None:
    """The model of the extra demo: 6 layers, width 384, 22.7 million parameters, and it embeds."""
    encoder = make("encoder:minilm")
    assert capabilities(encoder) == CAPABILITIES
    assert isinstance(encoder, Encoder)
    assert encoder.facts.n_parameters == 22_713_216
    assert encoder.embed(usages_in(BANKS, "bank")).shape == (2, 7, 384)
