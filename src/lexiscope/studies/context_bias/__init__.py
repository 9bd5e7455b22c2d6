"""Context–word bias: what part of the input solves a dataset of word meaning, the context, the word, or both?

Liu, McCarthy & Korhonen 2022. The study runs on published datasets, on the embedded ``planted_bias``, or on a pair
file of the user's own: a model is trained and tested on the whole input and on each part of it, compared with people
who saw the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lexiscope.core.result import Record, parse_statistic
from lexiscope.core.settings import Settings
from lexiscope.core.showing import enumerated
from lexiscope.report.answers.answer import PARTLY, UNDECIDED, Answer, side_of
from lexiscope.report.answers.numbers import SHARE, Numbers, Quantity, pick
from lexiscope.report.answers.subjects import SubjectEstimates
from lexiscope.report.pivot import Col, pivot, rows_of
from lexiscope.report.tables import Format, Table
from lexiscope.studies.context_bias import biases, data, words
from lexiscope.studies.context_bias.data import LOOK_UP, TEXTS, BiasData, compared_answers, load_run
from lexiscope.studies.context_bias.settings import ContextBiasSettings
from lexiscope.studies.kit.study import Study

_PERCENT, _BIAS = Format("number", 1), Format("number", 2)


def _methods(run: BiasData) -> tuple[str, ...]:
    protocol: str = run.settings.protocol
    if protocol == "auto":
        protocol = "auto (a linear probe of pairs, else no training)"
    how = f"budget {run.settings.budget}" if run.settings.budget else f"protocol {protocol}"
    prompted = TEXTS["chat models"] if run.settings.subjects else ()
    return (*TEXTS["methods"], *prompted, f"How much was trained: {how}.")


def _limits(run: BiasData) -> tuple[str, ...]:
    counted = any(encoder == LOOK_UP for _, encoder in run.answers)
    return TEXTS["limits"] + (TEXTS["no training"] if run.untrained else ()) + (TEXTS["counting"] if counted else ())


# -- which results decide the answers of the Results page -----------------------------------------------------------

_POINTS = Quantity("", "Points", bounds=None, digits=1, times=100.0, unit=" points")
_PARTS = {"context": "the context alone", "word": "the word alone"}
_VIEWS = ("full", "context", "word", "label")
ACCURACIES = SubjectEstimates(
    "Accuracy by part of the input",
    pick("accuracy", view=_VIEWS),
    replace(SHARE, name="Accuracy"),
    claim="have an accuracy above 0",
    label="view",
    group=("dataset", "subject"),
    name="accuracy_by_view",
    axis="Percent correct",
)
MINIMUM_GAP = SubjectEstimates(
    "Accuracy on the whole input minus that on its better part",
    pick("minimum_gap("),
    replace(_POINTS, name="Points of accuracy"),
    claim="are more accurate with the whole input",
    claim_one="is more accurate with the whole input by",
    group=("dataset",),
    name="minimum_gap",
)
PEOPLE = SubjectEstimates(
    "Accuracy of people minus that of models",
    pick("people_minus_model("),
    replace(_POINTS, name="Points of accuracy"),
    claim="are below people",
    claim_one="is below people by",
    group=("dataset", "view"),
    name="people_minus_model",
)


def parts_of_the_input(numbers: Numbers, _run: object) -> Answer | None:
    """Return which part of the input alone is above LABEL, in how many sets and models, and how large the biases are.

    A part is above LABEL if the interval of the difference excludes 0.
    """
    differences = {part: _above_label(numbers, part) for part in _PARTS}
    if not any(differences.values()):
        return None
    above = {part: [r for r in records if side_of(r, _POINTS) == 1] for part, records in differences.items()}
    telling = [_PARTS[part] for part, records in above.items() if records]
    sentences = [_sentence(part, records, above[part], numbers) for part, records in differences.items() if records]
    whole = _above_label(numbers, "full")
    blind = sum(side_of(record, _POINTS) != 1 for record in whole)
    caution = ""
    if whole and blind:
        many = f"{blind} of {len(whole)} results" if len(whole) > 1 else "This model"
        caution = f"{many}: even the whole input is not shown to be above no input (LABEL), so its parts show little."
    drawing = ACCURACIES.answer(numbers)
    verdict = f"{PARTLY[:-1]}: {enumerated(telling)}." if telling else UNDECIDED
    drawn = drawing.drawing if drawing else None
    return Answer(verdict, tuple(sentences), caution=caution, apa=" ".join(sentences), drawing=drawn)


def _above_label(numbers: Numbers, part: str) -> list[Record]:
    """The differences between a part of the input and LABEL."""
    every = numbers.known(pick("view_difference("))
    sides = {"first": part, "second": "label"}
    return [record for record in every if sides.items() <= parse_statistic(record.statistic)[1].items()]


def _sentence(part: str, records: Sequence[Record], above: Sequence[Record], numbers: Numbers) -> str:
    highest = max(records, key=_POINTS.value)
    where = f"{numbers.title(highest.subject)} on {numbers.title(highest.dataset)}"
    size = _POINTS.both(highest, named=True)
    name = _PARTS[part][:1].upper() + _PARTS[part][1:]
    if len(records) == 1:
        is_above = "is above no input (LABEL)" if above else "is not shown to be above no input (LABEL)"
        return f"{name} {is_above}: difference {size} ({where})."
    many = f"{len(above)} of {len(records)} results"
    return f"{name} is above no input (LABEL) in {many}; the largest difference is {size} ({where})."


LABEL_ENTROPY = SubjectEstimates(
    "Mean uncertainty of a word’s label, by dataset",
    pick("label_entropy("),
    Quantity("", "Label entropy (nats)", bounds=None, digits=2, unit=" nats"),
    claim="leave uncertainty",
    claim_one="leaves uncertainty about the label",
    label="dataset",
    name="label_entropy",
    note="0: a word always has one label; ln 2 = .69: both labels are equally frequent",
)
SENSE_ENTROPY = replace(
    LABEL_ENTROPY,
    title="Mean uncertainty of a word’s sense, by dataset",
    statistic=pick("sense_entropy("),
    quantity=Quantity("", "Sense entropy (nats)", bounds=None, digits=2, unit=" nats"),
    claim="have ambiguous words",
    claim_one="has ambiguous words",
    name="sense_entropy",
    note="0: a word has one sense",
)
MISLEADING = SubjectEstimates(
    "Items that the word alone solves and the whole input does not",
    pick("n_errors(wrong=full,right=word)"),
    Quantity("", "The number of such items", bounds=None, digits=0),
    claim="have such items",
    axis="Items",
    group=("dataset",),
    name="misleading",
)


study = Study(
    "context_bias",
    headline="Can the context alone, or the word alone, solve these data?",
    title=lambda run: f"Context and word bias: {', '.join(run.names[audit.name] for audit in run.sets)}",
    subtitle="Models trained on the whole input and on each part of it, compared with people",
    citation="Liu, Q., McCarthy, D., & Korhonen, A. (2022). Measuring Context-Word Biases in Lexical Semantic "
    "Datasets. Proceedings of the 2022 Conference on Empirical Methods in Natural Language Processing. "
    "arXiv:2112.06733.",
    printed="printed.csv",
    claims="claims.csv",
    methods=_methods,
    limits=_limits,
    mini=ContextBiasSettings(dataset="planted_bias", encoders=(LOOK_UP,)),
    trains=lambda _: True,
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
    answer=parts_of_the_input,
    short="Parts",
)(biases.scores_and_biases)
study.question(
    "How much do word and context give together, beyond the better of the two?",
    place="Figure 3",
    answer=MINIMUM_GAP,
    short="Together",
)(biases.minimum_gap)
study.question(
    "How much lower than people are models, view by view?",
    place="§3, Table 5, appendix F",
    needs=data.SCORES,
    answer=PEOPLE,
    short="People",
)(biases.people)
study.question(
    "How much does the word tell of the label?",
    place="§3.2, Table 4",
    needs=data.PAIRS,
    answer=LABEL_ENTROPY,
    short="Label entropy",
)(words.label_entropies)
study.question(
    "Are datasets with less ambiguous words more word-biased?",
    place="§3.1, Table 2",
    needs=data.SENSES,
    answer=SENSE_ENTROPY,
    short="Ambiguity",
)(words.ambiguity)
study.question(
    "Where does the context mislead, and where does the word?",
    place="§3.1, Table 3",
    answer=MISLEADING,
    short="Misleading",
)(words.misleading_parts)
study.question(
    "Does a model notice that another word is in the place?",
    place="§3.2, Tables 1 and 8",
    needs=data.GUESSES,
    short="Guesses",
)(words.guessed_words)
study.question("Which words carry the answer?", place="§5, Limitations", needs=data.REMOVALS, short="Words")(
    words.carrying_words
)
study.section("What is left without the items that a part solves", where="after")(biases.rebalancing)
study.writes(biases.write_rebalanced)


@study.overview
def overview(records: tuple[Record, ...], _: Settings) -> Table:
    """Return the scores of every subject on every dataset, and both biases with intervals: what fits on a screen."""
    scores = [r for r in records if r.statistic == "accuracy" and r.subject and r.value is not None]
    columns = [
        Col(view.upper(), "accuracy", _PERCENT, show="value", times=100, where={"view": view}, absent=None)
        for view in ("full", "context", "word", "label")
    ]
    for part in ("context", "word"):
        columns.append(Col(f"{part.capitalize()} bias", f"{part}_bias(metric=accuracy)", _BIAS, absent=None))
    rows = rows_of(scores, "dataset", "subject")
    return pivot("overview", "Correct answers, %, and biases", records, columns, rows, labels=("Dataset", "Subject"))
