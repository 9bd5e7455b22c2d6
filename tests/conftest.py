"""Fixtures that all tests share."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

# how long an example takes is the machine's affair: a test that is slow under load has found nothing
settings.register_profile("lexiscope", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("lexiscope")

# ten thousand tests and the modules that they import stay to the end: looking for garbage among them, again and again,
# took a quarter of the time of their collection
gc.disable()

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples only in those files of tests that hold any: pytest would look at every name of every file."""
    found = yield
    if any(isinstance(each, DoctestModule) for each in found) and ">>> " not in file_path.read_text(encoding="utf-8"):
        return [each for each in found if not isinstance(each, DoctestModule)]
    return found


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the files that take longest: a file is one worker's, and the last ones should not keep one busy alone.

    ``slow_files.txt`` names them, dearest first; a name that is no file is an error.
    """
    listed = Path(__file__).with_name("slow_files.txt")
    # a copy of this file beside a few of the tests has no list
    names = listed.read_text(encoding="utf-8").split() if listed.is_file() else []
    gone = [name for name in names if not (config.rootpath / name).is_file()]
    if gone:
        raise pytest.UsageError(f"tests/slow_files.txt names files that are not there: {', '.join(gone)}")
    place = {config.rootpath / name: number for number, name in enumerate(names)}
    items.sort(key=lambda item: place.get(item.path, len(place)))


def pytest_collection_finish() -> None:
    """Leave what was collected out of every later search for garbage."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def published() -> Path:
    """The folder of published data; a test that asks for it is skipped only where LEXISCOPE_DATA is unset."""
    folder = os.environ.get("LEXISCOPE_DATA")
    if not folder:
        pytest.skip("LEXISCOPE_DATA is not set: the published data are not at hand")
    return Path(folder)
