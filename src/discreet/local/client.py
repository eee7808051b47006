"""The device's side: it turns one record into one randomized report. The record goes no further."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from discreet.domain.columns import Categorical, Column, Numeric
from discreet.errors import DomainError
from discreet.local.columns import Floats, cell, encoded_columns
from discreet.local.device_ledger import DeviceLedger
from discreet.local.task import Task
from discreet.local.wire import encode
from discreet.noise.bits import Bits, SystemBits

DEFAULT_CAP = (10.0, 1e-6)


class Client:
    """Answers a task from one record, and only once.

    Parameters
    ----------
    task : Task
        The public task that the reports answer.
    state_dir : str or path, optional
        Where the device stores its reports; with None they are kept as long as this object lives.
    cap : tuple[float, float], default (10.0, 1e-06)
        The (epsilon, delta) that all tasks in this state_dir may cost one owner together.
    owner : str, default ''
        Whose record it is, where one state_dir serves several people.
    bits : Bits, optional
        The source of random bits; the operating system by default. Pass another one in tests only.

    Privacy
    -------
    The report gives the task's guarantee for the replacement of the whole record, whatever the
    record holds. A missing or malformed value makes the record unusable, and its report looks like
    any other. A record that lacks a column is refused: that is a misspelt name, not an answer.

    Examples
    --------
    >>> from discreet import Domain, Numeric
    >>> from discreet.local import new_task
    >>> task = new_task(
    ...     "cost by age",
    ...     domain=Domain((Numeric("age", 18, 90),)),
    ...     target=Numeric("cost", 0, 1),
    ...     epsilon=4.0,
    ...     goal=20_000,
    ... )
    >>> from discreet.local import Client
    >>> client = Client(task)
    >>> report = client.report({"age": 50, "cost": 0.4})
    >>> len(report), client.report({"age": 50, "cost": 0.4}) == report
    (34, True)
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
        self._clients = Clients(task, state_dir, cap=cap, bits=bits)
        self._owner = owner

    def report(self, record: Mapping[str, Any]) -> bytes:
        """The report's bytes; every later call returns the same bytes.

        Parameters
        ----------
        record : mapping
            One answer for every column of the task, by name; an empty value where there is none.

        Returns
        -------
        bytes
            What the device sends.
        """
        return self._clients.reports([(self._owner, record)])[0]


class Clients:
    """Reports of many people whose records are on one machine, stored in one transaction."""

    def __init__(
        self,
        task: Task,
        state_dir: str | PathLike[str] | None = None,
        *,
        cap: tuple[float, float] = DEFAULT_CAP,
        bits: Bits | None = None,
    ) -> None:
        self._task, self._bits = task, bits
        self._ledger = DeviceLedger(state_dir, cap)

    def reports(self, records: Sequence[tuple[str, Mapping[str, Any]]]) -> list[bytes]:
        """One report for each owner and record, in this order.

        An owner who occurs several times gets the same report each time.
        """
        task = self._task
        for _, record in records:
            check_columns(task, record)

        def make(places: list[int]) -> Sequence[bytes]:
            return fresh_reports(task, [records[place][1] for place in places], self._bits)

        return self._ledger.answers(task, [owner for owner, _ in records], make)


def check_columns(task: Task, record: Mapping[str, Any]) -> None:
    """Raise if the record lacks a column of the task.

    An answer that was not given has its column, with an empty value.
    """
    names = [column.name for column in task.columns] + [task.target.name]
    lacking = [name for name in names if name not in record]
    if lacking:
        raise DomainError(
            f"the record has no {', '.join(map(repr, lacking))}: it needs the columns {', '.join(map(repr, names))}; "
            "an answer that was not given is an empty value, not a missing column"
        )


def fresh_report(task: Task, record: Mapping[str, Any], bits: Bits | None = None) -> bytes:
    """A new report of one record, which is not stored."""
    return fresh_reports(task, [record], bits)[0]


def fresh_reports(task: Task, records: Sequence[Mapping[str, Any]], bits: Bits | None = None) -> Sequence[bytes]:
    """A new report of each record; they are not stored."""
    return reports(task, *encoded_records(task, records), bits) if records else []


def encoded_record(task: Task, record: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """One record as (1, x) and y, by declared bounds; NaN for missing or undeclared values."""
    return encoded_records(task, [record])


def encoded_records(task: Task, records: Sequence[Mapping[str, Any]]) -> tuple[Floats, Floats]:
    """Records as rows (1, x) and labels y."""
    columns = {column.name: _cells(records, column) for column in task.columns}
    target = Categorical(task.target.name, task.target.values) if task.target.values else None
    labels = task.target.encode([cell(record, target, task.target.name) for record in records])
    return encoded_columns(task, columns, len(records)), labels


def _cells(records: Sequence[Mapping[str, Any]], column: Column) -> Any:
    """One column's answers: numbers with NaN where one is missing, or a category's
    levels as text.
    """
    found = [cell(record, column, column.name) for record in records]
    return np.array(found, dtype=np.float64) if isinstance(column, Numeric) else found


def reports(task: Task, rows: Floats, labels: Floats, bits: Bits | None = None) -> Sequence[bytes]:
    """One new report for each record, from encoded rows (1, x) and labels in their own units."""
    source = SystemBits() if bits is None else bits
    vectors = task.statistic.vectors(rows, task.target.scaled(labels))
    drawn = np.asarray(source.words(2 * len(rows)), dtype="<u8").tobytes()
    identities = [drawn[start : start + 16] for start in range(0, len(drawn), 16)]
    payloads = task.randomizer.randomize(bytes.fromhex(task.digest), vectors, identities, source)
    return [encode(task, payload, one) for payload, one in zip(payloads, identities, strict=True)]
