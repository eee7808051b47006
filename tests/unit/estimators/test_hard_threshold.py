"""NoisyHT: the columns with the largest sums, what they are, what they cost."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

from discreet import BudgetError, Ledger, noisy_hard_threshold
from discreet.audit import replay
from discreet.audit.functions import LargestColumns

ASKED = {"sparsity": 3, "bound": 2.0, "epsilon": 1.0, "delta": 1e-6}


def rows(n=5000, columns=50, seed=0):
    rng = np.random.default_rng(seed)
    X = np.clip(rng.normal(0, 0.5, (n, columns)), -2, 2)
    X[:, [4, 11, 30]] += [0.5, -0.7, 0.6]
    return np.clip(X, -2, 2)


X = rows()


@pytest.mark.parametrize("calibration", ["tight", "paper"])
def test_the_largest_sums_are_found_and_released(calibration):
    found = noisy_hard_threshold(X, **ASKED | {"epsilon": 2.0}, calibration=calibration)
    assert found.indices.tolist() == [4, 11, 30]
    assert found.names == ("x4", "x11", "x30")
    assert found.sums == pytest.approx(X[:, found.indices].sum(axis=0), abs=6 * found.noise_std)
    assert found.means == pytest.approx(found.sums / len(X))
    assert found.privacy.epsilon(1e-6) <= 2.0


def test_tight_noise_is_less_than_printed():
    tight, printed = (noisy_hard_threshold(X, **ASKED, calibration=one) for one in ("tight", "paper"))
    # lambda 2 sqrt(3 s ln(1/delta)) / epsilon with lambda = 2 bound: a Laplace variable's deviation
    # is sqrt(2) of it.
    scale = 2 * 2.0 * 2 * math.sqrt(3 * 3 * math.log(1e6))
    assert printed.noise_std == pytest.approx(math.sqrt(2) * scale, rel=1e-3)
    assert tight.noise_std < printed.noise_std / 2
    assert printed.privacy.epsilon(1e-6) < 1.0


def test_weights_make_it_the_correlations_with_a_label():
    label = np.clip(X[:, 7] * 3 + np.random.default_rng(1).normal(size=len(X)), -4, 4)
    found = noisy_hard_threshold(X, **ASKED | {"sparsity": 1, "epsilon": 5.0}, weights=label, weight_bound=4.0)
    assert found.indices.tolist() == [7]
    assert found.sums[0] == pytest.approx(float(label @ X[:, 7]), abs=6 * found.noise_std)
    again = noisy_hard_threshold(sparse.csr_matrix(X), **ASKED | {"sparsity": 1}, weights=label, weight_bound=4.0)
    assert again.indices.tolist() == [7]


def test_cells_and_weights_beyond_their_bounds_are_cut_and_missing_ones_count_nothing():
    wild = np.zeros((400, 3))
    wild[:, 0], wild[:, 1], wild[:200, 2] = 1e9, np.nan, 2.0
    found = noisy_hard_threshold(wild, **ASKED | {"epsilon": 50.0})
    assert found.sums == pytest.approx([800.0, 0.0, 400.0], abs=6 * found.noise_std)


def test_it_is_paid_from_the_ledger(tmp_path):
    ledger = Ledger.create(tmp_path / "budget.ledger", epsilon=1.2, delta=1e-6)
    noisy_hard_threshold(X, **ASKED, ledger=ledger)
    assert [entry.label for entry in ledger.history] == ["hard threshold"]
    with pytest.raises(BudgetError):
        noisy_hard_threshold(X, **ASKED, ledger=ledger)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"sparsity": 0}, "sparsity must be a whole number between 1 and the number of columns 50, got 0"),
        ({"sparsity": 51}, "sparsity must be"),
        ({"bound": 0}, "bound must be a finite number > 0"),
        ({"weight_bound": -1}, "weight_bound must be"),
        ({"weights": [1.0, 2.0]}, "weights must have one number for each of the 5000 rows"),
        ({"calibration": "loose"}, "calibration must be one of"),
        ({"calibration": "paper", "neighbours": "add_or_remove_one"}, "public number of rows"),
    ],
)
def test_wrong_parameters_are_named_before_anything_is_spent(wrong, message, tmp_path):
    ledger = Ledger.create(tmp_path / "budget.ledger", epsilon=3, delta=1e-6)
    with pytest.raises(ValueError, match=message):
        noisy_hard_threshold(X, **ASKED | wrong, ledger=ledger)
    assert ledger.history == []


def test_means_need_a_public_number_of_rows():
    found = noisy_hard_threshold(X, **ASKED, neighbours="add_or_remove_one")
    with pytest.raises(ValueError, match="means need a public number of rows"):
        found.means


@pytest.mark.parametrize("calibration", ["tight", "paper"])
def test_the_worst_row_loses_no_more_than_is_claimed(calibration):
    """All cells and the label at their ends: the selection loses nearly all that it may."""
    table, y = X[:500] / 2, np.ones(500)
    asked = {"epsilon": 1.0, "delta": 1e-6, "bounds_X": (-1, 1), "bounds_y": (-1, 1), "neighbours": "replace_one"}
    signs = np.tile([1.0, -1.0], 25)
    pair = (np.vstack([table, signs]), np.append(y, 1.0)), (np.vstack([table, signs]), np.append(y, -1.0))
    report = replay(LargestColumns(**asked, calibration=calibration), *pair)
    assert report.passed, str(report)
    assert report.release_efficiencies[0] > 0.4
