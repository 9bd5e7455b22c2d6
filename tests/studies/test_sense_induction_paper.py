"""Tables 5 to 7 and Figure 3 beside the trainings of a run: which training is which model, differences, verdicts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm, spearmanr, t

from lexiscope.core.response import ResponseTable
from lexiscope.datasets.mini_relatedness import load
from lexiscope.report.part import Omission
from lexiscope.resources.vectors.sense_vectors import SETTINGS
from lexiscope.studies.kit.pairs import PairSet
from lexiscope.studies.sense_induction.data import SenseData
from lexiscope.studies.sense_induction.paper_tables import (
    HOLDS,
    NOT_COMPUTED,
    REVERSED,
    difference_words,
    differences,
    paper_tables,
    printed,
    role_of,
    roles,
)
from lexiscope.studies.sense_induction.similarity import OF_USAGES
from lexiscope.subjects.senses.gasi import Gasi

from .test_sense_induction import MINI, made_folder

PRINTED = {
    # Table 5 and two rows of Table 7, read from the paper
    ("scws", "max_sim_c"): {"SASI": 55.1, "GASI": 68.2, "GASI-β": 66.4, "GASI-β-pruned": 67.0},
    ("scws", "avg_sim_c"): {"SASI": 67.8, "GASI": 68.3, "GASI-β": 69.5, "GASI-β-pruned": 69.5},
    ("wordsim?set=simlex999", "max_sim"): {"SASI": 31.56, "GASI": 40.14, "GASI-β": 41.68},
    ("wordsim?set=rw2k", "max_sim"): {"SASI": 45.03, "GASI": 47.22, "GASI-β": 47.69},
}


def training(folder: Path, **about: Any) -> Gasi:
    """Vectors drawn at random, with another record of how they came about."""
    made_folder(folder)
    record = json.loads((folder / SETTINGS).read_text())
    variant = about.pop("variant", "gasi_beta")
    record["settings"] = {**record["settings"], "variant": variant}
    (folder / SETTINGS).write_text(json.dumps(record | about))
    return Gasi(str(folder))


def made_run(folder: Path) -> tuple[SenseData, dict[tuple[str, str], np.ndarray]]:
    """120 rated pairs of 20 words as SCWS, answers of a SASI and a GASI-β training, some pairs not covered."""
    items = load("en").items[:120]
    pairs = PairSet("scws", "SCWS", "relatedness", items, np.random.default_rng(0).normal(size=120))
    subjects = (training(folder / "soft", variant="sasi"), training(folder / "beta"))
    values, tables, rng = {}, [], np.random.default_rng(1)
    for subject, role, noise in zip(subjects, ("SASI", "GASI-β"), (0.2, 2.0), strict=True):
        for measure in OF_USAGES:
            similarity = pairs.ratings + noise * rng.normal(size=120)
            similarity[3 if role == "SASI" else 7] = np.nan
            values[role, measure] = similarity
            columns = {"subject_id": subject.subject_id, "subject_kind": "gasi", "task": "relatedness"}
            columns |= {"item_id": np.array([item.item_id for item in items], dtype=object), "measure": measure}
            tables.append(ResponseTable.from_columns(columns | {"value": similarity}))
    titles = {subject.subject_id: subject.folder.name for subject in subjects}
    settings = replace(MINI, n_bootstrap=1500)
    return SenseData(settings, (pairs,), subjects, titles, ResponseTable.concat(tables)), values


def test_numbers_of_the_paper() -> None:
    """What is compared with is what the paper prints: 8 numbers of Table 5, 27 of Tables 6 and 7."""
    known = {key: float(value.printed) for key, value in printed().items()}
    assert len(known) == 8 + 9 * 3
    for (dataset, measure), row in PRINTED.items():
        assert {model: known[dataset, measure, model] for model in row} == row


def test_which_training_is_which_model(tmp_path: Path) -> None:
    """By variant; trained on fewer senses is the paper's pruned model; pruned and not retrained, or one sense, none."""
    made = {
        name: training(tmp_path / name, **about)
        for name, about in {
            "sasi": {"variant": "sasi"},
            "gasi": {"variant": "gasi"},
            "beta": {},
            "retrained": {"senses_at_start": 10},
            "pruned": {"pruned": {"threshold": 0.3}},
            "soft_retrained": {"variant": "sasi", "senses_at_start": 10},
        }.items()
    }
    assert [role_of(each) for each in made.values()] == ["SASI", "GASI", "GASI-β", "GASI-β-pruned", "", ""]


def test_differences_and_verdicts(tmp_path: Path) -> None:
    """Statistics §7: each printed difference beside ours, over the pairs that both cover, with draws shared by both:
    by scipy, and a bootstrap of words written out. What is not in the run is not computed."""
    run, values = made_run(tmp_path)
    assert set(roles(run)) == {"SASI", "GASI-β"}
    found = {(each.dataset, each.what, each.first, each.second): each for each in differences(run)}
    # of 4 + 4 + 27 printed differences of models one is 0 (AvgSimC of GASI-β and GASI-β-pruned); 4 of two measures
    assert len(found) == 4 + 3 + 27 + 4
    ours = found["scws", "max_sim_c", "GASI-β", "SASI"]
    assert ours.printed == pytest.approx(66.4 - 55.1)
    x, y, gold = values["GASI-β", "max_sim_c"], values["SASI", "max_sim_c"], run.sets[0].ratings
    both = np.isfinite(x) & np.isfinite(y)
    assert ours.n == both.sum() == 118
    expected = spearmanr(x[both], gold[both])[0] - spearmanr(y[both], gold[both])[0]
    assert ours.value == pytest.approx(100 * expected)
    # the noisier one is worse here, and better in the paper
    assert ours.verdict == REVERSED
    words = np.array([item.word.casefold() for item in run.sets[0].items])[both]
    names, rng, draws = sorted(set(words.tolist())), np.random.default_rng(5), []
    for _ in range(1500):
        rows = np.concatenate([np.flatnonzero(words == name) for name in rng.choice(names, len(names))])
        draws.append(
            100 * (spearmanr(x[both][rows], gold[both][rows])[0] - spearmanr(y[both][rows], gold[both][rows])[0])
        )
    # few words: the quantiles are taken further out, as the t distribution does (expanded percentiles)
    n = len(names)
    tail = norm.cdf(np.sqrt(n / (n - 1)) * t.ppf(0.025, n - 1))
    assert ours.interval is not None
    assert (ours.interval.low, ours.interval.high) == pytest.approx(
        tuple(np.nanquantile(draws, (tail, 1 - tail))), abs=2
    )
    own = found["scws", "SASI", "max_sim_c", "avg_sim_c"]
    kept = np.isfinite(y)
    apart = spearmanr(y[kept], gold[kept])[0] - spearmanr(values["SASI", "avg_sim_c"][kept], gold[kept])[0]
    assert own.value == pytest.approx(100 * apart)
    assert own.verdict == (HOLDS if apart < 0 else REVERSED)
    assert found["scws", "max_sim_c", "GASI", "SASI"].verdict == NOT_COMPUTED
    assert found["wordsim?set=rw2k", "max_sim", "GASI-β", "SASI"].verdict == NOT_COMPUTED
    assert "34 not computed" in difference_words(run, ())


def test_tables_and_records(tmp_path: Path) -> None:
    """Records say which two, the verdict and the paper's difference; Figure 3 is judged by the log of the training."""
    run, _ = made_run(tmp_path)
    estimates, noise, first, second, third = paper_tables(run)  # type: ignore[misc]
    names = {each.name for each in estimates}
    assert "similarity_difference(first=gasi_beta,second=sasi,similarity=max_sim_c)" in names
    assert "similarity_difference(first=max_sim_c,second=avg_sim_c,model=sasi)" in names
    assert all(each.note.startswith((HOLDS, REVERSED)) and "the paper has" in each.note for each in estimates)
    assert {row[-1] for row in second.rows} == {each.verdict for each in differences(run)}
    assert len(first.rows) == 35
    # the log of the made folders ends with a signal of .5: below both the Gumbel noise and β = .4 times it (.513)
    judged, of_models = noise[:2], {each.statistic: each.value for each in noise[2:]}
    assert [(each.value, each.note[:5]) for each in judged] == [(1.0, "holds")] * 2
    # the entropy of the log's last row is .5 of at most ln 2; no sense was pruned
    for model in ("sasi", "gasi_beta"):
        assert of_models[f"selection_flatness(model={model})"] == pytest.approx(0.5 / np.log(2))
        assert of_models[f"senses_removed(model={model})"] == 0
    assert [row[-1] for row in third.rows] == [NOT_COMPUTED, HOLDS, HOLDS, NOT_COMPUTED, NOT_COMPUTED]
    bare = replace(run, subjects=())
    assert isinstance(paper_tables(bare)[0], Omission)
