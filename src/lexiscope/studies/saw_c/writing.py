"""What ``run.json`` says of the material, and the R script with its trials."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.analysis.mixed_data import Column, prepare
from lexiscope.analysis.mixed_formula import read_formula
from lexiscope.analysis.r_script import ModelPair, csv_text, pair_columns, r_script
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.result import Record
from lexiscope.core.run import write_atomically
from lexiscope.core.simulated import KIND_COLUMN, SIMULATED, TOLD_SIMULATED
from lexiscope.report.study_folder import about_run
from lexiscope.studies.saw_c.lmm import REFERENCES
from lexiscope.studies.saw_c.material import Material
from lexiscope.studies.saw_c.plans import Test
from lexiscope.studies.saw_c.settings import SawCSettings


def run_record(material: Material, settings: SawCSettings, records: Sequence[Record]) -> dict[str, Any]:
    """Return the part of ``run.json`` that the report prints: settings, versions, checksums, counts."""
    people = material.ratings
    counts: dict[str, int] = {
        "items": len(material.items),
        "words": len(set(material.words)),
        "responses": len(material.responses),
        "ratings": 0 if people is None else len(people.value),
        "participants": 0 if people is None else people.n_raters,
        "subjects_with_distances": len({d.subject for d in material.distances}),
        "records": len(records),
    }
    exclusions = [] if material.exclusion is None else [asdict(entry) for entry in material.exclusion.log]
    return about_run(
        settings, data=dict(material.checksums), counts=counts, exclusions=json.loads(json.dumps(exclusions))
    )


def write_r(
    out: Path, tests: Sequence[Test], data: Mapping[str, Column], *, simulated: bool = False
) -> tuple[str, ...]:
    """Write ``mixed_models.R`` and the trials that it reads; *data* has every column that the tests name.

    Both say whether the ratings are those of simulated participants. A test whose models these trials do not allow is
    left out; its record says why.
    """
    pairs = [ModelPair(test.name, test.full, test.reduced) for test in tests if _is_fittable(test, data)]
    if not pairs:
        return ()
    columns = pair_columns(pairs)
    trials = data
    if simulated:
        n = len(next(iter(data.values())))
        columns, trials = (*columns, KIND_COLUMN), {**data, KIND_COLUMN: np.array([SIMULATED] * n, dtype=object)}
    write_atomically(out / "r" / "trials.csv", csv_text(trials, columns))
    script = r_script(pairs, data, csv_name="trials.csv", references=REFERENCES)
    if simulated:
        script = f"# Simulated participants: {TOLD_SIMULATED}.\n{script}"
    write_atomically(out / "r" / "mixed_models.R", script)
    return ("r/trials.csv", "r/mixed_models.R")


def distinct_columns(tests: Sequence[Test]) -> tuple[Test, ...]:
    """Return the tests with a column of its own for each subject and layer: one table of trials serves them all."""
    taken: dict[str, tuple[str, int | None]] = {}
    out = []
    for test in tests:
        full, reduced, columns = test.full, test.reduced, []
        for name, subject, layer in test.distances:
            tries = (name if number == 1 else f"{name}_{number}" for number in count(1))
            new = next(own for own in tries if taken.setdefault(own, (subject, layer)) == (subject, layer))
            full, reduced = (re.sub(rf"\b{name}\b", new, formula) for formula in (full, reduced))
            columns.append((new, subject, layer))
        out.append(replace(test, full=full, reduced=reduced, distances=tuple(columns)))
    return tuple(out)


def _is_fittable(test: Test, data: Mapping[str, Column]) -> bool:
    try:
        for formula in (test.full, test.reduced):
            prepare(read_formula(formula), data, references=REFERENCES)
    except (StatisticError, InputError):
        return False
    return True
