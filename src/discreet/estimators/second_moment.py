"""A private second-moment matrix and its inverse, for further use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.algorithms.steps.glm_model import GlmModel
from discreet.algorithms.steps.repair import solved
from discreet.algorithms.truncated_moment import truncated_moment
from discreet.docstrings import described
from discreet.domain import Domain, Encoder, Public
from discreet.engines import Arrays, Layout, open_engine
from discreet.estimators.base import check_choice, check_domain, check_public, curator_of
from discreet.estimators.public_guess import public_guess
from discreet.estimators.solvers import check_penalty
from discreet.estimators.tables import check_types, check_written, column_names, is_frame, read_table
from discreet.estimators.units import units
from discreet.glm import Gaussian, Identity
from discreet.parameters import check_inside
from discreet.privacy import Budget, Guarantee
from discreet.rows import Floats, Labels


@dataclass(frozen=True, eq=False)
class SecondMomentResult:
    """E[x x^T] in the user's units, and the inverse of E[x x^T] + alpha I;
    both are positive definite.

    With ``calibration="paper"`` they may not be: a singular matrix, which printed noise can
    produce, gets a pseudo-inverse.

    ``centre`` is the private mean of x, and ``covariance`` follows from both. ``noise_std`` is
    that of a diagonal entry in the coordinates of the release; with public data the
    eigenvalues there are about 1.
    """

    names: tuple[str, ...]
    matrix: Floats
    inverse: Floats
    centre: Floats
    noise_std: float
    count: float
    privacy_: Guarantee

    @property
    def covariance(self) -> Floats:
        return self.matrix - np.outer(self.centre, self.centre)


@described
def private_second_moment(
    X: Any,
    *,
    epsilon: float,
    delta: float,
    bounds_X: Any = None,
    data_norm: float | None = None,
    domain: Domain | None = None,
    public: Public | None = None,
    alpha: float = 0.0,
    neighbours: str = "replace_one",
    calibration: str = "tight",
    eta: float | None = None,
    ledger: Any = None,
    random_state: int | None = None,
) -> SecondMomentResult:
    """Release the second moment of the columns of an array or frame (PMT, Theorems 3.2 and 3.3).

    Parameters
    ----------
    bounds_X : pair, or mapping, optional
        Declared ``(low, high)`` of the columns: one number, one per column, or by name.
    data_norm : float, optional
        A declared bound on the Euclidean norm of a row of features, instead of bounds.
    domain : Domain, optional
        Declared columns with their bounds and categories.
    public : Public, optional
        Public rows or a public second moment; with them the noise does not grow with the condition
        number.
    alpha : float, default 0.0
        Added to the diagonal before inversion, in the user's units.
    calibration : {'tight', 'paper'}, default 'tight'
        Tight noise, or the noise printed in the paper.
    eta : float, optional
        The probability (PMT) that a row is truncated, for ``calibration="paper"``; .05 if None.

    Returns
    -------
    SecondMomentResult
        The noisy second moment, its inverse, and the guarantee.

    Privacy
    -------
    One noisy sum over the rows (two if their number is private), whose joint cost is at most
    ``epsilon`` at ``delta``.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import private_second_moment
    >>> X = np.random.default_rng(0).uniform(-1, 1, (5_000, 2))
    >>> result = private_second_moment(X, epsilon=5.0, delta=1e-6, bounds_X=(-1, 1))
    >>> result.matrix.shape
    (2, 2)
    """
    budget = Budget.of(epsilon, delta)
    check_choice("calibration", calibration, ("tight", "paper"))
    check_penalty(alpha)
    if eta is not None:
        check_inside("eta", eta)
        if calibration != "paper":
            raise ValueError(f"eta needs calibration='paper', got {eta!r}")
    check_public(public)
    check_domain(domain)
    table = read_table(X)
    names = column_names(table)
    if is_frame(X):
        check_written(names, domain, bounds_X)
    declared = Domain.from_bounds(names, bounds_X, data_norm) if domain is None else domain.select(names)
    encoder = Encoder(declared)
    check_types(table, declared, written=domain is not None or isinstance(bounds_X, Mapping))
    engine = open_engine(Arrays(table), Layout(encoder.encode))
    curator = curator_of(engine, neighbours, budget, "second moment", ledger, random_state)
    coordinates = None
    if public is not None:
        model = GlmModel(Gaussian(), Identity(), Labels(0.0, 1.0), np.zeros(encoder.width))
        coordinates = public_guess(
            Public(public.rows, None, public.second_moment, public.n), encoder, model
        ).coordinates
    release = truncated_moment(
        curator,
        budget,
        x_radius=encoder.radius,
        width=encoder.width,
        coordinates=coordinates,
        calibration=calibration,
        failure=0.05 if eta is None else eta,
    )
    return _in_units(release.moment, encoder, alpha, release.noise_std, release.count, curator.finish())


def _in_units(
    moment: Floats, encoder: Encoder, alpha: float, noise_std: float, count: float, privacy: Guarantee
) -> SecondMomentResult:
    """From (1, encoded x) to x: x = centre + half_width * encoded."""
    turn = np.linalg.inv(units(encoder, with_intercept=True)).T
    whole = turn @ moment @ turn.T
    matrix = whole[1:, 1:]
    return SecondMomentResult(
        names=tuple(encoder.names),
        matrix=matrix,
        inverse=solved(matrix + alpha * np.eye(len(matrix)), np.eye(len(matrix))),
        centre=whole[0, 1:],
        noise_std=noise_std,
        count=count,
        privacy_=privacy,
    )
