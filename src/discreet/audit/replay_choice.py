"""Selections in the replay audit: the privacy loss of a choice of columns on one pair.

A pick is an exponential mechanism. On a given pair of data sets its privacy loss lies in an
interval as long as the range of the score differences, max (q - q') - min (q - q'), over the noise
scale: this range takes the place of the distance between sums. The distribution of the picks is
tested as well: given the scores, the probability of a pick at least as good as each one is known,
and picks that are too good (or too bad) show noise of another size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

from discreet.curator.choice import Choice
from discreet.privacy import Pure, Release, Repeated
from discreet.rows import Picked


@dataclass(frozen=True)
class RecordedChoice:
    """One selection with its exact scores."""

    release: Release
    choice: Choice
    picked: Picked
    noisy: NDArray[np.object_] = field(default_factory=lambda: np.zeros(0, dtype=object))  # it has no noisy sums
    drawn: None = None

    def comparable(self, other: Any) -> bool:
        same_kind = isinstance(other, RecordedChoice) and self.choice.noise == other.choice.noise
        return same_kind and np.array_equal(self.choice.candidates, other.choice.candidates)

    def loss(self, other: RecordedChoice) -> float:
        difference = self.choice.scores - other.choice.scores
        width = float(difference.max() - difference.min()) / self.choice.noise.scale
        each = Pure(max(width, 1e-300), bounded_range=self.choice.noise.gumbel)
        later = getattr(self.release.cost, "followed_by", 0.0)
        return Repeated(each, max(len(self.picked.indices), 1), later).mu if width > 0 else 0.0

    def problems(self, false_alarm: float) -> list[str]:
        label, cost, noise = self.release.label, self.release.cost, self.choice.noise
        problems = []
        if getattr(cost, "times", None) != len(self.picked.indices):
            problems.append(f"{label!r} made {len(self.picked.indices)} picks and was charged for others")
        if len(set(self.picked.indices.tolist())) != len(self.picked.indices):
            problems.append(f"{label!r} picked a column twice")
        if np.max(np.abs(self.choice.scores - self._declared_scores()), initial=0.0) > 2:
            problems.append(f"{label!r} did not rank by what its query declares")
        if noise.gumbel and self._chance() < false_alarm:
            problems.append(f"the noise drawn for {label!r} is not of the declared size")
        return problems

    def _declared_scores(self) -> NDArray[np.float64]:
        """The scores recomputed from the exact sums; rounding may change each by a unit or two."""
        query, sums = self.choice.query, self.choice.sums.astype(np.float64)
        if query.offset is not None:
            sums = np.rint(query.offset / self.picked.unit) - sums
        scores = np.abs(sums) if query.sides == "absolute" else np.concatenate([sums, -sums])
        # Where scores are huge against their noise, doubles are exact to relative 2^-52 only.
        return np.asarray(np.clip(scores, -(2.0**52), 2.0**52)[self.choice.candidates])

    def _chance(self) -> float:
        """A two-sided p-value of the picks under the declared distribution."""
        scores, left = self.choice.scores / self.choice.noise.scale, np.ones(len(self.choice.scores), dtype=bool)
        good = bad = 0.0
        position = {int(candidate): i for i, candidate in enumerate(self.choice.candidates)}
        for index in self.picked.indices.tolist():
            chosen = position[index]
            weight = np.where(left, np.exp(scores - scores[left].max()), 0.0)
            weight /= weight.sum()
            good -= math.log(max(float(weight[scores >= scores[chosen]].sum()), 1e-300))
            bad -= math.log(max(float(weight[scores <= scores[chosen]].sum()), 1e-300))
            left[chosen] = False
        # Each term is at most exponential given those before it, so their sum is at most a gamma
        # variable.
        picks = len(self.picked.indices)
        return 2 * min(float(gammaincc(picks, good)), float(gammaincc(picks, bad)))


@dataclass(frozen=True)
class RecordedValues:
    """The chosen columns' sums, released with Laplace noise."""

    release: Release
    scale: float
    exact: NDArray[np.object_]
    noisy: NDArray[np.object_]
    drawn: None = None

    def comparable(self, other: Any) -> bool:
        return isinstance(other, RecordedValues) and (self.scale, len(self.exact)) == (other.scale, len(other.exact))

    def loss(self, other: RecordedValues) -> float:
        shifts = np.abs((self.exact - other.exact).astype(np.float64)) / self.scale
        return math.sqrt(math.fsum(Pure(float(shift)).mu ** 2 for shift in shifts if shift > 0))

    def problems(self, false_alarm: float) -> list[str]:
        # |noise| / scale is exponential, to within a grid unit of 2^-28 of it.
        total = float(np.sum(np.abs((self.noisy - self.exact).astype(np.float64)))) / self.scale
        tail = float(gammaincc(len(self.exact), total))
        if min(tail, 1 - tail) < false_alarm:
            return [f"the noise drawn for {self.release.label!r} is not of the declared size"]
        return []


NotASum = (RecordedChoice, RecordedValues)


def recorded_choice(choice: Choice, picked: Picked) -> list[RecordedChoice | RecordedValues]:
    """A selection, and its values if they were released too."""
    made: list[RecordedChoice | RecordedValues] = [RecordedChoice(choice.releases[0], choice, picked)]
    if picked.whole is not None:
        values = choice.releases[1]
        assert isinstance(values.cost, Repeated)
        scale, exact = choice.noise.value_scale(values.cost), choice.sums[picked.indices]
        made.append(RecordedValues(values, scale, exact, np.array(picked.whole, dtype=object)))
    return made
