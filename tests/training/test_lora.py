"""Fine-tuning on ratings: what is learnt, in the adapter alone, after an interruption, and the split of the items."""

from __future__ import annotations

import json
import math
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors import safe_open

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, RunError, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.prompt import ChatQuestion
from lexiscope.core.scale import Scale
from lexiscope.core.subject import SubjectSpec
from lexiscope.core.usage import Usage
from lexiscope.items.answers.chat_answers import expected_rating
from lexiscope.items.answers.scale_scoring import scoring_function
from lexiscope.subjects.local._local_chat import answer_tokens, load_local, point_texts
from lexiscope.subjects.local._model_check import rounding
from lexiscope.subjects.local._model_folder import ModelFolder
from lexiscope.subjects.local.causal_lm import load as load_causal
from lexiscope.tasks.plausibility import example_items
from lexiscope.training import lora
from lexiscope.training.lora import (
    MASKED,
    AdapterExamples,
    LoraModel,
    RatedItem,
    TunedModel,
    examples_of,
    learn_adapter,
    round_to_point,
    split_items,
    target_places,
    train_lora,
)
from lexiscope.training.lora_settings import PRESETS, LoraSettings

from .conftest import BY_HEART, SCALE, ask, byte_tokenizer, material, rated_items, save_llama
from .tiny_views import exit_of_child

# dropout on, and two batches to a step: every source of chance is in play
SHORT = replace(LoraSettings(), learning_rate=1e-2, effective_batch=8, batch=4, epochs=3, patience=3)


def targets(number: int = 32) -> list[int]:
    """The numbers that are to be learnt: the means, which are whole or end in a third or two thirds."""
    return [math.floor(rated.mean + 0.5) for rated in rated_items(number)]


def adapter(folder: Path) -> bytes:
    return (folder / "adapter_model.safetensors").read_bytes()


def learner(llama: Path, settings: LoraSettings = SHORT) -> LoraModel:
    return LoraModel(ModelFolder(llama), settings, start=3)


def test_the_preset_is_the_published_setting() -> None:
    """AmbiStory §5.3.1: r 16, alpha 32, dropout .1, q and v, AdamW 2e-4, batch 16, at most 20 epochs, patience 5."""
    found = PRESETS["ambistory"]
    assert found == LoraSettings()
    assert (found.r, found.alpha, found.dropout) == (16, 32, 0.1)
    assert found.target_modules == ("q_proj", "v_proj")
    assert (found.learning_rate, found.effective_batch, found.epochs, found.patience) == (2e-4, 16, 20, 5)
    assert found.rounding == "half_up"


@pytest.mark.parametrize("changed", [{"batch": 5}, {"r": 0}, {"dropout": 1.0}, {"monitor": "f1"}, {"learning_rate": 0}])
def test_settings_out_of_range_are_refused(changed: dict[str, object]) -> None:
    """A setting that means nothing is refused when it is made."""
    with pytest.raises(InputError):
        LoraSettings(**changed)  # type: ignore[arg-type]


def test_only_the_number_is_learnt() -> None:
    """Every token of the question is masked; what is left are the bytes of the number, here one."""
    tokenizer = byte_tokenizer()
    for example, target in zip(examples_of(rated_items(6), tokenizer, ask, SCALE), targets(6), strict=True):
        free = [label for label in example.labels if label != MASKED]
        assert tokenizer.decode(free) == str(target)
        assert example.labels[-1] != MASKED
        assert len(example.labels) == len(example.ids)
        # beginning of sequence, "Rate.", an empty line, the text of the item, a space
        assert tokenizer.decode(example.ids[:-1]).startswith("<s>Rate.\n\n")
        assert example.ids[-1] == free[0]


@pytest.mark.parametrize("device", ["cpu", *(["cuda"] if torch.cuda.is_available() else [])])
def test_an_adapter_of_a_device(device: str, llama: Path, tmp_path: Path) -> None:
    """It starts from the loss that it has on the processor, and learns as much there."""
    found, expected = (
        train_lora(
            material(), str(llama), out=tmp_path / f"{number}", settings=replace(BY_HEART, epochs=3, device=name)
        )
        for number, name in enumerate((device, "cpu"))
    )
    losses = [[epoch.training_loss for epoch in tuned.history] for tuned in (found, expected)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-2)
    assert losses[0][-1] < losses[0][0]


def test_the_loss_is_that_of_the_number(llama: Path) -> None:
    """The loss of a batch is the sum of -log p of the number tokens by the plain model, and counts nothing else."""
    model = learner(llama)
    examples = examples_of(rated_items(5), model.tokenizer, ask, SCALE)
    model.model.eval()
    loss, tokens = model.loss(examples)
    by_hand = 0.0
    for example in examples:
        scores = torch.log_softmax(model.model(torch.tensor([example.ids])).logits[0, -2].double(), dim=-1)
        by_hand -= scores[example.ids[-1]].item()
    assert tokens == 5
    assert float(loss) == pytest.approx(by_hand, rel=1e-5)


def test_only_the_adapter_learns(llama: Path) -> None:
    """After a step the base's weights are the same bits; each B of the adapter, which began at 0, is not."""
    model = learner(llama)
    before = {name: each.detach().clone() for name, each in model.model.named_parameters()}
    examples = examples_of(rated_items(8), model.tokenizer, ask, SCALE)
    optimizer = torch.optim.AdamW(model.parameters.values(), lr=1e-2)
    model.loss(examples)[0].backward()
    optimizer.step()
    changed = {name for name, each in model.model.named_parameters() if not torch.equal(each, before[name])}
    assert changed
    assert all(".lora_" in name for name in changed)
    assert {name.split(".")[-4] for name in changed} == {"q_proj", "v_proj"}
    assert model.n_learnt == 2 * 2 * (128 * 16 + 16 * 128)


def test_32_items_are_learnt_by_heart(tuned: TunedModel, llama: Path) -> None:
    """A training that works reaches all 32 numbers; the base's files stay as they are."""
    assert tuned.best.spearman == pytest.approx(1.0)
    assert tuned.best.accuracy_within_sd == 1.0
    assert tuned.best.validation_loss < 0.5 < tuned.history[0].validation_loss
    about = json.loads((tuned.folder / "run.json").read_text())
    assert about["base"]["sha256"] == ModelFolder(llama).revision()
    assert about["learnt_weights"] == tuned.n_learnt
    with safe_open(tuned.folder / "adapter_model.safetensors", framework="pt") as stream:
        assert len(stream.keys()) == 2 * 2 * 2
        assert all(".lora_" in name for name in stream.keys())  # noqa: SIM118


@pytest.mark.parametrize("answer", ["generated", "scored"])
def test_the_folder_is_a_chat_subject(tuned: TunedModel, answer: str) -> None:
    """``chat:FOLDER`` answers what was learnt, written and by the most probable number."""
    subject = load_local(SubjectSpec.parse(f"chat:{tuned.folder}?answer={answer}"))
    replies = subject.converse([ask(rated.item) for rated in rated_items(32)])
    assert [int(reply.text) for (reply,) in replies] == targets()
    assert {reply.finish for (reply,) in replies} == {"number" if answer == "generated" else "scored"}
    assert subject.settings["form"] == "plain"


def test_the_folder_is_a_causal_subject(tuned: TunedModel, llama: Path) -> None:
    """``causal_lm:FOLDER`` scores as the model did at the end of its training; the base alone does not."""
    expected = -tuned.best.validation_loss
    texts = [
        f"Rate.\n\n{rated.item.usages[0].text} {target}"
        for rated, target in zip(rated_items(32), targets(), strict=True)
    ]
    found = load_causal(SubjectSpec.parse(f"causal_lm:{tuned.folder}?policy=bos")).score(texts)
    assert np.mean([scores.log_probabilities[-1] for scores in found]) == pytest.approx(expected, abs=rounding(10.0))
    plain = load_causal(SubjectSpec.parse(f"causal_lm:{llama}?policy=bos")).score(texts)
    assert np.mean([scores.log_probabilities[-1] for scores in plain]) < expected - 1


def test_three_readings_agree(tuned: TunedModel) -> None:
    """Written, by the most probable number, and by the scores of a language model: the same 32 numbers."""
    items = [rated.item for rated in rated_items(32)]
    by_scoring = scoring_function("plausibility", "rating", lambda item, **_: ask(item))
    scored = by_scoring(items, load_causal(SubjectSpec.parse(f"causal_lm:{tuned.folder}?policy=bos")), view="full")
    assert scored.where(measure="most_probable_rating").column("value").tolist() == targets()
    weighted = scored.where(measure="rating").column("value")
    chat = load_local(SubjectSpec.parse(f"chat:{tuned.folder}"))
    for (reply,), rating in zip(chat.converse([ask(item) for item in items]), weighted, strict=True):
        found = expected_rating(reply.first_tokens, SCALE)
        assert found is not None
        assert found.rating == pytest.approx(rating, abs=1e-3)


def test_the_published_question_has_the_example_sentence() -> None:
    """AmbiStory §5.3.1: the example sentence of the meaning stands in the prompt; it does in the task's own."""
    asks = catalog.task("plausibility").asks
    assert asks is not None
    for item in example_items("en"):
        said = "\n".join(message.content for message in asks(item).messages)
        assert str(item.condition("example")) in said


def test_a_finished_training_is_left_alone(tuned: TunedModel, llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same call again changes no file, reads no weights, and gives the same result."""
    before = {path.name: path.stat().st_mtime_ns for path in tuned.folder.iterdir() if path.is_file()}
    monkeypatch.delattr(lora, "LoraModel")
    again = train_lora(material(), str(llama), out=tuned.folder, settings=BY_HEART)
    assert again == tuned
    assert {path.name: path.stat().st_mtime_ns for path in tuned.folder.iterdir() if path.name != ".lock"} == {
        name: stamp for name, stamp in before.items() if name != ".lock"
    }


def test_another_training_is_refused(tuned: TunedModel, llama: Path) -> None:
    """A folder belongs to one training: other settings, seeds or items are refused, and what differs is said."""
    with pytest.raises(RunError, match=r"settings\.r was 16 and is now 8"):
        train_lora(material(), str(llama), out=tuned.folder, settings=replace(BY_HEART, r=8))
    with pytest.raises(RunError, match="seed was 0 and is now 1"):
        train_lora(material(), str(llama), out=tuned.folder, settings=BY_HEART, seed=1)
    with pytest.raises(RunError, match="examples"):
        train_lora(material(16), str(llama), out=tuned.folder, settings=BY_HEART)


def train_until_killed(base: str, out: Path) -> None:
    """Train on one thread until the third step of the second epoch, where the process ends without a word."""

    def killed(part: str, done: int, _total: int) -> None:
        if (part, done) == ("epoch 2", 3):
            os.kill(os.getpid(), signal.SIGKILL)

    torch.set_num_threads(1)
    train_lora(material(), base, out=out, settings=replace(SHORT, checkpoint_steps=2), progress=killed)


def test_a_killed_training_ends_with_the_same_bits(llama: Path, tmp_path: Path) -> None:
    """SIGKILL in the second epoch, between two checkpoints; the same call goes on from the last one."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    train_lora(material(), str(llama), out=whole, settings=SHORT)
    assert exit_of_child(train_until_killed, str(llama), broken) == -signal.SIGKILL
    assert not (broken / "run.json").exists()
    with pytest.raises(SubjectError, match="not finished"):
        _ = load_causal(SubjectSpec.parse(f"causal_lm:{broken}")).folder
    steps: list[tuple[str, int]] = []
    train_lora(material(), str(llama), out=broken, settings=SHORT, progress=lambda part, n, _: steps.append((part, n)))
    # 4 steps an epoch: the checkpoint after step 2 of epoch 2 is gone on from
    assert steps[0] == ("epoch 2", 3)
    assert adapter(broken) == adapter(whole)
    assert (broken / "run.json").read_bytes() == (whole / "run.json").read_bytes()
    assert not (broken / "checkpoint").exists()


def test_a_training_killed_at_its_end_is_finished(llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Broken off with the adapter written and its record not: no subject takes it, and no step is made again."""
    out, write = tmp_path / "out", lora.write_sealed

    def stop(path: Path, content: dict[str, object]) -> None:
        if path.name == "run.json":
            raise KeyboardInterrupt
        write(path, content)

    monkeypatch.setattr(lora, "write_sealed", stop)
    with pytest.raises(KeyboardInterrupt):
        train_lora(material(8), str(llama), out=out, settings=SHORT)
    (out / "checkpoint" / ".whole.json.half").write_bytes(b"begun by a process that was killed")
    with pytest.raises(SubjectError, match="not finished"):
        _ = load_causal(SubjectSpec.parse(f"causal_lm:{out}")).folder
    before, steps = adapter(out), []
    monkeypatch.setattr(lora, "write_sealed", write)
    train_lora(material(8), str(llama), out=out, settings=SHORT, progress=lambda *each: steps.append(each))
    assert steps == []
    assert adapter(out) == before
    assert not (out / "checkpoint").exists()


def test_the_seed_decides(llama: Path, tmp_path: Path) -> None:
    """The same seed gives the same bytes, another seed others; the caller's random numbers are left as they were."""
    once = replace(SHORT, epochs=1)
    torch.manual_seed(11)
    expected = torch.rand(1)
    torch.manual_seed(11)
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        train_lora(material(8), str(llama), out=tmp_path / name, settings=once, seed=seed)
    assert torch.equal(torch.rand(1), expected)
    assert adapter(tmp_path / "a") == adapter(tmp_path / "b") != adapter(tmp_path / "c")


def test_a_training_stops_early(llama: Path, tmp_path: Path) -> None:
    """Without a better validation for ``patience`` epochs it ends, and the best epoch's weights are kept."""
    still = replace(SHORT, learning_rate=1e-12, epochs=9, patience=2, monitor="accuracy_within_sd")
    found = train_lora(material(8), str(llama), out=tmp_path / "out", settings=still)
    assert (len(found.history), found.best_epoch) == (3, 1)
    assert found.stopped == "no better accuracy_within_sd for 2 epochs"


def test_an_undefined_correlation_is_said_so(llama: Path, tmp_path: Path) -> None:
    """Predictions that are all the same have no correlation: ``null`` in the record, never a number."""
    model = learner(llama)
    examples = examples_of(rated_items(4), model.tokenizer, ask, SCALE)
    lessons = AdapterExamples(examples, examples, lambda scores: (None, 0.5))
    course = learn_adapter(model, lessons, seed=0, folder=tmp_path, versions={})
    assert {result.spearman for result in course.history} == {None}


def test_batches_and_checkpointing_change_no_gradient(llama: Path) -> None:
    """However many examples are read at once, and with activations computed twice, the gradient is the same."""
    found = []
    for changed in ({"batch": 8}, {"batch": 2}, {"batch": 8, "gradient_checkpointing": True}):
        model = learner(llama, replace(SHORT, dropout=0.0, **changed))  # type: ignore[arg-type]
        examples = examples_of(rated_items(8), model.tokenizer, ask, SCALE)
        model.model.train()
        size = model.settings.batch
        for begin in range(0, 8, size):
            (model.loss(examples[begin : begin + size])[0] / 8).backward()
        found.append(torch.cat([each.grad.flatten() for each in model.parameters.values()]))
    assert float(found[0].abs().max()) > 1e-3
    bound = rounding(float(found[0].abs().max()))
    assert torch.allclose(found[0], found[1], rtol=0, atol=bound)
    assert torch.allclose(found[0], found[2], rtol=0, atol=bound)


def test_the_adapter_of_a_coarse_base_is_fine(llama: Path, tmp_path: Path) -> None:
    """With the base in bf16 the adapter is learnt and kept in fp32."""
    coarse = replace(SHORT, epochs=1, dtype="bf16")
    found = train_lora(material(8), str(llama), out=tmp_path / "out", settings=coarse)
    assert math.isfinite(found.best.validation_loss)
    with safe_open(tmp_path / "out" / "adapter_model.safetensors", framework="pt") as stream:
        assert {stream.get_tensor(name).dtype for name in stream.keys()} == {torch.float32}  # noqa: SIM118
    chat = load_local(SubjectSpec.parse(f"chat:{tmp_path / 'out'}?dtype=bf16&answer=scored"))
    assert {reply.text for (reply,) in chat.converse([ask(each.item) for each in rated_items(4)])} <= set("12345")


# -- the adapter and its base ---------------------------------------------------------------------------------


def copied(tuned: TunedModel, place: Path, change: Callable[[dict[str, object]], None] | None = None) -> Path:
    """A copy of the finished folder, its record changed."""
    place.mkdir()
    for name in ("adapter_config.json", "adapter_model.safetensors", "training.json", "run.json"):
        (place / name).write_bytes((tuned.folder / name).read_bytes())
    if change is not None:
        about = json.loads((place / "run.json").read_text())
        change(about)
        (place / "run.json").write_text(json.dumps(about))
    return place


def test_another_base_is_refused(tuned: TunedModel, tmp_path: Path) -> None:
    """A base whose bytes are not those of the training is refused, whether named or found in the old place."""
    other = save_llama(tmp_path / "other", seed=2)
    with pytest.raises(SubjectError, match="trained on another base"):
        _ = load_causal(SubjectSpec.parse(f"causal_lm:{tuned.folder}?base={other}")).folder
    moved = copied(tuned, tmp_path / "moved", lambda about: about["base"].update(name=str(other)))  # type: ignore[attr-defined]
    with pytest.raises(SubjectError, match="trained on another base"):
        _ = load_causal(SubjectSpec.parse(f"causal_lm:{moved}")).folder


def test_a_moved_base_is_named(tuned: TunedModel, llama: Path, tmp_path: Path) -> None:
    """A base that lies elsewhere now is asked for, and taken from where ``base=`` says."""
    lost = copied(tuned, tmp_path / "lost", lambda about: about["base"].update(name=str(tmp_path / "gone")))  # type: ignore[attr-defined]
    with pytest.raises(SubjectError, match=r"base=FOLDER"):
        _ = load_causal(SubjectSpec.parse(f"causal_lm:{lost}")).folder
    found = load_causal(SubjectSpec.parse(f"causal_lm:{lost}?base={llama}"))
    assert found.revision == load_causal(SubjectSpec.parse(f"causal_lm:{tuned.folder}")).revision
    assert found.settings["known_base"] is True


def test_changed_weights_are_refused(tuned: TunedModel, tmp_path: Path) -> None:
    """A byte of the adapter that is not as it was written is noticed before anything is read."""
    damaged = copied(tuned, tmp_path / "damaged")
    content = bytearray(adapter(damaged))
    content[-1] ^= 1
    (damaged / "adapter_model.safetensors").write_bytes(content)
    with pytest.raises(SubjectError, match="not as it was written"):
        _ = load_causal(SubjectSpec.parse(f"causal_lm:{damaged}")).folder


def test_an_adapter_is_no_base(tuned: TunedModel, tmp_path: Path) -> None:
    """An adapter is not tuned again: its base model is to be named."""
    with pytest.raises(SubjectError, match="adapter already"):
        train_lora(material(8), str(tuned.folder), out=tmp_path / "out", settings=SHORT)


def test_modules_are_named_where_they_are_missing(llama: Path, tmp_path: Path) -> None:
    """A model without the modules is refused with those that it has."""
    with pytest.raises(SubjectError, match="q_proj"):
        train_lora(
            material(8), str(llama), out=tmp_path / "out", settings=replace(SHORT, target_modules=("query_key_value",))
        )


def test_a_damaged_checkpoint_is_refused(llama: Path, tmp_path: Path) -> None:
    """A checkpoint that is cut off, or made with other versions, is not gone on from."""
    out = tmp_path / "out"

    def stop(part: str, done: int, total: int) -> None:
        if part == "epoch 2":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_lora(material(8), str(llama), out=out, settings=SHORT, progress=stop)
    # 1 step an epoch
    kept = out / "checkpoint" / "checkpoint-1"
    about = (kept / "whole.json").read_text()
    (kept / "whole.json").write_text(about.replace('"transformers"', '"transformerz"'))
    with pytest.raises(RunError, match="other versions"):
        train_lora(material(8), str(llama), out=out, settings=SHORT)
    (kept / "whole.json").write_text(about)
    (kept / "model.safetensors").write_bytes((kept / "model.safetensors").read_bytes()[:-9])
    with pytest.raises(RunError, match="cannot be read"):
        train_lora(material(8), str(llama), out=out, settings=SHORT)


def test_numbers_that_begin_alike_are_told_apart_by_their_end(llama: Path, tmp_path: Path) -> None:
    """Where 10 is the tokens 1 and 0, the token that ends an answer is learnt behind each number; without such a token
    10 could never be more probable than 1, and the model is refused, naming both."""
    wide = replace(material(8), scale=Scale(1, 10))
    train_lora(wide, str(llama), out=tmp_path / "out", settings=SHORT)
    tokenizer = transformers.AutoTokenizer.from_pretrained(llama)
    numbers = point_texts(Scale(1, 10))
    tokens = answer_tokens(tokenizer, ask(rated_items(1)[0].item), numbers)
    one, ten = tokens.answers[0], tokens.answers[-1]
    assert tokens.end == (tokenizer.eos_token_id,)
    assert ten[: len(one) - 1] == one[:-1]
    assert ten[: len(one)] != one
    tokenizer.eos_token = None
    with pytest.raises(SubjectError, match="10 begins with the tokens of 1"):
        answer_tokens(tokenizer, ask(rated_items(1)[0].item), numbers)


def test_an_item_that_is_too_long_is_named(llama: Path, tmp_path: Path) -> None:
    """Nothing is cut off: a question longer than the model reads is refused with its item."""

    def long(item: Item) -> ChatQuestion:
        return replace(
            ask(item), messages=tuple(replace(each, content=each.content * 30) for each in ask(item).messages)
        )

    with pytest.raises(SubjectError, match="item 'i0'"):
        train_lora(replace(material(8), ask=long), str(llama), out=tmp_path / "out", settings=SHORT)


def rated(name: str, word: str, *ratings: float, **conditions: str) -> RatedItem:
    usage = Usage(f"The {word}.", 4, 4 + len(word), lemma=word, language="en")
    return RatedItem(Item(name, "made_up", (usage,), conditions=conditions), ratings or (3.0,))


@pytest.mark.parametrize(
    ("mean", "up", "even"),
    [(1.0, 1, 1), (1.5, 2, 2), (2.5, 3, 2), (3.5, 4, 4), (4.5, 5, 4), (4.4, 4, 4), (4.6, 5, 5), (5.0, 5, 5)],
)
def test_halves_are_rounded_by_the_rule_that_is_named(mean: float, up: int, even: int) -> None:
    """Half up takes the higher point, half even the even number, as Python's round does; all else is the nearest."""
    assert round_to_point(mean, Scale(1, 5), "half_up") == up
    assert round_to_point(mean, Scale(1, 5), "half_even") == even == round(mean)


def test_a_mean_of_six_ratings_may_be_a_half() -> None:
    """2, 2, 2, 3, 3, 3 is 15 / 6 = 2.5: the third point of the scale half up, the second half even."""
    item = rated("i", "bank", 2, 2, 2, 3, 3, 3)
    assert item.mean == 2.5
    assert target_places([item], Scale(1, 5), "half_up") == (2,)
    assert target_places([item], Scale(1, 5), "half_even") == (1,)


def test_other_scales_have_their_own_points() -> None:
    """Steps of a half, a scale from 0, one below zero."""
    assert round_to_point(1.25, Scale(0, 3, step=0.5)) == 1.5
    assert round_to_point(0.5, Scale(0, 4)) == 1
    assert round_to_point(-0.5, Scale(-3, 3)) == 0
    assert round_to_point(-1.5, Scale(-3, 3), "half_even") == -2


def test_ratings_off_the_scale_are_refused_with_their_item() -> None:
    """A continuous scale has no points, and a mean outside the scale no nearest one."""
    with pytest.raises(InputError, match="continuous"):
        round_to_point(0.4, Scale(0, 1, step=0))
    with pytest.raises(InputError, match="item 'far'"):
        target_places([rated("far", "bank", 9.0)], Scale(1, 5), "half_up")
    with pytest.raises(InputError, match="without a rating"):
        RatedItem(rated("i", "bank").item, ())


def test_whole_words_are_held_back() -> None:
    """By word, no word stands in both parts, about the share is held back, and the seed alone decides which."""
    items = [rated(f"i{n}", f"word{n % 10}") for n in range(40)]
    found = split_items(items, share=0.2, seed=4)
    words = [{each.item.word for each in part} for part in (found.training, found.validation)]
    assert found.how == "word"
    assert not words[0] & words[1]
    assert len(found.validation) == 8
    assert sorted(each.item.item_id for each in (*found.training, *found.validation)) == sorted(
        each.item.item_id for each in items
    )
    assert split_items(items, share=0.2, seed=4) == found != split_items(items, share=0.2, seed=5)


def test_the_split_of_a_dataset_is_kept() -> None:
    """Train is learnt from, dev decides, test is never seen; words in both parts are said."""
    items = [rated("a", "bank", split="train"), rated("b", "Bank", split="dev"), rated("c", "jam", split="test")]
    found = split_items(items)
    assert (found.how, found.left_out, found.shared_words) == ("own", 1, ("bank",))
    assert [each.item.item_id for each in (*found.training, *found.validation)] == ["a", "b"]
    by_word = split_items([*items, rated("d", "quay", split="dev")], how="word", share=0.5)
    assert (by_word.how, by_word.left_out) == ("word", 1)
    assert {each.item.item_id for each in (*by_word.training, *by_word.validation)} == {"a", "b", "d"}


def test_a_split_needs_two_parts() -> None:
    """One word cannot be split, items without the condition have no own split, a share lies between 0 and 1."""
    with pytest.raises(InputError, match="validation"):
        split_items([rated("a", "bank"), rated("b", "bank")])
    with pytest.raises(InputError, match="both parts"):
        split_items([rated("a", "bank", split="train")])
    with pytest.raises(InputError, match="condition 'split'"):
        split_items([rated("a", "bank")], how="own")
    with pytest.raises(InputError, match="share"):
        split_items([rated("a", "bank"), rated("b", "jam")], share=1.0)
