"""Candidate rows replayed in one place of a table, along the outputs of one recorded fit."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np

from discreet.audit.replay import Data, Heard, Recorder, Replayer, comparable, fit_listening, loss_between
from discreet.audit.rows import Box, Candidate
from discreet.audit.secret_order import mu_given_the_order
from discreet.privacy import Release


class Tried:
    """The exact answers of every candidate tried so far, given the same outputs.

    One fit is recorded. A candidate takes the place of the first row, and the recorded outputs are
    replayed: one fit per candidate, and none per pair of candidates. None is the table without the
    row, a neighbour where rows are added or removed.
    """

    def __init__(self, estimator: Any, box: Box, background: Data) -> None:
        from sklearn.base import clone

        self._clone, self._estimator, self._box = clone, estimator, box
        self._X, self._y = (np.asarray(part, dtype=np.float64) for part in background[:2])
        self.adds = getattr(estimator, "neighbours", "replace_one") == "add_or_remove_one"
        recorder = Recorder()
        fitted, _ = fit_listening(clone(estimator), box.data(self._X, self._y), recorder)
        self._outputs, self._orders = recorder.heard, recorder.orders
        self.claimed = mu_given_the_order(fitted.privacy_)
        self._answers: dict[tuple[Any, ...], tuple[list[Heard], bytes]] = {}

    def __len__(self) -> int:
        return len(self._answers)

    @property
    def columns(self) -> int:
        return int(self._X.shape[1])

    @property
    def releases(self) -> tuple[Release, ...]:
        return tuple(heard.release for heard in self._outputs)

    def table(self, candidate: Candidate | None) -> Data:
        """The background with the candidate in place of its first row, or without a first row."""
        if candidate is None:
            return self._box.data(self._X[1:], self._y[1:])
        X, y = self._X.copy(), self._y.copy()
        X[0], y[0] = self._box.row(candidate)
        return self._box.data(X, y)

    def answers(self, candidate: Candidate | None) -> tuple[list[Heard], bytes]:
        """The replay of the recorded outputs with the candidate: exact answers, and the visible
        state.
        """
        key = ("none",) if candidate is None else candidate.key()
        if key not in self._answers:
            replayer = Replayer(self._outputs, self._orders)
            fitted, said = fit_listening(self._clone(self._estimator), self.table(candidate), replayer)
            self._answers[key] = (replayer.heard, pickle.dumps((fitted, said)))
        return self._answers[key]

    def losses(self, one: Candidate | None, other: Candidate | None) -> tuple[float, ...]:
        """The loss of each release on this pair, in mu."""
        pairs = zip(self.answers(one)[0], self.answers(other)[0], strict=False)
        return tuple(loss_between(a, b) if comparable(a, b) else math.inf for a, b in pairs)

    def distance(self, one: Candidate | None, other: Candidate | None) -> float:
        """Infinite where anything visible differs: such a pair is distinguished with certainty."""
        (here, shown), (there, shown_there) = self.answers(one), self.answers(other)
        if len(here) != len(there) or shown != shown_there:
            return math.inf
        return math.sqrt(math.fsum(loss**2 for loss in self.losses(one, other)))
