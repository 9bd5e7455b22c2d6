"""Chat models read here: what they read, what they write, how often, and what is said of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from lexiscope.collect import collect
from lexiscope.core import catalog
from lexiscope.core.errors import CapabilityError, InputError, SpecError, SubjectError
from lexiscope.core.prompt import ChatQuestion, Message, Prompting
from lexiscope.core.scale import Scale
from lexiscope.core.subject import Continuation, Decoding, SubjectSpec
from lexiscope.items.answers.chat_answers import expected_rating
from lexiscope.subjects.local import _local_chat
from lexiscope.subjects.local._local_chat import LocalChat, answer_tokens, load_local, render_question
from lexiscope.subjects.local._model_check import rounding

TEMPLATE = (
    "{% for m in messages %}<s>{{ m.role }} {{ m.content }}{% endfor %}{% if add_generation_prompt %}<s>{% endif %}"
)
NO_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('no system message here') }}{% endif %}" + TEMPLATE
QUESTION = ChatQuestion(
    (Message("system", "Rate it."), Message("user", "The bank of the river")), scale=Scale(1, 5), max_tokens=6
)


@pytest.fixture(scope="module")
def folders(causal: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One tiny model of random weights three times: with a template, with one without system messages, and bare."""
    found = {}
    for name, template in (("chat", TEMPLATE), ("no_system", NO_SYSTEM), ("bare", "")):
        found[name] = tmp_path_factory.mktemp("local") / name
        shutil.copytree(causal("qwen2"), found[name])
        if template:
            (found[name] / "chat_template.jinja").write_text(template)
    return found


def chat(folder: Path, options: str = "") -> LocalChat:
    return load_local(SubjectSpec.parse(f"chat:{folder}{options}"))


def changed(question: ChatQuestion, **fields: object) -> ChatQuestion:
    return ChatQuestion(**{name: getattr(question, name) for name in question.__slots__} | fields)  # type: ignore[arg-type]


def reference(folder: Path) -> tuple[transformers.PreTrainedTokenizerBase, torch.nn.Module]:
    """The model and its tokenizer as transformers alone reads them."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return tokenizer, transformers.AutoModelForCausalLM.from_pretrained(folder).eval()


def test_the_catalog_reads_a_folder(folders: dict[str, Path]) -> None:
    """``chat:FOLDER`` without an address is a model that is read here."""
    subject = catalog.subject(f"chat:{folders['chat']}?shots=2")
    assert isinstance(subject, LocalChat)
    assert subject.kind == "chat"
    assert subject.facts.revision
    assert subject.prompting == Prompting(shots=2)


def test_it_writes_what_the_model_writes(folders: dict[str, Path]) -> None:
    """The reply is transformers' own greedy continuation of transformers' own rendering of the conversation."""
    tokenizer, network = reference(folders["chat"])
    text = tokenizer.apply_chat_template(QUESTION.as_json(), tokenize=False, add_generation_prompt=True)
    ids = tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        made = network.generate(ids, max_new_tokens=6, do_sample=False, pad_token_id=0)[0, ids.shape[1] :]
    ((reply,),) = chat(folders["chat"]).converse([QUESTION])
    assert reply.text == tokenizer.decode(made, skip_special_tokens=True)
    assert reply.usage == {
        "prompt_tokens": ids.shape[1],
        "completion_tokens": len([each for each in made if each != 2]),
    }
    assert reply.finish in ("length", "stop")


def test_first_tokens_have_the_models_probabilities(folders: dict[str, Path]) -> None:
    """The 20 most probable first tokens and the points of the scale, which a weighted rating is made of."""
    tokenizer, network = reference(folders["chat"])
    text = tokenizer.apply_chat_template(QUESTION.as_json(), tokenize=False, add_generation_prompt=True)
    ids = tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        scores = torch.log_softmax(network(ids).logits[0, -1].double(), dim=-1)
    ((reply,),) = chat(folders["chat"]).converse([QUESTION])
    best = tokenizer.decode([int(scores.argmax())])
    assert max(reply.first_tokens, key=lambda token: reply.first_tokens[token]) == best
    assert reply.first_tokens[best] == pytest.approx(float(scores.max()), abs=rounding(10.0))
    assert set("12345") <= set(reply.first_tokens)
    four = tokenizer("4", add_special_tokens=False)["input_ids"]
    assert reply.first_tokens["4"] == pytest.approx(float(scores[four[0]]), abs=rounding(10.0))
    assert 20 <= len(reply.first_tokens) <= 30


def test_the_most_probable_number_may_answer(folders: dict[str, Path]) -> None:
    """``answer=scored``: the point of the scale whose tokens have the highest log-probability, which is kept."""
    tokenizer, network = reference(folders["chat"])
    tokens = answer_tokens(tokenizer, QUESTION, ("1", "2", "3", "4", "5"))
    by_hand = []
    for answer in tokens.answers:
        ids = torch.tensor([[*tokens.prompt, *answer]])
        with torch.no_grad():
            scores = torch.log_softmax(network(ids).logits[0].double(), dim=-1)
        by_hand.append(sum(float(scores[len(tokens.prompt) - 1 + n, each]) for n, each in enumerate(answer)))
    ((reply,),) = chat(folders["chat"], "?answer=scored").converse([QUESTION])
    assert reply.text == str(1 + int(np.argmax(by_hand)))
    assert list(reply.first_tokens.values()) == pytest.approx(by_hand, abs=rounding(10.0 + max(map(abs, by_hand))))


def test_numbers_of_several_digits_are_compared_with_their_end(folders: dict[str, Path]) -> None:
    """On 0 to 10, the tokens of 1 begin those of 10: the token that ends an answer stands behind each number.

    By hand: the log-probabilities of the digits and of that token, added up; the expected rating weights all eleven.
    """
    tokenizer, network = reference(folders["chat"])
    question = changed(QUESTION, scale=Scale(0, 10, step=0))
    by_hand = {}
    tokens = answer_tokens(tokenizer, question, [str(number) for number in range(11)])
    assert tokens.end == (tokenizer.eos_token_id,)
    for number, answer in enumerate(tokens.answers):
        assert answer[-1] == tokenizer.eos_token_id
        ids = torch.tensor([[*tokens.prompt, *answer]])
        with torch.no_grad():
            scores = torch.log_softmax(network(ids).logits[0].double(), dim=-1)
        by_hand[number] = sum(float(scores[len(tokens.prompt) - 1 + n, each]) for n, each in enumerate(answer))
    ((reply,),) = chat(folders["chat"], "?answer=scored").converse([question])
    assert reply.text == str(max(by_hand, key=by_hand.__getitem__))
    weights = {number: float(np.exp(log - max(by_hand.values()))) for number, log in by_hand.items()}
    expected = sum(number * weight for number, weight in weights.items()) / sum(weights.values())
    found = expected_rating(reply.first_tokens, Scale(0, 10, step=0), whole=reply.whole)
    assert found is not None
    assert found.rating == pytest.approx(expected, rel=1e-4)
    assert answer_tokens(tokenizer, QUESTION, ("1", "2", "3", "4", "5")).end == ()


def test_a_template_without_system_messages_is_followed(folders: dict[str, Path]) -> None:
    """Where the template refuses a system message, the user's first message begins with it, and the record says so."""
    tokenizer, _ = reference(folders["no_system"])
    found = render_question(tokenizer, QUESTION)
    assert (found.form, found.text) == ("template_without_system", "<s>user Rate it.\n\nThe bank of the river<s>")
    subject = chat(folders["no_system"])
    assert len(subject.converse([QUESTION])) == 1
    assert subject.settings["form"] == "template_without_system"


def test_a_template_that_refuses_everything_is_said(folders: dict[str, Path], tmp_path: Path) -> None:
    """The template's own words are passed on."""
    shutil.copytree(folders["bare"], tmp_path / "closed")
    (tmp_path / "closed" / "chat_template.jinja").write_text("{{ raise_exception('closed today') }}")
    with pytest.raises(SubjectError, match="closed today"):
        chat(tmp_path / "closed").converse([QUESTION])


def test_a_model_that_was_not_taught_to_converse_is_refused(folders: dict[str, Path]) -> None:
    """Without a chat template a model is a language model: the error says how to ask it."""
    with pytest.raises(CapabilityError, match="causal_lm:"):
        chat(folders["bare"]).converse([QUESTION])


def test_repetitions_are_drawn_each_with_its_seed(folders: dict[str, Path]) -> None:
    """At a temperature each repetition is drawn anew, the same under the same seed; at 0 all are one reply."""
    hot = changed(QUESTION, temperature=5.0)
    subject = chat(folders["chat"], "?repeats=4")
    (replies,) = subject.converse([hot])
    assert len({reply.text for reply in replies}) > 1
    assert subject.converse([QUESTION, hot])[1] == [*replies]
    assert subject.with_seed(1).converse([hot]) != [list(replies)]
    (cold,) = subject.converse([QUESTION])
    assert len(cold) == 4
    assert len({reply.text for reply in cold}) == 1


def test_a_reply_does_not_depend_on_its_company(folders: dict[str, Path]) -> None:
    """The same question gets the same words whatever is asked beside it, in whatever order."""
    several = [changed(QUESTION, messages=(Message("user", text),)) for text in ("A bank", "The old oak", "At night")]
    subject = chat(folders["chat"])
    alone = [subject.converse([each])[0][0].text for each in several]
    assert [replies[0].text for replies in subject.converse(several[::-1])][::-1] == alone


def test_kept_replies_are_not_made_again(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a work folder, a call that was broken off makes what is missing only."""
    subject = chat(folders["chat"])
    before = subject.converse([QUESTION], work=tmp_path)
    made = []
    monkeypatch.setattr("lexiscope.subjects.local._local_chat.continue_group", lambda *each, **more: made.append(each))
    assert chat(folders["chat"]).converse([QUESTION], work=tmp_path) == before
    assert made == []


def test_it_continues_prompts(folders: dict[str, Path]) -> None:
    """A prompt is a message of the user; an empty one is refused."""
    subject = chat(folders["chat"])
    ((made,),) = subject.generate(["A bank"], Decoding(max_tokens=4))
    asked = ChatQuestion((Message("user", "A bank"),), max_tokens=4)
    assert made.text == subject.converse([asked])[0][0].text
    with pytest.raises(InputError, match="empty"):
        subject.generate([""], Decoding())


def test_every_item_has_its_rows(folders: dict[str, Path]) -> None:
    """Asked a task, a model of random weights says nothing readable: a row each without value, and its reply kept."""
    items = catalog.dataset("mini_relatedness").items[:2]
    subject = chat(folders["chat"])
    monkey = subject.forward
    monkey.longest = None
    table = collect(items, [subject], "relatedness")
    ratings = table.where(measure="rating")
    assert ratings.column("item_id").tolist() == [item.item_id for item in items]
    assert len(table.where(measure="reply")) == 2
    assert (
        subject.judge(items, "relatedness").where(measure="rating").column("raw").tolist()
        == ratings.column("raw").tolist()
    )


def test_a_question_that_is_too_long_is_refused(folders: dict[str, Path]) -> None:
    """Nothing is cut off: the question with its answer must fit."""
    with pytest.raises(SubjectError, match="reads at most 256"):
        chat(folders["chat"]).converse([changed(QUESTION, messages=(Message("user", "bank " * 300),))])


def test_a_model_that_thinks_may_fill_what_it_can_read(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 256 tokens what the question leaves, not the 6 of the prompt; a thought is no part of the reply."""
    subject = chat(folders["chat"], "?preset=reasoning")
    assert subject.subject_id.endswith("?preset=reasoning")
    made = Continuation("<think>2 or 3?</think> 4", token_ids=(5, 6, 7), finish="end")
    asked: list[Decoding] = []

    def write(_forward: object, prompts: list[object], decoding: Decoding, *, see_first: object) -> list[object]:
        asked.append(decoding)
        see_first([torch.zeros(300)] * len(prompts))  # type: ignore[operator]
        return [(made,)] * len(prompts)

    monkeypatch.setattr(_local_chat, "continue_group", write)
    monkeypatch.setattr(LocalChat, "_first_tokens", lambda *_: {"<": -0.1})
    ((reply,),) = subject.converse([QUESTION])
    ((plain,),) = chat(folders["chat"]).converse([QUESTION])
    assert (reply.text, reply.thinking, reply.first_tokens) == ("4", "2 or 3?", {})
    assert (plain.text, plain.thinking, plain.first_tokens) == (made.text, "", {"<": -0.1})
    assert [decoding.max_tokens for decoding in asked] == [256 - reply.usage["prompt_tokens"], QUESTION.max_tokens]


@pytest.mark.parametrize("options", ["?speed=9", "?preset=thinking", "?shots=many", "?answer=guessed", "?dtype=int4"])
def test_unknown_options_are_refused(folders: dict[str, Path], options: str) -> None:
    """An option that is not known, or a value that means nothing, is refused before anything is read."""
    with pytest.raises(SpecError):
        chat(folders["chat"], options)
