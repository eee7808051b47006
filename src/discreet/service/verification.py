"""Recomputing a collection's sums from its stored reports alone."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from discreet.errors import StoreCorrupt
from discreet.local import wire
from discreet.local.task import Task
from discreet.service.entries import Total, added, row_checksum
from discreet.service.tokens import Keys

VERIFIED = "verified"  # the note with the time of the last verification and the number of reports then
ReportRow = tuple[bytes, int, bytes, bytes]  # id, batch, body, checksum


def empty_total(task: Task, batch: int) -> Total:
    """Before the first report."""
    return Total(batch, 0, np.zeros(task.report_entries, dtype=np.int64))


def added_again(task: Task, keys: Keys, rows: Iterable[ReportRow]) -> list[Total]:
    """The sums of these stored reports; raises if one of them is not what was written."""
    totals: dict[int, Total] = {}
    for report_id, batch, body, checksum in rows:
        if checksum != row_checksum(keys, task.digest, batch, report_id, body):
            raise StoreCorrupt(f"stored report {report_id.hex()} is not what was written")
        total = totals.get(batch) or empty_total(task, batch)
        totals[batch] = added(total, [wire.decode(task, body)])
    return [totals[batch] for batch in sorted(totals)]


def check_same(running: Iterable[Total], again: Iterable[Total]) -> None:
    """Raise unless the running sums are those of the stored reports: none lost, none
    counted twice.
    """
    kept, found = ({total.batch: total for total in totals} for totals in (running, again))
    for batch in kept.keys() | found.keys():
        one, other = kept.get(batch), found.get(batch)
        if one is None or other is None or one.count != other.count or not np.array_equal(one.values, other.values):
            counts = [0 if total is None else total.count for total in (one, other)]
            raise StoreCorrupt(
                f"batch {batch}: the running sum of {counts[0]} reports is not that of the {counts[1]} stored ones"
            )
