"""Tables of stories and their endings: lengths, what an ending does to ratings, open against ended stories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lexiscope.analysis.norms.predictions import Predictor
from lexiscope.analysis.norms.story_effects import KINDS, OPEN_AGAINST_ENDED
from lexiscope.analysis.norms.within_sd import UNREAD_WRONG, WHOLE
from lexiscope.core.result import Record, Result
from lexiscope.report.pivot import Col, PivotRow, pivot, records_of, rows_of
from lexiscope.report.tables import INTEGER, P_VALUE, Column, Format, Table

Results = Sequence[Record | Result]
_PERCENT, _TWO, _THREE = Format("number", 1), Format("number", 2), Format("number", 3, leading_zero=False)
_ENDED_MINUS_OPEN = "accuracy_difference(of=ended_minus_open)"
_PLAIN = "rank_sum(of=sd,between=open_and_ended,ties=ignored,value=p)"


def lengths_table(results: Results, *, name: str = "lengths", number: str = "") -> Table:
    """Return the mean lengths of stories and of their parts (``StoryLengths``)."""
    mean = "mean_words(of={part})"
    columns = (Col("Words, mean", mean, _TWO, "value"), Col("n", mean, show="n"))
    rows = [PivotRow((part,), of={"part": part}) for part in ("precontext", "sentence", "ending", "story")]
    note = "Words are what white space separates. Endings without the open stories; stories with them."
    title = "Length of the stories"
    return pivot(name, title, results, columns, rows, labels=("Part",), number=number, notes=(note,))


def shifts_table(results: Results, *, source: str = "") -> Table:
    """Return how much endings move ratings (:func:`lexiscope.analysis.norms.story_effects.ending_effects`), in points.

    *source* is the paper that divides the SD by n.
    """
    shift, sd = "absolute_difference(between={between})", "absolute_difference_sd(between={between},ddof="
    columns = (
        Col("Mean absolute difference", shift, _TWO, note="Of mean ratings; 95 % interval, words resampled."),
        Col("SD, n", sd + "0)", _THREE, note=f"Divided by n{f', as {source}' if source else ''}."),
        Col("SD, n − 1", sd + "1)", _THREE),
        Col("Differences", shift, show="n"),
    )
    rows = [
        PivotRow(("ended against open",), of={"between": "open_and_ended"}),
        PivotRow(("one ending against another",), of={"between": "endings"}),
    ]
    title = "Effect of an ending on the plausibility of a meaning"
    return pivot("endings", title, results, columns, rows, labels=("Compared",))


def directions_table(results: Results) -> Table:
    """Return how often endings work as meant (:func:`lexiscope.analysis.norms.story_effects.ending_effects`)."""
    columns = [
        Col(f"{share.capitalize()}, %", f"{{order}}(share={share})", _PERCENT) for share in ("above", "equal", "below")
    ]
    rows = [
        PivotRow(("intended meaning above the other one, same story",), of={"order": "intended_above_other"}),
        PivotRow(("ending raises its meaning above the open story",), of={"order": "ending_raises_intended"}),
    ]
    title = "Do endings work in the direction they were written for?"
    note = "Not every ending works, and none was dropped for that."
    return pivot("ending_direction", title, results, columns, rows, labels=("How often",), notes=(note,))


def disagreement_table(results: Results) -> Table:
    """Return whether people disagree more about open stories, for each condition that was tested.

    *results* are those of :func:`lexiscope.analysis.norms.story_effects.open_against_ended`.
    """
    columns = (
        *(
            Col(f"Mean SD, {kind}", "kind_mean_sd(ddof=1)", _THREE, where={"condition": f"{{condition}}, {kind}"})
            for kind in KINDS
        ),
        Col("U", OPEN_AGAINST_ENDED, INTEGER, "value"),
        Col(
            "p",
            OPEN_AGAINST_ENDED,
            P_VALUE,
            "p",
            note="Wilcoxon's rank-sum test, two-sided, corrected for ties and continuity.",
        ),
        Col(
            "p, ties ignored", _PLAIN, P_VALUE, note="Without either correction, as some programs print it; too large."
        ),
    )
    rows = rows_of([record for record in records_of(results) if record.statistic == OPEN_AGAINST_ENDED], "condition")
    return pivot(
        "open_ended_sd", "Do people disagree more about open stories?", results, columns, rows, labels=("Samples of",)
    )


def kinds_table(
    results: Results, predictors: Sequence[Predictor], *, of: str, name: str = "open_ended", number: str = ""
) -> Table:
    """Return how accurate predictors are on all, open and ended stories; the condition begins with *of* (a split).

    *results* are those of :func:`lexiscope.analysis.norms.story_effects.accuracy_by_kind`.
    """
    columns = [
        Col(kind + end, forms, _THREE, where={"condition": f"{of}, {kind}"})
        for forms, end in ((WHOLE, ""), (UNREAD_WRONG, ", unread as wrong"))
        for kind in ("all", *KINDS)
    ]
    note = (
        "Whole predictions; others rounded, halves up. Over samples with a readable reply (read / asked); then with "
        "the others as wrong. 95 % interval, over words."
    )
    rows = [PivotRow((own.title, own.read_of_asked), {"subject": own.subject}) for own in predictors]
    labels, title = ("Subject", "Read / asked"), "Accuracy within SD on open and ended stories"
    return pivot(name, title, results, columns, rows, labels=labels, number=number, notes=(note,))


def ended_minus_open_table(results: Results, titles: Mapping[str, str]) -> Table:
    """Return by how much subjects, called by their *titles*, are more accurate on ended stories than on open ones.

    *results* are those of :func:`lexiscope.analysis.norms.story_effects.ended_minus_open`.
    """
    columns = (Col("Accuracy, ended − open", _ENDED_MINUS_OPEN, _THREE), Col("Samples", _ENDED_MINUS_OPEN, show="n"))
    title, rows = "Accuracy within SD on ended stories minus open ones", rows_of(results, "subject", names=titles)
    note = "Whole predictions; 95 % interval, words resampled, the same ones for both kinds."
    return pivot("ended_minus_open", title, results, columns, rows, labels=("Subject",), notes=(note,))


def subjects_mean_table(results: Results, shots: Sequence[int], *, of: str) -> Table:
    """Return the means over subjects that saw as many worked examples; the condition begins with *of* (a split).

    *results* are the means of :func:`lexiscope.analysis.norms.story_effects.ended_minus_open`, with the parameter
    ``shots`` in their names.
    """
    accuracy, difference = (
        f"subjects_mean(of={what},shots={{shots}})" for what in ("accuracy_within_sd", "ended_minus_open")
    )
    columns = (
        *(Col(kind.capitalize(), accuracy, _THREE, where={"condition": f"{of}, {kind}"}) for kind in KINDS),
        Col("Ended − open", difference, _THREE),
        Col("Subjects", difference, show="n"),
    )
    note = (
        "Subjects of which the number of worked examples is known (models that are asked here, and those of --models). "
        "95 % interval, words resampled: it does not cover other subjects."
    )
    title, labels = "Accuracy within SD, means over subjects", (Column("Worked examples", INTEGER),)
    rows = [PivotRow((number,), of={"shots": number}) for number in shots]
    return pivot("mean_of_subjects", title, results, columns, rows, labels=labels, notes=(note,))
