"""Privacy amplification by shuffling: nobody knows which record was used when.

n records are put into a uniformly random secret order, and the i-th of them goes through a
randomizer that may depend on earlier answers. If each randomizer is e0-private about its one
record, then by Feldman, McMillan and Talwar, "Hiding Among the Clones" (FOCS 2021), the whole is as
hard to distinguish as the two distributions

    (A + D, C - A + 1 - D)  and  (A + 1 - D, C - A + D),
    C ~ Binomial(n - 1, exp(-e0)),  A ~ Binomial(C, 1/2),  D ~ Bernoulli(exp(e0) / (1 + exp(e0))),

for any records. ``clones_delta`` computes their divergence numerically, rounded up. Theorem 3.1
of the same paper bounds it in closed form (``clones_epsilon``), for e0 <= log(n / (16 log(2/d)))
only. If each randomizer is (e0, d0)-private instead, delta grows by (exp(epsilon) + 1) (1 +
exp(-e0)/2) n d0 (Theorem 3.8). The sharper bounds of 2023 have an erratum for general
randomizers and are not used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import bdtrc, gammaln

from discreet.errors import GuaranteeError
from discreet.privacy.profile import gaussian_epsilon, gaussian_mu

SHUFFLE_THEOREM = "Feldman, McMillan and Talwar, Hiding Among the Clones (FOCS 2021), Theorem 3.1 for approximate DP"

# Values of C farther from its mean than this many standard deviations (plus this many) have
# probability below 1e-20.
_DEVIATIONS = 12.0
# These tails, and rounding errors of the binomial tails, are added to delta: far
# below any requested delta.
_REST = 1e-13
# Above this epsilon, exp(-2 epsilon) has no floating-point number. Shuffling helps up to about 8.
_LARGEST = 300.0


@dataclass(frozen=True)
class Amplification:
    """The joint guarantee of Gaussian randomizers of cost ``mu``, one for
    each of n shuffled records.
    """

    n: int
    mu: float
    epsilon: float
    delta: float


def clones_epsilon(local: float, n: int, delta: float) -> float:
    """Theorem 3.1: the epsilon of n shuffled ``local``-private randomizers;
    refused outside of its range.

    The factor 1 - exp(-e0) is slightly above the printed (exp(e0) - 1) / (exp(e0) +
    1), on the private side.
    """
    most = largest_local(n, delta)
    if not 0 < local <= most:
        raise GuaranteeError(
            f"the closed form of shuffling needs a local epsilon of at most log(n / (16 log(2/delta))) = {most:.3g} "
            f"for n = {n} and delta = {delta:g}, got {local:.4g}"
        )
    rate = 8 * math.sqrt(math.exp(local) * math.log(4 / delta) / n) + 8 * math.exp(local) / n
    return math.log1p(-math.expm1(-local) * rate)


def largest_local(n: int, delta: float) -> float:
    """The largest local epsilon for which the closed form is proved; 0 if there is none."""
    return max(0.0, math.log(n / (16 * math.log(2 / delta)))) if delta < 1 else 0.0


def clones_delta(local: float, n: int, epsilon: float) -> float:
    """The exact divergence of the two distributions above at this epsilon,
    rounded up; for every n and e0.
    """
    if epsilon >= local:
        return 0.0
    kept = 1 / (1 + math.exp(-local))  # P(D = 1)
    centre = (n - 1) * math.exp(-local)
    width = _DEVIATIONS * math.sqrt(max(centre * -math.expm1(-local), 1.0)) + _DEVIATIONS
    clones = np.arange(max(0, math.floor(centre - width)), min(n - 1, math.ceil(centre + width)) + 1)
    probability = _binomial(clones, n - 1, math.exp(-local), -math.expm1(-local))
    probability /= np.sum(probability)  # removes the common error of log-factorials
    # The likelihood ratio grows with the first coordinate a, and exceeds exp(epsilon) where
    # a / (C + 1 - a) > odds.
    growth = math.exp(epsilon)
    odds = (growth * kept - (1 - kept)) / (kept - growth * (1 - kept))
    above = np.floor((clones + 1) * odds / (1 + odds))  # a > above
    shifted = _tail(above - 1, clones)  # P(A + 1 > above)
    plain = _tail(above, clones)  # P(A > above)
    mine = kept * shifted + (1 - kept) * plain
    other = (1 - kept) * shifted + kept * plain
    inside = float(np.sum(probability * np.maximum(mine - growth * other, 0.0)))
    return min(1.0, inside * (1 + 1e-8) + _REST)


def amplified(mu: float, n: int, delta: float, halvings: int = 30) -> Amplification:
    """The smallest epsilon at this delta of n shuffled Gaussian randomizers of
    cost ``mu``, numerically.

    Never above the epsilon of using each record once without shuffling; accurate to
    2^-halvings of that, from above.
    """
    if not (n >= 1 and 0 < delta < 1 and 0 < mu < math.inf):
        raise ValueError(f"shuffling needs n >= 1, 0 < delta < 1 and a finite mu > 0, got {n}, {delta} and {mu}")
    low, high = 0.0, gaussian_epsilon(delta, mu)
    for _ in range(halvings):
        middle = (low + high) / 2
        if _largest_mu(middle, delta, n) >= mu:
            high = middle
        else:
            low = middle
    return Amplification(n, mu, high, delta)


def shuffled_mu(epsilon: float, delta: float, n: int) -> Amplification:
    """The largest mu of each of n shuffled records' releases, for (epsilon, delta) in total.

    Refused if shuffling gives nothing beyond using each record once.
    """
    best = _largest_mu(epsilon, delta, n)
    if best <= gaussian_mu(epsilon, delta):
        raise GuaranteeError(
            f"shuffling {n} rows gives no better guarantee at epsilon {epsilon:g} and delta {delta:g} than using each "
            f"row once{_useful_range(delta, n)}; solver='auto' and solver='minibatch' need no shuffling"
        )
    return Amplification(n, best, epsilon, delta)


@lru_cache(maxsize=64)
def _largest_mu(epsilon: float, delta: float, n: int) -> float:
    """Gaussian noise is (e0, d0)-private for a whole curve of pairs: every e0 is valid,
    and the best one is used.
    """
    if epsilon > _LARGEST:
        return 0.0

    def at(local: float) -> float:
        # The part of delta that the clones leave covers the d0 of n randomizers.
        slack = (delta - clones_delta(local, n, epsilon)) / _slack(epsilon, local, n)
        return gaussian_mu(local, slack) if 0 < slack < 1 else 0.0

    grid = np.geomspace(max(epsilon, 1e-5), max(12.0, 2 * epsilon), 60)
    worth = [at(float(local)) for local in grid]
    best = int(np.argmax(worth))
    around = np.geomspace(grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)], 40)
    return max(worth[best], *(at(float(local)) for local in around)) * (1 - 1e-9)


def _slack(epsilon: float, local: float, n: int) -> float:
    """The increase of delta per unit of d0."""
    return (math.exp(epsilon) + 1) * (1 + math.exp(-local) / 2) * n


def _useful_range(delta: float, n: int) -> str:
    """The range in which shuffling helps, for the message of a refusal; from
    public numbers only.
    """
    for epsilon in np.geomspace(8.0, 1e-3, 24):
        if _largest_mu(float(epsilon), delta, n) > gaussian_mu(float(epsilon), delta):
            return f" (it helps up to about epsilon {epsilon:.2g})"
    return f" (for {n} rows it helps at no epsilon above 0.001)"


def _binomial(values: np.ndarray, n: int, p: float, rest: float) -> np.ndarray:
    logarithm = gammaln(n + 1) - gammaln(values + 1) - gammaln(n - values + 1)
    return np.asarray(np.exp(logarithm + values * math.log(p) + (n - values) * math.log(rest)))


def _tail(above: np.ndarray, clones: np.ndarray) -> np.ndarray:
    """P(A > above) for A ~ Binomial(clones, 1/2)."""
    inner = bdtrc(np.clip(above, 0, clones), clones, 0.5)
    return np.where(above < 0, 1.0, np.where(above >= clones, 0.0, inner))
