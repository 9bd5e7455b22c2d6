"""A tiny random Llama that reads bytes, and rated items made up by rule: nobody's judgments."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from lexiscope.core.item import Item
from lexiscope.core.prompt import ChatQuestion, Message
from lexiscope.core.scale import Scale
from lexiscope.core.usage import Usage
from lexiscope.training.lora import RatedItem, Split, TrainingItems, TunedModel, train_lora
from lexiscope.training.lora_settings import LoraSettings

from .tiny_views import save_bert

SCALE = Scale(1, 5)
TEMPLATE = (
    "{% for message in messages %}<s>{{ message.role }}: {{ message.content }}{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant: {% endif %}"
)
# a high rate and no dropout: this is to be learnt by heart, not well
BY_HEART = LoraSettings(
    dropout=0.0, learning_rate=3e-3, effective_batch=8, batch=8, epochs=28, patience=28, weight_decay=0.0
)


def byte_tokenizer(*, template: str | None = None) -> transformers.PreTrainedTokenizerFast:
    """A tokenizer whose tokens are bytes: every digit and every space is a token."""
    special = ["<pad>", "<s>", "</s>"]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate([*special, *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(special)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<s>", eos_token="</s>"
    )
    fast.chat_template = template
    return fast


def save_llama(
    folder: Path, *, seed: int = 1, template: str | None = None, longest: int = 128, layers: int = 2
) -> Path:
    """Save a Llama of random weights with 259 tokens."""
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=259,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=layers,
        num_attention_heads=8,
        num_key_value_heads=8,
        max_position_embeddings=longest,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    model = transformers.AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0, 0.15)
    model.save_pretrained(folder)
    byte_tokenizer(template=template).save_pretrained(folder)
    return folder


def rated_items(number: int, *, words: int = 8) -> tuple[RatedItem, ...]:
    """Items whose three ratings follow from their number."""
    found = []
    for place in range(number):
        word = f"w{place % words}"
        # a letter of its own at the end: easy to tell apart for a model of two layers
        usage = Usage(f"{word} {chr(ord('A') + place)}", 0, len(word), language="en")
        middle = 1 + (place * 7 // 3) % 5
        ratings = tuple(float(min(5, max(1, middle + shift))) for shift in (-1, 0, 1))
        found.append(RatedItem(Item(f"i{place}", "made_up", (usage,)), ratings))
    return tuple(found)


def ask(item: Item) -> ChatQuestion:
    """A short question with a system message."""
    return ChatQuestion((Message("system", "Rate."), Message("user", item.usages[0].text)), scale=SCALE)


def material(number: int = 32) -> TrainingItems:
    """Items that are learnt and measured on at once: what is tested here is learning by heart."""
    items = rated_items(number)
    return TrainingItems(Split("own", items, items), SCALE, ask, "plausibility")


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the tiny Llama, which has no chat template."""
    return save_llama(tmp_path_factory.mktemp("llama"))


@pytest.fixture(scope="session")
def tuned(llama: Path, tmp_path_factory: pytest.TempPathFactory) -> TunedModel:
    """The tiny Llama with 32 made-up items learnt by heart."""
    return train_lora(material(), str(llama), out=tmp_path_factory.mktemp("tuned") / "out", settings=BY_HEART)


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the tiny BERT."""
    return save_bert(tmp_path_factory.mktemp("bert"))
