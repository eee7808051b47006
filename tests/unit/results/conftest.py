"""One fit of each kind of model, shared by all tests here."""

from __future__ import annotations

import pytest
from model_fits import fits


@pytest.fixture(scope="package")
def fitted():
    return fits()
