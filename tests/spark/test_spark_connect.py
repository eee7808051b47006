"""Spark frames of a Connect session."""

from __future__ import annotations

import pytest
import sessions
from spark_contract import SparkContract


@pytest.fixture(scope="module")
def session():
    made = sessions.connect()
    yield made
    made.stop()


class TestConnect(SparkContract):
    pass
