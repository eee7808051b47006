"""Spark frames of a classic session."""

from __future__ import annotations

import pytest
import sessions
from spark_contract import SparkContract


@pytest.fixture(scope="module")
def session():
    made = sessions.classic()
    yield made
    made.stop()


class TestClassic(SparkContract):
    pass
