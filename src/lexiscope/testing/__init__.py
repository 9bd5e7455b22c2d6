"""The test kit for authors: does a dataset, task, kind of subject or study keep the contracts of its kind?

Lexiscope's own datasets, tasks, subjects and studies are held to the same contracts. Each contract is a function with a
name; it reports what breaks it as sentences. ``check_dataset``, ``check_task``, ``check_subject`` and ``check_study``
take the name of an entry point or a path, run all contracts, and raise one :class:`ContractError` that lists everything
that is broken. In a test suite, run them one by one::

    import pytest
    from lexiscope.testing import DATASET_CONTRACTS, check_dataset

    @pytest.mark.parametrize("contract", DATASET_CONTRACTS)
    def test_my_norms(contract):
        check_dataset("my_norms", only=contract)
"""

from __future__ import annotations

from lexiscope.testing.contract import ContractError
from lexiscope.testing.dataset import DATASET_CONTRACTS, check_dataset
from lexiscope.testing.study import STUDY_CONTRACTS, check_study
from lexiscope.testing.subject import SUBJECT_CONTRACTS, check_subject
from lexiscope.testing.task import SCREEN_CONTRACTS, TASK_CONTRACTS, check_task

__all__ = [
    "DATASET_CONTRACTS",
    "SCREEN_CONTRACTS",
    "STUDY_CONTRACTS",
    "SUBJECT_CONTRACTS",
    "TASK_CONTRACTS",
    "ContractError",
    "check_dataset",
    "check_study",
    "check_subject",
    "check_task",
]
