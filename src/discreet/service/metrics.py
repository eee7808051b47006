"""Counters for the operator: outcomes of requests and times of commits; never a value,
id or token.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping

_COMMIT_BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
_SIZE_BOUNDS = (1, 2, 4, 8, 16, 32, 64, 128)

# The reasons for refusals, by which they are counted, with their meaning for the page.
REFUSALS = {
    "token_needed": "no valid token",
    "role_forbidden": "a token for something else",
    "token_used": "a token that has reported already",
    "conflict": "another report under the same id",
    "malformed": "not a report of this task",
    "too_short": "a body that is too short",
    "too_long": "a body that is too long",
    "too_slow": "a body or an answer that took too long",
    "busy": "too many reports at once",
    "store_full": "no room in the store",
    "store_failed": "the store could not be used",
    "head_too_long": "header fields that are too long or too many",
    "too_slow_head": "a connection that sent nothing, or too slowly",
    "not_http": "not an HTTP request",
    "too_many_connections": "too many connections",
    "too_many_from_address": "too many connections from one address",
    "too_many_at_once": "too many requests sent ahead",
}


class Histogram:
    """Counts per range, of fixed size however long the collector runs."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    @property
    def mean(self) -> float | None:
        count = sum(self._counts)
        return self._sum / count if count else None

    def lines(self, name: str) -> list[str]:
        """In Prometheus' text format."""
        lines, below = [], 0
        for bound, count in zip([*map(str, self._bounds), "+Inf"], self._counts, strict=True):
            below += count
            lines.append(f'{name}_bucket{{le="{bound}"}} {below}')
        return [*lines, f"{name}_sum {self._sum:.6f}", f"{name}_count {below}"]


class Metrics:
    """What is counted while the collector runs; all of it starts at zero with the process."""

    def __init__(self) -> None:
        self.stored: Counter[str] = Counter()  # accepted and repeated
        self.refusals: Counter[str] = Counter()  # keyed by a fixed set of codes, so it cannot grow
        self.commit_seconds = Histogram(_COMMIT_BOUNDS)
        self.commit_reports = Histogram(_SIZE_BOUNDS)

    def text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """In Prometheus' text format; ``gauges`` are current values, each with its description."""
        stored = [f'{{outcome="{code}"}} {self.stored[code]}' for code in ("accepted", "repeated")]
        refused = [f'{{reason="{code}"}} {self.refusals[code]}' for code in REFUSALS]
        lines = _counter("discreet_reports_total", "Reports acknowledged, by outcome.", stored)
        lines += _counter("discreet_refused_total", "Requests and connections refused, by reason.", refused)
        for name, (meaning, value) in gauges.items():
            lines += [*_head(name, meaning, "gauge"), f"{name} {value:.10g}"]
        lines += _head("discreet_commit_seconds", "Time of one commit to the store.", "histogram")
        lines += self.commit_seconds.lines("discreet_commit_seconds")
        lines += _head("discreet_commit_reports", "Reports in one commit.", "histogram")
        lines += self.commit_reports.lines("discreet_commit_reports")
        return "\n".join(lines) + "\n"


def _head(name: str, meaning: str, kind: str) -> list[str]:
    return [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]


def _counter(name: str, meaning: str, labelled: list[str]) -> list[str]:
    return [*_head(name, meaning, "counter"), *(name + value for value in labelled)]
