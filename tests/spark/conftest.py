"""Spark tests need Java 17 and ``pip install 'discreet[spark]'``: ``make test-spark`` runs them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if os.environ.get("DISCREET_TEST_SPARK") == "1":
    CONTRACTS = str(Path(__file__).parent.parent / "contracts")
    sys.path.append(CONTRACTS)
    # What workers on this machine import is what this process does, the modules of tests included.
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [CONTRACTS, str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
else:
    collect_ignore_glob = ["test_*.py"]
