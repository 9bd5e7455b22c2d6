"""Claims of paid requests: one holder at a time, told who was there before."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lexiscope.core.errors import RunError
from lexiscope.subjects.endpoint._request_claims import LEASE, RequestClaims


def test_a_claim_has_one_holder(tmp_path: Path) -> None:
    """Of many that want it at once, one gets it; what is sealed can be taken anew."""
    with RequestClaims(tmp_path) as first, RequestClaims(tmp_path) as second, ThreadPoolExecutor(8) as pool:
        both = [first, second] * 20
        taken = list(pool.map(lambda claims: claims.take("a" * 64), both))
        assert sum(state is not None for state in taken) == 1
        assert first.take("b" * 64) == ()
        first.seal("b" * 64)
        assert second.take("b" * 64) == ()


def test_a_claim_that_was_given_back_is_free(tmp_path: Path) -> None:
    """Nobody is told of it: nothing is open."""
    with RequestClaims(tmp_path) as first, RequestClaims(tmp_path) as second:
        assert first.take("a" * 64) == ()
        assert second.take("a" * 64) is None
        first.release("a" * 64)
        assert second.take("a" * 64) == ()
        assert first.take("a" * 64) is None


def test_the_claim_of_a_worker_that_is_gone(tmp_path: Path) -> None:
    """The next holder is told who was there, also of two in turn."""
    names = []
    for _ in range(2):
        with RequestClaims(tmp_path) as gone:
            assert gone.take("a" * 64) == tuple(names)
            names.append(gone.worker)
    with RequestClaims(tmp_path) as later:
        assert later.take("a" * 64) == tuple(names)


def test_a_worker_of_another_machine_has_a_lease(tmp_path: Path) -> None:
    """It holds as long as it is renewed; a lock says nothing there."""
    (tmp_path / ("a" * 40 + ".0")).write_text("elsewhere\n")
    worker = tmp_path / "worker-elsewhere"
    worker.write_text("another machine")
    with RequestClaims(tmp_path) as here:
        assert here.take("a" * 64) is None
        _make_older(worker, LEASE + 5)
        assert here.take("a" * 64) == ("elsewhere",)


def test_a_claim_that_was_never_written(tmp_path: Path) -> None:
    """Its worker ended before it sent anything: after the lease it is free, and nobody had it."""
    claim = tmp_path / ("a" * 40 + ".0")
    claim.touch()
    with RequestClaims(tmp_path) as here:
        assert here.take("a" * 64) is None
        _make_older(claim, LEASE + 5)
        assert here.take("a" * 64) == ()


def test_a_lease_is_renewed(tmp_path: Path) -> None:
    """The worker's file is touched again and again while its block lasts, and gone after it."""
    with RequestClaims(tmp_path, lease=0.02) as here:
        worker = tmp_path / f"worker-{here.worker}"
        _make_older(worker, 3600)
        old = worker.stat().st_mtime
        while worker.stat().st_mtime == old:
            pass
    assert not worker.exists()


def test_without_a_folder_there_are_no_claims() -> None:
    """Every request is free: nothing is kept that another worker could read."""
    with RequestClaims(None) as claims:
        assert claims.take("a") == claims.take("a") == ()
        claims.seal("a")
        claims.release("a")


def test_a_place_that_cannot_be_written_to(tmp_path: Path) -> None:
    """It is named."""
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="a claim on a request cannot be kept"), RequestClaims(tmp_path / "file"):
        pass


def _make_older(path: Path, seconds: float) -> None:
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))
