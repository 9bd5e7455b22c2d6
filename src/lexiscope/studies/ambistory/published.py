"""What the paper prints, as far as its printed digits are at hand, and what is known of the rest.

The paper's text is not part of this project. Printed numbers stand here only where a source of ours quotes them.
"""

from __future__ import annotations

from collections.abc import Mapping

from lexiscope.core.result import statistic_name
from lexiscope.core.study import PublishedValue
from lexiscope.studies.ambistory.models import INTEGER_FORM, MAJORITY, RANDOM, RHO
from lexiscope.studies.ambistory.numbers import PEOPLE

_ONE_DRAW = "a single unseeded draw; the expectation over draws has an SD of .0155, and the draw is p = .16 from it"
_TWICE = "rounded twice by the paper: the released ratings give 23.548, 13.548 and 20.645"
_NO_ANSWERS = "the answers of the paper's models were never released"
_LEMMATISER = "the lemmatiser is not stated: other rules give 299 to 334"


def _value(statistic: str, printed: str, place: str, **more: object) -> PublishedValue:
    return PublishedValue(statistic, printed, place, dataset="ambistory", **more)  # type: ignore[arg-type]


_COUNTS = (
    *(
        _value("n_samples", printed, "§3.5", condition=split)
        for split, printed in (("train", "2280"), ("dev", "588"), ("test", "930"), ("all", "3798"))
    ),
    _value("n_stories", "1899", "§3.4", condition="all"),
    _value("n_setups", "633", "§3.4", condition="all"),
    _value("n_ratings", "19049", "§3.4", condition="all"),
    _value("n_forms", "361", "§4.1", condition="all"),
    _value("n_lemmas", "305", "§4.1", remark=_LEMMATISER),
    _value("n_sense_pairs", "411", "§4.1"),
    _value("sentences_per_form", "1.75", "§4.1"),
    *(
        _value("setups_of_form", printed, "§4.1", condition=form)
        for form, printed in (("change", "10"), ("lousy", "9"), ("shot", "7"), ("bars", "7"))
    ),
    *(
        _value(statistic_name("mean_words", of=part), printed, "Table 2")
        for part, printed in (("precontext", "31.5"), ("sentence", "9.24"), ("ending", "13.5"), ("story", "49.77"))
    ),
)

_PEOPLE = (
    _value("krippendorff_alpha(level=interval)", ".506", "§4.1", condition="all"),
    _value("mean_sd(ddof=1)", ".946", "§4.1", condition="all"),
    _value("form_mean_sd(ddof=1)", "1.59", "§4.1", condition="identities"),
    _value("best_rater_correlation(variant=leave_one_out,method=spearman)", ".834", "§5.1", condition="test"),
    _value("best_rater_accuracy_within_sd(variant=leave_one_out)", ".892", "§5.1", condition="test"),
)

_EFFECTS = (
    _value("absolute_difference(between=open_and_ended)", ".80", "§4.2"),
    _value("absolute_difference_sd(between=open_and_ended,ddof=0)", ".675", "§4.2"),
    _value("absolute_difference(between=endings)", "1.18", "§4.2"),
    _value("absolute_difference_sd(between=endings,ddof=0)", ".941", "§4.2"),
    _value("rating_share(point=3)", "15", "§4.2", condition="all"),
    _value("rating_share(point=1_or_5)", "50", "§4.2 (about)", condition="all", remark="printed as about 50 %"),
)

_LABELS = (
    *(
        _value(f"label_share(point={point})", printed, "Table 6", subject=PEOPLE, condition="test, all")
        for point, printed in zip("12345", ("11.7", "21.8", "24.2", "24.0", "18.3"), strict=True)
    ),
    *(
        _value(f"label_share(point={point})", printed, "Table 6", subject=PEOPLE, condition=kind, remark=_TWICE)
        for point, printed, kind in (
            ("2", "23.6", "test, open"),
            ("5", "13.6", "test, open"),
            ("5", "20.7", "test, ended"),
        )
    ),
)

_MODELS = (
    _value(INTEGER_FORM, ".558", "§5.1", subject=MAJORITY, condition="test"),
    _value(
        "expected_accuracy_within_sd(sd=sample,edge=strict,guesses=uniform)",
        ".454",
        "§5.1",
        subject=RANDOM,
        condition="test",
        remark=_ONE_DRAW,
    ),
    *(
        _value(name, printed, "Table 3", subject=subject, condition="test", reproducible=False, remark=_NO_ANSWERS)
        for subject, rho, accuracy in (("Llama-3-8B, 0-shot", ".462", ".663"), ("DeepSeek-V3, 4-shot", ".767", ".816"))
        for name, printed in ((RHO, rho), (INTEGER_FORM, accuracy))
    ),
)

EXAMPLES = ("2.8", "3.0", "4.4")
"""Human means in Table 4, in the order of its samples."""

PUBLISHED: Mapping[str, tuple[PublishedValue, ...]] = {"ambistory": (*_COUNTS, *_PEOPLE, *_EFFECTS, *_LABELS, *_MODELS)}

STATEMENTS: tuple[tuple[str, str], ...] = (
    (
        "No homonym of the test split occurs in training.",
        "The form base does: 6 of its test samples have the two meanings of 6 training samples. 36 test samples and 9 "
        "dev samples have a definition that also occurs in training.",
    ),
    ("Humans unanimously agree on an example (state).", "Its ratings are 5, 3, 5, 4, 5."),
    (
        "The majority label is 4.",
        "On test the mode of the rounded means is 3 (225 against 223); 4 is the mode over all splits, and the constant "
        "with the best accuracy in each split.",
    ),
    (
        "Low-frequency senses cause disagreement.",
        "The frequency of a sense goes with the mean ratings a little, and not with their standard deviations.",
    ),
    (
        "Open and ended stories do not differ in disagreement.",
        "Neither over all samples nor on test; on train alone they do (p below .05), open stories having the lower "
        "SDs. On test open ones have the higher.",
    ),
)
"""What the paper says, and what the released data say to it."""
