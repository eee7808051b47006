"""PMT's figures 1 to 10: ridge and logistic regression with public second moments, as printed and tight.

``python -m experiments.pmt_figures`` writes pmt_figures.md and .svg beside this file. The paper prints curves only,
no numbers, and leaves the simulation's covariance open: the table puts our run of the printed noise beside ours,
and what the paper says of each figure above them. Errors are |coefficients - reference| / |reference| without the
intercept, each feature in units of its standard deviation; the reference is the true vector in the simulation and the
fit without privacy (of rows within the same bounds) on real data; medians over draws, with the 90 % quantile.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from discreet.algorithms.dp_gd import dp_gd
from discreet.algorithms.newton import newton
from discreet.algorithms.pmt import pmt
from discreet.algorithms.printed_newton import printed_newton
from discreet.algorithms.printed_pmt import printed_pmt
from discreet.algorithms.printed_ridge import printed_ridge
from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.first_look import XScaling
from discreet.algorithms.steps.glm_model import GlmModel, Guess
from discreet.curator import Curator
from discreet.domain import Domain, Encoder, Numeric
from discreet.engines import MemoryEngine
from discreet.glm import Bernoulli, Gaussian, fit_plain
from discreet.privacy import Budget
from discreet.rows import Labels
from experiments.data import data_folder
from experiments.pmt_plot import plot

HERE = Path(__file__).parent
DELTA = 1e-6
STEPS = 5


@dataclass(frozen=True)
class Problem:
    """Private rows, public rows, and a true vector if there is one (with its intercept first)."""

    X: np.ndarray
    y: np.ndarray
    public_X: np.ndarray
    public_y: np.ndarray
    binary: bool
    truth: np.ndarray | None = None

    def first(self, rows: int) -> Problem:
        return Problem(self.X[:rows], self.y[:rows], self.public_X, self.public_y, self.binary, self.truth)


def bounds(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """What would be declared: the public rows' range, and half of it more on either side."""
    low, high = problem.public_X.min(axis=0), problem.public_X.max(axis=0)
    return low - 0.5 * (high - low) - 1e-9, high + 0.5 * (high - low) + 1e-9


def opened(problem: Problem, penalty: float) -> tuple[Curator, Encoder, GlmModel, Guess]:
    """The rows behind a curator, with bounds and moments from public rows only."""
    low, high = bounds(problem)
    names = [f"x{i}" for i in range(problem.X.shape[1])]
    y_low, y_high = (0.0, 1.0) if problem.binary else (problem.public_y.min(), problem.public_y.max())
    y_room = 0.0 if problem.binary else 0.5 * (y_high - y_low)
    target = Numeric("y", float(y_low - y_room), float(y_high + y_room))
    encoder = Encoder(Domain.from_bounds(names, (low, high)), target)
    curator = Curator(MemoryEngine(encoder.encode, problem.X, problem.y, workers=1))
    family = Bernoulli() if problem.binary else Gaussian()
    model = GlmModel(
        family,
        family.default_link,
        Labels(target.centre, target.half_width),
        penalty=penalty * len(problem.y) / encoder.half_width**2,
    )
    x = encoder.encode(problem.public_X).x
    mean, covariance = x.mean(axis=1), np.cov(x, bias=True)
    values, vectors = np.linalg.eigh(covariance + 1e-10 * np.trace(covariance) * np.eye(len(x)))
    turn = (vectors / np.sqrt(values)) @ vectors.T
    matrix = np.eye(len(x) + 1)
    matrix[1:, 1:], matrix[1:, 0] = turn, -turn @ mean
    scaling = XScaling(mean, float(np.sqrt(np.mean(np.diag(covariance)))))
    return curator, encoder, model, Guess(scaling, Coordinates(matrix), None, x.shape[1])


def reference(problem: Problem, penalty: float) -> np.ndarray:
    if problem.truth is not None:
        return problem.truth
    family = Bernoulli() if problem.binary else Gaussian()
    X = np.clip(problem.X, *bounds(problem))
    scale = X.std(axis=0)
    design = np.column_stack([np.ones(len(problem.y)), (X - X.mean(axis=0)) / scale])
    weights = np.concatenate([[0.0], np.full(len(scale), penalty) / scale**2])
    fitted = fit_plain(family, family.default_link, design, problem.y, weights, np.zeros(design.shape[1]))
    return np.concatenate([[0.0], fitted[1:] / scale])


def slopes(coef: np.ndarray, encoder: Encoder) -> np.ndarray:
    return coef[1:] / encoder.half_width


def ridge(method: str, problem: Problem, mu: float, penalty: float) -> np.ndarray:
    curator, encoder, model, guess = opened(problem, penalty)
    # The paper's mu is that of each of two releases: sqrt(2) mu in all, for every method alike.
    budget = Budget.from_mu(np.sqrt(2) * mu, DELTA)
    if method == "DP-RR, printed noise":
        made = printed_ridge(
            curator,
            budget,
            width=encoder.width,
            x_radius=encoder.radius,
            fit_intercept=True,
            penalty=np.concatenate([[0.0], model.penalty]),
        )
        return slopes(made.coef * model.labels.half_width, encoder)
    if method == "DP-GD":
        clip = 2 * float(np.std(problem.public_y)) * np.sqrt(model.size)
        columns = guess.coordinates.matrix[:, 1:]
        steepest = float(np.linalg.norm((columns * model.penalty) @ columns.T, 2)) / len(problem.y)
        fit = dp_gd(
            curator,
            budget,
            model,
            x_radius=encoder.radius,
            guess=guess,
            steps=40,
            step=0.5 / (1 + steepest),
            clip=clip,
        )
    elif method == "PMT, `paper`":
        y_scale = float(np.sqrt(np.mean(problem.public_y**2)))
        fit = printed_pmt(curator, budget, model, guess=guess, y_scale=y_scale)
    else:
        fit = pmt(curator, budget, model, x_radius=encoder.radius, guess=guess)
    return slopes(fit.coef, encoder)


def logistic(method: str, problem: Problem, mu: float, penalty: float) -> np.ndarray:
    curator, encoder, model, guess = opened(problem, penalty)
    budget = Budget.from_mu(np.sqrt(2) * mu, DELTA)
    given = guess if method.startswith("PMT") else None
    solve = newton if method.endswith("`tight`") else printed_newton
    steps = None if solve is newton else STEPS
    return slopes(solve(curator, budget, model, x_radius=encoder.radius, guess=given, steps=steps).coef, encoder)


def simulated(rows: int, public: int, columns: int, binary: bool, seed: int) -> Problem:
    """x ~ N(mean, Psi) with condition number 1,000; the paper does not say which Psi it took."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(columns, columns)))[0]
    X = rng.normal(size=(rows + public, columns)) * np.geomspace(1, 1000**-0.5, columns) @ basis.T
    X += 0.3 * rng.normal(size=columns)
    beta = rng.normal(size=columns)
    eta = X @ beta
    y = (rng.random(len(X)) < 1 / (1 + np.exp(-eta))).astype(float) if binary else eta + 0.05 * rng.normal(size=len(X))
    return Problem(X[public:], y[public:], X[:public], y[:public], binary, np.concatenate([[0.0], beta]))


def real(file: str, target: str, public: int | float, binary: bool, seed: int) -> Problem:
    table = pq.read_table(data_folder(file) / file).to_pandas()
    y = table.pop(target)
    y = (y.astype(str) == y.astype(str).max()).to_numpy(float) if binary else y.to_numpy(float)
    # Categories as numbers, as the paper's 16 features of bank marketing must be.
    columns = [table[c].cat.codes if str(table[c].dtype) == "category" else table[c] for c in table.columns]
    columns = [c if c.dtype.kind in "iufb" else c.astype("category").cat.codes for c in columns]
    X = np.column_stack([np.asarray(c, dtype=float) for c in columns])
    order = np.random.default_rng(seed).permutation(len(y))
    X, y = X[order], y[order]
    known = int(public * len(y)) if public < 1 else int(public)
    return Problem(X[known:], y[known:], X[:known], y[:known], binary)


RIDGE = ("DP-RR, printed noise", "DP-GD", "PMT, `paper`", "PMT, `tight`")
LOGISTIC = ("DP-LR, printed noise", "DP-LR, `tight`", "PMT, `paper`", "PMT, `tight`")


@dataclass(frozen=True)
class Figure:
    number: str
    says: str
    axis: str
    points: tuple[float, ...]
    problem: Callable[[float, int], Problem]
    mu: Callable[[float], float]
    penalty: Callable[[float], float]
    methods: tuple[str, ...]


LESS = "PMT below DP-RR and DP-GD; both SSP curves fall with n"
PRIVACY = "PMT below DP-RR even with a smaller mu"
RIDGES = "PMT hardly depends on lambda; without public data a large one is needed"
NEWTONS = "PMT with the smallest mu is below DP-LR with the largest"

Make = Callable[[int], Problem]


def always(value: float) -> Callable[[float], float]:
    return lambda _: value


def by_rows(number: str, make: Make, rows: tuple[int, ...], mu: float = 3) -> Figure:
    return Figure(number, LESS, "n", rows, lambda n, s: make(s).first(int(n)), always(mu), always(0), RIDGE)


def by_mu(number: str, make: Make, mus: tuple[float, ...], penalty: float, methods: tuple[str, ...]) -> Figure:
    says = PRIVACY if methods == RIDGE else NEWTONS
    return Figure(number, says, "mu", mus, lambda _, s: make(s), float, always(penalty), methods)


def by_lambda(number: str, make: Make, penalties: tuple[float, ...], mu: float, methods: tuple[str, ...]) -> Figure:
    return Figure(number, RIDGES, "lambda", penalties, lambda _, s: make(s), always(mu), float, methods)


wine = partial(real, "wine_quality_white.parquet", "quality", 245, False)
ccpp = partial(real, "ccpp.parquet", "PE", 192, False)
bank = partial(real, "bank_marketing.parquet", "y", 0.1, True)
banknote = partial(real, "banknote_authentication.parquet", "class", 0.1, True)


def figures() -> list[Figure]:
    small = (0.0, 1e-3, 1e-2, 1e-1)

    def linear(rows: int, public: int) -> Make:
        return lambda seed: simulated(rows, public, 10, False, seed)

    def binary(rows: int) -> Make:
        return lambda seed: simulated(rows, 100, 8, True, seed)

    return [
        by_rows("1 simulation", linear(20000, 200), (2000, 5000, 20000)),
        by_mu("2 simulation", linear(10000, 20), (1, 3, 10), 0.01, RIDGE),
        by_lambda("3 simulation", linear(10000, 100), small, 3, RIDGE),
        by_rows("4 wine", wine, (1000, 2000, 4653)),
        by_rows("4 CCPP", ccpp, (2000, 5000, 9376)),
        by_mu("5 wine", wine, (3, 10, 20), 0, RIDGE),
        by_mu("5 CCPP", ccpp, (1, 3, 10), 0, RIDGE),
        by_lambda("6 wine", wine, small, 20, RIDGE),
        by_lambda("6 CCPP", ccpp, small, 3, RIDGE),
        by_mu("7 simulation", binary(10000), (3, 5, 10), 1e-3, LOGISTIC),
        by_lambda("8 simulation", binary(8000), small, 10, LOGISTIC),
        by_mu("9 bank", bank, (1, 3, 10), 0, LOGISTIC),
        by_mu("9 banknote", banknote, (3, 10, 20), 0.01, LOGISTIC),
        by_lambda("10 bank", bank, small, 3, LOGISTIC),
        by_lambda("10 banknote", banknote, (0.005, 0.01, 0.05), 10, LOGISTIC),
    ]


def errors(figure: Figure, point: float, draws: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {method: [] for method in figure.methods}
    for draw in range(draws):
        problem = figure.problem(point, zlib.crc32(f"{figure.number} {draw}".encode()))
        penalty = figure.penalty(point)
        goal, scale = reference(problem, penalty)[1:], problem.X.std(axis=0)
        for method in figure.methods:
            solve = logistic if problem.binary else ridge
            slope = solve(method, problem, figure.mu(point), penalty)
            found[method].append(float(np.linalg.norm((slope - goal) * scale) / np.linalg.norm(goal * scale)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=15)
    draws = parser.parse_args().draws
    results, total = [], sum(len(figure.points) for figure in figures())
    for figure in figures():
        curve = []
        for point in figure.points:
            curve.append(errors(figure, point, draws))
            done = sum(len(f.points) for f, _ in results) + len(curve)
            print(f"\r{'#' * (40 * done // total):40s} {done}/{total} figure {figure.number}", end="", file=sys.stderr)
        results.append((figure, curve))
    (HERE / "pmt_figures.md").write_text(table(results, draws), encoding="utf-8")
    curves = [(figure.number, figure.axis, figure.points, curve) for figure, curve in results]
    plot(curves, HERE / "pmt_figures.svg")


def table(results: list[tuple[Figure, list[dict[str, list[float]]]]], draws: int) -> str:
    lines = [
        "# PMT, figures 1 to 10",
        "",
        f"`python -m experiments.pmt_figures --draws {draws}`. Relative error of the coefficients: median (90 %",
        f"quantile) over {draws} draws; sqrt(2) mu-GDP in all for every method. The paper prints curves, no numbers,",
        "so what it says of each figure stands above it. `paper` is its noise by our code, `tight` our default. DP-GD",
        "is given the public whitening, and a step and a clip that suit it.",
    ]
    for figure, curve in results:
        lines += ["", f"## Figure {figure.number}", "", f"The paper: {figure.says}.", ""]
        lines += [f"| {figure.axis} | " + " | ".join(figure.methods) + " |", "|---" * (len(figure.methods) + 1) + "|"]
        for point, found in zip(figure.points, curve, strict=True):
            cells = [f"{np.median(e):.3g} ({np.quantile(e, 0.9):.2g})" for e in found.values()]
            lines.append(f"| {point:g} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
