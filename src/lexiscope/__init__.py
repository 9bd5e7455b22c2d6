"""People and language models answer the same questions about word meaning; Lexiscope asks, keeps, compares.

The names below are the front door; each is imported when it is first used, so that ``import lexiscope`` stays light.
``lexiscope.collect`` is a module: the function that asks is ``lexiscope.ask``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lexiscope.analysis.agreement.alpha import krippendorff_alpha
    from lexiscope.analysis.agreement.raters import included, leave_one_out
    from lexiscope.analysis.correlation import spearman
    from lexiscope.analysis.layers.layers import r_squared_by_layer
    from lexiscope.analysis.ratings import Ratings
    from lexiscope.collect import ask
    from lexiscope.core.catalog import dataset, subject, task
    from lexiscope.core.dataset import Dataset, DatasetCard
    from lexiscope.core.errors import LexiscopeError
    from lexiscope.core.item import Item
    from lexiscope.core.response import Response, ResponseTable
    from lexiscope.core.result import (
        Contrast,
        Counts,
        Curve,
        Curves,
        Estimate,
        Fit,
        Interval,
        Record,
        Result,
        Undefined,
        read_records,
    )
    from lexiscope.core.scale import Scale
    from lexiscope.core.settings import RatedItemSettings, Settings, option
    from lexiscope.core.usage import Usage
    from lexiscope.items.check.item_file import check_file
    from lexiscope.items.read.importer import import_items
    from lexiscope.items.tables.columns import ColumnMap
    from lexiscope.studies.kit.data import pair, rating
    from lexiscope.studies.kit.front import StudyRun, analyse, compare, study
    from lexiscope.studies.kit.profile.run_folder import profile
    from lexiscope.studies.kit.run import Run
    from lexiscope.studies.kit.study import Study

__version__ = "0.1.0"

__all__ = [
    "ColumnMap",
    "Contrast",
    "Counts",
    "Curve",
    "Curves",
    "Dataset",
    "DatasetCard",
    "Estimate",
    "Fit",
    "Interval",
    "Item",
    "LexiscopeError",
    "RatedItemSettings",
    "Ratings",
    "Record",
    "Response",
    "ResponseTable",
    "Result",
    "Run",
    "Scale",
    "Settings",
    "Study",
    "StudyRun",
    "Undefined",
    "Usage",
    "__version__",
    "analyse",
    "ask",
    "check_file",
    "compare",
    "dataset",
    "import_items",
    "included",
    "krippendorff_alpha",
    "leave_one_out",
    "option",
    "pair",
    "profile",
    "r_squared_by_layer",
    "rating",
    "read_records",
    "spearman",
    "study",
    "subject",
    "task",
]

_MODULES = {
    "analysis.agreement.raters": ("included", "leave_one_out"),
    "analysis.agreement.alpha": ("krippendorff_alpha",),
    "analysis.correlation": ("spearman",),
    "analysis.layers.layers": ("r_squared_by_layer",),
    "analysis.ratings": ("Ratings",),
    "collect": ("ask",),
    "core.catalog": ("dataset", "subject", "task"),
    "core.dataset": ("Dataset", "DatasetCard"),
    "core.errors": ("LexiscopeError",),
    "core.item": ("Item",),
    "core.response": ("Response", "ResponseTable"),
    "core.result": (
        "Contrast",
        "Counts",
        "Curve",
        "Curves",
        "Estimate",
        "Fit",
        "Interval",
        "Record",
        "Result",
        "Undefined",
        "read_records",
    ),
    "core.scale": ("Scale",),
    "core.settings": ("RatedItemSettings", "Settings", "option"),
    "core.usage": ("Usage",),
    "items.check.item_file": ("check_file",),
    "items.tables.columns": ("ColumnMap",),
    "items.read.importer": ("import_items",),
    "studies.kit.data": ("pair", "rating"),
    "studies.kit.front": ("StudyRun", "analyse", "compare", "study"),
    "studies.kit.profile.run_folder": ("profile",),
    "studies.kit.run": ("Run",),
    "studies.kit.study": ("Study",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a name of the front door from its home."""
    if name not in _HOME:
        raise AttributeError(f"module 'lexiscope' has no attribute {name!r}")
    return getattr(import_module(f"lexiscope.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
