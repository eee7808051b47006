"""The replay audit: does a fit keep its promise on this pair of neighbouring data sets?

Fit on D and record every release: the exact sum behind the door, the noise scale, the output. Then fit on the neighbour
D', hand out the recorded *outputs* instead of fresh ones, and look at the exact sums again. An algorithm that sees
nothing but outputs must then do the same things: ask as often, with the same noise, and end with the same model, to
the byte. What is left of the difference is the sums, and Gaussian noise of standard deviation s hides a difference of
q - q' exactly as well as a mu-GDP mechanism with mu^2 = sum (q - q')^2 / s^2: that may never exceed the claim.

Two fits find what black-box audits need 100,000 for, and correct code measures 1.0000 of its claim on the worst
neighbour. What it cannot find is a leak that the given pair does not show: vary x, y and the number of rows.
"""

from __future__ import annotations

import math
import pickle
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtr, chdtrc

from discreet.curator import GridNoise, Integers, listening
from discreet.privacy import Guarantee, Release

# The noise itself is tested too: its sum of squares lies outside these tails once in 10^9 honest fits.
_FALSE_ALARM = 1e-9
# Rounding to grid units and the margins of the calibration stay far below this.
_TOLERANCE = 1e-9

Data = tuple[Any, ...]


@dataclass(frozen=True)
class Recorded:
    """One release as it looked from behind the door."""

    release: Release
    scales: NDArray[np.float64]
    independent: NDArray[np.bool_]
    exact: Integers
    noisy: Integers


@dataclass
class Recorder:
    """Lets the fit run as it would, and remembers."""

    heard: list[Recorded] = field(default_factory=list)

    def release(self, release: Release, noise: GridNoise, exact: Integers, noisy: Integers) -> Integers:
        self.heard.append(Recorded(release, noise.scales, noise.independent, exact, noisy))
        return noisy


@dataclass
class Replayer:
    """Hands out recorded outputs in order; fresh ones once they have run out or do not fit."""

    recorded: Sequence[Recorded]
    heard: list[Recorded] = field(default_factory=list)

    def release(self, release: Release, noise: GridNoise, exact: Integers, noisy: Integers) -> Integers:
        position = len(self.heard)
        if position < len(self.recorded) and self.recorded[position].noisy.shape == noisy.shape:
            noisy = self.recorded[position].noisy
        self.heard.append(Recorded(release, noise.scales, noise.independent, exact, noisy))
        return noisy


@dataclass(frozen=True)
class Replay:
    """What the audit saw. ``problems`` is empty if the promise was kept on this pair."""

    claimed_mu: float
    realised_mu: float
    losses: tuple[float, ...]
    labels: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.problems

    @property
    def efficiency(self) -> float:
        """Realised over claimed: above 1 is a leak, well below 1 on the worst neighbour is wasted noise."""
        return self.realised_mu / self.claimed_mu

    def __str__(self) -> str:
        lines = [f"claimed mu {self.claimed_mu:.6g}, realised {self.realised_mu:.6g} ({self.efficiency:.4f} of it)"]
        lines += [f"  {label}: {loss:.6g}" for label, loss in zip(self.labels, self.losses, strict=True)]
        lines += [f"PROBLEM: {problem}" for problem in self.problems] or ["passed"]
        return "\n".join(lines)


def replay(estimator: Any, data: Data, neighbour: Data, *, clone: Callable[[Any], Any] | None = None) -> Replay:
    """Fit on ``data``, replay on ``neighbour``; both are what ``fit`` takes: ``(X, y)`` or ``(X, y, groups)``.

    estimator: unfitted; it is cloned, so the one given stays as it is. Its ledger, if any, is charged as by two fits.
    """
    if clone is None:
        from sklearn.base import clone as sklearn_clone

        clone = sklearn_clone
    recorder = Recorder()
    first, first_said = _fit(clone(estimator), data, recorder)
    replayer = Replayer(recorder.heard)
    second, second_said = _fit(clone(estimator), neighbour, replayer)
    guarantee: Guarantee = first.privacy_
    losses = tuple(
        _loss(before, after) if _comparable(before, after) else math.inf
        for before, after in zip(recorder.heard, replayer.heard, strict=False)
    )
    realised = math.sqrt(math.fsum(loss**2 for loss in losses))
    problems = [
        *_release_problems(recorder.heard, replayer.heard, guarantee),
        *_noise_problems(recorder.heard),
        *_claim_problems(estimator, guarantee, realised),
        *_visible_problems(first, second, first_said, second_said),
    ]
    labels = tuple(heard.release.label for heard in recorder.heard[: len(losses)])
    return Replay(guarantee.mu, realised, losses, labels, tuple(problems))


def _fit(estimator: Any, data: Data, tape: Recorder | Replayer) -> tuple[Any, list[str]]:
    token = listening.set(tape)
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            return estimator.fit(*data), [f"{warning.category.__name__}: {warning.message}" for warning in said]
    finally:
        listening.reset(token)


def _comparable(before: Recorded, after: Recorded) -> bool:
    return before.scales.shape == after.scales.shape and np.array_equal(before.scales, after.scales)


def _loss(before: Recorded, after: Recorded) -> float:
    difference = (before.exact - after.exact).astype(np.float64) / before.scales
    return float(np.linalg.norm(difference[before.independent]))


def _release_problems(before: list[Recorded], after: list[Recorded], guarantee: Guarantee) -> list[str]:
    problems = []
    if len(before) != len(after):
        problems.append(f"{len(before)} releases on one data set and {len(after)} on its neighbour")
    if len(before) != len(guarantee.releases):
        problems.append(f"{len(before)} releases were made but {len(guarantee.releases)} are in the guarantee")
    for one, other in zip(before, after, strict=False):
        if not _comparable(one, other):
            problems.append(f"the noise of {one.release.label!r} depends on the data")
    for one, charged in zip(before, guarantee.releases, strict=False):
        if one.release.cost != charged.cost:
            problems.append(f"{one.release.label!r} was charged otherwise than it was made")
    return problems


def _noise_problems(recorded: list[Recorded]) -> list[str]:
    problems = []
    for one in recorded:
        drawn = ((one.noisy - one.exact).astype(np.float64) / one.scales)[one.independent]
        squares, entries = float(drawn @ drawn), len(drawn)
        if min(chdtr(entries, squares), chdtrc(entries, squares)) < _FALSE_ALARM:
            problems.append(f"the noise drawn for {one.release.label!r} is not of the declared size")
    return problems


def _claim_problems(estimator: Any, guarantee: Guarantee, realised: float) -> list[str]:
    problems = []
    if not realised <= guarantee.mu * (1 + _TOLERANCE):
        problems.append(f"the neighbours are {realised:.6g}-distinguishable, but only {guarantee.mu:.6g} was claimed")
    epsilon, delta = getattr(estimator, "epsilon", None), getattr(estimator, "delta", None)
    if epsilon is not None and delta is not None and guarantee.epsilon(delta) > epsilon * (1 + _TOLERANCE):
        problems.append(f"epsilon {epsilon} was asked for and {guarantee.epsilon(delta):.6g} is claimed")
    return problems


def _visible_problems(first: Any, second: Any, first_said: list[str], second_said: list[str]) -> list[str]:
    problems = []
    if pickle.dumps(first) != pickle.dumps(second):
        names = sorted(vars(first).keys() | vars(second).keys())
        odd = [name for name in names if pickle.dumps(vars(first).get(name)) != pickle.dumps(vars(second).get(name))]
        problems.append(f"the fitted object shows more than the releases: {', '.join(odd) or 'its state'} differs")
    if first_said != second_said:
        problems.append("warnings depend on the data")
    return problems
