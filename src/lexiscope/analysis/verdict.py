"""The verdict on a dataset in plain sentences, from biases and gaps with their intervals (the study's §4).

A bias is called high, or not high, only where its whole interval lies on one side of the threshold; otherwise the
sentence says that it cannot be said. Nothing here says *why* a part suffices, nor what another model would find: a low
bias of one model is no proof that the items need word and context together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lexiscope.analysis.bias import CONTEXT, FULL, LABEL, WORD, Bias, Biases, MinimumGap
from lexiscope.analysis.bootstrap import Interval
from lexiscope.analysis.view_gaps import ViewGap

Finding = Literal["high", "not high", "cannot be said"]
Kind = Literal["context-biased", "word-biased", "both", "neither", "cannot be said"]

HIGH = 0.8
"""From here on the study shades its plane (Figure 1): the part alone gives nearly what the whole gives."""

WIDEST = 0.5
"""An interval of a bias wider than this is called wide."""


@dataclass(frozen=True, slots=True)
class BiasFinding:
    """What can be said of one bias of one subject, with the sentence that says it."""

    view: str
    finding: Finding
    sentence: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a dataset by one subject: its kind, the findings, the verdict in words, and what it rests on.

    ``on_model`` are the sentences on the model's own scores, ``on_people`` those on people and on model beside people,
    ``cautions`` what the numbers do not say.
    """

    kind: Kind
    context: BiasFinding
    word: BiasFinding
    summary: str
    on_model: tuple[str, ...]
    on_people: tuple[str, ...]
    cautions: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """All sentences after the summary, in order."""
        return self.on_model + self.on_people + self.cautions

    @property
    def text(self) -> str:
        """All of it as one paragraph, the summary first."""
        return " ".join((self.summary, *self.sentences))


def verdict(
    model: Biases,
    *,
    human: Biases | None = None,
    gaps: Sequence[ViewGap] = (),
    name: str = "the model",
    high: float = HIGH,
    widest: float = WIDEST,
) -> Verdict:
    """Return what the views of one model, and of people where they were asked, say of a dataset.

    *high* is the bias from which a part is said to suffice, *widest* the width of an interval from which it is called
    wide. *gaps* are those of :func:`lexiscope.analysis.view_gaps.human_model_gaps`.

    >>> from lexiscope.analysis.bias import context_word_bias
    >>> from lexiscope.analysis.view_scores import FixedScore, ViewScores
    >>> words = [f"w{n}" for n in range(50)]
    >>> right, half = ViewScores([1] * 50, words), ViewScores([1, 0] * 25, words)
    >>> views = {"full": right, "context": right, "word": half, "label": FixedScore(0.5, "a closed form")}
    >>> found = verdict(context_word_bias(views, resamples=500))
    >>> found.kind
    'context-biased'
    >>> found.word.sentence.split(":")[0]
    'The word alone gives less than 0.80 of what the whole input gives over no input'
    """
    context, word = (_finding(bias, model, high=high, widest=widest) for bias in (model.context, model.word))
    kind = _kind(context, word)
    parts = (_summary(kind, name, high), _at_least(context, word))
    return Verdict(
        kind,
        context,
        word,
        summary=" ".join(part for part in parts if part),
        on_model=(_learnt(model, name), context.sentence, word.sentence, _together(model.minimum_gap, model, name)),
        on_people=(*_people(human, high=high, widest=widest), *_gap_sentences(gaps, model)),
        cautions=(*_without_width(model, name), *_caution(kind, human)),
    )


def bias_finding(bias: Bias, *, high: float = HIGH) -> Finding:
    """Return whether a bias is high: only where its whole interval says so.

    >>> from lexiscope.analysis.bootstrap import Interval
    >>> ends = [(0.85, 1.1), (0.2, 0.7), (0.7, 0.9)]
    >>> [bias_finding(Bias("word", 0.8, Interval(*each, 0.95, "bootstrap"))) for each in ends]
    ['high', 'not high', 'cannot be said']
    """
    if not bias.is_defined or not bias.interval.is_defined:
        return "cannot be said"
    if bias.interval.low > high:
        return "high"
    return "not high" if bias.interval.high < high else "cannot be said"


def _finding(bias: Bias, model: Biases, *, high: float, widest: float) -> BiasFinding:
    part = f"The {bias.view} alone"
    learnt = model.full_over_label
    if not bias.is_defined:
        return BiasFinding(bias.view, "cannot be said", f"The {bias.view} bias is undefined: {bias.reason}.")
    if not bias.interval.is_defined:
        text = (
            f"The {bias.view} bias is {_number(bias.value, 2)}, but its precision is not known ({bias.interval.note})."
        )
        return BiasFinding(bias.view, "cannot be said", text)
    shown = f"{bias.view} bias {_with_interval(bias.value, bias.interval)}"
    if learnt is not None and not (learnt.excludes_zero and learnt.value > 0):
        text = f"The {shown} says nothing, because FULL is not shown to lie above LABEL."
        return BiasFinding(bias.view, "cannot be said", text)
    finding = bias_finding(bias, high=high)
    if finding == "cannot be said":
        text = f"Whether the {bias.view} alone gives {high:.2f} of what the whole input gives cannot be said: {shown}."
        return BiasFinding(bias.view, finding, f"{text} {_too_wide(bias.interval, widest)}".strip())
    compared = "at least" if finding == "high" else "less than"
    text = f"{part} gives {compared} {high:.2f} of what the whole input gives over no input: {shown}."
    return BiasFinding(bias.view, finding, f"{text}{_beyond(bias)}")


def _too_wide(interval: Interval, widest: float) -> str:
    width = interval.high - interval.low
    if width <= widest:
        return "The interval holds the threshold."
    # the width of an interval of a mean shrinks with the root of the number of words
    times = (width / widest) ** 2
    return (
        f"The interval is {width:.2f} wide: about {max(2, round(times))} times as many words are needed for {widest:g}."
    )


def _beyond(bias: Bias) -> str:
    if bias.interval.low > 1:
        other = "word" if bias.view == CONTEXT else "context"
        return f" More than 1: without the {other} the scores are higher than with it."
    if bias.interval.high < 0:
        return " Below 0: with this part the scores are lower than without any input."
    return ""


def _kind(context: BiasFinding, word: BiasFinding) -> Kind:
    if "cannot be said" in (context.finding, word.finding):
        return "cannot be said"
    kinds: dict[tuple[bool, bool], Kind] = {
        (True, True): "both",
        (True, False): "context-biased",
        (False, True): "word-biased",
        (False, False): "neither",
    }
    return kinds[context.finding == "high", word.finding == "high"]


def _learnt(model: Biases, name: str) -> str:
    full, label, learnt = model.view(FULL), model.view(LABEL), model.full_over_label
    if full is None or label is None or learnt is None:
        return "The view label is not there, so no bias can be computed."
    head = (
        f"With the whole input {name} reaches {_score(full.value, model)}, without input {_score(label.value, model)}"
    )
    if not learnt.interval.is_defined:
        return f"{head} ({learnt.interval.note})."
    shown = f"{head}: a difference of {_points(learnt.value, learnt.interval, model)}."
    if learnt.excludes_zero and learnt.value > 0:
        return shown
    return f"{shown} It is not shown that anything was learnt from the input."


def _together(gap: MinimumGap | None, model: Biases, name: str) -> str:
    if gap is None:
        return "The minimum gap needs the views context and word; one of them is not there."
    if not gap.interval.is_defined:
        return (
            f"The minimum gap is {_points(gap.value, None, model)}; its precision is not known ({gap.interval.note})."
        )
    shown = f"the smaller gap, FULL − {gap.nearest.upper()}, is {_points(gap.value, gap.interval, model)}"
    if gap.interval.low > 0:
        return f"Word and context together give {name} more than the better of the two alone: {shown}."
    if gap.interval.high < 0:
        return f"A part of the input gives {name} more than the whole: {shown}."
    return f"It is not shown that word and context together give {name} more than one of them alone: {shown}."


def _people(human: Biases | None, *, high: float, widest: float) -> list[str]:
    if human is None:
        return ["No people were asked: whether they need word and context together is not known."]
    found = [_finding(bias, human, high=high, widest=widest).sentence for bias in (human.context, human.word)]
    return [f"People: {_lowered(sentence)}" for sentence in (*found, _together(human.minimum_gap, human, "them"))]


def _gap_sentences(gaps: Sequence[ViewGap], model: Biases) -> list[str]:
    return [_gap_sentence(gap, model) for gap in gaps if gap.view in (FULL, CONTEXT, WORD)]


def _gap_sentence(gap: ViewGap, model: Biases) -> str:
    view, noted = gap.view.upper(), f" ({gap.note})" if gap.note else ""
    size = _points(abs(gap.value), None, model)
    side = "people are ahead of the model by" if gap.value >= 0 else "the model is ahead of people by"
    if not gap.interval.is_defined:
        return f"{view}: {side} {size}{noted}; the precision is not known."
    if gap.excludes_zero:
        ends = gap.interval if gap.value >= 0 else _turned(gap.interval)
        return f"{view}: {side} {_points(abs(gap.value), ends, model)}{noted}."
    shown = _points(gap.value, gap.interval, model)
    return f"{view}: people and model are not shown to differ; people minus model is {shown}{noted}."


def _summary(kind: Kind, name: str, high: float) -> str:
    sentences: dict[Kind, str] = {
        "both": "both biases lie above it: the dataset is biased towards the context and towards the word",
        "context-biased": "the context bias lies above it, the word bias below: the dataset is context-biased",
        "word-biased": "the word bias lies above it, the context bias below: the dataset is word-biased",
        "neither": "both biases lie below it: the dataset is neither context-biased nor word-biased",
        "cannot be said": "the numbers do not decide whether the dataset is biased",
    }
    return f"Judged by {name}, at a threshold of {high:.2f}: {sentences[kind]}."


def _at_least(context: BiasFinding, word: BiasFinding) -> str:
    """Where one bias is decided and the other is not, what is known all the same."""
    for known, other in ((context, word), (word, context)):
        if known.finding != "cannot be said" and other.finding == "cannot be said":
            biased = "is" if known.finding == "high" else "is not"
            return f"It {biased} {known.view}-biased; only of the {other.view} that cannot be said."
    return ""


def _without_width(model: Biases, name: str) -> list[str]:
    """Resampling cannot show how wrong a subject may be that was never wrong: its intervals look too exact."""
    alike = [value.view.upper() for value in model.views if value.n and value.interval.low == value.interval.high]
    if not alike:
        return []
    return [
        f"In {' and '.join(alike)} all answers of {name} score alike: intervals without width overstate the precision."
    ]


def _caution(kind: Kind, human: Biases | None) -> list[str]:
    if kind == "neither":
        return ["Another model may find in a part of the input what this one did not."]
    if kind == "cannot be said" or human is None:
        return []
    return [
        "Whether the part suffices for people too, or holds cues that only the model uses, is for their scores to say."
    ]


def _with_interval(value: float, interval: Interval) -> str:
    return f"{_number(value, 2)} [{_number(interval.low, 2)}, {_number(interval.high, 2)}]"


def _turned(interval: Interval) -> Interval:
    return Interval(-interval.high, -interval.low, interval.level, interval.method, interval.resamples)


def _score(value: float, model: Biases) -> str:
    return f"{_number(100 * value, 1)} %" if model.metric == "accuracy" else _number(value, 2)


def _points(value: float, interval: Interval | None, model: Biases) -> str:
    factor, digits, unit = (100.0, 1, " points") if model.metric == "accuracy" else (1.0, 2, "")
    ends = ""
    if interval is not None:
        ends = f" [{_number(factor * interval.low, digits)}, {_number(factor * interval.high, digits)}]"
    return f"{_number(factor * value, digits)}{unit}{ends}"


def _number(value: float, digits: int) -> str:
    """With a true minus sign, and never a negative zero."""
    text = f"{value:.{digits}f}"
    return (text.removeprefix("-") if float(text) == 0 else text).replace("-", "−")


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
