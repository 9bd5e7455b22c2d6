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
from lexiscope.studies.context_bias.data import LOOK_UP, BiasData, load_run
from lexiscope.studies.context_bias.settings import ContextBiasSettings
from lexiscope.studies.kit.study import Said, Study

_METHODS = (
    "FULL is the whole input; CONTEXT has the target hidden behind a mask token, and every other place at which the "
    "texts of the item show it (its forms in any of the texts and its lemma as whole words in any case; in English "
    "also the regular forms of the lemma); WORD is the target alone in its surface form; LABEL shows nothing, "
    "candidates included. A model is trained, or its threshold chosen, on each view by itself and tested on the same "
    "view. RANDOM is a closed form.",
    "A part of the input tells answers if its score is above LABEL: the interval of the difference, on the same "
    "resampled words, lies above 0.",
    "Context bias is (CONTEXT − LABEL) / (FULL − LABEL), word bias likewise: the share of what the whole input gives "
    "over no input that can be had from one part. It may exceed 1 or be negative, and is undefined where FULL is not "
    "above LABEL.",
    "Intervals are percentiles of resampled words, the same words in all views: items of one word are not independent. "
    "The uncertainty of training (seeds) is not in them; if there are several seeds, it is reported next to them.",
)
_LIMITS = (
    "A bias is that of a model on a dataset. Another model may find in a part of the input what this one did not, so "
    "that a low bias does not show that the items need word and context together.",
    "Masking changes more than the target: a model that never saw such texts in its training may do badly on them for "
    "that reason alone. That is why it is trained on the masked input, and why a probe without training says less.",
    "Each interval is one of 95 %: among several parts and models, one part may be above LABEL by chance.",
)
_ZERO_SHOT = (
    "This is a first answer: no model was trained in this run. A probe sees how near two vectors are and nothing else: "
    "it underestimates what a part of the input gives to a model that learns. Its biases do not replace those of the "
    "paper's protocol (--protocol full, or --budget)."
)
_COUNTED = (
    "The learner that counts knows only which answers had the same texts in training: in real data it finds little. It "
    "shows that the measurement works where the answer is known."
)
_OF, _PERCENT, _BIAS = "{r.dataset}, {r.subject}", Format("number", 1), Format("number", 2)


def _methods(run: BiasData) -> tuple[str, ...]:
    protocol: str = run.settings.protocol
    if protocol == "auto":
        protocol = "auto (a linear probe of pairs, else no training)"
    how = f"budget {run.settings.budget}" if run.settings.budget else f"protocol {protocol}"
    return (*_METHODS, f"How much was trained: {how}.")


def _limits(run: BiasData) -> tuple[str, ...]:
    counted = any(encoder == LOOK_UP for _, encoder in run.answers)
    return (*_LIMITS, *((_ZERO_SHOT,) if run.untrained else ()), *((_COUNTED,) if counted else ()))


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


@study.section("The verdict", where="first")
def verdict(run: BiasData) -> object:
    """Return the verdict on each dataset by each model."""
    text = _ZERO_SHOT if run.untrained else "Result for each dataset and model, in sentences."
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
