"""Counters for the operator: how many requests ended how, how long commits took. Never a value, an id or a token."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

_COMMIT_BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
_SIZE_BOUNDS = (1, 2, 4, 8, 16, 32, 64, 128)


class Histogram:
    """Counts per range, of fixed size however long the collector runs."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def lines(self, name: str) -> list[str]:
        """In Prometheus' text format."""
        lines, below = [f"# TYPE {name} histogram"], 0
        for bound, count in zip([*map(str, self._bounds), "+Inf"], self._counts, strict=True):
            below += count
            lines.append(f'{name}_bucket{{le="{bound}"}} {below}')
        return [*lines, f"{name}_sum {self._sum:.6f}", f"{name}_count {below}"]


class Metrics:
    """Everything that ``/metrics`` shows."""

    def __init__(self) -> None:
        self.responses: Counter[str] = Counter()  # keyed by a fixed set of codes, so it cannot grow
        self.commit_seconds = Histogram(_COMMIT_BOUNDS)
        self.batch_sizes = Histogram(_SIZE_BOUNDS)

    def text(self, *, waiting: int, counted: int) -> str:
        """In Prometheus' text format."""
        lines = ["# TYPE discreet_reports_total counter"]
        lines += [f'discreet_reports_total{{outcome="{code}"}} {n}' for code, n in sorted(self.responses.items())]
        lines += ["# TYPE discreet_waiting gauge", f"discreet_waiting {waiting}"]
        lines += ["# TYPE discreet_counted gauge", f"discreet_counted {counted}"]
        lines += self.commit_seconds.lines("discreet_commit_seconds")
        lines += self.batch_sizes.lines("discreet_commit_reports")
        return "\n".join(lines) + "\n"
