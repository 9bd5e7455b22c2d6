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
from lexiscope.studies.context_bias import biases, data, words
from lexiscope.studies.context_bias.data import LOOK_UP, TEXTS, BiasData, compared_answers, load_run
from lexiscope.studies.context_bias.settings import ContextBiasSettings
from lexiscope.studies.kit.study import Said, Study

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


def _result_lines(*forms: tuple[str, str]) -> Said:
    """The results of a question in one line: (beginning of a statistic's name, text of a record *r*) for each kind."""

    def summary(_: BiasData, records: tuple[Record, ...]) -> str:
        return "; ".join(
            form.format(r=record, points=100 * record.value)
            for start, form in forms
            for record in records
            if record.value is not None and record.statistic.startswith(start)
        )

    return summary


study = Study(
    "context_bias",
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
    "How much of what the whole input gives can be had from the context alone, and from the word alone?",
    place="§2.3, Figures 1, 2 and 4, Table 7",
    said=_result_lines(
        ("view_difference(first=context,second=label", f"{_OF}: CONTEXT − LABEL {{points:.1f}} points"),
        ("view_difference(first=word,second=label", f"{_OF}: WORD − LABEL {{points:.1f}} points"),
        ("context_bias", f"{_OF}: context bias {{r.value:.2f}}"),
        ("word_bias", f"{_OF}: word bias {{r.value:.2f}}"),
    ),
)(biases.scores_and_biases)
study.question(
    "How much do word and context give together, beyond the better of the two?",
    place="Figure 3",
    said=_result_lines(("minimum_gap", f"{_OF}: {{points:.1f}} points")),
)(biases.minimum_gap)
study.question(
    "How far do models stay behind people, view by view?",
    place="§3, Table 5, appendix F",
    said=_result_lines(("people_minus_model", f"{_OF}, {{r.view}}: {{points:.1f}} points")),
)(biases.people)
study.question(
    "How much does the word tell of the label?",
    place="§3.2, Table 4",
    said=_result_lines(("label_entropy", "{r.dataset}: {r.value:.4f}")),
)(words.label_entropies)
study.question(
    "Are datasets with less ambiguous words more word-biased?",
    place="§3.1, Table 2",
    said=_result_lines(("sense_entropy", "{r.dataset}: {r.value:.4f}")),
)(words.ambiguity)
study.question(
    "Where does the context mislead, and where does the word?",
    place="§3.1, Table 3",
    said=_result_lines(("n_errors(wrong=full", f"{_OF}: {{r.value:.0f}} items")),
)(words.misleading_parts)
study.question(
    "Does a model notice that another word stands in the place?",
    place="§3.2, Tables 1 and 8",
    said=_result_lines(("n_guesses", f"{_OF}: {{r.value:.0f}} guesses")),
)(words.guessed_words)
study.question(
    "Which words carry the answer?",
    place="§5, Limitations",
    said=_result_lines(
        ("changed_answer_share", f"{_OF}, {{r.view}}: a word less changes {{points:.0f}} % of the answers"),
    ),
)(words.carrying_words)


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
