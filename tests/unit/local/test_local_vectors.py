"""What every client agrees on: the same records and coins give the same bytes, the same documents
are tasks.
"""

from __future__ import annotations

import json

import pytest
from make_vectors import VECTORS, Words, changed, verdict

from discreet.local import Task
from discreet.local.client import fresh_report

if not VECTORS.exists():
    pytest.skip("the clients are not here", allow_module_level=True)

SHARED = json.loads(VECTORS.read_text(encoding="utf-8"))


def test_a_thousand_reports_are_made_to_the_last_bit():
    tasks = [Task.from_dict(json.loads(entry["document"])) for entry in SHARED["tasks"]]
    assert [task.digest for task in tasks] == [entry["digest"] for entry in SHARED["tasks"]]
    assert len(SHARED["reports"]) == 1000
    for entry in SHARED["reports"]:
        body = fresh_report(tasks[entry["task"]], entry["record"], Words(bytes.fromhex(entry["random"])))
        assert body.hex() == entry["body"]


def test_the_same_documents_are_tasks():
    contents = [json.loads(entry["document"]) for entry in SHARED["tasks"]]
    for entry in SHARED["verdicts"]:
        assert verdict(changed(contents[entry["task"]], entry["path"], entry["value"])) == entry["digest"], entry
    accepted = [entry["digest"] is not None for entry in SHARED["verdicts"]]
    assert 20 < sum(accepted) < 0.5 * len(accepted)
