"""A tiny random BERT that reads words, and made-up items whose answers follow from a rule: nobody's judgments."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.answers.search_space import Entry, SearchSpace
from lexiscope.subjects.trained._encoder import LoadedClassifier
from lexiscope.training.settings import TrainingSettings

NOUNS = ["bat", "bank", "seal", "mole", "crane", "jam", "bark", "bow"]
ANIMALS = ["flew", "swam", "slept", "ate"]
THINGS = ["broke", "closed", "rusted", "fell"]
WORDS = [
    *("the", "old", "near", "town", ".", ",", ";", ":", '"', "[", "]", "‖", "an", "animal", "thing", "a", "that", "is"),
    *NOUNS,
    *ANIMALS,
    *THINGS,
]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

QUICK = TrainingSettings(
    learning_rate=3e-3, epochs=12, patience=12, batch=8, dropout=0.0, warmup=0.0, weight_decay=0.0, longest=64
)
"""A high rate and no dropout: toys are to be learnt by heart."""


def save_bert(folder: Path, *, mask: bool = True, seed: int = 3, words: Sequence[str] = WORDS) -> Path:
    """Save a BERT of random weights, two layers and 43 tokens, or those of other words."""
    vocabulary = {token: number for number, token in enumerate([*SPECIAL, *words])}
    tokenizer = Tokenizer(models.WordPiece(vocab=vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **names, **({"mask_token": "[MASK]"} if mask else {})
    )
    torch.manual_seed(seed)
    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = transformers.BertConfig(vocab_size=len(vocabulary), max_position_embeddings=64, **small)
    model = transformers.BertModel(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0, 0.2)
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


def parameters_of(reader: LoadedClassifier) -> dict[str, torch.nn.Parameter]:
    """What a training learns: encoder and head, by their names in its checkpoints."""
    return dict(torch.nn.ModuleDict({"encoder": reader.model, "head": reader.head}).named_parameters())


def weights_of(reader: LoadedClassifier) -> dict[str, torch.Tensor]:
    """A copy of the same."""
    return {name: each.detach().clone() for name, each in parameters_of(reader).items()}


def usage(noun: str, verb: str, *, far: bool = False) -> Usage:
    """A sentence of a noun and a verb."""
    before = "near the town , the old " if far else "the "
    return Usage(f"{before}{noun} {verb} .", len(before), len(before) + len(noun), lemma=noun, language="en")


def pairs(number: int, *, start: int = 0) -> tuple[Item, ...]:
    """Pairs whose answer is ``t`` where the second verb is one of animals: the context tells, the word does not."""
    found = []
    for place in range(start, start + number):
        # noun, first verb and answer are crossed: neither of the others tells the answer
        noun, first, same = NOUNS[place % 8], place // 8 % 2, place // 16 % 2
        verbs = [(THINGS, ANIMALS)[side][(place // 3 + shift) % 4] for shift, side in ((0, first), (1, same))]
        usages = (usage(noun, verbs[0]), usage(noun, verbs[1], far=place % 3 == 0))
        found.append(Item(f"made/{place}", "made", usages, gold="t" if same else "f"))
    return tuple(found)


def verifications(number: int, *, start: int = 0) -> tuple[Item, ...]:
    """A usage and a definition; the answer is ``t`` where the definition is that of an animal."""
    found = []
    for place in range(start, start + number):
        verb, told = (ANIMALS, THINGS)[place // 8 % 2][place // 3 % 4], place // 16 % 2
        conditions = {"definition": ("a thing", "an animal")[told], "hypernyms": "old"}
        seen = usage(NOUNS[place % 8], verb)
        found.append(Item(f"made/{place}", "made", (seen,), gold="ft"[told], conditions=conditions))
    return tuple(found)


def senses(number: int, *, start: int = 0) -> tuple[Item, ...]:
    """A usage with two senses, of which the one of an animal is right, wherever it stands."""
    found = []
    for place in range(start, start + number):
        noun, first = NOUNS[place % 8], place // 16 % 2
        seen = usage(noun, (ANIMALS, THINGS)[place // 8 % 2][place // 3 % 4])
        glosses = {
            f"{noun}%1": f"an animal that {ANIMALS[place % 4]}",
            f"{noun}%2": f"a thing that {THINGS[place % 4]}",
        }
        options = tuple(sorted(glosses, reverse=bool(first)))
        conditions = {"glosses": "|".join(glosses[each] for each in options)}
        found.append(Item(f"made/{place}", "made", (seen,), options, f"{noun}%1", conditions=conditions))
    return tuple(found)


SPACE = SearchSpace(
    "made-up meanings",
    tuple(
        Entry(f"{noun}.{kind}", noun, f"an animal that {verb}" if kind == 0 else f"a thing that {verb}")
        for noun in NOUNS[:4]
        for kind, verb in ((0, "slept"), (1, "broke"))
    ),
)
"""Two entries for each of four nouns: an animal and a thing."""


def retrievals(number: int, *, start: int = 0) -> tuple[Item, ...]:
    """A usage whose right entry is the noun as an animal or as a thing, as the verb tells."""
    found = []
    for place in range(start, start + number):
        noun, side = NOUNS[place % 4], place // 4 % 2
        seen = usage(noun, (ANIMALS, THINGS)[side][place // 3 % 4])
        found.append(Item(f"made/{place}", "made", (seen,), gold=f"{noun}.{side}"))
    return tuple(found)


def exit_of_child(work: Callable[..., object], *given: object) -> int | None:
    """Call a function in a process of its own and return how that ended: the negative number of a signal, or a code."""
    # a copy of this process has torch already; one that has used a GPU cannot be copied
    context = multiprocessing.get_context("spawn" if torch.cuda.is_initialized() else "fork")
    child = context.Process(target=work, args=given)
    child.start()
    child.join()
    return child.exitcode
