"""NLDP's Figure 18: two rounds without public rows, as printed and corrected. `python -m experiments.nldp_two_rounds`.

Logistic, Sigma = I known, delta = n^-1.1, medians of the squared relative error. "Alg. 5" is the printed one, its noise
drawn user by user; "one round" reports both moments once and takes the design for Gaussian; "two rounds" spends half
of mu^2 on the first model and half on its residuals. Skewed designs are shifted exponentials: Stein's lemma fails.
"""

from __future__ import annotations

import math
import sys
from functools import partial
from pathlib import Path

import numpy as np

from discreet.domain import Domain, Numeric
from discreet.errors import DiscreetError
from discreet.local import fit, new_task, second_round
from discreet.local.simulation import simulate_rows
from discreet.local.stein import NoisyMoments, two_rounds

RESULT = Path(__file__).with_name("nldp_two_rounds.md")
SETTINGS = [
    (design, n, p, epsilon)
    for design in ("gaussian", "skewed")
    for n, p, epsilon in ((200_000, 5, 10.0), (200_000, 5, 20.0), (500_000, 10, 20.0))
]


def sample(design: str, n: int, p: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, binary labels and the unit vector behind them."""
    rows = rng.normal(size=(n, p)) if design == "gaussian" else rng.exponential(size=(n, p)) - 1
    truth = rng.normal(size=p)
    truth /= np.linalg.norm(truth)
    return rows, (rng.random(n) < 1 / (1 + np.exp(-rows @ truth))).astype(float), truth


def printed(rows: np.ndarray, labels: np.ndarray, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    """Algorithm 5 with its printed noise."""
    n, p = rows.shape
    delta = n**-1.1
    radius = math.sqrt(10 * p * math.log(n))
    kept = rows * np.minimum(1, radius / np.linalg.norm(rows, axis=1))[:, np.newaxis]
    spread = math.sqrt(128 * math.log(2.5 / delta)) / epsilon
    upper = np.triu(rng.normal(size=(p, p))) * spread * radius**2 / math.sqrt(n)
    second = kept.T @ kept / n + upper + np.triu(upper, 1).T
    cross = kept.T @ labels / n + rng.normal(size=p) * spread * radius / math.sqrt(n)

    def ask(coef: np.ndarray) -> np.ndarray:
        noise = rng.normal(size=20_000) * math.sqrt(8 * math.log(2.5 / delta)) / epsilon
        return np.clip(rows[:20_000] @ coef, 0, 1) + noise  # their mean is as good as that of all, and faster

    return two_rounds(NoisyMoments(second, cross, n), ask, "logistic")


def corrected(
    rows: np.ndarray, labels: np.ndarray, epsilon: float, rng: np.random.Generator, rounds: int
) -> np.ndarray:
    """One round, or two with residuals in the second."""
    n, p = rows.shape
    low = -4.0 if rows.min() < -1 else -1.0
    task = new_task(
        "rounds",
        domain=Domain.from_bounds([f"x{j}" for j in range(p)], (low, 4.0)),
        target=Numeric("y", 0.0, 1.0),
        epsilon=epsilon,
        delta=n**-1.1,
        goal=n,
        rounds=rounds,
    )
    (first,) = fit(task, simulate_rows(task, rows, labels, rng), ["logistic"], prior_std=2.0)
    if rounds == 1:
        return first.coef_
    later = second_round(task, first.encoded_coef, "logistic", first.encoded_moment)
    (second,) = fit(later, simulate_rows(later, rows, labels, rng), ["logistic"])
    return second.coef_


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 6
    lines = [f"# Two rounds without public rows, squared relative error, median of {repeats}", ""]
    lines += ["| design | n | p | epsilon | Alg. 5 | one round | two rounds |", "|---|---:|---:|---:|---:|---:|---:|"]
    for design, n, p, epsilon in SETTINGS:
        errors: list[list[float]] = [[], [], []]
        for seed in range(repeats):
            rng = np.random.default_rng(seed)
            rows, labels, truth = sample(design, n, p, rng)
            tries = (printed, partial(corrected, rounds=1), partial(corrected, rounds=2))
            for place, attempt in enumerate(tries):
                try:
                    errors[place].append(float(np.sum((attempt(rows, labels, epsilon, rng) - truth) ** 2)))
                except DiscreetError:
                    errors[place].append(math.inf)
        cells = " | ".join(f"{np.median(column):.3g}" for column in errors)
        lines.append(f"| {design} | {n:,} | {p} | {epsilon:g} | {cells} |")
        print(lines[-1], flush=True)
    lines += ["", f"Infinite: no root. Command: `python -m experiments.nldp_two_rounds {repeats}`"]
    RESULT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
