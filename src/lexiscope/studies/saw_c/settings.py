"""The settings of the study saw_c. This file is read to list them, without the rest of the study: keep it light."""

from __future__ import annotations

from typing import Literal

from lexiscope.core.settings import RatedItemSettings, file_option, option
from lexiscope.items.arrange.view_names import GUESSED_WORD, VIEW_NAMES


class SawCSettings(RatedItemSettings):
    """What a run of saw_c can vary.

    ``mixed_models``: ``paper`` runs the published tests, ``maximal`` also those with maximal random effects, ``every``
    also the tests with distance for every subject at its best layer. ``recorded`` limits the recorded models to these
    ids. ``beside`` is a second dataset, in another language, with which the first is compared. ``views`` are the views
    whose distances are analysed; the first is the main one. ``exclusions`` are exclusion rules in order, as text that
    :func:`lexiscope.analysis.exclusion.parse_rule` reads.
    """

    study: str = "saw_c"
    scale: tuple[float, float] = option(
        (1.0, 5.0), "lowest and highest point of the rating scale of your item file", metavar="LOW HIGH"
    )
    recorded: tuple[str, ...] = option((), "limit the recorded models to these ids; empty: all", metavar="ID")
    views: tuple[str, ...] = option(
        (),
        "what of the input a model sees; the first view is the main one; empty: the dataset's own",
        flag="--view",
        choices=(*VIEW_NAMES, GUESSED_WORD),
    )
    beside: str = option(
        "",
        "a second dataset of this task in another language: sense, layers and size are compared between the two",
        metavar="DATASET",
        names="datasets",
    )
    starts: int = option(5, "starting points of each mixed model; the best optimum is kept", least=1)
    mixed_models: Literal["paper", "maximal", "every", "none"] = option(
        "paper",
        "the published tests (paper), also with maximal random effects (maximal), of every subject (every), or none",
        flag="--mixed",
    )
    ordinal: tuple[str, ...] = option(
        (),
        "fit the tests also as ordinal models with this link: logit, probit; empty: linear models only",
        choices=("logit", "probit"),
    )
    participants: str = file_option(
        "a table of the participants, a row each: participant_id, and country, gender, age where they are known "
        "(participants.csv of an export); countries are compared"
    )
    min_ratings: int = option(10, "fewest ratings that an item needs", least=1)
    exclusions: tuple[str, ...] = option(
        (),
        "exclusion rules, applied in this order: low_agreement(r_squared=0.1)",
        flag="--exclude",
        metavar="RULE",
        reads="lexiscope.analysis.exclusion:parse_rule",
    )
