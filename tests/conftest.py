"""Shared by all tests: no test touches the user's state folder, and BLAS uses one thread.

hypothesis draws the same examples in every run, so that failures are reproducible;
``HYPOTHESIS_PROFILE=explore`` draws new ones. No example has a time limit: on a busy machine, or
while loops are compiled, any of them would exceed it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

ANY_SPEED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("seeded", derandomize=True, **ANY_SPEED)
settings.register_profile("explore", derandomize=False, **ANY_SPEED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "seeded"))

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # experiments and benchmarks are run from the root, and tested as they are run
sys.path.insert(0, str(ROOT / "tests"))

pytest_plugins = ["seeded_noise"]

# Temporary folders in memory, where there is room: a ledger waits for the disk several times a
# charge. Kills and races are those of processes, which files in memory outlive.
MEMORY = Path("/dev/shm")
if MEMORY.is_dir() and os.access(MEMORY, os.W_OK):
    found = os.statvfs(MEMORY)
    if found.f_bavail * found.f_frsize > 4 * 2**30 and not found.f_flag & os.ST_NOEXEC:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


@pytest.fixture(autouse=True)
def _own_state_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
