"""Helpers for tests of a ledger's parts."""

from __future__ import annotations

from pathlib import Path

from discreet.privacy import (
    Ledger,
)


def beside(ledger: Ledger, ending: str) -> Path:
    return ledger.path.with_name(ledger.path.name + ending)
