"""Minimax lower bounds with explicit constants (COST, Theorem 5; RELU, Theorem 7)
for all private methods.

docs/papers/lower_bounds.md has every step. In short: the score attack A_i = <M - beta, score(row
i)> is complete, sum_i E A_i = sum_j d/d beta_j E M_j. Under a prior on [-b, b]^d with density prod
cos^2(pi beta_j / 2b) / b this is at least d - sqrt(d R) pi / b, with R the Bayes risk E |M -
beta|^2. It is also sound: on a data set without row i it has mean 0 and a mean square of at most
``information`` * R. Privacy makes the two expectations close,

    E A_i <= distance * sqrt(information * R) + slack,

where distance^2 is the chi-square divergence that the guarantee allows between neighbours. Together

    sqrt(R) >= (d - n slack) / (n distance sqrt(information) + sqrt(d) pi / b).

Nothing is assumed about M: replacing it by its projection onto the box increases neither
error nor privacy loss. The papers' Lemma 6 has 2 epsilon for the distance, holds below
epsilon = 1 and requires M to have an error of o(1). This bound is sharper, holds everywhere
and has no such condition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.parameters import check_count, check_positive
from discreet.privacy import Approximate, Pure, Unit, check_neighbours


@dataclass(frozen=True)
class LowerBound:
    """``privacy``: due to the guarantee; ``statistics``: for any method; ``value``: the larger."""

    privacy: float
    statistics: float
    loss: str
    applies: str

    @property
    def value(self) -> float:
        return max(self.privacy, self.statistics)

    def scaled(self, factor: float, loss: str) -> LowerBound:
        """The same bound for a loss that is at least ``factor`` times this one."""
        return LowerBound(self.privacy * factor, self.statistics * factor, loss, self.applies)


@dataclass(frozen=True)
class Closeness:
    """How far expectations on neighbours can differ: by distance * root mean
    square + slack * largest value.
    """

    distance: float
    slack: float

    @classmethod
    def of(cls, unit: Unit, neighbours: str = "replace_one") -> Closeness:
        """For one exchanged row; if the guarantee is about rows added or
        removed, these are two steps.

        mu-GDP and rho-zCDP: chi-square at most e^(mu^2) - 1 and e^(2 rho) - 1. Epsilon-DP: 4
        sinh^2(epsilon / 2), the chi-square of randomised response. (Epsilon, delta): epsilon-DP
        except on a part of mass delta.
        """
        if not all(hasattr(unit, name) for name in ("rho", "epsilon", "delta")):
            raise TypeError(
                "privacy must be a guarantee such as discreet.privacy.GDP(0.2), Pure(1.0) or Approximate(1.0, 1e-6), "
                f"got {unit!r}"
            )
        steps = 1 if check_neighbours(neighbours) == "replace_one" else 2
        if isinstance(unit, Approximate):
            # Group privacy: two steps multiply epsilon by 2 and delta by 1 + e^epsilon.
            slack = unit.slack * (1 if steps == 1 else 1 + math.exp(unit.parameter))
            return cls(_pure_distance(steps * unit.parameter), min(1.0, slack))
        by_rho = _chi(steps**2 * unit.rho)
        return cls(min(by_rho, _pure_distance(steps * unit.parameter)) if isinstance(unit, Pure) else by_rho, 0.0)


def _chi(rho: float) -> float:
    return math.sqrt(math.expm1(2 * rho)) if rho < 300 else math.inf


def _pure_distance(epsilon: float) -> float:
    return 2 * math.sinh(epsilon / 2) if epsilon < 600 else math.inf


def glm_lower_bound(
    n: int,
    n_features: int,
    privacy: Unit,
    *,
    dispersion: float,
    curvature: float,
    x_variance: float,
    x_norm: float,
    coef_bound: float = math.inf,
    neighbours: str = "replace_one",
) -> LowerBound:
    """The squared error of the coefficients that every private method has for
    some |beta_j| <= coef_bound.

    dispersion: c(sigma); sigma^2 for a linear model, 1 for a logistic one. curvature: the largest
    second derivative of the cumulant; 1 for a linear model, 1/4 for a logistic one. x_variance: the
    largest eigenvalue of E x x^T. x_norm: the largest norm of a row (used only with a delta).
    coef_bound: must be finite for an (epsilon, delta) guarantee; not needed for GDP.
    """
    check_count("n", n)
    check_count("n_features", n_features)
    check_glm(dispersion=dispersion, curvature=curvature, x_variance=x_variance, x_norm=x_norm, coef_bound=coef_bound)
    closeness = Closeness.of(privacy, neighbours)
    information = curvature * x_variance / dispersion
    # |score| has a mean of at most sqrt(curvature / dispersion) per unit of x, and
    # |M - beta| <= 2 b sqrt(d).
    largest = 2 * math.sqrt(n_features) * x_norm * math.sqrt(curvature / dispersion)
    forced = forced_risk(n, n_features, information, closeness, largest, coef_bound)
    reach = "" if math.isinf(coef_bound) else f" with every |coefficient| <= {coef_bound:g}"
    return LowerBound(
        forced,
        van_trees(n, n_features, information, coef_bound),
        "squared error of the coefficients",
        f"largest mean error over all coefficient vectors{reach}, rows drawn independently with "
        f"E x x^T <= {x_variance:g}, one row replaced",
    )


def relu_lower_bound(
    n: int, n_features: int, privacy: Unit, *, noise_std: float, neighbours: str = "replace_one"
) -> LowerBound:
    """The squared error of the weights of y = max(0, <w, x>) + noise, for x uniform
    on [-1, 1]^d and |w| <= 1.

    The Fisher information is exactly I / (6 sigma^2): x has variance 1/3 (the paper uses
    1), and half of the rows carry no information. The prior is on the box inside the
    ball, |w_j| <= 1/sqrt(d).
    """
    check_count("n", n)
    check_count("n_features", n_features)
    check_positive("noise_std", noise_std)
    closeness = Closeness.of(privacy, neighbours)
    bound = 1 / math.sqrt(n_features)
    information = 1 / (6 * noise_std**2)
    # Half of the rows have a score, of mean size sqrt(2 / pi) / sigma; |<x, M -
    # w>| <= |x|_1 2 b <= 2 b d.
    largest = 2 * n_features * math.sqrt(2 / math.pi) / (2 * noise_std)
    return LowerBound(
        forced_risk(n, n_features, information, closeness, largest, bound),
        van_trees(n, n_features, information, bound),
        "squared error of the weights",
        "largest mean error over all |w| <= 1, x uniform on [-1, 1]^d, Gaussian noise, one row replaced",
    )


def relu_excess_risk(bound: LowerBound) -> LowerBound:
    """The same for the excess risk, which is at least a quarter of |M - w|^2 in the
    norm of E x x^T = I / 3.
    """
    return bound.scaled(1 / 12, "excess risk")


def forced_risk(n: int, d: int, information: float, closeness: Closeness, largest: float, coef_bound: float) -> float:
    """The bound for the best of many boxes inside the allowed one: small ones hide
    more, large ones lose less.

    largest: an upper bound on the mean of the attack, per unit of the box's half-width.
    """
    if math.isinf(coef_bound):
        if closeness.slack > 0:
            raise ValueError(
                "an (epsilon, delta) guarantee needs a finite coef_bound: with delta anything may be revealed"
            )
        widths = np.array([math.inf])
    else:
        widths = coef_bound * np.geomspace(1e-6, 1.0, 200)
    slack = np.where(closeness.slack > 0, 2 * closeness.slack * largest * widths, 0.0) if closeness.slack else 0.0
    complete = np.maximum(d - n * np.asarray(slack), 0.0)
    root = complete / (n * closeness.distance * math.sqrt(information) + math.sqrt(d) * math.pi / widths)
    return float(np.max(root) ** 2)


def van_trees(n: int, d: int, information: float, coef_bound: float) -> float:
    """The Bayesian Cramer-Rao bound d^2 / (n tr I + d (pi/b)^2) under the same
    prior, for every method.
    """
    return d / (n * information + (math.pi / coef_bound) ** 2)


def check_glm(*, coef_bound: float, **scales: float) -> None:
    """Refuse scales that are no positive numbers; only coefficients may be without a bound."""
    for name, value in scales.items():
        check_positive(name, value)
    check_positive("coef_bound", coef_bound, finite=False)
