"""No estimator's test touches the user's own state."""

from __future__ import annotations

import pytest

from discreet import Ledger


@pytest.fixture(autouse=True)
def state_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger.create(tmp_path / "budget.ledger", epsilon=4.0, delta=1e-6)
