"""Tables 5 to 7 and Figure 3 beside the trainings of a run: which training is which model, differences, verdicts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm, spearmanr, t

from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.datasets.mini_relatedness import load
from lexiscope.report.answers.numbers import Numbers
from lexiscope.report.part import Omission
from lexiscope.report.parts.sense_parts import HOLDS, NOT_COMPUTED, REVERSED, model_of
from lexiscope.report.tables import IntervalCell
from lexiscope.resources.vectors.sense_vectors import SETTINGS
from lexiscope.studies.kit.pairs import PairSet
from lexiscope.studies.sense_induction import published_differences
from lexiscope.studies.sense_induction.data import SenseData
from lexiscope.studies.sense_induction.similarity import OF_USAGES
from lexiscope.studies.sense_induction.vectors import (
    differences,
    models,
    paper_tables,
    printed,
    senses_left_out,
)
from lexiscope.subjects.senses.gasi import Gasi, lineages
from lexiscope.training.gasi.planted import PlantedSenses

from .test_sense_induction import MINI, WORDS, made_folder

PRINTED = {
    # Table 5 and two rows of Table 7, read from the paper
    ("scws", "max_sim_c"): {"sasi": 55.1, "gasi": 68.2, "gasi_beta": 66.4, "gasi_beta_pruned": 67.0},
    ("scws", "avg_sim_c"): {"sasi": 67.8, "gasi": 68.3, "gasi_beta": 69.5, "gasi_beta_pruned": 69.5},
    ("wordsim?set=simlex999", "max_sim"): {"sasi": 31.56, "gasi": 40.14, "gasi_beta": 41.68},
    ("wordsim?set=rw2k", "max_sim"): {"sasi": 45.03, "gasi": 47.22, "gasi_beta": 47.69},
}


def training(folder: Path, **about: Any) -> Gasi:
    """Vectors drawn at random, with another record of how they came about."""
    made_folder(folder, seed=about.pop("seed", 0), one_sense=about.pop("one_sense", ()))
    record = json.loads((folder / SETTINGS).read_text())
    variant = about.pop("variant", "gasi_beta")
    record["settings"] = {**record["settings"], "variant": variant}
    (folder / SETTINGS).write_text(json.dumps(record | about))
    return Gasi(str(folder))


def made_run(folder: Path) -> tuple[SenseData, dict[tuple[str, str], np.ndarray]]:
    """120 rated pairs of 20 words as SCWS, answers of a SASI and a GASI-β training, some pairs not covered."""
    items = load("en").items[:120]
    pairs = PairSet("scws", "SCWS", "relatedness", items, np.random.default_rng(0).normal(size=120))
    subjects = (training(folder / "soft", variant="sasi", seed=3), training(folder / "beta"))
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
    known = printed()
    assert len(known) == 8 + 9 * 3
    for (dataset, measure), row in PRINTED.items():
        assert {model: known[dataset, (model, measure)] for model in row} == row


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
    models = ["sasi", "gasi", "gasi_beta", "gasi_beta_pruned", "", ""]
    assert [model_of(each) for each in made.values()] == models


def test_differences_and_verdicts(tmp_path: Path) -> None:
    """Statistics §7: each printed difference beside ours, over the pairs that both cover, with draws shared by both:
    by scipy, and a bootstrap of words written out. What is not in the run is not computed."""
    run, values = made_run(tmp_path)
    assert list(models(run)) == ["sasi", "gasi_beta"]
    found = {(each.dataset, each.of, each.compared): each for each in differences(run)}
    # of 4 + 4 + 27 printed differences of models one is 0 (AvgSimC of GASI-β and GASI-β-pruned); 4 of two measures
    assert len(found) == 4 + 3 + 27 + 4
    apart_by_model = found["SCWS", "MaxSimC", "GASI-β − SASI"]
    ours = apart_by_model.ours
    assert apart_by_model.printed == pytest.approx(66.4 - 55.1)
    assert ours is not None
    x, y, gold = values["GASI-β", "max_sim_c"], values["SASI", "max_sim_c"], run.sets[0].ratings
    both = np.isfinite(x) & np.isfinite(y)
    assert ours.n == both.sum() == 118
    expected = spearmanr(x[both], gold[both])[0] - spearmanr(y[both], gold[both])[0]
    assert ours.value == pytest.approx(100 * expected)
    # the noisier one is worse here, and better in the paper
    assert apart_by_model.verdict == REVERSED
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
    assert (ours.interval.low, ours.interval.high) == pytest.approx(
        tuple(np.nanquantile(draws, (tail, 1 - tail))), abs=2
    )
    own = found["SCWS", "SASI", "MaxSimC − AvgSimC"]
    kept = np.isfinite(y)
    apart = spearmanr(y[kept], gold[kept])[0] - spearmanr(values["SASI", "avg_sim_c"][kept], gold[kept])[0]
    assert own.ours is not None
    assert own.ours.value == pytest.approx(100 * apart)
    assert own.verdict == (HOLDS if apart < 0 else REVERSED)
    assert found["SCWS", "MaxSimC", "GASI − SASI"].verdict == NOT_COMPUTED
    assert found["RW-2k", "MaxSim", "GASI-β − SASI"].verdict == NOT_COMPUTED
    answer = published_differences(Numbers(()), run)
    assert answer is not None
    assert "34 are not computed" in answer.sentences[0]


def test_tables_and_records(tmp_path: Path) -> None:
    """Records say which two, the verdict and the paper's difference; Figure 3 is judged by the log of the training."""
    run, _ = made_run(tmp_path)
    estimates, noise, first, second, (third,) = paper_tables(run)  # type: ignore[misc]
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


def test_what_pruning_changes(tmp_path: Path) -> None:
    """Pruned vectors are compared with those that they come from, those trained again on what is left with both: the
    difference of two rank correlations by scipy, p in one family with Holm's adjustment, each value with its interval;
    of planted senses the difference of the means over pseudo-words."""
    run, values = made_run(tmp_path)
    soft, beta = run.subjects
    pruned = training(tmp_path / "pruned", pruned={"from": beta.about["files"]}, seed=1, one_sense=WORDS[::2])
    again = training(tmp_path / "again", senses_at_start=10, seed=2, one_sense=WORDS[::2])
    assert lineages((again, soft, pruned, beta)) == [(pruned, beta), (again, beta), (again, pruned)]
    tables = [run.answers]
    for subject, of in ((pruned, "SASI"), (again, "GASI-β")):
        known = run.answers.where(subject_id=soft.subject_id if of == "SASI" else beta.subject_id)
        tables.append(known.with_column("subject_id", subject.subject_id))
    usages = [Usage(f"the {word} of it", 4, 4 + len(word), lemma=word, sense=sense)
              for word in WORDS[1:9:2] for sense in ("one", "two")]  # fmt: skip
    planted = PlantedSenses("planted", tuple(Item(f"p{n}", "p", (u,)) for n, u in enumerate(usages)), (pruned, beta))
    subjects = (soft, beta, pruned, again)
    run = replace(run, subjects=subjects, answers=ResponseTable.concat(tables), planted=planted)
    contrasts, table = senses_left_out(run)  # type: ignore[misc]
    first = contrasts[0]
    assert first.name == "similarity_difference(similarity=max_sim_c)"
    assert first.records()[0].subject == f"{pruned.subject_id} − {beta.subject_id}"
    x, y, gold = values["SASI", "max_sim_c"], values["GASI-β", "max_sim_c"], run.sets[0].ratings
    both = np.isfinite(x) & np.isfinite(y)
    apart = spearmanr(x[both], gold[both])[0] - spearmanr(y[both], gold[both])[0]
    assert first.value == pytest.approx(100 * apart)
    assert first.p is not None
    assert (first.p < 0.05) == (first.interval.low > 0 or first.interval.high < 0)
    of_planted = next(own for own in contrasts if own.name == "planted_difference(of=accuracy)")
    means = [planted.recovery(subject, resamples=0)[0].value for subject in (pruned, beta)]
    assert of_planted.value == pytest.approx(means[0] - means[1])
    # again, with the answers of GASI-β, is no better than it
    assert next(own for own in contrasts if own.first.subject == again.subject_id).value == 0
    assert table.rows[0][2:5:2] == (pruned.subject_id, "beta")
    assert isinstance(table.rows[0][3], IntervalCell)
    assert isinstance(senses_left_out(replace(run, subjects=(soft, beta)))[0], Omission)
