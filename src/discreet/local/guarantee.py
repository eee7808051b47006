"""What a task promises each device, and, apart from it, what shuffling the reports would add."""

from __future__ import annotations

import math

import numpy as np

from discreet.errors import GuaranteeError
from discreet.local.task import Task
from discreet.privacy import GDP, Guarantee, Release, clones_epsilon, gaussian_delta
from discreet.privacy.shuffling import SHUFFLE_THEOREM as SHUFFLE_THEOREM


def local_guarantee(task: Task) -> Guarantee:
    """The guarantee of all rounds against everybody, the collector included: the whole record replaced by any other."""
    plan = task.plan
    release = Release("local report", plan.reach * plan.unit, float(plan.noise_std.max()), GDP(plan.mu))
    return Guarantee((release,) * task.rounds, "replace_one")


def in_words(task: Task) -> str:
    """The local guarantee for people who are asked to take part."""
    factor = math.exp(min(task.epsilon, 700.0))
    rounds = "your report" if task.rounds == 1 else "your two reports together"
    return (
        f"Your device changes your answers at random before anything leaves it. Whatever anybody concludes from "
        f"{rounds} becomes at most {factor:.3g} times as likely by your true answers as by any others, except with "
        f"probability {task.delta:g} (epsilon {task.epsilon:g}, delta {task.delta:g}). This needs no trust in the "
        f"collector."
    )


def shuffled_epsilon(task: Task, n: int, delta: float) -> float:
    """The central epsilon at this delta if a trusted shuffler strips n honest reports of every trace of their sender.

    An (e0, d0)-private report gives, for e0 <= log(n / (16 log(4/d))), with d < delta the shuffler's own part,

        epsilon = log(1 + (1 - exp(-e0)) (8 sqrt(exp(e0) log(4/d) / n) + 8 exp(e0) / n)),
        delta   = d + (exp(epsilon) + 1) (1 + exp(-e0) / 2) n d0.

    Gaussian noise is (e0, d0)-private for a whole curve of pairs; the best one is taken. (The factor 1 - exp(-e0) is a
    little above the printed one, and 1.5 stands for 1 + exp(-e0)/2: both err on the private side. The sharper bounds of
    2023 carry an erratum for general randomizers and are not used.) Raises GuaranteeError where nothing is gained.
    """
    if not (0 < delta < 1 and n >= 1 and task.rounds == 1):
        raise ValueError("shuffling is accounted for one round, n >= 1 and 0 < delta < 1")
    own = delta / 2
    most = math.log(n / (16 * math.log(4 / own))) if n > 16 * math.log(4 / own) else 0.0
    best = math.inf
    for local in np.linspace(0, most, 2001)[1:] if most > 0 else []:
        epsilon = clones_epsilon(float(local), n, own)
        if (math.exp(epsilon) + 1) * 1.5 * n * gaussian_delta(float(local), task.plan.mu) <= delta - own:
            best = min(best, epsilon)
    if best >= GDP(task.plan.mu).epsilon(delta):
        raise GuaranteeError(
            f"shuffling {n} reports of epsilon {task.epsilon:g} adds nothing that the theorem can show: it needs "
            f"a local epsilon of at most {most:.3g} at a delta far below {delta:g} / n"
        )
    return best
