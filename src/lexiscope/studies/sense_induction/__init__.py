"""Induced senses: do vectors with several senses for a word distinguish meanings as people do?

Gumbel-attention sense induction (GASI). The study compares trainings of this program and multi-sense vectors of others
on ratings of similarity, on pairs in context, on planted senses, and on people's tests of the senses.
"""

from __future__ import annotations

from pathlib import Path

from lexiscope.analysis.choices.choice_sets import EXPECTED, UNDECIDED
from lexiscope.analysis.families import TestFamily
from lexiscope.analysis.senses.similarity import similarity_name
from lexiscope.core.result import Record
from lexiscope.report.answers.answer import Answer
from lexiscope.report.answers.numbers import PERCENT, Numbers, Quantity, pick
from lexiscope.report.answers.subjects import Against, SubjectEstimates
from lexiscope.report.page.simulated import simulated_text
from lexiscope.report.part import record_cell
from lexiscope.report.parts.sense_parts import best_beta, orders_sentence, verdicts_sentence
from lexiscope.report.parts.sense_test_parts import judgment_columns
from lexiscope.report.pivot import Col, pivot, rows_of
from lexiscope.report.tables import Cell, Format, Table, drop_empty
from lexiscope.studies.kit.study import Study, read_texts
from lexiscope.studies.sense_induction import similarity, vectors
from lexiscope.studies.sense_induction.data import PLANTED, TESTED, SenseData, compared_answers, load_run, text_files
from lexiscope.studies.sense_induction.sense_tests import chat_models, people, recovery
from lexiscope.studies.sense_induction.settings import SenseInductionSettings
from lexiscope.studies.sense_induction.vectors import differences, paper_tables, senses_left_out
from lexiscope.tasks.relatedness.by_sense import AVG_SIM_C, MAX_SIM
from lexiscope.training.gasi.planted import MADE_UP

TEXTS = read_texts(Path(__file__).with_name("texts.md"))
"""The prose of the report."""
SUBTITLE = "Vectors with several senses for a word, compared with people's ratings and judgments"


# -- which results decide the answers of the Results page -----------------------------------------------------------

_RHO = Quantity("100ρ", "100 × Spearman’s ρ with people’s ratings", bounds=(-100.0, 100.0), digits=1)
WORDS = SubjectEstimates(
    "Similarity of words compared with people’s ratings (MaxSim)",
    pick("spearman_x100(similarity=max_sim)"),
    _RHO,
    claim="follow people’s ratings",
    group=("dataset",),
    name="word_similarity",
)
USAGES = SubjectEstimates(
    "Similarity of usages compared with people’s ratings (MaxSimC)",
    pick("spearman_x100(similarity=max_sim_c)"),
    _RHO,
    claim="follow people’s ratings",
    against=(Against("one rater", pick("rater_agreement_x100(")),),
    rows_are=("model", "models"),
    group=("dataset",),
    name="usage_similarity",
)
SAME_SENSE = SubjectEstimates(
    "Pairs of usages judged correctly",
    pick("percent_right(of=all)"),
    PERCENT,
    claim="are correct more often than chance",
    against=(Against("chance", value=50.0, kind="chance"),),
    group=("dataset", "condition"),
    name="same_sense",
    axis="Percent correct",
)


def _best_noise(_numbers: Numbers, run: SenseData) -> Answer | None:
    """Return which β of a grid is best on SCWS; without a grid the default answers."""
    return _in_one_sentence(
        best_beta(run.own_trainings, vectors.scws_records(run), vectors.GRID["AvgSimC"], named="AvgSimC on SCWS")
    )


def _choice(_numbers: Numbers, run: SenseData) -> Answer | None:
    """Return whether similarity and the reading of senses choose the same vectors."""
    first, second = "a similarity", "the reading of senses"
    return _in_one_sentence(orders_sentence(run.once(similarity.orders), first=first, second=second, who="vectors"))


def published_differences(_numbers: Numbers, run: SenseData) -> Answer | None:
    """Return how many differences of the paper's tables hold, are reversed, or are not computed."""
    return _in_one_sentence(verdicts_sentence(run.once(differences)))


def _in_one_sentence(text: str) -> Answer | None:
    return Answer("", (f"{text}.",), apa=f"{text}.") if text else None


study = Study(
    "sense_induction",
    headline="Do similarities of induced senses follow people’s judgments?",
    title="Induced senses",
    subtitle=lambda run: simulated_text(SUBTITLE) if run.all_simulated else SUBTITLE,
    citation="Guo, F., Iyyer, M., & Boyd-Graber, J. (2018). Inducing and Embedding Senses with Scaled Gumbel Softmax. "
    "arXiv:1804.08077.",
    printed="printed.csv",
    claims="claims.csv",
    methods=TEXTS["methods"],
    limits=lambda run: TEXTS["limits of ratings"] if any(len(pairs.ratings) for pairs in run.sets) else (),
    mini=SenseInductionSettings(planted=MADE_UP),
    given=text_files,
    trains=lambda settings: bool(settings.planted),
)
study.run_data(load_run)
study.compared(compared_answers)
study.section("The vectors", section_id="vectors")(vectors.trainings)
study.question(
    "How closely do similarities of words follow people's ratings?",
    place="§5, Tables 6 and 7",
    needs="rated pairs of words",
    answer=WORDS,
    short="Words",
)(similarity.words)
study.question(
    "How closely do similarities of usages in context follow people's ratings?",
    place="§5",
    needs="rated pairs of usages",
    answer=USAGES,
    short="Usages",
)(similarity.usages)
study.question(
    "Are usages with one meaning given one sense, and others not?",
    place="§5, Table 8",
    needs="pairs with a correct answer",
    answer=SAME_SENSE,
    short="Same sense",
)(similarity.same_sense)
study.question("Are planted senses recovered?", place="not in the paper", needs=PLANTED, short="Planted")(recovery)
study.question(
    "How strong must the noise be, and what does it do?", place="§3, Figures 3 and 5", answer=_best_noise, short="Noise"
)(vectors.noise)
study.question(
    "How many senses are left, of frequent and of rare words?",
    place="Figure 4",
    needs="trainings of this program",
    short="Number",
)(vectors.frequency)
study.question("Do people recognise the senses?", place="§4, Tables 1 to 3", needs=TESTED, short="People")(people)
study.question(
    "Do similarity and interpretability choose the same vectors?", place="§5.1", answer=_choice, short="Choice"
)(similarity.contrast)
study.question(
    "Do the differences between models in the published Tables 5 to 7 hold here?",
    place="Tables 5 to 7, Figure 3",
    needs="trainings of this program",
    answer=published_differences,
    short="Paper",
)(paper_tables)
study.question(
    "What changes where senses are pruned, and where vectors are trained again on what is left?",
    place="§4.2, §5, Tables 2 and 5",
    needs="trainings of this program",
    short="Pruning",
    families=(TestFamily("senses_left_out", ("similarity_difference", "planted_difference"), columns=("p",)),),
)(senses_left_out)
study.section("Chat models in the tests of senses", where="after", section_id="chats")(chat_models)
study.section("The senses of words", where="after", section_id="senses")(vectors.sense_sections)
study.writes(vectors.write_pages)


@study.overview
def overview(records: tuple[Record, ...], settings: SenseInductionSettings) -> Table:
    """Return the main figure of every question for all vectors: what fits on a screen."""
    one_decimal, two_decimals, own = Format("number", 1), Format("number", 2), Path(settings.items).stem
    simlex = next((record.dataset for record in records if "set=simlex999" in record.dataset), "")
    test, mini = {"dataset": "wic", "condition": "test"}, {"dataset": "mini_relatedness"}
    context = {"dataset": own or "scws"}
    columns = (
        Col(f"AvgSimC, {own or 'SCWS'}", similarity_name(AVG_SIM_C), one_decimal, where=context, absent=None),
        Col("MaxSim, SimLex", similarity_name(MAX_SIM), one_decimal, where={"dataset": simlex}, absent=None),
        Col("WiC test, expected %", EXPECTED, one_decimal, where=test, cell=_decided_share, absent=None),
        Col("Mini pairs, expected %", EXPECTED, one_decimal, where=mini, cell=_decided_share, absent=None),
        Col("Planted, by neighbours", "planted_selection", two_decimals, absent=None),
        Col("Planted, by usages", "planted_accuracy", two_decimals, absent=None),
        *judgment_columns(),
    )
    shown = {column.statistic for column in columns}
    rows = rows_of((record for record in records if record.statistic in shown and record.status == ""), "subject")
    head = "Vectors or chat model" if any(str(row.where["subject"]).startswith("chat:") for row in rows) else "Vectors"
    title = "Vectors, people and planted senses"
    return drop_empty(pivot("overview", title, records, columns, rows, labels=(head,)))


def _decided_share(record: Record) -> Cell:
    """Return a share that says something of the subject, not one of random answers alone."""
    return None if record.note == UNDECIDED else record_cell(record)
