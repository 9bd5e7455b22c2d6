"""No feature is lost, and the list of features is complete: ``features.txt`` is what the package offers."""

from __future__ import annotations

from pathlib import Path

import pytest

from .features import offered

LISTED = Path(__file__).with_name("features.txt")


def difference(listed: list[str], now: list[str]) -> str:
    """Return what to do where the list and the package differ; empty where they do not.

    >>> print(difference(["verb agree", "verb check"], ["verb check", "verb norm"]))
    lost: verb agree (restore it, or take its line out of features.txt and say why in CHANGELOG.md)
    not listed: verb norm (add the line to features.txt)
    """
    lost = [
        f"lost: {line} (restore it, or take its line out of {LISTED.name} and say why in CHANGELOG.md)"
        for line in sorted({*listed} - {*now})
    ]
    return "\n".join(
        [*lost, *(f"not listed: {line} (add the line to {LISTED.name})" for line in sorted({*now} - {*listed}))]
    )


def test_no_feature_is_lost() -> None:
    """Every verb, option and choice, every dataset, task, subject, study, setting, statistic, code and file is listed.

    The list is read by people: one feature a line, sorted. ``python tests/every/features.py`` prints it.
    """
    listed = LISTED.read_text(encoding="utf-8").splitlines()
    assert listed == sorted({*listed})
    found = difference(listed, offered())
    if found:
        pytest.fail(found, pytrace=False)


def test_a_difference_says_what_to_do() -> None:
    """A line that the package no longer has is lost; one that only the package has is to be added."""
    assert difference(["verb agree"], ["verb agree"]) == ""
    lost, added = difference(["verb agree", "verb check"], ["verb check", "verb norm"]).splitlines()
    assert lost.startswith("lost: verb agree (restore it")
    assert added == "not listed: verb norm (add the line to features.txt)"
