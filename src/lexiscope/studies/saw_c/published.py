"""The numbers that SAW-C and RAW-C print, with their place, to be set beside ours. Digits are as printed."""

from __future__ import annotations

from lexiscope.core.study import PublishedValue

_BETO = "bert-base-spanish-wwm-cased"
_OWN_RATING = (
    "the paper's figure comes from a mean that includes the participant's own rating; "
    "see included_agreement, which reproduces it"
)
_NOT_PUBLISHED = "the answers to this question are not in the published files"


def _saw(statistic: str, printed: str, place: str, **more: object) -> PublishedValue:
    return PublishedValue(statistic, printed, place, dataset="saw_c", **more)  # type: ignore[arg-type]


def _beto(statistic: str, printed: str, place: str, layer: int | None = None, **more: object) -> PublishedValue:
    return _saw(statistic, printed, place, subject=_BETO, layer=layer, **more)


SAW_C: tuple[PublishedValue, ...] = (
    _saw("n_items", "812", "SAW-C §3.1"),
    _saw("n_words", "102", "SAW-C §3.1"),
    _saw("n_lists", "10", "SAW-C §3.1"),
    _saw("items_per_word(summary=min)", "6", "SAW-C §3.1"),
    _saw("items_per_word(summary=mean)", "7.96", "SAW-C §3.1"),
    _saw("items_per_word(summary=max)", "28", "SAW-C §3.1"),
    _saw("words_per_sentence(summary=mean)", "4.72", "SAW-C §3.1"),
    _saw("items_differing_in_word_count(by=any)", "187", "SAW-C fn 4"),
    _saw("items_differing_in_word_count(by=1)", "173", "SAW-C fn 4"),
    _saw("items_differing_in_word_count(by=2)", "14", "SAW-C fn 4"),
    _saw("n_words_with(property=gender_change)", "8", "SAW-C §3.1"),
    _saw("n_words_with(property=verb_cue)", "2", "SAW-C §3.1"),
    _saw("n_participants", "131", "SAW-C §3.2"),
    _saw("n_recruited", "139", "SAW-C §3.2", reproducible=False, remark=_NOT_PUBLISHED),
    _saw("age(summary=mean)", "30.97", "SAW-C §3.2", reproducible=False, remark=_NOT_PUBLISHED),
    _saw("n_trials", "10639", "SAW-C §3.5"),
    _saw("ratings_per_item(summary=min)", "10", "SAW-C §3.4"),
    _saw("ratings_per_item(summary=mean)", "13.1", "SAW-C §3.4"),
    _saw("ratings_per_item(summary=max)", "17", "SAW-C §3.4"),
    _saw("leave_one_out_agreement(method=spearman,summary=mean)", ".77", "SAW-C §3.4", remark=_OWN_RATING),
    _saw("leave_one_out_agreement(method=spearman,summary=min)", ".39", "SAW-C §3.4", remark=_OWN_RATING),
    _saw("leave_one_out_agreement(method=spearman,summary=max)", ".88", "SAW-C §3.4", remark=_OWN_RATING),
    _saw("included_agreement(method=spearman,summary=mean)", ".77", "SAW-C §3.4"),
    _saw("included_agreement(method=spearman,summary=min)", ".39", "SAW-C §3.4"),
    _saw("included_agreement(method=spearman,summary=max)", ".88", "SAW-C §3.4"),
    _saw(
        "group_consistency(by=nationality,summary=min)", ".82", "SAW-C §3.4", reproducible=False, remark=_NOT_PUBLISHED
    ),
    _saw("condition_mean(over=trials)", "4.35", "SAW-C §3.5", condition="same_sense=True"),
    _saw("condition_sd(over=trials)", "1.14", "SAW-C §3.5", condition="same_sense=True"),
    _saw("condition_mean(over=trials)", "2.11", "SAW-C §3.5", condition="same_sense=False"),
    _saw("condition_sd(over=trials)", "1.41", "SAW-C §3.5", condition="same_sense=False"),
    _saw("chi2(test=sense,df=1)", "39.59", "SAW-C §3.5"),
    _beto("best_layer(by=aic)", "6", "SAW-C §4.2"),
    _beto("r_squared", ".36", "SAW-C §4.3", 12),
    _beto("pearson", "-.60", "SAW-C §4.3", 12),
    _beto("spearman", "-.61", "SAW-C §4.3", 12),
    _beto("r_squared", ".35", "SAW-C §4.3", 7),
    _beto(
        "raters_below_model(among=leave_one_out,method=spearman)",
        ".05",
        "SAW-C §4.4",
        12,
        remark="the paper's bottom 5 % is among agreements that include the own rating",
    ),
    _beto("raters_below_model(among=included,method=spearman)", ".05", "SAW-C §4.4", 12),
    _beto("chi2(test=sense_beyond_distance,df=1)", "325.21", "SAW-C §4.5", 12),
    _beto("chi2(test=distance_beyond_sense,df=1)", "236.73", "SAW-C §4.5", 12),
    _beto("r_squared(of=sense)", ".61", "SAW-C §4.5", 12),
    _beto("r_squared(of=distance)", ".36", "SAW-C §4.5", 12),
    _beto("r_squared(of=sense+distance)", ".66", "SAW-C §4.5", 12),
    _beto("expected_layer(score=aic,deltas=signed)", "3.6", "SAW-C A.2"),
    _beto("expected_layer(score=r_squared,deltas=signed)", "3.4", "SAW-C A.2"),
    _saw("slope(of=log10_parameters,outcome=max_r_squared)", ".10498", "SAW-C §5.2, authors' output"),
    _saw("standard_error(of=log10_parameters)", ".04281", "SAW-C §5.2, authors' output"),
    _saw("p(of=log10_parameters)", ".0366", "SAW-C §5.2, authors' output"),
    _saw("r_squared(of=scaling)", ".4167", "SAW-C §5.2, authors' output"),
    _saw(
        "slope_english(of=log10_parameters,outcome=max_r_squared)",
        ".198",
        "SAW-C A.3",
        reproducible=False,
        remark="the English distances by layer were never published",
    ),
    _saw(
        "spearman",
        ".79",
        "SAW-C A.4",
        subject="gpt-4-turbo",
        reproducible=False,
        remark="the ratings of this chat model were not published",
    ),
)

# Table 3: token difference within a pair (mean, mode, max) and tokens per target, where the exact print is known.
_TABLE_3 = {
    "bert-base-spanish-wwm-cased": (".682", "1", "3", "1.07"),
}
_MBERT = _saw(
    "token_difference(summary=mean)",
    ".997",
    "SAW-C Table 3",
    subject="bert-base-multilingual-cased",
    remark="the paper's digits are cut off, not rounded",
)


def _table_3() -> tuple[PublishedValue, ...]:
    values = []
    for subject, (mean, mode, most, target) in _TABLE_3.items():
        printed = {
            "token_difference(summary=mean)": mean,
            "token_difference(summary=mode)": mode,
            "token_difference(summary=max)": most,
            "target_tokens(mean_over=words)": target,
        }
        values += [_saw(statistic, text, "SAW-C Table 3", subject=subject) for statistic, text in printed.items()]
    return tuple(values)


def _raw(statistic: str, printed: str, place: str, **more: object) -> PublishedValue:
    return PublishedValue(statistic, printed, place, dataset="raw_c", **more)  # type: ignore[arg-type]


RAW_C: tuple[PublishedValue, ...] = (
    _raw("n_items", "672", "RAW-C §3"),
    _raw("n_words", "112", "RAW-C §3"),
    _raw("n_participants", "77", "RAW-C §3"),
    _raw("leave_one_out_agreement(method=spearman,summary=mean)", ".79", "RAW-C §4"),
    _raw("spearman", "-.58", "RAW-C §5", subject="bert"),
    _raw("spearman", "-.53", "RAW-C §5", subject="elmo"),
    _raw(
        "chi2(test=same,df=1)",
        "207.11",
        "RAW-C §4",
        remark="the authors' optimiser stopped at a local optimum of the reduced model; its best optimum gives 183.05",
    ),
)

PUBLISHED: dict[str, tuple[PublishedValue, ...]] = {"saw_c": (*SAW_C, *_table_3(), _MBERT), "raw_c": RAW_C}
