"""Fixtures for tests of the curator."""

from __future__ import annotations

import pytest

from discreet.privacy import Ledger


@pytest.fixture
def ledger(tmp_path, monkeypatch) -> Ledger:
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    return Ledger.create(tmp_path / "budget.ledger", epsilon=10.0, delta=1e-6)
