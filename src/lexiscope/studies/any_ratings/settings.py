"""The settings of the study any_ratings. This file is read to list them, without the rest of the study."""

from __future__ import annotations

from lexiscope.core.settings import RatedFileSettings, option


class AnyRatingsSettings(RatedFileSettings):
    """What a run of any_ratings can vary.

    ``starts`` are the starting points of each mixed model, ``ordinal`` the links of ordinal models that are fitted in
    addition.
    """

    study: str = "any_ratings"
    task: str = "relatedness"
    participants: str = option(
        "",
        "table of the participants (participant_id, and country, gender, age): participants.csv of an export, or the "
        "demographic export of Prolific",
        metavar="FILE",
        file=True,
    )
    ordinal: tuple[str, ...] = option(
        (),
        "fit the tests of conditions also as ordinal models with this link; without it: linear models only",
        choices=("logit", "probit"),
    )
    starts: int = option(2, "starting points of each mixed model; the best optimum is kept", least=1)
