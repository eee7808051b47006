"""What our estimators reach, beside the lower bounds that no private method beats.

Run from the root: python -m experiments.attack_lower_bounds [--repeats 20]. Writes experiments/attack_lower_bounds.md.
Coefficients are drawn from the prior of the bounds, cos^2 on a box of half-width 1/sqrt(d); x is uniform on [-1, 1]^d;
the mean squared error of the coefficients is held against ``discreet.planning``. Ends with exit code 1 if one is lower.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discreet import LinearRegression, LogisticRegression, ReLURegressor
from discreet.planning import LowerBound, glm_lower_bound, relu_lower_bound
from discreet.privacy import GDP

OUT = Path(__file__).with_suffix(".md")
DELTA, NOISE_STD = 1e-6, 0.3
ROWS, COLUMNS, EPSILONS = (2000, 20_000), (4, 10), (0.3, 1.0, 4.0)


@dataclass(frozen=True)
class Model:
    """How labels come about, how they are fitted, and the bound."""

    name: str
    labels: Callable[[np.ndarray, np.random.Generator], np.ndarray]
    fit: Callable[[np.ndarray, np.ndarray, float], np.ndarray]
    bound: Callable[[int, int, float], LowerBound]


def linear(epsilon: float, **more: object) -> dict:
    return {"epsilon": epsilon, "delta": DELTA, "bounds_X": (-1, 1), "fit_intercept": False, **more}


def _mu(epsilon: float) -> GDP:
    return GDP.from_epsilon(epsilon, DELTA)


def _glm_bound(dispersion: float, curvature: float) -> Callable[[int, int, float], LowerBound]:
    return lambda n, d, epsilon: glm_lower_bound(
        n,
        d,
        _mu(epsilon),
        dispersion=dispersion,
        curvature=curvature,
        x_variance=1 / 3,
        x_norm=math.sqrt(d),
        coef_bound=1 / math.sqrt(d),
    )


MODELS = (
    Model(
        "linear",
        lambda signal, rng: signal + rng.normal(0, NOISE_STD, len(signal)),
        lambda X, y, epsilon: LinearRegression(**linear(epsilon, bounds_y=(-2, 2))).fit(X, y).coef_,
        _glm_bound(NOISE_STD**2, 1.0),
    ),
    Model(
        "logistic",
        lambda signal, rng: (rng.random(len(signal)) < 1 / (1 + np.exp(-signal))).astype(float),
        lambda X, y, epsilon: LogisticRegression(**linear(epsilon)).fit(X, y).coef_,
        _glm_bound(1.0, 0.25),
    ),
    Model(
        "ReLU",
        lambda signal, rng: np.maximum(signal, 0) + rng.normal(0, NOISE_STD, len(signal)),
        lambda X, y, epsilon: ReLURegressor(**linear(epsilon, bounds_y=(-1, 3))).fit(X, y).coef_,
        lambda n, d, epsilon: relu_lower_bound(n, d, _mu(epsilon), noise_std=NOISE_STD),
    ),
)


def draw_coefficients(d: int, rng: np.random.Generator) -> np.ndarray:
    """From cos^2(pi t / 2b) / b, by rejection."""
    coef = np.empty(0)
    while len(coef) < d:
        tried = rng.uniform(-1, 1, 4 * d)
        coef = np.concatenate([coef, tried[rng.random(4 * d) < np.cos(math.pi * tried / 2) ** 2]])
    return coef[:d] / math.sqrt(d)


def measured(model: Model, n: int, d: int, epsilon: float, repeats: int) -> tuple[float, float]:
    """The mean squared error over fresh coefficients, rows and noise, and its standard error."""
    rng = np.random.default_rng([n, d, int(100 * epsilon)])
    errors = []
    for _ in range(repeats):
        truth, X = draw_coefficients(d, rng), rng.uniform(-1, 1, (n, d))
        estimate = np.ravel(model.fit(X, model.labels(X @ truth, rng), epsilon))
        errors.append(float(np.sum((estimate - truth) ** 2)))
    return float(np.mean(errors)), float(np.std(errors) / math.sqrt(repeats))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    repeats = parser.parse_args().repeats
    lines = [
        "# Measured errors beside the lower bounds\n",
        f"Made by `python -m experiments.attack_lower_bounds --repeats {repeats}`; delta {DELTA:g}, replace_one.\n",
        "| model | n | d | epsilon | measured | bound | by privacy | by statistics | measured / bound |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    below = 0
    for model in MODELS:
        for n, d, epsilon in [(n, d, epsilon) for n in ROWS for d in COLUMNS for epsilon in EPSILONS]:
            error, spread = measured(model, n, d, epsilon, repeats)
            bound = model.bound(n, d, epsilon)
            below += error + 4 * spread < bound.value
            lines.append(
                f"| {model.name} | {n} | {d} | {epsilon:g} | {error:.3g} +- {spread:.1g} | {bound.value:.3g} | "
                f"{bound.privacy:.3g} | {bound.statistics:.3g} | {error / bound.value:.3g} |"
            )
            print(lines[-1], file=sys.stderr, flush=True)
            OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if below:
        raise SystemExit(f"{below} measured errors are below a bound")


if __name__ == "__main__":
    main()
