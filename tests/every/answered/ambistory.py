"""ambistory with an answer to each question: simulated ratings, and subjects by rule in several roles."""

from __future__ import annotations

from pathlib import Path

from lexiscope.studies.ambistory.settings import AmbistorySettings

SIMULATED = Path(__file__).parents[2] / "simulated"
ROLES = {"base": ("a", 0, "", 7), "tuned": ("a", 4, "", 7), "small": ("b", 0, "", 1), "large": ("c", 0, "", 70)}
"""Of each rule: the model that it stands for, its worked examples, its base, its parameters."""


def settings(folder: Path) -> AmbistorySettings:
    """Return the settings; the table of the subjects is written into the folder."""
    specs = {name: f"{SIMULATED / 'rules.py'}:{name}" for name in ROLES}
    lines = [",".join([specs[name], *map(str, role)]) for name, role in ROLES.items()]
    table = folder / "models.csv"
    table.write_text("\n".join(["subject,model,shots,base,parameters", *lines]) + "\n", encoding="utf-8")
    return AmbistorySettings(
        dataset=str(SIMULATED / "stories.py"),
        subjects=tuple(specs.values()),
        compare=((specs["tuned"], specs["base"]),),
        models=str(table),
    )
