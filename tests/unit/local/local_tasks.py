"""Small tasks of every kind."""

from __future__ import annotations

import numpy as np

from discreet.domain import Categorical, Domain, Numeric, Public
from discreet.local import new_task

PUBLIC = np.random.default_rng(5).normal(size=(800, 3))


def make_task(**changes):
    """A task on three numbers; with public rows unless told otherwise."""
    options = {
        "domain": Domain.from_bounds(["a", "b", "c"], (-5.0, 5.0)),
        "target": Numeric("y", 0.0, 1.0),
        "epsilon": 4.0,
        "delta": 1e-6,
        "goal": 10_000,
        "public": Public(rows=PUBLIC),
    }
    return new_task("test", **(options | changes))


def mixed_task(**changes):
    """A task with a category and a number, without public rows."""
    domain = Domain((Numeric("age", 0.0, 100.0), Categorical("sex", ("f", "m", "x"))))
    return make_task(domain=domain, public=None, **changes)


KINDS = {
    "cross": make_task,
    "both": lambda **changes: make_task(public=None, **changes),
    "pooled": lambda **changes: make_task(reports="both", **changes),
    "no_intercept": lambda **changes: make_task(fit_intercept=False, **changes),
    "paper": lambda **changes: make_task(calibration="paper", **changes),
    "bounded": lambda **changes: make_task(calibration="paper", design="bounded", public=None, **changes),
    "two_rounds": lambda **changes: make_task(public=None, rounds=2, **changes),
    "mixed": mixed_task,
}
