"""scikit-learn's own contract for the sparse estimators."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.contracts.sklearn_contract import run_check

from discreet import SparseLinearRegression, SparseLogisticRegression, SparsePoissonRegressor


def estimators():
    declared = {"epsilon": 1000.0, "delta": 1e-6, "bounds_X": (-20, 20), "sparsity": 1}
    return [
        SparseLinearRegression(**declared, bounds_y=(-50, 50)),
        SparsePoissonRegressor(**declared, bounds_y=(0, 50)),
        SparseLogisticRegression(**declared),
    ]


def expected_failures(estimator) -> dict[str, str]:
    """Checks that ask for an error about a value, or for labels that nobody declared."""
    values = {
        "check_dtype_object": "a cell that is no number is missing by a fixed rule, and raises nothing",
        "check_supervised_y_no_nan": "a label that is not finite counts by a fixed rule, and raises nothing",
    }
    if not isinstance(estimator, SparseLogisticRegression):
        return values
    declared = "classes are declared, not learnt from private labels"
    return values | {
        "check_classifiers_regression_target": "a label that is no class contributes nothing, and raises nothing",
        "check_classifiers_classes": declared,
        "check_classifiers_one_label": "of ten rows in bounds forty times as wide, a slope is noise once in ten times",
        "check_estimators_pickle": "predicts rows with missing values, for which no class is chosen",
        "check_classifier_not_supporting_multiclass": declared,
    }


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
@parametrize_with_checks(estimators(), expected_failed_checks=expected_failures)
def test_scikit_learn_contract(estimator, check):
    run_check(estimator, check, expected_failures(estimator))
