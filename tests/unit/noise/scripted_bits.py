"""Words chosen by a test, to reach decisions that chance would not reach in a lifetime."""

from __future__ import annotations

import numpy as np


class ScriptedBits:
    """Hands out the given words, then fails."""

    def __init__(self, words):
        self.left = list(words)

    def words(self, count):
        taken, self.left = self.left[:count], self.left[count:]
        assert len(taken) == count, "more words were asked for than the script has"
        return np.array(taken, dtype=np.uint64)
