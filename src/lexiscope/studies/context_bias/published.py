"""What the paper prints (``printed.csv`` next to this file), and scores of people that it measured or assumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lexiscope.analysis.view_scores import FixedScore
from lexiscope.core.study import PublishedValue, printed_values
from lexiscope.studies.context_bias.material import PRINTED

_AM2ICO = "am2ico?language=zh"
"""English and Chinese, the languages of the paper."""
_EVERY = printed_values(Path(__file__).with_name("printed.csv"), dataset="context_bias")

PUBLISHED: Mapping[str, tuple[PublishedValue, ...]] = {
    dataset: tuple(value for value in values if value.subject != PRINTED) for dataset, values in _EVERY.items()
}
"""The printed numbers that are compared with ours, by dataset: entropies (Tables 2 and 4), and BERT compared with
people on AM²iCo (Table 5, Figure 3). Printed scores of people are no result of a run: they enter it (:data:`HUMAN`)."""

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
_ASSUMED: Mapping[str, tuple[HumanScore, ...]] = {
    _AM2ICO: (_HALF,),
    "wic": (_EQUAL, _HALF),
    "xl_wic": (_EQUAL, _HALF),
    "aida": (HumanScore("label", 0.0, "assumed", "§2.2: no page is found without input"),),
}

HUMAN: Mapping[str, tuple[HumanScore, ...]] = {
    dataset: (
        *(
            HumanScore(value.condition, float(value.printed), "printed", value.place)
            for value in _EVERY.get(dataset, ())
            if value.subject == PRINTED
        ),
        *_ASSUMED.get(dataset, ()),
    )
    for dataset in dict.fromkeys((*_EVERY, *_ASSUMED))
}
"""The recorded scores of people, by dataset: those that the paper prints, by view, then those that it assumes."""

AGREEMENT_REMARK = (
    "Table 10 prints a higher agreement with the context alone (94.0, 88, 76) than with the whole input (87.9, 66, "
    "64), where the text (footnote 8) says that it is lower: its rows look exchanged. The numbers check nothing here."
)
GUESSES_REMARK = (
    "The paper examined 20 guesses: 11 were valid other words, and its model kept its answer in 7 of these (§3.2, "
    "Table 8); the answers of the paper's annotators were never released."
)
