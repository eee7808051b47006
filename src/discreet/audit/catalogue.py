"""Every estimator that discreet offers, made ready for an audit: found, not listed, so that none is forgotten."""

from __future__ import annotations

import inspect
from typing import Any

import discreet

# What each parameter is in an audit, where an estimator has it; all others keep their defaults.
_PUBLIC: dict[str, Any] = {"bounds_X": (-1, 1), "bounds_y": (-1, 1), "classes": (0, 1), "sparsity": 2}
# Labels that a family can have, by the part of a class's name that tells the family.
_LABELS = {"Poisson": (0, 10), "Gamma": (0.5, 5.0)}


def estimators() -> dict[str, type]:
    """The public classes that fit under a budget, by name."""
    found = {}
    for name in discreet.__all__:
        kind = getattr(discreet, name)
        if inspect.isclass(kind) and hasattr(kind, "fit") and "epsilon" in inspect.signature(kind).parameters:
            found[name] = kind
    return found


def ready(kind: type, epsilon: float, delta: float, neighbours: str) -> Any:
    """An estimator of this kind with everything declared that it asks for."""
    asked = inspect.signature(kind).parameters
    settings = {"epsilon": epsilon, "delta": delta, "neighbours": neighbours, **_PUBLIC}
    settings["bounds_y"] = next((bounds for name, bounds in _LABELS.items() if name in kind.__name__), (-1, 1))
    if "bounds_X" not in asked:
        settings["data_norm"] = 1.0
    return kind(**{name: value for name, value in settings.items() if name in asked})


def relations(kind: type) -> tuple[str, ...]:
    """The neighbour relations that a kind of estimator can promise for; both, unless it has no choice."""
    if "neighbours" in inspect.signature(kind).parameters:
        return ("replace_one", "add_or_remove_one")
    return ("replace_one",)
