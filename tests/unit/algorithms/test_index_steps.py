"""Steps of single-index models: the link's slope at the optimum is not known in advance."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import SingleIndexRegressor
from discreet.algorithms.steps.index_model import likely_spread
from discreet.glm.index_links import index_link


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")  # the seed
@pytest.mark.parametrize("seed", [86, 97, 131])
def test_steps_do_not_grow_from_side_to_side(seed):
    """Where labels vary far more than the index explains, the link was taken to be flat, each step
    was more than twice too long, and coefficients came out 10 times too long: 5 of 200 such fits.
    """
    random = np.random.default_rng(seed)
    slopes, X = random.uniform(-0.5, 0.5, 4), random.uniform(-1, 1, (20_000, 4))
    y = np.clip(1 / (1 + np.exp(-X @ slopes)) + 0.3 * random.normal(size=20_000), -1, 2)
    model = SingleIndexRegressor(
        link="sigmoid",
        epsilon=0.3,
        delta=1e-6,
        bounds_X=(-1, 1),
        bounds_y=(-1, 2),
        fit_intercept=False,
        random_state=seed,
    )
    assert np.sum((np.ravel(model.fit(X, y).coef_) - slopes) ** 2) < 0.05


def test_labels_that_vary_more_than_any_mean_do_not_make_a_link_flat():
    assert likely_spread(index_link("sigmoid"), 0.0, 0.4) < 3
    assert likely_spread(index_link("sigmoid"), 0.0, 0.01) == pytest.approx(0.41, abs=0.03)
