"""The default audit on pair files whose leak is known, and on WiC: what leaks is said, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.core.result import Record, find_record, read_records
from lexiscope.core.run import sha256_of
from lexiscope.items.read.importer import import_items
from lexiscope.report.document import Report
from lexiscope.report.page.stored import load
from lexiscope.studies.context_bias import study
from lexiscope.studies.context_bias.data import WORDS
from lexiscope.studies.context_bias.sets import own_set
from lexiscope.studies.context_bias.settings import ContextBiasSettings
from lexiscope.subjects.trained._probe import UntrainedEncoder
from lexiscope.training.view_models import vector_features

from . import leaking_pairs as made
from .leaking_pairs import Decide, leaking_pairs, write_pairs

WORDS_ONLY = ContextBiasSettings(encoders=(WORDS,), n_bootstrap=300, outputs=())
LEARNER, PROBE = "words and characters", "minilm, linear"


def audited(
    decide: Decide, folder: Path, settings: ContextBiasSettings = WORDS_ONLY, *, n: int, n_words: int = 32
) -> tuple[Record, ...]:
    """The records of an audit of a file in which *decide* gives the labels."""
    pairs = write_pairs(folder / "pairs.csv", leaking_pairs(decide, n=n, n_words=n_words))
    study.run(replace(settings, items=str(pairs)), folder / "run")
    return read_records(folder / "run" / "results.json")


def verdicts(folder: Path) -> list[str]:
    """The first paragraph of each verdict of a report."""
    report: Report = load(folder / "run")
    found = [each for top in report.sections for each in top.walk() if each.id.startswith("verdict_")]
    return [str(section.paragraphs[0]) for section in found]


def over_label(records: tuple[Record, ...], view: str, subject: str = LEARNER) -> Record:
    """How far a part is above LABEL."""
    return find_record(records, f"view_difference(first={view},second=label,metric=accuracy)", subject=subject)


def test_a_cue_in_both_contexts_is_seen_by_default(tmp_path: Path) -> None:
    """Own planted file 1: CONTEXT far above LABEL, said first; "context-biased" by both default learners."""
    found = audited(made.context_decides, tmp_path, replace(WORDS_ONLY, encoders=()), n=160)
    for subject, told in zip((LEARNER, PROBE), verdicts(tmp_path), strict=True):
        assert (over_label(found, "context", subject).low or 0) > 0.3
        assert told.startswith("CONTEXT is above LABEL by ")
        assert "WORD is not shown to be above LABEL" in told
        assert f"Judged by {subject}, the dataset is context-biased" in told


def test_a_word_that_decides_is_seen_by_default(tmp_path: Path) -> None:
    """Own planted file 2: WORD 100, LABEL about 50; "word-biased" by both default learners."""
    found = audited(made.word_decides, tmp_path, replace(WORDS_ONLY, encoders=()), n=160)
    for subject, told in zip((LEARNER, PROBE), verdicts(tmp_path), strict=True):
        assert (find_record(found, "accuracy", subject=subject, view="word").value or 0) > 0.97
        assert told.startswith("WORD is above LABEL by ")
        assert "CONTEXT is not shown to be above LABEL" in told
        assert f"Judged by {subject}, the dataset is word-biased" in told


@pytest.mark.soak
@pytest.mark.parametrize(
    ("decide", "words"),
    [
        (made.context_decides, "the dataset is context-biased"),
        (made.word_decides, "the dataset is word-biased"),
        (made.nothing_decides, "the numbers do not decide"),
    ],
)
def test_the_files_of_the_specification_at_full_size(decide: Decide, words: str, tmp_path: Path) -> None:
    """1,600 pairs of 32 words, both default learners, 2,000 resamples."""
    audited(decide, tmp_path, ContextBiasSettings(outputs=()), n=1600)
    assert all(words in told for told in verdicts(tmp_path))


@pytest.mark.parametrize(
    ("decide", "n"),
    [
        (made.one_context_decides, 160),
        (made.letters_decide, 160),
        (made.agreement_decides, 160),
        (made.crossed_cues_decide, 360),
    ],
)
def test_other_cues_of_the_context_are_seen(decide: Decide, n: int, tmp_path: Path) -> None:
    """A cue in one context only, in the spelling of new words, in the agreement of two cues, in their exclusive or."""
    found = audited(decide, tmp_path, n=n)
    assert (over_label(found, "context").low or 0) > 0.2
    (told,) = verdicts(tmp_path)
    assert "the dataset is context-biased" in told
    assert "WORD is above" not in told


@pytest.mark.parametrize("seed", [1, 2])
def test_no_leak_gives_no_alarm(seed: int, tmp_path: Path) -> None:
    """Labels by a coin: no part is above LABEL, and neither bias is claimed."""
    pairs = write_pairs(tmp_path / "pairs.csv", leaking_pairs(made.nothing_decides, n=240, seed=seed))
    study.run(replace(WORDS_ONLY, items=str(pairs)), tmp_path / "run")
    (told,) = verdicts(tmp_path)
    assert " is above LABEL by" not in told
    assert "is context-biased" not in told
    assert "is word-biased" not in told
    assert "the numbers do not decide whether the dataset is biased" in told


def test_word_and_context_together_are_no_leak(tmp_path: Path) -> None:
    """An exclusive or of word and cue: FULL is above both parts, and neither part is above LABEL."""
    found = audited(made.word_and_context_decide, tmp_path, n=450, n_words=10)
    (told,) = verdicts(tmp_path)
    assert " is above LABEL by" not in told
    assert "the dataset is neither context-biased nor word-biased" in told
    gap = find_record(found, "minimum_gap(metric=accuracy)")
    assert (gap.low or 0) > 0


def test_a_split_that_hides_the_words_gives_no_verdict_on_them(tmp_path: Path) -> None:
    """With the user's own split by word no tested word can be known: that is said in place of "not word-biased"."""
    rows = leaking_pairs(made.word_decides, n=240, n_words=40)
    parts = {word: ("train", "dev", "test", "test", "train")[n // 8] for n, word in enumerate(made.words(40))}
    pairs = write_pairs(tmp_path / "pairs.csv", [row | {"split": parts[row["target"]]} for row in rows])
    study.run(replace(WORDS_ONLY, items=str(pairs)), tmp_path / "run")
    (told,) = verdicts(tmp_path)
    assert "cannot see WORD, so there is no verdict on it: no tested word occurs in training" in told
    assert "not word-biased" not in told


def test_the_same_audit_twice_has_the_same_bytes(tmp_path: Path) -> None:
    """Answers, figures and report of two runs with one seed; another seed makes other folds."""
    pairs = write_pairs(tmp_path / "pairs.csv", leaking_pairs(made.one_context_decides, n=30, n_words=6))
    settings = replace(WORDS_ONLY, encoders=(), items=str(pairs), n_bootstrap=50)
    for name in ("one", "two"):
        study.run(settings, tmp_path / name)
    for file in ("responses.parquet", "results.json", "report.html"):
        assert sha256_of(tmp_path / "one" / file) == sha256_of(tmp_path / "two" / file), file


def test_both_ways_of_hiding_are_reported(tmp_path: Path) -> None:
    """Where a text shows the word again, CONTEXT hides it too and the published view stands next to it, with counts."""
    rows = leaking_pairs(made.word_decides, n=240, n_words=12)
    for row in rows[:180]:
        row["sentence_2"] += f" Of a {row['target']} one hears much."
        row |= {"start_2": "", "end_2": ""}
    for row in rows:
        at = row["sentence_2"].index(row["target"])
        row |= {"start_2": str(at), "end_2": str(at + len(row["target"]))}
        at = row["sentence_1"].index(row["target"])
        row |= {"start_1": str(at), "end_1": str(at + len(row["target"]))}
    pairs = write_pairs(tmp_path / "pairs.csv", rows)
    study.run(replace(WORDS_ONLY, items=str(pairs)), tmp_path / "run")
    found = read_records(tmp_path / "run" / "results.json")
    assert find_record(found, "n_word_shown").value == 180
    context, span = (find_record(found, "accuracy", view=view).value or 0 for view in ("context", "context_span"))
    # the word decides: where the span alone is hidden, three quarters of the contexts still tell it
    assert context < 0.65
    assert span > context + 0.05
    assert find_record(found, "context_span_bias(metric=accuracy)").value is not None
    told = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "In 180 of 240 tested items (75.0 %) the texts show the word outside the target's span too." in told.replace(
        "&#39;", "'"
    )


def test_vectors_of_a_probe_see_which_word_it_is(tmp_path: Path) -> None:
    """In WORD the two words of a pair are equal: the features differ between words all the same, and LABEL has none."""
    pairs = write_pairs(tmp_path / "pairs.csv", leaking_pairs(made.word_decides, n=12, n_words=6))
    items = import_items(pairs, dataset="d", task="same_sense").items
    words = vector_features(items, (), "word", UntrainedEncoder("encoder:minilm"))
    same = [[(abs(one - other) < 1e-9).all() for other in words] for one in words]
    assert same == [[one.word == other.word for other in items] for one in items]
    assert vector_features(items, (), "label", UntrainedEncoder("encoder:minilm")).shape == (12, 0)


@pytest.mark.published
def test_wic_is_not_called_unbiased(tmp_path: Path, published: Path) -> None:
    """The paper's BERT has a context bias of 1.055 on dev of WiC (Table 7): CONTEXT is above LABEL here too, and said.

    A learner that knows no meanings finds 8 to 9 of the points above LABEL in the context, and no more with the word.
    """
    assert published
    study.run(replace(WORDS_ONLY, datasets=("wic",)), tmp_path / "run")
    (told,) = verdicts(tmp_path)
    assert told.startswith("CONTEXT is above LABEL by ")
    assert "neither" not in told
    found = read_records(tmp_path / "run" / "results.json")
    assert (over_label(found, "context").low or 0) > 0.03


def test_sentences_that_several_folds_share_are_counted(tmp_path: Path) -> None:
    """Folds by item do not keep equal sentences together: the number of such items is reported, in plain numbers."""
    lines = ["sentence_1,sentence_2,target,gold"]
    for n in range(40):
        lines.append(f"The {n}th bank was here.,Each bank had {n} doors.,bank,{'tf'[n % 2]}")
    file = tmp_path / "pairs.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = ContextBiasSettings(items=str(file), encoders=("words",))
    assert not any("Caution" in text for text in own_set(file, settings).parts.how)
    again = [line.replace("Each bank", "Each other bank") for line in lines[1:21]]
    file.write_text("\n".join([*lines, *again]) + "\n", encoding="utf-8")
    audit = own_set(file, settings).parts
    fold_of = dict(zip([item.usages[0].text for item in audit.test[:20]], audit.folds[:20], strict=True))
    apart = sum(
        fold_of[item.usages[0].text] != fold for item, fold in zip(audit.test[40:], audit.folds[40:], strict=True)
    )
    assert apart > 0
    assert f"Caution: {2 * apart} of 60 items contain a sentence" in audit.how[1]
