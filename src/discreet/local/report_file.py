"""A file of reports: their bodies one after another, all of the same size."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from discreet.local.collection import Collection
from discreet.local.task import Task
from discreet.local.wire import WireError, decode, report_id


def read_reports(task: Task, path: str | PathLike[str]) -> Collection:
    """The collection of a file's reports, each id counted once.

    One damaged report, or one of another task, makes the file invalid.
    """
    content = Path(path).read_bytes()
    size = task.body_size
    if len(content) % size:
        raise WireError(f"a file of this task's reports must be a multiple of {size} bytes long")
    collection = Collection(task)
    seen: dict[bytes, bytes] = {}
    for start in range(0, len(content), size):
        body = content[start : start + size]
        values = decode(task, body)
        if seen.setdefault(report_id(body), body) != body:
            raise WireError("two different reports have the same id")
        if seen[report_id(body)] is body:
            collection.add(values)
    return collection
