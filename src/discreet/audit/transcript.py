"""The strongest attack: the attacker knows both data sets and reads every released answer.

A fit on one data set is recorded; the same outputs are then replayed on the other, which shows what
the exact answers would have been there. Gaussian noise of standard deviation s turns the two into a
log-likelihood ratio, sum ((o - q')^2 - (o - q)^2) / (2 s^2), and no function of the outputs guesses
better (Neyman and Pearson). Picks and their values have likelihoods of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from discreet.audit.replay import Data, Heard, Recorded, Recorder, Replayer, comparable, fit_listening
from discreet.audit.replay_choice import RecordedChoice, RecordedValues
from discreet.audit.replay_objective import RecordedMinimum
from discreet.audit.replay_report import RecordedReport
from discreet.audit.visible import visible_numbers

# The log ratio for certainty: a release on one data set that the other does not make.
_CERTAIN = 1e6


@dataclass(frozen=True)
class World:
    """The data set that is fitted, its neighbour, and which of them is called the first."""

    data: Data
    other: Data
    is_first: bool


@dataclass(frozen=True)
class TranscriptAttack:
    """Fits an estimator on a world; shows the log-likelihood ratio of the first against the second,
    then all else.
    """

    estimator: Any

    def __call__(self, world: World) -> list[Any]:
        from sklearn.base import clone

        recorder = Recorder()
        fitted, _ = fit_listening(clone(self.estimator), world.data, recorder)
        replayer = Replayer(recorder.heard, recorder.orders)
        fit_listening(clone(self.estimator), world.other, replayer)
        ratio = log_ratio(recorder.heard, replayer.heard)
        return [ratio if world.is_first else -ratio, visible_numbers(fitted)]


def log_ratio(here: Sequence[Heard], there: Sequence[Heard]) -> float:
    """The log-likelihood ratio of the outputs: their own data set against the other."""
    if len(here) != len(there):
        return _CERTAIN
    return float(sum(_log_ratio(one, other) for one, other in zip(here, there, strict=True)))


def _log_ratio(here: Heard, there: Heard) -> float:
    if not comparable(here, there):
        return _CERTAIN
    if isinstance(here, RecordedChoice) and isinstance(there, RecordedChoice):
        return _log_chance(here, here.choice.scores) - _log_chance(here, there.choice.scores)
    if isinstance(here, RecordedMinimum) and isinstance(there, RecordedMinimum):
        return here.privacy_loss(there)
    if isinstance(here, RecordedValues) and isinstance(there, RecordedValues):
        far, near = (np.abs((here.noisy - exact).astype(np.float64)) for exact in (there.exact, here.exact))
        return float(np.sum(far - near)) / here.scale
    if isinstance(here, RecordedReport) and isinstance(there, RecordedReport):
        return here.log_ratio(there)
    assert isinstance(here, Recorded)
    assert isinstance(there, Recorded)
    seen = here.independent
    far = ((here.noisy - there.exact).astype(np.float64) / here.scales)[seen]
    near = ((here.noisy - here.exact).astype(np.float64) / here.scales)[seen]
    return float((far - near) @ (far + near)) / 2


def _log_chance(made: RecordedChoice, scores: NDArray[np.float64]) -> float:
    """Log-likelihood of these ordered picks: each is an exponential mechanism among the remaining
    ones.
    """
    if not made.choice.noise.gumbel:
        return 0.0
    weights = scores / made.choice.noise.scale
    left = np.ones(len(weights), dtype=bool)
    position = {int(candidate): place for place, candidate in enumerate(made.choice.candidates)}
    total = 0.0
    for index in made.picked.indices.tolist():
        place = position[int(index)]
        total += float(weights[place] - logsumexp(weights[left]))
        left[place] = False
    return total
