"""Real mistakes, one by one: each is planted into working code, and the audits must find it.

A bug is a patch of discreet's own code (entered as a context) or an estimator that does something
wrong, or both. The full audit plants them into worker processes, so everything here can be pickled
by name.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import discreet.curator.curator
import discreet.curator.noise
import discreet.rows.grid
import discreet.rows.queries
from discreet import LinearRegression
from discreet.curator import Curator
from discreet.curator.noise import GridNoise
from discreet.noise import SeededBits
from discreet.privacy import GDP

sys.path.insert(0, str(Path(__file__).parent))  # worker processes import this by its full name, tests by its own

from planted_estimators import (
    DividedByPrivateCount,
    DividesByPrivateCount,
    KeepsARow,
    NoCompositionOverSteps,
    NoisyGradientDescent,
    OneStepMore,
    OneStepMoreUnpaid,
    RadiusFromTheData,
    ScaledByPrivateData,
    StopsWhenConverged,
    StopsWhenTheDataSay,
    UnclippedResidual,
)

RELATIONS = ("replace_one", "add_or_remove_one")


@dataclass(frozen=True)
class Bug:
    """``wasteful`` ones add too much noise: no leak, but the claim is then not what the code does."""

    name: str
    kind: Callable[..., Any]
    patch: Callable[[], Any] = nullcontext
    relations: tuple[str, ...] = RELATIONS
    wasteful: bool = False

    def make(self, epsilon: float, neighbours: str) -> Any:
        settings = {"epsilon": epsilon, "delta": 1e-6, "bounds_X": (-1, 1), "bounds_y": (-1, 1)}
        if issubclass(self.kind, LinearRegression):
            settings["solver"] = "moments"  # two releases: the quickest, and what the patches are made for
        return self.kind(neighbours=neighbours, **settings)


def _reach(change: Callable[..., float]) -> Callable[[], Any]:
    return lambda: mock.patch.object(discreet.curator.noise, "reach", change)


_REACH = discreet.curator.noise.reach
_OTHER = {"replace_one": "add_or_remove_one", "add_or_remove_one": "replace_one"}


def _halved(*arguments):
    return _REACH(*arguments) / 2


def _other_relation(geometry, neighbours, *more):
    return _REACH(geometry, _OTHER[neighbours], *more)


@contextmanager
def clip_by_max() -> Iterator[None]:
    """RELU prints the clip with max for min: short rows are lengthened to the bound, long ones not
    clipped.

    The queries' own clips are taken away too, so that the curator's is all there is.
    """

    def place(factor, norm_bound, scale, seed):
        norms = np.sqrt((factor**2).sum(axis=0))
        factor *= np.maximum(1.0, norm_bound / np.maximum(norms, 1e-12)) * scale
        np.floor(factor, out=factor)
        return norms

    def place_weighted(rows, weight, last, start, norm_bound, scale, out):
        some = slice(start, start + out.shape[1])
        np.multiply(rows[:, some], weight[some], out=out[: len(rows)])
        if last is not None:
            out[-1] = last[some]
        place(out, norm_bound, scale, 0.0)

    def shorten(x, centre, per_unit, radius):
        x -= centre[:, np.newaxis]
        x *= per_unit
        return np.ones(x.shape[1])

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(discreet.rows.grid, "place", place))
        stack.enter_context(mock.patch.object(discreet.rows.grid, "place_weighted", place_weighted))
        stack.enter_context(mock.patch.object(discreet.rows.queries, "shorten", shorten))
        yield


@contextmanager
def no_clip() -> Iterator[None]:
    """Norms and bounds are computed, but the unclipped rows are summed."""

    def place(factor, norm_bound, scale, seed):
        norms = np.sqrt((factor**2).sum(axis=0))
        factor *= scale
        np.floor(factor, out=factor)
        return norms

    with mock.patch.object(discreet.rows.grid, "place", place):
        yield


@contextmanager
def epsilon_for_epsilon_squared() -> Iterator[None]:
    """COST prints epsilon where its zCDP fact needs epsilon^2: too little noise below 1, too much
    above.
    """
    real = GridNoise.covering
    broken = staticmethod(lambda query, cost, *rest: real(query, GDP(math.sqrt(cost.mu)), *rest))
    with mock.patch.object(GridNoise, "covering", broken):
        yield


@contextmanager
def noise_for_one_step_of_four() -> Iterator[None]:
    """The charge is divided by sqrt(T), the noise is not multiplied by it."""
    real = GridNoise.covering
    broken = staticmethod(lambda query, cost, *rest: real(query, GDP(2 * cost.mu), *rest))
    with mock.patch.object(GridNoise, "covering", broken):
        yield


@contextmanager
def one_release_more_than_charged() -> Iterator[None]:
    real = Curator.sum

    def twice(self, query, cost):
        answer = real(self, query, cost)
        real(self, query, cost)
        self._releases.pop()
        return answer

    with mock.patch.object(Curator, "sum", twice):
        yield


@contextmanager
def no_noise() -> Iterator[None]:
    zero = lambda self, bits: np.zeros(self.scales.shape, dtype=np.int64).astype(object)  # noqa: E731
    with mock.patch.object(GridNoise, "draw", zero):
        yield


@contextmanager
def float_noise() -> Iterator[None]:
    """numpy's normal numbers instead of whole ones: the lowest bits reveal the exact sum."""

    def draw(self, bits):
        noise = np.random.default_rng().standard_normal(self.scales.shape) * self.scales
        if self.geometry in ("square", "printed_square"):
            noise = np.triu(noise) + np.triu(noise, 1).T
        return noise.astype(object)

    with mock.patch.object(GridNoise, "draw", draw):
        yield


def _same_seed():
    return SeededBits(7)


@contextmanager
def seed_reuse() -> Iterator[None]:
    """Every curator starts from the same seed, as after a fork or with a constant."""
    with mock.patch.object(discreet.curator.curator, "SystemBits", _same_seed):
        yield


BUGS = (
    Bug("clip by max instead of min", LinearRegression, clip_by_max),
    Bug("half the sensitivity", LinearRegression, _reach(_halved)),
    Bug("sensitivity of add/remove for replace", LinearRegression, _reach(_other_relation), ("replace_one",)),
    Bug(
        "sensitivity of replace for add/remove", LinearRegression, _reach(_other_relation), RELATIONS[1:], wasteful=True
    ),
    Bug("epsilon for epsilon^2", LinearRegression, epsilon_for_epsilon_squared, wasteful=True),
    Bug("one release more than charged", LinearRegression, one_release_more_than_charged),
    Bug("no noise", LinearRegression, no_noise),
    Bug("floating-point noise", LinearRegression, float_noise),
    Bug("seed reuse", LinearRegression, seed_reuse),
    Bug("radius from the private rows", RadiusFromTheData),
    Bug("columns scaled by private maxima", ScaledByPrivateData),
    Bug("division by a private count", DividedByPrivateCount, relations=RELATIONS[1:]),
    Bug("a second release where the data ask for it", StopsWhenTheDataSay),
    Bug("a row's value kept in the model", KeepsARow),
    Bug("noise for T with T + 1 releases", OneStepMore),
    Bug("the same, unpaid", OneStepMoreUnpaid),
    Bug("no sqrt(T), and charged so", NoCompositionOverSteps),
    Bug("no sqrt(T) in the noise", NoisyGradientDescent, noise_for_one_step_of_four),
    Bug("unclipped rows summed after clipping", NoisyGradientDescent, no_clip),
    Bug("unclipped rows used after clipping", UnclippedResidual),
    Bug("mean gradient with a private count", DividesByPrivateCount, relations=RELATIONS[1:]),
    Bug("a private stopping rule", StopsWhenConverged),
)
HONEST = (Bug("least squares", LinearRegression), Bug("gradient descent", NoisyGradientDescent))
