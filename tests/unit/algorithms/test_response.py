"""The response of clipped scores, from releases that show different parts of it."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.algorithms.parts.noisy_matrix import Seen
from discreet.algorithms.parts.response import Response


def test_a_later_curvature_replaces_earlier_ones_where_they_clearly_differ():
    """Rows far out in one column have larger errors, and fewer of them are kept: the moment of all
    rows hid this, and the slope's sampling error was 15 % too small.
    """
    response = Response(np.eye(3), [Seen(np.eye(3), 0.01)])
    changed = np.eye(3)
    changed[0, 1] = changed[1, 0] = -0.2
    response.see(changed, Seen(changed, 0.03), 1, replaces=True)
    assert response.released().curvature == pytest.approx(changed)
