"""NLDP's synthetic experiments: printed noise, tight Gaussian noise and the unit randomizer.

Run: python -m experiments.nldp.accuracy [repeats] [further]

The noise of each sum is drawn once (see discreet.local.simulation). Design and labels as in NLDP
section 6.1, with Sigma = I and delta = n^-1.1; "binary" draws the labels as 0 or 1 instead of
giving devices their mean.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.domain import Domain, Numeric, Public
from discreet.errors import DiscreetError
from discreet.local import PrintedLink, fit, new_task, printed_task
from discreet.local.models import as_model
from discreet.local.simulation import simulate_rows
from discreet.local.stein import NoisyMoments, scaled_least_squares

RESULTS = "experiments/nldp/accuracy.md"
NO_NOISE = "no noise"


@dataclass(frozen=True)
class Setting:
    n: int
    p: int
    epsilon: float
    design: str = "gaussian"
    model: str = "logistic"
    binary: bool = False
    public: int | None = None
    # "diagonal": the identity; "turned": U + I with a random rotation U, made symmetric.
    covariance: str = "diagonal"

    @property
    def public_rows(self) -> int:
        return self.n // self.p**2 if self.public is None else self.public


MEANS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "logistic": lambda eta: 1 / (1 + np.exp(-eta)),
    "exponential": np.exp,
    "cubic": lambda eta: eta**3 / 3,
    "softplus": lambda eta: np.logaddexp(0, eta),
    "sigmoid": lambda eta: 1 / (1 + np.exp(-eta)),
}


def label_range(setting: Setting) -> tuple[float, float]:
    """What is declared of y: [0, 1] for logistic; else what |w| <= 1 and |noise| <= 0.05 allow,
    both public in NLDP.
    """
    if setting.model == "logistic":
        return 0.0, 1.0
    if setting.design == "gaussian":
        return -0.05, 1.05  # sigmoid
    ends = MEANS[setting.model](np.array([-1.0, 1.0]) / np.sqrt(setting.p))
    slack = 0.0 if setting.model == "exponential" else 0.05
    return float(ends[0]) - slack, float(ends[1]) + slack


@dataclass(frozen=True)
class People:
    """Private rows with labels, public rows, the coefficients behind them, and what is declared."""

    rows: np.ndarray
    labels: np.ndarray
    truth: np.ndarray
    bound: float
    known: np.ndarray

    def error(self, coef: np.ndarray, gaussian: bool) -> float:
        """The squared relative error, in the paper's norm for the design."""
        norm = 2 if gaussian else np.inf
        return float(np.linalg.norm(coef - self.truth, norm) ** 2 / np.linalg.norm(self.truth, norm) ** 2)


def people(setting: Setting, seed: int) -> People:
    rng = np.random.default_rng(seed)
    n, p, m = setting.n, setting.p, setting.public_rows
    gaussian = setting.design == "gaussian"
    bound = 6.0 if gaussian else 1 / p
    rows = rng.normal(size=(n + m, p)) if gaussian else rng.choice([-1 / p, 1 / p], size=(n + m, p))
    if setting.covariance == "turned":
        turn = np.linalg.qr(rng.normal(size=(p, p)))[0]
        # A reflection has the eigenvalue -1, so that U + I would be singular.
        turn[:, 0] *= np.sign(np.linalg.det(turn))
        values, vectors = np.linalg.eigh((turn + turn.T) / 2 + np.eye(p))
        rows, bound = rows @ ((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T), 6.0 * np.sqrt(2)
    truth = rng.normal(size=p)
    truth /= np.linalg.norm(truth)
    labels = MEANS[setting.model](rows[:n] @ truth)
    if setting.binary:
        labels = (rng.random(n) < labels).astype(float)
    elif setting.model in ("cubic", "softplus", "sigmoid"):
        labels = labels + rng.uniform(-0.05, 0.05, size=n)
    return People(rows[:n], labels, truth, float(bound), rows[n:])


def declared(setting: Setting, found: People) -> dict[str, Any]:
    """What every task says in public, but for public rows."""
    return {
        "domain": Domain.from_bounds([f"x{j}" for j in range(setting.p)], (-found.bound, found.bound)),
        "target": Numeric("y", *label_range(setting)),
        "epsilon": setting.epsilon,
        "goal": setting.n,
    }


def one_error(setting: Setting, calibration: str, found: People, seed: int) -> float:
    """The squared relative error of one simulated collection; infinite where there is no solution."""
    if calibration == NO_NOISE:
        return exact_error(setting, found)
    rng = np.random.default_rng([seed, 1])
    gaussian, delta = setting.design == "gaussian", setting.n**-1.1
    common = declared(setting, found) | {"public": Public(rows=found.known)}
    if calibration == "paper":
        link = PrintedLink(setting.model) if setting.model in ("cubic", "softplus", "sigmoid") else None
        design = "gaussian" if gaussian else "bounded"
        task = printed_task("nldp", **common, delta=delta, design=design, link=link)
    else:
        options = {"randomizer": "gaussian", "delta": delta} if calibration == "gaussian" else {}
        task = new_task("nldp", **common, **options, fit_intercept=False)
    collection = simulate_rows(task, found.rows, found.labels, rng)
    try:
        (result,) = fit(task, collection, [setting.model])
    except DiscreetError:
        return np.inf
    return found.error(result.coef_, gaussian)


def exact_error(setting: Setting, found: People) -> float:
    """The same for the paper's estimator with the moments of all rows, and public rows for its
    constant.
    """
    n = len(found.rows)
    moments = NoisyMoments(found.rows.T @ found.rows / n, found.rows.T @ found.labels / n, n)
    try:
        coef = scaled_least_squares(moments, found.known, as_model(setting.model).mean_function)
    except DiscreetError:
        return np.inf
    return found.error(coef, setting.design == "gaussian")


TARGETS: list[tuple[Setting, str]] = [
    (Setting(200_000, 10, 1), "0.03"),
    (Setting(200_000, 10, 4), "0.008"),
    (Setting(200_000, 10, 10), "0.006"),
    (Setting(500_000, 10, 10), "0.006"),
    (Setting(100_000, 5, 10, design="bernoulli"), "0.03"),
    (Setting(200_000, 10, 1, binary=True), "0.03"),
    (Setting(200_000, 10, 4, binary=True), "0.008"),
    (Setting(200_000, 10, 10, binary=True), "0.006"),
    (Setting(500_000, 10, 10, binary=True), "0.006"),
]
FIGURES: list[tuple[Setting, str]] = [
    *((Setting(n, 10, 10), "") for n in (50_000, 100_000, 400_000)),
    *((Setting(200_000, p, 10), "") for p in (5, 20, 40)),
    *((Setting(200_000, 10, 10, public=m), "") for m in (200, 1_000, 20_000)),
    (Setting(100_000, 10, 10, design="bernoulli", model="exponential"), ""),
    (Setting(400_000, 10, 10, model="sigmoid"), ""),
    (Setting(400_000, 5, 10, design="bernoulli", model="cubic"), ""),
    (Setting(400_000, 10, 10, design="bernoulli", model="softplus"), ""),
]


def table(settings: list[tuple[Setting, str]], repeats: int) -> list[str]:
    """One line of Markdown per setting: medians over the repeats."""
    lines = [
        "| design | model | labels | n | p | m | epsilon | asked for | paper | gaussian | unit |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for setting, target in settings:
        medians = []
        # Where noise is nearly all of the error, the median of 20 itself varies by a quarter: more
        # runs settle it.
        runs = 5 * repeats if target and setting.design == "bernoulli" else repeats
        for calibration in ("paper", "gaussian", "unit"):
            medians.append(
                np.median(
                    [one_error(setting, calibration, people(setting, seed), seed) for seed in range(1000, 1000 + runs)]
                )
            )
        labels = "binary" if setting.binary else "mean"
        lines.append(
            f"| {setting.design} | {setting.model} | {labels} | {setting.n:,} | {setting.p} | "
            f"{setting.public_rows:,} | {setting.epsilon:g} | {target} | "
            f"{' | '.join(f'{median:.3g}' for median in medians)} |"
        )
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    further = "further" in sys.argv
    text = [
        f"# NLDP, squared relative error, median of {repeats} ({5 * repeats} for Bernoulli designs)",
        "",
        *table(TARGETS, repeats),
        "",
    ]
    if further:
        text += [f"## Other settings, median of {max(repeats // 4, 1)}", "", *table(FIGURES, max(repeats // 4, 1)), ""]
    command = f"python -m experiments.nldp.accuracy {repeats}{' further' if further else ''}"
    text.append(f"Infinite: the noisy moments have no root. Command: `{command}`")
    with open(RESULTS, "w", encoding="utf-8") as file:
        file.write("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
