"""The peers and baselines of each family, by the names of the result table."""

from __future__ import annotations

import itertools
import os
import subprocess
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from benchmarks.accuracy.cells import DELTA, RELATIONS, Cell
from benchmarks.accuracy.problems import Units, problem
from benchmarks.data import ROOT
from benchmarks.peers import baselines, gradient_descent, objective_perturbation
from benchmarks.peers.adassp import adassp_half_radius_weights, adassp_weights
from benchmarks.peers.boosted_adassp import boosted_adassp
from benchmarks.peers.double_noise_newton import double_noise_newton
from benchmarks.peers.oracle import best_choice
from benchmarks.peers.setting import Privacy, Rows
from benchmarks.peers.tukey_em import tukey_em

DIFFPRIVLIB_ENV = ROOT / ".venv-diffprivlib"
DIFFPRIVLIB_SCRIPT = ROOT / "benchmarks" / "peers" / "diffprivlib_models.py"
CACHED_PARTS = 8


@dataclass(frozen=True)
class Prepared:
    """One split in the units of the peers."""

    units: Units
    rows: Rows

    @property
    def family(self) -> str:
        return self.units.problem.family


@lru_cache(CACHED_PARTS)
def prepared(name: str, split: int, with_public: bool) -> Prepared:
    units = Units(split_of(name, split), with_public)
    return Prepared(units, units.rows(units.problem.private))


split_of = lru_cache(CACHED_PARTS)(problem)

# Fits to a split, with what was tuned (None otherwise): weights, one line per noise draw.
Run = Callable[[Prepared, Privacy, int, np.random.Generator, object], np.ndarray]
Tune = Callable[[Prepared, Privacy, np.random.Generator], object]


@dataclass(frozen=True)
class Method:
    """tune: an oracle that sees the test rows of the first split. on_public_rows: shown where there
    are any.
    """

    run: Run
    families: tuple[str, ...]
    tune: Tune | None = None
    hindsight: bool = False  # a constant that is not in the paper and was chosen on these test sets
    is_baseline: bool = False
    only_with_public: bool = False
    only_declared: bool = False  # means nothing where public rows give the units
    one_relation: bool = False  # the same in both neighbour relations, or has one of its own: one run for both tables

    @property
    def is_tuned(self) -> bool:
        return self.tune is not None or self.hindsight

    def applies(self, family: str, with_public: bool) -> bool:
        return family in self.families and not (self.only_declared if with_public else self.only_with_public)


def _of_rows(function: Callable[[Rows, Privacy, int, np.random.Generator], np.ndarray]) -> Run:
    return lambda split, privacy, draws, rng, _: function(split.rows, privacy, draws, rng)


def _non_private(split: Prepared, *_: object) -> np.ndarray:
    return baselines.fit(split.family, split.rows, baselines.NON_PRIVATE_PENALTY)


def _public_only(split: Prepared, *_: object) -> np.ndarray:
    return baselines.fit_public(split.family, split.units.rows(split.units.problem.public))


def _constant(split: Prepared, *_: object) -> np.ndarray:
    return baselines.constant(split.family, split.rows)


def _descend(split: Prepared, privacy: Privacy, draws: int, rng: np.random.Generator, choice: object) -> np.ndarray:
    if isinstance(choice, gradient_descent.Choice):
        scales = gradient_descent.private_scales(split.family, split.rows)
    else:
        choice, scales = gradient_descent.FIXED, gradient_descent.public_scales(split.rows)
    return gradient_descent.gradient_descent(split.family, split.rows, scales, privacy, [choice], draws, rng)[0]


def _tune_descent(split: Prepared, privacy: Privacy, rng: np.random.Generator) -> object:
    return gradient_descent.tuned(split.family, split.rows, privacy, rng, split.units.test_loss)


def _perturb(split: Prepared, privacy: Privacy, draws: int, rng: np.random.Generator, choice: object) -> np.ndarray:
    share, radius_share = choice if isinstance(choice, tuple) else (objective_perturbation.RULE, 1.0)
    return objective_perturbation.objective_perturbation(split.rows, privacy, draws, rng, share, radius_share)


def _tune_perturbation(split: Prepared, privacy: Privacy, rng: np.random.Generator) -> object:
    def losses(choices: list[tuple[float, float]], draws: int) -> list[np.ndarray]:
        return [split.units.test_loss(_perturb(split, privacy, draws, rng, choice)) for choice in choices]

    choices = itertools.product(objective_perturbation.SHARES, objective_perturbation.RADIUS_SHARES)
    return best_choice(list(choices), losses)


def _diffprivlib(split: Prepared, privacy: Privacy, draws: int, rng: np.random.Generator, _: object) -> np.ndarray:
    low, high = split.units.intervals
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder, "problem.npz"), Path(folder, "weights.npz")
        np.savez(
            paths[0],
            X=split.rows.X[:, :-1],
            y=split.rows.y,
            low=low,
            high=high,
            y_bound=split.rows.y_bound,
            feature_radius=np.sqrt(split.rows.radius**2 - 1),
            family=split.family,
            epsilon=privacy.epsilon,
            seeds=rng.integers(2**31, size=draws),
        )
        server = _diffprivlib_server()
        print(*paths, file=server.stdin, flush=True)
        if server.stdout.readline() != "done\n":
            raise RuntimeError("diffprivlib stopped; its message is above")
        with np.load(paths[1]) as found:
            return found["weights"]


@lru_cache(1)
def _diffprivlib_server() -> subprocess.Popen[str]:
    """One process for all problems of a worker."""
    return subprocess.Popen(
        [DIFFPRIVLIB_ENV / "bin" / "python", DIFFPRIVLIB_SCRIPT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )


ALL = ("linear", "logistic", "poisson")
METHODS = {
    "non-private": Method(_non_private, ALL, is_baseline=True, one_relation=True),
    "constant": Method(_constant, ALL, is_baseline=True, one_relation=True),
    "public-only": Method(_public_only, ALL, is_baseline=True, only_with_public=True, one_relation=True),
    "AdaSSP": Method(_of_rows(adassp_weights), ("linear",)),
    "BoostedAdaSSP": Method(_of_rows(boosted_adassp), ("linear",)),
    "TukeyEM": Method(_of_rows(tukey_em), ("linear",), one_relation=True),
    "objective perturbation": Method(_perturb, ("logistic",)),
    "double-noise Newton": Method(_of_rows(double_noise_newton), ("logistic",)),
    "diffprivlib": Method(_diffprivlib, ("linear", "logistic"), one_relation=True),
    "DP-GD fixed": Method(_descend, ("poisson",)),
    "AdaSSP half radius": Method(_of_rows(adassp_half_radius_weights), ("linear",), hindsight=True, only_declared=True),
    "objective perturbation oracle": Method(_perturb, ("logistic",), tune=_tune_perturbation),
    "DP-GD oracle": Method(_descend, ALL, tune=_tune_descent),
}


def peer_medians(name: str, cell: Cell, draws: int, splits: int) -> tuple[float, ...]:
    """The median test loss of each split."""
    method = METHODS[name]
    privacy = Privacy(cell.epsilon, DELTA, cell.neighbours)
    seed = [zlib.crc32(f"{cell.data_set} {name} {cell.with_public}".encode()), RELATIONS.index(cell.neighbours)]
    rng = np.random.default_rng([*seed, round(1_000 * cell.epsilon)])
    choice = None
    if method.tune is not None:
        choice = method.tune(prepared(cell.data_set, 0, cell.with_public), privacy, rng)
    medians = []
    # What uses no public rows has one figure, in one kind of units: a penalty means something else
    # in others.
    with_public = cell.with_public and not (method.is_baseline and not method.only_with_public)
    for split in range(splits):
        part = prepared(cell.data_set, split, with_public)
        medians.append(float(np.median(part.units.test_loss(method.run(part, privacy, draws, rng, choice)))))
    return tuple(medians)
