"""The settings of the study synonymy. This file is read to list them, without the rest of the study: keep it light."""

from __future__ import annotations

from typing import Literal

from lexiscope.core.scoring_options import Per
from lexiscope.core.settings import ItemSettings, file_option, files_option, option


class SynonymySettings(ItemSettings):
    """What a run of synonymy can vary.

    ``mode`` repairs the published texts (``clean``) or keeps their flaws; ``per`` is what a text's log-probability is
    divided by where it decides. ``checkpoints`` are subjects that are states of one model in training, each with its
    progress (tokens seen, or steps): (spec, number). ``consistency`` are pairs of cells that are crossed in addition to
    the study's own.
    """

    study: str = "synonymy"
    recorded: tuple[str, ...] = option((), "limit the recorded models to these ids; empty: all", metavar="ID")
    mode: Literal["clean", "published"] = option("clean", "texts repaired (clean), or with their flaws (published)")
    per: Per = option("token", "what a log-probability is divided by where it decides: token, text, character, byte")
    frequency: str = file_option("a table of word counts (columns word, count); empty: WordNet's tag counts")
    gap_filling: Literal["yes", "no"] = option("yes", 'whether subjects that generate fill gaps: "yes" or "no"')
    top_k: tuple[int, ...] = option(
        (), "more values of top-k in gap filling, in addition to the paper's 10: ten predictions with each", least=1
    )
    people: tuple[str, ...] = files_option(
        "people's answers to the forced choice or to the gaps of the same items: choices.csv or judgments.csv of an "
        "export, what lexiscope choices read writes, or a table with a row per answer",
        flag="--people --responses --ratings",
    )
    codings: tuple[str, ...] = files_option(
        "sheets of gap answers (gap_coding.csv) that people coded, each named after its coder", flag="--coding"
    )
    checkpoints: tuple[tuple[str, float], ...] = option(
        (),
        "states of one model in training; subject: tokens seen (or steps)",
        flag="--checkpoint",
        metavar="SPEC TOKENS",
        reads="lexiscope.core.spec:SubjectSpec.parse",
    )
    consistency: tuple[tuple[str, str], ...] = option(
        (),
        "two more cells, as results name them (substitution/controlled): are the same items right in both",
        metavar="CELL CELL",
    )
    word_list: str = file_option("a file of words to flag in the texts, one per line; empty: a short list")
    templates: str = file_option("a file of your templates (other relations, languages); empty: the paper's")
