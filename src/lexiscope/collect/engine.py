"""Engines: workers on the processors of this machine or of a cluster.

An engine is named like a subject: ``local``, ``processes:4``, ``ray``, ``ray:ADDRESS``,
``slurm:8?slurm_partition=cpu``. Its work must have the same result for any number of workers and attempts, and must
write no half files. A lost worker can then be replaced by another worker, and in the end by the process that gave the
orders. Work that fails is not repeated: its exception is raised where the orders were given.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import pickle
import shutil
import socket
import subprocess
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from lexiscope.core.errors import InputError, LexiscopeError, Place, RunError, SpecError, require
from lexiscope.core.settings import ENGINE
from lexiscope.core.spec import split_options

LOCAL = "local"
_FORMS = "local, processes:N, ray, ray:ADDRESS or slurm:N"
_ATTEMPTS = 3
"""How often an order is given out whose worker is lost: a machine may fail once, a fault of the work comes back."""

_PAUSE = 0.05
_SECONDS_TO_JOIN = 10
"""How long the head of a Ray cluster may take to answer."""
_CLUSTERS = ("slurm", "local")
_ALONE = "use the engine local or processes:N"


class Worker(Protocol):
    """A worker that was begun."""

    def is_running(self) -> bool:
        """Whether it has not yet ended."""

    def is_lost(self) -> bool:
        """Whether it ended without having returned from its function, and without an exception of it."""

    def failure(self) -> Exception | None:
        """Return the exception with which its function ended, ``None`` if there is none, or none yet."""


class Executor(Protocol):
    """Three functions for any number of workers."""

    def resources(self) -> int:
        """Return the number of workers."""

    def submit(self, function: Callable[[Any], None], order: object) -> Worker:
        """Begin a call of a function in a worker; the function is found by its module and name.

        Errors: :class:`InputError` for an order that cannot be sent to another process.
        """

    def cancel(self) -> None:
        """End every worker that is running."""


def engine_of(name: str = "") -> Executor | None:
    """Return the engine of a name, ``None`` for ``local``: this process works alone.

    Without a name it is that of the environment variable ``LEXISCOPE_ENGINE``, or ``local``. No worker is begun yet.

    Errors: :class:`SpecError` for another name; :class:`MissingExtraError` for an engine that is not installed;
    :class:`RunError` for ``slurm`` on a machine without Slurm.
    """
    # a variable that is set to nothing is that of a job script without an engine
    given, options = split_options(name or os.environ.get(ENGINE) or LOCAL)
    kind, _, rest = given.partition(":")
    if kind not in ("ray", "slurm") and options:
        raise SpecError(f"the engine {kind!r} takes no options", hint=f"Valid engines: {_FORMS}")
    if kind == LOCAL and not rest:
        return None
    if kind == "processes":
        return Processes(_number(rest, given) if rest else os.cpu_count() or 1)
    if kind == "ray":
        return Ray(rest, options)
    if kind == "slurm":
        return Slurm(_number(rest, given), options)
    raise SpecError(f"there is no engine {given!r}", hint=f"Valid engines: {_FORMS}")


def _number(text: str, given: str) -> int:
    if not text.isdecimal() or not int(text):
        raise SpecError(f"{given!r} does not give the number of workers", hint=f"Valid engines: {_FORMS}")
    return int(text)


def work_together(
    engine: Executor, function: Callable[[Any], None], orders: Sequence[object], *, wait: Callable[[], None]
) -> None:
    """Give an order to each worker and return when all have ended; *wait* is called again and again until then.

    An order whose worker is lost is given out again, three times in all; then it stays undone. If this process is
    interrupted, *wait* fails or the work fails, every worker is ended. Errors: those of *wait*, of the work and of
    :meth:`Executor.submit`.
    """
    try:
        running = [(engine.submit(function, order), order, 1) for order in orders]
        while running:
            wait()
            time.sleep(_PAUSE)
            for failure in (job.failure() for job, _, _ in running):
                # a subject that raises would raise again, and be asked, perhaps paid, again
                if failure is not None:
                    raise failure
            ended = [not job.is_running() for job, _, _ in running]
            lost = [entry for entry, has_ended in zip(running, ended, strict=True) if has_ended and entry[0].is_lost()]
            running = [entry for entry, has_ended in zip(running, ended, strict=True) if not has_ended]
            running += [(engine.submit(function, order), order, n + 1) for _, order, n in lost if n < _ATTEMPTS]
    finally:
        engine.cancel()


def _attempt(function: Callable[[Any], None], order: object) -> bytes:
    """Call a function in a worker; return the exception that it raised in a form that can be sent, empty if none.

    Errors: ``MemoryError``: this machine failed, another or this one with fewer workers may not.
    """
    try:
        function(order)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - it is raised again by the process that gave the orders
        text, trace = f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error))
        try:
            return pickle.dumps((text, trace, pickle.dumps(error)))
        except Exception:  # noqa: BLE001 - pickling runs code of the exception
            # an exception may hold anything, such as an open file
            return pickle.dumps((text, trace, b""))
    return b""


def _exception_of(sent: bytes) -> Exception | None:
    """Return the exception that :func:`_attempt` met in another process, with the lines of that process as a note."""
    if not sent:
        return None
    text, trace, pickled = pickle.loads(sent)
    error: Exception = RuntimeError(text)
    # the class of an exception may be one of a module that this process does not have, or take other arguments
    with contextlib.suppress(Exception):
        error = pickle.loads(pickled)
    if not isinstance(error, LexiscopeError):
        error.add_note(f"It was raised in a worker:\n{trace}")
    return error


# -- processes of this machine --------------------------------------------------------------------------------------


class Processes:
    """A number of processes of this machine; they end with this process, also if it is killed."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._jobs: list[_ProcessJob] = []

    def resources(self) -> int:
        """Return their number."""
        return self.number

    def submit(self, function: Callable[[Any], None], order: object) -> Worker:
        """Begin a process. Errors: :class:`InputError` for an order that cannot be sent to it."""
        # a copy of this process would have its locks, in whatever state they are, without the threads that hold them
        context = multiprocessing.get_context("spawn")
        try:
            sent = pickle.dumps((function, order))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise InputError(
                "this work cannot be sent to other processes", why=str(error), hint=f"use the engine {LOCAL}"
            ) from error
        # the order follows by itself: a process reads once Python has started, and may be killed before
        receiving, sending = context.Pipe(duplex=False)
        failures, failing = context.Pipe(duplex=False)
        process = context.Process(target=_run_while_parent_lives, args=(receiving, failing), daemon=True)
        process.start()
        receiving.close()
        failing.close()
        threading.Thread(target=_send, args=(sending, sent), daemon=True).start()
        self._jobs.append(_ProcessJob(process, failures))
        return self._jobs[-1]

    def cancel(self) -> None:
        """End those that are running."""
        for job in self._jobs:
            job.process.kill()
            job.process.join()
            job.failures.close()
        self._jobs.clear()


class _ProcessJob:
    def __init__(self, process: multiprocessing.process.BaseProcess, failures: Connection) -> None:
        self.process: Any = process
        self.failures = failures

    def is_running(self) -> bool:
        return bool(self.process.is_alive())

    def is_lost(self) -> bool:
        return not self.process.is_alive() and self.process.exitcode != 0

    def failure(self) -> Exception | None:
        # a process that was killed, or is done without a failure, has closed its end; one that sends waits for us
        with contextlib.suppress(EOFError, OSError):
            if not self.failures.closed and self.failures.poll():
                return _exception_of(self.failures.recv_bytes())
        return None


def _send(pipe: Connection, sent: bytes) -> None:
    # nobody receives what a killed process was sent
    with contextlib.closing(pipe), contextlib.suppress(BrokenPipeError):
        pipe.send_bytes(sent)


def _run_while_parent_lives(orders: Connection, failures: Connection) -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        parent.join()
        # nothing is half written: files appear whole, and what is missing is computed again
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    # Ctrl-C reaches every process of a terminal; the process that gave the order ends the others
    with contextlib.suppress(KeyboardInterrupt):
        failure = _attempt(_carry_out, orders.recv_bytes())
        if failure:
            failures.send_bytes(failure)


def _carry_out(sent: bytes) -> None:
    try:
        function, order = pickle.loads(sent)
    except (AttributeError, ImportError) as error:
        hint = f"write what you made to a file, or use the engine {LOCAL}"
        raise InputError("other processes do not find this work", why=str(error), hint=hint) from error
    function(order)


# -- clusters -------------------------------------------------------------------------------------------------------


class Ray:
    """Workers on a Ray cluster, or on one that is started here: one per processor, or with ``gpus=1`` one per GPU.

    *address* is that of the cluster's head (``auto``: the one that runs on this machine). Options: ``workers``, their
    number; ``gpus``, the GPUs of each. All machines must see the same folders under the same paths.
    """

    def __init__(self, address: str, options: dict[str, str]) -> None:
        unknown = sorted({*options} - {"workers", "gpus"})
        if unknown:
            raise SpecError(f"the engine ray has no option {unknown[0]!r}", hint="it has workers and gpus")
        self._address, self._gpus = address, _gpus(options.get("gpus", "0"))
        self._ray = require("ray", "ray")
        self._workers = _number(options["workers"], f"workers={options['workers']}") if "workers" in options else 0
        self._jobs: list[_RayJob] = []

    def resources(self) -> int:
        """Return the number of workers; join the cluster, or start one here.

        Errors: :class:`RunError` for a cluster that cannot be reached, or that has no machine for such a worker.
        """
        if not self._ray.is_initialized():
            self._join()
        machines = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        most = max((machine.get("GPU", 0) for machine in machines), default=0)
        if self._gpus > most:
            # Ray would wait for such a machine without an end
            what = f"no machine of this Ray cluster has {self._gpus:g} {'GPU' if self._gpus <= 1 else 'GPUs'}"
            raise RunError(what, why=f"the most that one has is {most:g}", hint="leave gpus= out, or lower it")
        if not any(machine.get("CPU", 0) >= 1 for machine in machines):
            raise RunError("no machine of this Ray cluster has a free processor", hint=f"use the engine {LOCAL}")
        has = self._ray.cluster_resources()
        return self._workers or max(1, int(has.get("GPU", 0) / self._gpus if self._gpus else has.get("CPU", 1)))

    def _join(self) -> None:
        place = Place(self._address) if self._address else None
        where = "name the address of the cluster's head (ray:HOST:6379), or use ray, which starts a cluster here"
        host, colon, port = self._address.rpartition("://")[2].rpartition(":")
        try:
            if colon and port.isdecimal():
                # Ray itself tries for minutes
                socket.create_connection((host.strip("[]"), int(port)), timeout=_SECONDS_TO_JOIN).close()
            # a cluster that is started here has no dashboard, which needs more of Ray than its core
            own: dict[str, Any] = {"address": self._address} if self._address else {"include_dashboard": False}
            self._ray.init(log_to_driver=False, **own)
        except (OSError, OverflowError, RuntimeError, ValueError, self._ray.exceptions.RayError) as error:
            what = "this Ray cluster cannot be reached" if self._address else "no Ray cluster can be started here"
            raise RunError(what, place=place, why=str(error), hint=where if self._address else _ALONE) from error

    def submit(self, function: Callable[[Any], None], order: object) -> Worker:
        """Begin a task of the cluster, which Ray itself does not repeat."""
        task = self._ray.remote(num_cpus=1, num_gpus=self._gpus, max_retries=0, max_calls=1)(_attempt)
        self._jobs.append(_RayJob(self._ray, task.remote(function, order)))
        return self._jobs[-1]

    def cancel(self) -> None:
        """End those that are running."""
        for job in self._jobs:
            if job.is_running():
                self._ray.cancel(job.task, force=True)
        self._jobs.clear()


def _gpus(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    # Ray divides a GPU, but gives out several as whole ones only
    if not 0 <= number < math.inf or (number > 1 and not number.is_integer()):
        raise SpecError(f"gpus={text} does not give the GPUs of a worker", hint="give 1, or .5 for two workers per GPU")
    return number


class _RayJob:
    def __init__(self, ray: Any, task: Any) -> None:
        self._ray, self.task = ray, task

    def is_running(self) -> bool:
        return not self._ray.wait([self.task], timeout=0)[0]

    def is_lost(self) -> bool:
        if self.is_running():
            return False
        try:
            self._ray.get(self.task)
        except self._ray.exceptions.RayError:
            return True
        return False

    def failure(self) -> Exception | None:
        if self.is_running() or self.is_lost():
            return None
        return _exception_of(self._ray.get(self.task))


class Slurm:
    """Jobs of a Slurm cluster, begun by submitit. All machines must see the same folders under the same paths.

    Options are parameters of submitit (``timeout_min``, ``slurm_partition``, ``gpus_per_node`` …); ``folder`` is where
    it keeps the jobs' orders and output (``slurm_jobs`` in the current folder); ``cluster=local`` runs them on this
    machine.
    """

    def __init__(self, number: int, options: dict[str, str]) -> None:
        submitit = require("submitit", "slurm")
        self.number = number
        named = {name: int(value) if value.isdecimal() else value for name, value in options.items()}
        folder, cluster = Path(str(named.pop("folder", "slurm_jobs"))), str(named.pop("cluster", "slurm"))
        if cluster not in _CLUSTERS:
            raise SpecError(f"there is no cluster={cluster} of the engine slurm", hint=f"use {' or '.join(_CLUSTERS)}")
        if cluster == "slurm" and shutil.which("srun") is None:
            hint = "run it where srun is found, or add cluster=local (slurm:2?cluster=local): jobs of this machine"
            raise RunError("this machine is not part of a Slurm cluster", why="there is no command srun", hint=hint)
        try:
            self._executor = submitit.AutoExecutor(folder=folder, cluster=cluster)
            self._executor.update_parameters(**{"name": "lexiscope", **named})
        except (AssertionError, NameError, RuntimeError, TypeError, ValueError) as error:
            raise SpecError("submitit does not take these options of the engine slurm", why=str(error)) from error
        self._jobs: list[_SlurmJob] = []

    def resources(self) -> int:
        """Return the number of jobs."""
        return self.number

    def submit(self, function: Callable[[Any], None], order: object) -> Worker:
        """Begin a job. Errors: :class:`RunError` if Slurm does not take it."""
        try:
            job = self._executor.submit(_attempt, function, order)
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            # submitit's own errors of a submission are RuntimeErrors
            hint = "check the options of the engine: partition, time, memory, GPUs"
            raise RunError("Slurm did not take the job", why=str(error), hint=hint) from error
        self._jobs.append(_SlurmJob(job))
        return self._jobs[-1]

    def cancel(self) -> None:
        """End those that are waiting or running."""
        for job in self._jobs:
            if job.is_running():
                job.job.cancel()
        self._jobs.clear()


class _SlurmJob:
    def __init__(self, job: Any) -> None:
        self.job = job

    def is_running(self) -> bool:
        return not self.job.done()

    def is_lost(self) -> bool:
        return bool(self.job.done()) and self.job.exception() is not None

    def failure(self) -> Exception | None:
        return None if self.is_running() or self.is_lost() else _exception_of(self.job.result())
