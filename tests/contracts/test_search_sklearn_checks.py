"""scikit-learn's own contract, for the private search."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.contracts.sklearn_contract import run_check
from tests.contracts.test_sklearn_checks import expected_failures

from discreet import LogisticRegression, PrivateGridSearchCV, Ridge

DECLARED = {"epsilon": 1000.0, "delta": 1e-6, "bounds_X": (-20, 20)}
GRID = {"alpha": [0.1, 1.0]}
SEARCHES = [
    PrivateGridSearchCV(Ridge(**DECLARED, bounds_y=(-50, 50)), GRID),
    PrivateGridSearchCV(Ridge(**DECLARED, bounds_y=(-50, 50), neighbours="add_or_remove_one"), GRID),
    PrivateGridSearchCV(LogisticRegression(**DECLARED), GRID),
]


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
@parametrize_with_checks(SEARCHES, expected_failed_checks=lambda search: expected_failures(search.estimator))
def test_scikit_learn_contract(estimator, check):
    run_check(estimator, check, expected_failures(estimator.estimator))
