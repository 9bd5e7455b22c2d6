"""The settings of the study context_bias. This file is read to list them, without the rest of it: keep it light."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from lexiscope.core.settings import (
    ItemSettings,
    SettingError,
    SeveralDatasetsSettings,
    file_option,
    files_option,
    option,
)


class ContextBiasSettings(SeveralDatasetsSettings, ItemSettings):
    """What a run of context_bias can vary.

    ``encoders`` are what is trained or probed (``minilm``, a folder, a hub id; ``words`` learns from words and
    characters, ``look_up`` counts; both need no model); ``protocol`` is how. ``subjects`` are chat models, which are
    asked and not trained.
    """

    study: str = "context_bias"
    encoders: tuple[str, ...] = option(
        (),
        "a learner: words (words and characters), look_up (whole texts), or an encoder that is trained or probed, such "
        "as minilm, a folder or a hub id",
        flag="--encoder",
        metavar="NAME",
    )
    protocol: Literal["auto", "linear", "zero_shot", "reduced", "full"] = option(
        "auto",
        "how the encoders are trained. linear: a regression on their vectors; zero_shot: a threshold of a cosine; "
        "reduced and full: all weights; auto: linear, or what fits into the budget",
    )
    budget: str = option(
        "",
        "the time that all trainings together may take, as 30m or 1h30m; empty: none",
        metavar="TIME",
        reads="lexiscope.training.budget:read_duration",
    )
    attribution: Literal["none", "leave_one_out", "shapley"] = option(
        "none",
        "which words carry the answers: 100 tested items are asked again without some of their words. leave_one_out: "
        "each word is removed by itself; shapley: all of them, one after the other, in random orders",
    )
    rebalance: str = option(
        "",
        "remove the items that words and characters of the context or the word solve, round by round; write the others "
        "to this file, and report what that changes, next to random removal of as many",
        metavar="OUT.csv",
    )
    people: tuple[str, ...] = files_option("files of people's answers to the same items")
    entities: str = file_option(
        "the list of entries (id, title, aliases, description) in which the mentions of your items are looked up"
    )

    def __post_init__(self) -> None:
        """Check every value.

        Errors: :class:`SettingError` for more than one source of items, for a protocol and a budget together (both
        decide how much is trained), and for re-balancing several datasets or into the audited file.
        """
        super().__post_init__()
        if self.budget and self.protocol != "auto":
            what = f"the budget {self.budget} chooses the protocol, and {self.protocol} is one"
            raise SettingError("budget", what, hint="give --budget or --protocol, not both")
        if self.rebalance and not self.items and not self.dataset and len(self.datasets) != 1:
            raise SettingError("rebalance", "only one dataset or file can be re-balanced", hint="give --dataset NAME")
        if self.entities and not self.items:
            raise SettingError("entities", "a list of entries needs the items that are looked up", hint="add --items")
        if self.rebalance and self.items and Path(self.rebalance).resolve() == Path(self.items).resolve():
            raise SettingError("rebalance", f"{self.rebalance} is the file that is audited", hint="give another name")
