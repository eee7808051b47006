"""One mutant's trial: a forked process, in a copy of the sources with the change in it, runs the
tests that cover it.

Libraries are imported before the fork, discreet after it. So a trial costs its tests and half a
second.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from catalogue import ROOT, Mutant
from coverage_map import COMPILED

MEMORY = 6 * 2**30
UNCHANGED = Mutant("", "Unchanged", 0, 0, 0)


@dataclass(frozen=True)
class Outcome:
    """killed: a test failed or the package could not be imported; timeout: the tests did not end;
    survived; bare: no test runs the line.
    """

    mutant: Mutant
    status: str
    tests: int
    seconds: float
    killer: str = ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class Place:
    """A copy of the sources in which one mutant at a time is tried."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source = folder / "src"
        if folder.exists():
            shutil.rmtree(folder)
        shutil.copytree(ROOT / "src", self.source)

    def put(self, mutant: Mutant | None) -> None:
        if mutant is not None:
            target = self.folder / mutant.path
            target.write_text(mutant.source())
            for compiled in target.parent.glob(f"__pycache__/{target.stem}.*.pyc"):
                compiled.unlink()

    def restore(self, mutant: Mutant | None) -> None:
        if mutant is not None:
            shutil.copy2(ROOT / mutant.path, self.folder / mutant.path)
        for left in ("tmp", "home", "numba"):
            shutil.rmtree(self.folder / left, ignore_errors=True)


class Trial:
    """A running trial; ``poll`` says how it ended."""

    def __init__(
        self, place: Place, mutant: Mutant | None, tests: list[str], limit: float, files: tuple[str, ...] = ()
    ) -> None:
        self.place, self.mutant, self.tests = place, mutant, tests
        self._begun = time.monotonic()
        self._limit = limit
        self._told = place.folder / "told.json"
        self._told.unlink(missing_ok=True)
        place.put(mutant)
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            code = 70
            try:
                code = _run(place, mutant, _Chosen(tests, files), self._told, limit)
            finally:
                os._exit(code)

    def poll(self) -> Outcome | None:
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        spent = time.monotonic() - self._begun
        if pid == 0 and spent < self._limit:
            return None
        end_of_session(self.pid)
        if pid == 0:
            os.waitpid(self.pid, 0)
            word, killer = "timeout", ""
        else:
            word, killer = self._verdict(status)
        self.place.restore(self.mutant)
        return Outcome(self.mutant or UNCHANGED, word, len(self.tests), round(spent, 2), killer)

    def _verdict(self, status: int) -> tuple[str, str]:
        told = json.loads(self._told.read_text()) if self._told.exists() else {}
        if told.get("code") == 0:
            return "survived", ""
        if "killer" in told:
            return "killed", told["killer"]
        if os.WIFSIGNALED(status):
            return "killed", f"signal {os.WTERMSIG(status)}"
        return "error", json.dumps(told)


def end_of_session(pid: int) -> None:
    """End what the trial has started: its process group is its own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


class _Chosen:
    """A pytest plugin: the chosen tests in the given order, then all of ``files``; tells what
    failed.
    """

    def __init__(self, tests: list[str], files: tuple[str, ...]) -> None:
        self._place = {test: number for number, test in enumerate(tests)}
        self._whole = files
        self.files = list(dict.fromkeys([*(test.partition("::")[0] for test in tests), *files]))
        self.failed: list[str] = []

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        kept = [item for item in items if item.nodeid in self._place or item.nodeid.startswith(self._whole)]
        items[:] = sorted(kept, key=lambda item: self._place.get(item.nodeid, len(self._place)))

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(f"import of {report.nodeid}")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(report.nodeid)


def _run(place: Place, mutant: Mutant | None, chosen: _Chosen, told: Path, limit: float) -> int:
    import pytest

    _settle(place, mutant, limit)
    # The reason of a failure is not needed, and rewriting asserts takes as long as most tests.
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov", "--assert=plain"]
    options += [f"--basetemp={place.folder / 'tmp'}"]
    code = int(pytest.main([*chosen.files, *options, *(["-x"] if mutant else [])], plugins=[chosen]))
    verdict: dict[str, Any] = {"code": code}
    if chosen.failed:
        verdict["killer"] = chosen.failed[0] if mutant else " ".join(chosen.failed)
    told.write_text(json.dumps(verdict))
    return code


def _settle(place: Place, mutant: Mutant | None, limit: float) -> None:
    assert "discreet" not in sys.modules  # a mutant must be imported after it was made
    os.chdir(ROOT)
    quiet = os.open(place.folder / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 10, int(limit) + 10))
    sys.path.insert(0, str(place.source))
    sys.dont_write_bytecode = True
    # Compiled loops of one mutant must not be found by the next: numba knows a file by its time and
    # length.
    compiled = place.folder / "numba" if mutant is not None and mutant.path in COMPILED else place.folder / "compiled"
    home = place.folder / "home"
    home.mkdir(exist_ok=True)
    os.environ |= {
        "PYTHONPATH": str(place.source),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(home),
        "NUMBA_CACHE_DIR": str(compiled),
    }
    import hypothesis
    import numba

    numba.config.CACHE_DIR = str(compiled)
    # A failing example need not be made small. Tests' conftest.py loads the profile of this name.
    phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
    hypothesis.settings.register_profile("mutants", phases=phases, database=None, derandomize=True)
    os.environ["HYPOTHESIS_PROFILE"] = "mutants"


def warm() -> None:
    """Import what tests need, and nothing of discreet."""
    import duckdb
    import hypothesis.strategies
    import numba
    import opendp.prelude
    import pandas
    import polars
    import pyarrow.dataset
    import pyarrow.parquet
    import pytest
    import scipy.optimize
    import scipy.stats
    import sklearn.linear_model
    import sklearn.model_selection
    import sklearn.pipeline
    import sklearn.utils.estimator_checks
    from dp_accounting.pld import privacy_loss_distribution

    assert all((duckdb, numba, opendp, pandas, polars, pyarrow, pytest, scipy, sklearn, privacy_loss_distribution))
    assert hypothesis.strategies
