"""What the paper prints, as far as its printed digits are at hand.

The paper's text is not part of this project. Printed numbers stand here only where a source of ours quotes them. The
judgments and vectors behind them were never released.
"""

from __future__ import annotations

from collections.abc import Mapping

from lexiscope.core.study import PublishedValue

_NO_JUDGMENTS = "the judgments and the vectors of the paper were never released"
GASI_BETA = "GASI-β (paper)"


def _of_people(statistic: str, printed: str, place: str) -> PublishedValue:
    return PublishedValue(
        statistic, printed, place, GASI_BETA, "word_intrusion", reproducible=False, remark=_NO_JUDGMENTS
    )


PUBLISHED: Mapping[str, tuple[PublishedValue, ...]] = {
    "scws": (PublishedValue("n_pairs", "2003", "§5", dataset="scws"),),
    "word_intrusion": (
        _of_people("intrusion_accuracy(of=senses)", "71.33", "§4.1, Table 1"),
        _of_people("intrusion_accuracy(of=judgments)", "67.33", "§4.1, Table 1"),
        _of_people("agreement(of=word_intrusion,weighted=trust)", "0.77", "§4.1, Table 1"),
    ),
}
