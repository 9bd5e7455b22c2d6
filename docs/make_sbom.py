"""Write what a release is made of: a bill of materials (CycloneDX 1.6) and a list of versions with their hashes.

``make sbom`` runs this file on the report of pip (``pip install --dry-run --report``), which has for every package its
version, licence, requirements and the SHA-256 of the file that would be installed. Neither file names where packages
come from: ``pip install --require-hashes -r requirements.lock`` asks whatever index is set up.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
_HEAD = """\
# The versions that lexiscope[annotate,postgres] was last tested with, and the hashes of their files: CPython {python},
# {platform}. Made by `make sbom`; for other platforms run it there.
"""
Report = Mapping[str, Any]


def packages(report: Report) -> dict[str, Mapping[str, Any]]:
    """Return pip's entries by canonical name, in alphabetical order."""
    found = {canonicalize_name(one["metadata"]["name"]): one for one in report["install"]}
    return dict(sorted(found.items()))


def lock_file(report: Report) -> str:
    """Return the versions with their hashes; the program itself is not among them."""
    environment = report["environment"]
    platform = f"{environment['sys_platform']} {environment['platform_machine']}"
    lines = [_HEAD.format(python=environment["python_version"], platform=platform)]
    for name, one in packages(report).items():
        if name != "lexiscope":
            lines.append(f"{name}=={one['metadata']['version']} --hash=sha256:{_sha256(one)}\n")
    return "".join(lines)


def bill_of_materials(report: Report) -> dict[str, Any]:
    """Return the CycloneDX document."""
    found = packages(report)
    program = found["lexiscope"]["metadata"]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", **_named(program), "licenses": _licences(program)}},
        "components": [_component(one) for name, one in found.items() if name != "lexiscope"],
        "dependencies": [
            {"ref": _purl(one["metadata"]), "dependsOn": sorted(_needs(one, found, report["environment"]))}
            for one in found.values()
        ],
    }


def _component(one: Mapping[str, Any]) -> dict[str, Any]:
    metadata = one["metadata"]
    hashes = [{"alg": "SHA-256", "content": _sha256(one)}]
    return {"type": "library", **_named(metadata), "hashes": hashes, "licenses": _licences(metadata)}


def _named(metadata: Mapping[str, Any]) -> dict[str, str]:
    purl = _purl(metadata)
    return {"bom-ref": purl, "name": metadata["name"], "version": metadata["version"], "purl": purl}


def _purl(metadata: Mapping[str, Any]) -> str:
    return f"pkg:pypi/{canonicalize_name(metadata['name'])}@{metadata['version']}"


def _sha256(one: Mapping[str, Any]) -> str:
    return str(one["download_info"]["archive_info"]["hashes"]["sha256"])


def _licences(metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    if metadata.get("license_expression"):
        return [{"expression": metadata["license_expression"]}]
    classified = [one.rpartition(" :: ")[2] for one in metadata.get("classifier", ()) if one.startswith("License ::")]
    # some packages give the whole text; its first line says which it is
    written = (metadata.get("license") or "").strip().partition("\n")[0]
    return [{"license": {"name": name}} for name in classified or [written or "not stated"]]


def _needs(one: Mapping[str, Any], found: Mapping[str, Any], environment: Mapping[str, str]) -> set[str]:
    """What a package asks for, with the extras that were asked of it, as far as it would be installed here."""
    needed = set()
    for text in one["metadata"].get("requires_dist", ()):
        asked = Requirement(text)
        name = canonicalize_name(asked.name)
        extras = ["", *one.get("requested_extras", ())]
        holds = asked.marker is None or any(asked.marker.evaluate({**environment, "extra": each}) for each in extras)
        if holds and name in found and found[name] is not one:
            needed.add(_purl(found[name]["metadata"]))
    return needed


def main() -> None:
    """Read pip's report; write the two files."""
    report = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    LOCK.write_text(lock_file(report), encoding="utf-8")
    Path(sys.argv[2]).write_text(f"{json.dumps(bill_of_materials(report), indent=1)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
