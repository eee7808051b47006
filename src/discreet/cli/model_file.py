"""A fitted model as plain facts for a JSON file: nothing in it but noisy releases and public declarations."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet import __version__


def model_facts(estimator: Any) -> dict[str, Any]:
    """Coefficients with their errors, and the guarantee that covers them."""
    privacy, result = estimator.privacy_, estimator.results_
    return {
        "discreet": __version__,
        "model": type(estimator).__name__,
        "alpha": float(estimator.alpha),
        "target": result.target,
        "names": list(estimator.coef_names_),
        "coef": [float(value) for value in np.ravel(estimator.coef_)],
        "intercept": float(np.ravel(estimator.intercept_)[0]),
        # One record per coefficient, the intercept first: the unshrunk estimate, its errors and its 95 % interval.
        "estimates": result.records(),
        "noisy_rows": float(result.nobs),
        "noisy_dispersion": float(result.scale),
        "guarantee": {
            "epsilon": float(privacy.epsilon(estimator.delta)),
            "delta": float(estimator.delta),
            "mu": float(privacy.mu),
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
                    "mu": float(release.cost.mu),
                }
                for release in privacy.releases
            ],
        },
    }
