"""Differentially private regression: every result carries its guarantee, its standard errors and
its price.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Names are imported when first used: scikit-learn alone takes longer than all of discreet's start.
# __init__.pyi tells type checkers where they are.
_HOMES = {
    "BudgetError": "discreet.errors",
    "ChangedError": "discreet.errors",
    "CsvFiles": "discreet.engines",
    "Date": "discreet.domain",
    "Evaluation": "discreet.report.evaluation",
    "Forecast": "discreet.planning",
    "DiscreetError": "discreet.errors",
    "Domain": "discreet.domain",
    "DomainEncoder": "discreet.estimators",
    "DomainError": "discreet.errors",
    "Categorical": "discreet.domain",
    "GammaRegressor": "discreet.estimators",
    "GeneralizedLinearRegressor": "discreet.estimators",
    "Guarantee": "discreet.privacy",
    "GuaranteeError": "discreet.errors",
    "Ledger": "discreet.privacy",
    "LedgerError": "discreet.errors",
    "LinearRegression": "discreet.estimators",
    "LogisticRegression": "discreet.estimators",
    "Loss": "discreet.glm",
    "Moments": "discreet.inference",
    "NoErrorsError": "discreet.errors",
    "Numeric": "discreet.domain",
    "PiecewiseExponentialRegressor": "discreet.estimators",
    "PoissonRegressor": "discreet.estimators",
    "PrivacyLeakWarning": "discreet.errors",
    "PrivateGridSearchCV": "discreet.estimators",
    "Public": "discreet.domain",
    "ReadError": "discreet.errors",
    "ReLURegressor": "discreet.estimators",
    "Results": "discreet.results",
    "Ridge": "discreet.estimators",
    "RollbackWarning": "discreet.errors",
    "SingleIndexRegressor": "discreet.estimators",
    "SparseLinearRegression": "discreet.estimators",
    "SparseLogisticRegression": "discreet.estimators",
    "SparsePoissonRegressor": "discreet.estimators",
    "SparseRegressor": "discreet.estimators",
    "StoredResultWarning": "discreet.errors",
    "Summary": "discreet.results",
    "UnusableRowsWarning": "discreet.errors",
    "WaldTest": "discreet.results",
    "WeakGuaranteeWarning": "discreet.errors",
    "collect_moments": "discreet.estimators",
    "dp_threshold": "discreet.estimators",
    "gaussian_noise_std": "discreet.privacy",
    "huber": "discreet.glm",
    "load": "discreet.loading",
    "negative_binomial_loss": "discreet.glm",
    "noisy_hard_threshold": "discreet.estimators",
    "plan": "discreet.planning",
    "price_of_search": "discreet.estimators",
    "private_second_moment": "discreet.estimators",
    "smoothed_quantile": "discreet.glm",
}

__all__ = [*sorted(_HOMES), "__version__"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in {"audit", "local", "noise", "parties"}:
        return import_module(f"discreet.{name}")
    raise AttributeError(f"module 'discreet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
