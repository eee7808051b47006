"""No released value may raise: a fit that was paid for ends with a model, whatever the noise is.

Every way to fit in the audit's catalogue, searches included, with answers that no rows would give.
Predictions for complete rows are numbers.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from discreet.audit import catalogue
from discreet.audit.rows import Box
from discreet.audit.search import has_two_labels
from discreet.curator import listening

# Shuffled passes answer a row at a time, as noisily as they need: for so few rows they are refused.
LEFT_OUT = ("LocalReports", "glmtron, public rows", "sgd")


class Anything:
    """Returns its own answers instead of noisy sums; seeded, so that failures are reproducible."""

    def __init__(self, kind: str, seed: int = 1) -> None:
        self._kind, self._rng = kind, np.random.default_rng(seed)

    def _answers(self, shape):
        size = int(np.prod(shape))
        signs, sizes = self._rng.choice([-1, 1], size).tolist(), self._rng.integers(0, 22, size).tolist()
        values = {
            "nothing": [0] * size,
            "far too much": [10**18] * size,
            "far too little": [-(10**18)] * size,
            "of all sizes": [sign * 10**digits for sign, digits in zip(signs, sizes, strict=True)],
        }
        kind = self._kind if self._kind in values else self._rng.choice(list(values))
        return np.array(values[kind], dtype=object).reshape(shape)

    def release(self, release, noise, exact, noisy):
        return self._answers(noisy.shape)

    def select(self, choice, picked):
        return picked

    def minimise(self, minimum, whole):
        return self._answers(whole.shape)

    def order(self, drawn):
        return drawn


def variants():
    return [
        pytest.param(one, id=one.name)
        for one in catalogue.combinations()
        if (one.neighbours == "replace_one" or one.usual) and not any(name in one.name for name in LEFT_OUT)
    ]


@pytest.mark.parametrize("variant", variants())
def test_whatever_is_answered_a_model_comes_out_and_predicts_numbers(variant):
    made = variant.make(1.0, 1e-6, 4)
    rows = Box.of(made, 4).scattered_rows(60, has_two_labels(made), np.random.default_rng(0))
    for kind in ("nothing", "far too much", "far too little", "of all sizes", "now this, now that"):
        before = listening.set(Anything(kind))
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                fitted = variant.make(1.0, 1e-6, 4).fit(*rows)
                assert hasattr(fitted, "coef_") or hasattr(fitted, "privacy_")
                assert np.isfinite(predictions(fitted, rows[0])).all()
        except ValueError as error:
            if not catalogue.is_a_rule(error):
                raise
            return
        finally:
            listening.reset(before)


def predictions(fitted, X) -> np.ndarray:
    if hasattr(fitted, "predict_proba"):
        return np.asarray(fitted.predict_proba(X))
    return np.asarray(fitted.predict(X) if hasattr(fitted, "predict") else 0.0)
