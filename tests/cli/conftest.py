"""What the tests of the command line share."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lexiscope.cli.main import cli

Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run the command in an empty folder; unexpected errors are raised."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> Result:
        return CliRunner().invoke(cli, [str(argument) for argument in arguments], catch_exceptions=False)

    return call


@pytest.fixture(scope="session")
def imported() -> Callable[..., set[str]]:
    """Run the command in a new process and return which of the named modules it imported."""

    def call(arguments: list[str], modules: tuple[str, ...]) -> set[str]:
        code = (
            "import sys\nfrom lexiscope.cli.main import main\n"
            f"try:\n    main({arguments!r})\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
            f"print('IMPORTED', *[name for name in {modules!r} if name in sys.modules], file=sys.stderr)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        return set(done.stderr.strip().splitlines()[-1].split()[1:])

    return call
