"""Sense vectors in a report: what is said of trainings, of their noise and senses, of a grid of β, of a synset."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from lexiscope.analysis.senses.disagreeing_orders import compare_every
from lexiscope.core.result import Record, find_record
from lexiscope.core.subject import SubjectSpec
from lexiscope.core.usage import Usage
from lexiscope.report.parts import sense_parts
from lexiscope.report.parts.sense_parts import (
    best_beta,
    grid_part,
    noise_part,
    orders_sentence,
    orders_table,
    senses_part,
    signal_part,
    similarity_table,
    synset_part,
    trainings_table,
)
from lexiscope.report.parts.sense_test_parts import single_sense_reference
from lexiscope.report.pivot import PivotRow
from lexiscope.report.tables import IntervalCell
from lexiscope.resources.vectors.sense_vectors import LOG, LogRow, SenseVectors, log_text, read_log
from lexiscope.subjects.senses.gasi import Gasi, files_of, trainings_in
from lexiscope.training.gasi.settings import GasiSettings, Variant
from lexiscope.training.gasi.train import write_senses

WORDS = tuple(f"w{n}" for n in range(20))
RHO, OTHER = "spearman_x100(similarity=avg_sim_c)", "spearman_x100(similarity=max_sim_c)"


def trained(
    folder: Path, *, beta: float = 0.4, variant: Variant = "gasi_beta", noise: Sequence[float] = (0.5, 0.5),
    pruned: float | None = None,
) -> Gasi:  # fmt: skip
    """Vectors drawn at random: two senses of ten words, one of ten; *noise* is that of each row of the log."""
    folder.mkdir()
    dice = np.random.default_rng(0)
    senses, contexts = dice.normal(size=(20, 2, 4)), dice.normal(size=(20, 4))
    mask = np.array([[True, number < 10] for number in range(20)])
    vectors = SenseVectors(WORDS, np.arange(20, 0, -1), senses.astype(np.float32), contexts.astype(np.float32), mask)
    log = [LogRow(1, 1000 * n, 0.01, 1.0, 0.6, 0.25, 0.1, n / 10, sd) for n, sd in enumerate(noise, start=1)]
    (folder / LOG).write_text(log_text(log))
    settings = GasiSettings(variant=variant, beta=beta, senses=2, dimensions=4).deciding_values()
    about = {"settings": settings, "seed": 0} | ({"pruned": {"threshold": pruned}} if pruned else {})
    write_senses(folder, vectors, about, (LOG,) if log else ())
    return Gasi(str(folder))


def titles_of(trainings: Sequence[Gasi]) -> dict[str, str]:
    return {one.subject_id: one.folder.name for one in trainings}


def test_trainings_are_told_by_what_decided_them(tmp_path: Path) -> None:
    """Variant, β of GASI-β alone, senses a word, λ of pruned vectors, tokens and entropy of the last row of the log."""
    both = [trained(tmp_path / "a"), trained(tmp_path / "b", variant="sasi", noise=(), pruned=0.25)]
    table = trainings_table(both, titles_of(both))
    assert table is not None
    shown = [dict(zip([column.header for column in table.columns], row, strict=True)) for row in table.rows]
    assert [row["Variant"] for row in shown] == ["GASI-β", "SASI"]
    assert [row["β"] for row in shown] == [0.4, None]
    assert [row["Senses of a word"] for row in shown] == [30 / 20] * 2
    assert [row["λ"] for row in shown] == [None, 0.25]
    assert [row["Tokens read"] for row in shown] == [2000, None]
    assert trainings_table([], {}) is None


def test_noise_needs_a_log_and_noise(tmp_path: Path) -> None:
    """The last row of a log is in the records; a training without noise, or without a log, is left out with why."""
    noises: dict[str, Sequence[float]] = {"a": (0.5, 0.5), "calm": (0.0, 0.0), "none": ()}
    several = [trained(tmp_path / name, noise=noise) for name, noise in noises.items()]
    part = noise_part(several, titles_of(several))
    ends = {(record.subject, record.statistic): record.value for record in part.records}
    assert ends[several[0].subject_id, "noise_sd"] == 0.5
    assert ends[several[0].subject_id, "signal_sd"] == 2 / 10
    assert len(ends) == 2 * 3
    assert [figure.data["subject"].tolist() for figure in part.figures] == [["a", "a"]]
    assert [(one.subject, one.reason) for one in part.omissions] == [
        ("calm", "Its choice of a sense has no noise."),
        ("none", "Its folder has no log: pruned vectors have none."),
    ]
    assert [len(read_log(one.folder)) for one in several] == [2, 2, 0]


def test_senses_are_counted_and_drawn_by_frequency(tmp_path: Path) -> None:
    """Thirty senses of twenty words; the frequent half of the words has two, the other half one: so has each tenth."""
    one = trained(tmp_path / "a")
    part = senses_part([one], {})
    assert [(record.statistic, record.value) for record in part.records] == [
        ("n_vocabulary", 20), ("n_senses", 30), ("senses_per_word", 1.5),
        *((f"senses_per_word(tenth={tenth})", 2.0 if tenth <= 5 else 1.0) for tenth in range(1, 11)),
    ]  # fmt: skip
    means, shares = part.figures
    assert means.data["value"].tolist() == [2.0] * 5 + [1.0] * 5
    assert shares.name == "senses_by_frequency_1"


def test_the_best_of_a_grid_is_the_one_with_the_highest_value(tmp_path: Path) -> None:
    """Rows by β, the best one marked; other variants are in the figure; one β alone, or no value, is no grid."""
    first, second = trained(tmp_path / "b9", beta=0.9), trained(tmp_path / "b1", beta=0.1)
    sasi = trained(tmp_path / "sasi", variant="sasi")
    every, titles = [first, second, sasi], titles_of([first, second, sasi])
    values = ((first, 40.0), (second, 50.0), (sasi, 60.0))
    records = [Record(RHO, value, one.subject_id, low=value - 1, high=value + 1) for one, value in values]
    part = grid_part(every, records, {"AvgSimC": RHO, "MaxSimC": OTHER}, titles=titles, on="SCWS", unit="100 × ρ")
    (table,), (figure,) = part.tables, part.figures
    assert [(row[0], row[1], row[-1]) for row in table.rows] == [("b1", 0.1, "chosen"), ("b9", 0.9, "")]
    assert figure.data["label"].tolist() == ["b9", "b1", "sasi"]
    told = best_beta(every, records, RHO, named="AvgSimC on SCWS")
    assert told.startswith("β = 0.1 is best by AvgSimC on SCWS")
    assert "differ in more than" not in told
    assert grid_part([first, sasi], records, {"AvgSimC": RHO}, titles=titles, on="SCWS", unit="").tables == ()
    assert best_beta(every, [Record(RHO, None, first.subject_id, note="none")], RHO, named="x") == ""


def test_a_folder_of_trainings_is_every_training_in_it(tmp_path: Path) -> None:
    """The record of each training says which vectors a spec names: another training is another record."""
    for name in ("b", "a"):
        trained(tmp_path / name)
    spec = SubjectSpec.parse(f"gasi:{tmp_path}")
    assert trainings_in(spec) == (f"gasi:{tmp_path / 'a'}", f"gasi:{tmp_path / 'b'}")
    assert files_of(spec) == (tmp_path / "a" / "settings.json", tmp_path / "b" / "settings.json")
    alone = SubjectSpec.parse(f"gasi:{tmp_path / 'a'}")
    assert trainings_in(alone) == (f"gasi:{tmp_path / 'a'}",)
    # options are those of each, and no part of the folder
    wide = SubjectSpec.parse(f"gasi:{tmp_path}?window=50&vectors=sum")
    assert trainings_in(wide)[1] == f"gasi:{tmp_path / 'b'}?window=50&vectors=sum"
    assert files_of(wide) == files_of(spec)


def test_senses_of_a_synset_by_falling_probability(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean probabilities of each subject, by rank; who has one sense of the word is left out."""
    usages = tuple(Usage(f"w11 {word} w12", 4, 6) for word in ("w1", "w1"))
    monkeypatch.setattr(sense_parts, "synset_usages", lambda name: ("w1", usages if name == "w1.n.01" else ()))
    one = trained(tmp_path / "a")
    part = synset_part("w1.n.01", [one], {one.subject_id: "a"})
    shares = [record.value or 0 for record in part.records if record.statistic.startswith("selection_share")]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)
    assert [row[0] for row in part.tables[0].rows] == ["a"]
    single = tuple(Usage("w1 w15 w12", 3, 6) for _ in range(2))
    monkeypatch.setattr(sense_parts, "synset_usages", lambda name: ("w15", single if name == "w15.n.01" else ()))
    assert [each.reason for each in synset_part("w15.n.01", [one], {}).omissions] == ["It has no two senses of 'w15'."]
    (none,) = synset_part("w16.n.01", [one], {}).omissions
    assert none.reason == "SemCor has no sentence with 'w15' in w16.n.01."


def test_a_row_of_another_statistic_has_its_number_in_the_first_column() -> None:
    """Correlations by measure, the first over all pairs too; covered pairs are counted from the share."""
    records = [
        Record("coverage", 75.0, "m", "set", n=8),
        Record(RHO, 40.0, "m", "set", n=6),
        Record("spearman_x100(similarity=avg_sim_c,uncovered=0)", 30.0, "m", "set", n=8),
        Record("agreement", 70.0, dataset="set", n=8),
    ]
    rows = [PivotRow(("m",), {"subject": "m"}), PivotRow(("people",), {"subject": ""})]
    table = similarity_table(
        "s", "S", records, rows, measures={"avg_sim_c": "A note."}, labels=("Vectors",), beside="agreement"
    )
    assert table.rows == (("m", 40.0, 30.0, 6, 8, 75.0), ("people", 70.0, None, None, 8, None))
    assert table.columns[1].note == "A note."
    rank = Record("rank(of=spearman,among=subjects,similarity=avg_sim_c)", 1.0, "m", low=1.0, high=2.0, n=6)
    ranked = similarity_table("s", "S", [*records, rank], rows, measures={"avg_sim_c": ""}, labels=("Vectors",))
    assert ranked.columns[-1].header == "Rank"
    assert ranked.rows[0][-1] == IntervalCell(1.0, 2.0, 1.0)


def test_the_reference_is_the_first_subject_with_one_sense_for_every_word(tmp_path: Path) -> None:
    """Its vectors of the words that it knows, under its short name; without such a subject there are none."""
    several, single = trained(tmp_path / "several"), tmp_path / "single"
    single.mkdir()
    rows = np.arange(12, dtype=np.float32).reshape(3, 1, 4)
    vectors = SenseVectors(WORDS[:3], np.array([3, 2, 1]), rows, rows[:, 0], np.ones((3, 1), np.bool_))
    write_senses(single, vectors, {"settings": {"variant": "skip_gram"}})
    plain = Gasi(str(single))
    found = single_sense_reference([several, plain], {"w1", "w9"}, {plain.subject_id: "Plain"})
    assert found.title == "Plain"
    assert found.vectors is not None
    assert {word: np.asarray(row).tolist() for word, row in found.vectors.items()} == {"w1": [4.0, 5.0, 6.0, 7.0]}
    assert single_sense_reference([several], {"w1"}, {}).vectors is None


def records(*found: float, margin: float) -> list[Record]:
    """Two statistics of two subjects, with intervals."""
    named = zip(("s", "s", "t", "t"), ("a", "b", "a", "b"), found, strict=True)
    return [Record(name, value, who, low=value - margin, high=value + margin) for name, who, value in named]


def told(*found: float, margin: float = 3) -> str:
    compared = compare_every(records(*found, margin=margin), {"Rho": "s"}, {"Found": "t"})
    return orders_sentence(compared, first="a rho", second="the reading", who="vectors")


def test_the_table_names_the_best_and_the_pairs_in_another_order() -> None:
    """Short names of subjects; a pair is clear where no interval overlaps."""
    compared = compare_every(records(60, 50, 40, 80, margin=3), {"Rho": "s"}, {"Found": "t"})
    table = orders_table(compared, {"a": "A", "b": "B"}, first="Similarity")
    assert table.rows == (("Rho", "Found", "A", "B", "no", "1 of 1", "A / B"),)
    assert [column.header for column in table.columns][2:4] == ["Best by similarity", "Best by the other"]
    near = compare_every(records(60, 50, 40, 80, margin=6), {"Rho": "s"}, {"Found": "t"})
    assert orders_table(near, {}, first="Similarity").rows[0][-1] == "none"


def test_one_line_says_whether_the_best_are_the_same() -> None:
    """Other best subjects with the measures that say so; the same ones; nothing if nothing is compared."""
    assert told(60, 50, 40, 80) == (
        "In 1 of 1 comparisons the two have other best vectors (Rho and found); in 1 a pair is clearly in another order"
    )
    assert told(60, 50, 80, 40) == "All 1 comparisons of a rho with the reading have the same best vectors"
    assert orders_sentence({}, first="a", second="b", who="c") == ""


def test_signal_of_words_beside_the_noise_of_their_training(tmp_path: Path) -> None:
    """Statistics §7: the SD of c̄·s between the senses of a window, word by word, beside β π/√6: one row a training that
    has two senses for a word, a histogram, and records with intervals; plain attention has no noise."""
    made = [trained(tmp_path / "beta"), trained(tmp_path / "soft", variant="sasi")]
    words = made[0].vectors.words
    usages = [Usage(f"{left} {word} {right}", len(left) + 1, len(left) + 1 + len(word))
              for word in words[:6] for left, right in zip(words[6:10], words[8:12], strict=True)]  # fmt: skip
    part = signal_part(made, [*usages, *usages], {}, resamples=20)
    (table,), (figure,) = part.tables, part.figures
    assert figure.name == "signal_by_word"
    vectors = made[0].vectors
    spreads = []
    for word in words[:6]:
        number = vectors.index[word]
        rows = [vectors.senses[number] @ vectors.contexts[[vectors.index[a], vectors.index[b]]].mean(axis=0)
                for a, b in zip(words[6:10], words[8:12], strict=True)]  # fmt: skip
        spreads.append(float(np.sqrt(np.mean([row[vectors.mask[number]].var(ddof=1) for row in rows]))))
    own = find_record(part.records, "word_signal_sd(of=senses_of_a_window,summary=median)", subject=made[0].subject_id)
    assert own.value == pytest.approx(np.median(spreads), rel=1e-5)
    assert own.n == 6
    assert made[0].noise_sd == pytest.approx(0.4 * np.pi / np.sqrt(6))
    assert made[1].noise_sd == 0.0
    shares = [r.subject for r in part.records if r.statistic == "words_above_noise(noise=scaled)"]
    assert shares == [made[0].subject_id]
    assert len(table.rows) == 2
    assert signal_part(made, usages[:2], {}).omissions
