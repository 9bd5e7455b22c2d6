"""Plausibility of senses in stories: how plausible is a meaning of a homonym, to people and to models?

Gehring & Roth 2025. The study runs on AmbiStory with its recorded ratings, or on the embedded ``mini_ambistory``; chat
models, language models, recorded predictions and baselines answer what people answered.
"""

from __future__ import annotations

from dataclasses import replace

from lexiscope.analysis.families import TestFamily
from lexiscope.core.showing import counted
from lexiscope.report.part import Remark
from lexiscope.report.parts.predictor_tables import predictors_overview
from lexiscope.report.sections import subjects_table
from lexiscope.report.tables import Column, Table
from lexiscope.resources.tables.delimited import read_csv
from lexiscope.studies.ambistory import answers, comments, contrasts, errors, models, people
from lexiscope.studies.ambistory.data import PAIRS, SHOTS, SIZES, TEXTS, AmbistoryData, load_run
from lexiscope.studies.ambistory.settings import AmbistorySettings
from lexiscope.studies.kit.study import Study


def _methods(run: AmbistoryData) -> tuple[str, ...]:
    asked = f"Live subjects were asked the {counted(len(run.asked_ids), 'sample')} of: {run.split}."
    return (*TEXTS["methods"], asked)


def _limits(run: AmbistoryData) -> tuple[str, ...]:
    return TEXTS["limits"] + (TEXTS["limits of AmbiStory"] if run.name == "ambistory" else ())


study = Study(
    "ambistory",
    headline="Do models find a meaning as plausible as people do?",
    answer=answers.MODELS,
    title=lambda run: f"Plausibility of senses: {run.card.title}",
    subtitle="People and models side by side",
    citation="Gehring, J., & Roth, M. (2025). AmbiStory: A Challenging Dataset of Lexically Ambiguous Short Stories.",
    task="plausibility",
    printed="printed.csv",
    claims="claims.csv",
    methods=_methods,
    limits=_limits,
    mini=AmbistorySettings(dataset="mini_ambistory", subjects=("baseline:random",)),
    complete=lambda settings: replace(settings, dataset=settings.dataset or ("" if settings.items else "ambistory")),
)
study.run_data(load_run)
study.section("The stories")(people.stories)


@study.section("Who was asked")
def subjects(run: AmbistoryData) -> object:
    """Return the subjects of the run, and which of them gave no ratings."""
    silent = [f"{subject} gave no ratings: it is in no table of results." for subject in run.silent_subjects]
    unasked = [Remark(f"{subject} was not asked: {why}.") for subject, why in run.unasked.items()]
    return (silent, unasked, subjects_table(tuple(run.facts.values()))) if run.facts else unasked


study.question(
    "How much do people agree on the plausibility of a meaning?",
    place="§4.1, §5.1",
    needs="ratings",
    answer=answers.AGREEMENT,
    short="Agreement",
)(people.agreement)
study.question(
    "Does an ending change how plausible a meaning is?",
    place="§4.2",
    needs="ratings",
    answer=answers.ENDINGS,
    short="Endings",
)(people.endings)
study.question(
    "Do people use the whole scale, and are frequent senses more plausible?",
    place="§4.2, Table 6",
    answer=answers.SCALE,
    short="Scale",
    families=(TestFamily("sense_counts", ("sense_count_rho",), repeats=("sense_count_rho(value=p)",)),),
)(people.scale)
study.question(
    "How close do models come to people's ratings?",
    place="§5.1, §5.2, Table 3",
    answer=answers.MODELS,
    short="Models",
)(models.results)
study.question(
    "Are open stories harder than ended ones?",
    place="§5.3.2, Table 7",
    needs="ratings",
    answer=answers.OPEN_OR_ENDED,
    short="Open, ended",
    families=(
        TestFamily("open_against_ended_plain", ("rank_sum(ties=ignored,value=p)",), columns=("p, ties ignored",)),
        TestFamily("open_against_ended", ("rank_sum",), repeats=("rank_sum(value=p)",), columns=("p",)),
    ),
)(models.open_or_ended)
study.question(
    "Does training on ratings make the errors of a model smaller?",
    place="§5.3",
    needs=("ratings", PAIRS),
    short="Training",
    families=(
        TestFamily("tuning", ("signed_rank",), columns=("p",)),
        TestFamily("label_shift", ("marginal_homogeneity",), columns=("p, labels",)),
    ),
)(contrasts.tuning)
study.question(
    "Do worked examples in the prompt bring a model closer to people's ratings?",
    place="§5.2, Table 3",
    needs=("ratings", SHOTS),
    short="Examples",
    families=(TestFamily("worked_examples", ("signed_rank",)),),
)(contrasts.worked_examples)
study.question(
    "Are larger models closer to people's ratings?",
    place="§5.2, Table 3",
    needs=("ratings", SIZES),
    short="Size",
    families=(TestFamily("size", ("spearman(of=n_parameters)",)),),
)(contrasts.size)
study.section("Example items", where="after", section_id="cases")(errors.single_samples)
study.section("What raters wrote beside their ratings", where="after", section_id="comments")(comments.raters_comments)
study.writes(errors.write_sheet)
study.writes(comments.write_sheet)
study.writes(people.write_r_script)


@study.section("What the paper says and the data do not", where="after")
def statements(run: AmbistoryData) -> Table | None:
    """Return the statements of the paper that the released data do not support."""
    if run.name != "ambistory":
        return None
    rows = tuple(
        (row["said"], row["found"]) for _, row in read_csv(study.home / "statements.csv", ("said", "found")).rows()
    )
    columns = (Column("Said in the paper"), Column("What the released data say"))
    return Table("statements", "", "Statements that the data do not support as worded", columns, rows)


study.overview(lambda records, _settings: predictors_overview(records))
