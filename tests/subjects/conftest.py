"""Tiny models of many architectures, with random weights and tokenizers trained on the spot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

CORPUS = [
    "The bank of the river is far from the bank in town.",
    "She could hear the loud bark of the dog at night.",
    "He scraped the bark of the old oak tree.",
    "El banco del parque está lejos del banco de la ciudad.",
    "Guardó la lima madura en la cesta de mimbre.",
    "¿Quién usó la lima de uñas? ¡Ñandú, pingüino y corazón!",
] * 4

SMALL: dict[str, Any] = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 32}
ROTARY = {**SMALL, "num_key_value_heads": 1, "max_position_embeddings": 64}

# architecture -> (configuration, kind of tokenizer, settings)
ARCHITECTURES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "bert": ("BertConfig", "wordpiece", {**SMALL, "max_position_embeddings": 64}),
    "electra": ("ElectraConfig", "wordpiece", {**SMALL, "embedding_size": 8}),
    "distilbert": ("DistilBertConfig", "wordpiece", {"dim": 16, "n_layers": 3, "n_heads": 2, "hidden_dim": 32}),
    "mpnet": ("MPNetConfig", "wordpiece", {**SMALL, "pad_token_id": 1}),
    "deberta_v2": (
        "DebertaV2Config",
        "unigram",
        {**SMALL, "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "conv_kernel_size": 3},
    ),
    "modernbert": ("ModernBertConfig", "bytelevel", {**SMALL, "local_attention": 8, "global_attn_every_n_layers": 2}),
    "roberta": ("RobertaConfig", "bytelevel", {**SMALL, "max_position_embeddings": 66}),
    "xlm_roberta": ("XLMRobertaConfig", "unigram", {**SMALL, "max_position_embeddings": 66}),
    "albert": ("AlbertConfig", "unigram", {**SMALL, "embedding_size": 8, "num_hidden_groups": 1}),
    "albert_groups": ("AlbertConfig", "unigram", {**SMALL, "num_hidden_layers": 4, "num_hidden_groups": 2}),
    "gpt2": ("GPT2Config", "bytelevel", {"n_embd": 16, "n_layer": 3, "n_head": 2, "n_positions": 64}),
    "gpt_neox": ("GPTNeoXConfig", "bytelevel", {**SMALL, "max_position_embeddings": 64}),
    "opt": ("OPTConfig", "bytelevel", {**SMALL, "ffn_dim": 32, "word_embed_proj_dim": 16}),
    "bloom": ("BloomConfig", "bytelevel", {"hidden_size": 16, "n_layer": 3, "n_head": 2}),
    "llama": ("LlamaConfig", "metaspace", ROTARY),
    "mistral": ("MistralConfig", "metaspace", {**ROTARY, "sliding_window": 8}),
    "qwen2": ("Qwen2Config", "bytelevel", ROTARY),
    "gemma": ("GemmaConfig", "metaspace", {**ROTARY, "head_dim": 8}),
    "phi": ("PhiConfig", "bytelevel", {**SMALL, "max_position_embeddings": 64}),
    "t5_encoder": ("T5Config", "unigram", {"d_model": 16, "num_layers": 3, "num_heads": 2, "d_ff": 32, "d_kv": 8}),
}
SPECIAL = ["<pad>", "<s>", "</s>", "<unk>", "<mask>"]


def tiny_tokenizer(kind: str) -> Tokenizer:
    """Train a tokenizer of one family on the corpus, with the special tokens around the text."""
    if kind == "wordpiece":
        tokenizer = Tokenizer(models.WordPiece(unk_token="<unk>"))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer: Any = trainers.WordPieceTrainer(vocab_size=140, special_tokens=SPECIAL, show_progress=False)
    elif kind == "bytelevel":
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(
            vocab_size=330, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
        )
    elif kind == "metaspace":
        tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.BpeTrainer(vocab_size=160, special_tokens=SPECIAL, show_progress=False)
    else:
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(
            vocab_size=120, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False
        )
    tokenizer.train_from_iterator(CORPUS, trainer)
    start, end = tokenizer.token_to_id("<s>"), tokenizer.token_to_id("</s>")
    around = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", start), ("</s>", end)])
    # byte-level offsets count the space before a word, as GPT-2's and Llama 3's own tokenizers do
    tokenizer.post_processor = (
        processors.Sequence([processors.ByteLevel(trim_offsets=False), around]) if kind == "bytelevel" else around
    )
    return tokenizer


def save_tiny(folder: Path, architecture: str) -> Path:
    """Save a model of an architecture with random weights large enough for layers to differ."""
    config_name, kind, settings = ARCHITECTURES[architecture]
    tokenizer = tiny_tokenizer(kind)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>", bos_token="<s>", eos_token="</s>"
    )
    torch.manual_seed(20250429)
    settings = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, **settings}
    config = getattr(transformers, config_name)(vocab_size=tokenizer.get_vocab_size(), **settings)
    model = transformers.AutoModel.from_config(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0, 0.3)
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that gives the folder of a tiny model, made once per session."""
    made: dict[str, Path] = {}

    def folder_of(architecture: str) -> Path:
        if architecture not in made:
            made[architecture] = save_tiny(tmp_path_factory.mktemp(architecture), architecture)
        return made[architecture]

    return folder_of


LONGER: dict[str, Any] = {**SMALL, "max_position_embeddings": 256}
ROTARY_LM: dict[str, Any] = {**LONGER, "num_key_value_heads": 1}
GPT: dict[str, Any] = {"n_embd": 16, "n_layer": 3, "n_head": 2, "n_positions": 256}
WINDOW: dict[str, Any] = {
    "sliding_window": 8,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
}
LOCAL: dict[str, Any] = {"num_heads": 2, "attention_types": [[["global", "local"], 1]], "window_size": 8}
JAMBA: dict[str, Any] = {
    "attn_layer_period": 2,
    "attn_layer_offset": 1,
    "expert_layer_period": 4,
    "num_experts": 2,
    "mamba_d_state": 4,
    "mamba_dt_rank": 4,
}
FALCON_H1: dict[str, Any] = {
    "num_hidden_layers": 2,
    "head_dim": 8,
    "mamba_d_ssm": 16,
    "mamba_n_heads": 2,
    "mamba_d_head": 8,
    "mamba_d_state": 4,
    "mamba_chunk_size": 8,
}

# architecture -> (configuration, settings)
CAUSAL: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("LlamaConfig", ROTARY_LM),
    "gpt2": ("GPT2Config", GPT),
    "gpt_neox": ("GPTNeoXConfig", LONGER),
    "olmo": ("OlmoConfig", ROTARY_LM),
    "olmo2": ("Olmo2Config", ROTARY_LM),
    "qwen2": ("Qwen2Config", ROTARY_LM),
    "opt": ("OPTConfig", {**LONGER, "ffn_dim": 32, "word_embed_proj_dim": 16}),
    "gptj": ("GPTJConfig", {**GPT, "rotary_dim": 4}),
    "gemma2": ("Gemma2Config", {**ROTARY_LM, "head_dim": 8, "final_logit_softcapping": 5.0}),
    "cohere": ("CohereConfig", {**ROTARY_LM, "logit_scale": 0.25}),
    "mistral_wide": ("MistralConfig", {**ROTARY_LM, "sliding_window": 4_096}),
    "mistral": ("MistralConfig", {**ROTARY_LM, "sliding_window": 8}),
    "gemma2_narrow": ("Gemma2Config", {**ROTARY_LM, "head_dim": 8, **WINDOW}),
    "gpt_neo": ("GPTNeoConfig", {"hidden_size": 16, "num_layers": 2, **LOCAL, "max_position_embeddings": 256}),
    "bloom": ("BloomConfig", {"hidden_size": 16, "n_layer": 3, "n_head": 2}),
    "mamba": ("MambaConfig", {"hidden_size": 16, "num_hidden_layers": 2, "state_size": 4}),
    # recurrent states in some layers, keys and values in others; in falcon_h1, both in each
    "jamba": ("JambaConfig", {**ROTARY_LM, **JAMBA}),
    "falcon_h1": ("FalconH1Config", {**ROTARY_LM, **FALCON_H1}),
}


def save_causal(folder: Path, architecture: str, *, scale: float = 0.3) -> Path:
    """Save a causal language model of random weights large enough for every token to matter."""
    config_name, settings = CAUSAL[architecture]
    tokenizer = tiny_tokenizer("metaspace" if architecture in ("llama", "mistral") else "bytelevel")
    if architecture in ("llama", "mistral"):
        tokenizer.decoder = decoders.Metaspace()
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>", bos_token="<s>", eos_token="</s>"
    )
    torch.manual_seed(20250429)
    settings = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, **settings}
    config = getattr(transformers, config_name)(vocab_size=tokenizer.get_vocab_size(), **settings)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0, scale)
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def causal(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that gives the folder of a tiny causal language model, made once per session."""
    made: dict[str, Path] = {}

    def folder_of(architecture: str) -> Path:
        if architecture not in made:
            made[architecture] = save_causal(tmp_path_factory.mktemp(f"causal_{architecture}"), architecture)
        return made[architecture]

    return folder_of
