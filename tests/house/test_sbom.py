"""W19: the bill of materials and the lock file say what would be installed, and name no place to get it from."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ENVIRONMENT = {"sys_platform": "linux", "platform_machine": "x86_64", "python_version": "3.11"}


def entry(name: str, version: str, *needs: str, extras: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    """One package as pip reports it."""
    place = {"url": f"https://index.example/{name}.whl", "archive_info": {"hashes": {"sha256": name[0] * 64}}}
    metadata = {"name": name, "version": version, "requires_dist": list(needs), **more}
    return {"metadata": metadata, "download_info": place, "requested_extras": list(extras)}


REPORT = {
    "environment": ENVIRONMENT,
    "install": [
        entry("lexiscope", "1.0", "B_b>=1", 'c; extra == "annotate"', 'd; extra == "models"', extras=("annotate",)),
        entry("c", "3", 'B-b; sys_platform == "win32"', classifier=["License :: OSI Approved :: MIT License"]),
        entry("B.b", "2", license="BSD 3-Clause License\n\nCopyright"),
        entry("d", "4", "c", license_expression="MIT"),
    ],
}


@pytest.fixture(scope="module")
def sbom(root: Path) -> ModuleType:
    """The script of ``make sbom``."""
    spec = importlib.util.spec_from_file_location("make_sbom", root / "docs" / "make_sbom.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_bill_names_every_part(sbom: ModuleType) -> None:
    """Version, hash and licence of each part, and who needs whom with the extras and on the platform of the report."""
    made = sbom.bill_of_materials(REPORT)
    parts = {one["name"]: (one["purl"], one["hashes"][0]["content"][0], one["licenses"]) for one in made["components"]}
    assert parts == {
        "B.b": ("pkg:pypi/b-b@2", "B", [{"license": {"name": "BSD 3-Clause License"}}]),
        "c": ("pkg:pypi/c@3", "c", [{"license": {"name": "MIT License"}}]),
        "d": ("pkg:pypi/d@4", "d", [{"expression": "MIT"}]),
    }
    assert {one["ref"]: one["dependsOn"] for one in made["dependencies"]} == {
        "pkg:pypi/lexiscope@1.0": ["pkg:pypi/b-b@2", "pkg:pypi/c@3"],
        "pkg:pypi/b-b@2": [],
        "pkg:pypi/c@3": [],
        "pkg:pypi/d@4": ["pkg:pypi/c@3"],
    }
    assert "index.example" not in str(made) + sbom.lock_file(REPORT)


def test_the_lock_file_fits_the_project(sbom: ModuleType, root: Path) -> None:
    """Every package that the server asks for is locked with a hash, in a version that the project allows."""
    lines = [line for line in sbom.LOCK.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    locked = {}
    for line in lines:
        found = re.fullmatch(r"([a-z0-9-]+)==(\S+) --hash=sha256:[0-9a-f]{64}", line)
        assert found is not None, line
        locked[found[1]] = found[2]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [Requirement(text) for text in (*project["dependencies"], *extras["annotate"], *extras["postgres"])]
    for one in asked:
        if canonicalize_name(one.name) != "lexiscope" and (one.marker is None or one.marker.evaluate(ENVIRONMENT)):
            assert one.specifier.contains(locked[canonicalize_name(one.name)]), one
