"""The subject gasi: what it reads of a usage, what it chooses, what it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lexiscope.collect import collect
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, SpecError, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage, locate
from lexiscope.resources.vectors.sense_vectors import SenseVectors
from lexiscope.subjects.senses.gasi import Gasi
from lexiscope.training.gasi.train import write_senses

WORDS = ("the", "bank", "river", "money", "caf\u00e9", "<num>")


def usage(text: str, target: str = "bank") -> Usage:
    return Usage(text, *locate(text, target))


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Gasi:
    """The first sense of *bank* points to rivers, the second to money, the third is pruned; others have one sense."""
    senses = np.zeros((6, 3, 2), np.float32)
    senses[:, 0] = (1, 1)
    senses[1] = [(2, 0), (0, 2), (9, 9)]
    contexts = np.array([(0, 0), (0, 0), (3, 0), (0, 3), (0, 1), (0, 0)], np.float32)
    mask = np.zeros((6, 3), np.bool_)
    mask[:, 0] = mask[1, 1] = True
    folder = tmp_path_factory.mktemp("gasi") / "senses"
    vectors = SenseVectors(WORDS, np.arange(60, 0, -10), senses, contexts, mask)
    write_senses(folder, vectors, {"settings": {"window": 2, "variant": "gasi_beta"}})
    made = catalog.subject(f"gasi:{folder}")
    assert isinstance(made, Gasi)
    return made


def test_the_context_chooses_the_sense(subject: Gasi) -> None:
    """softmax(c̄·s): beside *river* alone c̄·s is (6, 0), beside *money* (0, 6); the pruned sense has probability 0."""
    found = subject.sense_distribution([usage("a River bank"), usage("bank money"), usage("a bank of mud")])
    sure = 1 / (1 + np.exp(-6))
    np.testing.assert_allclose(found, [[sure, 1 - sure, 0], [1 - sure, sure, 0], [0.5, 0.5, 0]], rtol=1e-5)
    vectors = subject.embed([usage("a river bank"), usage("bank money")])
    assert vectors.tolist() == [[[2, 0]], [[0, 2]]]


def test_the_window_is_that_of_the_training(subject: Gasi) -> None:
    """Two known words on each side; unknown ones take no place, and what is farther away is not read."""
    text = "money river x the y bank z caf\u00e9 1,000 money"
    assert subject.context(usage(text)).tolist() == [2, 0, 4, 5]
    assert subject.context(Usage("bank bank bank", 5, 9)).tolist() == [1, 1]


def test_the_span_is_the_target(subject: Gasi) -> None:
    """Two occurrences of a word in a sentence are two usages: each is judged by the words beside it."""
    text = "river bank the the money bank"
    first, second = Usage(text, 6, 10), Usage(text, 25, 29)
    assert subject.sense_distribution([first, second]).argmax(axis=1).tolist() == [0, 1]


def test_a_target_out_of_vocabulary_is_refused(subject: Gasi) -> None:
    """E712 shows the target in its text; ``knows`` tells beforehand; case and Unicode form make no difference."""
    for text, target in (("two banks", "banks"), ("the river bank", "river bank")):
        assert not subject.knows(usage(text, target))
        with pytest.raises(InputError, match=r"\[E712\]") as error:
            subject.sense_distribution([usage(text, target)])
        assert "^" * len(target) in str(error.value)
    assert subject.knows(usage("A Bank."[0:], "Bank"))
    assert subject.knows(usage("cafe\u0301 noir", "cafe\u0301"))


def test_words_of_a_corpus_that_was_cut_already_are_known_as_they_stand(tmp_path: Path) -> None:
    """Capitals, hyphens and digits of ``--tokens given``: the form itself first, then lower case, then ours."""
    words = ("Bank", "bank", "re-open", "1914", "<num>")
    rows = np.eye(5, dtype=np.float32)
    vectors = SenseVectors(words, np.full(5, 9), rows[:, None], rows, np.ones((5, 1), bool))
    write_senses(tmp_path, vectors, {"settings": {"window": 5}})
    given = Gasi(str(tmp_path))
    text = "They Re-open the Bank or BANK in 1914, 1915"
    known = {word: given.senses_of([usage(text, word)])[0][0, 0].argmax() for word in ("Bank", "BANK", "Re-open")}
    assert known == {"Bank": 0, "BANK": 1, "Re-open": 2}
    assert given.context(usage(text, "Re-open")).tolist() == [0, 1, 3, 4]


def test_the_seed_of_the_run_draws_what_identity_cannot_decide(subject: Gasi) -> None:
    """Other seeds draw other answers for unknown words, and change nothing else."""
    items = [Item(f"i{n}", "test", (usage("a crane", "crane"), usage("the crane", "crane"))) for n in range(64)]
    tables = [collect(items, [subject], "same_sense", seed=seed) for seed in (0, 1)]
    drawn = [table.where(measure="choice").column("option").tolist() for table in tables]
    assert 16 < sum(one != two for one, two in zip(*drawn, strict=True)) < 48
    assert subject.with_seed(7).facts == subject.facts


def test_senses_are_counted_without_a_context(subject: Gasi) -> None:
    """Pruned senses do not count, improbable ones do; an unknown word has none."""
    assert [subject.sense_count(usage(f"a {word}", word)) for word in ("bank", "river", "mud")] == [2, 1, 0]


def test_no_usages_are_no_rows(subject: Gasi) -> None:
    """An empty question has an empty answer of the right width."""
    assert subject.sense_distribution([]).shape == (0, 3)
    assert subject.embed([]).shape == (0, 1, 2)


def test_a_wider_context_and_the_sum_of_both_vectors(subject: Gasi) -> None:
    """Statistics §7, as named options: how many words choose the sense; sense and context vector of a word added where
    vectors are compared, which changes no choice. The id and the run record say what was asked."""
    asked = f"gasi:{subject.folder}"
    wide, summed = (catalog.subject(f"{asked}?{options}") for options in ("window=50", "vectors=sum"))
    assert isinstance(wide, Gasi)
    assert isinstance(summed, Gasi)
    text = " ".join(["river"] * 3 + ["bank"] + ["money"] * 9)
    own = usage(text)
    assert len(wide.context(own)) == 12
    assert len(subject.context(own)) == 2 * subject.window
    mean = subject.vectors.contexts[wide.context(own)].mean(axis=0)
    powers = np.exp(subject.vectors.senses[1] @ mean) * subject.vectors.mask[1]
    np.testing.assert_allclose(wide.sense_distribution([own])[0], powers / powers.sum(), rtol=1e-5)
    np.testing.assert_array_equal(summed.sense_distribution([own]), subject.sense_distribution([own]))
    (vectors,), (there,) = summed.senses_of([own])
    assert there.tolist() == [True, True, False]
    # (2, 0) and (0, 2), with (0, 0), the context vector of bank
    np.testing.assert_allclose(vectors[there], subject.vectors.senses[1, :2] + subject.vectors.contexts[1])
    np.testing.assert_allclose(
        summed.embed([own])[0, 0], subject.embed([own])[0, 0] + subject.vectors.contexts[1], rtol=1e-6
    )
    assert (wide.subject_id, wide.folder) == (f"{asked}?window=50", subject.folder)
    assert wide.settings["asked"] == {"window": 50}
    assert "asked" not in subject.settings
    np.testing.assert_allclose(
        subject.signals([own])[0][subject.vectors.mask[1]],
        (subject.vectors.senses[1] @ subject.vectors.contexts[subject.context(own)].mean(axis=0))[
            subject.vectors.mask[1]
        ],
        rtol=1e-5,
    )


def test_what_it_is_not(tmp_path: Path) -> None:
    """No other options, no other values of them, and no folder without sense vectors."""
    for options in ("device=cuda", "vectors=contexts", "window=-1", "window=1001"):
        with pytest.raises(SpecError):
            catalog.subject(f"gasi:folder?{options}")
    with pytest.raises(SubjectError, match="E711"):
        Gasi(str(tmp_path)).facts  # noqa: B018


def test_many_windows_at_once(subject: Gasi) -> None:
    """The distributions of a word beside many windows are those of its usages, one by one."""
    texts = ["a River bank", "bank money", "a bank of mud", "money the bank the river"]
    windows = [subject.context(usage(text)).tolist() for text in texts]
    expected = subject.sense_distribution([usage(text) for text in texts])
    np.testing.assert_allclose(subject.distributions(1, windows), expected, rtol=1e-6)
    assert subject.distributions(1, []).shape == (0, 3)
    assert subject.tokens("a River bank") == [(-1, 0, 1), (2, 2, 7), (1, 8, 12)]
    assert subject.induced.numbers[list(subject.induced.of("bank"))].tolist() == [0, 1]
