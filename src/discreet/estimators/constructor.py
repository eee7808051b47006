"""Constructors of estimators: a class declares its parameters as fields, each of them once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, dataclass_transform

from discreet.domain import Public


@dataclass_transform(kw_only_default=True, eq_default=False)
class Constructed:
    """Gives each subclass its own constructor, which stores the arguments unchanged, as
    scikit-learn requires, and whose errors name the class; unless it has written or inherits one.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        owner = next(one for one in cls.__mro__ if "__init__" in vars(one))
        made = vars(owner).get("__dataclass_params__")
        dataclass(init=owner is object or (made is not None and made.init), kw_only=True, eq=False, repr=False)(cls)


class SolverParameters(Constructed):
    """Parameters of every model with more than one solver."""

    solver: str = "auto"
    max_iter: int | None = None
    step: float | None = None
    radius: float | None = None
    calibration: str = "tight"


class DenseParameters(SolverParameters):
    """Those of models that use all columns."""

    data_norm: float | None = None
    public: Public | None = None
    fit_intercept: bool = True


class GlmParameters(DenseParameters):
    """Those of generalized linear models."""

    bounds_weight: Any = None
    alpha: float = 0.0
    clip: float | None = None
    eta: float | None = None
    cov_type: str = "robust"
