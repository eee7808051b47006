"""Reading saved models, which ``model.save(path)`` wrote; docs/howto/models.md
describes the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from discreet.documents import read_json, shown
from discreet.errors import DiscreetError, DomainError
from discreet.results.file import FORMAT, VERSION


def load(path: str | PathLike[str]) -> Any:
    """The fitted model that ``save`` wrote: it predicts the same bits and prints the same summary.

    A central or parties' model is the estimator that was fitted, a local one a ``LocalResult``. A
    file that is damaged, or was written by a newer discreet, is a DomainError.

    Parameters
    ----------
    path : str or path
        A file that ``save`` has written.

    Returns
    -------
    estimator or LocalResult
        The model, fitted.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import discreet
    >>> X = np.random.default_rng(0).uniform(-1, 1, (500, 1))
    >>> model = discreet.LinearRegression(
    ...     epsilon=5.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-2, 2)
    ... )
    >>> path = tempfile.mkdtemp() + "/model.json"
    >>> model.fit(X, X[:, 0]).save(path)
    >>> bool((discreet.load(path).coef_ == model.coef_).all())
    True
    """
    content = read_json(path, "the model file")
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise DomainError(f"{path} is not a model file of discreet: it lacks the field format = {FORMAT!r}")
    version = content.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise DomainError(f"the model file {path} has no version: it must be a whole number, got {shown(version)}")
    if version > VERSION:
        raise DomainError(
            f"the model file {path} was written by a newer discreet: it has version {shown(version)} of the format, "
            f"and this one reads version {VERSION}; update discreet"
        )
    try:
        return _read(content)
    except DiscreetError as error:
        raise DomainError(f"the model file {path} is damaged: {error}") from None
    # Values of the right types that an estimator refuses, such as an unknown solver.
    except (ValueError, TypeError, KeyError, ArithmeticError, AttributeError, IndexError) as error:
        said = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise DomainError(f"the model file {path} is damaged: {said}") from None


def _read(content: Mapping[str, Any]) -> Any:
    kind = content.get("kind")
    if kind == "estimator":
        from discreet.estimators.model_file import read_estimator

        return read_estimator(content)
    if kind == "local":
        from discreet.local.model_file import read_local

        return read_local(content)
    raise DomainError(f"kind must be 'estimator' or 'local', got {shown(kind)}")
