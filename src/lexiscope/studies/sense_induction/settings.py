"""The settings of the study sense_induction. This file is read to list them, without the rest of it: keep it light."""

from __future__ import annotations

from lexiscope.core.settings import RatedItemSettings, SeveralDatasetsSettings, files_option, option


class SenseInductionSettings(SeveralDatasetsSettings, RatedItemSettings):
    """What a run of sense_induction can vary.

    ``planted`` is a file of usages of pseudo-words, whose senses are known (or a folder with it and vectors of the
    text before planting), or ``made_up``: text made by rule, on which small vectors are trained. ``words`` are those
    whose senses and neighbours are shown, with examples from the files of ``corpus``.
    """

    study: str = "sense_induction"
    people: tuple[str, ...] = files_option(
        "people's answers to the tests of senses (choices.csv of an export), the items that were asked (items.csv), "
        "and responses.csv, whose attention checks give the trust in each person"
    )
    planted: str = option(
        "",
        "usages of pseudo-words, whose senses are known (a file, or a folder with it); made_up: text made by rule",
        metavar="PATH",
    )
    synset: str = option(
        "bond.n.02", "a synset whose sentences show how a sense is chosen; empty: none", metavar="SYNSET"
    )
    words: tuple[str, ...] = option(
        ("bond",), "words whose senses and neighbours are shown", flag="--word", metavar="WORD"
    )
    corpus: tuple[str, ...] = option(
        (), "files of running text that examples of these words come from", metavar="FILE|FOLDER"
    )
    language: str = option("und", "language of the corpus and of your items (en, es …)", metavar="TAG")
