"""Plausibility of senses in stories: how plausible is a meaning of a homonym, to people and to models?

Gehring & Roth 2025. The study runs on AmbiStory with its recorded ratings, or on the embedded ``mini_ambistory``; chat
models, language models, recorded predictions and baselines answer what people answered.
"""

from __future__ import annotations

from dataclasses import replace

from lexiscope.analysis.families import TestFamily
from lexiscope.analysis.norms.predictions import RHO
from lexiscope.core.result import Record
from lexiscope.core.showing import counted
from lexiscope.report.part import Remark, value_of
from lexiscope.report.parts.predictor_tables import UNREAD_WRONG, WHOLE
from lexiscope.report.pivot import Col, PivotRow, pivot
from lexiscope.report.plots.style import short_names
from lexiscope.report.sections import subjects_table
from lexiscope.report.tables import Column, Table
from lexiscope.resources.tables.delimited import read_csv
from lexiscope.studies.ambistory import comments, contrasts, errors, models, people
from lexiscope.studies.ambistory.data import PAIRS, SHOTS, SIZES, THREE, AmbistoryData, load_run
from lexiscope.studies.ambistory.settings import AmbistorySettings
from lexiscope.studies.kit.study import Study


def _methods(run: AmbistoryData) -> tuple[str, ...]:
    return (
        "A sample is one meaning of a homonym, judged in one story from 1 (not plausible at all) to 5 (the only "
        "plausible meaning). The mean rating is the sum over the count, its SD has n − 1. Nothing is filtered. "
        "Subjects are asked the question that people were asked, one sample at a time, without row numbers, ids, or "
        "the other meaning of the story.",
        "Correlations are Spearman's, with average ranks. Intervals of subjects resample words, those of alpha setups: "
        "samples of one word are not independent. Rank tests take samples as independent, as in Gehring & Roth (2025).",
        f"Live subjects were asked the {counted(len(run.asked_ids), 'sample')} of: {run.split}.",
    )


def _limits(run: AmbistoryData) -> tuple[str, ...]:
    general = (
        "The two meanings of a story are not a distribution: both can be plausible, and both can be not. A system that "
        "reads both meanings of a story, or its place in the setup, sees more than any rater did.",
        "Accuracy within SD has a wide threshold where people disagree; there nearly every prediction is right.",
    )
    of_ambistory = (
        "Five or six people judged each sample. Ties among the mean ratings are many (38 distinct values).",
        "Words come from puns; writers and raters were crowd workers, nine in ten of them from the United Kingdom; the "
        "precontexts are a language model's. Models may have read the released files: a high score is no proof of "
        "understanding.",
    )
    return (*general, *of_ambistory) if run.name == "ambistory" else general


study = Study(
    "ambistory",
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
    said=people.agreement_words,
)(people.agreement)
study.question(
    "Does an ending change how plausible a meaning is?", place="§4.2", needs="ratings", said=people.ending_words
)(people.endings)
study.question(
    "Do people use the whole scale, and are frequent senses more plausible?",
    place="§4.2, Table 6",
    said=people.scale_words,
    families=(TestFamily("sense_counts", ("sense_count_rho",), repeats=("sense_count_rho(value=p)",)),),
)(people.scale)
study.question("How close do models come to people's ratings?", place="§5.1, §5.2, Table 3", said=models.model_words)(
    models.results
)
study.question(
    "Are open stories harder than ended ones?",
    place="§5.3.2, Table 7",
    needs="ratings",
    said=models.kind_words,
    families=(
        TestFamily("open_against_ended_plain", ("rank_sum(ties=ignored,value=p)",), columns=("p, ties ignored",)),
        TestFamily("open_against_ended", ("rank_sum",), repeats=("rank_sum(value=p)",), columns=("p",)),
    ),
)(models.open_or_ended)
study.question(
    "Does training on ratings make the errors of a model smaller?",
    place="§5.3",
    needs=("ratings", PAIRS),
    said=contrasts.tuning_words,
    families=(
        TestFamily("tuning", ("signed_rank",), columns=("p",)),
        TestFamily("label_shift", ("marginal_homogeneity",), columns=("p, labels",)),
    ),
)(contrasts.tuning)
study.question(
    "Do worked examples in the prompt bring a model closer to people's ratings?",
    place="§5.2, Table 3",
    needs=("ratings", SHOTS),
    said=contrasts.example_words,
    families=(TestFamily("worked_examples", ("signed_rank",)),),
)(contrasts.worked_examples)
study.question(
    "Are larger models closer to people's ratings?",
    place="§5.2, Table 3",
    needs=("ratings", SIZES),
    families=(TestFamily("size", ("spearman(of=n_parameters)",)),),
)(contrasts.size)
study.section("Single samples", where="after", section_id="cases")(errors.single_samples)
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


@study.overview
def overview(records: tuple[Record, ...], _settings: AmbistorySettings) -> Table:
    """Return correlation and accuracy of every subject, compared with one person's: the table for one screen."""
    scored = (RHO, *WHOLE)
    own = [record for record in records if record.statistic in scored and record.status != "not reproducible"]
    where = own[0].condition if own else ""
    asked = {record.subject: record.value for record in records if record.statistic == "n_items_asked"}
    columns = (
        Col("ρ", (RHO, people.SINGLE_RHO), THREE, "value", absent=None),
        Col("Accuracy within SD", (*WHOLE, people.SINGLE_ACCURACY), THREE, "value", absent=None),
        Col("unread as wrong", UNREAD_WRONG, THREE, "value", absent=None),
        Col("read / asked", "n_items_read", cell=lambda r: f"{r.value:.0f} / {asked[r.subject]:.0f}", absent=""),
    )
    subjects = tuple(dict.fromkeys(record.subject for record in own))
    named = zip(short_names(subjects, 40), subjects, strict=True)
    rows = [PivotRow((name,), {"subject": subject, "condition": where}) for name, subject in named]
    if value_of(records, people.SINGLE_RHO, condition=where) is not None:
        rows.insert(0, PivotRow(("one person against the others",), {"subject": "", "condition": where}))
    title = f"Predictions beside people's ratings, samples of: {where}; ρ and accuracy over readable replies"
    return pivot("overview", title, records, columns, rows)
