"""Parameters that somebody passes: which of them are numbers. True and False, with which Python
counts, are not.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def is_number(value: Any) -> bool:
    """Whether the value is one number, finite or not."""
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Whether the value is a whole number, by its type."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_positive(name: str, value: Any, *, finite: bool = True) -> None:
    """Refuse what is no number > 0; infinite ones as well, unless they are allowed."""
    if not (is_number(value) and value > 0 and (not finite or value < np.inf)):
        raise ValueError(f"{name} must be a {'finite ' if finite else ''}number > 0, got {value!r}")


def check_count(name: str, value: Any, least: int = 1) -> None:
    """Refuse what is no whole number, or one below ``least``."""
    if not (is_whole(value) and value >= least):
        raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}")


def check_inside(name: str, value: Any) -> None:
    """Refuse what is no number between 0 and 1."""
    if not (is_number(value) and 0 < value < 1):
        raise ValueError(f"{name} must be a number between 0 and 1, got {value!r}")


def normal_quantile(alpha: Any) -> float:
    """How many standard errors an interval of the level 1 - alpha reaches to each side."""
    from scipy.special import ndtri  # devices need the rest of this file, and no scipy

    check_alpha(alpha)
    return -float(ndtri(alpha / 2))


def check_alpha(alpha: Any) -> None:
    """Refuse what is no level of an interval: intervals have the level 1 - alpha."""
    if not (is_number(alpha) and 0 < alpha < 1):
        raise ValueError(f"alpha must be a number between 0 and 1, as 0.05 for intervals of 95 %, got {alpha!r}")
