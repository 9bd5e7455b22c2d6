"""Gap filling: what is asked of a model, and what becomes of its continuations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from lexiscope.build.gap_filling.gaps import gap_item, gap_items, read_decoding
from lexiscope.build.gap_filling.matching import AnswerRule, mark_completions
from lexiscope.collect import SeededSubject, collect
from lexiscope.core import catalog
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import CapabilityError, SubjectError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.subject import Continuation, Decoding, Progress
from lexiscope.core.usage import Usage
from lexiscope.datasets.synonymy import collection
from lexiscope.subjects.local.causal_lm import CausalLM
from lexiscope.tasks.gap_filling import SINGLE, TASK, TEN, Sampling, generation_function

ITEMS = [
    gap_item(f"i{number}", Usage("Her role is small.", 4, 8), dataset="d", synonym="part", synset=["role", "office"])
    for number in (1, 2)
]


@dataclass
class FakeModel:
    """Continues with the number of the continuation; remembers what it was asked."""

    tells_tokens: bool = True
    seed: int = 0
    asked: list[tuple[Sequence[str], Decoding]] = field(default_factory=list)

    subject_id, kind, facts = "fake:model", "fake", SubjectFacts("fake:model")

    def with_seed(self, seed: int) -> FakeModel:
        return type(self)(self.tells_tokens, seed, self.asked)

    def generate(
        self,
        prompts: Sequence[str],
        decoding: Decoding,
        *,
        work: Path | None = None,
        progress: Progress | None = None,
    ) -> list[list[Continuation]]:
        self.asked.append((prompts, decoding))
        if progress is not None:
            progress(len(prompts), len(prompts))
        return [[self.one(k, decoding) for k in range(decoding.n)] for _ in prompts]

    def one(self, k: int, decoding: Decoding) -> Continuation:
        ids = (k, k + 1) if self.tells_tokens else ()
        return Continuation(f" part {k}", ids, None if decoding.method == "greedy" else decoding.seed + k)


def test_published_decodings() -> None:
    """Y15: ten new tokens; greedy once, and ten times from the ten most probable."""
    assert Decoding("greedy", n=1, max_tokens=10) == SINGLE
    assert Decoding("sample", n=10, max_tokens=10, top_k=10) == TEN
    model = FakeModel()
    collect(ITEMS, [model], "gap_filling", seed=5)
    assert [decoding for _, decoding in model.asked] == [
        SINGLE,
        Decoding("sample", n=10, max_tokens=10, top_k=10, seed=5),
    ]
    assert model.asked[0][0] == ["Her role is small. Role is a synonym of"] * 2


def test_without_the_sentence() -> None:
    """The view `word` asks the prompt alone."""
    model = FakeModel()
    table = collect(ITEMS[:1], [model], "gap_filling", views=["word"])
    assert model.asked[0][0] == ["Role is a synonym of"]
    assert table.unique("view") == ("word",)


def test_rows() -> None:
    """A continuation is a row with its text, one with its token ids and, where it was drawn, one with its seed."""
    table = collect(ITEMS, [FakeModel()], "gap_filling", seed=5)
    single = table.where(item_id="i1", measure="completion(method=greedy,max_tokens=10)")
    assert [(row.raw, row.value, row.repeat, row.option) for row in single.rows()] == [(" part 0", None, 0, None)]
    drawn = table.filter(
        np.array([str(name).startswith("completion(method=sample") for name in table.column("measure")])
    )
    assert drawn.column("raw").tolist() == [f" part {k}" for k in range(10)] * 2
    assert drawn.column("repeat").tolist() == list(range(10)) * 2
    ids = table.where(item_id="i2", measure="completion_tokens(method=greedy,max_tokens=10)")
    assert [(row.raw, row.value) for row in ids.rows()] == [("0 1", 2.0)]
    seeds = table.filter(np.array([str(name).startswith("completion_seed") for name in table.column("measure")]))
    assert seeds.column("raw").tolist() == [str(5 + k) for k in range(10)] * 2
    found = read_decoding(seeds.unique("measure")[0])
    assert found is not None
    assert found.seed == 5


def test_a_subject_that_does_not_tell_its_tokens() -> None:
    """Over HTTP there may be no ids: the row is there without a value, and the text is kept."""
    table = collect(ITEMS[:1], [FakeModel(tells_tokens=False)], "gap_filling")
    ids = table.where(measure="completion_tokens(method=greedy,max_tokens=10)")
    assert [(row.raw, row.value) for row in ids.rows()] == [(None, None)]


def test_own_decodings_and_progress() -> None:
    """Other decodings are other measures; progress runs once from the beginning to the end."""
    told: list[tuple[int, int]] = []
    answer = generation_function([Decoding(max_tokens=3), Decoding("sample", n=2, temperature=0.5)])
    table = answer(ITEMS, FakeModel(), view="full", progress=lambda done, total: told.append((done, total)))
    assert len(table) == 2 * (2 + 2 * 3)
    assert told == [(2, 4), (4, 4)]


def test_a_subject_that_returns_too_few_is_refused() -> None:
    """Nine instead of ten would make any-of-ten harder: it is an error, not a row less."""

    class Lazy(FakeModel):
        def generate(self, *given: object, **named: object) -> list[list[Continuation]]:
            return [made[:1] for made in super().generate(*given, **named)]  # type: ignore[arg-type]

    with pytest.raises(SubjectError, match="10 continuations were asked for"):
        collect(ITEMS, [Lazy()], "gap_filling")


def test_recorded_answers_of_people() -> None:
    """People and recorded models answer by judgment: a text in raw, without value."""

    class Writers:
        subject_id, kind, facts = "recorded:fake", "recorded", SubjectFacts("recorded:fake")

        def judge(self, items: object, task: str) -> ResponseTable:
            rows = [Response("p1", "participant", "i1", task, "completion", raw="part")]
            return ResponseTable.from_rows([*rows, Response("p1", "participant", "i2", task, "completion")])

    table = collect(ITEMS, [Writers()], "gap_filling")
    assert table.column("raw").tolist() == ["part", None]


def test_who_cannot_answer_is_refused() -> None:
    """A subject without either capability is refused before any work, and what could answer is named."""

    class Embedder:
        subject_id, kind, facts = "fake:e", "fake", SubjectFacts("fake:e")

    with pytest.raises(CapabilityError, match="Generates or Judges"):
        TASK.answer_function(Embedder())


@pytest.mark.published
def test_a_small_model_fills_no_gap(published: Path) -> None:
    """Spec §9: of items 1 to 30 tiny-causal-en answers none in ten greedy tokens, curated or synset, by either rule."""
    model = CausalLM(str(published.parent / "models" / "tiny-causal-en"))
    gaps = gap_items(collection(published)[:30])
    table = generation_function([SINGLE])(gaps, model, view="full")
    completions = table.where(measure="completion(method=greedy,max_tokens=10)")
    assert len(completions) == 30
    assert all(completions.column("raw").tolist())
    assert table.where(measure="completion_tokens(method=greedy,max_tokens=10)").column("value").tolist() == [10.0] * 30
    for answers in ("curated", "synset"):
        by_words = mark_completions(table, gaps, AnswerRule(answers))
        assert by_words.column("value").tolist() == [0.0] * 30
        by_tokens = mark_completions(table, gaps, AnswerRule(answers, match="tokens"), encode=model.encode)
        assert by_tokens.column("value").tolist() == [0.0] * 30


@pytest.mark.published
def test_the_seed_of_the_run_decides_what_is_drawn(published: Path) -> None:
    """Y15: the same seed draws the same ten texts, another seed others; greedy answers do not depend on it."""
    folder = str(published.parent / "models" / "tiny-causal-en")
    gaps = gap_items(collection(published)[:2])

    def texts(seed: int) -> tuple[list[str], list[str]]:
        table = collect(gaps, [CausalLM(folder)], "gap_filling", seed=seed)
        drawn = [row.raw or "" for row in table.rows() if row.measure.startswith("completion(method=sample")]
        return drawn, table.where(measure="completion(method=greedy,max_tokens=10)").column("raw").tolist()

    first, again, other = texts(3), texts(3), texts(4)
    assert first == again
    assert first[0] != other[0]
    assert first[1] == other[1]
    assert len(set(first[0])) > 10


@pytest.mark.parametrize("spec", ["causal_lm:some-model", "completions:some-model@http://127.0.0.1:9/v1"])
def test_every_generator_takes_the_seed_of_the_run(spec: str) -> None:
    """A run with another seed draws other texts from every kind of subject; with the same seed nothing is made anew."""
    subject = catalog.subject(spec)
    assert isinstance(subject, SeededSubject)
    assert isinstance(subject, Sampling)
    again = subject.with_seed(7)
    assert isinstance(again, Sampling)
    assert (again.seed, subject.seed, again.subject_id) == (7, 0, subject.subject_id)
    assert subject.with_seed(0) is subject
