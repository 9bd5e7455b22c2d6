"""What a paper claims, and what the numbers of a run say to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from lexiscope.core.claims import OUTCOMES, CheckedClaim, Claim, check_claims
from lexiscope.core.result import Record
from lexiscope.core.showing import counted
from lexiscope.core.study import Question
from lexiscope.report.document import Section
from lexiscope.report.tables import Cell, Column, Table, drop_empty

_NAME, _TITLE = "claims", "What the paper claims"
_RULES = (
    "Each claim has a rule that compares numbers of this run (claims.csv of the study). Holds: every comparison comes "
    "out as claimed. Holds in part: for some of several models, datasets or conditions it does. Reversed: every one "
    "comes out the other way. A claim about most models or conditions: more than half decide. Not shown: a part of "
    "the claim does not come out as claimed; one number in the interval of the other, or a p value above its level, "
    "shows nothing.",
    "A claim about models is checked on the models of this run, which need not be the paper's.",
)


def claims_section(
    claims: Mapping[str, Sequence[Claim]], records: Sequence[Record], questions: Sequence[Question] = ()
) -> Section | None:
    """Return the section with what the paper claims of the data of a run; ``None`` if it claims nothing of them.

    *claims* are those of the paper by dataset (``claims.csv``), *questions* those of the
    study: the table gives their texts.
    """
    datasets = {record.dataset for record in records}
    # a claim about several datasets is listed under each of them
    chosen = dict.fromkeys(claim for name, own in claims.items() if name in datasets for claim in own)
    if not chosen:
        return None
    checked = check_claims(chosen, records)
    counts = Counter(each.outcome for each in checked)
    told = ", ".join(
        f"{n} {outcome if n == 1 else _PLURAL.get(outcome, outcome)}" for outcome in OUTCOMES if (n := counts[outcome])
    )
    texts = {question.question_id: question.text for question in questions}
    table = claims_table(checked, texts)
    return Section(_NAME, _TITLE, (f"{counted(len(checked), 'claim')}: {told}.", *_RULES), (table,))


_PLURAL = {"holds": "hold", "holds in part": "hold in part"}


def claims_table(checked: Sequence[CheckedClaim], questions: Mapping[str, str] | None = None) -> Table:
    """Return a table with one row per claim: what is claimed, where, the outcome, and the numbers behind it.

    *questions* are the texts of the questions by their id; without one, the id is given.
    """
    several = len({each.claim.datasets for each in checked}) > 1
    columns = tuple(map(Column, ("Claim", "Place", "Question", "Data", "Outcome", "Numbers of this run")))
    rows: list[tuple[Cell, ...]] = []
    for each in checked:
        claim = each.claim
        data = ", ".join(claim.datasets) if several else None
        question = (questions or {}).get(claim.question, claim.question)
        rows.append((claim.text, claim.place, question, data, str(each.outcome), each.evidence))
    return drop_empty(Table(_NAME, "", _TITLE, columns, tuple(rows)))
