"""Laying the token strings that a server gives on the text: right, or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from lexiscope.subjects.endpoint._alignment import align


def pieces(text: str, tokens: list[str | None]) -> list[str]:
    spans = align(text, tokens)
    assert spans is not None
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("text", "tokens", "expected"),
    [
        ("A wet bank", ["A", " wet", " bank"], ["A", " wet", " bank"]),
        ("A wet bank", ["A", "wet", "bank"], ["A", " wet", " bank"]),
        ("A wet bank", ["ĠA", "Ġwet", "Ġbank"], None),
        ("A wet bank", ["A", "Ġwet", "Ġbank"], ["A", " wet", " bank"]),
        ("A wet bank", ["▁A", "▁w", "et", "▁bank"], ["A", " w", "et", " bank"]),
        ("Café", ["C", "af", "Ã", "©"], ["C", "af", "é", "é"]),
        ("Café ici", ["Caf", "\ufffd", "\ufffd", " ici"], ["Caf", "é", "é", " ici"]),
        ("“So”", ["", "“", "So", "", "”"], ["“", "“", "So", "”", "”"]),
        ("a 😀!", ["a", " \ufffd", "\ufffd", "!"], ["a", " 😀", "😀", "!"]),
        ("银行 is", ["<0xE9>", "<0x93>", "<0xB6>", "行", "▁is"], ["银", "银", "银", "行", " is"]),
        ("银行", ["", "银", "行"], ["银", "银", "行"]),
        ("the the", [None, " the"], ["the", " the"]),
        ("the the", [None, "the", " the"], ["t", "the", " the"]),
    ],
)
def test_tokens_are_laid_on_the_text(text: str, tokens: list[str | None], expected: list[str] | None) -> None:
    """Spaces shown or not, three alphabets, fragments of characters: each token has its own characters."""
    if expected is None:
        assert align(text, tokens) is None
    else:
        assert pieces(text, tokens) == expected


@pytest.mark.parametrize(
    "tokens",
    [
        ["A", " wet"],
        [" wet", " bank"],
        ["A", " wet", " tank"],
        ["A", " wet", " bank", " now"],
        ["a", " wet", " bank"],
        ["A", " wet", "\ufffd"],
        [],
    ],
)
def test_other_tokens_are_no_alignment(tokens: list[str | None]) -> None:
    """Cut off, exchanged, lower-cased, too many: ``None``, never the nearest fit."""
    assert align("A wet bank", tokens) is None


def test_a_cut_that_could_be_another_is_no_alignment() -> None:
    """Two tokens without strings could divide the word anywhere: that would be a guess."""
    assert align("bank", [None, None]) is None
    assert align("bank", [None]) == ((0, 4),)


@given(st.text(alphabet="ab é银😀\u0301“", min_size=1, max_size=30))
def test_a_byte_level_tokenizer_can_be_followed(text: str) -> None:
    """Whatever the text: tokens decoded one by one (with U+FFFD for fragments) get the tokenizer's own characters."""
    encoding = TOKENIZER.encode(text)
    decoded = [TOKENIZER.decode([token]) for token in encoding.ids]
    spans = align(text, decoded)
    own = [tuple(each) for each in encoding.offsets]
    assert spans is None or list(spans) == own
    # the vocabulary's own alphabet leaves nothing open
    assert align(text, [token or "" for token in encoding.tokens]) is not None


def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=262, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(["ab é银 ab é银😀"], trainer)
    return tokenizer


TOKENIZER = _tokenizer()
