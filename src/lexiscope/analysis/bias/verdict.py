"""The verdict on a dataset in plain sentences, from differences, biases and gaps with their intervals (the study's §4).

First come the parts whose score is above LABEL: the interval of the paired difference is above 0. A part that is
above LABEL predicts answers, at any ratio to FULL. The ratio comes second: a bias is called high, or not high, only
if its whole interval lies on one side of the threshold. If FULL is not above LABEL the ratio is undefined; a part that
is above LABEL and above FULL is then called high, because it gives more than the whole input.

A subject that cannot see a part gets no verdict on it, and with too few words there is no verdict at all. Nothing here
says *why* a part suffices, nor what another model would find: a low bias of one model does not show that the items need
word and context together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lexiscope.analysis.bias.bias import CONTEXT, FULL, LABEL, WORD, Bias, Biases, MinimumGap, ViewDifference
from lexiscope.analysis.bias.view_scores import ViewGap
from lexiscope.core.result import Interval

Finding = Literal["high", "not high", "cannot be said"]
Kind = Literal["context-biased", "word-biased", "both", "a part tells", "neither", "cannot be said"]

HIGH = 0.8
"""From here on the study shades its plane (Figure 1): the part alone gives nearly what the whole gives."""

WIDEST = 0.5
"""An interval of a bias wider than this is called wide."""

FEWEST_WORDS = 10
"""With fewer words there is no verdict: intervals that resample words are far too short."""

FEW_WORDS = 25
"""With fewer words the intervals are somewhat too short (coverage 90 to 91 % of a nominal 95 %)."""


@dataclass(frozen=True, slots=True)
class BiasFinding:
    """What can be said of one part and one subject: is it above LABEL, is its bias high, and the sentence on the bias.

    ``above``: the score of the part is above LABEL. ``blind``: why the subject cannot see this part; empty if it can.
    """

    view: str
    finding: Finding
    sentence: str
    above: bool = False
    blind: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a dataset by one subject: its kind, the findings, the verdict as text, and what it rests on.

    ``on_model`` are the sentences on the model's own scores, ``on_people`` those on people and on the model compared
    with people, ``cautions`` what the numbers do not say.
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
    blind: Mapping[str, str] | None = None,
    name: str = "the model",
    high: float = HIGH,
    widest: float = WIDEST,
) -> Verdict:
    """Return what the views of one model, and of people where they were asked, say of a dataset.

    *high* is the bias from which a part suffices, *widest* the width from which an interval is wide. *gaps* are those
    of :func:`lexiscope.analysis.bias.view_scores.human_model_gaps`. *blind* gives the views that the model cannot see,
    each with the reason: such a part gets no sentence unless it is above LABEL all the same.

    >>> from lexiscope.analysis.bias.bias import context_word_bias
    >>> from lexiscope.analysis.bias.view_scores import FixedScore, ViewScores
    >>> words = [f"w{n}" for n in range(50)]
    >>> right, half = ViewScores([1] * 50, words), ViewScores([1, 0] * 25, words)
    >>> views = {"full": right, "context": right, "word": half, "label": FixedScore(0.5, "a closed form")}
    >>> found = verdict(context_word_bias(views, resamples=500))
    >>> found.kind
    'context-biased'
    >>> found.word.sentence.split(":")[0]
    'The word alone gives less than 0.80 of what the whole input gives over no input'
    """
    unseen = blind or {}
    parts = tuple(
        _of_part(bias, model, high=high, widest=widest, blind=unseen.get(bias.view, ""))
        for bias in (model.context, model.word)
    )
    context, word = parts
    few = model.n_words < FEWEST_WORDS and any(value.n for value in model.views)
    kind = "cannot be said" if few else _kind(parts, model)
    told = _too_few(model) if few else " ".join((*_parts_above(parts, model, name), _summary(kind, parts, name, high)))
    on_gaps = [_gap_sentence(gap, model) for gap in gaps if gap.view in (FULL, CONTEXT, WORD)]
    on_few_words = (
        []
        if few or not 0 < model.n_words < FEW_WORDS
        else [f"Caution: with {model.n_words} words (fewer than {FEW_WORDS}) the intervals are somewhat too short."]
    )
    return Verdict(
        kind,
        context,
        word,
        summary=told,
        on_model=(
            _learnt(model, name),
            *(part.sentence for part in parts if not few and (part.above or not part.blind)),
            *(() if few else (_together(model.minimum_gap, model, name),)),
        ),
        on_people=(*_people(human, high=high, widest=widest), *on_gaps),
        cautions=(*on_few_words, *_without_width(model, name), *_caution(kind, human)),
    )


def bias_finding(bias: Bias, *, high: float = HIGH) -> Finding:
    """Return whether a bias is high: only where its whole interval says so.

    >>> from lexiscope.core.result import Interval
    >>> ends = [(0.85, 1.1), (0.2, 0.7), (0.7, 0.9)]
    >>> [bias_finding(Bias("word", 0.8, Interval(*bounds, 0.95, "bootstrap"))) for bounds in ends]
    ['high', 'not high', 'cannot be said']
    """
    if not bias.is_defined or not bias.interval.is_defined:
        return "cannot be said"
    if bias.interval.low > high:
        return "high"
    return "not high" if bias.interval.high < high else "cannot be said"


def over_label(view: str, model: Biases) -> ViewDifference | None:
    """Return the difference between a part (``context`` or ``word``) is above LABEL, on the same resampled words."""
    return model.context_over_label if view == CONTEXT else model.word_over_label


def _of_part(bias: Bias, model: Biases, *, high: float, widest: float, blind: str) -> BiasFinding:
    """The finding on one part of a model: first above LABEL or not, then the ratio."""
    finding, difference = _finding(bias, model, high=high, widest=widest), over_label(bias.view, model)
    above = difference is not None and difference.is_above
    gap, learnt = (model.context_gap if bias.view == CONTEXT else model.word_gap), model.full_over_label
    if above and gap is not None and gap.interval.high < 0 and not (learnt is not None and learnt.is_above):
        told = f"The {bias.view} alone gives more than the whole input, of which nothing is shown to be learnt."
        finding = replace(finding, finding="high", sentence=f"{told} {finding.sentence}")
    return replace(finding, above=above, blind=blind)


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
    low, high_end = _number(bias.interval.low, 2), _number(bias.interval.high, 2)
    shown = f"{bias.view} bias {_number(bias.value, 2)} [{low}, {high_end}]"
    if learnt is not None and not learnt.is_above:
        text = f"The {shown} cannot be interpreted, because FULL is not shown to be above LABEL."
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


def _kind(parts: Sequence[BiasFinding], model: Biases) -> Kind:
    high = [part.view for part in parts if part.finding == "high" and (part.above or not part.blind)]
    if len(high) == len(parts):
        return "both"
    if high:
        return "context-biased" if high == [CONTEXT] else "word-biased"
    if any(part.above for part in parts):
        return "a part tells"
    learnt = model.full_over_label
    seen = all(part.finding == "not high" and not part.blind for part in parts)
    return "neither" if seen and learnt is not None and learnt.is_above else "cannot be said"


def _parts_above(parts: Sequence[BiasFinding], model: Biases, name: str) -> list[str]:
    """The first sentences: which parts are above LABEL, which are not shown to be, and which the model cannot see."""
    above, other, blind = [], [], []
    for part in parts:
        difference, view = over_label(part.view, model), part.view.upper()
        if difference is None or not difference.interval.is_defined:
            continue
        shown = _points(difference.value, difference.interval, model)
        if part.above:
            above.append(f"{view} is above LABEL by {shown}")
        elif part.blind:
            blind.append(f"{name} cannot see {view}, so there is no verdict on it: {part.blind}.")
        else:
            other.append(f"{view} is not shown to be above LABEL: {shown}")
    first = f"{'; '.join(above)}." if above else ""
    second = f"{'; '.join(other)}." if other else ""
    return [text for text in (first, second, *blind) if text]


def _too_few(model: Biases) -> str:
    words = "1 word" if model.n_words == 1 else f"{model.n_words} words"
    return (
        f"Too few words for a verdict: {words}. Intervals resample words; use at least {FEWEST_WORDS}, better "
        f"{FEW_WORDS} or more."
    )


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
    if learnt.is_above:
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
    sentences = [_finding(bias, human, high=high, widest=widest).sentence for bias in (human.context, human.word)]
    return [
        f"People: {sentence[:1].lower() + sentence[1:]}"
        for sentence in (*sentences, _together(human.minimum_gap, human, "them"))
    ]


def _gap_sentence(gap: ViewGap, model: Biases) -> str:
    view, noted = gap.view.upper(), f" ({gap.note})" if gap.note else ""
    size = _points(abs(gap.value), None, model)
    side = "people are ahead of the model by" if gap.value >= 0 else "the model is ahead of people by"
    if not gap.interval.is_defined:
        return f"{view}: {side} {size}{noted}; the precision is not known."
    if gap.excludes_zero:
        ends = gap.interval if gap.value >= 0 else _swap_bounds(gap.interval)
        return f"{view}: {side} {_points(abs(gap.value), ends, model)}{noted}."
    shown = _points(gap.value, gap.interval, model)
    return f"{view}: people and model are not shown to differ; people minus model is {shown}{noted}."


def _summary(kind: Kind, parts: Sequence[BiasFinding], name: str, high: float) -> str:
    above = " and ".join(part.view for part in parts if part.above)
    sentences: dict[Kind, str] = {
        "both": "the dataset is context-biased and word-biased",
        "context-biased": "the dataset is context-biased",
        "word-biased": "the dataset is word-biased",
        "a part tells": f"the {above} alone tells a part of the answers",
        "neither": "the dataset is neither context-biased nor word-biased",
        "cannot be said": "the numbers do not decide whether the dataset is biased",
    }
    first = f"Judged by {name}, {sentences[kind]} (threshold of a bias: {high:.2f})."
    return " ".join((first, *_open_questions(kind, parts)))


def _open_questions(kind: Kind, parts: Sequence[BiasFinding]) -> list[str]:
    """What is decided of one part if the verdict as a whole is not, and what is open if it is."""
    told = []
    for part in parts:
        if kind in ("context-biased", "word-biased") and part.finding == "cannot be said":
            told.append(f"The numbers do not decide whether it is {part.view}-biased too.")
        if kind in ("cannot be said", "a part tells") and part.finding == "not high" and not part.blind:
            text = f"The {part.view} bias is below the threshold." if part.above else f"It is not {part.view}-biased."
            told.append(text)
        if kind == "a part tells" and part.above and part.finding == "cannot be said":
            told.append(f"The numbers do not decide whether it is {part.view}-biased.")
    return told


def _without_width(model: Biases, name: str) -> list[str]:
    """Resampling cannot show how wrong a subject may be that was never wrong: its intervals look too exact."""
    alike = [value.view.upper() for value in model.views if value.n and value.interval.low == value.interval.high]
    told = (
        [f"In {' and '.join(alike)} all answers of {name} score alike: an interval without width is too short."]
        if alike
        else []
    )
    over = (difference for difference in (model.context_over_label, model.word_over_label) if difference is not None)
    for part in over:
        if part.interval.low == part.interval.high:
            told.append(
                f"In {part.first.upper()} and LABEL {name} is right on the same items: an interval without width does "
                f"not show that the {part.first} tells nothing."
            )
    return told


def _caution(kind: Kind, human: Biases | None) -> list[str]:
    if kind == "neither":
        return ["Another model may find in a part of the input what this one did not."]
    if kind == "cannot be said" or human is None:
        return []
    return [
        "Whether the part suffices for people too, or holds cues that only the model uses, is for their scores to say."
    ]


def _swap_bounds(interval: Interval) -> Interval:
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
