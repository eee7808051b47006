"""Training as the paper prints it: least squares without an intercept on columns in [0, 1] (MPR,
Algorithms 1, 2).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.errors import DomainError
from discreet.parties.joint import Joint
from discreet.parties.printed_release import unit_cells

_RIDGE = 1e-5  # "we add small lambda I with lambda = 1e-5 to all Hessian matrices"
_TRAININGS = {"rmgm": ("rmgm",), "dgm": ("dgm", "bgm")}


def printed_ols(
    joint: Joint, label: str, features: Sequence[str] | None = None, *, training: str | None = None
) -> dict[str, float]:
    """DGM-OLS, BGM-OLS or RMGM-OLS on releases with ``calibration = "paper"``, in the columns' own
    units.

    ``training`` is the plan's method by default; "bgm" uses DGM's release without subtracting the
    noise's expectation from the Hessian. Hessians are over n for DGM and BGM and not for RMGM, as
    printed; 1e-5 is added to each.
    """
    method = joint.plan.method
    training = method if training is None else training
    if joint.plan.calibration != "paper":
        raise DomainError("printed training needs releases with calibration = 'paper'")
    if training not in _TRAININGS[method]:
        known = " or ".join(_TRAININGS[method])
        raise DomainError(f"releases of method {method!r} are trained by {known} as printed, not by {training!r}")
    chosen, target = joint.positions(label, features)
    # Mixes are divided by sqrt(k), so that X^T X is about n E[x x^T]; rows by sqrt(n), which
    # removes the n.
    rows = np.concatenate([one.mixes.value for one in joint.releases], axis=1)
    rows = rows / np.sqrt(len(rows))
    x, y = rows[:, chosen], rows[:, target]
    hessian = x.T @ x + _RIDGE * np.eye(len(chosen))
    if training == "dgm":
        noise = np.concatenate([np.full(len(one.centre), one.mixes.noise_std) for one in joint.releases])
        hessian -= np.diag(noise[chosen] ** 2)
    weights = np.linalg.solve(hessian, x.T @ y)
    low, width = cells_in_units(joint)
    slopes = weights * width[target] / width[chosen]
    names = ["const", *(joint.encoder.names[i] for i in chosen)]
    values = [float(low[target] - slopes @ low[chosen]), *map(float, slopes)]
    return dict(zip(names, values, strict=True))


def cells_in_units(joint: Joint) -> tuple[np.ndarray, np.ndarray]:
    """For each column, the value of 0 in its own units, and the difference between 1 and 0."""
    encoder = joint.encoder
    parts = [unit_cells(joint.plan.party(one.party)) for one in joint.releases]
    low = np.concatenate([part[0] for part in parts])
    per_unit = np.concatenate([part[1] for part in parts])
    return encoder.centre + encoder.half_width * low, encoder.half_width / per_unit
