"""Wrong arguments of the papers' functions are refused by name, before a row is paid for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from discreet import (
    Ledger,
    LinearRegression,
    LogisticRegression,
    Loss,
    Public,
    ReLURegressor,
    SparseRegressor,
    dp_threshold,
    noisy_hard_threshold,
    private_second_moment,
    smoothed_quantile,
)
from discreet.audit import relu_tracing_attack, score_attack, sparse_score_attack
from discreet.errors import NoSolutionError
from discreet.local.stein import NoisyMoments, glm_bounded, glm_gaussian, two_rounds
from discreet.planning import glm_lower_bound, relu_lower_bound, sparse_glm_lower_bound
from discreet.privacy import GDP

ROWS = np.random.default_rng(0).uniform(-1, 1, (60, 3))
LABELS = ROWS @ [1.0, 0.0, -1.0]
WRONG = ("abc", None, np.nan, -1, [1, 2], {}, True)
GLM = {"dispersion": 1.0, "curvature": 1.0, "x_variance": 1.0, "x_norm": 3.0, "coef_bound": 1.0}
FIT = {"epsilon": 1, "delta": 1e-6, "bounds_X": (-1, 1), "bounds_y": (-2, 2)}


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize("name", ["n", "n_features", *GLM])
def test_lower_bounds(name, wrong):
    good = {"n": 1000, "n_features": 5, "privacy": GDP(0.2)} | GLM
    with pytest.raises(ValueError, match=f"{name} must be"):
        glm_lower_bound(**(good | {name: wrong}))
    with pytest.raises(ValueError, match=f"{name} must be"):
        sparse_glm_lower_bound(**(good | {"sparsity": 2, name: wrong}))


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize("name", ["n", "n_features", "noise_std"])
def test_relu_lower_bound(name, wrong):
    good = {"n": 1000, "n_features": 5, "privacy": GDP(0.2), "noise_std": 1.0}
    with pytest.raises(ValueError, match=f"{name} must be"):
        relu_lower_bound(**(good | {name: wrong}))


def test_more_nonzero_coefficients_than_columns():
    with pytest.raises(ValueError, match="sparsity must be at most n_features, got 6 of 5"):
        sparse_glm_lower_bound(1000, 5, 6, GDP(0.2), **GLM)


@pytest.mark.parametrize("name", ["X", "y", "estimate", "truth"])
def test_attacks_on_what_is_no_array(name):
    good = {"X": ROWS, "y": LABELS, "estimate": [1.0, 0.0, 1.0], "truth": [1.0, 0.0, 1.0]}
    for attack, more in ((score_attack, {"family": "gaussian"}), (sparse_score_attack, {"family": "gaussian"})):
        for wrong in ("abc", {}, object()):
            with pytest.raises(ValueError, match=f"{name} must be an array of numbers"):
                attack(**(good | more | {name: wrong}))
    with pytest.raises(ValueError, match=f"{name} must be an array of numbers"):
        relu_tracing_attack(**(good | {name: "abc"}))


@pytest.mark.parametrize("wrong", [*WRONG, 0, np.inf], ids=repr)
def test_attacks_with_a_wrong_dispersion(wrong):
    for attack in (score_attack, sparse_score_attack):
        with pytest.raises(ValueError, match="dispersion must be"):
            attack(ROWS, LABELS, [1.0, 0.0, 1.0], [1.0, 0.0, 1.0], "gaussian", dispersion=wrong)


@pytest.mark.filterwarnings("ignore::discreet.PrivacyLeakWarning")
def test_functions_refuse_before_they_pay(tmp_path):
    """A penalty that is no number failed once the moment had been released."""
    ledger = Ledger.create(tmp_path / "budget", epsilon=10, delta=1e-5)
    budget = {"epsilon": 1, "delta": 1e-6, "ledger": ledger}
    moment = budget | {"X": ROWS, "bounds_X": (-1, 1)}
    threshold = budget | {"values": LABELS, "smallest": 0.1, "largest": 10.0}
    columns = budget | {"X": ROWS, "sparsity": 1, "bound": 1.0}
    cases = [
        (private_second_moment, moment, "alpha", "abc"),
        (private_second_moment, moment, "alpha", np.nan),
        (private_second_moment, moment, "domain", "domain.toml"),
        (private_second_moment, moment, "public", ROWS),
        (private_second_moment, moment | {"calibration": "paper"}, "eta", "abc"),
        (private_second_moment, moment, "eta", 0.1),
        (private_second_moment, moment, "random_state", "abc"),
        (dp_threshold, threshold, "smallest", "abc"),
        (dp_threshold, threshold, "largest", None),
        (dp_threshold, threshold, "share", "abc"),
        (noisy_hard_threshold, columns, "sparsity", 2.5),
        (noisy_hard_threshold, columns, "bound", np.inf),
        (noisy_hard_threshold, columns, "weights", LABELS[:5]),
        (noisy_hard_threshold, columns, "random_state", -1),
    ]
    for function, good, name, wrong in cases:
        with pytest.raises(ValueError, match=name):
            function(**(good | {name: wrong}))
    assert not ledger.history


@pytest.mark.parametrize("wrong", ["abc", None, 3, (1, 0), (0, np.inf), [1, 2, 3]], ids=repr)
def test_ranges_and_links_of_losses(wrong):
    if wrong is not None:
        with pytest.raises(ValueError, match="eta_range must be finite"):
            Loss(lambda y, eta: eta - y, bound=1.0, eta_range=wrong)
    with pytest.raises(ValueError, match="link must be one of"):
        Loss(np.tanh, bound=1.0, link=wrong)
    with pytest.raises(ValueError, match="level must be"):
        smoothed_quantile(wrong, 0.1)


@pytest.mark.parametrize("rows", [ROWS[:, 0], ROWS[:, :2], "abc", ROWS[0, 0]], ids=["one", "two", "word", "number"])
@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(solver="moments", **FIT),
        LinearRegression(solver="pmt", **FIT),
        ReLURegressor(**FIT),
        ReLURegressor(solver="sgd", **FIT),
    ],
    ids=lambda model: f"{type(model).__name__}-{model.solver}",
)
def test_public_rows_of_another_shape(model, rows):
    """One column was taken for every column: a ReLU model with weights of -20 and 40, no error."""
    with pytest.raises(ValueError, match="public rows must have the 3 columns of X"):
        model.set_params(public=Public(rows)).fit(ROWS, LABELS)


@pytest.mark.parametrize("wrong", ["abc", None, {}], ids=repr)
def test_public_moments_that_are_none(wrong):
    if wrong is not None:
        with pytest.raises(ValueError, match="second_moment must be"):
            Public(second_moment=wrong, n=10)
    with pytest.raises(ValueError, match="needs n="):
        Public(second_moment=np.eye(3), n=wrong)


@pytest.mark.parametrize("wrong", ["domain.toml", {"a": (0, 1)}, [1]], ids=repr)
@pytest.mark.parametrize("kind", [LinearRegression, LogisticRegression, SparseRegressor, ReLURegressor])
def test_a_domain_that_is_none(kind, wrong):
    more = {"sparsity": 1} if kind is SparseRegressor else {}
    with pytest.raises(ValueError, match=r"domain must be a discreet\.Domain"):
        kind(epsilon=1, delta=1e-6, domain=wrong, **more).fit(ROWS, LABELS)


@pytest.mark.parametrize("wrong", ["False", None, 0], ids=repr)
def test_an_intercept_is_there_or_not(wrong):
    with pytest.raises(ValueError, match="fit_intercept must be True or False"):
        LinearRegression(fit_intercept=wrong, **FIT).fit(ROWS, LABELS)


@pytest.mark.parametrize("name", ["family", "link"])
def test_families_and_links_are_names(name):
    with pytest.raises(ValueError, match=f"{name} must be one of"):
        SparseRegressor(sparsity=1, **FIT, **{name: ["gaussian"]}).fit(ROWS, LABELS)


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table])
@pytest.mark.parametrize("model", [LinearRegression(solver="pmt", **FIT), ReLURegressor(**FIT)])
def test_public_rows_without_a_column(make, model):
    """A KeyError of the library that holds the table."""
    frame = pd.DataFrame(ROWS, columns=["a", "b", "c"])
    with pytest.raises(ValueError, match="public rows must have the 3 columns of X by name; they have 2 of them"):
        model.set_params(public=Public(make({"a": frame["a"], "b": frame["b"]}))).fit(frame, LABELS)


@pytest.mark.parametrize("solve", [glm_gaussian, glm_bounded])
def test_moments_of_nldp_without_a_solution(solve):
    """A KeyError and a LinAlgError."""
    moments = NoisyMoments(np.eye(3), np.full(3, 0.1), 100)
    with pytest.raises(ValueError, match="family must be one of logistic"):
        solve(moments, ROWS, "normal")
    with pytest.raises(NoSolutionError, match="second moment of x is singular"):
        solve(NoisyMoments(np.zeros((3, 3)), np.ones(3), 100), np.zeros((5, 3)), "logistic")
    alike = np.array([[1.0, 1.0, 0.0], [1.0, 1.0 + 1e-15, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(NoSolutionError, match="second moment of x is singular"):
        solve(NoisyMoments(alike, np.ones(3), 100), np.zeros((5, 3)), "logistic")
    with pytest.raises(NoSolutionError, match="second moment of x is singular"):
        two_rounds(NoisyMoments(np.zeros((3, 3)), np.ones(3), 100), lambda coef: ROWS @ coef, "logistic")
