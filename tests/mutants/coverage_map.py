"""Which tests run which line: one pass of the tests with coverage's contexts, kept in
``build/mutants``.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from catalogue import PACKAGES, ROOT, Mutant

KEPT = ROOT / "build" / "mutants"
# Tests of the mutated packages, and those of the layers above that check their promises from
# outside.
TESTS = (
    "tests/unit/privacy",
    "tests/unit/noise",
    "tests/unit/rows",
    "tests/unit/curator",
    "tests/unit/test_walk.py",
    "tests/unit/test_select.py",
    "tests/unit/cli/test_budget.py",
    "tests/unit/algorithms/test_objective_certificate.py",
    "tests/unit/estimators/test_paying.py",
    "tests/unit/estimators/test_linear_paying.py",
)
# Lines that numba compiles run without being seen by coverage: these tests compile them.
COMPILED = {
    "src/discreet/rows/kernel_loops.py": ("tests/unit/rows/test_loops.py", "tests/unit/rows/test_kernels.py"),
    "src/discreet/rows/wide_kernels.py": ("tests/unit/rows/test_loops.py", "tests/unit/rows/test_wide.py"),
}
# Tests of the layers above, for mutants that survive a file's own tests: (start of its path, test
# files).
ABOVE = (
    ("rows/wide", ("tests/unit/estimators/test_sparse.py",)),
    ("rows/ranking", ("tests/unit/estimators/test_sparse.py",)),
    ("rows/support", ("tests/unit/estimators/test_sparse.py",)),
    ("rows/loss_ranking", ("tests/unit/estimators/test_search.py",)),
    ("rows/index_sums", ("tests/unit/estimators/test_relu.py",)),
    ("rows/histograms", ("tests/unit/estimators/test_relu.py", "tests/unit/algorithms/test_descent.py")),
    ("rows/class_scores", ("tests/unit/algorithms/test_multinomial.py",)),
    ("rows/contrasts", ("tests/unit/algorithms/test_multinomial.py",)),
    ("rows/evaluation", ("tests/unit/estimators/test_evaluation.py",)),
    ("rows/gradient", ("tests/unit/algorithms/test_descent.py",)),
    ("rows/weighted", ("tests/unit/estimators/test_weights.py",)),
    ("rows/used", ("tests/unit/estimators/test_rows_used.py",)),
    ("rows/", ("tests/unit/algorithms/test_solvers_agree.py", "tests/unit/estimators/test_linear.py")),
    ("curator/", ("tests/unit/cli/test_watching.py", "tests/unit/estimators/test_job.py")),
    ("privacy/cover", ("tests/unit/estimators/test_search_costs.py",)),
)


class Durations:
    """A pytest plugin that notes how long each test took, and whether it passed."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed.add(report.nodeid)


def run_with_coverage(workers: int) -> None:
    """Run all tests once and write what they cover and how long they take."""
    KEPT.mkdir(parents=True, exist_ok=True)
    settings = KEPT / "coveragerc"
    settings.write_text(f"[run]\ndata_file = {KEPT / 'coverage'}\n")
    code = (
        "import json, sys, pytest; sys.path.insert(0, sys.argv[1]); from coverage_map import Durations;"
        "d = Durations(); pytest.main(sys.argv[3:], plugins=[d]);"
        "json.dump({k: v for k, v in d.seconds.items() if k not in d.failed}, open(sys.argv[2], 'w'))"
    )
    arguments = [*TESTS, "-n", str(workers), "--dist", "worksteal", "-p", "no:cacheprovider"]
    arguments += [*(f"--cov=src/discreet/{package}" for package in PACKAGES), "--cov-context=test"]
    arguments += [f"--cov-config={settings}", "--cov-report="]
    here = Path(__file__).resolve().parent
    command = [sys.executable, "-c", code, str(here), str(KEPT / "durations.json"), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    subprocess.run(command, cwd=ROOT, check=True, env=environment)


class CoverageMap:
    """The tests that run a mutant's lines, those of its own package and the fast ones first."""

    def __init__(self) -> None:
        import coverage

        self._seconds: dict[str, float] = json.loads((KEPT / "durations.json").read_text())
        self._data = coverage.CoverageData(str(KEPT / "coverage"))
        self._data.read()

    def seconds(self, tests: list[str]) -> float:
        return sum(self._seconds[test] for test in tests)

    @lru_cache  # noqa: B019
    def _of_file(self, path: str) -> dict[int, set[str]]:
        lines = self._data.contexts_by_lineno(str(ROOT / path))
        kept: dict[int, set[str]] = {}
        for line, contexts in lines.items():
            kept[line] = {name for context in contexts if (name := context.rpartition("|")[0]) in self._seconds}
        if path in COMPILED:
            kept = {0: {test for test in self._seconds if test.startswith(COMPILED[path])}}
        return kept

    def covering(self, mutant: Mutant) -> list[str]:
        """Tests that run the statement; for what runs when the file is imported, those that run any
        of its lines.

        Of a file that is all declarations, those of its package.
        """
        lines = self._of_file(mutant.path)
        first, last = _statement(mutant)
        found = set().union(*(lines.get(line, set()) for line in range(first, last + 1)))
        found = found | lines.get(0, set()) if found or 0 in lines else set().union(set(), *lines.values())
        own = f"tests/unit/{mutant.path.split('/')[2]}"
        near = (own, "tests/unit/curator", "tests/unit/test_select")
        found = found or {test for test in self._seconds if test.startswith(near)}
        return sorted(found, key=lambda test: (not test.startswith(near), self._seconds[test]))


def above(mutant: Mutant) -> tuple[str, ...]:
    """Test files of the layers above that check a file's promises."""
    path = mutant.path.removeprefix("src/discreet/")
    return next((files for start, files in ABOVE if path.startswith(start)), ())


@lru_cache
def _statements(path: str) -> list[tuple[int, int]]:
    """First and last line of each statement; of one with a body, of its head."""
    spans = []
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if isinstance(body, list) else node.end_lineno or node.lineno
            spans.append((node.lineno, max(node.lineno, last)))
    return spans


def _statement(mutant: Mutant) -> tuple[int, int]:
    inside = [span for span in _statements(mutant.path) if span[0] <= mutant.line <= span[1]]
    return min(inside, key=lambda span: span[1] - span[0], default=(mutant.line, mutant.last_line))
