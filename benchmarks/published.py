"""Published regressions at huge budgets: the private fit must equal the published one.

Bounds are the ranges of the data. The distance to the published coefficient is in published
standard errors; standard errors are those of ``cov_type="model"``, as published. The data ship with
statsmodels and scikit-learn.

    python -m benchmarks.published [--write]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import discreet

RESULTS = Path(__file__).parent / "results" / "published.md"
EPSILONS = (1e4, 1e8)


@dataclass(frozen=True)
class Published:
    """Rows, the model that is private, and the coefficients and standard errors in the books."""

    model: type
    options: dict[str, Any]
    X: np.ndarray
    y: np.ndarray
    coefficients: np.ndarray
    errors: np.ndarray

    def distance(self, epsilon: float) -> tuple[float, float, float]:
        """The largest distance of a coefficient, and the smallest and largest ratio of standard
        errors.
        """
        bounds = (self.X.min(axis=0), self.X.max(axis=0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", discreet.WeakGuaranteeWarning)
            model = self.model(epsilon=epsilon, delta=1e-6, bounds_X=bounds, cov_type="model", **self.options)
            table = model.fit(self.X, self.y).results_.records()
        estimates, errors = (np.array([row[name] for row in table]) for name in ("estimate", "std_err"))
        ratios = errors / self.errors
        return (
            float(np.max(np.abs(estimates - self.coefficients) / self.errors)),
            float(ratios.min()),
            float(ratios.max()),
        )


def _set(name: str) -> tuple[np.ndarray, np.ndarray]:
    import statsmodels.api as sm

    data = getattr(sm.datasets, name).load_pandas()
    return np.asarray(data.exog, dtype=float), np.asarray(data.endog, dtype=float)


def _published(model: type, fitted: Any, X: np.ndarray, y: np.ndarray, **options: Any) -> Published:
    return Published(model, options, X, y, np.asarray(fitted.params), np.asarray(fitted.bse))


def _linear(name: str) -> Published:
    import statsmodels.api as sm
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True) if name == "diabetes" else _set(name)
    return _published(discreet.LinearRegression, sm.OLS(y, sm.add_constant(X)).fit(), X, y, bounds_y=(y.min(), y.max()))


def _spector(link: str) -> Published:
    import statsmodels.api as sm

    X, y = _set("spector")
    if link == "logit":
        return _published(discreet.LogisticRegression, sm.Logit(y, sm.add_constant(X)).fit(disp=0), X, y.astype(int))
    fitted = sm.Probit(y, sm.add_constant(X)).fit(disp=0)
    options = {"family": "bernoulli", "link": "probit", "bounds_y": (0, 1)}
    return _published(discreet.GeneralizedLinearRegressor, fitted, X, y, **options)


def _poisson(name: str) -> Published:
    import statsmodels.api as sm

    X, y = _set(name)
    fitted = sm.GLM(y, sm.add_constant(X), family=sm.families.Poisson()).fit()
    return _published(discreet.PoissonRegressor, fitted, X, y, bounds_y=(0, y.max()))


def _cancer() -> Published:
    """Cancer deaths by population, gamma with a logarithmic link; a county without a death has no
    gamma label.
    """
    import statsmodels.api as sm

    data = sm.datasets.cancer.load_pandas().data
    data = data[data["cancer"] > 0]
    X, y = np.log(data[["population"]].to_numpy(dtype=float)), data["cancer"].to_numpy(dtype=float)
    fitted = sm.GLM(y, sm.add_constant(X), family=sm.families.Gamma(sm.families.links.Log())).fit()
    return _published(discreet.GammaRegressor, fitted, X, y, bounds_y=(y.min(), y.max()))


SETS: dict[str, Callable[[], Published]] = {
    "diabetes, linear": lambda: _linear("diabetes"),
    "stackloss, linear": lambda: _linear("stackloss"),
    "credit card, linear": lambda: _linear("ccard"),
    "Spector, logit": lambda: _spector("logit"),
    "Spector, probit": lambda: _spector("probit"),
    "RAND HIE, Poisson": lambda: _poisson("randhie"),
    "capital punishment, Poisson": lambda: _poisson("cpunish"),
    "cancer, gamma": _cancer,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    lines = [
        "# Published results at a huge budget",
        "",
        "`python -m benchmarks.published --write`. Largest distance to a published coefficient, in published",
        'standard errors; ratios of standard errors to the published ones (`cov_type="model"`), smallest and largest.',
        "",
        "| set | rows | " + " | ".join(f"epsilon {epsilon:.0e}" for epsilon in EPSILONS) + " |",
        "|---" * (2 + len(EPSILONS)) + "|",
    ]
    for name, load in SETS.items():
        published = load()
        cells = []
        for epsilon in EPSILONS:
            distance, low, high = published.distance(epsilon)
            cells.append(f"{distance:.3f} ({low:.2f} to {high:.2f})")
        lines.append(f"| {name} | {len(published.y):,} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    if arguments.write:
        RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
