"""Context–word bias: what part of the input solves a dataset of word meaning, the context, the word, or both?

Liu, McCarthy & Korhonen 2022. The study runs on published datasets, on the embedded ``planted_bias``, or on a pair
file of the user's own: a model is trained and tested on the whole input and on each part of it, compared with people
who saw the same.
"""

from __future__ import annotations

from lexiscope.core.result import Record
from lexiscope.core.settings import Settings
from lexiscope.report.pivot import Col, pivot, rows_of
from lexiscope.report.tables import Format, Table
from lexiscope.studies.context_bias import answers, biases, data, words
from lexiscope.studies.context_bias.data import LOOK_UP, TEXTS, BiasData, compared_answers, load_run
from lexiscope.studies.context_bias.settings import ContextBiasSettings
from lexiscope.studies.kit.study import Study

_OF, _PERCENT, _BIAS = "{r.dataset}, {r.subject}", Format("number", 1), Format("number", 2)


def _methods(run: BiasData) -> tuple[str, ...]:
    protocol: str = run.settings.protocol
    if protocol == "auto":
        protocol = "auto (a linear probe of pairs, else no training)"
    how = f"budget {run.settings.budget}" if run.settings.budget else f"protocol {protocol}"
    return (*TEXTS["methods"], f"How much was trained: {how}.")


def _limits(run: BiasData) -> tuple[str, ...]:
    counted = any(encoder == LOOK_UP for _, encoder in run.answers)
    return TEXTS["limits"] + (TEXTS["no training"] if run.untrained else ()) + (TEXTS["counting"] if counted else ())


study = Study(
    "context_bias",
    headline="Can the context alone, or the word alone, solve these data?",
    title=lambda run: f"Context and word bias: {', '.join(audit.name for audit in run.sets)}",
    subtitle="Models trained on the whole input and on each part of it, compared with people",
    citation="Liu, Q., McCarthy, D., & Korhonen, A. (2022). Measuring Context-Word Biases in Lexical Semantic "
    "Datasets. Proceedings of the 2022 Conference on Empirical Methods in Natural Language Processing. "
    "arXiv:2112.06733.",
    printed="printed.csv",
    claims="claims.csv",
    methods=_methods,
    limits=_limits,
    mini=ContextBiasSettings(dataset="planted_bias", encoders=(LOOK_UP,)),
)
study.run_data(load_run)
study.compared(compared_answers)


@study.section("The verdict", where="first")
def verdict(run: BiasData) -> object:
    """Return the verdict on each dataset by each model."""
    text = TEXTS["no training"] if run.untrained else "Result for each dataset and model, in sentences."
    return text, biases.verdicts(run)


study.section("The datasets and their splits", section_id="sets")(data.datasets)
study.section("The models", section_id="models")(data.models)
study.question(
    "Can the context alone, or the word alone, solve these data?",
    place="§2.3, Figures 1, 2 and 4, Table 7",
    answer=answers.parts_of_the_input,
    short="Parts",
)(biases.scores_and_biases)
study.question(
    "How much do word and context give together, beyond the better of the two?",
    place="Figure 3",
    answer=answers.MINIMUM_GAP,
    short="Together",
)(biases.minimum_gap)
study.question(
    "How far do models stay behind people, view by view?",
    place="§3, Table 5, appendix F",
    answer=answers.PEOPLE,
    short="People",
)(biases.people)
study.question(
    "How much does the word tell of the label?",
    place="§3.2, Table 4",
    answer=answers.LABEL_ENTROPY,
    short="Label entropy",
)(words.label_entropies)
study.question(
    "Are datasets with less ambiguous words more word-biased?",
    place="§3.1, Table 2",
    answer=answers.SENSE_ENTROPY,
    short="Ambiguity",
)(words.ambiguity)
study.question(
    "Where does the context mislead, and where does the word?",
    place="§3.1, Table 3",
    answer=answers.MISLEADING,
    short="Misleading",
)(words.misleading_parts)
study.question(
    "Does a model notice that another word stands in the place?",
    place="§3.2, Tables 1 and 8",
    short="Guesses",
)(words.guessed_words)
study.question(
    "Which words carry the answer?",
    place="§5, Limitations",
    short="Words",
)(words.carrying_words)
study.section("What is left without the items that a part solves", where="after")(biases.rebalancing)
study.writes(biases.write_rebalanced)


@study.overview
def overview(records: tuple[Record, ...], _: Settings) -> Table:
    """Return the scores of every subject on every dataset, and both biases with intervals: what fits on a screen."""
    scores = [record for record in records if record.statistic == "accuracy" and record.subject]
    columns = [
        Col(view.upper(), "accuracy", _PERCENT, show="value", times=100, where={"view": view}, absent=None)
        for view in ("full", "context", "word", "label")
    ]
    for part in ("context", "word"):
        columns.append(Col(f"{part.capitalize()} bias", f"{part}_bias(metric=accuracy)", _BIAS, absent=None))
    rows = rows_of(scores, "dataset", "subject")
    return pivot("overview", "Right answers, %, and biases", records, columns, rows, labels=("Dataset", "Subject"))
