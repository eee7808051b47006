"""How well attacks separate members from non-members, and how well a guarantee allows it.

A guarantee bounds every guess about one row: at a false alarm rate a, (epsilon, delta) allows a hit
rate of at most min(e^epsilon a + delta, 1 - e^-epsilon (1 - delta - a)), and mu-GDP
Phi(ndtri(a) + mu). Both bounds are concave in a, so they hold for rates averaged over rows and data
sets too, as in the curves here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

Floats = NDArray[np.float64]

_POINTS = 201


def allowed_hits(false_alarms: Floats, epsilon: float, delta: float) -> Floats:
    """The largest hit rate that (epsilon, delta) allows at each false alarm rate."""
    rates = np.asarray(false_alarms, dtype=np.float64)
    by_alarms = math.exp(min(epsilon, 700.0)) * rates + delta
    by_misses = 1 - math.exp(-epsilon) * (1 - delta - rates)
    return np.clip(np.minimum(by_alarms, by_misses), 0.0, 1.0)


def gaussian_allowed_hits(false_alarms: Floats, mu: float) -> Floats:
    """The same for mu-GDP, which is the tighter bound."""
    return np.asarray(ndtr(ndtri(np.asarray(false_alarms, dtype=np.float64)) + mu))


def gaussian_allowed_area(mu: float) -> float:
    """The largest area under the curve that mu-GDP allows: Phi(mu / sqrt 2)."""
    return float(ndtr(mu / math.sqrt(2)))


@dataclass(frozen=True)
class Membership:
    """Attack scores of rows that were in the data and of rows that were not, with the claim to
    compare with.

    ``area`` is the chance that a member scores above a non-member; 1/2 is no attack at all.

    Attributes
    ----------
    members : array
        Scores of rows that were in the data.
    outsiders : array
        Scores of rows that were not.
    data_sets : int
        How many data sets were drawn.
    area : float
        The chance that a member scores above an outsider; 1/2 is no attack at all.
    area_std : float
        Its standard error.
    mu : float
        The claim, as Gaussian privacy; infinite if there is none.
    epsilon : float
        The claim, at ``delta``.
    delta : float
        The delta of the claim.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.audit import Membership
    >>> result = Membership(
    ...     members=np.array([1.0, 2.0]),
    ...     outsiders=np.array([0.0, 1.5]),
    ...     data_sets=1,
    ...     area=0.75,
    ...     area_std=0.2,
    ...     mu=0.5,
    ...     epsilon=1.0,
    ...     delta=1e-6,
    ... )
    >>> bool(result.separation > 0)
    True
    """

    members: Floats = field(repr=False)
    outsiders: Floats = field(repr=False)
    data_sets: int
    area: float
    area_std: float
    mu: float
    epsilon: float
    delta: float

    @property
    def separation(self) -> float:
        """Difference of the means in standard deviations of the outsiders' scores."""
        return float((self.members.mean() - self.outsiders.mean()) / max(float(self.outsiders.std()), 1e-300))

    @property
    def allowed_area(self) -> float:
        """The largest area that the claim allows."""
        return gaussian_allowed_area(self.mu) if math.isfinite(self.mu) else 1.0

    @property
    def within_bound(self) -> bool:
        """Whether the area exceeds what the claim allows by at most five standard errors."""
        return self.area - 5 * self.area_std <= self.allowed_area

    def curve(self) -> tuple[Floats, Floats]:
        """The ROC curve: false alarm rates and hit rates, with ties broken at random.

        Returns
        -------
        false alarm rates, hit rates
            The attack's curve.
        """
        cuts = np.unique(np.quantile(np.concatenate([self.members, self.outsiders]), np.linspace(0, 1, 4 * _POINTS)))
        alarms, hits = (
            1 - np.searchsorted(np.sort(scores), cuts, side="left") / len(scores)
            for scores in (self.outsiders, self.members)
        )
        rates = np.linspace(0, 1, _POINTS)
        return rates, np.interp(rates, np.concatenate([[0.0], alarms[::-1]]), np.concatenate([[0.0], hits[::-1]]))

    def allowed_curve(self) -> tuple[Floats, Floats]:
        """The best curve that the claim allows: false alarm rates and hit rates.

        Returns
        -------
        false alarm rates, hit rates
            The best curve that the claim allows.
        """
        rates = np.linspace(0, 1, _POINTS)
        if math.isfinite(self.mu):
            return rates, gaussian_allowed_hits(rates, self.mu)
        return rates, allowed_hits(rates, self.epsilon, self.delta)

    def __str__(self) -> str:
        return (
            f"area under the curve {self.area:.4f} +- {self.area_std:.4f} (allowed {self.allowed_area:.4f}); "
            f"members {self.separation:.3f} standard deviations above outsiders, {self.data_sets} data sets"
        )


def trace_members(
    fit: Callable[[Floats, Floats], Floats],
    draw: Callable[[np.random.Generator, int], tuple[Floats, Floats]],
    attack: Callable[[Floats, Floats, Floats], Floats],
    *,
    rows: int,
    data_sets: int,
    mu: float = math.inf,
    epsilon: float = math.inf,
    delta: float = 0.0,
    seed: int = 0,
) -> Membership:
    """Fit on ``data_sets`` simulated data sets and attack each one's rows and as many fresh ones.

    Parameters
    ----------
    fit : callable
        Rows and labels to coefficients.
    draw : callable
        A generator and a number of rows to rows and labels from the model.
    attack : callable
        Rows, labels and coefficients to scores, one per row.
    rows : int
        Rows of each data set.
    data_sets : int
        How many are drawn.
    mu : float, default inf
        The claim of ``fit``, as Gaussian privacy.
    epsilon : float, default inf
        The claim of ``fit`` at ``delta``.
    delta : float, default 0.0
        The delta of that claim.
    seed : int, default 0
        Seeds the data sets.

    Returns
    -------
    Membership
        The scores of members and outsiders.

    Privacy
    -------
    Rows are simulated by ``draw``: nothing private is read.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.audit import score_attack, trace_members
    >>> def draw(rng, rows):
    ...     X = rng.normal(size=(rows, 3))
    ...     return X, X.sum(axis=1) + rng.normal(size=rows)
    >>> found = trace_members(
    ...     lambda X, y: np.linalg.lstsq(X, y, rcond=None)[0],
    ...     draw,
    ...     lambda X, y, estimate: score_attack(X, y, estimate, np.ones(3), "gaussian"),
    ...     rows=20,
    ...     data_sets=30,
    ... )
    >>> bool(found.area > 0.5)
    True
    """
    rng = np.random.default_rng(seed)
    members, outsiders, areas = [], [], []
    for _ in range(data_sets):
        X, y = draw(rng, rows)
        X_fresh, y_fresh = draw(rng, rows)
        estimate = fit(X, y)
        members.append(attack(X, y, estimate))
        outsiders.append(attack(X_fresh, y_fresh, estimate))
        areas.append(area_under_curve(members[-1], outsiders[-1]))
    # Rows of one data set share an estimate, so the standard error is over data sets, not rows.
    spread = float(np.std(areas) / math.sqrt(max(data_sets - 1, 1)))
    return Membership(
        np.concatenate(members), np.concatenate(outsiders), data_sets, float(np.mean(areas)), spread, mu, epsilon, delta
    )


def area_under_curve(members: Any, outsiders: Any) -> float:
    """The chance that a member scores above an outsider, ties counting half."""
    ordered = np.sort(np.asarray(outsiders, dtype=np.float64))
    scores = np.asarray(members, dtype=np.float64)
    below = np.searchsorted(ordered, scores, side="left") + np.searchsorted(ordered, scores, side="right")
    return float(below.mean() / (2 * len(ordered)))
