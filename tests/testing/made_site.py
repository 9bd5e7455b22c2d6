"""A distribution of another author, installed in a folder: sound, or with faults written into its files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ..every.made_places import install

STUDY = Path(__file__).parents[1] / "sixth" / "graded.py"


def installed(site: Path, patch: pytest.MonkeyPatch, name: str, changes: Sequence[tuple[str, str, str]] = ()) -> str:
    """Install a distribution under a name of its own, put its folder on ``sys.path``, and return that name.

    Its four entry points are ``NAME_norms``, ``NAME_question``, ``NAME_counts`` and ``NAME_survey``; the study is the
    one of ``tests/sixth``. *changes*: the name of a file, an old text, and the new one that replaces it.
    """
    install(site, distribution=name, name=f"{name}_{{kind}}")
    package = site / name
    (package / "survey.py").write_text(STUDY.read_text(encoding="utf-8"), encoding="utf-8")
    counts = (package / "counts.py").read_text(encoding="utf-8")
    (package / "counts.py").write_text(counts.replace('kind = "counts"', f'kind = "{name}_counts"'), encoding="utf-8")
    for file, old, new in changes:
        text = (package / f"{file}.py").read_text(encoding="utf-8")
        assert old in text, (file, old)
        (package / f"{file}.py").write_text(text.replace(old, new), encoding="utf-8")
    patch.syspath_prepend(site)
    return name
