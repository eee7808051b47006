"""A pass row by row: each row is bounded and used once, with the same bits on every engine."""

from __future__ import annotations

import math
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import GuaranteeError, Public, ReLURegressor
from discreet.algorithms.printed_glmtron import printed_multiplier
from discreet.audit import replay
from discreet.curator.walk import walk_scale
from discreet.domain import Domain, Numeric
from discreet.privacy import GDP, Budget, amplified
from discreet.rows.walk import LONGEST, WalkedRows

pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
NUMBERS = st.floats(allow_nan=True, allow_infinity=True, width=64)


@given(st.lists(NUMBERS, min_size=3, max_size=3), NUMBERS, NUMBERS, st.floats(1e-50, 1e50))
def test_no_row_is_longer_than_its_limit_whatever_it_holds(cells, label, weight, clip):
    z = np.array([cells])
    with np.errstate(all="ignore"):
        length = np.sqrt((z**2).sum(axis=1))
        units = WalkedRows(z, z, length, np.array([label])).units(0, np.ones(3), lambda y, eta: weight, clip)
    whole = [int(one) for one in units]
    assert sum(one**2 for one in whole) <= LONGEST**2


def test_a_row_at_its_limit_is_about_that_long_and_a_short_one_is_itself():
    z = np.array([[3.0, 4.0], [0.03, 0.04]])
    rows = WalkedRows(z, z, np.array([5.0, 0.05]), np.zeros(2))
    far, near = (rows.units(row, np.zeros(2), lambda y, eta: 2.0, 1.0) for row in (0, 1))
    assert math.hypot(*far) == pytest.approx(LONGEST, rel=1e-5)
    assert near / LONGEST == pytest.approx([0.06, 0.08], rel=1e-4)


def test_the_noise_is_what_one_replaced_row_needs():
    assert walk_scale(GDP(0.5)) == pytest.approx(2 * LONGEST / 0.5)


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 3))
    return X, np.clip(np.maximum(X @ [0.5, -0.3, 0.2] + 0.2, 0) + 0.05 * rng.normal(size=n), 0, 1)


KNOWN = Public(rows=table(200, 1)[0], y=table(200, 1)[1])


def make(solver="glmtron", epsilon=0.5, delta=1e-4, **more):
    return ReLURegressor(
        epsilon=epsilon, delta=delta, bounds_X=(-1, 1), bounds_y=(0, 1), public=KNOWN, solver=solver, **more
    )


@pytest.mark.parametrize(("solver", "calibration"), [("glmtron", "tight"), ("glmtron", "paper"), ("sgd", "tight")])
def test_rows_in_memory_and_in_a_file_give_the_same_bits(solver, calibration, tmp_path):
    X, y = table()
    pq.write_table(pa.table({"x0": X[:, 0], "x1": X[:, 1], "x2": X[:, 2], "y": y}), tmp_path / "rows.parquet")
    domain = Domain((*(Numeric(f"x{i}", -1, 1) for i in range(3)), Numeric("y", 0, 1)))
    asked = {"epsilon": 0.5, "delta": 1e-4, "domain": domain, "solver": solver, "calibration": calibration}
    frames = pa.table({f"x{i}": KNOWN.rows[:, i] for i in range(3)}), KNOWN.y
    model = ReLURegressor(**asked, public=Public(rows=frames[0], y=frames[1]), random_state=1)
    read = model.fit_table(str(tmp_path / "rows.parquet"), target="y").coef_
    held = model.fit_table(pq.read_table(tmp_path / "rows.parquet").to_pandas(), target="y").coef_
    assert np.array_equal(read, held)


def test_each_row_answers_once():
    X, y = table()
    fitted = make().fit(X, y)
    assert sorted(release.part for release in fitted.privacy_.releases) == list(range(400))
    assert fitted.privacy_.epsilon(1e-4) <= 0.5


@pytest.mark.parametrize(("solver", "calibration"), [("glmtron", "tight"), ("glmtron", "paper"), ("sgd", "tight")])
@pytest.mark.parametrize(
    "odd", [([1.0, 1, 1], 1.0), ([np.nan, 0, 0], 0.0), ([np.inf, 0, 0], np.inf), ([0.0] * 3, np.nan)]
)
def test_no_row_tells_more_than_was_claimed(solver, calibration, odd):
    X, y = table(200 if calibration == "tight" else 400)
    other, labels = X.copy(), y.copy()
    other[7], labels[7] = odd
    report = replay(make(solver, calibration=calibration), (X, y), (other, labels))
    assert report.passed, str(report)


def test_the_printed_multiplier_is_that_of_its_theorems_and_promises_no_less_than_was_asked_for():
    budget = Budget.of(0.2, 1e-6)
    multiplier = printed_multiplier(budget, 10_000)
    assert amplified(1 / multiplier, 10_000, 1e-6, halvings=8).epsilon <= 0.2
    # Theorem 1's own form, log(N / delta) / (epsilon sqrt(N)), with a constant between 4 and 40.
    assert 4 < multiplier / (math.log(10_000 / 1e-6) / (0.2 * 100)) < 40
    with pytest.raises(GuaranteeError, match="Theorem 1 needs more rows"):
        printed_multiplier(budget, 50)


def test_the_printed_pass_starts_at_zero_and_returns_the_mean_of_all_iterates():
    X, y = table(300)
    fitted = make(calibration="paper", random_state=3).fit(X, y)
    assert np.array_equal(fitted.path_[0], np.zeros(4))
    found = np.concatenate([[fitted.intercept_], fitted.coef_])
    assert found == pytest.approx(np.mean(fitted.path_, axis=0), rel=0.1, abs=1e-3)


def test_sixteen_thousand_rows_take_at_most_three_seconds():
    """Of processor time, so that a busy machine raises no alarm."""
    X, y = table(16_000)
    start = time.process_time()
    make(delta=1e-5).fit(X, y)
    assert time.process_time() - start < 3
