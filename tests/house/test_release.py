"""W19: a release has one version everywhere, a tag, checksums, and a lock file that fits the project."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LINUX = {"sys_platform": "linux", "platform_machine": "x86_64", "platform_system": "Linux"}
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


@pytest.fixture(scope="module")
def release(root: Path) -> ModuleType:
    """The release script."""
    spec = importlib.util.spec_from_file_location("release", root / ".ci" / "release.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(release: ModuleType, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with the files of a release and one commit."""
    if shutil.which("git") is None:
        pytest.skip("needs git")
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Test")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "test@example.org")
    folder = tmp_path / "checkout"
    for name in (*release.VERSIONED, "CHANGELOG.md", "requirements.lock"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, folder / name)
    (folder / ".gitignore").write_text("dist/\n")
    release.git(folder.parent, "init", "--quiet", str(folder))
    release.git(folder, "add", "--all")
    release.git(folder, "commit", "--quiet", "--message", "first")
    return folder


def _project(root: Path) -> dict[str, Any]:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert isinstance(project, dict)
    return project


BILL = 'import pathlib; pathlib.Path(\'dist/sbom.cdx.json\').write_text(\'{"components": [{"name": "%s"}]}\')'
"""A command that writes a bill of materials with one package."""
ALEMBIC = (sys.executable, "-c", BILL % "Alembic")


def test_a_release_is_made(release: ModuleType, checkout: Path) -> None:
    """Version and changelog are in the tagged commit, the files are made at the commit's time, and the sums hold.

    The commands that test and build are replaced: the true ones take long, and ask a package index for what they build
    with. The tests see the files as they are released, and leave no file among them.
    """
    tested = "import pathlib; pathlib.Path('dist/tested.whl').write_text(pathlib.Path('CITATION.cff').read_text())"
    tested += "; assert 'version: 0.2.0' in pathlib.Path('dist/tested.whl').read_text()"
    write = "import os, pathlib; pathlib.Path('dist/made.whl').write_text(os.environ['SOURCE_DATE_EPOCH'])"
    seen = "import sys, pathlib; pathlib.Path('dist/seen.txt').write_text(' '.join(sys.argv[1:]))"
    (checkout / "dist").mkdir()
    (checkout / "dist" / "old.whl").touch()
    tests = [(sys.executable, "-c", tested)]
    commands = [(sys.executable, "-c", write), (sys.executable, "-c", seen, "dist/*.whl"), ALEMBIC]
    sums = release.make_release(checkout, "0.2.0", tests=tests, commands=commands)
    assert release.stated_version(checkout) == "0.2.0"
    assert release.git(checkout, "describe") == "v0.2.0"
    assert release.git(checkout, "status", "--porcelain") == ""
    changes = (checkout / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"## \[Unreleased\]\n\n## \[0\.2\.0\] - \d{4}-\d\d-\d\d\n\n", changes)
    assert {path.name for path in sums.parent.iterdir()} == {"made.whl", "seen.txt", "sbom.cdx.json", "SHA256SUMS"}
    assert (checkout / "dist" / "made.whl").read_text() == release.git(checkout, "log", "-1", "--format=%ct")
    assert (checkout / "dist" / "seen.txt").read_text() == str(checkout / "dist" / "made.whl")
    if shutil.which("sha256sum"):
        assert subprocess.run(["sha256sum", "--check", "--quiet", sums.name], cwd=sums.parent).returncode == 0


def test_a_released_changelog_does_not_say_that_it_is_not_released(release: ModuleType, root: Path) -> None:
    """The sentence of the time before the first release goes with it, and no entry does."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    released = release.released_changelog(text, "0.1.0", "2026-12-01")
    assert "is not released yet" not in released
    assert re.findall(r"^- .*", released, re.MULTILINE) == re.findall(r"^- .*", text, re.MULTILINE)
    sentence = "The first version, 0.1.0, is not released yet.\n\n"
    made = release.released_changelog(f"## [Unreleased]\n\n{sentence}### Added\n\n- a\n", "0.1.0", "2026-12-01")
    assert made == "## [Unreleased]\n\n## [0.1.0] - 2026-12-01\n\n### Added\n\n- a\n"


@pytest.mark.parametrize(
    ("version", "change", "why"),
    [
        ("0.2", "", "not a version"),
        ("v0.2.0", "", "not a version"),
        ("0.0.9", "", "does not follow 0.1.0"),
        ("0.2.0", "uncommitted", "uncommitted changes"),
        ("0.2.0", "tag", "there is a tag v0.2.0"),
        ("0.2.0", "citation", "different versions"),
        ("0.2.0", "empty", "no entries under Unreleased"),
    ],
)
def test_a_release_is_refused(release: ModuleType, checkout: Path, version: str, change: str, why: str) -> None:
    """Nothing is committed or tagged if the version, the checkout or the changelog does not allow a release."""
    if change == "uncommitted":
        (checkout / "new.txt").touch()
    elif change == "tag":
        release.git(checkout, "tag", "v0.2.0")
    elif change:
        name, text = {"citation": ("CITATION.cff", "version: 9.9.9\n"), "empty": ("CHANGELOG.md", "# Changelog\n")}[
            change
        ]
        (checkout / name).write_text(text)
        release.git(checkout, "commit", "--quiet", "--all", "--message", "change")
    head = release.git(checkout, "rev-parse", "HEAD")
    with pytest.raises(release.ReleaseError, match=re.escape(why)):
        release.make_release(checkout, version, tests=[], commands=[])
    assert release.git(checkout, "rev-parse", "HEAD") == head
    assert release.git(checkout, "tag") == ("v0.2.0" if change == "tag" else "")


FAILS = (sys.executable, "-c", "raise SystemExit(3)")
LEAVES = (sys.executable, "-c", "open('left.txt', 'w')")


@pytest.mark.parametrize(
    ("tests", "commands", "why"),
    [
        ([FAILS], [ALEMBIC], r"failed: .* raise SystemExit\(3\)"),
        ([], [ALEMBIC, FAILS], r"failed: .* raise SystemExit\(3\)"),
        ([], [], r"no bill of materials dist/sbom\.cdx\.json"),
        ([], [(sys.executable, "-c", BILL % "setuptools")], r"requirements\.lock has not: \['setuptools'\]"),
        ([LEAVES], [ALEMBIC], r"changed files: \['left\.txt'\]"),
    ],
)
def test_a_failure_leaves_the_checkout_as_it_was(
    release: ModuleType, checkout: Path, tests: list[list[str]], commands: list[list[str]], why: str
) -> None:
    """The fault is named. Neither commit, tag nor checksums are left, and the files state the earlier version."""
    head = release.git(checkout, "rev-parse", "HEAD")
    with pytest.raises(release.ReleaseError, match=why):
        release.make_release(checkout, "0.2.0", tests=tests, commands=commands)
    assert release.git(checkout, "rev-parse", "HEAD") == head
    assert release.git(checkout, "tag") == ""
    assert release.git(checkout, "diff", "HEAD") == ""
    assert not (checkout / "dist" / "SHA256SUMS").exists()


def test_a_tag_that_fails_takes_the_commit_back(
    release: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last step fails: the commit of the step before is undone."""
    head, git = release.git(checkout, "rev-parse", "HEAD"), release.git

    def broken(folder: Path, *words: str, **more: Any) -> str:
        if words[:2] == ("tag", "--annotate"):
            raise release.ReleaseError("git tag: no")
        return str(git(folder, *words, **more))

    monkeypatch.setattr(release, "git", broken)
    with pytest.raises(release.ReleaseError, match="git tag: no"):
        release.make_release(checkout, "0.2.0", tests=[], commands=[ALEMBIC])
    assert git(checkout, "rev-parse", "HEAD") == head
    assert git(checkout, "status", "--porcelain") == ""


def test_a_release_runs_what_must_hold(release: ModuleType, root: Path) -> None:
    """A release is tested with the script of continuous integration, and CONTRIBUTING.md says how it is made."""
    assert [(root / name).exists() for _, name in release.TESTS] == [True]
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert "make release VERSION=" in text
    assert ".ci/run" in text


def test_the_files_state_one_version(release: ModuleType, root: Path) -> None:
    """The package, its metadata and its citation have the same version."""
    assert release.stated_version(root) == _project(root)["version"]


def lock_requirements(root: Path, name: str) -> list[tuple[Requirement, list[str]]]:
    """The requirements of a lock file with their hashes."""
    text = (root / name).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(Requirement(line.partition("--hash")[0]), re.findall(r"--hash=sha256:(\w+)", line)) for line in lines]


def locked_versions(root: Path, name: str, environment: dict[str, str]) -> dict[str, str]:
    """The version of each package that a lock file has for an environment; none is there twice."""
    versions: dict[str, str] = {}
    for requirement, _ in lock_requirements(root, name):
        if requirement.marker is None or requirement.marker.evaluate(environment):
            assert canonicalize_name(requirement.name) not in versions, requirement
            versions[canonicalize_name(requirement.name)] = str(requirement.specifier).removeprefix("==")
    return versions


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-build.lock"])
def test_the_lock_file_names_versions_and_hashes(root: Path, name: str) -> None:
    """Every line has one version and the hashes of its files, and no line names where the files come from."""
    for requirement, hashes in lock_requirements(root, name):
        assert re.fullmatch(r"==[^*,]+", str(requirement.specifier)), requirement
        assert requirement.url is None
        assert hashes, requirement
        assert all(len(digest) == 64 for digest in hashes), requirement
    assert "://" not in (root / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_the_lock_file_fits_the_project(root: Path, python: str, system: str) -> None:
    """On each system and Python, each package that the server needs is locked once, in a version that is allowed."""
    environment = LINUX | {"sys_platform": system, "python_version": python, "python_full_version": f"{python}.0"}
    here = locked_versions(root, "requirements.lock", environment)
    project = _project(root)
    extras = project["optional-dependencies"]
    needed = map(Requirement, (*project["dependencies"], *extras["annotate"], *extras["postgres"]))
    for requirement in needed:
        if requirement.name != "lexiscope" and (requirement.marker is None or requirement.marker.evaluate(environment)):
            assert requirement.specifier.contains(here[canonicalize_name(requirement.name)]), requirement
    build = locked_versions(root, "requirements-build.lock", environment)
    built_with = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    for requirement in map(Requirement, built_with):
        assert requirement.specifier.contains(build[canonicalize_name(requirement.name)]), requirement


def test_the_classifiers_are_the_supported_pythons(root: Path) -> None:
    """The oldest is that of requires-python, of the linter and of the types, and the lock file is tested for each."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    prefix = "Programming Language :: Python :: 3."
    listed = [name for name in _project(root)["classifiers"] if name.startswith(prefix)]
    assert [f"3.{name.removeprefix(prefix)}" for name in listed] == [*PYTHONS]
    assert _project(root)["requires-python"] == f">={PYTHONS[0]}"
    assert f'target-version = "py{PYTHONS[0].replace(".", "")}"' in text
    assert f'python_version = "{PYTHONS[0]}"' in text


IN_ANOTHER = """
import ast, pathlib, sys, warnings
warnings.simplefilter("error")
outer, missing = set(sys.argv[2].split(",")), set()
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.py")):
    tree = ast.parse(path.read_bytes(), str(path))
    compile(tree, str(path), "exec")
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
        tops = {name.partition(".")[0] for name in names}
        missing |= {f"{path}: {top}" for top in tops & outer if top not in sys.stdlib_module_names}
print("\\n".join(sorted(missing)))
"""


@pytest.mark.parametrize("python", PYTHONS)
def test_the_sources_compile_on_each_python(root: Path, python: str) -> None:
    """Without a warning, and with every module of the standard library that they import (newer Pythons remove some)."""
    command = shutil.which(f"python{python}")
    if command is None or subprocess.run([command, "--version"], capture_output=True).returncode:
        pytest.skip(f"needs python{python}")
    modules = ",".join(sorted(sys.stdlib_module_names))
    done = subprocess.run([command, "-c", IN_ANOTHER, str(root / "src"), modules], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
