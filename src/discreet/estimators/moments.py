"""Released moments in the user's units: scaling from public rows, offsets and widths."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from discreet.algorithms.moments import MomentRelease, release_moments
from discreet.algorithms.steps.first_look import XScaling
from discreet.docstrings import described
from discreet.domain import Domain, Encoder, Numeric, Public, as_floats, check_numbers
from discreet.engines import open_table
from discreet.errors import DomainError
from discreet.estimators.base import check_domain, curator_of
from discreet.estimators.public_moment import encoded_moments, encoded_rows
from discreet.estimators.table_input import table_layout
from discreet.inference import Moments
from discreet.privacy import Budget, Guarantee


@described
def collect_moments(
    table: Any,
    *,
    epsilon: float,
    delta: float,
    domain: Domain,
    target: str | None = None,
    neighbours: str = "replace_one",
    ledger: Any = None,
    random_state: int | None = None,
) -> Moments:
    """Release the second moment of a table's declared columns, for any linear model.

    Parameters
    ----------
    table
        A frame, a path, or any other table that ``fit_table`` accepts.
    domain : Domain
        The declared columns; all of them are released.
    target : str, optional
        The column that is most likely to be a label (by default the last). Rows are scaled down by
        the norm of the other columns, which biases no model of this target. Models of other targets
        are fitted from the same reweighted rows.

    Returns
    -------
    Moments
        The released second moment.

    Privacy
    -------
    Two noisy sums over the rows, whose joint cost is at most ``epsilon`` at ``delta``.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from discreet import Domain, Numeric, collect_moments
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"age": rng.uniform(18, 90, 5_000), "bmi": rng.uniform(15, 40, 5_000)})
    >>> frame["cost"] = 40 * frame["age"] + 50 * frame["bmi"]
    >>> domain = Domain((Numeric("age", 18, 90), Numeric("bmi", 15, 40), Numeric("cost", 0, 9_000)))
    >>> moments = collect_moments(frame, epsilon=5.0, delta=1e-6, domain=domain)
    >>> bool(abs(moments.regress("cost", ["age", "bmi"]).params["age"] - 40) < 5)
    True
    """
    budget = Budget.of(epsilon, delta)
    check_domain(domain)
    names = [column.name for column in domain.columns]
    label = names[-1] if target is None else target
    column = domain[label]
    if not isinstance(column, Numeric):
        raise DomainError(f"target {label!r} must be numeric")
    encoder = Encoder(domain.select([name for name in names if name != label]), column)
    layout = table_layout(encoder, as_floats, check_labels=partial(check_numbers, repr(label)))
    curator = curator_of(open_table(table).engine(layout), neighbours, budget, "moments", ledger, random_state)
    release = release_moments(curator, budget, width=encoder.width, x_radius=encoder.radius)
    return moments_in_units(release, encoder, curator.finish())


def moments_in_units(release: MomentRelease, encoder: Encoder, privacy: Guarantee) -> Moments:
    """The release with the transformation to the user's columns: offset +
    width * coordinate / weight.
    """
    query, target = release.query, require_target(encoder)
    x_offset = encoder.centre + encoder.half_width * query.x_centre
    x_width = encoder.half_width * query.x_scale
    y_offset = target.centre + target.half_width * query.y_centre
    y_width = target.half_width * query.y_scale
    return Moments(
        names=(*encoder.names, target.name),
        offset=np.concatenate([[0.0], x_offset, [y_offset]]),
        width=np.concatenate([[1.0], x_width, [y_width]]),
        weight=np.concatenate([[query.weight_1], np.ones(encoder.width), [query.weight_y]]),
        answer=release.answer,
        privacy=privacy,
    )


def public_scaling(public: Public, encoder: Encoder) -> XScaling:
    """Centre and scale of x, from public rows or from the public second moment of (1, x)."""
    if public.rows is not None:
        x = encoded_rows(public, encoder)
        centre, variance = x.mean(axis=1), x.var(axis=1)
    else:
        centre, covariance, _ = encoded_moments(public, encoder)
        variance = np.diag(covariance)
    return XScaling(np.clip(centre, -1, 1), math.sqrt(max(float(np.mean(variance)), 1e-6)))


def require_target(encoder: Encoder) -> Numeric:
    if encoder.target is None:
        raise TypeError("a regression needs an encoder with a target")
    return encoder.target
