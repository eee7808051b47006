"""Simulated people for ``discreet local demo``: the questions, their texts, and the answers."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np

from discreet.domain import Categorical, Domain, Numeric, Public
from discreet.local import Task, new_task

NAME = "Who feels rested in the morning?"
_DOMAIN = Domain(
    (
        Numeric("age", 18, 90),
        Numeric("hours_of_sleep", 3, 11),
        Numeric("cups_of_coffee", 0, 8),
        Categorical("phone_in_bed", ("no", "yes")),
    )
)
_RESTED = Categorical("rested", ("no", "yes"))

FORM = {
    "about": "A demonstration on this machine: nobody collects anything.",
    "columns": {
        "age": {"label": "How old are you?", "unit": "years"},
        "hours_of_sleep": {"label": "How long did you sleep last night?", "unit": "hours"},
        "cups_of_coffee": {"label": "How much coffee did you drink yesterday?", "unit": "cups"},
        "phone_in_bed": {"label": "Did you take your phone to bed?"},
        "rested": {"label": "Did you feel rested this morning?"},
    },
}


def demo_task(people: int, epsilon: float) -> Task:
    """The task, with what is publicly known of 2,000 other made-up people."""
    public = made_up(2000, np.random.default_rng(1))
    rows = {name: values for name, values in public.items() if name != _RESTED.name}
    import pyarrow as pa

    return new_task(
        NAME,
        domain=_DOMAIN,
        target=_RESTED,
        epsilon=epsilon,
        goal=people,
        closes=str(date.today() + timedelta(days=30)),  # a date, not the goal: you may be the last to report
        public=Public(rows=pa.table(rows)),
    )


def made_up(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Columns of n people: sleep has a positive effect, a phone in bed a negative one, coffee a
    small one.
    """
    age = rng.uniform(18, 90, n)
    sleep = rng.normal(7, 1.3, n).clip(3, 11)
    coffee = rng.gamma(2.0, 1.0, n).clip(0, 8)
    phone = rng.random(n) < 0.75 - 0.006 * (age - 18)
    predictor = 0.9 * (sleep - 7) - 1.1 * phone + 0.01 * (age - 54) - 0.05 * (coffee - 2) + 0.6
    rested = rng.random(n) < 1 / (1 + np.exp(-predictor))
    words = np.array(["no", "yes"])
    return {
        "age": age.round(),
        "hours_of_sleep": sleep.round(1),
        "cups_of_coffee": coffee.round(),
        "phone_in_bed": words[phone.astype(int)],
        "rested": words[rested.astype(int)],
    }
