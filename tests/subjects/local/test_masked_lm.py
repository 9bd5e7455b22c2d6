"""Masked language models as scorers: both variants against a loop that masks one token at a time."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from lexiscope.core.errors import InputError, RunError, SpecError, SubjectError
from lexiscope.core.scoring import ScoringPolicy, TokenScores
from lexiscope.core.subject import Scores, SubjectSpec, capabilities
from lexiscope.subjects._answer_log import AnswerLog
from lexiscope.subjects.local import masked_lm
from lexiscope.subjects.local._model_check import rounding
from lexiscope.subjects.local.masked_lm import MaskedForward, MaskedLM, MaskedOptions, TokenisedText, plan_copies

CORPUS = [
    "The keeper of the lighthouse counts the passing ships.",
    "The keeper of the lighthouse counts the passing clouds.",
    "Un faro solitario vigila la costa rocosa.",
    "¿Dónde está la niña? Está en el jardín.",
    "灯台守は船を数える。",
    "Unhappy people play slowly",
] * 3
TEXTS = [
    "The keeper counts the ships.",
    "The keeper counts the clouds.",
    "The lighthouse keeper unpassingly counts the slow ships of the coast",
    "Un faro vigila la niña en el jardín.",
    "faro",
]
SPECIAL = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
SMALL: dict[str, Any] = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
VARIANTS = ["masked", "masked_within_word"]


def _wordpiece() -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    alphabet = sorted({char for text in CORPUS for char in text})
    trainer = trainers.WordPieceTrainer(
        vocab_size=300, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def _bytelevel() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def _unigram() -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=130, special_tokens=SPECIAL, unk_token="[UNK]", show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


KINDS: dict[str, tuple[str, Callable[[], Tokenizer], dict[str, Any]]] = {
    "bert": ("Bert", _wordpiece, {**SMALL, "max_position_embeddings": 64}),
    "roberta": ("Roberta", _bytelevel, {**SMALL, "max_position_embeddings": 66}),
    "xlm_roberta": ("XLMRoberta", _unigram, {**SMALL, "max_position_embeddings": 66}),
    "distilbert": ("DistilBert", _wordpiece, {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32}),
    "albert": ("Albert", _unigram, {**SMALL, "embedding_size": 8}),
    "electra": ("Electra", _wordpiece, {**SMALL, "embedding_size": 8}),
    "modernbert": ("ModernBert", _bytelevel, {**SMALL, "local_attention": 8, "global_attn_every_n_layers": 2}),
}


def save_tiny(folder: Path, kind: str) -> Path:
    """Save a masked language model with random weights large enough for its probabilities to differ."""
    family, tokenizer_of, settings = KINDS[kind]
    tokenizer = tokenizer_of()
    around = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=around)
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]", "cls_token": "[CLS]"}
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, sep_token="[SEP]", **names)
    torch.manual_seed(20260101)
    ids = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}
    config = getattr(transformers, f"{family}Config")(vocab_size=tokenizer.get_vocab_size(), **{**ids, **settings})
    model = getattr(transformers, f"{family}ForMaskedLM")(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.3)
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    made: dict[str, Path] = {}

    def folder_of(kind: str) -> Path:
        if kind not in made:
            made[kind] = save_tiny(tmp_path_factory.mktemp(kind), kind)
        return made[kind]

    return folder_of


@lru_cache
def subject_of(folder: Path, **options: Any) -> MaskedLM:
    """One subject per model and options: a model is loaded once for all tests that change nothing in it."""
    return MaskedLM(str(folder), options=MaskedOptions(**options))


@lru_cache
def plainly_loaded(folder: Path) -> tuple[Any, Any]:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return tokenizer, transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()


def one_at_a_time(folder: Path, text: str, variant: str) -> list[float]:
    """Mask, read, unmask: one forward pass per token, no batch, every logit computed."""
    tokenizer, model = plainly_loaded(folder)
    encoding = tokenizer(text, return_tensors="pt")
    ids, words = encoding["input_ids"][0], encoding.word_ids()
    found = []
    for position, word in enumerate(words):
        if word is None:
            continue
        masked = ids.clone()
        masked[position] = tokenizer.mask_token_id
        if variant == "masked_within_word":
            for later in range(position + 1, len(words)):
                if words[later] == word:
                    masked[later] = tokenizer.mask_token_id
        with torch.no_grad():
            logits = model(input_ids=masked[None]).logits[0, position]
        found.append(float(torch.log_softmax(logits.double(), dim=-1)[ids[position]]))
    return found


def assert_same(found: Sequence[TokenScores], expected: Sequence[TokenScores], tolerance: float | None = None) -> None:
    for one, other in zip(found, expected, strict=True):
        bound = rounding(np.abs(other.log_probabilities).max()) if tolerance is None else tolerance
        np.testing.assert_allclose(one.log_probabilities, other.log_probabilities, atol=bound, rtol=0)
        assert one.starts.tolist() == other.starts.tolist()
        assert one.ends.tolist() == other.ends.tolist()


# -- the numbers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_it_equals_masking_one_token_at_a_time(tiny: Callable[[str], Path], kind: str, variant: str) -> None:
    """Shared copies, batches and the projection at masked places change nothing: equal to the plain loop to 1e-4."""
    found = subject_of(tiny(kind), conditioning=variant).score(TEXTS)
    for text, scores in zip(TEXTS, found, strict=True):
        expected = one_at_a_time(tiny(kind), text, variant)
        np.testing.assert_allclose(scores.log_probabilities, expected, atol=rounding(np.abs(expected).max()), rtol=0)


@pytest.mark.parametrize("kind", ["xlm_roberta", "distilbert", "albert", "electra", "modernbert"])
def test_it_holds_for_other_architectures(tiny: Callable[[str], Path], kind: str) -> None:
    """Other prediction heads are read at the masked places too, with the same numbers as the plain loop."""
    subject = subject_of(tiny(kind))
    (scores,) = subject.score(TEXTS[:1])
    assert subject.settings["route"] == "masked_places"
    expected = one_at_a_time(tiny(kind), TEXTS[0], "masked_within_word")
    np.testing.assert_allclose(scores.log_probabilities, expected, atol=rounding(np.abs(expected).max()), rtol=0)


def test_the_variants_differ_only_in_words_of_several_tokens(tiny: Callable[[str], Path]) -> None:
    """The last token of a word is conditioned on the same under both; an earlier one is not."""
    masked, within = (subject_of(tiny("bert"), conditioning=variant).score([TEXTS[2]])[0] for variant in VARIANTS)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny("bert"))
    words = tokenizer(TEXTS[2], add_special_tokens=False).word_ids()
    last = [word != later for word, later in zip(words, [*words[1:], None], strict=True)]
    differ = ~np.isclose(masked.log_probabilities, within.log_probabilities, rtol=rounding(1.0), atol=0)
    assert differ.any()
    assert not differ[last].any()


def test_offsets_are_the_tokens_characters(tiny: Callable[[str], Path]) -> None:
    """The pieces of the text's tokens, put together, are the text without its spaces."""
    (scores,) = subject_of(tiny("bert")).score([TEXTS[3]])
    pieces = [TEXTS[3][a:b] for a, b in zip(scores.starts, scores.ends, strict=True)]
    assert "".join(pieces) == TEXTS[3].replace(" ", "")


def test_a_token_that_shows_nothing_shares_the_next_character(tiny: Callable[[str], Path]) -> None:
    """Every token of a sentencepiece model counts in the sum over the text, also the bare word boundary."""
    subject = subject_of(tiny("xlm_roberta"), conditioning="masked")
    text = "船を数える"
    (scores,) = subject.score([text])
    assert (scores.starts < scores.ends).all()
    assert subject.policy.counted_tokens(scores, text) == list(range(len(scores)))


def test_order_company_and_repetition_change_nothing(tiny: Callable[[str], Path]) -> None:
    """Backwards, one by one, twice, and in batches of one: the same scores to 1e-4."""
    forwards = subject_of(tiny("roberta")).score(TEXTS)
    assert_same(subject_of(tiny("roberta")).score(TEXTS[::-1])[::-1], forwards)
    assert_same([subject_of(tiny("roberta")).score([text])[0] for text in TEXTS], forwards)
    assert_same(subject_of(tiny("roberta")).score(TEXTS * 2), [*forwards, *forwards])
    assert_same(subject_of(tiny("roberta"), batch_tokens=1).score(TEXTS), forwards)


def test_small_chunks_change_nothing(tiny: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound on memory cuts the work into chunks; the numbers do not show where."""
    whole = subject_of(tiny("bert")).score(TEXTS)
    monkeypatch.setattr(masked_lm, "_CHUNK_IDS", 100)
    monkeypatch.setattr(masked_lm, "_MOST_ROWS", 3)
    steps: list[tuple[int, int]] = []
    chunked = subject_of(tiny("bert")).score(TEXTS, progress=lambda *step: steps.append(step))
    assert_same(chunked, whole)
    assert len(steps) > 1
    assert steps[-1] == (len(TEXTS), len(TEXTS))


def test_equal_masked_copies_are_kept_once() -> None:
    """Two texts that differ in their third token share the copy in which it is masked: 4 + 4 - 1 inputs."""
    spans = tuple((n, n + 1) for n in range(4))
    texts = [TokenisedText((1, 7, 8, third, 9, 2), (1, 2, 3, 4), spans, (0, 1, 2, 3)) for third in (20, 21)]
    copies = plan_copies(texts, 4, within_word=False)
    assert len(copies.inputs) == 4 + 4 - 1
    one, other = (asked[2] for asked in copies.asked)
    assert one == (other[0], 20)
    assert other[1] == 21
    assert copies.inputs[one[0]] == ((1, 7, 8, 4, 9, 2), 3)


def test_within_a_word_the_later_tokens_are_hidden_and_no_other() -> None:
    """Word 0 has the tokens 0, 1, 2: scoring token 1 hides 1 and 2, leaves 0 and the next word."""
    text = TokenisedText((1, 7, 8, 9, 10, 2), (1, 2, 3, 4), ((0, 1), (1, 2), (2, 3), (4, 5)), (0, 0, 0, 1))
    assert text.masked_positions(1, within_word=True) == (2, 3)
    assert text.masked_positions(1, within_word=False) == (2,)
    assert text.masked_positions(3, within_word=True) == (4,)


def test_a_head_that_mixes_places_is_read_everywhere(
    tiny: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where both routes differ when the model is loaded, all places are projected, and the settings say so."""
    head = transformers.models.bert.modeling_bert.BertOnlyMLMHead
    plain = head.forward
    monkeypatch.setattr(head, "forward", lambda self, states: plain(self, states + states.mean(dim=1, keepdim=True)))
    subject = MaskedLM(str(tiny("bert")))
    subject.score(TEXTS[:1])
    assert subject.settings["route"] == "all_places"


# -- what it is -----------------------------------------------------------------------------------------------


def test_the_policy_says_which_variant() -> None:
    """The measure's name has the conditioning; special tokens are never scored: bos=no, first=scored."""
    policy = MaskedLM("x", options=MaskedOptions(conditioning="masked", tokens="word")).policy
    assert str(policy) == "pseudo_log_probability(conditioning=masked,bos=no,first=scored,tokens=word,per=token)"
    assert MaskedLM("x").policy.conditioning == "masked_within_word"
    assert ScoringPolicy.parse(str(policy)) == policy


def test_its_spec_parses_back(tiny: Callable[[str], Path]) -> None:
    """Options that change numbers are in the id, batch size and threads are not; the id makes the same subject."""
    spec = SubjectSpec.parse("masked_lm:org/model#v1?conditioning=masked&batch_tokens=7&threads=2")
    subject = masked_lm.load(spec)
    assert subject.subject_id == "masked_lm:org/model#v1?conditioning=masked"
    assert masked_lm.load(SubjectSpec.parse(subject.subject_id)).subject_id == subject.subject_id
    assert masked_lm.load(SubjectSpec.parse(f"masked_lm:{tiny('bert')}")).facts.n_layers == 2
    assert capabilities(subject) == masked_lm.CAPABILITIES
    assert isinstance(subject, Scores)


def test_threads_change_no_number_and_are_given_back(tiny: Callable[[str], Path]) -> None:
    """The run record says how many were used; afterwards torch has as many as before."""
    before = torch.get_num_threads()
    subject = subject_of(tiny("bert"), threads=before + 1)
    assert_same(subject.score(TEXTS), subject_of(tiny("bert")).score(TEXTS))
    assert (subject.settings["threads"], torch.get_num_threads()) == (before + 1, before)


@pytest.mark.parametrize(
    "option", ["conditioning=left", "bos=yes", "dtype=int8", "batch_tokens=x", "batch_tokens=-1", "threads=two"]
)
def test_unknown_options_are_refused(option: str) -> None:
    """An option that does not exist, or that a masked model cannot have, is an error and no default."""
    with pytest.raises(SpecError):
        masked_lm.load(SubjectSpec.parse(f"masked_lm:org/model?{option}"))


# -- what is refused ------------------------------------------------------------------------------------------


def test_a_text_that_is_too_long_is_refused_before_any_work(tiny: Callable[[str], Path], tmp_path: Path) -> None:
    """Nothing is cut off: the error counts the tokens, and no score of another text was written."""
    with pytest.raises(SubjectError, match="reads at most 64"):
        subject_of(tiny("bert")).score([TEXTS[0], "the ship " * 40], work=tmp_path)
    assert not list(tmp_path.rglob("*.jsonl"))


@pytest.mark.parametrize(("text", "what"), [("The keeper ☃ counts", "does not know"), ("A [MASK] counts", "special")])
def test_tokens_that_are_not_the_texts_are_refused(tiny: Callable[[str], Path], text: str, what: str) -> None:
    """An unknown character has no probability of its own, and a special token written out is none."""
    with pytest.raises(SubjectError, match=what):
        subject_of(tiny("bert")).score([text])


def test_an_empty_text_is_refused(tiny: Callable[[str], Path]) -> None:
    """A text without words has no score."""
    with pytest.raises(InputError, match="no words"):
        subject_of(tiny("bert")).score(["The ships", "  "])


def test_words_that_the_tokenizer_does_not_tell_apart_are_refused(tiny: Callable[[str], Path]) -> None:
    """Without spaces a sentencepiece tokenizer makes one word of a sentence: masked_within_word is refused there."""
    with pytest.raises(SubjectError, match="words of this stretch apart"):
        subject_of(tiny("xlm_roberta")).score(["灯台守は船を数える"])
    assert len(subject_of(tiny("xlm_roberta"), conditioning="masked").score(["灯台守は船を数える"])[0]) > 1


def test_chinese_characters_are_words_of_their_own_for_bert(tiny: Callable[[str], Path]) -> None:
    """BERT's tokenizer sets ideographs apart, so the variants are the same there and none is refused."""
    masked, within = (subject_of(tiny("bert"), conditioning=variant).score(["灯台守船数"]) for variant in VARIANTS)
    assert len(masked[0]) == 5
    assert_same(masked, within, 1e-6)


def test_a_model_without_its_prediction_head_is_refused(tmp_path: Path) -> None:
    """A head with random weights would give random scores: absent weights are an error."""
    save_tiny(tmp_path, "bert")
    transformers.BertModel.from_pretrained(tmp_path).save_pretrained(tmp_path)
    with pytest.raises(SubjectError, match="do not fit"):
        subject_of(tmp_path).score(TEXTS)


def test_a_model_without_a_mask_is_refused(tmp_path: Path) -> None:
    """A tokenizer without a mask token belongs to no masked language model."""
    save_tiny(tmp_path, "bert")
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text())
    settings.pop("mask_token")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    (tmp_path / "special_tokens_map.json").unlink(missing_ok=True)
    with pytest.raises(SubjectError, match="no mask token"):
        subject_of(tmp_path).score(TEXTS)


def test_broken_weights_are_an_error(tmp_path: Path) -> None:
    """NaN in the weights is an error that shows the text, never a score."""
    save_tiny(tmp_path, "bert")
    model = transformers.BertForMaskedLM.from_pretrained(tmp_path)
    with torch.no_grad():
        model.cls.predictions.bias[5] = float("nan")
    model.save_pretrained(tmp_path)
    with pytest.raises(SubjectError, match="not finite"):
        subject_of(tmp_path).score(TEXTS)


# -- resume ---------------------------------------------------------------------------------------------------


def test_a_broken_call_continues(tiny: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Finished texts are kept and not computed again; broken or not, the numbers end the same."""
    monkeypatch.setattr(masked_lm, "_CHUNK_IDS", 1)

    def stop(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        subject_of(tiny("bert")).score(TEXTS, work=tmp_path, progress=stop)
    asked: list[int] = []
    run = MaskedForward.run
    monkeypatch.setattr(
        MaskedForward, "run", lambda self, inputs, *a: asked.append(len(inputs)) or run(self, inputs, *a)
    )
    continued = subject_of(tiny("bert")).score(TEXTS, work=tmp_path)
    tokens = {text: len(scores) for text, scores in zip(TEXTS, continued, strict=True)}
    assert sum(asked) == sum(tokens[text] for text in sorted(TEXTS)[2:])
    assert_same(continued, subject_of(tiny("bert")).score(TEXTS), 0)


def test_a_continued_call_keeps_the_first_provenance(
    tiny: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Route and threads are those with which the call was begun: where it is continued with another number of threads,
    and where every text was stored when it broke off."""

    def stop(done: int, total: int) -> None:
        if done == total:
            raise KeyboardInterrupt

    first = subject_of(tiny("bert"))
    with pytest.raises(KeyboardInterrupt):
        first.score(TEXTS[:2], work=tmp_path, progress=stop)
    stored = subject_of(tiny("bert"))
    stored.score(TEXTS[:2], work=tmp_path)
    assert stored.settings == first.settings
    other = torch.get_num_threads() + 1
    monkeypatch.setattr(torch, "get_num_threads", lambda: other)
    continued = subject_of(tiny("bert"))
    continued.score(TEXTS, work=tmp_path)
    assert continued.settings == first.settings


def test_stored_scores_need_no_model(tiny: Callable[[str], Path], tmp_path: Path) -> None:
    """A call whose texts are all stored loads neither torch nor transformers."""
    subject_of(tiny("bert")).score(TEXTS, work=tmp_path)
    code = (
        "import sys, pathlib; from lexiscope.subjects.local.masked_lm import MaskedLM;"
        f"s = MaskedLM({str(tiny('bert'))!r}).score({TEXTS!r}, work=pathlib.Path({str(tmp_path)!r}));"
        "print(len(s), 'torch' in sys.modules, 'transformers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(len(TEXTS)), "False", "False"]


def test_another_variant_never_takes_stored_scores(tiny: Callable[[str], Path], tmp_path: Path) -> None:
    """The two variants, and two models, have files of their own; which tokens count is no part of them."""
    first = subject_of(tiny("bert")).score(TEXTS, work=tmp_path)
    other = subject_of(tiny("bert"), conditioning="masked").score(TEXTS, work=tmp_path)
    assert not np.allclose(first[2].log_probabilities, other[2].log_probabilities)
    assert len(list(tmp_path.rglob("*.jsonl"))) == 2
    subject_of(tiny("bert"), tokens="word").score(TEXTS, work=tmp_path)
    assert len(list(tmp_path.rglob("*.jsonl"))) == 2
    subject_of(tiny("electra")).score(TEXTS, work=tmp_path)
    assert len(list(tmp_path.rglob("*.jsonl"))) == 3


# -- the log --------------------------------------------------------------------------------------------------


def test_a_torn_last_line_is_asked_again(tmp_path: Path) -> None:
    """A line without an end is cut off; what stands before it stays, and the next line is whole."""
    log = AnswerLog(tmp_path, "model")
    log.put("a", [1.5, -0.0])
    log.put("b", {"x": None})
    log.path.write_bytes(log.path.read_bytes()[:-3])
    again = AnswerLog(tmp_path, "model")
    assert "a" in again
    assert "b" not in again
    again.put("c", 3)
    assert [AnswerLog(tmp_path, "model").get(each) for each in "abc"] == [[1.5, -0.0], None, 3]


def test_a_damaged_line_is_an_error(tmp_path: Path) -> None:
    """A changed digit is found by the seal and never becomes a score."""
    log = AnswerLog(tmp_path, "model")
    log.put("a", -1.5)
    log.path.write_bytes(log.path.read_bytes().replace(b"-1.5", b"-2.5"))
    with pytest.raises(RunError, match="damaged"):
        AnswerLog(tmp_path, "model")
    assert len(AnswerLog(tmp_path, "another model")) == 0
