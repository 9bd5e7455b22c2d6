"""How the answers of the study read on the Results page: which results decide, and what they are compared with."""

from __future__ import annotations

from dataclasses import replace

from lexiscope.analysis.layers.layers import RHO as RHO_BY_LAYER
from lexiscope.report.answers.conditions import Condition, TwoConditions
from lexiscope.report.answers.layers import BestLayers, LayerCurves
from lexiscope.report.answers.numbers import R_SQUARED, RHO, Quantity, pick
from lexiscope.report.answers.residuals import PairedEstimates
from lexiscope.report.answers.slope import SlopeOf
from lexiscope.report.answers.subjects import AVERAGE_PERSON, RELIABILITY, SubjectEstimates
from lexiscope.report.parts.layer_parts import BELOW_CHOSEN, BEST_R2, BEST_RHO, CHOSEN_RHO, LOWEST_AIC, SAVED
from lexiscope.studies.saw_c.data import BETO, DIFFERENT, SAME

MAIN = (BETO, "bert")
"""The subjects that the papers look at most closely."""
OF_DISTANCE = replace(RHO, sign=-1.0)
"""Distances fall as relatedness rises: the sign is turned once, here."""
RESIDUAL = Quantity("", "points", bounds=None)

AGREEMENT = SubjectEstimates(
    "Agreement of models and of people with the mean ratings",
    pick(CHOSEN_RHO),
    OF_DISTANCE,
    claim="follow people in the expected direction",
    claim_one="follows people in the expected direction",
    against=(AVERAGE_PERSON, RELIABILITY),
    in_sample=pick(BEST_RHO),
    place=pick(BELOW_CHOSEN),
    raters="raters",
    strong=MAIN,
    name="agreement",
    with_table=True,
    table_title="Agreement with people’s mean ratings",
    axis="Spearman’s ρ with the mean rating of people",
)

SENSE_IN_RATINGS = TwoConditions(
    Condition("pairs with the same sense", pick("condition_mean(over=trials)", condition="same_sense=True"), SAME),
    Condition(
        "pairs with different senses", pick("condition_mean(over=trials)", condition="same_sense=False"), DIFFERENT
    ),
    pick("fixed_effect(term=Same_sense,test=sense,model=full)"),
    predicted="above",
    tests=(
        ("Mixed model", pick("chi2(test=sense,df=1)")),
        ("With all random slopes", pick("chi2(test=sense_maximal,df=1)")),
    ),
    values="relatedness_by_sense",
    unit="pairs",
    title="Mean rating of the pairs, by sense",
)

SENSE_BOUNDARY = BestLayers(
    "Layers that separate the senses best",
    pick(LOWEST_AIC),
    pick("aic(model=intercept_only)"),
    pick(SAVED),
    what="separates the same sense from different senses",
    compared=pick(BEST_RHO),
    compared_name="relatedness",
    strong=MAIN,
)

LAYERS = LayerCurves(
    "Agreement with people by layer",
    pick(RHO_BY_LAYER),
    OF_DISTANCE,
    what="agreement with people",
    against=(AVERAGE_PERSON,),
    second=pick(LOWEST_AIC),
    second_name="best layer for sense",
    strong=MAIN,
    allowing=pick(CHOSEN_RHO),
)

BEYOND_DISTANCE = PairedEstimates(
    "How far people’s ratings are from what distance predicts",
    pick("mean_residual(model=norm~distance,layer=chosen)", condition="same_sense=True"),
    pick("mean_residual(model=norm~distance,layer=chosen)", condition="same_sense=False"),
    "same sense",
    "different senses",
    RESIDUAL,
    claim="people rate pairs with the same sense higher, and pairs with different senses lower, than distance predicts",
    axis="Rating minus prediction from distance, points of the scale",
    below="people rate lower than predicted",
    above="people rate higher than predicted",
    tests=(
        ("Sense beyond distance", pick("chi2(test=sense_beyond_distance,df=1)")),
        ("Distance beyond sense", pick("chi2(test=distance_beyond_sense,df=1)")),
    ),
    strong=MAIN,
)

SIZE = SlopeOf(
    "Fit and number of parameters",
    pick("slope(of=log10_parameters,outcome=max_r_squared)"),
    pick(BEST_R2),
    pick("n_parameters"),
    R_SQUARED,
    what="R²",
    per="for ten times as many parameters",
    x_label="Parameters",
    strong=MAIN,
)
