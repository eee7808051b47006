"""The lower bound for sparse coefficients (COST, Theorem 6), as far as its proof is valid.

The printed proof draws a Gaussian vector, keeps its s largest entries, and applies Stein's lemma to
each coordinate as if it had a density. It has jumps where a coordinate enters the support, and
their terms remove the factor log(d/s): by the completeness identity, the attack on a method with E
M = beta sums to s, not to s log(d/s). So the score attack gives the bound for a known support, with
s instead of d. The cost of not knowing the support is bounded from below by Fano's inequality over
a packing of supports, for guarantees that compose over groups (GDP, zCDP, pure): distance k costs
at most k^2 rho. The larger of both bounds is used.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln, logsumexp

from discreet.parameters import check_count
from discreet.planning.lower_bounds import LowerBound, glm_lower_bound
from discreet.privacy import Pure, Unit, check_neighbours


def sparse_glm_lower_bound(
    n: int,
    n_features: int,
    sparsity: int,
    privacy: Unit,
    *,
    dispersion: float,
    curvature: float,
    x_variance: float,
    x_norm: float,
    coef_bound: float = math.inf,
    neighbours: str = "replace_one",
) -> LowerBound:
    """``glm_lower_bound`` for vectors with at most ``sparsity`` nonzero coefficients.

    x_norm: of this many columns. Each part of the ``LowerBound`` is the larger of the bound for a
    known support and of Fano's.
    """
    check_sparsity(sparsity, n_features)
    known = glm_lower_bound(
        n,
        sparsity,
        privacy,
        dispersion=dispersion,
        curvature=curvature,
        x_variance=x_variance,
        x_norm=x_norm,
        coef_bound=coef_bound,
        neighbours=neighbours,
    )
    information = curvature * x_variance / dispersion
    fano = unknown_support(n, n_features, sparsity, information, privacy, coef_bound, neighbours)
    plain = _fano(n, n_features, sparsity, information, coef_bound, math.inf, math.inf)
    return LowerBound(
        max(known.privacy, fano),
        max(known.statistics, plain),
        known.loss,
        f"largest mean error over all vectors with at most {sparsity} of {n_features} coefficients, {known.applies}",
    )


def check_sparsity(sparsity: int, n_features: int) -> None:
    """Refuse more nonzero coefficients than there are columns."""
    check_count("n_features", n_features)
    check_count("sparsity", sparsity)
    if sparsity > n_features:
        raise ValueError(f"sparsity must be at most n_features, got {sparsity} of {n_features}")


def unknown_support(
    n: int,
    d: int,
    s: int,
    information: float,
    privacy: Unit,
    coef_bound: float,
    neighbours: str,
    *,
    divergence: bool = True,
) -> float:
    """Fano's bound for private methods; without ``divergence``, no bound on KL is known."""
    steps = 1 if check_neighbours(neighbours) == "replace_one" else 2
    epsilon = steps * privacy.parameter if isinstance(privacy, Pure) else math.inf
    return _fano(n, d, s, information, coef_bound, steps**2 * privacy.rho, epsilon, divergence=divergence)


def _fano(
    n: int,
    d: int,
    s: int,
    information: float,
    coef_bound: float,
    rho: float,
    epsilon: float,
    *,
    divergence: bool = True,
) -> float:
    """Fano's bound over supports that differ in at least ``apart`` places, at the
    best size of coefficients.

    For vectors of height h on different supports, |b - b'|^2 is between 2 apart h^2 and 2 s h^2.
    One row's distributions differ by KL <= information |b - b'|^2 / 2 where the link is canonical,
    and by a squared Hellinger distance of at most half of that in every model. So they differ in
    total variation by t <= sqrt(information) |b - b'| / 2. The mutual information is at most n KL
    without privacy, and with it at most rho E K^2 (or epsilon E K), with K ~ Binomial(n, t) the
    number of rows to exchange.
    """
    best = 0.0
    heights = np.geomspace(1e-8, 1e4, 600) / math.sqrt(information * s)
    heights = heights[heights <= coef_bound]
    apart_by = information * s * heights**2
    variation = np.minimum(1.0, np.sqrt(apart_by / 2))
    known = n * apart_by if divergence else np.full_like(apart_by, math.inf)
    if math.isfinite(rho):
        known = np.minimum(known, rho * (n * variation * (1 - variation) + (n * variation) ** 2))
    if math.isfinite(epsilon):
        known = np.minimum(known, epsilon * n * variation)
    for apart in sorted({max(1, math.ceil(s * share)) for share in (0.25, 0.5, 0.75, 1.0)}):
        supports = log_packing(d, s, apart)
        if supports > math.log(2):
            error = np.maximum(0.0, 1 - (known + math.log(2)) / supports)
            best = max(best, float(np.max(error * apart * heights**2 / 2, initial=0.0)))
    return best


def log_packing(d: int, s: int, apart: int) -> float:
    """Log of a number of s-element sets that pairwise differ in ``apart`` elements: all
    sets over the nearest ones.
    """
    near = np.arange(apart)
    around = logsumexp(_log_choose(s, near) + _log_choose(d - s, near))
    return float(_log_choose(d, np.array([s]))[0] - around)


def _log_choose(n: int, k: np.ndarray) -> np.ndarray:
    chosen = np.minimum(k, n)
    value = gammaln(n + 1) - gammaln(chosen + 1) - gammaln(n - chosen + 1)
    return np.where(k <= n, value, -np.inf)
