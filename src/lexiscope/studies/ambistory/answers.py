"""How the answers of the study read on the Results page: which results decide, and what they are compared with."""

from __future__ import annotations

from lexiscope.report.answers.numbers import PERCENT, RHO, Pick, Quantity, pick
from lexiscope.report.answers.one import Named, OneEstimate
from lexiscope.report.answers.subjects import Against, SubjectEstimates

GUESSES = ("Majority", "Random (expectation)")
"""Rows that are no models."""


def _is_whole(condition: object) -> bool:
    """Return whether a condition is a split or all of it, and not one kind of its stories."""
    return "," not in str(condition)


ALPHA = Quantity("α", "Krippendorff’s α (interval)", bounds=(-1.0, 1.0))
ONE_RATER = Against("one rater", pick("single_rater_rho(over=raters)", condition=_is_whole))

AGREEMENT = OneEstimate(
    Named("the agreement of raters (Krippendorff’s α, interval)", pick("krippendorff_alpha(level=interval)"), ALPHA),
    (
        Named("the agreement of one rater with the mean of the others (Spearman)", ONE_RATER.wanted or pick("-"), RHO),
        Named("the reliability of the mean ratings", pick("reliability_of_means("), Quantity("", "", (-1.0, 1.0))),
    ),
    drawn=SubjectEstimates(
        "Agreement of raters by part of the data",
        pick("krippendorff_alpha(level=interval)"),
        ALPHA,
        claim="agree",
        claim_one="agrees",
        rows_are=("part", "parts"),
        label="condition",
        in_order=True,
        name="alpha",
    ),
)
ENDINGS = OneEstimate(
    Named(
        "the share of setups in which an ending raises the rating of its meaning",
        pick("ending_raises_intended(share=above)"),
        PERCENT,
        "ending raises its meaning",
    ),
    (
        Named(
            "the share in which the intended meaning is rated above the other",
            pick("intended_above_other(share=above)"),
            PERCENT,
            "intended above the other",
        ),
    ),
    against=50.0,
    against_name="half",
    title="Setups in which the ending has its effect",
)
SCALE = OneEstimate(
    Named(
        "the correlation of a meaning’s mean rating with its frequency (Spearman)",
        pick("sense_count_rho(with=mean)"),
        RHO,
    ),
    against=0.0,
    against_name="no correlation",
    drawn=SubjectEstimates(
        "Ratings by point of the scale",
        Pick("rating_share(", {"statistic": lambda name: "_or_" not in str(name)}),
        PERCENT,
        claim="are used",
        claim_one="is used",
        rows_are=("point", "points"),
        label="point",
        in_order=True,
        name="ratings",
        axis="Percent of the ratings",
    ),
)
MODELS = SubjectEstimates(
    "Agreement of models with people’s mean ratings",
    pick("spearman(of=predictions,with=norms)", condition=_is_whole),
    RHO,
    claim="follow people’s ratings",
    claim_one="follows people’s ratings",
    against=(ONE_RATER,),
    uncounted=GUESSES,
    name="models",
    axis="Spearman’s ρ with people’s mean ratings",
)
OPEN_OR_ENDED = SubjectEstimates(
    "Accuracy within SD on ended minus open stories",
    pick("accuracy_difference(of=ended_minus_open)"),
    Quantity("", "Difference in accuracy within SD, points", bounds=None, digits=1, times=100.0, unit=" points"),
    claim="are more accurate on ended stories",
    claim_one="is more accurate on ended stories by",
    uncounted=GUESSES,
    name="ended_minus_open",
)
