"""The options of solvers: an option that a solver does not have is refused, never ignored."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from discreet.parameters import is_number, is_whole

# Parameters of some solvers only; None leaves the choice to the solver.
OPTIONS = ("max_iter", "step", "radius", "clip", "eta", "l1_ratio")
# Options that are shares, and whether 0 and 1 are allowed.
_SHARES = {"eta": False, "l1_ratio": True}
# Where an option is found that few solvers have.
_PLACES = {
    "clip": "; clip belongs to solver='dp_gd'",
    "eta": "; eta belongs to calibration='paper' with solver='pmt' or 'newton'",
    "l1_ratio": "; l1_ratio belongs to calibration='tight' with solver='auto', 'moments' or 'pmt'",
}


def check_solver(estimator: Any, known: tuple[str, ...]) -> None:
    """Refuse a solver that this model, with this calibration, does not have."""
    if not isinstance(estimator.solver, str) or estimator.solver not in known:
        printed = " with calibration='paper'" if estimator.calibration == "paper" else ""
        raise ValueError(f"solver{printed} must be one of {', '.join(known)}, got {estimator.solver!r}")


def check_penalty(alpha: Any) -> None:
    if not (is_number(alpha) and 0 <= alpha < np.inf):
        raise ValueError(f"alpha must be finite and >= 0, got {alpha!r}")


def check_options(estimator: Any, takes: Collection[str], *, least_steps: int = 1) -> None:
    """Refuse an option with a wrong value, or one that the chosen solver does not have."""
    for name in OPTIONS:
        value = getattr(estimator, name, None)
        if value is None:
            continue
        if name not in takes:
            printed = " with calibration='paper'" if estimator.calibration == "paper" else ""
            others = f"it has {' and '.join(sorted(takes))}" if takes else "it has no such options"
            place = _PLACES.get(name, "")
            raise ValueError(
                f"{name} is not an option of solver={estimator.solver!r}{printed}: {others}{place}; got {value!r}"
            )
        if name == "max_iter":
            _check_steps(value, least_steps)
        elif name in _SHARES:
            if not (is_number(value) and (0 < value < 1 or (_SHARES[name] and value in (0, 1)))):
                ends = "from 0 to 1" if _SHARES[name] else "between 0 and 1"
                raise ValueError(f"{name} must be None or a number {ends}, got {value!r}")
        elif not (is_number(value) and 0 < value < np.inf):
            raise ValueError(f"{name} must be None or a finite number > 0, got {value!r}")


def _check_steps(value: Any, least: int) -> None:
    if not (is_whole(value) and value >= least):
        raise ValueError(f"max_iter must be None or a whole number >= {least}, got {value!r}")
