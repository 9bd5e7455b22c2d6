"""Ordinal models in the studies with ratings: next to the linear ones, only where they are asked for."""

from __future__ import annotations

from pathlib import Path

from lexiscope.core.response import ResponseTable
from lexiscope.core.result import read_records
from lexiscope.studies.ambistory import study as ambistory
from lexiscope.studies.ambistory.settings import AmbistorySettings
from lexiscope.studies.saw_c import study as saw_c
from lexiscope.studies.saw_c.settings import SawCSettings

SIMULATED = Path(__file__).parents[1] / "simulated"


def names(folder: Path) -> set[str]:
    return {record.statistic for record in read_records(folder / "results.json")}


def test_saw_c_adds_ordinal_models_and_changes_no_other_number(tmp_path: Path) -> None:
    """With a link the report has thresholds, effects and the severity of every rater; linear results stay equal."""
    settings = {"dataset": str(SIMULATED / "relatedness.py"), "n_bootstrap": 5, "starts": 1}
    for folder, links in (("without", ()), ("with", ("logit",))):
        saw_c.run(SawCSettings(**settings, ordinal=links), tmp_path / folder)
    without, both = (list(read_records(tmp_path / folder / "results.json")) for folder in ("without", "with"))
    more = [record for record in both if record not in without]
    assert [record for record in without if record not in both] == []
    kinds = {record.statistic.partition("(")[0] for record in more}
    assert kinds >= {"ordinal_chi2", "ordinal_effect", "threshold", "rater_severity", "log_likelihood", "variance"}
    severity = [record for record in more if record.statistic == "rater_severity(ordinal_test=sense,link=logit)"]
    assert len({record.subject for record in severity}) == len(severity) == 14
    # each number is of the ratings that this rater gave
    given = ResponseTable.read_parquet(tmp_path / "with" / "responses.parquet").where(measure="rating")
    assert all(record.n == len(given.where(subject_id=record.subject)) for record in severity)
    script = (tmp_path / "with" / "r" / "mixed_models.R").read_text(encoding="utf-8")
    assert "ordinal::clmm" in script
    assert "--ordinal logit" in (tmp_path / "without" / "report.html").read_text(encoding="utf-8")


def test_ambistory_tests_endings_in_linear_and_ordinal_models(tmp_path: Path) -> None:
    """With a link, the effect of endings is tested in both kinds of model; without, R has the linear one to fit."""
    settings = {"dataset": str(SIMULATED / "stories.py"), "n_bootstrap": 5}
    for folder, links in (("without", ()), ("with", ("logit",))):
        ambistory.run(AmbistorySettings(**settings, ordinal=links), tmp_path / folder)
    more = names(tmp_path / "with") - names(tmp_path / "without")
    assert {"chi2(test=ending,df=2)", "ordinal_chi2(ordinal_test=ending,link=logit,df=2)"} <= more
    assert any(name.startswith("rater_severity(") for name in more)
    script = (tmp_path / "with" / "r" / "mixed_models.R").read_text(encoding="utf-8")
    assert "ordered(Response) ~ 1 + Ending + (1 | Participant) + (1 | Meaning) + (1 | Item)" in script
    linear = (tmp_path / "without" / "r" / "mixed_models.R").read_text(encoding="utf-8")
    assert "Response ~ Ending + (1 | Participant) + (1 | Meaning) + (1 | Item)" in linear
    assert "ordered(" not in linear
    records = read_records(tmp_path / "with" / "results.json")
    effects = [record for record in records if record.statistic.startswith("ordinal_effect")]
    # as in linear models, the effects of a model that lacks a predictor are not what is tested
    assert all((record.p is None) == ("model=reduced" in record.statistic) for record in effects)
    assert effects


def test_ordinal_models_without_ratings_are_refused_aloud(tmp_path: Path) -> None:
    """The embedded stories have no ratings: a study that is asked for ordinal models says that none was fitted."""
    for links in ((), ("logit",)):
        settings = AmbistorySettings(
            dataset="mini_ambistory", subjects=("baseline:random",), n_bootstrap=5, ordinal=links
        )
        ambistory.run(settings, tmp_path / "-".join(("run", *links)))
    pages = {folder.name: (folder / "report.html").read_text(encoding="utf-8") for folder in tmp_path.iterdir()}
    refused = "--ordinal: no mixed model was fitted, because mini_ambistory has no ratings of people."
    assert (refused in pages["run-logit"], refused in pages["run"]) == (True, False)
