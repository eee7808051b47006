"""What follows from a release's answers is part of its file format, though it is not in the file."""

from __future__ import annotations

import numpy as np
import pytest
from small_plan import small_plan

from discreet.parties.answers import Stored, asked

VALUES = [
    [[9.0, 30.0, -20.0]],
    [[60.0, 5.0], [5.0, 45.0]],
    [[150.0, 160.0]],
    [[-128.0, -64.0], [0.0, 64.0], [128.0, 192.0]],
]
NOISE = [11.89093705737106, 66.69073621404745, 432.0826355200765, 49.62102992191621]


def test_what_follows_from_answers_stays_as_it_is_in_this_format():
    """If this fails because a share, a prior or a weight was changed, files of parties with the
    version before would be misread: raise FORMAT in release_file.py, then the numbers here.
    """
    plan = small_plan(mixes=3)
    values = [(np.array(value), noise) for value, noise in zip(VALUES, NOISE, strict=True)]
    stored = Stored(values, None, 200, False, "the file")
    fields = asked(stored, plan, plan.party("a"), 200)
    stored.check_used_up()
    expected = {
        "count": 199.227497624338,
        "centre": [0.15058162, -0.10038775],
        "centre_noise": [0.05968522, 0.05968522],
        "scale": [0.4657427, 0.45202469],
        "weight": [1.0, 1.0],
        "kept": [0.91947077, 0.91953949],
    }
    for name, value in expected.items():
        assert fields[name] == pytest.approx(value, rel=1e-6), name
    assert fields["mixes"].noise_std == pytest.approx(NOISE[3], rel=1e-12)
    assert stored.guarantee.mu <= plan.party("a").budget.mu
