"""What a ledger grants, refuses and stores."""

from __future__ import annotations

import math
import tempfile
import threading
from dataclasses import FrozenInstanceError
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.errors import BudgetError, LedgerError
from discreet.privacy import GDP, ZCDP, Approximate, Budget, Entry, Ledger, Pure

EPSILON, DELTA = 1.0, 1e-6


@pytest.fixture(autouse=True)
def state_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger.create(tmp_path / "cohort.ledger", epsilon=EPSILON, delta=DELTA, note="board of 3 May")


def test_a_new_ledger_has_everything_left(ledger):
    assert ledger.total == Budget.of(EPSILON, DELTA)
    assert ledger.remaining.mu == ledger.total.mu
    assert (ledger.spent.mu, ledger.spent.epsilon, ledger.history) == (0.0, 0.0, [])
    assert ledger.note == "board of 3 May"


def test_one_charge_may_spend_the_budget_exactly(ledger):
    ledger.charge(GDP(ledger.total.mu), label="all of it")
    assert ledger.remaining.mu == 0
    assert ledger.spent.mu == ledger.total.mu
    assert ledger.spent.epsilon <= EPSILON
    with pytest.raises(BudgetError):
        ledger.charge(GDP(5e-324), label="the smallest number there is")


def test_one_ulp_more_than_the_budget_is_refused(ledger):
    with pytest.raises(BudgetError):
        ledger.charge(GDP(math.nextafter(ledger.total.mu, math.inf)), label="one ulp too much")
    assert ledger.history == []


@pytest.mark.parametrize("shares", [[1, 1], [1] * 7, [0.1, 0.2, 0.7], [1e-9, 1], [3, 1, 4, 1, 5]])
def test_all_shares_of_a_split_budget_fit(ledger, shares):
    for share in ledger.total.split(shares):
        ledger.charge(share, label="share")
    assert ledger.spent.mu == pytest.approx(ledger.total.mu, rel=1e-12)


def test_what_remains_can_be_spent_and_one_ulp_more_cannot(ledger):
    ledger.charge(GDP(ledger.total.mu / 3), label="first")
    left = ledger.remaining.mu
    with pytest.raises(BudgetError):
        ledger.charge(GDP(math.nextafter(left, math.inf)), label="one ulp too much")
    ledger.charge(GDP(left), label="the rest")


@pytest.mark.parametrize("mu", [5e-324, 1e-300, 1e-160, 1e-9, 0.1])
def test_a_single_charge_is_what_was_spent_however_small(ledger, mu):
    ledger.charge(GDP(mu), label="small")
    assert ledger.spent.mu == mu
    assert ledger.remaining.mu < ledger.total.mu


def test_a_refusal_says_what_was_asked_and_what_is_left_and_where(ledger):
    ledger.charge(GDP(0.2), label="gram")
    with pytest.raises(BudgetError) as refusal:
        ledger.charge(GDP(0.2), label="cross moment")
    message = str(refusal.value)
    for fact in ("'cross moment'", "mu 0.2)", f"mu {ledger.remaining.mu:.4g}", str(ledger.path), "nothing was spent"):
        assert fact in message


def test_a_refusal_in_the_last_digit_shows_that_digit(ledger):
    mu = math.nextafter(ledger.total.mu, math.inf)
    with pytest.raises(BudgetError, match=f"exactly, mu {mu!r} of {ledger.total.mu!r}"):
        ledger.charge(GDP(mu), label="one ulp too much")


def test_refused_and_reading_operations_write_nothing(ledger, tmp_path):
    def files():
        paths = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".lock"]
        return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}

    before = files()
    with pytest.raises(BudgetError):
        ledger.charge(GDP(9.0), label="too much")
    assert ledger.spent.mu == 0
    assert ledger.remaining == ledger.total
    assert ledger.history == []
    assert ledger.stored("x") is None
    assert files() == before


def test_pure_costs_are_paid_by_their_dominating_gaussian_first(ledger):
    ledger.charge(Pure(0.01), label="small selection")
    assert ledger.spent.mu == pytest.approx(Pure(0.01).mu, rel=1e-12)


def test_pure_costs_that_fit_only_by_exact_composition_are_granted(ledger):
    assert Pure(0.5).mu > ledger.total.mu
    ledger.charge(Pure(0.5), label="half")
    ledger.charge(Pure(0.5), label="other half")
    with pytest.raises(BudgetError):
        ledger.charge(Pure(0.5), label="third half")
    assert ledger.spent.epsilon <= EPSILON


def test_what_remains_beside_mixed_costs_can_be_spent(ledger):
    ledger.charge(ZCDP(1e-3), label="zCDP")
    ledger.charge(Approximate(0.1, 1e-8), label="(epsilon, delta)")
    left = ledger.remaining
    assert 0 < left.mu < ledger.total.mu
    ledger.charge(GDP(left.mu), label="the rest")
    with pytest.raises(BudgetError):
        ledger.charge(GDP(left.mu / 2), label="too much")
    assert 0 < ledger.spent.mu <= ledger.total.mu


def test_an_infinite_cost_is_refused(ledger):
    with pytest.raises(BudgetError):
        ledger.charge(GDP(math.inf), label="no noise")


def test_history_tells_every_charge_in_order(ledger):
    first = ledger.charge(GDP(0.1), label="gram")
    second = ledger.charge(Pure(0.01, bounded_range=True), label="top columns", key="k-2")
    ledger.store(second, {"columns": [1, 2]})
    one, two = ledger.history
    assert (one.number, one.label, one.cost, one.key, one.stored) == (1, "gram", GDP(0.1), first, False)
    assert (two.number, two.label, two.cost, two.key, two.stored) == (
        2,
        "top columns",
        Pure(0.01, bounded_range=True),
        "k-2",
        True,
    )
    assert one.time.endswith("+00:00")
    assert isinstance(one, Entry)
    with pytest.raises(FrozenInstanceError):
        one.label = "other"


def test_the_same_key_pays_once(ledger):
    for _ in range(3):
        assert ledger.charge(GDP(0.1), label="gram", key="k") == "k"
    assert len(ledger.history) == 1


def test_a_paid_key_is_still_honoured_when_nothing_is_left(ledger):
    cost = GDP(ledger.total.mu)
    ledger.charge(cost, label="all", key="k")
    assert ledger.charge(cost, label="all", key="k") == "k"


@pytest.mark.parametrize(("cost", "label"), [(GDP(0.1), "other"), (GDP(0.11), "gram"), (Pure(0.1), "gram")])
def test_the_same_key_for_another_release_is_refused(ledger, cost, label):
    ledger.charge(GDP(0.1), label="gram", key="k")
    with pytest.raises(LedgerError, match="key 'k' is the key of another release"):
        ledger.charge(cost, label=label, key="k")


def test_the_result_stored_first_wins(ledger):
    key = ledger.charge(GDP(0.1), label="gram")
    assert ledger.stored(key) is None
    assert ledger.store(key, {"value": 1}) == {"value": 1}
    assert ledger.store(key, {"value": 2}) == {"value": 1}
    assert ledger.stored(key) == {"value": 1}


def test_results_keep_huge_integers_and_floats_exactly(ledger):
    result = {"sum": [2**300 + 1, -(2**70)], "scale": 0.1, "text": "Zoë", "nested": {"b": [[]], "a": None}}
    key = ledger.charge(GDP(0.1), label="gram")
    assert ledger.store(key, result) == result
    assert Ledger(ledger.path).stored(key) == result


def test_a_result_without_a_charge_is_refused(ledger):
    with pytest.raises(LedgerError, match="never charged"):
        ledger.store("unknown", {})


def test_concurrent_retries_in_threads_return_the_same_result(ledger):
    returned = []

    def retry(draw):
        key = ledger.charge(GDP(0.1), label="gram", key="k")
        returned.append(ledger.store(key, {"draw": draw}))

    threads = [threading.Thread(target=retry, args=(draw,)) for draw in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(returned) == 12
    assert all(result == returned[0] for result in returned)
    assert len(ledger.history) == 1


costs = st.one_of(
    st.floats(0, 0.3).map(GDP), st.floats(1e-4, 0.02).map(Pure), st.sampled_from([GDP(0.0), GDP(5e-324), GDP(0.1)])
)


@settings(max_examples=15, deadline=None)
@given(st.lists(costs, max_size=8))
@example([GDP(1.8e-156), Pure(0.015625)])
def test_no_sequence_of_charges_exceeds_the_total(costs):
    with tempfile.TemporaryDirectory() as directory:
        ledger = Ledger.create(Path(directory) / "x.ledger", epsilon=EPSILON, delta=DELTA)
        granted = []
        for cost in costs:
            try:
                ledger.charge(cost, label="x")
            except BudgetError:
                continue
            granted.append(cost)
        assert [entry.cost for entry in ledger.history] == granted
        squares = sum(Fraction(cost.mu) ** 2 for cost in granted)
        if all(isinstance(cost, GDP) for cost in granted):
            assert squares <= Fraction(ledger.total.mu) ** 2
        assert ledger.spent.epsilon <= EPSILON
        assert Fraction(ledger.spent.mu) ** 2 >= min(squares, Fraction(ledger.total.mu) ** 2)
