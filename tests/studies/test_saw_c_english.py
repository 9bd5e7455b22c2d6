"""The study of relatedness on RAW-C: SAW-C's appendix A.3 and A.4 in English, each number computed once more."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from click.testing import CliRunner

from lexiscope.analysis.mixed.models import fit as fit_mixed
from lexiscope.cli.main import cli
from lexiscope.core.errors import InputError
from lexiscope.core.result import Estimate, Record, find_record, read_records
from lexiscope.report.part import part_of
from lexiscope.report.presenting import file_name
from lexiscope.studies.saw_c.data import SawCData, complete_settings, load_run
from lexiscope.studies.saw_c.further import joint_layers_and_size, joint_models, languages_model, write_r_script
from lexiscope.studies.saw_c.layers import main_fits
from lexiscope.studies.saw_c.settings import SawCSettings

from .conftest import outcomes_of_claims

R, RHO = "pearson(of=distance,with=norms)", "spearman(of=distance,with=norms)"
MULTILINGUAL = ("bert-base-multilingual-cased", "xlm-roberta-base")
CHOSEN = "r_squared_at_chosen_layer"
_SLOPE = "slope(of=log10_parameters,outcome=max_r_squared)"
pytestmark = pytest.mark.published


COMMAND = "study saw_c --dataset raw_c --bootstrap 200 --mixed none --out"


@pytest.fixture(scope="module")
def english_run(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study on RAW-C without its mixed models, by the command of the tutorial; what it prints is in printed.txt."""
    out = tmp_path_factory.mktemp("raw_c") / "run"
    done = CliRunner().invoke(cli, [*COMMAND.split(), str(out), "--quiet"], catch_exceptions=False)
    out.with_name("printed.txt").write_text(done.stdout, encoding="utf-8")
    return out


@pytest.fixture(scope="module")
def records(english_run: Path) -> tuple[Record, ...]:
    return read_records(english_run / "results.json")


@pytest.fixture(scope="module")
def pairs(published: Path) -> pd.DataFrame:
    """The published norms, one pair a row."""
    return pd.read_csv(published / "rawc/raw-c.csv")


@pytest.fixture(scope="module")
def layers(published: Path, pairs: pd.DataFrame) -> pd.DataFrame:
    """Each encoder's R² by layer, from the published files: squared correlation of distances and norms."""
    rows = []
    for path in sorted((published / "rawc/models_english").glob("*.csv")):
        joined = pd.read_csv(path).merge(pairs[["sentence1", "sentence2", "mean_relatedness"]])
        for layer, part in joined.groupby("Layer"):
            r = part["Distance"].corr(part["mean_relatedness"]) if part["Distance"].std() else np.nan
            rows.append((path.stem.removeprefix("rawc-distances_model-"), part["n_params"].iloc[0], layer, r**2))
    return pd.DataFrame(rows, columns=["subject", "parameters", "layer", "r_squared"])


def test_the_tutorial_shows_what_the_command_prints(english_run: Path, records: tuple[Record, ...]) -> None:
    """The page's table is the command's, line by line; its two numbers are those of the regression on size."""
    page = (Path(__file__).parents[2] / "docs/papers/saw-c.md").read_text(encoding="utf-8")
    assert f"$ lexiscope {COMMAND} raw_c_run" in page
    printed = english_run.with_name("printed.txt").read_text(encoding="utf-8").splitlines()
    (table,) = (block for block in page.split("```text\n") if "roberta-large   " in block and "albert-base-v1" in block)
    shown = table.partition("\n```")[0].splitlines()
    assert len(shown) > 20
    assert {line.rstrip() for line in shown} <= {line.rstrip() for line in printed}
    slope, error = (find_record(records, f"{name}").value for name in (_SLOPE, "standard_error(of=log10_parameters)"))
    assert f"{slope:.3f} per tenfold parameters, with a standard error of\n{error:.3f}" in page


def test_the_claims_of_appendix_a3(records: tuple[Record, ...]) -> None:
    """Larger English models fit better, multilingual ones worse; ALBERT's fall in the last layers is weaker."""
    outcomes = outcomes_of_claims("saw_c", records)
    assert {"English models with more", "English multilingual models do"} <= set(outcomes["holds"])


def test_raw_c_through_the_same_study(records: tuple[Record, ...]) -> None:
    """RAW-C: agreement, correlations and variance as in sawc.md §6 (its mixed models have tests of their own)."""
    expected = {
        ("leave_one_out_agreement(method=spearman,summary=mean)", ""): 0.7933,
        ("leave_one_out_agreement(method=spearman,summary=min)", ""): 0.5453,
        ("included_agreement(method=spearman,summary=mean)", ""): 0.8254,
        (RHO, "bert"): -0.5784,
        (R, "bert"): -0.5376,
        ("r_squared", "bert"): 0.2890,
        (RHO, "elmo"): -0.5291,
        ("r_squared", "elmo"): 0.2435,
        ("r_squared(of=sense)", "bert"): 0.5241,
        ("r_squared(of=bert+elmo)", ""): 0.3658,
        ("r_squared(of=sense*ambiguity_type)", ""): 0.6596,
        ("r_squared(of=sense*ambiguity_type+bert+elmo)", ""): 0.7105,
    }
    for (statistic, subject), value in expected.items():
        assert find_record(records, statistic, subject=subject).value == pytest.approx(value, abs=6e-5), statistic
    residuals = {r.condition: r.value for r in records if r.statistic == "mean_residual(model=norm~bert+elmo)"}
    assert residuals["same_sense=True ambiguity_type=Homonymy"] == pytest.approx(0.438, abs=6e-4)
    assert residuals["same_sense=True ambiguity_type=Polysemy"] == pytest.approx(0.904, abs=6e-4)
    assert residuals["same_sense=False ambiguity_type=Polysemy"] == pytest.approx(0.052, abs=6e-4)
    assert residuals["same_sense=False ambiguity_type=Homonymy"] == pytest.approx(-1.201, abs=6e-4)


def test_figure_10_is_the_regression_of_statsmodels_and_that_of_the_paper(
    records: tuple[Record, ...], layers: pd.DataFrame, english_run: Path
) -> None:
    """A.3.1: highest R² on log10 parameters and a multilingual flag; the paper prints β = .198, SE = .03, p < .001."""
    best = layers.groupby("subject").agg(parameters=("parameters", "first"), highest=("r_squared", "max")).reset_index()
    best["multilingual"] = best["subject"].isin(MULTILINGUAL).astype(float)
    fit = smf.ols("highest ~ np.log10(parameters) + multilingual", best).fit()
    for name, value in {
        "slope(of=log10_parameters,outcome=max_r_squared)": fit.params.iloc[1],
        "standard_error(of=log10_parameters)": fit.bse.iloc[1],
        "p(of=log10_parameters)": fit.pvalues.iloc[1],
        "slope(of=multilingual,outcome=max_r_squared)": fit.params.iloc[2],
        "r_squared(of=scaling)": fit.rsquared,
    }.items():
        assert find_record(records, name).value == pytest.approx(value, rel=1e-8), name
    slope = find_record(records, "slope(of=log10_parameters,outcome=max_r_squared)")
    assert (round(slope.value or 0, 3), slope.n, slope.status) == (0.198, 12, "reproduced")
    assert find_record(records, "standard_error(of=log10_parameters)").status == "reproduced"
    drawn = pd.read_csv(english_run / "figures/figure_10_size_full.csv")
    np.testing.assert_allclose(sorted(drawn["value"]), sorted(best["highest"]), rtol=1e-9)


def test_figure_11_is_the_mean_of_a_family_at_each_depth_ratio(layers: pd.DataFrame, english_run: Path) -> None:
    """At the last layer (ratio 1) the three means are those of the published files; no other figure has the number."""
    last = layers[layers["layer"] == layers.groupby("subject")["layer"].transform("max")]
    families = {"ALBERT": "^albert", "BERT": "^(?:bert|distilbert)", "RoBERTa": "roberta"}
    expected = {name: last[last["subject"].str.contains(of)]["r_squared"].mean() for name, of in families.items()}
    drawn = pd.read_csv(english_run / "figures/figure_11_families_by_depth_full.csv")
    ends = drawn[drawn["layer"] == 1.0].set_index("subject")["value"]
    assert ends.to_dict() == pytest.approx(expected, rel=1e-9)
    named = sorted(path.name for path in (english_run / "figures").glob("figure_*.svg"))
    assert named == ["figure_10_size_full.svg", "figure_11_families_by_depth_full.svg"]


def test_layers_of_an_english_encoder(records: tuple[Record, ...], layers: pd.DataFrame, published: Path) -> None:
    """Best layer, AIC by layer (statsmodels) and Expected Layers (the definition of A.2, term by term) of BERT."""
    subject = "bert-base-uncased"
    of = layers[layers["subject"] == subject].set_index("layer")["r_squared"]
    assert find_record(records, "best_layer(by=r_squared)", subject=subject).value == of.idxmax()
    table = pd.read_csv(published / f"rawc/models_english/rawc-distances_model-{subject}.csv")
    wide = table.pivot_table(index=["sentence1", "sentence2", "Same_sense"], columns="Layer", values="Distance")
    wide.columns = [f"d{layer}" for layer in wide.columns]
    wide = wide.reset_index()
    wide["same"] = wide["Same_sense"].astype(int)
    aic = {layer: smf.logit(f"same ~ d{layer}", wide).fit(disp=0).aic for layer in (1, 6, 12)}
    for layer, value in aic.items():
        assert find_record(records, "aic", subject=subject, layer=layer).value == pytest.approx(value, abs=1e-4)
    pairs = pd.read_csv(published / "rawc/raw-c.csv")
    wide = wide.merge(pairs[["sentence1", "sentence2", "mean_relatedness"]])
    scores = []
    for last in range(13):
        columns = wide[[f"d{layer}" for layer in range(last + 1)]].to_numpy()
        columns = np.column_stack([np.ones(len(wide)), columns / columns.std(axis=0)])
        rest = wide["mean_relatedness"] - columns @ np.linalg.lstsq(columns, wide["mean_relatedness"])[0]
        scores.append(1 - rest.var() / wide["mean_relatedness"].var())
    gains = np.diff(scores)
    expected = float((np.arange(1, 13) * gains).sum() / gains.sum())
    value = find_record(records, "expected_layer(score=r_squared,deltas=signed)", subject=subject).value
    assert value == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("chat", "column", "n"), [("gpt-4", "gpt4_rating", 672), ("gpt-3.5-turbo", "gpt3.5-turbo_rating", 671)]
)
def test_chat_models_as_in_appendix_a4(
    records: tuple[Record, ...], pairs: pd.DataFrame, published: Path, chat: str, column: str, n: int
) -> None:
    """A.4.2 in English: ρ, rating and sense in one regression, residuals by sense; 3.5 is no point of the scale."""
    replies = pd.read_csv(published / f"llm_norms/processed/raw-c/raw-c_{chat}.csv")
    rated = pairs[["sentence1", "sentence2", "same", "mean_relatedness"]].merge(
        replies[["sentence1", "sentence2", column]].rename(columns={column: "rating"})
    )
    rated = rated[rated["rating"] % 1 == 0].assign(same=lambda table: table["same"].astype(int))
    assert len(rated) == n
    both = smf.ols("mean_relatedness ~ rating + same", rated).fit()
    alone = smf.ols("mean_relatedness ~ rating", rated).fit()

    def value(statistic: str, condition: str = "") -> float | None:
        return find_record(records, statistic, subject=chat, condition=condition).value

    rho = rated["rating"].corr(rated["mean_relatedness"], method="spearman")
    assert value("spearman(of=predictions,with=norms)") == pytest.approx(rho, rel=1e-9)
    for term, name in (("rating", "rating"), ("same_sense", "same")):
        model = f"(term={term},model=norm~rating+same_sense)"
        assert value(f"coefficient{model}") == pytest.approx(both.params[name], rel=1e-8)
        assert value(f"standard_error{model}") == pytest.approx(both.bse[name], rel=1e-8)
    for same in (True, False):
        rest = alone.resid[rated["same"] == same].mean()
        assert value("mean_residual(model=norm~rating)", f"same_sense={same}") == pytest.approx(rest, rel=1e-7)
        assert bool(rest > 0) is same


def test_the_contamination_test_of_its_publisher(records: tuple[Record, ...], published: Path) -> None:
    """GPT-4 recites the arousal of the Glasgow norms less closely (ρ = .529) than it rates it."""
    table = pd.read_csv(published / "llm_norms/processed/glasgow/gpt4_data_contamination_test.csv")
    for of, column in (("recited", "num_response"), ("rated", "Arousal")):
        rho = table[column].corr(table["Arousal.M"], method="spearman")
        record = find_record(records, f"spearman(of={of},with=glasgow_arousal)", subject="gpt-4")
        assert (record.value, record.n) == (pytest.approx(rho, rel=1e-9), 859)
    assert round(find_record(records, "spearman(of=recited,with=glasgow_arousal)").value or 0, 3) == 0.529


# -- both languages -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def both(published: Path, tmp_path_factory: pytest.TempPathFactory) -> SawCData:
    """SAW-C with RAW-C beside it, with few resamples, in the views of the paper."""
    settings = SawCSettings(beside="raw_c", n_bootstrap=20, views=("full+final_stop",), ordinal=("logit",))
    return load_run(complete_settings(settings), tmp_path_factory.mktemp("both"))


def test_size_is_compared_between_the_languages_as_statsmodels_does(both: SawCData, layers: pd.DataFrame) -> None:
    """24 encoders: highest R² on size and the multilingual flag, each crossed with language."""
    records = part_of(joint_layers_and_size(both)).records
    english = layers.groupby("subject").agg(size=("parameters", "first"), highest=("r_squared", "max")).reset_index()
    spanish = pd.DataFrame(
        [
            (fit.subject, fit.distances.facts.n_parameters, fit.highest)
            for fit in both.once(main_fits)
            if fit.subject != "patana-chilean-spanish-bert"
        ],
        columns=["subject", "size", "highest"],
    )
    table = pd.concat([spanish.assign(language=0.0), english.assign(language=1.0)])
    table["multilingual"] = table["subject"].isin(MULTILINGUAL).astype(float)
    fit = smf.ols("highest ~ (np.log10(size) + multilingual) * language", table).fit()
    model = "model=max_r_squared~[log10_parameters+multilingual]*language"
    for term, name in {
        "log10_parameters": "np.log10(size)",
        "log10_parameters:language": "np.log10(size):language",
        "multilingual:language": "multilingual:language",
    }.items():
        record = find_record(records, f"coefficient(term={term},{model})")
        assert (record.value, record.p, record.n) == pytest.approx((fit.params[name], fit.pvalues[name], 24), rel=1e-7)
        low, high = fit.conf_int().loc[name]
        assert (record.low, record.high) == pytest.approx((low, high), rel=1e-6)
        assert record.dataset == "saw_c+raw_c"
    # with the layers chosen on other words: the same terms, which are not tested a second time
    assert both.beside is not None
    rows = [
        (np.log10(fit.facts.n_parameters or 0), fit.subject in MULTILINGUAL, part is both.beside, chosen.value)
        for part in (both, both.beside)
        for fit in part.once(main_fits)
        if isinstance(chosen := fit.curves["r_squared"].chosen, Estimate)
        if fit.subject != "patana-chilean-spanish-bert"
    ]
    chosen_fits = pd.DataFrame(rows, columns=["size", "multilingual", "language", "highest"]).astype(float)
    fit = smf.ols("highest ~ (size + multilingual) * language", chosen_fits).fit()
    model = model.replace("max_r_squared", CHOSEN)
    record = find_record(records, f"coefficient(term=log10_parameters:language,{model})")
    assert (record.value, record.n) == pytest.approx((fit.params["size:language"], 24), rel=1e-7)
    assert record.p is None


def test_one_model_of_both_languages_as_lme4_fits_it(both: SawCData) -> None:
    """The ratings of both languages with mBERT's distances: log-likelihood, coefficients of lme4 (bobyqa, ML)."""
    assert both.beside is not None
    mbert = (next(fit for fit in run.once(main_fits) if fit.subject == MULTILINGUAL[0]) for run in (both, both.beside))
    model = languages_model(both, both.beside, *mbert)
    assert len(model.data["Response"]) == 10_639 + 8_624
    assert model.references == {"Same_sense": "Different Sense", "Language": "es"}
    fitted = fit_mixed(model.full, model.data, starts=1, references=model.references)
    assert fitted.log_likelihood == pytest.approx(-28840.74088, abs=1e-3)
    lme4 = {
        "Same_sense": (1.981060782, 0.096540984),
        "Language": (0.169886207, 0.136476758),
        "Distance": (-0.355681203, 0.018764733),
        "Same_sense:Language": (0.078097082, 0.138016133),
        "Distance:Language": (0.261260184, 0.030619101),
    }
    ours = {effect.name: (effect.estimate, effect.se) for effect in fitted.fixed}
    for term, row in lme4.items():
        assert ours[term] == pytest.approx(row, abs=1e-5), term


def test_the_models_of_both_languages_in_r(both: SawCData, tmp_path: Path) -> None:
    """Three encoders, two tests of each, linear and ordinal; one table has all ratings and all distances."""
    assert write_r_script(both, tmp_path) == ("r/trials_of_languages.csv", "r/languages.R")
    trials = pd.read_csv(tmp_path / "r" / "trials_of_languages.csv")
    assert trials.Language.value_counts().to_dict() == {"es": 10_639, "en": 8_624}
    assert [name for name in trials.columns if name.startswith("Distance")] == ["Distance", "Distance_2", "Distance_3"]
    models = both.once(joint_models)
    for name, title in zip(("Distance", "Distance_2", "Distance_3"), models, strict=True):
        assert trials[name].to_numpy() == pytest.approx(models[title].data["Distance"], abs=1e-12)
    script = (tmp_path / "r" / "languages.R").read_text(encoding="utf-8")
    assert 'file.path(if (length(here)) dirname(here) else ".", "trials_of_languages.csv")' in script
    assert "Same_sense:Language + (1 + Same_sense + Distance_3 | Participant) + (1 + Same_sense | Word)" in script
    tests = [f"{test}_by_language_{file_name(title)}" for title in models for test in ("sense", "distance")]
    assert [script.count(f'test("{name}"') for name in tests] == [1] * 6, script
    assert "clmm" in script


def test_one_language_is_refused(published: Path, tmp_path: Path) -> None:
    """Two datasets of one language have no languages to compare: said before the second is read."""
    with pytest.raises(InputError, match="both in en"):
        load_run(complete_settings(SawCSettings(dataset="raw_c", beside="raw_c")), tmp_path)


# -- RAW-C's own questions ------------------------------------------------------------------------------------------


def test_ratings_and_residuals_by_sense_and_ambiguity_type(
    records: tuple[Record, ...], pairs: pd.DataFrame, published: Path
) -> None:
    """The four means and SDs over trials of the published file; residuals of norm ~ distance of BERT's layer 12."""
    trials = pd.read_csv(published / "rawc/normed_critical.csv")
    table = pd.read_csv(published / "rawc/models_english/rawc-distances_model-bert-base-uncased.csv")
    joined = pairs.merge(table[table["Layer"] == 12][["sentence1", "sentence2", "Distance"]])
    joined["rest"] = smf.ols("mean_relatedness ~ Distance", joined).fit().resid
    for (same, kind), part in trials.groupby(["same", "ambiguity_type"]):
        condition = f"same_sense={same} ambiguity_type={kind}"
        mean, sd = (
            find_record(records, f"condition_{name}(over=trials)", condition=condition) for name in ("mean", "sd")
        )
        assert (mean.value, mean.n) == pytest.approx((part["relatedness"].mean(), len(part)), rel=1e-12)
        assert sd.value == pytest.approx(part["relatedness"].std(), rel=1e-12)
        rest = joined[(joined["same"] == same) & (joined["ambiguity_type"] == kind)]["rest"].mean()
        where = {"subject": "bert-base-uncased", "layer": 12, "condition": condition}
        assert find_record(records, "mean_residual(model=norm~distance)", **where).value == pytest.approx(
            rest, rel=1e-6
        )
        other_words = find_record(records, "mean_residual(model=norm~distance,layer=chosen)", **where | {"layer": None})
        assert other_words.value == pytest.approx(rest, abs=0.15)


def test_the_sense_relation_is_predicted_from_the_norms_as_in_statsmodels(
    records: tuple[Record, ...], pairs: pd.DataFrame
) -> None:
    """``glm(same ~ mean)``: coefficients, standard errors and AIC of a logistic regression."""
    fit = smf.logit("same ~ mean_relatedness", pairs.assign(same=pairs["same"].astype(int))).fit(disp=0)
    for term, name in (("norm", "mean_relatedness"), ("Intercept", "Intercept")):
        of = f"(term={term},model=same_sense~norm)"
        assert find_record(records, f"coefficient{of}").value == pytest.approx(fit.params[name], rel=1e-6)
        assert find_record(records, f"standard_error{of}").value == pytest.approx(fit.bse[name], rel=1e-5)
    assert find_record(records, "aic(model=same_sense~norm)").value == pytest.approx(fit.aic, rel=1e-8)


def test_sensorimotor_distance_and_dominance_add_what_statsmodels_says(
    records: tuple[Record, ...], published: Path
) -> None:
    """R² with and without each: all pairs, beyond sense and distance; pairs of different senses, beyond distance."""
    pairs = pd.read_csv(published / "cs_norms/sentence_pairs_with_sensorimotor_distance.csv")
    table = pd.read_csv(published / "rawc/models_english/rawc-distances_model-roberta-large.csv")
    dominance = pd.read_csv(published / "rawc/raw-c_with_dominance.csv")[["word", "version", "dominance_sentence2"]]
    joined = pairs.merge(table[table["Layer"] == 22][["sentence1", "sentence2", "Distance"]]).merge(dominance)
    joined = joined.assign(same=joined["same"].astype(int), asymmetry=joined["dominance_sentence2"].abs())

    def r_squared(formula: str, rows: pd.DataFrame) -> float:
        return float(smf.ols(f"mean_relatedness ~ {formula}", rows).fit().rsquared)

    different = joined.dropna(subset=["asymmetry"])
    assert (len(joined), len(different)) == (672, 448)
    expected = {
        "sensorimotor_distance": r_squared("same + Distance + sensorimotor_distance", joined)
        - r_squared("same + Distance", joined),
        "dominance_asymmetry": r_squared("Distance + asymmetry", different) - r_squared("Distance", different),
    }
    for name, value in expected.items():
        record = find_record(records, f"unique_r_squared(of={name})", subject="roberta-large")
        assert (record.value, record.layer) == (pytest.approx(value, abs=1e-7), 22)
    rho = joined["sensorimotor_distance"].corr(joined["mean_relatedness"], method="spearman")
    assert find_record(records, "spearman(of=sensorimotor_distance,with=norms)").value == pytest.approx(rho, rel=1e-9)
