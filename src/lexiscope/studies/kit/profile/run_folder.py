"""A profile on disk: its numbers, tables, drawings and page, sealed like every run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from lexiscope.collect import CollectProgress
from lexiscope.core.item import items_sha256
from lexiscope.core.result import to_json
from lexiscope.core.run import folder_lock, versions, write_atomically
from lexiscope.core.sealed import seal_run
from lexiscope.core.settings import Option
from lexiscope.core.subject import Subject
from lexiscope.report.marks.canvas import to_bytes
from lexiscope.report.marks.drawing import WIDE
from lexiscope.report.page.html import drawing_csv
from lexiscope.report.page.table_files import to_latex
from lexiscope.report.profile.content import ShownCell, ShownLine, ShownModel, ShownProfile, Value
from lexiscope.report.profile.page import profile_drawings, render_profile
from lexiscope.report.tables import BOUNDED, INTEGER, Cell, IntervalCell, Missing, Table, table_of, to_csv
from lexiscope.studies.kit.profile.battery import DEFAULT, Battery
from lexiscope.studies.kit.profile.profiled import Profile, profile_models
from lexiscope.studies.kit.profile.shown import shown_profile

PAGE, RESULTS = "report.html", "results.json"


def profile(
    models: Sequence[Subject | str] | Subject | str,
    *,
    battery: Battery | Path | str = DEFAULT,
    out: Path | str | None = None,
    cache: Path | str | None = None,
    any_language: bool = False,
    seed: Annotated[int, Option("seed of the folds and of the resamples", least=0)] = 0,
    progress: CollectProgress | None = None,
) -> Profile:
    """Return what models know of words, line by line, as a share of what people attain.

    *models* are subjects, their specs (``encoder:minilm``), or names of models whose answers were published with the
    data (``gpt-4``); *battery* is ``mini`` (embedded items, no network), ``core-2026.1`` (published data), or a YAML
    file. With *out*, the numbers, tables, drawings and the page are written to that folder. *cache* is the folder in
    which answers are kept, by content: the same model is not asked twice.
    Errors: those of :func:`~lexiscope.studies.kit.profile.profiled.profile_models`.
    """
    kept = None if cache is None else Path(cache)
    made = profile_models(
        models, battery=battery, cache=kept, any_language=any_language, seed=seed, progress=progress
    )  # fmt: skip
    if out is not None:
        write_profile(made, Path(out))
    return made


def write_profile(profile: Profile, out: Path, *, command: Sequence[str] = ()) -> Path:
    """Write a profile into a folder and return the path of its page; the same profile gives the same files.

    Errors: :class:`RunError` where another process writes to the folder.
    """
    shown = shown_profile(profile)
    files: dict[str, str | bytes] = {RESULTS: to_json(profile.records()), PAGE: render_profile(shown)}
    for table in profile_tables(shown):
        files |= {f"tables/{table.name}.csv": to_csv(table), f"tables/{table.name}.tex": to_latex(table)}
    for drawing in profile_drawings(shown):
        files[f"figures/{drawing.name}.csv"] = drawing_csv(drawing)
        files[f"figures/{drawing.name}.svg"] = to_bytes(drawing.draw(WIDE), "svg")
    with folder_lock(out):
        for name, content in files.items():
            write_atomically(out / name, content)
        seal_run(out, _record(profile, command), files)
    return out / PAGE


def _record(profile: Profile, command: Sequence[str]) -> dict[str, object]:
    battery = profile.battery
    return {
        "command": list(command),
        "profile": [model.id for model in profile.models],
        "battery": {"name": battery.name, "version": battery.version, "sha256": battery.sha256},
        "seed": profile.seed,
        "items": {
            name: {"n": len(line.items), "sha256": items_sha256(line.items)} for name, line in profile.asked.items()
        },
        "revisions": {model.id: model.facts.revision for model in profile.models},
        "versions": versions(),
    }  # fmt: skip


def profile_tables(shown: ShownProfile) -> tuple[Table, ...]:
    """Return the tables of a profile: every line of every model, and the families."""
    rows = [(model, line) for model in shown.models for line in shown.lines]
    families = [(model, family) for model in shown.models for family in model.families]
    lines = table_of(
        "lines",
        f"Lines of the battery {shown.battery}",
        rows,
        {
            "Model": lambda row: row[0].title,
            "BatteryLine": lambda row: row[1].title,
            ("Items", INTEGER): lambda row: row[1].n_items or None,
            ("Words", INTEGER): lambda row: row[1].n_words or None,
            ("Chance", BOUNDED): lambda row: row[1].chance if row[1].n_items else None,
            ("One person", BOUNDED): lambda row: _person(row[1], "person"),
            ("Mean of people", BOUNDED): lambda row: _person(row[1], "mean"),
            ("Ceiling", BOUNDED): lambda row: _person(row[1], "ceiling"),
            "Statistic": lambda row: row[1].statistic,
            ("Model’s value", BOUNDED): lambda row: _number(_cell(row), _cell(row).value),
            ("Share of the attainable", BOUNDED): lambda row: _number(_cell(row), _cell(row).share),
            ("Refusals", INTEGER): lambda row: _cell(row).refused if _cell(row).value else None,
            ("Lowest", BOUNDED): lambda row: min((v.value for v in _cell(row).variants), default=None),
            ("Highest", BOUNDED): lambda row: max((v.value for v in _cell(row).variants), default=None),
        },
    )
    by_family = table_of(
        "families",
        f"Families of the battery {shown.battery}",
        families,
        {
            "Model": lambda row: row[0].title,
            "Family": lambda row: row[1].title,
            ("Share of the attainable", BOUNDED): lambda row: (
                Missing(row[1].why) if row[1].share is None else _interval(row[1].share)
            ),
            ("Lines with a number", INTEGER): lambda row: len(row[1].parts),
            ("Lines", INTEGER): lambda row: row[1].n_lines,
        },
    )
    return lines, by_family


def _cell(row: tuple[ShownModel, ShownLine]) -> ShownCell:
    return row[0].cells[row[1].id]


def _person(line: ShownLine, who: str) -> float | None:
    named = getattr(line, who)
    return None if named is None else float(named.value.value)


def _number(cell: ShownCell, value: Value | None) -> Cell:
    if value is None:
        return Missing(f"{cell.gap}: {cell.why}" if cell.gap else "no ceiling")
    return _interval(value)


def _interval(value: Value) -> Cell:
    if value.low is None or value.high is None:
        return value.value
    return IntervalCell(value.low, value.high, value.value)
