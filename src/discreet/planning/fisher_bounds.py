"""The lower bound for any model with a likelihood, from the Fisher information of a row alone.

The score attack needs that a row's score has mean 0 and a bounded covariance, the Fisher
information; a canonical link is not needed. docs/papers/lower_bounds.md has the assumptions and the
proof. For a generalized linear model the information of a row is E i(eta) x x^T, with

    i(eta) = slope(eta)^2 / (dispersion * variance(mean(eta))),

which is curvature / dispersion for a canonical link, 1 / dispersion for gamma labels with the log
link, and mean / (1 + alpha mean) for negative binomial ones.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from discreet.glm import Family, Link, Loss, LossFamily
from discreet.glm import family as family_of
from discreet.glm import link as link_of
from discreet.parameters import check_count, check_positive, is_number
from discreet.planning.lower_bounds import Closeness, LowerBound, forced_risk, van_trees
from discreet.planning.sparse_bounds import check_sparsity, unknown_support
from discreet.privacy import Unit

# Predictors beyond this are taken as infinite: exp(2 * 300) is still a number.
_FAR, _LESS_FAR, _POINTS = 300.0, 200.0, 6001
_LARGEST = 1e200


def fisher_lower_bound(
    n: int,
    n_features: int,
    privacy: Unit,
    *,
    information: float,
    coef_bound: float = math.inf,
    sparsity: int | None = None,
    neighbours: str = "replace_one",
) -> LowerBound:
    """The squared error that every private method has for some |beta_j| <= coef_bound, in any model
    with a likelihood.

    Parameters
    ----------
    n : int
        The number of rows.
    n_features : int
        The number of coefficients. Others, such as a constant or a dispersion, may be unknown as
        well: that makes no method better.
    privacy : Unit
        The guarantee, such as ``discreet.privacy.GDP(0.2)``.
    information : float
        The largest eigenvalue of the Fisher information of one row, over all coefficient vectors of
        the box; for sparse ones, over all sets of ``2 * sparsity`` columns. In a generalized linear
        model it is at most ``family_information(...)`` times the largest eigenvalue of E x x^T.
    coef_bound : float, default inf
        Half the width of the box; must be finite for an (epsilon, delta) guarantee.
    sparsity : int, optional
        How many coefficients may differ from 0; by default all.
    neighbours : str, default 'replace_one'
        ``"replace_one"`` or ``"add_or_remove_one"``.

    Returns
    -------
    LowerBound
        The parts due to privacy and to statistics. With ``sparsity``, the latter is for known
        columns.

    Examples
    --------
    >>> from discreet.planning import family_information, fisher_lower_bound
    >>> from discreet.privacy import GDP
    >>> information = family_information("gamma", "log", dispersion=0.5) / 3     # x in [-1, 1]
    >>> bound = fisher_lower_bound(2_000, 5, GDP(0.2), information=information, coef_bound=1.0)
    >>> round(bound.value, 4)
    0.0037
    """
    check_count("n", n)
    check_count("n_features", n_features)
    check_positive("information", information)
    check_positive("coef_bound", coef_bound, finite=False)
    closeness = Closeness.of(privacy, neighbours)
    d = n_features
    if sparsity is not None:
        check_sparsity(sparsity, n_features)
        d = sparsity
    # E |score| <= sqrt(trace of the information), and |M - beta| <= 2 b sqrt(d).
    largest = 2 * d * math.sqrt(information)
    forced = forced_risk(n, d, information, closeness, largest, coef_bound)
    reach = "" if math.isinf(coef_bound) else f" with every |coefficient| <= {coef_bound:g}"
    whom = "all coefficient vectors"
    if sparsity is not None:
        # Without a family there is no bound on KL, which the non-private part would need.
        hidden = unknown_support(n, n_features, d, information, privacy, coef_bound, neighbours, divergence=False)
        forced = max(forced, hidden)
        whom = f"all vectors with at most {sparsity} of {n_features} coefficients"
    return LowerBound(
        forced,
        van_trees(n, d, information, coef_bound),
        "squared error of the coefficients",
        f"largest mean error over {whom}{reach}, rows drawn independently, each with a Fisher information of at "
        f"most {information:g}, one row replaced",
    )


def family_information(
    family: str | Family,
    link: str | Link | None = None,
    *,
    dispersion: float = 1.0,
    predictor: tuple[float, float] = (-math.inf, math.inf),
) -> float:
    """The largest Fisher information of one label about its linear predictor.

    Parameters
    ----------
    family : str or Family
        One of ``discreet.glm`` or its name.
    link : str or Link, optional
        By default the family's usual link.
    dispersion : float, default 1.0
        sigma^2 of Gaussian labels, 1 / shape of gamma ones. Bernoulli, Poisson and negative
        binomial labels have none: it must be 1.
    predictor : tuple of float, default (-inf, inf)
        The range of the linear predictor, intercept included. It must be finite where the
        information has no limit, as for Poisson labels.

    Returns
    -------
    float
        The supremum of slope^2 / (dispersion * variance) over the range.

    Examples
    --------
    >>> from discreet.planning import family_information
    >>> from discreet.glm import NegativeBinomial
    >>> round(family_information("bernoulli"), 3)
    0.25
    >>> family_information("gamma", "log", dispersion=0.5)
    2.0
    >>> round(family_information(NegativeBinomial(alpha=0.5)), 3)
    2.0
    """
    if isinstance(family, (Loss, LossFamily)):
        raise ValueError(
            "a loss is no distribution of labels, so it has no Fisher information: pass the information of a "
            "distribution that labels may have to fisher_lower_bound, as 1 / sigma^2 for Gaussian errors"
        )
    chosen = family_of(family)
    linked = chosen.default_link if link is None else link_of(link)
    chosen.check_link(linked)
    check_positive("dispersion", dispersion)
    if chosen.dispersion_known and dispersion != 1:
        raise ValueError(f"{chosen.name} labels have dispersion 1, got {dispersion!r}")
    low, high = _range(predictor)
    if math.isfinite(linked.greatest_eta) and high >= linked.greatest_eta:
        raise ValueError(f"predictor must be below {linked.greatest_eta:g} for the link {linked.name}, got {predictor}")
    return _largest_weight(chosen, linked, low, high) / dispersion


def _range(predictor: Any) -> tuple[float, float]:
    try:
        low, high = predictor
    except (TypeError, ValueError):
        low = high = math.nan
    if not (is_number(low) and is_number(high) and low <= high):
        raise ValueError(f"predictor must be a pair of numbers, low <= high, got {predictor!r}")
    return float(low), float(high)


def _largest_weight(family: Family, link: Link, low: float, high: float) -> float:
    """The maximum over a grid, refined beside its best point: all weights here have one peak at
    most.
    """

    def weight(eta: float) -> float:
        return float(family.weight(eta, link))

    bottom, top = (min(max(end, -_FAR), _FAR) for end in (low, high))
    points = np.linspace(bottom, top, _POINTS)
    values = np.asarray(family.weight(points, link))
    best = int(np.argmax(values))
    far = points[best]
    grows = abs(far) == _FAR and not values[best] <= weight(math.copysign(_LESS_FAR, far)) * (1 + 1e-9)
    if grows or values[best] > _LARGEST:
        raise ValueError(
            f"the information of {family.name} labels with the link {link.name} has no limit as the linear predictor "
            f"{'grows' if far > 0 else 'falls'}: predictor must be a finite range, such as (-3, 3)"
        )
    left, right = points[max(best - 1, 0)], points[min(best + 1, _POINTS - 1)]
    if left == right:
        return float(values[best])
    found = minimize_scalar(lambda eta: -weight(eta), bounds=(left, right), method="bounded", options={"xatol": 1e-9})
    return max(float(values[best]), -float(found.fun))
