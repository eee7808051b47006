"""Wald tests of linear hypotheses about coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

from discreet.errors import DiscreetError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class WaldTest:
    """A chi-squared test of a linear hypothesis, sampling error and privacy noise included.

    Attributes
    ----------
    statistic : float
        The test statistic.
    df : int
        Its degrees of freedom: how many equations were tested.
    pvalue : float
        The probability of a statistic at least this large if the hypothesis is true.

    Examples
    --------
    >>> from discreet import WaldTest
    >>> WaldTest(statistic=5.2, df=2, pvalue=0.0743)
    Wald test: chi2(2) = 5.2, P 0.074
    """

    statistic: float
    df: int
    pvalue: float

    def __str__(self) -> str:
        said = "<0.001" if self.pvalue < 0.001 else f"{self.pvalue:.3f}"
        return f"Wald test: chi2({self.df}) = {self.statistic:.4g}, P {said}"

    __repr__ = __str__


def wald_test(hypothesis: Any, values: Any, names: Sequence[str], estimates: Floats, covariance: Floats) -> WaldTest:
    """Test that ``matrix @ coefficients`` has these values; see ``Results.wald_test``."""
    matrix, right = _hypothesis(hypothesis, values, list(names))
    gap = matrix @ estimates - right
    spread = matrix @ covariance @ matrix.T
    if np.linalg.matrix_rank(spread) < len(matrix):
        raise DiscreetError("the hypotheses of a Wald test must be linearly independent")
    statistic = float(gap @ np.linalg.solve(spread, gap))
    # The chi-squared distribution's upper tail.
    return WaldTest(statistic, len(matrix), float(gammaincc(len(matrix) / 2, statistic / 2)))


def _hypothesis(hypothesis: Any, values: Any, names: list[str]) -> tuple[Floats, Floats]:
    if isinstance(hypothesis, str) and hypothesis not in names:
        return _parsed(hypothesis, names)
    if isinstance(hypothesis, str):
        hypothesis = [hypothesis]
    if isinstance(hypothesis, (list, tuple)) and hypothesis and all(isinstance(one, str) for one in hypothesis):
        matrix = np.zeros((len(hypothesis), len(names)))
        for row, name in enumerate(hypothesis):
            if name not in names:
                raise DiscreetError(f"there is no coefficient {name!r}; there are {', '.join(names)}")
            matrix[row, names.index(name)] = 1.0
    else:
        matrix = np.atleast_2d(np.asarray(hypothesis, dtype=np.float64))
    if matrix.ndim != 2 or matrix.shape[1] != len(names) or not np.isfinite(matrix).all():
        raise DiscreetError(
            f"a hypothesis is a name, a list of names, a text such as 'age = bmi', or a matrix with {len(names)} "
            f"columns, one for each of {', '.join(names)}"
        )
    return matrix, np.broadcast_to(np.asarray(values, dtype=np.float64), (len(matrix),))


def _parsed(text: str, names: list[str]) -> tuple[Floats, Floats]:
    """A text such as ``age = 2 * bmi``, which formulaic reads."""
    if find_spec("formulaic") is None:
        raise DiscreetError(
            f"{text!r} is no coefficient's name; to read it as an equation, install formulaic: "
            'pip install "discreet[formula]"'
        )
    from formulaic.errors import FormulaicError
    from formulaic.utils.constraints import LinearConstraints

    try:
        read = LinearConstraints.from_spec(text, variable_names=names)
    except (FormulaicError, ValueError, KeyError, TypeError) as error:
        raise DiscreetError(
            f"cannot read the hypothesis {text!r} ({str(error).splitlines()[0]}): write sums of coefficients, such as "
            f"'2 * {names[-1]} = 1'. The coefficients are {', '.join(names)}; put names "
            "that are not Python names in back quotes: `smoker=yes`"
        ) from None
    return np.asarray(read.constraint_matrix, dtype=np.float64), np.asarray(read.constraint_values, dtype=np.float64)
