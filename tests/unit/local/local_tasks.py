"""Small tasks of every kind."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from discreet.domain import Categorical, Domain, Numeric, Public
from discreet.local import PrintedLink, new_task, pilot_task, printed_task

PUBLIC = np.random.default_rng(5).normal(size=(800, 3))
NUMBERS = Domain.from_bounds(["a", "b", "c"], (-5.0, 5.0))


def make_task(**changes):
    """A task on three numbers; with public rows unless told otherwise."""
    options = {
        "domain": NUMBERS,
        "target": Numeric("y", 0.0, 1.0),
        "epsilon": 4.0,
        "goal": 10_000,
        "public": Public(rows=PUBLIC),
        "reports": "cross" if changes.get("public", PUBLIC) is not None else "both",
    }
    return new_task("test", **(options | changes))


def mixed_task(**changes):
    """A task with a category and a number, without public rows."""
    domain = Domain((Numeric("age", 0.0, 100.0), Categorical("sex", ("f", "m", "x"))))
    return make_task(domain=domain, public=None, **changes)


def paper_task(**changes):
    """A task with printed noise."""
    options = {
        "domain": NUMBERS,
        "target": Numeric("y", 0.0, 1.0),
        "epsilon": 4.0,
        "delta": 1e-6,
        "goal": 10_000,
        "public": Public(rows=PUBLIC),
    }
    return printed_task("test", **(options | changes))


KINDS = {
    "cross": make_task,
    "both": partial(make_task, public=None),
    "pooled": partial(make_task, reports="both"),
    "no_intercept": partial(make_task, fit_intercept=False),
    "category_label": partial(make_task, target=Categorical("y", ("no", "yes"))),
    "gaussian": partial(make_task, randomizer="gaussian"),
    "gaussian_both": partial(make_task, randomizer="gaussian", public=None),
    "paper": paper_task,
    "bounded": partial(paper_task, design="bounded", public=None),
    "paper_link": partial(paper_task, design="bounded", public=None, link=PrintedLink("sigmoid")),
    "mixed": mixed_task,
    "pilot": partial(pilot_task, "test", domain=NUMBERS, target=Numeric("y", 0.0, 1.0), epsilon=4.0, goal=100_000),
}


@lru_cache
def kind(name):
    """One task of each kind, made once."""
    return KINDS[name]()
