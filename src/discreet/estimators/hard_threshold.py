"""NoisyHT for users: the columns with the largest sums, and these sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from discreet.algorithms.noisy_hard_threshold import noisy_threshold
from discreet.docstrings import described
from discreet.domain import as_floats, check_numbers
from discreet.engines import Arrays, Layout, open_engine
from discreet.estimators.base import check_choice, curator_of
from discreet.estimators.sparse_rows import check_wide
from discreet.estimators.tables import feature_names
from discreet.estimators.vectors import read_vector
from discreet.parameters import is_whole
from discreet.privacy import Budget, Guarantee
from discreet.rows import WideEncoding, wide_block_rows


@dataclass(frozen=True, eq=False)
class HardThreshold:
    """The chosen columns, by index and name, in increasing order, with noisy
    ``sums`` and their noise.
    """

    indices: np.ndarray
    names: tuple[str, ...]
    sums: np.ndarray
    noise_std: float
    privacy: Guarantee
    # The number of rows, where it is public.
    rows: int | None = None

    @property
    def means(self) -> np.ndarray:
        """Sums divided by the number of rows, where it is public."""
        if self.rows is None:
            raise ValueError("means need a public number of rows: neighbours='replace_one'")
        return self.sums / max(self.rows, 1)


class _Wide(BaseEstimator):  # type: ignore[misc]
    """The attributes that checks of wide tables need."""

    def __init__(self, neighbours: str = "replace_one") -> None:
        self.neighbours = neighbours


@described
def noisy_hard_threshold(
    X: Any,
    *,
    sparsity: int,
    bound: float,
    epsilon: float,
    delta: float,
    weights: Any = None,
    weight_bound: float = 1.0,
    neighbours: str = "replace_one",
    calibration: str = "tight",
    ledger: Any = None,
    random_state: int | None = None,
) -> HardThreshold:
    """The columns of X with the largest absolute sums, and these sums (COST, Algorithm 3).

    Row i adds weights[i] X[i] to the vector of sums; without weights, X[i]. So any vector that is a
    sum over rows can be used: correlations with a label, entries of a gradient, numbers of visits.

    Parameters
    ----------
    X : array or frame
        Rows; numbers only.
    sparsity : int
        The number of columns to find.
    bound, weight_bound
        Declared bounds to which |cells| and |weights| are clipped. A missing cell counts as 0.
    weights : array, optional
        The factor of each row.
    calibration : str, default 'tight'
        ``"tight"``, or ``"paper"`` for COST's printed noise (n must be public).

    Returns
    -------
    HardThreshold
        The columns found, their noisy sums and means, the noise and the guarantee.

    Privacy
    -------
    A selection and a noisy sum over the rows, whose joint cost is at most ``epsilon`` at ``delta``.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import noisy_hard_threshold
    >>> visits = (np.random.default_rng(0).random((5_000, 50)) < 0.1).astype(float)
    >>> visits[:, 7] = 1.0
    >>> noisy_hard_threshold(visits, sparsity=1, bound=1.0, epsilon=1.0, delta=1e-6).names
    ('x7',)
    """
    budget = Budget.of(epsilon, delta)
    check_choice("calibration", calibration, ("tight", "paper"))
    check_choice("neighbours", neighbours, ("replace_one", "add_or_remove_one"))
    for name, value in (("bound", bound), ("weight_bound", weight_bound)):
        if not (isinstance(value, (int, float, np.number)) and 0 < value < np.inf):
            raise ValueError(f"{name} must be a finite number > 0, got {value!r}")
    wide = _Wide(neighbours)
    table = check_wide(wide, X, reset=True)
    names = feature_names(wide)
    whole = is_whole(sparsity)
    if not (whole and 1 <= sparsity <= len(names)):
        raise ValueError(
            f"sparsity must be a whole number between 1 and the number of columns {len(names)}, got {sparsity!r}"
        )
    limit = np.full(len(names), float(bound))
    encoding = WideEncoding(-limit, limit, -float(weight_bound), float(weight_bound), len(table) * len(names))
    layout = Layout(encoding.encode, width=len(names), block_rows=wide_block_rows(len(names)))
    factors = _weights(weights, len(table), float(weight_bound))
    engine = open_engine(Arrays(table, factors), layout)
    source = curator_of(engine, neighbours, budget, "hard threshold", ledger, random_state)
    chosen = noisy_threshold(source, budget, width=len(names), sparsity=int(sparsity), calibration=calibration)
    # Without weights every row has weight weight_bound, the unit of encoded weights.
    unit = float(bound) * (float(weight_bound) if weights is not None else 1.0)
    return HardThreshold(
        chosen.columns,
        tuple(str(names[column]) for column in chosen.columns),
        chosen.sums * unit,
        chosen.noise_std * unit,
        source.finish(),
        source.public_rows,
    )


def _weights(weights: Any, rows: int, bound: float) -> np.ndarray:
    if weights is None:
        return np.full(rows, bound)
    column, kind, shown = read_vector(weights, "weights")
    check_numbers("weights", kind, shown)
    if len(column) != rows:
        raise ValueError(f"weights must have one number for each of the {rows} rows of X, got {len(column)}")
    return as_floats(column)
