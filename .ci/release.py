"""Make a release from a clean checkout: version, changelog, tests, files, bill of materials, checksums, commit, tag.

    python .ci/release.py 0.2.0 --dry-run     everything but the tests, in a clone in a temporary folder
    python .ci/release.py 0.2.0               the same here, with the tests; nothing is pushed and nothing is uploaded

It needs the extra ``release``. Each step is a function, or a command of ``TESTS`` and ``COMMANDS``. Commit and tag are
the last steps. The first failure ends the release; but for ``dist``, the checkout is then as it was.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

VERSIONED = {
    "pyproject.toml": r'^version = "(.+)"$',
    "src/lexiscope/__init__.py": r'^__version__ = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
}
"""The files that have the version, and the line that has it."""
TESTS = (("bash", ".ci/run"),)
"""What must succeed before a release, on the files as they will be tagged."""
COMMANDS = (
    (sys.executable, "-m", "build", "--outdir", "dist", "."),
    (sys.executable, "-m", "twine", "check", "--strict", "dist/*.whl", "dist/*.tar.gz"),
    ("make", "sbom"),
)
"""What makes and checks the files of a release, in the folder of the checkout."""
BILL = "sbom.cdx.json"
"""The bill of materials, which ``make sbom`` writes."""
SUMS = "SHA256SUMS"
_UNRELEASED = "## [Unreleased]\n"
_FIRST = re.compile(r"^The first version, \S+, is not released yet\.\n\n?", re.MULTILINE)
"""What the changelog says until its first release."""


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

    The sentence that the first version is not released goes.

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
    return f"{before}{_UNRELEASED}\n## [{version}] - {day}\n{_FIRST.sub('', after)}"


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
    target = dist / SUMS
    files = sorted(path for path in dist.iterdir() if path.is_file() and path != target)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    target.write_text("".join(lines), encoding="utf-8")
    return target


def check_bill(folder: Path) -> None:
    """Check that the bill of materials lists packages of the lock file only. Errors: :class:`ReleaseError`."""
    path = folder / "dist" / BILL
    if not path.exists():
        raise ReleaseError(f"there is no bill of materials dist/{BILL}")
    listed = {normalised(part["name"]) for part in json.loads(path.read_text(encoding="utf-8"))["components"]}
    lock = (folder / "requirements.lock").read_text(encoding="utf-8")
    others = listed - {normalised(name) for name in re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)}
    if not listed:
        raise ReleaseError(f"dist/{BILL} is empty")
    if others:
        raise ReleaseError(f"dist/{BILL} has packages that requirements.lock has not: {sorted(others)}")


def normalised(name: str) -> str:
    """Return the name of a package as the index compares it.

    >>> normalised("Ruamel.YAML")
    'ruamel-yaml'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def make_release(
    folder: Path, version: str, *, tests: Sequence[Sequence[str]] = TESTS, commands: Sequence[Sequence[str]] = COMMANDS
) -> Path:
    """Make a release in a checkout: the files in ``dist``, commit and tag; return the file of checksums.

    Errors: :class:`ReleaseError` from the checks, and from a command that fails. But for ``dist``, the checkout
    is then as it was.
    """
    check_checkout(folder, version)
    head, moment = git(folder, "rev-parse", "HEAD"), datetime.now(UTC)
    dist = folder / "dist"
    # the files of an archive have the time of the commit: the same commit gives the same archive
    seconds = int(moment.timestamp())
    date = f"{seconds} +0000"
    dated = os.environ | {"SOURCE_DATE_EPOCH": f"{seconds}", "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    try:
        set_version(folder, version, f"{moment:%Y-%m-%d}")
        run_commands(folder, tests, os.environ)
        # the tests build a package, too
        dist.mkdir(exist_ok=True)
        for path in dist.iterdir():
            path.unlink()
        run_commands(folder, commands, dated)
        check_bill(folder)
        changed = git(folder, "diff", "--name-only", "HEAD").splitlines()
        changed += git(folder, "ls-files", "--others", "--exclude-standard").splitlines()
        if others := sorted({*changed} - {*VERSIONED, "CHANGELOG.md"}):
            raise ReleaseError(f"tests or commands changed files: {others}")
        sums = write_checksums(dist)
        git(folder, "commit", "--quiet", "--all", "--message", f"Release {version}", environment=dated)
        git(folder, "tag", "--annotate", f"v{version}", "--message", f"Lexiscope {version}", environment=dated)
    except BaseException:
        # the checkout had no changes: none is lost
        git(folder, "reset", "--quiet", "--hard", head)
        (dist / SUMS).unlink(missing_ok=True)
        raise
    return sums


def run_commands(folder: Path, commands: Sequence[Sequence[str]], environment: Mapping[str, str]) -> None:
    """Run commands in the folder; a word with ``*`` is the files that it matches.

    Errors: :class:`ReleaseError` naming the first that fails.
    """
    for command in commands:
        words = [str(match) for word in command for match in (sorted(folder.glob(word)) if "*" in word else [word])]
        if subprocess.run(words, cwd=folder, env=environment).returncode:
            raise ReleaseError(f"this command failed: {' '.join(command)}")


def git(folder: Path, *words: str, environment: Mapping[str, str] | None = None) -> str:
    """Return what a git command prints. Errors: :class:`ReleaseError` with its message."""
    done = subprocess.run(["git", *words], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise ReleaseError(f"git {words[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def main(arguments: Sequence[str] | None = None) -> int:
    """Make a release of this checkout, or of a clone of it; return the exit status."""
    parser = argparse.ArgumentParser(description="Make a release: version, changelog, tests, files, checksums, tag.")
    parser.add_argument("version", help="three numbers, as 0.2.0")
    parser.add_argument("--dry-run", action="store_true", help="in a clone that is deleted then, without the tests")
    given = parser.parse_args(arguments)
    checkout = Path(__file__).resolve().parents[1]
    try:
        if given.dry_run:
            with tempfile.TemporaryDirectory() as name:
                check_checkout(checkout, given.version)
                clone = Path(name) / "lexiscope"
                git(checkout, "clone", "--quiet", "--no-hardlinks", str(checkout), str(clone))
                sys.stdout.write(make_release(clone, given.version, tests=()).read_text(encoding="utf-8"))
            sys.stdout.write("Dry run: this checkout was not changed, and the tests did not run.\n")
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
