"""Every fit is paid in one charge: what it releases stays within that, and exactly what a ledger
holds is enough.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone

from discreet import Ledger
from discreet.audit import catalogue
from discreet.audit.rows import Box
from discreet.audit.search import has_two_labels
from discreet.errors import BudgetError, DiscreetError
from discreet.privacy import GDP, Composition

EPSILON, DELTA = 1.0, 1e-6


@pytest.fixture(autouse=True)
def state_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))


def fitted(variant, ledger):
    """The variant's fit on a few rows, paid from this ledger; skipped where the combination is not
    offered.
    """
    made = variant.make(EPSILON, DELTA)
    rows = Box.of(made, 4).scattered_rows(200, has_two_labels(made), np.random.default_rng(0))
    paying = made.estimator if variant.searched else made
    if "ledger" not in paying.get_params():
        pytest.skip("local reports are paid for on each device")
    paying.set_params(ledger=ledger)
    try:
        return made.fit(*rows), rows
    except (DiscreetError, ValueError) as error:
        if not catalogue.is_a_rule(error):
            raise
        assert ledger.history == [], "a fit that is refused by a rule has spent something"
        pytest.skip(f"not offered: {error}")


@pytest.mark.parametrize("variant", [pytest.param(one, id=one.name) for one in catalogue.combinations()])
def test_a_fit_at_all_that_a_ledger_holds_succeeds_within_its_one_charge(variant, tmp_path):
    ledger = Ledger.create(tmp_path / "budget.ledger", epsilon=EPSILON, delta=DELTA)
    made, rows = fitted(variant, ledger)
    (entry,) = ledger.history
    gaussian = sum(Fraction(cost.mu) ** 2 for cost in entry.costs if isinstance(cost, GDP))
    others = Counter(cost for cost in entry.costs if not isinstance(cost, GDP))
    drawn = Counter(cost for _, cost in entry.releases)
    assert drawn
    left = (drawn - others).elements()
    if variant.solvers is None:  # else the refit is paid for as Gaussian noise that covers whichever was chosen
        assert drawn & others == others
        assert sum(Fraction(cost.mu) ** 2 for cost in left) <= gaussian
    else:
        assert sum(Fraction(cost.mu) ** 2 for cost in left if math.isfinite(cost.mu)) <= gaussian
    assert made.privacy_.epsilon(DELTA) <= Composition(entry.costs).epsilon(DELTA) * (1 + 1e-9)
    assert made.privacy_.epsilon(DELTA) <= EPSILON * (1 + 1e-9)
    if not others:
        assert ledger.remaining.mu == 0
    with pytest.raises(BudgetError, match="nothing was spent"):
        clone(made).fit(*rows)
    assert ledger.history == [entry]
