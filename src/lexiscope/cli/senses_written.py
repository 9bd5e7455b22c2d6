"""The folder that a test of induced senses is written to: items, what was left out, the vectors' own answers."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexiscope.collect import collect_run
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.run import manifest, versions
from lexiscope.core.sealed import write_sealed
from lexiscope.items.tables.left_out import LeftOut, write_left_out
from lexiscope.items.tables.tabular import write_items
from lexiscope.subjects.senses.gasi import Gasi
from lexiscope.subjects.senses.sense_embedding import SenseEmbedding

ITEMS, LEFT_OUT, MODEL, TEST = "items.csv", "left_out.csv", "model", "test.json"


@dataclass(frozen=True, slots=True)
class Made:
    """A test: its task, items, what was left out, the rules, the files it was made of, and the sentences' licence."""

    task: str
    items: tuple[Item, ...]
    left_out: Sequence[LeftOut]
    rules: Mapping[str, Any]
    checksums: Mapping[str, str]
    licence: str = ""


def write_test(out: Path, made: Made, asked: Gasi | SenseEmbedding, *, seed: int) -> None:
    """Write the folder, all of it or nothing.

    Errors: :class:`InputError` where there is no item at all, before anything is written, with the first reason.
    """
    if not made.items:
        why = "; ".join(f"{each.word}: {each.why}" for each in made.left_out[:3]) or "no word was given"
        hint = "name other words, or wider rules: see the options"
        raise InputError("no item can be made of these words and vectors", why=why, hint=hint)
    with whole_folder(out) as folder:
        write_items(made.items, folder / ITEMS)
        write_left_out(folder / LEFT_OUT, made.left_out)
        command = ["lexiscope", *sys.argv[1:]]
        collect_run(made.items, [asked], made.task, out=folder / MODEL, seed=seed, command=command)
        record = {
            "command": command,
            "task": made.task,
            "subject": asked.subject_id,
            "revision": asked.facts.revision,
            "rules": dict(made.rules),
            "seed": seed,
            "n_items": len(made.items),
            "n_left_out": len(made.left_out),
            "data": dict(made.checksums),
            "licence": made.licence,
            "files": manifest(folder, [ITEMS, LEFT_OUT, f"{MODEL}/responses.parquet"]),
            "versions": versions(),
        }
        write_sealed(folder / TEST, record)


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """Give a folder to write into; it becomes *out*, which must not be there, when the block ends, or goes if it fails.

    A full disk, or a command that is stopped, leaves nothing that the same command would find in its way.
    """
    folder = out.with_name(f".{out.name}.part")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
        folder.rename(out)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
