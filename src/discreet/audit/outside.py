"""Audits of code that is not discreet's: any model with ``fit(X, y)``, by its outputs alone."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

from discreet.audit.black_box import black_box
from discreet.audit.foreign import ForeignFit
from discreet.audit.foreign_worker import call_with, load
from discreet.audit.suite import Finding, Settings

_loaded = lru_cache(load)  # once a process, not once a fit


class OutsideFit:
    """A model from a file, made anew for every fit; its name is the file's, as the state file
    needs.
    """

    def __init__(self, spec: str, parameters: dict[str, Any]) -> None:
        self._spec, self._parameters = spec, parameters

    def __call__(self, data: tuple[Any, Any]) -> Any:
        return call_with(_loaded(self._spec), self._parameters).fit(*data)

    def __repr__(self) -> str:
        return f"OutsideFit({self._spec!r}, {self._parameters!r})"


def audit_outside(
    spec: str,
    epsilon: float,
    delta: float,
    settings: Settings,
    *,
    python: str | None = None,
    name: str | None = None,
    kind: str = "Models",
    expected: bool = True,
) -> Finding:
    """Attack ``file.py:make_model`` on the pair of data sets that ``make_pair`` in the same file
    gives.
    """
    started = time.monotonic()
    parameters = {"epsilon": epsilon, "delta": delta}
    try:
        make_pair = load(f"{spec.rpartition(':')[0]}:make_pair")
    except AttributeError as error:
        raise ValueError(
            f"{spec} is not one of discreet's estimators, so two neighbouring data sets are needed: "
            "define make_pair() in the same file, returning ((X, y), (X, y))"
        ) from error
    data, neighbour = make_pair()
    fit = OutsideFit(spec, parameters) if python is None else ForeignFit(python, spec, parameters)
    box = black_box(
        fit,
        (epsilon, delta),
        data=data,
        neighbour=neighbour,
        runs=max(settings.runs, 40),
        confidence=settings.confidence,
        workers=settings.workers,
        progress=settings.progress,
        state=settings.state(name or spec),
        label=name or spec,
    )
    asked = (("model", spec), ("epsilon", f"{epsilon:g}"), ("delta", f"{delta:g}"))
    return Finding(name or spec, kind, expected, None, box, time.monotonic() - started, asked=asked)
