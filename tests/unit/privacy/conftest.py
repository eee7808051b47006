"""Fixtures for tests of ledgers."""

from __future__ import annotations

import pytest

from discreet.privacy import (
    Ledger,
)


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger.create(tmp_path / "cohort.ledger", epsilon=1, delta=1e-6, note="of May")
