"""``--verbose`` and ``--log`` of every verb: what is shown, what is kept, and what is kept of a fault."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import Result

from lexiscope import __version__
from lexiscope.cli.log import LOG, log_command, without_passwords
from lexiscope.cli.main import cli
from lexiscope.cli.output import progress_bar

Run = Callable[..., Result]
ITEMS = "sentence_1,sentence_2,target\nThe bank was steep.,The bank was closed.,bank\n"
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (DEBUG|INFO|WARNING|ERROR) lexiscope[\w.]*: ")


def commands(command: click.Command, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    """Every command that does work, with its context."""
    if not isinstance(command, click.Group):
        yield command, context
        return
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield from commands(inner, click.Context(inner, parent=context, info_name=name))


def test_every_verb_has_both() -> None:
    """No verb and no verb of a group is without them, and none gives the letter another meaning."""
    seen = 0
    for command, context in commands(cli, click.Context(cli)):
        flags = [flag for param in command.get_params(context) for flag in param.opts]
        assert [flags.count(flag) for flag in ("-v", "--verbose", "--log")] == [1, 1, 1], command.name
        seen += 1
    assert seen > 60


def test_without_them_nothing_is_told(run: Run, tmp_path: Path) -> None:
    """A command prints what it printed before, and leaves no handler behind."""
    (tmp_path / "items.csv").write_text(ITEMS)
    result = run("check", "items.csv")
    assert result.exit_code == 0
    assert "Lexiscope" not in result.stderr
    assert (LOG.handlers, LOG.level) == ([], logging.NOTSET)


def test_verbose_is_on_stderr_only(run: Run, tmp_path: Path) -> None:
    """The result on stdout stays whole for a pipe; stderr has versions, threads and the exit status."""
    (tmp_path / "items.csv").write_text(ITEMS)
    plain, verbose = run("check", "items.csv", "--json"), run("check", "items.csv", "--json", "-v")
    assert json.loads(verbose.stdout) == json.loads(plain.stdout)
    assert f"Lexiscope {__version__}, Python 3." in verbose.stderr
    assert "CPU threads: " in verbose.stderr
    assert re.search(r"Exit status 0 after \d+\.\d s\n$", verbose.stderr)


def test_a_log_is_appended_to(run: Run, tmp_path: Path) -> None:
    """Two commands, one file: each line has its time and level, and the screen stays as it is."""
    (tmp_path / "items.csv").write_text(ITEMS)
    (tmp_path / "bad.csv").write_text("sentence_1,sentence_2,target\nNo such word.,The bank was closed.,bank\n")
    assert run("check", "items.csv", "--log", "all.log").stderr == run("check", "items.csv").stderr
    assert run("check", "bad.csv", "--log", "all.log").exit_code == 1
    lines = (tmp_path / "all.log").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not LINE.match(line)] == []
    assert [line.partition("Exit status ")[2][:1] for line in lines if "Exit status" in line] == ["0", "1"]


def test_the_log_keeps_the_traceback_of_an_error(run: Run, tmp_path: Path) -> None:
    """The screen has the text of an error that a user can mend; the file has its traceback, too."""
    result = run("data", "check", "no_such_data", "--log", "all.log")
    assert (result.exit_code, "Traceback" in result.stderr) == (1, False)
    text = (tmp_path / "all.log").read_text(encoding="utf-8")
    assert "Traceback (most recent call last)" in text
    assert "no_such_data" in text
    assert "Exit status 1 after" in text


@pytest.mark.parametrize("name", ["missing/all.log", "."])
def test_a_log_that_cannot_be_written(run: Run, tmp_path: Path, name: str) -> None:
    """It is an error before any work, with the name of the file."""
    (tmp_path / "items.csv").write_text(ITEMS)
    result = run("check", "items.csv", "--log", name)
    assert result.exit_code in (1, 2)
    assert result.stdout == ""
    assert name in result.stderr
    assert "Traceback" not in result.stderr


def test_passwords_are_not_kept(tmp_path: Path) -> None:
    """The command is kept without the password of an address; the address itself stays readable."""
    words = ["annotate", "serve", "s.yaml", "--postgres", "postgresql://words:s3cret@localhost/words"]
    with log_command(words, verbose=False, file=tmp_path / "all.log"):
        pass
    text = (tmp_path / "all.log").read_text(encoding="utf-8")
    assert "s3cret" not in text
    assert "postgresql://words:***@localhost/words" in text
    assert without_passwords("chat:m@http://127.0.0.1:8000/v1") == "chat:m@http://127.0.0.1:8000/v1"


def test_a_warning_is_shown_without_being_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """What a user must know of a long run, such as a request that is tried again, needs no option."""
    with log_command(["collect"], verbose=False, file=None):
        logging.getLogger("lexiscope.subjects.endpoint").warning("busy. Attempt %d of %d.", 2, 5)
        logging.getLogger("lexiscope.subjects.endpoint").info("not asked for")
    assert capsys.readouterr().err == "busy. Attempt 2 of 5.\n"


def test_progress_without_a_terminal_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    """Of each part the beginning and the end, where the log takes them; otherwise there is no progress at all."""
    with progress_bar("ask") as report:
        assert report is None
    with log_command(["collect"], verbose=True, file=None), progress_bar("ask") as report:
        assert report is not None
        for done in (1, 2, 3):
            report("a model", done, 3)
    shown = [line for line in capsys.readouterr().err.splitlines() if line.startswith("ask")]
    assert shown == ["ask: a model: 1 of 3", "ask: a model: 3 of 3"]
