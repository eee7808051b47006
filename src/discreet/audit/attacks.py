"""Tracing attacks: does a fitted coefficient vector tell whether a row was in the data it was
fitted to?

The score attack (COST, 4.2) is <estimate - truth, score(row)>, where the score is the gradient of
the row's own log-likelihood at the truth: an estimate is biased towards the rows it was fitted to.
On rows that were not used its mean is 0; summed over the rows that were, it is the trace of d E
estimate / d truth, which is the number of coefficients where the estimate is unbiased. The attacker
knows the truth: these attacks measure leakage; they are not realistic.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.glm import Family, Link
from discreet.glm import family as family_of
from discreet.glm import link as link_of
from discreet.parameters import check_positive

Floats = NDArray[np.float64]


def score_attack(
    X: ArrayLike,
    y: ArrayLike,
    estimate: ArrayLike,
    truth: ArrayLike,
    family: str | Family,
    *,
    link: str | Link | None = None,
    dispersion: float = 1.0,
) -> Floats:
    """The score attack (COST, 4.7): <estimate - truth, (y - mean) x> / dispersion for each row.

    Members score high.

    Parameters
    ----------
    X : array
        Rows to attack.
    y : array
        Their labels.
    estimate : array
        The released coefficients.
    truth : array
        The true coefficients, which the attacker is taken to know.
    family : str or Family
        One of ``discreet.glm`` or its name. An intercept is a column of ones in X.
    link : str or Link, optional
        By default the family's canonical link; the log for ``negative_binomial`` and ``tweedie``.
        With another link the residual is weighted by slope / variance.
    dispersion : float, default 1.0
        The family's dispersion.

    Returns
    -------
    array
        One score per row.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.audit import score_attack
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 2))
    >>> y = X @ [1.0, 1.0] + rng.normal(size=50)
    >>> estimate = np.linalg.lstsq(X, y, rcond=None)[0]     # without privacy
    >>> bool(score_attack(X, y, estimate, [1.0, 1.0], "gaussian").mean() > 0)
    True
    """
    check_positive("dispersion", dispersion)
    rows, labels, error, beta = _checked(X, y, estimate, truth)
    return _scores(rows, labels, error, beta, family, link) / dispersion


def sparse_score_attack(
    X: ArrayLike,
    y: ArrayLike,
    estimate: ArrayLike,
    truth: ArrayLike,
    family: str | Family,
    *,
    link: str | Link | None = None,
    dispersion: float = 1.0,
) -> Floats:
    """The score attack on the support of the truth only (COST, 4.9); elsewhere errors are noise.

    Parameters
    ----------
    X : array
        Rows to attack.
    y : array
        Their labels.
    estimate : array
        The released coefficients.
    truth : array
        The true coefficients, of which a few are not 0.
    family : str or Family
        One of ``discreet.glm`` or its name.
    link : str or Link, optional
        As in ``score_attack``.
    dispersion : float, default 1.0
        The family's dispersion.

    Returns
    -------
    array
        One score per row.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.audit import sparse_score_attack
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 3))
    >>> y = X @ [1.0, 0.0, 0.0] + rng.normal(size=50)
    >>> sparse_score_attack(X, y, [1.1, 0.0, 0.0], [1.0, 0.0, 0.0], "gaussian").shape
    (50,)
    """
    check_positive("dispersion", dispersion)
    rows, labels, error, beta = _checked(X, y, estimate, truth)
    return _scores(rows, labels, np.where(beta != 0, error, 0.0), beta, family, link) / dispersion


def relu_tracing_attack(X: ArrayLike, y: ArrayLike, estimate: ArrayLike, truth: ArrayLike) -> Floats:
    """The tracing attack on a ReLU model (RELU, 5), one score per row; members score high.

    The score is <estimate - truth, (y - relu(<truth, x>)) 1(<truth, x> > 0) x>. The paper's formula
    lacks the last factor, x.

    Parameters
    ----------
    X : array
        Rows to attack.
    y : array
        Their labels.
    estimate : array
        The released coefficients.
    truth : array
        The true coefficients, which the attacker is taken to know.

    Returns
    -------
    array
        One score per row.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.audit import relu_tracing_attack
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 2))
    >>> y = np.maximum(0, X @ [1.0, 1.0]) + rng.normal(size=50)
    >>> relu_tracing_attack(X, y, [1.1, 1.0], [1.0, 1.0]).shape
    (50,)
    """
    rows, labels, error, weights = _checked(X, y, estimate, truth)
    signal = rows @ weights
    active = signal > 0
    return (labels - np.maximum(signal, 0.0)) * active * (rows @ error)


def _scores(
    rows: Floats, labels: Floats, error: Floats, beta: Floats, family: str | Family, link: str | Link | None
) -> Floats:
    chosen = _family(family)
    linked = (chosen.canonical_link or chosen.default_link) if link is None else link_of(link)
    chosen.check_link(linked)
    # The family's score is the derivative of the negative log-likelihood.
    return -chosen.score(labels, rows @ beta, linked) * (rows @ error)


def _family(chosen: str | Family) -> Family:
    if not isinstance(chosen, (str, Family)):
        raise TypeError(f"family must be a family of discreet.glm or its name, got {chosen!r}")
    return family_of(chosen)


def _numbers(name: str, values: Any) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of numbers, got {type(values).__name__}") from None


def _checked(X: Any, y: Any, estimate: Any, truth: Any) -> tuple[Floats, Floats, Floats, Floats]:
    rows, labels = _numbers("X", X), _numbers("y", y)
    found, beta = _numbers("estimate", estimate), _numbers("truth", truth)
    if rows.ndim != 2 or labels.shape != rows.shape[:1] or not found.shape == beta.shape == rows.shape[1:]:
        raise ValueError(
            "X must be a table, y have a label for each of its rows, estimate and truth a number for each of its "
            f"columns; got shapes {rows.shape}, {labels.shape}, {found.shape} and {beta.shape}"
        )
    return rows, labels, found - beta, beta
