"""The models of experiments/attack_lower_bounds.py: how labels come about, a private and a plain fit,
and the bound.

x is uniform on [-1, 1]^d and coefficients are in a box of half-width 1/sqrt(d), or 1/sqrt(s) for
sparse ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet import (
    GammaRegressor,
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
    PiecewiseExponentialRegressor,
    PoissonRegressor,
    ReLURegressor,
    SingleIndexRegressor,
    SparseLinearRegression,
    SparseLogisticRegression,
    SparsePoissonRegressor,
    SparseRegressor,
)
from discreet.glm import Bernoulli, Family, Gamma, Gaussian, NegativeBinomial, Poisson, Tweedie, fit_plain, link
from discreet.planning import (
    LowerBound,
    family_information,
    fisher_lower_bound,
    glm_lower_bound,
    relu_lower_bound,
    sparse_glm_lower_bound,
)
from discreet.privacy import GDP

Array = np.ndarray
Bound = Callable[[int, int, float], LowerBound]

DELTA, NOISE_STD, X_VARIANCE = 1e-6, 0.3, 1 / 3
COLUMNS, SPARSE_COLUMNS, SPARSITY = (4, 10), 50, 4
HEIGHTS = (0.05, 0.2, 0.5)
GAMMA_DISPERSION, ALPHA, POWER, END = 0.5, 0.5, 1.5, 3.0
AMOUNTS, COUNTS = (0.001, 40.0), (0.0, 40.0)


@dataclass(frozen=True)
class Model:
    """How labels come about, how they are fitted, and the bound."""

    name: str
    labels: Callable[[Array, np.random.Generator], Array]
    fit: Callable[[Array, Array, float], Array]
    bound: Bound
    # The same fit without privacy.
    plain: Callable[[Array, Array], Array]
    columns: tuple[int, ...] = COLUMNS
    heights: tuple[float, ...] = (0.0,)  # of sparse coefficients; 0: dense ones, from the prior


def _linear(epsilon: float, **more: object) -> dict:
    return {"epsilon": epsilon, "delta": DELTA, "bounds_X": (-1, 1), "fit_intercept": False, **more}


def _sparse(epsilon: float, **more: object) -> dict:
    return {"epsilon": epsilon, "delta": DELTA, "bounds_X": (-1, 1), "sparsity": SPARSITY, **more}


def _mu(epsilon: float) -> GDP:
    return GDP.from_epsilon(epsilon, DELTA)


def tilted(d: int, box: float, growth: float = 1.0) -> float:
    """The largest eigenvalue of E exp(growth <x, beta>) x x^T over |beta_j| <= box, exactly.

    The matrix has the entries m'' m^(d-1) and m'^2 m^(d-2), with m(t) = sinh(t) / t, where all
    beta_j = box. They are the largest over the box, and not negative, so it is its row sum.
    """
    t = growth * box
    m, slope = math.sinh(t) / t, (t * math.cosh(t) - math.sinh(t)) / t**2
    curve = ((t**2 + 2) * math.sinh(t) - 2 * t * math.cosh(t)) / t**3
    return curve * m ** (d - 1) + (d - 1) * slope**2 * m ** (d - 2)


def negative_binomial_information(d: int, box: float, alpha: float) -> float:
    """At most: mean / (1 + alpha mean) lies below its tangent at mean 1."""
    return (alpha * X_VARIANCE + tilted(d, box)) / (1 + alpha) ** 2


def _glm_bound(dispersion: float, curvature: float) -> Bound:
    return lambda n, d, epsilon: glm_lower_bound(
        n,
        d,
        _mu(epsilon),
        dispersion=dispersion,
        curvature=curvature,
        x_variance=X_VARIANCE,
        x_norm=math.sqrt(d),
        coef_bound=1 / math.sqrt(d),
    )


def _fisher_bound(information: Callable[[int, float], float]) -> Bound:
    """Of the information as a function of d and the box."""

    def bound(n: int, d: int, epsilon: float) -> LowerBound:
        box = 1 / math.sqrt(d)
        return fisher_lower_bound(n, d, _mu(epsilon), information=information(d, box), coef_bound=box)

    return bound


def _sparse_bound(dispersion: float, curvature: float) -> Bound:
    return lambda n, d, epsilon: sparse_glm_lower_bound(
        n,
        d,
        SPARSITY,
        _mu(epsilon),
        dispersion=dispersion,
        curvature=curvature,
        x_variance=X_VARIANCE,
        x_norm=math.sqrt(SPARSITY),
        coef_bound=1 / math.sqrt(SPARSITY),
    )


def _sparse_fisher_bound(information: float) -> Bound:
    return lambda n, d, epsilon: fisher_lower_bound(
        n, d, _mu(epsilon), information=information, coef_bound=1 / math.sqrt(SPARSITY), sparsity=SPARSITY
    )


def _plain_logistic(X: Array, y: Array, *, constant: bool) -> Array:
    from sklearn.linear_model import LogisticRegression as Plain

    return np.ravel(Plain(C=np.inf, fit_intercept=constant).fit(X, y).coef_)


def _plain(family: Family, link_name: str, X: Array, y: Array, offset: Array | float = 0.0, constant: int = 0) -> Array:
    """The most likely slopes; with ``constant`` a column of ones is fitted as well."""
    rows = np.column_stack([X, np.ones((len(X), constant))])
    nothing = np.zeros(rows.shape[1])
    return fit_plain(family, link(link_name), rows, y, nothing, nothing, offset)[: X.shape[1]]


def _plain_relu(X: Array, y: Array) -> Array:
    """From the slopes of plain least squares, which are about half of them."""
    from scipy.optimize import least_squares

    return np.asarray(least_squares(lambda w: np.maximum(X @ w, 0) - y, 2 * _least_squares(X, y)).x)


def _least_squares(X: Array, y: Array) -> Array:
    return np.linalg.lstsq(X, y, rcond=None)[0]


def _largest(fit: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """A fit to all columns, and one more to those with its largest coefficients."""

    def both(X: Array, y: Array) -> Array:
        chosen = np.argsort(-np.abs(fit(X, y)))[:SPARSITY]
        coef = np.zeros(X.shape[1])
        coef[chosen] = fit(X[:, chosen], y)
        return coef

    return both


def _sigmoid(signal: Array) -> Array:
    return 1 / (1 + np.exp(-signal))


def _gaussian_labels(signal: Array, rng: np.random.Generator) -> Array:
    return signal + rng.normal(0, NOISE_STD, len(signal))


def _poisson_labels(signal: Array, rng: np.random.Generator) -> Array:
    return np.minimum(rng.poisson(np.exp(signal)), COUNTS[1]).astype(float)


def _gamma_labels(signal: Array, rng: np.random.Generator) -> Array:
    return np.clip(rng.gamma(1 / GAMMA_DISPERSION, GAMMA_DISPERSION * np.exp(signal)), *AMOUNTS)


def _negative_binomial_labels(signal: Array, rng: np.random.Generator) -> Array:
    return np.minimum(rng.poisson(np.exp(signal) * rng.gamma(1 / ALPHA, ALPHA, len(signal))), COUNTS[1]).astype(float)


def tweedie_labels(signal: Array, rng: np.random.Generator) -> Array:
    """Sums of a Poisson number of gamma amounts, with mean exp(signal) and variance mean^POWER."""
    mean = np.exp(signal)
    number = rng.poisson(mean ** (2 - POWER) / (2 - POWER))
    shape, scale = (2 - POWER) / (POWER - 1), (POWER - 1) * mean ** (POWER - 1)
    total = np.where(number > 0, rng.gamma(shape * np.maximum(number, 1), scale), 0.0)
    return np.minimum(total, COUNTS[1])


def _survival_labels(signal: Array, rng: np.random.Generator) -> Array:
    """Times at risk, and whether an event ended them."""
    time = rng.exponential(np.exp(-signal))
    return np.column_stack([np.minimum(time, END), time < END])


def _survival(X: Array, y: Array, epsilon: float) -> Array:
    model = PiecewiseExponentialRegressor(epsilon=epsilon, delta=DELTA, bounds_X=(-1, 1), breaks=(1.0, END))
    return model.fit(X, y[:, 0], event=y[:, 1] > 0).coef_[: X.shape[1]]


def _family_fit(family: Family | str, link_name: str, bounds_y: tuple[float, float]) -> Callable:
    return lambda X, y, epsilon: (
        GeneralizedLinearRegressor(**_linear(epsilon, family=family, link=link_name, bounds_y=bounds_y)).fit(X, y).coef_
    )


MODELS = (
    Model(
        "linear",
        _gaussian_labels,
        lambda X, y, epsilon: LinearRegression(**_linear(epsilon, bounds_y=(-2, 2))).fit(X, y).coef_,
        _glm_bound(NOISE_STD**2, 1.0),
        _least_squares,
    ),
    Model(
        "logistic",
        lambda signal, rng: (rng.random(len(signal)) < _sigmoid(signal)).astype(float),
        lambda X, y, epsilon: LogisticRegression(**_linear(epsilon)).fit(X, y).coef_,
        _glm_bound(1.0, 0.25),
        lambda X, y: _plain_logistic(X, y, constant=False),
    ),
    Model(
        "probit",
        lambda signal, rng: (signal + rng.normal(size=len(signal)) > 0).astype(float),
        _family_fit("bernoulli", "probit", (0, 1)),
        _fisher_bound(lambda d, box: X_VARIANCE * family_information("bernoulli", "probit")),
        lambda X, y: _plain(Bernoulli(), "probit", X, y),
    ),
    Model(
        "poisson",
        _poisson_labels,
        lambda X, y, epsilon: PoissonRegressor(**_linear(epsilon, bounds_y=COUNTS)).fit(X, y).coef_,
        _fisher_bound(tilted),
        lambda X, y: _plain(Poisson(), "log", X, y),
    ),
    Model(
        "negative binomial",
        _negative_binomial_labels,
        _family_fit(NegativeBinomial(ALPHA), "log", COUNTS),
        _fisher_bound(lambda d, box: negative_binomial_information(d, box, ALPHA)),
        lambda X, y: _plain(NegativeBinomial(ALPHA), "log", X, y),
    ),
    Model(
        "gamma",
        _gamma_labels,
        lambda X, y, epsilon: GammaRegressor(**_linear(epsilon, bounds_y=AMOUNTS)).fit(X, y).coef_,
        _fisher_bound(lambda d, box: X_VARIANCE * family_information("gamma", "log", dispersion=GAMMA_DISPERSION)),
        lambda X, y: _plain(Gamma(), "log", X, y),
    ),
    Model(
        "Tweedie",
        tweedie_labels,
        _family_fit(Tweedie(POWER), "log", COUNTS),
        # The information of a label is mean^(2 - power).
        _fisher_bound(lambda d, box: tilted(d, box, 2 - POWER)),
        lambda X, y: _plain(Tweedie(POWER), "log", X, y),
    ),
    Model(
        "survival",
        _survival_labels,
        _survival,
        # A row's information is its chance of an event times x x^T.
        _fisher_bound(lambda d, box: X_VARIANCE),
        lambda X, y: _plain(Poisson(), "log", X, y[:, 1], np.log(y[:, 0]), constant=1),
    ),
    Model(
        "ReLU",
        lambda signal, rng: _gaussian_labels(np.maximum(signal, 0), rng),
        lambda X, y, epsilon: ReLURegressor(**_linear(epsilon, bounds_y=(-1, 3))).fit(X, y).coef_,
        lambda n, d, epsilon: relu_lower_bound(n, d, _mu(epsilon), noise_std=NOISE_STD),
        _plain_relu,
    ),
    Model(
        "sigmoid index",
        lambda signal, rng: _gaussian_labels(_sigmoid(signal), rng),
        lambda X, y, epsilon: SingleIndexRegressor(**_linear(epsilon, bounds_y=(-1, 2))).fit(X, y).coef_,
        _fisher_bound(lambda d, box: X_VARIANCE * family_information("gaussian", "logit", dispersion=NOISE_STD**2)),
        lambda X, y: _plain(Gaussian(), "logit", X, y),
    ),
    Model(
        f"sparse linear, {SPARSITY} of them",
        _gaussian_labels,
        lambda X, y, epsilon: SparseLinearRegression(**_sparse(epsilon, bounds_y=(-2, 2))).fit(X, y).coef_,
        _sparse_bound(NOISE_STD**2, 1.0),
        _largest(_least_squares),
        (SPARSE_COLUMNS,),
        HEIGHTS,
    ),
    Model(
        f"sparse logistic, {SPARSITY} of them",
        lambda signal, rng: (rng.random(len(signal)) < _sigmoid(signal)).astype(int),
        lambda X, y, epsilon: SparseLogisticRegression(**_sparse(epsilon)).fit(X, y).coef_,
        _sparse_bound(1.0, 0.25),
        _largest(lambda X, y: _plain_logistic(X, y, constant=True)),
        (SPARSE_COLUMNS,),
        HEIGHTS,
    ),
    Model(
        f"sparse Poisson, {SPARSITY} of them",
        _poisson_labels,
        lambda X, y, epsilon: SparsePoissonRegressor(**_sparse(epsilon, bounds_y=COUNTS)).fit(X, y).coef_,
        # The curvature averaged over x, in the direction where it is largest.
        _sparse_bound(1.0, tilted(SPARSITY, 1 / math.sqrt(SPARSITY)) / X_VARIANCE),
        _largest(lambda X, y: _plain(Poisson(), "log", X, y, constant=1)),
        (SPARSE_COLUMNS,),
        HEIGHTS,
    ),
    Model(
        f"sparse gamma, {SPARSITY} of them",
        _gamma_labels,
        lambda X, y, epsilon: SparseRegressor(**_sparse(epsilon, family="gamma", bounds_y=AMOUNTS)).fit(X, y).coef_,
        _sparse_fisher_bound(X_VARIANCE / GAMMA_DISPERSION),
        _largest(lambda X, y: _plain(Gamma(), "log", X, y, constant=1)),
        (SPARSE_COLUMNS,),
        HEIGHTS,
    ),
)
