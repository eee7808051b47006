"""What is fitted to the private rows before a model sees them: nothing that the model adds can hide that.

An estimator is handed an array and cannot tell where it comes from. Where it is fitted by one of scikit-learn's
pipelines, that pipeline is among its callers.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from discreet.errors import PrivacyLeakWarning

# Steps that learn nothing of the rows but their number of columns, though they say that they must be fitted.
_WIDTH_ONLY = ("PolynomialFeatures",)


def warn_of_fitted_steps(estimator: Any) -> tuple[str, ...]:
    """The steps before this estimator that were fitted to the rows, with a warning if there are any."""
    steps = tuple(dict.fromkeys(_steps_of_callers()))
    if steps:
        warnings.warn(
            f"{', '.join(steps)} learnt from the private rows before {type(estimator).__name__} saw them, and no noise "
            "covers that: the guarantee does not hold for the whole pipeline. Take discreet.DomainEncoder, which "
            "learns nothing, or see docs/howto/pipelines.md",
            PrivacyLeakWarning,
            stacklevel=4,
        )
    return steps


def _steps_of_callers() -> Iterator[str]:
    # Where scikit-learn's module was never imported nobody has one.
    pipeline = getattr(sys.modules.get("sklearn.pipeline"), "Pipeline", ())
    target = getattr(sys.modules.get("sklearn.compose"), "TransformedTargetRegressor", ())
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_name.startswith("fit"):
            owner = frame.f_locals.get("self")
            if isinstance(owner, pipeline):
                for _, step in owner.steps[:-1]:
                    yield from fitted_parts(step)
            elif isinstance(owner, target) and owner.transformer is not None:
                yield from fitted_parts(owner.transformer)
        frame = frame.f_back


def fitted_parts(step: Any) -> Iterator[str]:
    """The transformers within a step that take something from the rows, by the names of their classes."""
    for attribute in ("steps", "transformer_list", "transformers"):
        if hasattr(step, attribute):
            for part in getattr(step, attribute):
                yield from fitted_parts(part[1])
            return
    if step is None or isinstance(step, str) or _learns_nothing(step):
        return
    yield type(step).__name__


def _learns_nothing(step: Any) -> bool:
    name = type(step).__name__
    if name in _WIDTH_ONLY or (name == "SplineTransformer" and isinstance(step.knots, np.ndarray)):
        return True
    try:
        return not get_tags(step).requires_fit
    except Exception:  # a transformer that knows nothing of tags
        return False
