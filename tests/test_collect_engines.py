"""Collect with several workers: the bytes of the serial run, whoever is killed, and nobody asked by two at a time."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.subjects.conftest import save_causal

from lexiscope.cli.main import cli
from lexiscope.collect import collect
from lexiscope.collect.engine import Processes, engine_of
from lexiscope.core import catalog
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import InputError, MissingExtraError, RunError, SpecError, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import folder_lock
from lexiscope.core.settings import ENGINE
from lexiscope.core.subject import WorkShare
from lexiscope.core.usage import Usage
from lexiscope.items.read.item_source import load_items

ITEMS = catalog.dataset("mini_relatedness").items
LONG = "word " * 300 + "bank"
TOO_LONG = Item("long", "test", (Usage(LONG, len(LONG) - 4, len(LONG)),) * 2)
ENGINES = ("ray?workers=2", "slurm:2?cluster=local")
MADE = f"{Path(__file__).with_name('made_vectors.py')}:pause="
"""An encoder without torch, which takes seconds to load: begun as often as a test likes."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_causal(tmp_path_factory.mktemp("gpt2"), "gpt2")


@pytest.fixture(scope="module")
def encoder(model: Path) -> str:
    return f"encoder:{model}?batch_tokens=2000"


def bytes_of(folder: Path) -> dict[str, bytes]:
    """The bytes of all that a collection consists of: what was worked out on the way differs."""
    names = [folder / "question.json", folder / "responses.parquet", *(folder / "parts").glob("[!.]*")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in names}


def working_bytes(folder: Path) -> dict[str, bytes]:
    paths = (path for path in (folder / "work").rglob("[!.]*") if path.is_file() and path.name != "hashes.json")
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.mark.parametrize(("engine", "torch"), [("processes:2", True), *((name, False) for name in ENGINES)])
def test_several_workers_write_the_bytes_of_one(
    engine: str, torch: bool, encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers, parts, seals and finished batches are those of the serial run, on every engine."""
    monkeypatch.chdir(tmp_path)
    try:
        engine_of(engine)
    except MissingExtraError as error:
        pytest.skip(str(error))
    subjects, views = [encoder if torch else f"{MADE}0.01", "baseline:word_overlap"], ("full", "word")
    collect(ITEMS, subjects, "relatedness", views=views, out=tmp_path / "one")
    told: list[tuple[str, int, int]] = []
    collect(
        ITEMS, subjects, "relatedness", views=views, out=tmp_path / "two", engine=engine,
        progress=lambda *step: told.append(step),
    )  # fmt: skip
    assert bytes_of(tmp_path / "two") == bytes_of(tmp_path / "one")
    assert working_bytes(tmp_path / "two") == working_bytes(tmp_path / "one")
    # a job that is ended by its time limit on a busy machine leaves the rest to this process
    assert told[0][0] == "2 workers"


def test_workers_share_the_scores_of_one_part(model: Path, tmp_path: Path) -> None:
    """One model, one view: its texts are shared out."""
    items = load_items("mini_senses", task="sense_verification").items
    task, scorer = "sense_verification", f"causal_lm:{model}?batch_tokens=2000&self_test=no"
    collect(items, [scorer], task, out=tmp_path / "one")
    collect(items, [scorer], task, out=tmp_path / "two", engine="processes:2")
    assert bytes_of(tmp_path / "two") == bytes_of(tmp_path / "one")


def test_a_finished_folder_needs_no_worker(encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is the plan without the seals: if nothing is missing, no worker is begun."""
    collect(ITEMS, [encoder], "relatedness", out=tmp_path)

    def refuse(*_: object) -> None:
        raise AssertionError("a worker was begun")

    monkeypatch.setattr(Processes, "submit", refuse)
    collect(ITEMS, [encoder], "relatedness", out=tmp_path, engine="processes:2")


def test_an_error_is_that_of_the_serial_run(tmp_path: Path) -> None:
    """A worker meets it and stays silent; the process that gave the order says it."""
    items = [*ITEMS[:9], TOO_LONG]
    with pytest.raises(SubjectError) as alone:
        collect(items, [f"{MADE}0"], "relatedness", out=tmp_path / "one")
    with pytest.raises(SubjectError) as together:
        collect(items, [f"{MADE}0"], "relatedness", out=tmp_path / "two", engine="processes:1")
    assert str(together.value) == str(alone.value)


_RAISES = """
from pathlib import Path
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import SubjectError

CAPABILITIES = ("Judges",)


class Mine:
    subject_id, kind = "{file}:mine", "mine"
    facts = SubjectFacts("{file}:mine", kind="mine")

    def judge(self, items, task):
        with Path("{calls}").open("a") as file:
            file.write("asked\\n")
        raise {error}("not today")


def load(spec):
    return Mine()
"""


@pytest.mark.parametrize(("error", "kind"), [("ValueError", ValueError), ("SubjectError", SubjectError)])
@pytest.mark.parametrize("views", [("full",), ("full", "word")])
def test_a_subject_that_raises_is_asked_once(
    error: str, kind: type[Exception], views: tuple[str, ...], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """By one worker, and not again by another or by this process; the folder is continued as after a serial run."""
    file, calls = tmp_path / "mine.py", tmp_path / "calls"
    file.write_text(_RAISES.format(file=file, calls=calls, error=error))
    for _ in range(2):
        calls.unlink(missing_ok=True)
        with pytest.raises(kind, match="not today"):
            collect(ITEMS[:5], [f"{file}:mine"], "relatedness", views=views, out=tmp_path / "run", engine="processes:2")
        assert calls.read_text() == "asked\n"
        assert "Traceback" not in capfd.readouterr().err


def test_an_unknown_engine_leaves_the_folder_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of a call, and that of the environment."""
    monkeypatch.setenv(ENGINE, "threads")
    with pytest.raises(SpecError, match="there is no engine"):
        collect(ITEMS[:5], ["baseline:word_overlap"], "relatedness", out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


class OnlyHere:
    """A judge that no other process can be given: it holds a function without a name."""

    subject_id, kind = "judge:here", "judge"
    facts = SubjectFacts("judge:here")

    def __init__(self) -> None:
        self.answer: Callable[[], float] = lambda: 1.0

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        raise AssertionError("nobody is asked")


def test_a_subject_that_cannot_be_sent_is_refused(tmp_path: Path) -> None:
    """Before anything is asked."""
    with pytest.raises(InputError, match="cannot be sent to other processes"):
        collect(ITEMS, [OnlyHere()], "relatedness", out=tmp_path, engine="processes:1")


def test_a_task_that_was_changed_here_is_refused(encoder: str, tmp_path: Path) -> None:
    """A worker would ask the task of the catalog."""
    task = catalog.task("sense_disambiguation")
    assert task.labelled is not None
    items = load_items("mini_senses", task="sense_disambiguation").items
    with pytest.raises(InputError, match="was made or changed in this process"):
        collect(items, [encoder], task.labelled(items), out=tmp_path, engine="processes:1")


def test_nobody_is_asked_by_two_at_a_time(tmp_path: Path) -> None:
    """A subject that keeps no batches by their content is asked under a lock of its own."""
    collect(ITEMS, ["baseline:word_overlap"], "relatedness", out=tmp_path / "whole")
    (lock,) = (tmp_path / "whole" / "work").rglob(".lock")
    other = tmp_path / "other"
    with (
        folder_lock(other / lock.parent.relative_to(tmp_path / "whole")),
        pytest.raises(RunError, match="another process"),
    ):
        collect(ITEMS, ["baseline:word_overlap"], "relatedness", out=other)
    collect(ITEMS, ["baseline:word_overlap"], "relatedness", out=other)
    assert bytes_of(other) == bytes_of(tmp_path / "whole")


def test_the_batches_of_all_workers_are_all_batches() -> None:
    """Every worker looks at every batch; at the first of them, no two look at the same one."""
    for of in (2, 3, 7):
        orders = [WorkShare(number, of).order(20) for number in range(of)]
        assert all(sorted(order) == list(range(20)) for order in orders)
        firsts = [order[: len(range(number, 20, of))] for number, order in enumerate(orders)]
        assert sorted(batch for first in firsts for batch in first) == list(range(20))


def test_the_option_is_that_of_a_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``--engine`` reaches what collects, and is forgotten when the verb ends; run.json does not depend on it."""
    monkeypatch.delenv(ENGINE, raising=False)
    for name in ("local", "processes:1"):
        monkeypatch.setattr(sys, "argv", ["lexiscope", "collect"])
        words = ["collect", "--items", "mini_relatedness", "--subject", f"{MADE}0", "--out", str(tmp_path / name)]
        done = CliRunner().invoke(cli, [*words, "--engine", name])
        assert done.exit_code == 0, done.output
        assert ENGINE not in os.environ
    one, two = (tmp_path / name / "run.json" for name in ("local", "processes:1"))
    assert one.read_bytes() == two.read_bytes()
    words[-1] = str(tmp_path / "other")
    refused = CliRunner().invoke(cli, [*words, "--engine", "threads:2"])
    assert refused.exit_code == 1
    assert "there is no engine 'threads:2'" in refused.output


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_worker_that_ended_before_it_read_its_order_is_lost() -> None:
    """Killed while Python starts: the process that gave the order does not wait for it to be read."""
    engine = Processes(1)
    before = {*children_of(os.getpid())}
    try:
        job = engine.submit(len, bytes(10_000_000))
        workers: list[int] = []
        while not workers:
            begun = {*children_of(os.getpid())} - before
            # multiprocessing begins a process of its own too
            workers = [pid for pid in begun if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        os.kill(workers[0], signal.SIGKILL)
        while job.is_running():
            time.sleep(0.01)
        assert job.is_lost()
    finally:
        engine.cancel()


# -- killed at any moment -------------------------------------------------------------------------------------------


def children_of(parent: int) -> list[int]:
    """The processes that a process has begun, as /proc says."""
    children = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == parent:
            children.append(int(stat.parent.name))
    return children


def collect_command(subject: str, folder: Path) -> list[str]:
    command = [sys.executable, "-m", "lexiscope", "collect", "--items", "mini_relatedness", "--subject", subject]
    return [*command, "--view", "full", "--view", "word", "--out", str(folder), "--quiet"]


def kill_again_and_again(subject: str, folder: Path, *, kills: int, within: float, seed: int) -> int:
    """Collect with two workers, kill a worker or who gave the order at random moments; return how many were killed."""
    command, chance, killed = [*collect_command(subject, folder), "--engine", "processes:2"], random.Random(seed), 0
    while killed < kills:
        driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            end = time.monotonic() + chance.uniform(0.5, within)
            while driver.poll() is None and time.monotonic() < end:
                time.sleep(0.01)
            if driver.poll() is not None:
                # finished before its time came: begin again, with what was worked out
                for path in (folder / "parts").glob("*.json"):
                    path.unlink()
                continue
            workers = children_of(driver.pid)
            victim = chance.choice([driver.pid, *workers])
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                # a worker that ended in this moment
                continue
            killed += 1
            if victim != driver.pid and chance.random() < 0.5:
                driver.wait()
        finally:
            driver.kill()
            driver.wait()
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return killed


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize(("kills", "torch"), [(5, False), pytest.param(200, True, marks=pytest.mark.soak)])
def test_killed_at_any_moment(kills: int, torch: bool, encoder: str, tmp_path: Path) -> None:
    """SIGKILL of workers and of the process that gave the orders: the bytes are those of the serial run."""
    # what needs no torch is at work when a process that needs it would still be loading it
    subject, within = (encoder, 8) if torch else (f"{MADE}0.03", 4)
    # by the command too: it has one thread, this process perhaps more, and then the last bits of a distance differ
    subprocess.run(collect_command(subject, tmp_path / "one"), check=True, capture_output=True)
    assert kill_again_and_again(subject, tmp_path / "two", kills=kills, within=within, seed=5) == kills
    assert bytes_of(tmp_path / "two") == bytes_of(tmp_path / "one")
