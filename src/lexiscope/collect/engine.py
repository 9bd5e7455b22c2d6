"""Engines: workers on the processors of this machine or of a cluster.

An engine is named like a subject: ``local``, ``processes:4``, ``ray``, ``ray:ADDRESS``,
``slurm:8?slurm_partition=cpu``. Its work must have the same result for any number of workers and attempts, and must
write no half files. A lost worker can then be replaced by another worker, and in the end by the process that gave the
orders.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from lexiscope.core.errors import InputError, SpecError, require
from lexiscope.core.settings import ENGINE
from lexiscope.core.spec import split_options

LOCAL = "local"
_FORMS = "local, processes:N, ray, ray:ADDRESS or slurm:N"
_ATTEMPTS = 3
"""How often an order is given out: a machine may fail once, a fault of the work itself comes back."""

_PAUSE = 0.05


class Worker(Protocol):
    """A worker that was begun."""

    def is_running(self) -> bool:
        """Whether it has not yet ended."""

    def is_lost(self) -> bool:
        """Whether it ended without having returned from its function."""


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

    Errors: :class:`SpecError` for another name; :class:`MissingExtraError` for an engine that is not installed.
    """
    given, options = split_options(name or os.environ.get(ENGINE, LOCAL))
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
    interrupted, or *wait* fails, it ends every worker. Errors: those of *wait* and of :meth:`Executor.submit`.
    """
    try:
        running = [(engine.submit(function, order), order, 1) for order in orders]
        while running:
            wait()
            time.sleep(_PAUSE)
            ended = [not job.is_running() for job, _, _ in running]
            lost = [entry for entry, has_ended in zip(running, ended, strict=True) if has_ended and entry[0].is_lost()]
            running = [entry for entry, has_ended in zip(running, ended, strict=True) if not has_ended]
            running += [(engine.submit(function, order), order, n + 1) for _, order, n in lost if n < _ATTEMPTS]
    finally:
        engine.cancel()


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
        process = context.Process(target=_run_while_parent_lives, args=(receiving,), daemon=True)
        process.start()
        receiving.close()
        threading.Thread(target=_send, args=(sending, sent), daemon=True).start()
        self._jobs.append(_ProcessJob(process))
        return self._jobs[-1]

    def cancel(self) -> None:
        """End those that are running."""
        for job in self._jobs:
            job.process.kill()
            job.process.join()
        self._jobs.clear()


class _ProcessJob:
    def __init__(self, process: multiprocessing.process.BaseProcess) -> None:
        self.process: Any = process

    def is_running(self) -> bool:
        return bool(self.process.is_alive())

    def is_lost(self) -> bool:
        return not self.process.is_alive() and self.process.exitcode != 0


def _send(pipe: Connection, sent: bytes) -> None:
    # nobody receives what a killed process was sent
    with contextlib.closing(pipe), contextlib.suppress(BrokenPipeError):
        pipe.send_bytes(sent)


def _run_while_parent_lives(orders: Connection) -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        parent.join()
        # nothing is half written: files appear whole, and what is missing is computed again
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    # Ctrl-C reaches every process of a terminal; the process that gave the order ends the others
    with contextlib.suppress(KeyboardInterrupt):
        function, order = pickle.loads(orders.recv_bytes())
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
        self._ray = require("ray", "ray")
        self._address, self._gpus = address, float(options.get("gpus", 0))
        self._workers = _number(options["workers"], f"workers={options['workers']}") if "workers" in options else 0
        self._jobs: list[_RayJob] = []

    def resources(self) -> int:
        """Return the number of workers; join the cluster, or start one here."""
        if not self._ray.is_initialized():
            # a cluster that is started here has no dashboard, which needs more of Ray than its core
            own: dict[str, Any] = {"address": self._address} if self._address else {"include_dashboard": False}
            self._ray.init(log_to_driver=False, **own)
        has = self._ray.cluster_resources()
        return self._workers or int(has.get("GPU", 0) / self._gpus if self._gpus else has.get("CPU", 1))

    def submit(self, function: Callable[[Any], None], order: object) -> Worker:
        """Begin a task of the cluster, which Ray itself does not repeat."""
        task = self._ray.remote(num_cpus=1, num_gpus=self._gpus, max_retries=0, max_calls=1)(_call)
        self._jobs.append(_RayJob(self._ray, task.remote(function, order)))
        return self._jobs[-1]

    def cancel(self) -> None:
        """End those that are running."""
        for job in self._jobs:
            if job.is_running():
                self._ray.cancel(job.task, force=True)
        self._jobs.clear()


def _call(function: Callable[[Any], None], order: object) -> None:
    # Ray takes functions only, and no other callable
    function(order)


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


class Slurm:
    """Jobs of a Slurm cluster, begun by submitit. All machines must see the same folders under the same paths.

    Options are parameters of submitit (``timeout_min``, ``slurm_partition``, ``gpus_per_node`` …); ``folder`` is where
    it keeps the jobs' output; ``cluster=local`` runs them on this machine.
    """

    def __init__(self, number: int, options: dict[str, str]) -> None:
        submitit = require("submitit", "slurm")
        self.number = number
        named = {name: int(value) if value.isdecimal() else value for name, value in options.items()}
        folder = Path(str(named.pop("folder", "slurm_jobs")))
        self._executor = submitit.AutoExecutor(folder=folder, cluster=named.pop("cluster", "slurm"))
        try:
            self._executor.update_parameters(**{"name": "lexiscope", **named})
        except (NameError, ValueError, TypeError) as error:
            raise SpecError("submitit does not take these options of the engine slurm", why=str(error)) from error
        self._jobs: list[_SlurmJob] = []

    def resources(self) -> int:
        """Return the number of jobs."""
        return self.number

    def submit(self, function: Callable[[Any], None], order: object) -> Worker:
        """Begin a job."""
        self._jobs.append(_SlurmJob(self._executor.submit(function, order)))
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
