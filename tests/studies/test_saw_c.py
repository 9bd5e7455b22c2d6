"""The study of relatedness in context: the paper's numbers on its data, and the same study on the user's own items."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, RunError, SpecError, SubjectError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record, find_record, parse_statistic, read_records
from lexiscope.core.run import read_json
from lexiscope.core.study import PublishedValue
from lexiscope.datasets import mini_relatedness
from lexiscope.datasets.saw_c import PAPER_MODELS, SUBJECTS
from lexiscope.report.page.stored import load
from lexiscope.report.page.stored_answers import page_from_json
from lexiscope.report.part import with_published
from lexiscope.studies.kit.data import own_dataset
from lexiscope.studies.saw_c import planned_analyses, study
from lexiscope.studies.saw_c.data import SawCData, complete_settings
from lexiscope.studies.saw_c.settings import SawCSettings

from .conftest import outcomes_of_claims

R, RHO = "pearson(of=distance,with=norms)", "spearman(of=distance,with=norms)"
QUICK = SawCSettings(n_bootstrap=40, mixed_models="none", recorded=("albert-tiny-spanish",))
EXPORTED = replace(QUICK, outputs=("codebook", "data_card", "csv", "jsonl"))

# sawc.md §1: max R² @ layer, min AIC @ layer, min ρ, Expected Layer by AIC and R², last / max R²
MODELS = {
    "albert-tiny-spanish": (0.1136, 4, 908.18, 4, -0.3797, 1.638, 1.605, 1.00),
    "albert-base-spanish": (0.1823, 7, 859.73, 7, -0.4660, 2.439, 3.254, 0.35),
    "albert-large-spanish": (0.1414, 12, 872.51, 9, -0.4174, 2.954, 5.369, 0.17),
    "albert-xlarge-spanish": (0.1923, 9, 851.49, 9, -0.4615, 3.862, 5.213, 0.68),
    "albert-xxlarge-spanish": (0.1527, 2, 904.75, 3, -0.3925, 2.004, 2.909, 0.28),
    "distilbert-base-spanish-uncased": (0.2023, 6, 859.49, 6, -0.4494, 2.313, 2.835, 1.00),
    "bert-base-spanish-wwm-cased": (0.3569, 12, 712.91, 6, -0.6116, 3.602, 3.416, 1.00),
    "bert-base-spanish-wwm-uncased": (0.1845, 12, 878.41, 7, -0.4377, 3.749, 4.305, 1.00),
    "bert-base-multilingual-cased": (0.2209, 12, 864.53, 11, -0.4723, 4.139, 4.696, 1.00),
    "roberta-base-bne": (0.3087, 12, 782.32, 12, -0.5755, 3.919, 4.076, 1.00),
    "roberta-large-bne": (0.3912, 23, 735.14, 14, -0.6570, 7.048, 7.490, 0.72),
    "xlm-roberta-base": (0.1495, 6, 920.79, 6, -0.3981, 3.379, 4.212, 0.65),
    "patana-chilean-spanish-bert": (0.3540, 12, 756.50, 12, -0.6040, 4.064, 4.689, 1.00),
}


@pytest.fixture(scope="module", autouse=True)
def reading_once() -> Iterator[None]:
    """The published files are read once for all runs of this file: nothing changes what was read of them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(catalog, "dataset", cache(catalog.dataset))
        yield


@pytest.fixture(scope="module")
def whole_run(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole study on SAW-C, with few resamples: they touch intervals and p of contrasts only."""
    out = tmp_path_factory.mktemp("saw_c") / "run"
    study.run(SawCSettings(n_bootstrap=400), out, command="test")
    return out


@pytest.fixture(scope="module")
def exported_run(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A quick run with every export of rows."""
    out = tmp_path_factory.mktemp("saw_c") / "exported"
    study.run(EXPORTED, out)
    return out


@pytest.fixture(scope="module")
def records(whole_run: Path) -> tuple[Record, ...]:
    return read_records(whole_run / "results.json")


@pytest.mark.published
def test_what_the_paper_claims(whole_run: Path, records: tuple[Record, ...]) -> None:
    """The tests of Table 1 come out as claimed; of the best layer by R², 12 differs from some of the others only."""
    found = outcomes_of_claims("saw_c", records)
    assert {"People rate two uses", "Layer 6 of BETO", "BETO agrees with the", "Sense predicts people's ratings",
            "Every model underestimates how", "Models with more parameters", "Without the final stop",
            "No model explains as", "ALBERT models lose more", "Within ALBETO, the base", "Within ALBETO, size shows",
            "XLM-RoBERTa does not differ", "A final stop raises", "A final stop changes", "Sense explains most of",
            "Sentences of a pair"} <= set(found["holds"])  # fmt: skip
    assert {"Layer 12 of BETO"} <= set(found["holds in part"])
    # mBERT is better than two of four smaller models by p before Holm's adjustment
    assert found["not shown"] == ["mBERT does not differ", "Multilingual models do worse"]
    assert sorted(found["cannot be tested"]) == sorted(
        ["Participants of Chile, Mexico", *["GPT-4 Turbo agrees with"] * 2, "GPT-4 Turbo's ratings and",
         "GPT-4 Turbo underestimates how"]
    )  # fmt: skip
    assert (whole_run / "tables" / "claims.csv").exists()
    assert "reversed" not in found


@pytest.mark.published
def test_the_results_page_answers_within_its_budget(whole_run: Path) -> None:
    """At most 1,200 words, 5 figures, 4 tables and 250 kB of results; the script has at most 6 kB; answers by rule."""
    text = (whole_run / "report.html").read_text(encoding="utf-8")
    results = text.partition('id="results"')[2].partition('<div class="page prose"')[0]
    drawn = re.sub(r"<svg.*?</svg>", " ", results, flags=re.S)
    words = re.sub(r"<[^>]*>", " ", drawn).split()
    assert len(words) <= 1200
    assert drawn.count("<figure") <= 5
    assert drawn.count("<table") <= 4
    assert len(results.encode()) <= 250_000
    assert len(text.partition("<script>")[2].partition("</script>")[0].encode()) <= 6_000
    assert results.index("<figure") < results.index("Question "), "the first figure is at the top"
    page = page_from_json(read_json(whole_run / "answers.json"))
    assert page.top.sentences[0].startswith("All 13 models follow people in the expected direction; the highest is")
    assert [(q.short, q.answer.verdict) for q in page.questions] == [
        ("People", "Yes."),
        ("Senses", "At layer 6 of 12 in BETO."),
        ("Layers", "It depends on the model."),
        ("Boundary", "Yes."),
        ("Size", "Not decided."),
    ]
    # the sign of ρ is turned once: the page shows what results.json holds, turned round
    (chosen,) = (
        r for r in read_records(whole_run / "results.json")
        if r.statistic == "spearman(of=distance,with=norms,layer=chosen)" and r.subject == "roberta-large-bne"
        and r.view == "full+final_stop"
    )  # fmt: skip
    assert page.top.drawing is not None
    assert max(page.top.drawing.columns()["value"]) == pytest.approx(-(chosen.value or 0.0))


@pytest.mark.published
def test_every_printed_number_is_reproduced_or_says_why_not(records: tuple[Record, ...]) -> None:
    """What the paper prints is reproduced, except the leave-one-out figures, which include the own rating."""
    compared = [record for record in records if record.published is not None]
    off = {r.statistic for r in compared if r.status not in ("reproduced", "not reproducible", "within rounding")}
    among = "raters_below_model(among=leave_one_out,method=spearman)"
    loo = {f"leave_one_out_agreement(method=spearman,summary={s})" for s in ("mean", "min", "max")}
    assert off == {among, *loo}
    # the rows of tests/studies/test_saw_c_printed.py, but for the three of RAW-C's run (A.3)
    outcomes = Counter(record.status for record in compared)
    assert outcomes == {"reproduced": 129, "within rounding": 1, "not reproduced": 4, "not reproducible": 23 + 33}
    assert all(record.note for record in compared if record.status != "reproduced")


@pytest.mark.published
def test_every_record_has_a_name_of_its_own_and_a_meaning(records: tuple[Record, ...]) -> None:
    """No two records answer to one name; every name is explained; what belongs to a question carries its flag."""
    keys = [(r.statistic, r.subject, r.layer, r.condition, r.view) for r in records]
    assert len(set(keys)) == len(keys)
    assert {parse_statistic(r.statistic)[0] for r in records} <= set(study.STATISTICS)
    assert {r.question for r in records if r.analysis} == {"Q1", "Q2", "Q3", "Q4", "Q5"}


BETO = "bert-base-spanish-wwm-cased"


@pytest.mark.published
def test_what_table_1_names_is_confirmatory_and_nothing_else(records: tuple[Record, ...], whole_run: Path) -> None:
    """SAW-C Table 1: the test of sense (§3.5); BETO's layers (§4.2, §4.3), place among raters (§4.4), tests (§4.5).

    Both views, 13 models and the maximal model are in the run; report and tables have the marks of the records.
    """
    marked = [r for r in records if r.analysis == "confirmatory"]
    assert {r.subject for r in marked} == {"", BETO}
    assert {r.view for r in marked} == {"", "full+final_stop"}
    of = {name: {r.statistic for r in marked if r.question == name} for name in ("Q1", "Q2", "Q3", "Q4", "Q5")}
    tests = {name for name in of["Q1"] | of["Q4"] if name.startswith("chi2")}
    assert tests == {f"chi2(test={name},df=1)" for name in ("sense", "sense_beyond_distance", "distance_beyond_sense")}
    assert find_record(records, "chi2(test=sense_maximal,df=1)").analysis == "exploratory"
    assert all("test=" in name for name in of["Q4"])
    assert of["Q2"] == {"aic", "min_aic_over_layers", "best_layer(by=aic)"}
    below = {f"raters_below_model(among={variant},method=spearman)" for variant in ("leave_one_out", "included")}
    assert {
        R,
        RHO,
        "r_squared",
        "best_layer(by=r_squared)",
        *below,
    } < of["Q3"]
    assert not [name for name in of["Q3"] if "expected" in name]
    assert of["Q5"] == set()
    assert {r.analysis for r in records if r.question} == {"confirmatory", "exploratory"}
    stored = load(whole_run)
    flags = {section.id: section.flag for section in stored.sections if section.flag}
    part = "confirmatory in part"
    assert flags == {"q1": part, "q2": part, "q3": part, "q4": part, "q5": "exploratory"}
    (questions,) = (t for section in stored.sections for t in section.tables if t.name == "questions")
    assert [row[2] for row in questions.rows] == list(flags.values())
    said = [text for section in stored.sections for text in section.paragraphs if "Confirmatory" in str(text)]
    assert len(said) == 4
    assert all("SAW-C Table 1" in str(text) for text in said)


def test_other_data_have_no_plan() -> None:
    """Items of one's own, another dataset, further exclusions: nothing is planned; without final stops only people."""
    published = complete_settings(SawCSettings())
    assert {each.question_id for each in planned_analyses(published)} == {"Q1", "Q2", "Q3", "Q4"}
    for other in (
        SawCSettings(items="saw_c.csv"),
        SawCSettings(dataset="raw_c"),
        SawCSettings(exclusions=("low_agreement(r_squared=0.1)",)),
    ):
        assert planned_analyses(complete_settings(other)) == ()
    bare = complete_settings(SawCSettings(views=("full",)))
    assert [each.question_id for each in planned_analyses(bare)] == ["Q1"]


@pytest.mark.published
def test_the_numbers_that_must_hold(records: tuple[Record, ...]) -> None:
    """The figures of sawc.md §1 and §2 to their last digit."""
    beto = "bert-base-spanish-wwm-cased"
    expected = {
        ("log_likelihood(test=sense,model=full)", "", None): (-17089.285617, 1e-3),
        ("log_likelihood(test=sense_maximal,model=full)", "", None): (-16709.206611, 1e-3),
        ("chi2(test=sense,df=1)", "", None): (39.5885, 1e-3),
        # the maximal model of §3.5 converges at once: the paper's reduction is not reproducible
        ("reduction_steps(test=sense_maximal,criterion=converged)", "", None): (1, 0),
        ("chi2(test=sense_maximal,df=1)", "", None): (43.488, 1e-3),
        ("chi2(test=sense_beyond_distance,df=1)", beto, 12): (325.2129, 2e-3),
        ("chi2(test=distance_beyond_sense,df=1)", beto, 12): (236.7330, 2e-3),
        ("r_squared(of=sense)", beto, 12): (0.60585, 1e-5),
        ("r_squared(of=sense+distance)", beto, 12): (0.66316, 1e-5),
        ("leave_one_out_agreement(method=spearman,summary=mean)", "", None): (0.7306, 1e-4),
        ("included_agreement(method=spearman,summary=mean)", "", None): (0.7725, 1e-4),
        ("raters_below_model(among=leave_one_out,method=spearman)", beto, 12): (11 / 131, 1e-12),
        ("raters_below_model(among=included,method=spearman)", beto, 12): (7 / 131, 1e-12),
        ("squared_mean_rater_correlation(variant=included,method=spearman)", "", None): (0.5967, 1e-4),
        ("squared_mean_rater_correlation(variant=leave_one_out,method=spearman)", "", None): (0.5338, 1e-4),
    }
    for (statistic, subject, layer), (value, tolerance) in expected.items():
        found = find_record(records, statistic, subject=subject, layer=layer)
        assert found.value == pytest.approx(value, abs=tolerance), statistic


@pytest.mark.published
@pytest.mark.parametrize("subject", MODELS)
def test_every_released_model(records: tuple[Record, ...], subject: str) -> None:
    """Best layers, Expected Layers and last-layer drop of all thirteen released models."""
    r_squared, at, aic, boundary, rho, by_aic, by_r, last = MODELS[subject]

    def value(statistic: str) -> float | None:
        # the distances of the paper: of sentences with a final stop
        return find_record(records, statistic, subject=subject, view="full+final_stop").value

    assert value("max_r_squared_over_layers") == pytest.approx(r_squared, abs=6e-5)
    assert value("best_layer(by=r_squared)") == at
    assert value("min_aic_over_layers") == pytest.approx(aic, abs=6e-3)
    assert value("best_layer(by=aic)") == boundary
    assert value("min_spearman_over_layers") == pytest.approx(rho, abs=6e-5)
    assert value("expected_layer(score=aic,deltas=signed)") == pytest.approx(by_aic, abs=6e-4)
    assert value("expected_layer(score=r_squared,deltas=signed)") == pytest.approx(by_r, abs=6e-4)
    assert value("last_over_max_r_squared") == pytest.approx(last, abs=6e-3)


@pytest.fixture(scope="module")
def highest_r_squared(published: Path) -> dict[tuple[str, str], float]:
    """The highest R² of each of the paper's models by view, as pandas reads it off the published files."""
    key = ["Sentence_1", "Sentence_2"]
    norms = pd.read_csv(published / "sawc" / "sawc_avg_relatedness.csv").set_index(key).mean_relatedness
    highest = {}
    for view, folder, stop in (("full+final_stop", "models_stimpunct", "."), ("full", "models", "")):
        for model in PAPER_MODELS:
            rows = pd.read_csv(published / "sawc" / folder / f"sawc-distances_model-{model}.csv")
            for column in key:
                rows[column] = rows[column].str.removesuffix(stop)
            by_layer = rows.pivot(index=key, columns="Layer", values="Distance").loc[norms.index]
            highest[model, view] = float((by_layer.corrwith(norms) ** 2).max())
    return highest


@pytest.mark.published
def test_size_with_and_without_the_final_stop(
    records: tuple[Record, ...], highest_r_squared: dict[tuple[str, str], float]
) -> None:
    """SAW-C fn 11: ordinary least squares by statsmodels on the raw files; .0601, .0360, p = .130 without the stop."""
    expected = {"full+final_stop": (0.10498, 0.04281, 0.0366), "full": (0.0601, 0.0360, 0.130)}
    flags = [float("multilingual" in model or model.startswith("xlm")) for model in PAPER_MODELS]
    logs = [np.log10(facts.n_parameters or 0) for facts in SUBJECTS if facts.subject_id in PAPER_MODELS]
    for view, printed in expected.items():
        highest = [highest_r_squared[model, view] for model in PAPER_MODELS]
        fit = sm.OLS(highest, sm.add_constant(np.column_stack([logs, flags]))).fit()
        ours = [
            find_record(records, name, view=view, condition="").value
            for name in (
                "slope(of=log10_parameters,outcome=max_r_squared)",
                "standard_error(of=log10_parameters)",
                "p(of=log10_parameters)",
            )
        ]
        assert ours == pytest.approx([fit.params[1], fit.bse[1], fit.pvalues[1]], abs=1e-9)
        assert ours == [pytest.approx(value, abs=6e-5 if value < 0.12 else 6e-4) for value in printed]
        # the same of the R² whose layer was chosen on other words; one hypothesis has one p
        allowing = [
            find_record(records, "r_squared(layer=chosen)", subject=model, view=view).value for model in PAPER_MODELS
        ]
        again = sm.OLS(allowing, sm.add_constant(np.column_stack([logs, flags]))).fit()
        slope = find_record(
            records, "slope(of=log10_parameters,outcome=r_squared_at_chosen_layer)", view=view, condition=""
        )
        assert (slope.value, slope.low, slope.high) == pytest.approx((again.params[1], *again.conf_int()[1]), rel=1e-8)
        assert slope.p is None


@pytest.mark.published
def test_contrasts_of_size_agree_with_the_raw_files(
    records: tuple[Record, ...], highest_r_squared: dict[tuple[str, str], float]
) -> None:
    """§5.2 within ALBETO and of multilingual models: differences and slopes of the highest R², adjusted by Holm."""
    best = {model: value for (model, view), value in highest_r_squared.items() if view == "full+final_stop"}
    sizes = {facts.subject_id: facts.n_parameters or 0 for facts in SUBJECTS}
    albeto = [f"albert-{size}-spanish" for size in ("tiny", "base", "large", "xlarge", "xxlarge")]
    name = "r_squared_difference(of=max_over_layers,between={})"
    found = {r.subject: r for r in records if r.statistic == name.format("sizes")}
    pairs = [*zip(albeto[1:], albeto, strict=False), ("roberta-large-bne", "roberta-base-bne")]
    assert {subject: r.value for subject, r in found.items()} == pytest.approx(
        {f"{large} − {small}": best[large] - best[small] for large, small in pairs}, abs=1e-9
    )
    of = "slope_within_family(of=log10_parameters,outcome={})"
    slopes = {r.condition: r.value for r in records if r.statistic == of.format("max_r_squared")}
    lines = [
        np.polyfit(np.log10([sizes[m] for m in part]), [best[m] for m in part], 1) for part in (albeto, albeto[1:])
    ]
    assert slopes == pytest.approx(
        {"family=ALBERT": lines[0][0], "family=ALBERT, without the smallest": lines[1][0]}, abs=1e-9
    )
    other = {r.subject: r for r in records if r.statistic == name.format("multilingual")}
    for multilingual, smaller in (
        ("bert-base-multilingual-cased", albeto[:4]),
        ("xlm-roberta-base", [*albeto[:4], "distilbert-base-spanish-uncased"]),
    ):
        differences = {f"{multilingual} − {model}": best[multilingual] - best[model] for model in smaller}
        mean = {f"{multilingual} − mean of {len(smaller)} smaller": float(np.mean([*differences.values()]))}
        own = {subject: r.value for subject, r in other.items() if subject.startswith(multilingual)}
        assert own == pytest.approx(differences | mean, abs=1e-9)
    assert {r.family for r in found.values()} == {"within_family(method=holm,tests=7)"}
    # with each layer chosen on other words: the sums of the R² that allow for the choice, which are not tested again
    allowing = {
        r.subject: r.value or 0.0
        for r in records
        if (r.statistic, r.view) == ("r_squared(layer=chosen)", "full+final_stop")
    }
    chosen = "r_squared_difference_at_chosen_layers(between={})"
    again = [r for r in records if r.statistic in (chosen.format("sizes"), chosen.format("subjects"))]
    assert len(again) > len(found)
    for record in again:
        first, _, second = record.subject.partition(" − ")
        assert record.value == pytest.approx(allowing[first] - allowing[second], abs=1e-9)
        assert record.p is None
    line = np.polyfit(np.log10([sizes[m] for m in albeto]), [allowing[m] for m in albeto], 1)
    slope = find_record(records, of.format("r_squared_at_chosen_layer"), condition="family=ALBERT")
    assert slope.value == pytest.approx(line[0], abs=1e-9)
    assert {r.family for r in other.values()} == {"multilingual(method=holm,tests=11)"}
    # Holm by hand: the smallest of 11 times 11
    first = min(other.values(), key=lambda r: r.p or 1.0)
    assert first.p_adjusted == pytest.approx(min(1.0, 11 * (first.p or 0.0)))


@pytest.mark.published
def test_every_model_underestimates_the_same_sense(records: tuple[Record, ...]) -> None:
    """Residuals are positive for the same sense and negative for different senses, in every model (§5.4)."""
    found = [r for r in records if r.statistic == "mean_residual(model=norm~distance*layer)"]
    same = [r.value for r in found if r.condition == "same_sense=True" and r.value is not None]
    other = [r.value for r in found if r.condition == "same_sense=False" and r.value is not None]
    assert len(same) == len(other) == 13
    assert min(same) == pytest.approx(1.19, abs=6e-3)
    assert max(same) == pytest.approx(1.49, abs=6e-3)
    assert max(other) < -0.49


@pytest.mark.published
def test_the_run_folder_is_whole(whole_run: Path) -> None:
    """run.json seals every file; tables, figures with data and alt text, responses, R script."""
    run = json.loads((whole_run / "run.json").read_text())
    assert run["counts"]["ratings"] == 10_639
    assert run["settings"]["views"] == ["full+final_stop", "full"]
    assert all((whole_run / name).is_file() for name in run["files"])
    svgs = sorted(path.stem for path in (whole_run / "figures").glob("*.svg"))
    assert {name.split("_")[1] for name in svgs if name.startswith("figure_")} >= set("2345679") | {
        "4b",
        "8",
        "8b",
    }
    assert all((whole_run / "figures" / f"{name}.csv").is_file() for name in svgs)
    assert (whole_run / "tables" / "norms.tex").is_file()
    assert len(ResponseTable.read_parquet(whole_run / "responses.parquet").where(measure="rating")) == 10_639
    assert not list(whole_run.rglob("*preregistration*"))
    page = (whole_run / "report.html").read_text()
    assert "not reproduced" in page
    assert "<script src" not in page


# R takes 40 s for all models of the study; tests/analysis/mixed/test_r_script.py runs one of them every time
@pytest.mark.soak
@pytest.mark.published
@pytest.mark.r
def test_the_exported_script_prints_the_same_chi_squares(whole_run: Path) -> None:
    """R with lme4 refits the exported models: χ²(1) = 39.589 (X18)."""
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    done = subprocess.run(
        ["Rscript", "mixed_models.R"], cwd=whole_run / "r", capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "sense: chi2(1) = 39.589" in done.stdout


# -- the run as a folder ------------------------------------------------------------------------------------------


def _bytes(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in ("machine.json", ".lock")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.published
def test_two_runs_and_a_broken_one_end_byte_identical(exported_run: Path, tmp_path: Path) -> None:
    """A finished run is left alone, a broken one is finished, and all end with the same bytes."""
    first = study.run(EXPORTED, tmp_path / "b")
    assert _bytes(exported_run) == _bytes(tmp_path / "b")
    again = study.run(EXPORTED, exported_run)
    assert again.remarks != first.remarks
    assert "nothing was computed again" in again.remarks[0]
    (tmp_path / "b" / "results.json").write_text("[]")
    (tmp_path / "b" / "figures" / "figure_7_trajectories.svg").unlink()
    study.run(EXPORTED, tmp_path / "b")
    assert _bytes(exported_run) == _bytes(tmp_path / "b")
    with pytest.raises(RunError, match="another question"):
        study.run(replace(EXPORTED, seed=1), exported_run)


@pytest.mark.published
def test_exports_are_asked_for_by_name(exported_run: Path, tmp_path: Path) -> None:
    """CSV and JSON lines hold the same rows as Parquet; codebook and card explain them; an unknown name is refused."""
    table = ResponseTable.read_parquet(exported_run / "responses.parquet")
    assert ResponseTable.read_csv(exported_run / "responses.csv") == table
    with (exported_run / "responses.jsonl").open(encoding="utf-8") as stream:
        values = [json.loads(line)["value"] for line in stream]
    assert np.array_equal(np.array(values, dtype=float), table.column("value"), equal_nan=True)
    codebook = (exported_run / "codebook.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in codebook for name in table.arrow.column_names)
    assert "femael" in (exported_run / "data_card.md").read_text(encoding="utf-8")
    with pytest.raises(SpecError, match="pdf"):
        study.run(replace(QUICK, outputs=("pdf",)), tmp_path / "other")
    assert not (tmp_path / "other").exists(), "it is refused before anything is computed"


@pytest.mark.published
def test_an_unknown_recorded_subject_is_refused(published: Path, tmp_path: Path) -> None:
    """A recorded model that the dataset does not have is named, with those that it has."""
    with pytest.raises(SpecError, match="beto"):
        study.run(replace(QUICK, recorded=("beto",)), tmp_path / "run")


# -- the user's own items -----------------------------------------------------------------------------------------


def _own_items(path: Path, *, rate: bool) -> Path:
    """Write mini items as a user's file; the ratings are made up by this test and named so."""
    generator = np.random.default_rng(1)
    items = mini_relatedness.load("en").items[:120]
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["item", "word", "sentence1", "sentence2", "sense1", "sense2"] + ["rater", "rating"] * rate)
        for item in items:
            base = [item.item_id, item.usages[0].target, item.usages[0].text, item.usages[1].text]
            base += [item.usages[0].sense, item.usages[1].sense]
            middle = 4 if item.conditions["same_sense"] else 2
            ratings = [(f"made-up-{r}", int(np.clip(middle + generator.integers(-1, 2), 1, 5))) for r in range(4)]
            writer.writerows([*base, *rating] for rating in ratings) if rate else writer.writerow(base)
    return path


def test_own_items_with_ratings_and_a_live_encoder(tmp_path: Path, assert_own: Callable[[Path], None]) -> None:
    """Items and ratings of the user's own beside a live encoder: every question is answered, nothing is published."""
    items = _own_items(tmp_path / "own.csv", rate=True)
    settings = SawCSettings(items=str(items), language="en", subjects=("encoder:minilm",), n_bootstrap=20, starts=1)
    summary = study.run(settings, tmp_path / "run")
    records = read_records(tmp_path / "run" / "results.json")
    assert {r.subject for r in records if r.layer is not None} == {"encoder:minilm"}
    assert find_record(records, "n_trials").value == 480
    assert find_record(records, "chi2(test=sense,df=1)").value is not None
    assert len([r for r in records if r.statistic == "r_squared" and r.layer is not None]) == 7
    assert not [r for r in records if r.published is not None]
    assert {r.analysis for r in records if r.question} == {"exploratory"}
    assert summary.report.is_file()
    assert_own(tmp_path / "run")
    with (tmp_path / "run" / "tables" / "ceilings.csv").open(encoding="utf-8", newline="") as table:
        names = [row["Ceiling"] for row in csv.DictReader(table)]
    # two definitions of agreement: no two ceilings may share a label
    assert {"mean rater correlation (leave-one-out)", "mean rater correlation (included)"} < set(names)
    assert len(set(names)) == len(names)


def test_two_subjects_have_sets_of_ranks(tmp_path: Path) -> None:
    """An encoder and recorded noise on pairs of the user's own: ranks 1 and 2, sets that hold them, on the same words.

    A run of one subject has no rank and no column of ranks.
    """
    file = _own_items(tmp_path / "own.csv", rate=True)
    items = own_dataset(file, task="relatedness", language="en").items
    columns = {"subject_id": "noise", "subject_kind": "model", "task": "relatedness", "measure": "cosine_distance"}
    noise = np.random.default_rng(1).uniform(size=len(items)).tolist()
    rows = {"item_id": [item.item_id for item in items], "value": noise, "view": "full"}
    ResponseTable.from_columns(columns | rows).write_csv(tmp_path / "noise.csv")
    subjects = ("encoder:minilm", f"recorded:{tmp_path / 'noise.csv'}")
    two = SawCSettings(items=str(file), language="en", subjects=subjects, n_bootstrap=99, mixed_models="none")
    study.run(two, tmp_path / "two")
    records = read_records(tmp_path / "two" / "results.json")
    ranks = [r for r in records if r.statistic == "rank(of=spearman,among=subjects)"]
    rho = {r.subject: r.value or 0.0 for r in records if r.statistic == "min_spearman_over_layers"}
    assert {r.subject: r.value for r in ranks} == {
        subject: place for place, subject in enumerate(sorted(rho, key=lambda name: rho[name]), start=1)
    }
    assert sorted((r.low, r.high) for r in ranks) in ([(1, 2), (1, 2)], [(1, 1), (2, 2)])
    assert {r.interval for r in ranks} == {"set_of_ranks(method=simultaneous,resampled=words,level=0.95,resamples=99)"}
    with (tmp_path / "two" / "tables" / "relatedness_full.csv").open(encoding="utf-8", newline="") as table:
        shown = sorted(row["Rank"] for row in csv.DictReader(table))
    assert shown in (["1–2", "1–2"], ["1", "2"])
    study.run(replace(two, subjects=subjects[:1]), tmp_path / "one")
    assert "Rank" not in (tmp_path / "one" / "tables" / "relatedness_full.csv").read_text(encoding="utf-8")
    assert not [r for r in read_records(tmp_path / "one" / "results.json") if r.statistic.startswith("rank(")]


def test_device_and_threads_reach_the_encoder(tmp_path: Path) -> None:
    """The study's device is the encoder's: one that is not there is refused, and never taken for another."""
    items = _own_items(tmp_path / "own.csv", rate=False)
    settings = SawCSettings(items=str(items), subjects=("encoder:minilm",), device="mps", n_bootstrap=0)
    with pytest.raises(SubjectError, match="mps"):
        study.run(settings, tmp_path / "run")
    own = replace(settings, subjects=("encoder:minilm?device=cpu&threads=1",), threads=2)
    assert study.run(own, tmp_path / "other").n_records > 0


def test_items_without_ratings(tmp_path: Path) -> None:
    """Without ratings the study says so, and still answers what needs no people."""
    items = _own_items(tmp_path / "own.csv", rate=False)
    settings = SawCSettings(items=str(items), language="en", subjects=("encoder:minilm",), n_bootstrap=20)
    summary = study.run(settings, tmp_path / "run")
    records = read_records(tmp_path / "run" / "results.json")
    assert any("no human ratings" in remark for remark in summary.remarks)
    assert find_record(records, "best_layer(by=aic)").value is not None
    assert not [r for r in records if r.statistic.startswith(("spearman", "chi2"))]


def test_with_and_without_final_stop(tmp_path: Path) -> None:
    """Two views of the same subject: the difference that a final stop makes is a number of its own (S06)."""
    items = _own_items(tmp_path / "own.csv", rate=True)
    settings = SawCSettings(
        items=str(items),
        subjects=("encoder:minilm",),
        views=("full+final_stop", "full"),
        n_bootstrap=0,
        mixed_models="none",
    )
    study.run(settings, tmp_path / "run")
    records = read_records(tmp_path / "run" / "results.json")
    best = {r.view: r.value for r in records if r.statistic == "max_r_squared_over_layers"}
    name = "r_squared_difference(of=max_over_layers,between=final_stop)"
    difference = find_record(records, name, subject="encoder:minilm").value
    assert best["full"] is not None
    assert best["full+final_stop"] is not None
    assert difference == pytest.approx(best["full+final_stop"] - best["full"], abs=1e-12)


def test_an_incomplete_subject_is_refused(tmp_path: Path) -> None:
    """A subject that did not answer every item at every layer never enters a statistic."""
    items = mini_relatedness.load("en").items[:3]
    answers = ResponseTable.from_columns(
        {
            "subject_id": "m",
            "subject_kind": "encoder",
            "item_id": [items[0].item_id, items[1].item_id],
            "task": "relatedness",
            "measure": "cosine_distance",
            "value": [0.1, 0.2],
            "layer": [0, 0],
            "view": "full",
        }
    )
    data = replace(mini_relatedness.load("en"), items=items)
    with pytest.raises(InputError, match=items[2].item_id):
        _ = SawCData(data, answers, SawCSettings(views=("full",))).distances


# -- published values ------------------------------------------------------------------------


def test_a_printed_number_without_a_record_is_reported() -> None:
    """A printed number that nothing computes becomes a record that says so; one that differs keeps its reason."""
    printed = (PublishedValue("a", "1.0", "§1"), PublishedValue("b", "2", "§2", remark="no data", reproducible=False))
    found = with_published([Record("a", 1.3)], printed)
    assert [record.status for record in found] == ["not reproduced", "not reproducible"]
    assert found[1].note == "no data"
    assert found[1].value is None


def test_a_printed_number_belongs_to_the_first_record_at_its_place() -> None:
    """Each printed number is compared once, with the first record at its place; without a view, of any view."""
    printed = [
        PublishedValue("a", "1", "§1", view="full"),
        PublishedValue("a", "2", "§2", layer=3),
        PublishedValue("a", "3", "§3"),
        PublishedValue("a", "3", "§3"),
    ]
    views = ("masked", "full", "full", "full")
    found = with_published([*(Record("a", 3, view=view) for view in views), Record("a", 2, subject="x")], printed)
    assert [record.published for record in found] == [3, 1, 3, None, None, 2]
    assert [record.status for record in found][4:] == ["", "not computed"]


def test_a_catch_trial_is_not_an_item(tmp_path: Path) -> None:
    """items.csv of an export holds the catch trials too: they count neither as items nor in ratings, and are named."""
    lines = ["item_id,word,sentence_1,sentence_2,same_sense,catch,participant,rating"]
    for n, word in enumerate(("bank", "bat", "seal", "mole")):
        for kind, same in (("x", "true"), ("y", "false")):
            texts = f"The old {word} was here.,A new {word} was {kind} there."
            lines += [f"{word}-{kind},{word},{texts},{same},,p{k},{1 + (n + k) % 4}" for k in range(3)]
    lines += [f"catch-bank,bank,The old bank was here.,The old bank was here.,,true,p{k},5" for k in range(3)]
    file = tmp_path / "items.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = SawCSettings(items=str(file), language="en", mixed_models="none", n_bootstrap=0)
    study.run(settings, tmp_path / "run")
    found = {one.statistic: one.value for one in read_records(tmp_path / "run" / "results.json")}
    assert (found["n_items"], found["n_trials"]) == (8, 24)
    assert "1 item of the file is a catch trial" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
