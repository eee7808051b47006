"""Detection of steps that were fitted to the private rows before or around a
model; no noise covers these.

An estimator gets an array and cannot tell where it comes from. If one of scikit-learn's pipelines
fits it, that pipeline is among its callers.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from discreet.errors import PrivacyLeakWarning

# Models around a model that choose or learn from exact scores and labels of private rows.
_SCORERS = (
    *("BaseSearchCV", "CalibratedClassifierCV", "TunedThresholdClassifierCV", "RFECV", "SequentialFeatureSelector"),
    *("StackingRegressor", "StackingClassifier"),
)
_SCORING = ("cross_validate", "learning_curve", "validation_curve")
# Steps that learn only the number of columns, though their tags say that they must be fitted.
_WIDTH_ONLY = ("PolynomialFeatures",)


def warn_of_fitted_steps(estimator: Any) -> tuple[str, ...]:
    """What has learnt from the same rows before or around this estimator; warns if anything has."""
    frames = list(_frames_of_callers())
    steps = tuple(dict.fromkeys(step for frame in frames for step in _steps(frame)))
    scorers = tuple(dict.fromkeys(scorer for frame in frames for scorer in _scorers(frame)))
    if scorers:
        warnings.warn(
            f"{', '.join(scorers)} computes scores of private rows. No noise covers these scores, or what is chosen or "
            f"learnt from them; each fit of {type(estimator).__name__} costs its whole epsilon. Use "
            "discreet.PrivateGridSearchCV or evaluate(), or see docs/howto/pipelines.md",
            PrivacyLeakWarning,
            stacklevel=4,
        )
    if steps:
        warnings.warn(
            f"{', '.join(steps)} learnt from the private rows before {type(estimator).__name__} got them, and no noise "
            "covers that: the guarantee does not hold for the whole pipeline. Use discreet.DomainEncoder, which "
            "learns nothing, or see docs/howto/pipelines.md",
            PrivacyLeakWarning,
            stacklevel=4,
        )
    return (*steps, *scorers)


def _frames_of_callers() -> Iterator[FrameType]:
    frame = inspect.currentframe()
    while frame is not None:
        yield frame
        frame = frame.f_back


def _steps(frame: FrameType) -> Iterator[str]:
    """The steps of a pipeline that is being fitted in this frame, if there is one."""
    if not frame.f_code.co_name.startswith("fit"):
        return
    # If scikit-learn's module was never imported, there is no pipeline.
    pipeline = getattr(sys.modules.get("sklearn.pipeline"), "Pipeline", ())
    target = getattr(sys.modules.get("sklearn.compose"), "TransformedTargetRegressor", ())
    owner = frame.f_locals.get("self")
    if isinstance(owner, pipeline):
        for _, step in owner.steps[:-1]:
            yield from fitted_parts(step)
    elif isinstance(owner, target) and owner.transformer is not None:
        yield from fitted_parts(owner.transformer)


def _scorers(frame: FrameType) -> Iterator[str]:
    """The search or other meta-estimator of scikit-learn that is being fitted in
    this frame, if there is one.
    """
    name, module = frame.f_code.co_name, str(frame.f_globals.get("__name__", ""))
    if not module.startswith("sklearn."):
        return
    if name in _SCORING:
        yield name
    elif name.startswith("fit") and (owner := frame.f_locals.get("self")) is not None:
        # A final estimator that is private itself adds nothing that is not covered.
        private = hasattr(getattr(owner, "final_estimator", None), "epsilon")
        if not private and any(kind.__name__ in _SCORERS for kind in type(owner).__mro__):
            yield type(owner).__name__


def fitted_parts(step: Any) -> Iterator[str]:
    """The class names of the transformers within a step that learn from the rows."""
    for attribute in ("steps", "transformer_list", "transformers"):
        if hasattr(step, attribute):
            for part in getattr(step, attribute):
                yield from fitted_parts(part[1])
            yield from fitted_parts(getattr(step, "remainder", None))
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
    except Exception:  # a transformer without tags
        return False
