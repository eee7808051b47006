"""scikit-learn's own contract for the estimators of ReLU and single-index regression."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.contracts.sklearn_contract import run_check
from tests.contracts.test_sklearn_checks import expected_failures

from discreet import ReLURegressor, SingleIndexRegressor

DECLARED = {"epsilon": 1000.0, "delta": 1e-6, "bounds_X": (-20, 20), "bounds_y": (-50, 50)}


def too_poor(estimator) -> dict[str, str]:
    """A ReLU cannot follow the checks' linear target below zero, nor a pass over a few rows learn
    anything.
    """
    return expected_failures(estimator) | {
        "check_regressors_train": "the target is linear and mostly below 0, which no mean of this model reaches",
        "check_regressor_multioutput": "one target",
    }


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
@parametrize_with_checks(
    [
        ReLURegressor(**DECLARED),
        ReLURegressor(**DECLARED, neighbours="add_or_remove_one"),
        ReLURegressor(**DECLARED, solver="pgd"),
        ReLURegressor(**DECLARED, solver="minibatch", max_iter=2),
        ReLURegressor(**DECLARED, solver="tree", max_iter=2),
        SingleIndexRegressor(**DECLARED, link="softplus"),
    ],
    expected_failed_checks=too_poor,
)
def test_scikit_learn_contract(estimator, check):
    run_check(estimator, check, too_poor(estimator))
