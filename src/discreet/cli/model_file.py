"""A fitted model as plain facts for a JSON file: nothing in it but noisy releases and public declarations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet import __version__


def model_facts(estimator: Any) -> dict[str, Any]:
    """Coefficients with their errors, and the guarantee that covers them."""
    privacy, result = estimator.privacy_, estimator.results_
    sparse = hasattr(estimator, "support_")
    return {
        "discreet": __version__,
        "model": type(estimator).__name__,
        "solver": estimator.solver,
        "alpha": float(getattr(estimator, "alpha", 0.0)),
        "target": result.target,
        # Of a sparse model, the columns that were chosen.
        "names": [name for name in result.names if name != "const"] if sparse else list(estimator.coef_names_),
        "coef": [float(value) for value in np.ravel(estimator.coef_)[estimator.support_ if sparse else slice(None)]],
        "intercept": float(np.ravel(estimator.intercept_)[0]),
        # One record per coefficient, the intercept first: the unshrunk estimate, its errors and its 95 % interval.
        "estimates": result.records(),
        "noisy_rows": _finite(result.nobs),
        "noisy_dispersion": _finite(result.scale),
        "guarantee": {
            "epsilon": float(privacy.epsilon(estimator.delta)),
            "delta": float(estimator.delta),
            # Of a shuffled pass only epsilon at this delta is known.
            "mu": _finite(privacy.mu),
            "neighbours": privacy.neighbours,
            "unit": privacy.unit,
            "rows_per_person": int(privacy.rows_per_person),
            "in_words": privacy.in_words,
            "seeded": bool(privacy.seeded),
            "releases": [
                {
                    "label": release.label,
                    "sensitivity": float(release.sensitivity),
                    "noise_std": float(release.noise_std),
                    "mu": _finite(release.cost.mu),
                }
                for release in privacy.releases
            ],
        },
    }


def _finite(value: float) -> float | None:
    """JSON has no infinity and no NaN: what is not known is null."""
    return float(value) if math.isfinite(value) else None
