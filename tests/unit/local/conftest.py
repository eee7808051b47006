"""Any kind of task, for promises that all of them keep."""

from __future__ import annotations

import pytest
from local_tasks import KINDS


@pytest.fixture(params=sorted(KINDS))
def any_task(request):
    return KINDS[request.param]()
