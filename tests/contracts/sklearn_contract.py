"""One check of scikit-learn's contract, which may be expected to fail."""

from __future__ import annotations

import pytest


def name_of(check) -> str:
    return getattr(check, "func", check).__name__


def run_check(estimator, check, expected: dict[str, str]) -> None:
    """Run it; what is expected to fail ends here.

    For a failure that leaves a test pytest parses all of scikit-learn's checks, expected or not:
    that took half of the time of these tests.
    """
    failed = False
    try:
        check(estimator)
    except Exception:
        if name_of(check) not in expected:
            raise
        failed = True
    if failed:
        pytest.xfail(expected[name_of(check)])
