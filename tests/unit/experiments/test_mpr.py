"""MPR's printed methods drawn through second moments are those of the product."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from experiments.mpr.joint import make_plan, released
from experiments.mpr.synthetic import FEATURES, NAMES, direct, mixed, printed_noise

from discreet.parties.printed import printed_ols

N, EPSILON, MIXES, REPEATS = 2000, 6.0, 60, 15


def product(table, seed, training, **asked):
    plan = make_plan(table, 6, EPSILON, seed, calibration="paper", **asked)
    coef = printed_ols(released(plan, table, seed), "label", training=training)
    return np.array(list(coef.values())[1:])


@pytest.mark.parametrize("method", ["dgm", "bgm", "rmgm"])
def test_distances_of_moments_and_of_the_product_are_alike(method):
    """Medians of few repeats: a wrong scale of the noise, or a missing debiasing, shows at once."""
    short, whole = [], []
    for seed in range(REPEATS):
        rng = np.random.default_rng(seed)
        # The product's printed training is on cells in [0, 1], without an intercept.
        weights, x = rng.uniform(0, 0.1, FEATURES), rng.random((N, FEATURES))
        table, std = pd.DataFrame(np.column_stack([x, x @ weights]), columns=[*NAMES, "label"]), printed_noise(EPSILON)
        if method == "rmgm":
            drawn, _ = mixed(x.T @ x, weights, N, std, MIXES, rng)
            found = product(table, seed, "rmgm", method="rmgm", mixes=MIXES)
        else:
            drawn = direct(x.T @ x, weights, N, std, rng)[0][method.upper()]
            found = product(table, seed, method, method="dgm")
        short.append(np.linalg.norm(drawn - weights))
        whole.append(np.linalg.norm(found - weights))
    assert np.median(short) == pytest.approx(np.median(whole), rel=0.35)
