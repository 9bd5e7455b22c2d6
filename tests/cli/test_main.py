"""The entry: help without imports, texts instead of tracebacks, exit statuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from lexiscope import __version__
from lexiscope.cli import main as entry
from lexiscope.cli.main import VERBS, cli, pin_threads
from lexiscope.cli.verb import INTERRUPTED, Verb, check_output, existing_file
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, LexiscopeError, Place

HEAVY = ("torch", "transformers", "pandas", "scipy", "statsmodels", "matplotlib")
NOT_FOR_HELP = (*HEAVY, "numpy", "pyarrow", "rich", "pydantic", "jinja2")

ITEMS = "sentence_1,sentence_2,target\nThe bank was steep.,The bank was closed.,bank\n"


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], []])
def test_help_imports_click_only(arguments: list[str], imported: Callable[..., set[str]]) -> None:
    """--help, --version and the greeting import none of the libraries that take time to load."""
    assert imported(arguments, NOT_FOR_HELP) == set()


@pytest.mark.parametrize("study", catalog.names("studies"))
def test_help_of_a_study_loads_its_settings_only(study: str, imported: Callable[..., set[str]]) -> None:
    """The options of a study are listed from its settings: no numpy, no reader of packages, no ciphers, no other room.

    With these, the help took 15 times the bare interpreter (benchmarks/startup.py); the aim is 6 times.
    """
    slow = ("importlib.metadata", "hashlib", "difflib", "json", "lexiscope.core.item", "lexiscope.core.subject")
    assert imported(["study", study, "--help"], (*NOT_FOR_HELP, *slow)) == set()


@pytest.mark.parametrize("room", ["", "datasets", "tasks", "subjects", "studies", "resources", "pairings"])
def test_list_imports_no_room(room: str, imported: Callable[..., set[str]]) -> None:
    """Names, cards and capabilities are read as text: a list starts within 12 times the bare interpreter."""
    slow = ("lexiscope.core.result", "lexiscope.core.run", "lexiscope.items.read", "lexiscope.items.choice_sets")
    slow += ("importlib.metadata", "subprocess")
    assert imported(["list", *room.split()], (*NOT_FOR_HELP, *slow)) == set()


@pytest.mark.parametrize("room", ["datasets", "tasks", "subjects", "studies", "pairings"])
def test_list_imports_nothing_heavy(room: str, imported: Callable[..., set[str]]) -> None:
    """List imports no model, statistics or plotting library, whatever the room."""
    assert imported(["list", room], HEAVY) == set()


def test_check_imports_nothing_heavy(tmp_path: Path, imported: Callable[..., set[str]]) -> None:
    """Check imports no model, statistics or plotting library."""
    (tmp_path / "items.csv").write_text(ITEMS)
    assert imported(["check", str(tmp_path / "items.csv")], (*HEAVY, "pyarrow")) == set()


@pytest.fixture(scope="module")
def brought_in() -> dict[str, list[str]]:
    """The heavy modules that are there after each verb's help: in one process, one help after another.

    If one of them is to blame, those after it are named too; where none is, all lists are empty.
    """
    code = (
        "import json, sys\nfrom lexiscope.cli.main import main\nseen = {}\n"
        f"for verb in {[*VERBS]!r}:\n"
        "    try:\n        main([verb, '--help'])\n    except SystemExit as end:\n        assert not end.code, verb\n"
        f"    seen[verb] = [module for module in {HEAVY!r} if module in sys.modules]\n"
        "print(json.dumps(seen), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_imports_nothing_heavy(verb: str, brought_in: dict[str, list[str]]) -> None:
    """The help of any verb comes without model, statistics or plotting libraries."""
    assert brought_in[verb] == []


def test_completion_imports_click_only() -> None:
    """Completing a verb imports no verb, only the entry and the errors."""
    environment = {**os.environ, "_LEXISCOPE_COMPLETE": "bash_complete", "COMP_WORDS": "lexiscope c", "COMP_CWORD": "1"}
    code = "import sys\nfrom lexiscope.cli.main import main\ntry:\n    main([])\nexcept SystemExit:\n    pass\n"
    code += "print(sorted(m for m in sys.modules if m.startswith('lexiscope.')), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["plain,choices", "plain,check", "plain,collect", "plain,compare"]
    modules = ["lexiscope.cli", "lexiscope.cli.main"]
    modules += ["lexiscope.core", "lexiscope.core.errors", "lexiscope.core.foreign"]
    assert done.stderr.strip() == str(sorted(modules))


@pytest.mark.parametrize("verb", VERBS)
def test_table_of_verbs_is_true(verb: str) -> None:
    """Each verb's one-line help is the first line of its own help, and its command has its name."""
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None
    assert command.name == verb
    assert (command.help or "").splitlines()[0] == VERBS[verb][1]


def test_greeting_names_three_commands(run: Callable[..., click.testing.Result]) -> None:
    """The command alone shows three commands to try, each of them a verb, in at most 80 columns."""
    result = run()
    tried = [line.split()[1] for line in result.output.splitlines() if line.startswith("  lexiscope ")]
    assert len(tried) == 3
    assert set(tried) <= set(VERBS)
    assert max(map(len, result.output.splitlines())) <= 80
    assert result.exit_code == 0


def test_version(run: Callable[..., click.testing.Result]) -> None:
    """--version prints the version of the package."""
    assert run("--version").output == f"lexiscope, version {__version__}\n"


def test_unknown_verb_names_the_nearest(run: Callable[..., click.testing.Result]) -> None:
    """A misspelt verb is wrong usage (2) and names the verb that was meant."""
    result = run("agre")
    assert result.exit_code == 2
    assert "Unknown command 'agre'. Did you mean 'agree'?" in result.stderr


def _group_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command("boom", cls=Verb)
    def boom() -> None:
        raise error

    module = type(sys)("lexiscope_test_boom")
    module.boom = boom  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "lexiscope_test_boom", module)
    monkeypatch.setitem(VERBS, "boom", ("lexiscope_test_boom:boom", "fails"))


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (
            LexiscopeError("no", code="E1", place=Place("a.csv", 3), hint="mend it"),
            1,
            "a.csv:3: [E1] no\n  what to do: mend it\n",
        ),
        (FileNotFoundError(2, "No such file or directory", "a.csv"), 1, "a.csv: No such file or directory\n"),
        (PermissionError(13, "Permission denied", "a.csv"), 1, "a.csv: Permission denied\n"),
        (OSError(30, "Read-only file system", "run"), 1, "run: Read-only file system\n"),
        (
            MemoryError("76.2 TiB are too much"),
            1,
            "the memory of this machine is not enough\n  why: 76.2 TiB are too much\n"
            "  what to do: end other programs, or ask for less: see the options of the command\n",
        ),
        (KeyboardInterrupt(), 130, f"{INTERRUPTED}\n"),
    ],
)
def test_errors_that_a_user_can_mend(
    error: BaseException,
    status: int,
    text: str,
    run: Callable[..., click.testing.Result],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are their text on stderr, nothing on stdout, and the exit status says what kind they are."""
    _group_with(error, monkeypatch)
    result = run("boom")
    assert (result.exit_code, result.stdout, result.stderr) == (status, "", text)


@pytest.mark.parametrize(
    "error", [ValueError("a fault of ours"), FileNotFoundError("without a name"), OSError(9, "Bad file descriptor", 3)]
)
def test_unexpected_errors_keep_their_traceback(
    error: Exception, run: Callable[..., click.testing.Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error that no user can mend is raised as it is."""
    _group_with(error, monkeypatch)
    with pytest.raises(type(error)):
        run("boom")


def test_an_interruption_while_a_verb_is_loaded(
    run: Callable[..., click.testing.Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the status of every other interruption, and no traceback."""

    def stopped(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(entry.importlib, "import_module", stopped)
    result = run("demo")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "interrupted\n")


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    """``lexiscope check … | head`` ends without a traceback."""
    rows = "".join(f"The bank {i}.,The bank {i}.,bank\n" for i in range(3000))
    (tmp_path / "items.csv").write_text("sentence_1,sentence_2,target\n" + rows)
    command = f"{sys.executable} -m lexiscope check {tmp_path / 'items.csv'} --at-most 9999 | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_interruption_in_a_process() -> None:
    """A verb that gets SIGINT ends with 130 and says that it can be continued."""
    code = (
        "import signal, sys, time, types, click\nfrom lexiscope.cli import main\nfrom lexiscope.cli.verb import Verb\n"
        # a shell's background job begins with SIGINT ignored, and hands that on
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "@click.command('nap', cls=Verb)\ndef nap():\n    print('ready', flush=True)\n    time.sleep(30)\n"
        "sys.modules['nap'] = types.SimpleNamespace(nap=nap)\nmain.VERBS['nap'] = ('nap:nap', '')\nmain.main(['nap'])\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=20)
    assert process.returncode == 130
    assert stderr.strip() == INTERRUPTED


@pytest.mark.parametrize(
    ("arguments", "threads"),
    [
        ([], 1),
        (["demo", "--threads", "3"], 3),
        (["demo", "--threads=2"], 2),
        (["--threads", "x"], 1),
        (["--threads"], 1),
    ],
)
def test_threads_are_pinned_before_anything_loads(
    arguments: list[str], threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--threads, else 1, is put where OpenMP, MKL and OpenBLAS look for it, over what stood there."""
    for variable in entry._THREAD_VARIABLES:
        monkeypatch.setenv(variable, "7")
    assert pin_threads(arguments) == threads
    assert {os.environ[variable] for variable in entry._THREAD_VARIABLES} == {str(threads)}


def test_torch_gets_the_threads() -> None:
    """The number reaches torch, which reads it when it is loaded."""
    code = "from lexiscope.cli.main import pin_threads\npin_threads(['--threads', '2'])\n"
    code += "import torch\nprint(torch.get_num_threads())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "2"


def test_a_result_does_not_replace_what_is_read(tmp_path: Path) -> None:
    """A file that the command reads, one in a folder that it reads, and a folder are no places for the result."""
    read = tmp_path / "texts"
    read.mkdir()
    for out, what in (
        (read, "a folder, not a file"),
        (read / "a" / ".." / "x.txt", "lies in"),
        (tmp_path / "a", "reads"),
    ):
        with pytest.raises(InputError, match=rf"\[E001\].*{what}"):
            check_output(out, read, tmp_path / "a")
    check_output(tmp_path / "b", read, tmp_path / "a")


def test_existing_file(tmp_path: Path) -> None:
    """A missing file, a folder and an empty file each have their own code."""
    (tmp_path / "empty.csv").touch()
    for name, code in (("none.csv", "E001"), (".", "E001"), ("empty.csv", "E002")):
        with pytest.raises(InputError, match=code):
            existing_file(tmp_path / name)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("lexiscope study saw", "plain,saw_c"),
        ("lexiscope data get raw", "plain,raw_c"),
        ("lexiscope collect --task same", "plain,same_sense"),
        ("lexiscope study saw_c --dataset mini_rel", "plain,mini_relatedness"),
        # what is not in the catalog is completed as a file
        ("lexiscope norm ./my_rat", "file,./my_rat"),
    ],
)
def test_the_shell_completes_names_of_the_catalog(words: str, expected: str) -> None:
    """Names of studies, datasets and tasks, else files."""
    given = {"_LEXISCOPE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", "from lexiscope.cli.main import main; main()"], env=os.environ | given,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == [expected], done.stderr
