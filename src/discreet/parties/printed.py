"""Training as the paper prints it: least squares without an intercept on columns in [0, 1] (MPR, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.errors import DomainError
from discreet.parties.joint import Joint

_RIDGE = 1e-5  # "we add small lambda I with lambda = 1e-5 to all Hessian matrices"


def printed_ols(joint: Joint, label: str, features: Sequence[str] | None = None) -> dict[str, float]:
    """RMGM-OLS: w = (X^T X + 1e-5)^-1 X^T Y on the released mixes, in the columns' own units."""
    if joint.plan.calibration != "paper":
        raise DomainError("printed_ols needs releases with calibration = 'paper'")
    chosen, target = joint.positions(label, features)
    mixes = np.concatenate([one.mixes.value for one in joint.releases], axis=1) / np.sqrt(joint.plan.mixes)
    x, y = mixes[:, chosen], mixes[:, target]
    weights = np.linalg.solve(x.T @ x + _RIDGE * np.eye(len(chosen)), x.T @ y)
    encoder = joint.encoder
    low, width = encoder.centre - encoder.half_width, 2 * encoder.half_width
    slopes = weights * width[target] / width[chosen]
    names = ["const", *(encoder.names[i] for i in chosen)]
    values = [float(low[target] - slopes @ low[chosen]), *map(float, slopes)]
    return dict(zip(names, values, strict=True))
