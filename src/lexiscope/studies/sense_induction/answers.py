"""How the answers of the study read on the Results page: which results decide, and what they are compared with."""

from __future__ import annotations

from lexiscope.report.answers.answer import Answer
from lexiscope.report.answers.numbers import PERCENT, Numbers, Quantity, pick
from lexiscope.report.answers.subjects import Against, SubjectEstimates
from lexiscope.report.parts.sense_parts import best_beta, orders_sentence, verdicts_sentence
from lexiscope.studies.sense_induction.data import SenseData
from lexiscope.studies.sense_induction.paper_tables import differences
from lexiscope.studies.sense_induction.similarity import orders
from lexiscope.studies.sense_induction.vectors import GRID, scws_records

_RHO = Quantity("100ρ", "100 × Spearman’s ρ with people’s ratings", bounds=(-100.0, 100.0), digits=1)
WORDS = SubjectEstimates(
    "Similarity of words compared with people’s ratings (MaxSim)",
    pick("spearman_x100(similarity=max_sim)"),
    _RHO,
    claim="follow people’s ratings",
    claim_one="follows people’s ratings",
    rows_are=("result", "results"),
    group=("dataset",),
    name="word_similarity",
)
USAGES = SubjectEstimates(
    "Similarity of usages compared with people’s ratings (MaxSimC)",
    pick("spearman_x100(similarity=max_sim_c)"),
    _RHO,
    claim="follow people’s ratings",
    claim_one="follows people’s ratings",
    against=(Against("one rater", pick("rater_agreement_x100(")),),
    group=("dataset",),
    name="usage_similarity",
)
SAME_SENSE = SubjectEstimates(
    "Pairs of usages judged correctly",
    pick("percent_right(of=all)"),
    PERCENT,
    claim="are right more often than chance",
    claim_one="is right more often than chance",
    against=(Against("chance", value=50.0, kind="chance"),),
    rows_are=("result", "results"),
    group=("dataset", "condition"),
    name="same_sense",
    axis="Percent right",
)


def noise(_numbers: Numbers, run: SenseData) -> Answer | None:
    """Return which β of a grid is best on SCWS; without a grid the default answers."""
    return _in_one_sentence(best_beta(run.own_trainings, scws_records(run), GRID["AvgSimC"], named="AvgSimC on SCWS"))


def choice(_numbers: Numbers, run: SenseData) -> Answer | None:
    """Return whether similarity and the reading of senses choose the same vectors."""
    first, second = "a similarity", "the reading of senses"
    return _in_one_sentence(orders_sentence(run.once(orders), first=first, second=second, who="vectors"))


def published_differences(_numbers: Numbers, run: SenseData) -> Answer | None:
    """Return how many differences of the paper's tables hold, are reversed, or are not computed."""
    return _in_one_sentence(verdicts_sentence(run.once(differences)))


def _in_one_sentence(text: str) -> Answer | None:
    return Answer("", (f"{text}.",), apa=f"{text}.") if text else None
