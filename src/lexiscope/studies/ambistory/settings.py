"""The settings of the study ambistory. This file is read to list them, without the rest of the study: keep it light."""

from __future__ import annotations

from typing import Literal

from lexiscope.core.settings import RatedItemSettings, SettingError, file_option, files_option, option


class AmbistorySettings(RatedItemSettings):
    """What a run of ambistory can vary.

    ``split`` is what live subjects are asked, where the stories have splits. ``compare`` are pairs of subjects whose
    errors are compared: (a model that was trained, its base). ``models`` says of each subject which model it is, how
    many worked examples it saw, which model it was trained from, and how many parameters it has; of live models the
    specs say the first two.
    """

    study: str = "ambistory"
    split: Literal["test", "dev", "train", "all"] = option(
        "test", "the samples that live subjects are asked: test, dev, train, all"
    )
    compare: tuple[tuple[str, str], ...] = option(
        (), "whose errors are compared: a model that was trained, and its base", metavar="TUNED BASE"
    )
    models: str = file_option(
        "a table of the subjects, columns subject, model, shots, base, parameters: which of them are contrasted"
    )
    ordinal: tuple[str, ...] = option(
        (),
        "test the effect of endings in mixed models, linear and ordinal with this link: logit, probit; empty: no model",
        choices=("logit", "probit"),
    )
    codings: tuple[str, ...] = files_option(
        "sheets of errors (error_coding.csv) that people tagged, each named after its coder", flag="--coding"
    )
    comments: str = file_option(
        "what raters wrote with their ratings: a table with the columns item_id, participant_id, comment"
    )
    comment_codings: tuple[str, ...] = files_option(
        "sheets of comments (comment_coding.csv) that people coded, each named after its coder", flag="--comment-coding"
    )

    def __post_init__(self) -> None:
        """Check every value. Errors: :class:`SettingError` for a trained model with two bases."""
        super().__post_init__()
        if len({tuned for tuned, _ in self.compare}) < len(self.compare):
            raise SettingError("compare", "a trained model is compared with one base, and it is named twice")
