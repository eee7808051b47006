"""Any kind of task, for promises that all of them keep."""

from __future__ import annotations

import pytest
from local_tasks import KINDS, kind


@pytest.fixture(params=sorted(KINDS))
def any_task(request):
    return kind(request.param)


@pytest.fixture(params=sorted(name for name in KINDS if "gauss" in name or "paper" in name or name == "bounded"))
def gaussian_task(request):
    return kind(request.param)


@pytest.fixture(params=["cross", "both", "pooled", "no_intercept", "category_label", "mixed"])
def unit_task(request):
    return kind(request.param)
