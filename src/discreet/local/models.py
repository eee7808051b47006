"""What to fit: a GLM by its family, or a non-linear regression by its link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from discreet.glm import MeanFunction
from discreet.local.links import GLMS, LINKS


class Model(Protocol):
    """Anything with a name and a mean function."""

    @property
    def name(self) -> str: ...

    @property
    def mean_function(self) -> MeanFunction: ...


@dataclass(frozen=True)
class LocalGLM:
    """A generalized linear model: "logistic", "boosting", "exponential" or "poisson".

    Parameters
    ----------
    family : {'logistic', 'boosting', 'exponential', 'poisson'}, default 'logistic'
        The loss, which fixes the mean.

    Examples
    --------
    >>> from discreet.local import LocalGLM
    >>> LocalGLM("poisson").name
    'poisson'
    """

    family: str = "logistic"

    def __post_init__(self) -> None:
        if self.family not in GLMS:
            raise ValueError(f"family must be one of {', '.join(GLMS)}, got {self.family!r}")

    @property
    def name(self) -> str:
        """The family."""
        return self.family

    @property
    def mean_function(self) -> MeanFunction:
        """The link that the family fixes."""
        return GLMS[self.family]

    @property
    def has_two_labels(self) -> bool:
        """Whether labels are 0 or 1, rather than counts."""
        return GLMS[self.family].greatest_mean == 1.0


@dataclass(frozen=True)
class LocalRegression:
    """y = f(<x, w>) + noise with link f: "sigmoid", "cubic", "softplus", "identity", or a ``Link``
    of your own.

    Parameters
    ----------
    link : {'sigmoid', 'cubic', 'softplus', 'identity'} or Link, default 'sigmoid'
        The mean as a function of the linear predictor.

    Examples
    --------
    >>> from discreet.local import LocalRegression
    >>> LocalRegression("cubic").name
    'cubic'
    """

    link: str | MeanFunction = "sigmoid"

    def __post_init__(self) -> None:
        if isinstance(self.link, str) and self.link not in LINKS:
            raise ValueError(f"link must be one of {', '.join(LINKS)} or a Link, got {self.link!r}")

    @property
    def name(self) -> str:
        """The link's name."""
        return self.link if isinstance(self.link, str) else self.link.name

    @property
    def mean_function(self) -> MeanFunction:
        """The link."""
        return LINKS[self.link] if isinstance(self.link, str) else self.link


def as_model(model: str | Model) -> Model:
    """A model by its name, or as it is."""
    if not isinstance(model, str):
        return model
    if model in GLMS:
        return LocalGLM(model)
    if model in LINKS:
        return LocalRegression(model)
    raise ValueError(f"a model is one of {', '.join([*GLMS, *LINKS])}, got {model!r}")
