"""Questions that have no answer, and how to change them so that they have one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Remedy:
    """A change of ``plan``'s arguments that leads to an answer; None leaves an argument out."""

    words: str
    changes: dict[str, Any]


class NoForecast(ValueError):
    """A question without an answer, with the changes that give it one."""

    def __init__(self, message: str, *remedies: Remedy) -> None:
        super().__init__(message)
        self.remedies = remedies


def larger_error(reachable: float) -> Remedy:
    """Ask for an error that can be had: ``reachable`` and a little more, in two digits."""
    digits = 10.0 ** (math.floor(math.log10(reachable)) - 1)
    error = float(f"{math.ceil(1.05 * reachable / digits) * digits:.3g}")
    return Remedy(f"Ask for an error of {error:g}", {"error": error})
