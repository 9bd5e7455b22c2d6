"""Make a release from a clean checkout: version, changelog, tag, files, bill of materials, checksums.

    python .ci/release.py 0.2.0 --dry-run     everything, in a clone in a temporary folder; the checkout stays as it is
    python .ci/release.py 0.2.0               the same here; nothing is pushed and nothing is uploaded

It needs the extra ``release``. Each step is a function or a command of ``COMMANDS``, and the first failure ends the
release; up to the tag, ``git reset --hard`` undoes it.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

VERSIONED = {
    "pyproject.toml": r'^version = "(.+)"$',
    "src/lexiscope/__init__.py": r'^__version__ = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
}
"""The files that have the version, and the line that has it."""
COMMANDS = (
    (sys.executable, "-m", "build", "--outdir", "dist", "."),
    (sys.executable, "-m", "twine", "check", "--strict", "dist/*.whl", "dist/*.tar.gz"),
    ("make", "sbom"),
)
"""What makes and checks the files of a release, in the folder of the checkout."""
_UNRELEASED = "## [Unreleased]\n"


class ReleaseError(Exception):
    """What keeps a release from being made, as one sentence."""


def version_key(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, for comparison. Errors: :class:`ReleaseError` unless it is three numbers.

    >>> version_key("0.10.0") > version_key("0.9.3")
    True
    """
    if not re.fullmatch(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", version):
        raise ReleaseError(f"{version!r} is not a version: write three numbers, as 0.2.0")
    return tuple(map(int, version.split(".")))


def stated_version(folder: Path) -> str:
    """Return the version that the files state. Errors: :class:`ReleaseError` if they differ."""
    stated = {}
    for name, pattern in VERSIONED.items():
        lines = re.findall(pattern, (folder / name).read_text(encoding="utf-8"), re.MULTILINE)
        stated[name] = lines[0] if len(lines) == 1 else f"{len(lines)} lines"
    if len({*stated.values()}) != 1:
        raise ReleaseError(f"the files state different versions: {stated}")
    return next(iter(stated.values()))


def released_changelog(text: str, version: str, day: str) -> str:
    """Return the changelog with its unreleased entries under a version, and an empty section above them.

    >>> print(released_changelog("# C\\n\\n## [Unreleased]\\n\\n### Added\\n\\n- a\\n", "0.2.0", "2026-12-01"))
    # C
    <BLANKLINE>
    ## [Unreleased]
    <BLANKLINE>
    ## [0.2.0] - 2026-12-01
    <BLANKLINE>
    ### Added
    <BLANKLINE>
    - a
    <BLANKLINE>

    Errors: :class:`ReleaseError` without entries, or if the version has a section.
    """
    before, heading, after = text.partition(_UNRELEASED)
    entries = re.split(r"^## ", after, maxsplit=1, flags=re.MULTILINE)[0]
    if not heading or not re.search(r"^- ", entries, re.MULTILINE):
        raise ReleaseError("CHANGELOG.md has no entries under Unreleased")
    if f"## [{version}]" in text:
        raise ReleaseError(f"CHANGELOG.md has a section of {version}")
    return f"{before}{_UNRELEASED}\n## [{version}] - {day}\n{after}"


def set_version(folder: Path, version: str, day: str) -> None:
    """Write the version and the changelog of a release."""
    for name, pattern in VERSIONED.items():
        path = folder / name
        text = path.read_text(encoding="utf-8")
        line = re.search(pattern, text, re.MULTILINE)
        assert line is not None
        path.write_text(text[: line.start(1)] + version + text[line.end(1) :], encoding="utf-8")
    path = folder / "CHANGELOG.md"
    path.write_text(released_changelog(path.read_text(encoding="utf-8"), version, day), encoding="utf-8")


def check_checkout(folder: Path, version: str) -> None:
    """Check that a release can be made. Errors: :class:`ReleaseError` with what is in the way."""
    stated = stated_version(folder)
    tags = git(folder, "tag", "--list", f"v{version}")
    # the first release has the version that the files state from the beginning
    if version_key(version) < version_key(stated) or (version == stated and git(folder, "tag", "--list", f"v{stated}")):
        raise ReleaseError(f"{version} does not follow {stated}")
    if tags:
        raise ReleaseError(f"there is a tag v{version}")
    changed = git(folder, "status", "--porcelain")
    if changed:
        raise ReleaseError(f"the checkout has uncommitted changes:\n{changed}")


def write_checksums(dist: Path) -> Path:
    """Write ``SHA256SUMS`` of every file in the folder, as ``sha256sum --check`` reads it; return its path."""
    target = dist / "SHA256SUMS"
    files = sorted(path for path in dist.iterdir() if path.is_file() and path != target)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    target.write_text("".join(lines), encoding="utf-8")
    return target


def make_release(folder: Path, version: str, *, commands: Sequence[Sequence[str]] = COMMANDS) -> Path:
    """Make a release in a checkout: commit, tag, and the files in ``dist``; return the file of checksums.

    Errors: :class:`ReleaseError` from the checks, and from a command that fails.
    """
    check_checkout(folder, version)
    set_version(folder, version, f"{datetime.now(UTC):%Y-%m-%d}")
    git(folder, "commit", "--quiet", "--all", "--message", f"Release {version}")
    git(folder, "tag", "--annotate", f"v{version}", "--message", f"Lexiscope {version}")
    dist = folder / "dist"
    dist.mkdir(exist_ok=True)
    for path in dist.iterdir():
        path.unlink()
    # the files of an archive have the time of the commit: the same commit gives the same archive
    environment = os.environ | {"SOURCE_DATE_EPOCH": git(folder, "log", "-1", "--format=%ct")}
    for command in commands:
        words = [str(match) for word in command for match in (sorted(folder.glob(word)) if "*" in word else [word])]
        if subprocess.run(words, cwd=folder, env=environment).returncode:
            raise ReleaseError(f"this command failed: {' '.join(command)}")
    return write_checksums(dist)


def git(folder: Path, *words: str) -> str:
    """Return what a git command prints. Errors: :class:`ReleaseError` with its message."""
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise ReleaseError(f"git {words[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def main(arguments: Sequence[str] | None = None) -> int:
    """Make a release of this checkout, or of a clone of it; return the exit status."""
    parser = argparse.ArgumentParser(description="Make a release: version, changelog, tag, files, checksums.")
    parser.add_argument("version", help="three numbers, as 0.2.0")
    parser.add_argument("--dry-run", action="store_true", help="do it in a clone that is deleted afterwards")
    given = parser.parse_args(arguments)
    checkout = Path(__file__).resolve().parents[1]
    try:
        if given.dry_run:
            with tempfile.TemporaryDirectory() as name:
                check_checkout(checkout, given.version)
                clone = Path(name) / "lexiscope"
                git(checkout, "clone", "--quiet", "--no-hardlinks", str(checkout), str(clone))
                sys.stdout.write(make_release(clone, given.version).read_text(encoding="utf-8"))
            sys.stdout.write("Dry run: this checkout was not changed.\n")
            return 0
        sys.stdout.write(make_release(checkout, given.version).read_text(encoding="utf-8"))
    except ReleaseError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(
        f"Next: git push origin HEAD v{given.version}; then upload dist/*.whl and dist/*.tar.gz (twine).\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
