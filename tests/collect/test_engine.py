"""Engines: work comes to the same end whoever is lost; what cannot be sent is refused; who gave the work ends it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from lexiscope.collect.engine import Executor, engine_of, work_together
from lexiscope.core.errors import (
    InputError,
    LexiscopeError,
    MissingExtraError,
    Place,
    RunError,
    SpecError,
    SubjectError,
)
from lexiscope.core.run import write_atomically
from lexiscope.core.settings import ENGINE


def write_own_file(order: Path) -> None:
    """The work of a worker: a file."""
    write_atomically(order, "done")


def die_once(order: Path) -> None:
    """Killed the first time, at work the second."""
    if not order.with_suffix(".begun").exists():
        write_atomically(order.with_suffix(".begun"), "")
        os.kill(os.getpid(), signal.SIGKILL)
    write_own_file(order)


def fail_and_count(order: Path) -> None:
    """Leave a file for each attempt, then fail."""
    write_atomically(order / f"{os.getpid()}", "")
    raise ValueError("always")


def die_and_count(order: Path) -> None:
    """Leave a file for each attempt, then die."""
    write_atomically(order / f"{os.getpid()}", "")
    os.kill(os.getpid(), signal.SIGKILL)


def sleep_long(order: Path) -> None:
    """Say which process it is, then do nothing for a minute."""
    write_atomically(order, str(os.getpid()))
    time.sleep(60)


def nothing() -> None:
    """Wait for no one."""


def is_alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    # a process that has ended and was not yet waited for still has its number
    return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def workers(name: str) -> Executor:
    try:
        engine = engine_of(name)
    except MissingExtraError as error:
        pytest.skip(str(error))
    assert engine is not None
    return engine


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("threads:2", "there is no engine 'threads:2'"),
        ("local:2", "there is no engine 'local:2'"),
        ("processes:0", "'processes:0' does not give the number of workers"),
        ("processes:two", "'processes:two' does not give the number of workers"),
        ("slurm", "'slurm' does not give the number of workers"),
        ("processes:2?gpus=1", "the engine 'processes' takes no options"),
    ],
)
def test_unknown_engines_are_refused(name: str, said: str) -> None:
    """A name of another form is an error that names the known ones."""
    with pytest.raises(SpecError, match=said.replace("?", r"\?")) as caught:
        engine_of(name)
    assert "processes:N" in caught.value.hint


def test_the_environment_names_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a call names none; without both, this process works alone."""
    monkeypatch.delenv(ENGINE, raising=False)
    assert engine_of() is None
    monkeypatch.setenv(ENGINE, "processes:3")
    assert workers("").resources() == 3
    assert engine_of("local") is None


def test_an_empty_variable_names_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is as if it was not set."""
    monkeypatch.setenv(ENGINE, "")
    assert engine_of() is None


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ("", RunError, "not part of a Slurm cluster"),
        ("?slurm_partition=cpu&timeout_min=120", RunError, "srun"),
        ("?cluster=xx", SpecError, "no cluster=xx"),
        ("?cluster=local&timeout_min=abc", SpecError, "timeout_min"),
        ("?cluster=local&no_such_option=1", SpecError, "no_such_option"),
    ],
)
def test_slurm_says_what_it_needs(
    options: str, kind: type[LexiscopeError], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine without Slurm, or with options that submitit does not take."""
    pytest.importorskip("submitit")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(kind, match=said) as caught:
        engine_of(f"slurm:2{options}")
    assert caught.value.hint or caught.value.why


@pytest.mark.parametrize("gpus", ["x", "-1", "nan", "inf", "1.5"])
def test_gpus_are_a_number(gpus: str) -> None:
    """Whole ones, or a share of one; without Ray too."""
    with pytest.raises(SpecError, match="GPUs of a worker"):
        engine_of(f"ray?gpus={gpus}")


class MadeRay:
    """A Ray cluster as its interface tells of it: its machines, and whether it can be joined."""

    class exceptions:  # noqa: N801 - as Ray calls it
        class RayError(Exception): ...

    def __init__(self, *machines: dict[str, float], fails: str = "") -> None:
        self.machines, self.fails, self.joined = machines, fails, False

    def is_initialized(self) -> bool:
        return self.joined

    def init(self, **_: object) -> None:
        if self.fails:
            raise ConnectionError(self.fails)
        self.joined = True

    def nodes(self) -> list[dict[str, object]]:
        return [{"Alive": True, "Resources": machine} for machine in self.machines]

    def cluster_resources(self) -> dict[str, float]:
        return {name: sum(one.get(name, 0) for one in self.machines) for name in ("CPU", "GPU")}


def made_cluster(monkeypatch: pytest.MonkeyPatch, name: str, cluster: MadeRay) -> Executor:
    monkeypatch.setattr("lexiscope.collect.engine.require", lambda *_: cluster)
    engine = engine_of(name)
    assert engine is not None
    return engine


@pytest.mark.parametrize("name", ["ray?gpus=1", "ray?gpus=1&workers=2", "ray?gpus=.5"])
def test_workers_with_a_gpu_need_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray would wait for it without an end."""
    engine = made_cluster(monkeypatch, name, MadeRay({"CPU": 2}, {"CPU": 8}))
    with pytest.raises(RunError, match=r"no machine of this Ray cluster has .* GPU"):
        engine.resources()


def test_the_gpus_of_a_worker_are_those_of_one_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two machines with a GPU each have none for a worker with two."""
    two = MadeRay({"CPU": 2, "GPU": 1}, {"CPU": 2, "GPU": 1})
    assert made_cluster(monkeypatch, "ray?gpus=1", two).resources() == 2
    assert made_cluster(monkeypatch, "ray?gpus=.5", two).resources() == 4
    with pytest.raises(RunError, match="has 2 GPUs"):
        made_cluster(monkeypatch, "ray?gpus=2", two).resources()


def test_a_cluster_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within seconds: a dead address is not given to Ray, which tries for minutes."""
    absent = MadeRay({"CPU": 2}, fails="could not find any running Ray instance")
    with pytest.raises(RunError, match="cannot be reached") as caught:
        made_cluster(monkeypatch, "ray:auto", absent).resources()
    assert "could not find" in caught.value.why
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    there = MadeRay({"CPU": 2})
    for address in (f"127.0.0.1:{port}", f"ray://127.0.0.1:{port}", "127.0.0.1:99999"):
        with pytest.raises(RunError, match="cannot be reached"):
            made_cluster(monkeypatch, f"ray:{address}", there).resources()
    assert not there.joined


@pytest.mark.parametrize("name", ["processes:2", "ray?workers=2", "slurm:2?cluster=local&folder={jobs}"])
def test_every_order_is_carried_out(name: str, tmp_path: Path) -> None:
    """By processes of this machine, by a Ray cluster that is started here, by submitit's jobs on this machine."""
    engine = workers(name.format(jobs=tmp_path / "jobs"))
    assert engine.resources() == 2
    orders = [tmp_path / "a", tmp_path / "b"]
    # a function of the package: the workers of a cluster do not see the tests
    work_together(engine, partial(write_atomically, content="done"), orders, wait=nothing)
    assert [order.read_text() for order in orders] == ["done", "done"]


def test_a_lost_worker_is_replaced(tmp_path: Path) -> None:
    """Its order is given out again."""
    work_together(workers("processes:2"), die_once, [tmp_path / "a", tmp_path / "b"], wait=nothing)
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text() == "done"


def fail_with_lock(order: Path) -> None:
    """Fail with an exception that cannot be sent to another process."""
    write_atomically(order / f"{os.getpid()}", "")
    raise OddError(threading.Lock())


class OddError(Exception):
    """An exception that holds what no other process can be given."""


def refuse_item(order: Path) -> None:
    """Fail as a subject of the package does."""
    write_atomically(order / f"{os.getpid()}", "")
    raise SubjectError("no answer", place=Place(item_id="i1"), why="too long", hint="shorten it")


@pytest.mark.parametrize(
    ("work", "kind", "said"),
    [
        (fail_and_count, ValueError, "always"),
        (fail_with_lock, RuntimeError, "OddError"),
        (refuse_item, SubjectError, "too long"),
    ],
)
def test_work_that_fails_is_not_repeated(
    work: Callable[[Path], None], kind: type[Exception], said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its exception is raised where the orders were given; the worker prints none."""
    with pytest.raises(kind, match=said) as caught:
        work_together(workers("processes:1"), work, [tmp_path], wait=nothing)
    assert len(list(tmp_path.iterdir())) == 1
    assert "Traceback" not in capfd.readouterr().err
    # where in its code a subject failed is known to the worker alone
    notes = "".join(getattr(caught.value, "__notes__", []))
    assert (work.__name__ in notes) is (kind is not SubjectError)


def test_a_worker_that_always_dies_is_given_up(tmp_path: Path) -> None:
    """After three attempts; no error is raised, for whoever gave the order looks at what is missing."""
    work_together(workers("processes:1"), die_and_count, [tmp_path], wait=nothing)
    assert len(list(tmp_path.iterdir())) == 3


def test_what_cannot_be_sent_is_refused() -> None:
    """A function without a name cannot be found by another process."""
    with pytest.raises(InputError, match="cannot be sent to other processes"):
        work_together(workers("processes:1"), lambda _: None, [1], wait=nothing)


def test_interrupted_work_leaves_no_worker(tmp_path: Path) -> None:
    """Where the process that gave the orders is interrupted, it ends them."""

    def interrupt() -> None:
        if (tmp_path / "a").exists():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work_together(workers("processes:1"), sleep_long, [tmp_path / "a"], wait=interrupt)
    assert not is_alive(int((tmp_path / "a").read_text()))


_GIVES_ORDERS = """
import sys
from pathlib import Path
sys.path.insert(0, {folder!r})
from sleepers import sleep_long
from lexiscope.collect.engine import engine_of, work_together
if __name__ == "__main__":
    work_together(engine_of("processes:1"), sleep_long, [Path({order!r})], wait=lambda: None)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    """Nobody works for a process that was killed."""
    sleepers = "import os, time\nfrom pathlib import Path\ndef sleep_long(order):\n"
    sleepers += "    Path(f'{order}.new').write_text(str(os.getpid()))\n"
    sleepers += "    Path(f'{order}.new').rename(order)\n    time.sleep(60)\n"
    (tmp_path / "sleepers.py").write_text(sleepers)
    script, order = tmp_path / "gives_orders.py", tmp_path / "order"
    script.write_text(_GIVES_ORDERS.format(folder=str(tmp_path), order=str(order)))
    parent = subprocess.Popen([sys.executable, str(script)])
    try:
        wait_for(order.exists)
        worker = int(order.read_text())
        assert is_alive(worker)
    finally:
        parent.kill()
        parent.wait()
    wait_for(lambda: not is_alive(worker))
