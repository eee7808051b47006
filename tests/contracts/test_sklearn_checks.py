"""scikit-learn's own contract for estimators."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from discreet import (
    GammaRegressor,
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
)


def estimators():
    declared = {"epsilon": 1000.0, "delta": 1e-6, "bounds_X": (-20, 20), "bounds_y": (-50, 50)}
    positive, classes = declared | {"bounds_y": (1e-3, 50)}, {k: v for k, v in declared.items() if k != "bounds_y"}
    return [
        LinearRegression(**declared),
        Ridge(**declared),
        LinearRegression(**declared, neighbours="add_or_remove_one"),
        LogisticRegression(**classes),
        LogisticRegression(**classes, neighbours="add_or_remove_one"),
        PoissonRegressor(**declared | {"bounds_y": (0, 50)}),
        GammaRegressor(**positive),
        GeneralizedLinearRegressor(**declared),
        GeneralizedLinearRegressor(**declared, neighbours="add_or_remove_one"),
    ]


def expected_failures(estimator) -> dict[str, str]:
    """Checks that ask for an error about a value: such an error would tell an observer what one private row holds."""
    private_count = {
        "check_estimators_empty_data_messages": "an empty table is one row away from another; n is private"
    }
    values = {
        "check_dtype_object": "a cell that is no number is missing by a fixed rule, and raises nothing",
        "check_supervised_y_no_nan": "a label that is not finite counts by a fixed rule, and raises nothing",
    }
    declared = {
        # Classes are declared as 0 and 1 here: learnt from y, they would show that somebody has one.
        "check_classifiers_classes": "labels that were not declared contribute nothing, and raise nothing",
        "check_classifiers_train": "three classes, of which two are declared",
        "check_classifiers_regression_target": "a label that is no class contributes nothing, and raises nothing",
    }
    if isinstance(estimator, LogisticRegression):
        values = values | declared
    return values | (private_count if estimator.neighbours == "add_or_remove_one" else {})


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
@parametrize_with_checks(estimators(), expected_failed_checks=expected_failures)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
