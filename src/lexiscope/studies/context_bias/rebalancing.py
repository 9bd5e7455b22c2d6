"""Re-balancing a user's file: the items that no part of the input solves, and the same audit of these (§4, §5)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from lexiscope.collect import CollectProgress
from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.result import Record, read_records
from lexiscope.items.read.labelled_file import read_labelled
from lexiscope.items.tables.tabular import write_items
from lexiscope.studies.context_bias.settings import ContextBiasSettings
from lexiscope.training.cues.rebalance import Rebalancing, rebalance

FILTER = "words and characters"
"""The subject that chooses the items: what it says of them afterwards is no evidence."""


def rebalanced_folder(out: Path) -> Path:
    """Return the folder of the audit of what is left, next to that of the file."""
    return out.with_name(f"{out.name}_rebalanced")


def rebalanced_audit(
    settings: ContextBiasSettings, out: Path, target: Path, *, progress: CollectProgress | None = None
) -> tuple[Rebalancing, tuple[Record, ...]]:
    """Write the items of a file that no part of the input solves; return what was removed, and the audit of the rest.

    A column split is kept; the filter learns from all items in folds. If nothing is removed nothing is audited.
    Errors: :class:`InputError` for a target that is the audited file; those of the filter and study.
    """
    if target.resolve() == Path(settings.items).resolve():
        raise InputError(f"{target} is the file that is audited", hint="give --rebalance another name")
    file = read_labelled(Path(settings.items), language=settings.language)
    labelled = tuple(item for item in file.items if item.gold is not None)
    result = rebalance(labelled, seed=settings.seed, progress=progress)
    write_items(result.kept, target)
    if not result.removed:
        return result, ()
    folder = rebalanced_folder(out)
    command = f"lexiscope bias {target} --out {folder}"
    study: Any = catalog.study(settings.study)
    study.run(replace(settings, items=str(target)), folder, progress=progress, command=command)
    return result, read_records(folder / "results.json")
