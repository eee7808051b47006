"""Odd tasks, records and reports: Python, JavaScript and a plain reading of the page judge them
alike.

A million of them: tests/soak/local_fuzz.py, benchmarks/results/local_fuzz.md.
"""

from __future__ import annotations

import json

import pytest
from tests.local_fuzz import Disagreement, fuzz, judged_task, node_program, tasks
from tests.local_reference import canonical, is_task

from discreet.errors import DomainError
from discreet.local import Task


@pytest.fixture(scope="module")
def offered():
    return tasks()


def test_three_readers_judge_odd_inputs_alike(offered):
    node = node_program() is not None
    tally = fuzz(offered, 3000, seed=11, node=node)
    for kind in ("task", "wire", "record"):
        assert 0.03 * tally.inputs[kind] < tally.accepted[kind] < tally.inputs[kind]
    if not node:
        pytest.skip("Node is not installed: Python and the plain reading agree, JavaScript was not asked")


def test_a_reader_that_accepts_too_much_is_noticed(offered, monkeypatch):
    monkeypatch.setattr(Task, "_check_guarantee", lambda task: None)
    content = offered[0].to_dict(design=False)
    content["epsilon"] = 0.01
    with pytest.raises(Disagreement, match="Python accepts"):
        judged_task(canonical(json.loads(json.dumps(content), parse_int=float)).encode())


@pytest.mark.parametrize(
    "change",
    [
        {"design": None},  # its digest was that of a task without a design
        {"name": "\ud800"},  # has no digest
        {"design": {"kind": "rows", "count": 1, "data": "AAAAAAAAAAB="}},  # unused bits: the digest was another's
    ],
)
def test_what_has_no_digest_of_its_own_is_no_task(offered, change):
    content = offered[0].to_dict(design=False) | change
    with pytest.raises(DomainError):
        Task.from_dict(content)


def test_the_plain_reading_knows_a_task(offered):
    for task in offered:
        assert is_task(task.document)
        assert not is_task(task.document + b" ")
