"""The device's side: one record in, one randomized report out. The record ends here."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.local.device_ledger import DeviceLedger
from discreet.local.plan import Plan
from discreet.local.statistic import encoded_record, exact_report
from discreet.local.task import Task
from discreet.local.wire import ID_BYTES, encode
from discreet.noise import Bits, discrete_gaussian

DEFAULT_CAP = (10.0, 1e-6)


class Client:
    """Answers one task from one record, once.

    state_dir: where the device remembers its answers; None remembers them as long as this object lives.
    cap: the (epsilon, delta) that all tasks in this state_dir may cost one owner together.
    owner: whose record it is, where one state_dir serves several people.

    Privacy: the report is task.mu-GDP for the replacement of the whole record, whatever the record holds. A missing or
    odd value makes the record count as zero, and its report looks like any other.
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
        task = self._task
        root = task.digest if task.second is None else task.second.parent
        return self._ledger.answer(f"{root}/{task.round}", task.digest, task.plan.mu, lambda: self._fresh(record))

    def _fresh(self, record: Mapping[str, Any]) -> bytes:
        exact = exact_report(self._task, *encoded_record(self._task, record))[0]
        noisy = within_support(exact + draw_noise(self._task.plan, self._bits), self._task.plan.limit)
        return encode(self._task, noisy, os.urandom(ID_BYTES))


def draw_noise(plan: Plan, bits: Bits | None = None) -> NDArray[np.int64]:
    """Exact discrete Gaussian noise for one report."""
    noise = np.empty(plan.entries, dtype=np.int64)
    for scale in np.unique(plan.scales):
        which = plan.scales == scale
        noise[which] = discrete_gaussian(float(scale), int(which.sum()), bits=bits)
    return noise


def within_support(values: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """The values, shortened to the limit if their norm is above it: post-processing, once in 270,000 reports."""
    squares = sum(value * value for value in values.tolist())
    if squares <= limit**2:
        return values
    # Rounding towards zero cannot lengthen.
    return np.trunc(values * (limit / math.sqrt(squares) * (1 - 1e-12))).astype(np.int64)
