"""The settings of the study norm. This file is read to list them, without the rest of the study."""

from __future__ import annotations

from typing import Literal

from lexiscope.core.settings import RatedFileSettings, option


class NormSettings(RatedFileSettings):
    """What a run of norm can vary.

    ``models`` are the models that are looked at; by default those that rate, and all live subjects. ``by`` are the
    conditions by which means are estimated. ``target`` is what these estimates are about: the items of the list, or a
    population of which their words are a sample. ``epsilon`` is the margin of the alternative annotator test.
    ``sizes`` are the numbers of rated items at which intervals with and without a model are compared, over ``draws``
    draws. ``contamination`` items are those with which models are tested for having read the file.
    ``items_next`` items are allocated to people, in ``waves``, until the interval is ``half_width`` on either side.
    """

    study: str = "norm"
    task: str = "relatedness"
    models: tuple[str, ...] = option(
        (), "recorded model to look at; without it: those that rate", flag="--model", metavar="NAME"
    )
    by: tuple[str, ...] = option(
        (),
        "condition by which means are estimated, or number for a regression; without it: the first with two levels",
        metavar="CONDITION",
    )
    target: Literal["list", "population"] = option(
        "list", "what estimates with a model are about: the items of the list, or a population of words"
    )
    epsilon: float = option(
        0.1, "margin of the alternative annotator test: .1 crowd workers, .15 skilled, .2 experts", least=0, most=1
    )
    sizes: tuple[int, ...] = option(
        (50, 100, 200), "rated items at which intervals with and without a model are compared", flag="--rated-items",
        least=6,
    )  # fmt: skip
    draws: int = option(500, "draws of items for each such comparison", least=10)
    contamination: int | None = option(
        None, "items with which models are tested for having read them; without it: 192 for models of this machine, 0 "
        "for models behind a server", least=0, metavar="N",
    )  # fmt: skip
    items_next: int = option(
        0, "items to allocate to people; 0: a quarter of those without ratings, or of all", least=0
    )
    waves: int = option(3, "waves in which these items are asked", least=1)
    half_width: float = option(0.1, "half-width of the 95 % interval of the mean at which a study stops", least=0)
