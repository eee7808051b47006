"""Tests pass on a machine of any speed."""

from __future__ import annotations

from hypothesis import HealthCheck, settings


def test_examples_have_no_time_limit():
    """hypothesis' own is 200 ms, which an example exceeds while loops are compiled."""
    assert settings.default.deadline is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check
