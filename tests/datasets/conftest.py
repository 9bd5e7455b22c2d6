"""A made-up folder in the form of SAW-C's files. The sentences are ours, the ratings arbitrary numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.datasets import saw_c
from lexiscope.resources.tables.delimited import DelimitedTable

SENTENCES = (
    "Sentence,Word,Sense_id,Gender,Context_cue",
    "Era un muelle pesquero,muelle,1,male,adjective",
    "Era un muelle portuario,muelle,1,male,adjective",
    "Era un muelle elástico,muelle,2,femael,adjective",
)
PAIRS = (
    "Word,Sentence_1,Sense_id_s1,Gender_s1,Sentence_2,Sense_id_s2,Gender_s2,context_cue1,context_cue2,Same_sense,"
    "Same_gender,counts,Tag",
    "muelle,Era un muelle pesquero,1,male,Era un muelle portuario,1,male,adjective,adjective,True,True,2,"
    "Era un muelle pesquero__Era un muelle portuario",
    "muelle,Era un muelle pesquero,1,male,Era un muelle elástico,2,femael,adjective,adjective,False,False,2,"
    "Era un muelle elástico__Era un muelle pesquero",
)
_SAME = (
    '"muelle","Era un muelle pesquero__Era un muelle portuario","Same Sense",1,"Era un muelle pesquero",1,"male",'
    '"Era un muelle portuario",1,"male","adjective","adjective",TRUE'
)
_DIFFERENT = (
    '"muelle","Era un muelle elástico__Era un muelle pesquero","Different Sense",1,"Era un muelle pesquero",1,"male",'
    '"Era un muelle elástico",2,"femael","adjective","adjective",FALSE'
)
TRIALS = (
    '"","Participant","Response","Word","Tag","Same_sense","List","Sentence_1","Sense_id_s1","Gender_s1","Sentence_2",'
    '"Sense_id_s2","Gender_s2","context_cue1","context_cue2","Same_gender"',
    f'"1",71,5,{_SAME}',
    f'"2",71,1,{_DIFFERENT}',
    f'"3",72,4,{_SAME}',
)
DISTANCES = (
    "Sentence_1,Sentence_2,Word,Same_sense,Distance,Layer,S1_ntokens,S2_ntokens,token_diffs,n_params",
    "Era un muelle pesquero.,Era un muelle portuario.,muelle,True,0.0,0,7,8,1,1000",
    "Era un muelle pesquero.,Era un muelle elástico.,muelle,False,0.0,0,7,7,0,1000",
    "Era un muelle pesquero.,Era un muelle elástico.,muelle,False,0.4,1,7,7,0,1000",
    "Era un muelle pesquero.,Era un muelle portuario.,muelle,True,0.1,1,7,8,1,1000",
)
TOKENS = (
    ",Word,Model,Target_tokens,Num_tokens_s1,Num_tokens_s2",
    '0,muelle,toy,"[5, 17]",6,7',
    '0,muelle,toy,"[5, 17]",6,6',
    "0, muelle,roberta-base-bne,[8],6,6",
    "0, muelle,roberta-base-bne,[8],6,6",
)
FACTS = SubjectFacts("toy", n_layers=1, n_parameters=1000)


@dataclass(frozen=True)
class MadeUp:
    """A folder of made-up files, and the steps by which SAW-C is read."""

    folder: Path

    def change(self, name: str, old: str, new: str) -> MadeUp:
        """Replace one occurrence of a text in a file (it must be there)."""
        text = (self.folder / name).read_text(encoding="utf-8")
        assert old in text
        (self.folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")
        return self

    def trials(self) -> DelimitedTable:
        return saw_c.read_trials(self.folder / "trials.csv")

    def items(self) -> tuple[Item, ...]:
        return saw_c.read_items(self.folder / "pairs.csv", self.folder / "sentences.csv", self.trials())

    def responses(self) -> ResponseTable:
        return saw_c.trial_responses(self.trials(), self.items(), Scale(1, 5))

    def distances(self, view: str = "full+final_stop") -> ResponseTable:
        return saw_c.read_distances(self.folder / "distances.csv", self.items(), facts=FACTS, view=view)

    def tokens(self) -> ResponseTable:
        return saw_c.read_tokens(self.folder / "tokens.csv", self.items(), ["toy", "roberta-base-bne"])


@pytest.fixture
def made_up(tmp_path: Path) -> MadeUp:
    """Two pairs of one word, three trials, one model with two layers."""
    lines = {"sentences": SENTENCES, "pairs": PAIRS, "trials": TRIALS, "distances": DISTANCES, "tokens": TOKENS}
    for name, content in lines.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(content) + "\n", encoding="utf-8")
    return MadeUp(tmp_path)


@pytest.fixture
def linked(published: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Make a data folder whose files link to the published ones, so that a test can replace some."""

    def link(name: str) -> Path:
        for file in (published / name).rglob("*.csv"):
            target = tmp_path / "data" / file.relative_to(published)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(file)
        return tmp_path / "data"

    return link
