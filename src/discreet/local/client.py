"""The device's side: one record in, one randomized report out. The record ends here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from discreet.domain.columns import Categorical
from discreet.errors import DomainError
from discreet.local.columns import Floats, cell, encoded_columns
from discreet.local.device_ledger import DeviceLedger
from discreet.local.task import Task
from discreet.local.wire import encode
from discreet.noise.bits import Bits, SystemBits

DEFAULT_CAP = (10.0, 1e-6)


class Client:
    """Answers one task from one record, once.

    state_dir: where the device remembers its answers; None remembers them as long as this object lives.
    cap: the (epsilon, delta) that all tasks in this state_dir may cost one owner together.
    owner: whose record it is, where one state_dir serves several people.

    Privacy: the report gives the task's guarantee for the replacement of the whole record, whatever the record holds.
    A missing or odd value makes the record count as unusable, and its report looks like any other. A record that lacks
    a column altogether is refused: that is a misspelt name, not an answer.
    """

    def __init__(
        self,
        task: Task,
        state_dir: str | PathLike[str] | None = None,
        *,
        cap: tuple[float, float] = DEFAULT_CAP,
        owner: str = "",
        bits: Bits | None = None,
    ) -> None:
        self._task = task
        self._bits = bits
        self._ledger = DeviceLedger(state_dir, cap, owner)

    def report(self, record: Mapping[str, Any]) -> bytes:
        """The report's bytes; the same bytes when asked again."""
        check_columns(self._task, record)
        return self._ledger.answer(self._task, lambda: fresh_report(self._task, record, self._bits))


def check_columns(task: Task, record: Mapping[str, Any]) -> None:
    """Raise if a column of the task is not in the record: an empty answer has its column, a misspelt one has not."""
    names = [column.name for column in task.columns] + [task.target.name]
    lacking = [name for name in names if name not in record]
    if lacking:
        raise DomainError(
            f"the record has no {', '.join(map(repr, lacking))}: it needs the columns {', '.join(map(repr, names))}; "
            "an answer that was not given is an empty value, not a missing column"
        )


def fresh_report(task: Task, record: Mapping[str, Any], bits: Bits | None = None) -> bytes:
    """A new report of one record; nothing remembers that it was drawn."""
    return reports(task, *encoded_record(task, record), bits)[0]


def encoded_record(task: Task, record: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """One record as (1, x) and y, by declared bounds; NaN where a value is missing, odd or undeclared."""
    columns = {column.name: [cell(record, column, column.name)] for column in task.columns}
    target = Categorical(task.target.name, task.target.values) if task.target.values else None
    return encoded_columns(task, columns, 1), task.target.encode([cell(record, target, task.target.name)])


def reports(task: Task, rows: Floats, labels: Floats, bits: Bits | None = None) -> Sequence[bytes]:
    """One new report a record, from encoded rows (1, x) and labels in their own units."""
    source = SystemBits() if bits is None else bits
    vectors = task.statistic.vectors(rows, task.target.scaled(labels))
    drawn = np.asarray(source.words(2 * len(rows)), dtype="<u8").tobytes()
    identities = [drawn[start : start + 16] for start in range(0, len(drawn), 16)]
    payloads = task.randomizer.randomize(bytes.fromhex(task.digest), vectors, identities, source)
    return [encode(task, payload, one) for payload, one in zip(payloads, identities, strict=True)]
