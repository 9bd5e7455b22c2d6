"""What the paper prints, as far as its printed digits are at hand, and scores of people that it measured or assumed.

The paper's text is not part of this project: printed numbers stand here only where a source of ours quotes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lexiscope.analysis.view_scores import FixedScore
from lexiscope.core.study import PublishedValue

AM2ICO = "am2ico?language=zh"
"""English and Chinese, the languages of the paper."""

_NO_BERT = "the weights of the paper's models are not at hand; name them with --encoder to compute the same"
_NO_ANSWERS = "the answers of the paper's annotators were never released"


def _value(dataset: str, statistic: str, printed: str, place: str, **more: object) -> PublishedValue:
    return PublishedValue(statistic, printed, place, dataset=dataset, **more)  # type: ignore[arg-type]


def _entropy(dataset: str, word: str, rows: str, printed: str, remark: str = "") -> PublishedValue:
    name = f"label_entropy(word={word},rows={rows},base=e,min_count=2)"
    return _value(dataset, name, printed, "Table 4", remark=remark)


def _bert(statistic: str, printed: str, place: str, condition: str = "") -> PublishedValue:
    more = {"subject": "BERT-base", "condition": condition, "remark": _NO_BERT, "reproducible": False}
    return _value(AM2ICO, statistic, printed, place, **more)


_QUARTER = "computed from a quarter of the validation set, which is what is at hand of XL-WiC"
_POINTS = "unit=points"

PUBLISHED: Mapping[str, tuple[PublishedValue, ...]] = {
    "wic": (_entropy("wic", "surface_lower", "all", ".4022"),),
    "mcl_wic": (_entropy("mcl_wic", "lemma", "all", ".2976"),),
    "wic_tsv": (_entropy("wic_tsv", "lemma", "first_of_context", ".4212"),),
    "xl_wic": (_entropy("xl_wic", "lemma", "all", ".2084", _QUARTER),),
    AM2ICO: (
        _value(AM2ICO, "label_entropy(word=last_surface,rows=all,base=e,min_count=2)", ".5383", "Table 4",
               remark="the training set of Chinese is not at hand", reproducible=False),
        _bert(f"people_minus_model(metric=accuracy,{_POINTS})", "3", "Table 5", "context"),
        _bert(f"people_minus_model(metric=accuracy,{_POINTS})", "7.5", "Table 5", "word"),
        _bert(f"people_minus_model(metric=accuracy,{_POINTS})", "16.9", "Table 5", "full"),
        _bert(f"minimum_gap(metric=accuracy,{_POINTS})", "5", "Figure 3"),
    ),
    "wsd": (
        _value("wsd", "sense_entropy(word=lemma_pos,rows=all,base=e,min_count=1)", ".210", "Table 2",
               remark="what the paper takes for a word is not known: .171 to .274 by surface form or lemma, with or "
                      "without part of speech, multi-word units and names"),
    ),
    "aida": (
        _value("aida", "sense_entropy(word=surface,rows=all,base=e,min_count=1)", ".044", "Table 2",
               remark="linked mentions only give .0421; mentions without a page as a sense of their own give .0438"),
    ),
    "wikification": (
        _value("wikification", "sense_entropy(word=surface,rows=all,base=e,min_count=1)", ".060", "Table 2",
               remark="the sample of the paper was never released", reproducible=False),
    ),
    "wikimed": (
        _value("wikimed", "sense_entropy(word=surface,rows=all,base=e,min_count=1)", ".026", "Table 2"),
    ),
    "cometa": (
        _value("cometa", "sense_entropy(word=surface,rows=all,base=e,min_count=1)", ".001", "Table 2"),
    ),
}  # fmt: skip
"""The printed numbers by dataset: entropies (Tables 2 and 4), and BERT beside people on AM²iCo (Table 5, Figure 3)."""

ENTROPY_RULES: Mapping[str, tuple[str, str]] = {
    "wic": ("surface_lower", "all"),
    "mcl_wic": ("lemma", "all"),
    "wic_tsv": ("lemma", "first_of_context"),
    "xl_wic": ("lemma", "all"),
    "am2ico": ("last_surface", "all"),
}
"""What a word is, and which rows count, in the label entropy of a dataset, where the paper's is known."""


@dataclass(frozen=True, slots=True)
class HumanScore:
    """A score of people that was not measured here. ``status`` is ``printed`` or ``assumed``; 0 to 1."""

    view: str
    value: float
    status: str
    place: str

    @property
    def fixed(self) -> FixedScore:
        """The score as it stands beside measured ones."""
        return FixedScore(self.value, f"{self.status} ({self.place})")


_HALF = HumanScore("label", 0.5, "assumed", "§2.2: no input, either answer")
_EQUAL = HumanScore("word", 0.5, "assumed", "§2.2: the words are equal, so that everybody answers t")

HUMAN: Mapping[str, tuple[HumanScore, ...]] = {
    AM2ICO: (
        HumanScore("full", 0.879, "printed", "Table 5"),
        HumanScore("context", 0.690, "printed", "Figure 3: 18.9 points below FULL"),
        HumanScore("word", 0.685, "printed", "Figure 3: 19.4 points below FULL"),
        _HALF,
    ),
    "wic": (_EQUAL, _HALF),
    "xl_wic": (_EQUAL, _HALF),
    "aida": (HumanScore("label", 0.0, "assumed", "§2.2: no page is found without input"),),
}
"""The recorded scores of people, by dataset."""

AGREEMENT_REMARK = (
    "Table 10 prints a higher agreement with the context alone (94.0, 88, 76) than with the whole input (87.9, 66, "
    "64), where the text (footnote 8) says that it is lower: its rows look exchanged. The numbers check nothing here."
)
GUESSES_REMARK = (
    "The paper examined 20 guesses: 11 were valid other words, and its model kept its answer in 7 of these (§3.2, "
    f"Table 8); {_NO_ANSWERS}."
)
