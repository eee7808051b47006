"""Tracing attacks on private fits: the score attack (COST, 4.7), the sparse one (4.9), and that on ReLU (RELU, 5).

Run from the root: python -m experiments.attack_tracing [--data-sets 200]. Writes experiments/attack_tracing.md, .svg.
Each attack knows the true coefficients and guesses of every row whether it was fitted; a fit is attacked with as many
fresh rows. "allowed" is the area under the curve that the guarantee's mu allows, Phi(mu / sqrt 2).
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from discreet import LinearRegression, LogisticRegression, ReLURegressor, SparseLinearRegression
from discreet.audit import Membership, relu_tracing_attack, score_attack, sparse_score_attack, trace_members
from discreet.audit.membership import area_under_curve
from discreet.glm import Bernoulli, Gaussian
from discreet.privacy import GDP
from discreet.report.figure_style import LIMIT, OURS, PEERS, key, save, styled
from experiments.pages import write_page

OUT = Path(__file__).with_suffix(".md")
DELTA = 1e-5
EPSILONS = (math.inf, 8.0, 1.0)


@dataclass(frozen=True)
class Attack:
    """A model to draw from, a method to fit with and the attack on it."""

    name: str
    rows: int
    draw: Callable
    fit: Callable[[float], Callable]
    score: Callable


def linear_truth(d: int) -> np.ndarray:
    return np.full(d, 0.5 / math.sqrt(d))


def draw_linear(truth: np.ndarray, rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.uniform(-1, 1, (rows, len(truth)))
    return X, X @ truth + rng.normal(0, 0.3, rows)


def draw_relu(truth: np.ndarray, rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.uniform(-1, 1, (rows, len(truth)))
    return X, np.maximum(X @ truth, 0) + rng.normal(0, 0.3, rows)


def fit_linear(epsilon: float) -> Callable:
    if math.isinf(epsilon):
        return lambda X, y: np.linalg.lstsq(X, y, rcond=None)[0]

    def fit(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        model = LinearRegression(
            epsilon=epsilon, delta=DELTA, bounds_X=(-1, 1), bounds_y=(-1.5, 1.5), fit_intercept=False
        )
        # The unshrunk estimate, which an attacker can compute from what is released, shows most.
        return model.fit(X, y).results_.estimates

    return fit


def fit_sparse(s: int, epsilon: float) -> Callable:
    """Without privacy, the s largest coefficients of least squares."""
    if not math.isinf(epsilon):
        settings = {"epsilon": epsilon, "delta": DELTA, "sparsity": s, "bounds_X": (-1, 1), "bounds_y": (-2, 2)}
        return lambda X, y: np.ravel(SparseLinearRegression(**settings).fit(X, y).coef_)

    def fit(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        coef = np.linalg.lstsq(X, y, rcond=None)[0]
        return np.where(np.abs(coef) >= np.sort(np.abs(coef))[-s], coef, 0.0)

    return fit


def attacks() -> list[Attack]:
    linear = linear_truth(20)
    sparse = np.zeros(20)
    sparse[:4] = (0.6, -0.5, 0.4, -0.3)
    gaussian = partial(score_attack, truth=linear, family=Gaussian(), dispersion=0.09)
    on_support = partial(sparse_score_attack, truth=sparse, family=Gaussian(), dispersion=0.09)
    return [
        Attack(
            "score attack, linear, n 100, d 20",
            100,
            partial(draw_linear, linear),
            fit_linear,
            lambda X, y, estimate: gaussian(X, y, estimate),
        ),
        Attack(
            "sparse score attack, linear, n 100, d 20, s 4",
            100,
            partial(draw_linear, sparse),
            partial(fit_sparse, 4),
            lambda X, y, estimate: on_support(X, y, estimate),
        ),
        _logistic(np.full(10, 1.0)),
        _relu(np.full(8, 1 / math.sqrt(8))),
    ]


def _logistic(truth: np.ndarray) -> Attack:
    def draw(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
        X = rng.uniform(-1, 1, (rows, len(truth)))
        return X, (rng.random(rows) < 1 / (1 + np.exp(-X @ truth))).astype(float)

    def fit(epsilon: float) -> Callable:
        if math.isinf(epsilon):
            from sklearn.linear_model import LogisticRegression as Plain

            return lambda X, y: Plain(C=1e6, fit_intercept=False).fit(X, y).coef_[0]
        settings = {"epsilon": epsilon, "delta": DELTA, "bounds_X": (-1, 1), "fit_intercept": False}
        return lambda X, y: np.ravel(LogisticRegression(**settings).fit(X, y).coef_)

    score = partial(score_attack, truth=truth, family=Bernoulli())
    return Attack("score attack, logistic, n 100, d 10", 100, draw, fit, lambda X, y, estimate: score(X, y, estimate))


def _relu(truth: np.ndarray) -> Attack:
    def fit(epsilon: float) -> Callable:
        if math.isinf(epsilon):
            return _relu_least_squares
        settings = {
            "epsilon": epsilon,
            "delta": DELTA,
            "bounds_X": (-1, 1),
            "bounds_y": (-1, 3),
            "fit_intercept": False,
        }
        return lambda X, y: np.ravel(ReLURegressor(**settings).fit(X, y).coef_)

    def score(X: np.ndarray, y: np.ndarray, estimate: np.ndarray) -> np.ndarray:
        return relu_tracing_attack(X, y, estimate, truth)

    return Attack("tracing attack, ReLU, n 200, d 8", 200, partial(draw_relu, truth), fit, score)


def _relu_least_squares(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """GLMtron without noise: w moves along (y - relu(<w, x>)) x until it stays."""
    w = np.zeros(X.shape[1])
    step = 2 / np.linalg.eigvalsh(X.T @ X)[-1]
    for _ in range(500):
        w += step * X.T @ (y - np.maximum(X @ w, 0))
    return w


def measure(attack: Attack, epsilon: float, data_sets: int) -> Membership:
    mu = math.inf if math.isinf(epsilon) else GDP.from_epsilon(epsilon, DELTA).mu
    return trace_members(
        attack.fit(epsilon),
        attack.draw,
        attack.score,
        rows=attack.rows,
        data_sets=data_sets,
        mu=mu,
        epsilon=epsilon,
        delta=DELTA,
    )


FALSE_ALARMS = np.linspace(0, 1, 41)
BAND = (0.1, 0.9)


def by_data_set(found: Membership) -> tuple[np.ndarray, np.ndarray]:
    """Of each data set, hit rates at the false alarm rates, and the area under its curve; ties are broken at random."""
    rng = np.random.default_rng(0)
    jitter = 1e-9 * float(np.std(found.outsiders))
    members, outsiders = (
        (scores + rng.uniform(-jitter, jitter, len(scores))).reshape(found.data_sets, -1)
        for scores in (found.members, found.outsiders)
    )
    thresholds = np.quantile(outsiders, 1 - FALSE_ALARMS, axis=1).T
    hits = np.mean(members[:, np.newaxis, :] > thresholds[:, :, np.newaxis], axis=2)
    hits[:, -1] = 1.0
    pairs = zip(members, outsiders, strict=True)
    return hits, np.array([area_under_curve(inside, outside) for inside, outside in pairs])


def line(attack: Attack, epsilon: float, found: Membership) -> str:
    low, high = np.quantile(by_data_set(found)[1], BAND)
    return (
        f"| {attack.name} | {'none' if math.isinf(epsilon) else f'{epsilon:g}'} | {found.area:.4f} +- "
        f"{found.area_std:.4f} | {low:.3f} to {high:.3f} | {found.allowed_area:.4f} | {found.separation:.3f} |"
    )


def draw_panel(axes: Any, name: str, curves: list[tuple[float, Membership]]) -> None:
    """Hit rates against false alarm rates: means, and the middle 80 % of data sets."""
    from scipy.stats import norm

    for place, (epsilon, found) in enumerate(curves):
        hits, _ = by_data_set(found)
        colour = OURS if epsilon == min(EPSILONS) else PEERS[place]
        label = "no privacy" if math.isinf(epsilon) else f"epsilon {epsilon:g}"
        axes.plot(FALSE_ALARMS, hits.mean(axis=0), color=colour, linestyle=("-.", "--", "-")[place], label=label)
        axes.fill_between(FALSE_ALARMS, *np.quantile(hits, BAND, axis=0), color=colour, alpha=0.12)
    mu = GDP.from_epsilon(min(EPSILONS), DELTA).mu
    allowed = norm.sf(norm.isf(FALSE_ALARMS) - mu)
    axes.plot(FALSE_ALARMS, allowed, color=LIMIT, linestyle=":", label=f"allowed on average, epsilon {min(EPSILONS):g}")
    axes.set(title=name, xlabel="false alarms", ylabel="members found")


def main() -> None:
    from matplotlib.figure import Figure

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=200)
    data_sets = parser.parse_args().data_sets
    lines = [
        "# Tracing attacks\n",
        f"Made by `python -m experiments.attack_tracing --data-sets {data_sets}`; delta {DELTA:g}. Of the\narea, its "
        "standard error, and the 10 % and 90 % quantiles over data sets, which are also the bands of\nthe figure. What "
        "is allowed is an average over data sets: with 100 rows the area of a single one\nvaries by .04 by chance "
        "alone.\n",
        "![hit rates against false alarm rates](attack_tracing.svg)\n",
        "| attack | epsilon | area under the curve | 10 % to 90 % | allowed | members above outsiders (std) |",
        "|---|---|---|---|---|---|",
    ]
    within = True
    with styled():
        drawing = Figure(figsize=(9.0, 7.5), layout="constrained")
        panels = drawing.subplots(2, 2).ravel()
        for axes, attack in zip(panels, attacks(), strict=True):
            curves = []
            for epsilon in EPSILONS:
                found = measure(attack, epsilon, data_sets)
                within = within and found.within_bound
                curves.append((epsilon, found))
                lines.append(line(attack, epsilon, found))
                print(lines[-1], file=sys.stderr, flush=True)
            draw_panel(axes, attack.name, curves)
        key(drawing, panels[0])
        save(drawing, OUT.with_suffix(".svg"))
    write_page(OUT, "\n".join(lines) + "\n")
    if not within:
        raise SystemExit("an attack did better than the guarantee allows")


if __name__ == "__main__":
    main()
