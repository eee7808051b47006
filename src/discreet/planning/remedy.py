"""Settings without a forecast, and changes that give one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Remedy:
    """A change of ``plan``'s arguments that gives a forecast; None removes an argument."""

    words: str
    changes: dict[str, Any]


class NoForecast(ValueError):
    """Settings that have no forecast, with changes that give one."""

    def __init__(self, message: str, *remedies: Remedy) -> None:
        super().__init__(message)
        self.remedies = remedies


def larger_error(reachable: float) -> Remedy:
    """Ask for an achievable error: slightly above ``reachable``, in two digits."""
    digits = 10.0 ** (math.floor(math.log10(reachable)) - 1)
    error = float(f"{math.ceil(1.05 * reachable / digits) * digits:.3g}")
    return Remedy(f"Ask for an error of {error:g}", {"error": error})
