"""Local reports in the replay audit: the privacy loss of one device's report.

A report is an id, which does not depend on the record, and the number of one of the candidates that
the id fixes. Its law given the id is a finite list of probabilities, so two records are compared
exactly: by the largest ratio of the two lists.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.privacy import Pure, Release

Floats = NDArray[np.float64]
Law = Callable[[bytes], Floats]


@dataclass(frozen=True)
class RecordedReport:
    """One report as it looked on its device."""

    release: Release
    identity: bytes
    chances: Floats
    index: int
    noisy: NDArray[np.object_] = field(default_factory=lambda: np.zeros(0, dtype=object))  # it has no noisy sums
    drawn: None = None

    def comparable(self, other: Any) -> bool:
        same = isinstance(other, RecordedReport) and self.identity == other.identity
        return same and self.chances.shape == other.chances.shape

    def loss(self, other: RecordedReport) -> float:
        ratio = float(np.abs(np.log(self.chances) - np.log(other.chances)).max())
        return Pure(ratio).mu if ratio > 1e-12 else 0.0

    def log_ratio(self, other: RecordedReport) -> float:
        """The log ratio of the report's probability given its own record and given the other."""
        return float(np.log(self.chances[self.index]) - np.log(other.chances[self.index]))

    def problems(self, false_alarm: float) -> list[str]:
        label = self.release.label
        if not np.isfinite(np.log(self.chances)).all() or abs(float(self.chances.sum()) - 1) > 1e-9:
            return [f"the probabilities of {label!r} are not those of a report"]
        if self.chances[self.index] < false_alarm:
            return [f"{label!r} reported a candidate of negligible probability"]
        return []
