"""Many fits on two data sets: in parallel processes, with a progress bar, and resumable from a
state file.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from discreet.audit.resume import code_digest
from discreet.audit.visible import visible_numbers

Outputs = NDArray[np.float64]

# Fits given to a process at a time: few for a smooth progress bar, many for little overhead.
_BATCH = 20
_SAVE_SECONDS = 5.0


def collect(
    fit: Callable[[Any], Any],
    worlds: tuple[Any, Any],
    runs: int,
    *,
    workers: int | None = None,
    progress: bool = False,
    state: str | os.PathLike[str] | None = None,
    label: str = "audit",
) -> tuple[Outputs, Outputs]:
    """The outputs of ``runs`` fits on each of two data sets, one row of numbers each.

    ``state`` is a file to which outputs are saved; outputs of the same fit and data are reused.
    """
    store = _Store(None if state is None else Path(state), _key(fit, worlds))
    done = store.load()
    missing = [(world, runs - len(done[world])) for world in (0, 1)]
    batch = getattr(fit, "batch", _BATCH)
    jobs = [(world, min(batch, left - start)) for world, left in missing for start in range(0, left, batch)]
    bar = Bar(label, 2 * runs, sum(map(len, done)) if progress else -1)
    saved = time.monotonic()
    for world, outputs in _results(fit, worlds, jobs, workers):
        done[world].extend(outputs)
        bar.show(sum(map(len, done)))
        if time.monotonic() - saved > _SAVE_SECONDS:
            store.save(done)
            saved = time.monotonic()
    if jobs:
        store.save(done)
    bar.close()
    first, second = (outputs[:runs] for outputs in done)
    return _table(first, second)


def _results(
    fit: Callable[[Any], Any], worlds: tuple[Any, Any], jobs: list[tuple[int, int]], workers: int | None
) -> Iterator[tuple[int, list[NDArray[np.float64]]]]:
    count = (os.cpu_count() or 1) if workers is None else workers
    if count == 1 or len(jobs) <= 1:
        for world, size in jobs:
            yield _batch(fit, worlds[world], world, size)
        return
    from joblib import Parallel, delayed  # scikit-learn's; it also pickles functions that were typed in a notebook

    yield from Parallel(n_jobs=count, return_as="generator_unordered")(
        delayed(_batch)(fit, worlds[world], world, size) for world, size in jobs
    )


def _batch(fit: Callable[[Any], Any], data: Any, world: int, size: int) -> tuple[int, list[NDArray[np.float64]]]:
    from threadpoolctl import threadpool_limits

    if hasattr(fit, "many"):
        return world, fit.many(data, size)
    with threadpool_limits(1):
        return world, [visible_numbers(fit(data)) for _ in range(size)]


def _table(first: list[NDArray[np.float64]], second: list[NDArray[np.float64]]) -> tuple[Outputs, Outputs]:
    """One row per run. The first entry is the number of outputs; missing ones are filled."""
    width = max(len(row) for row in (*first, *second))

    def rows(outputs: list[NDArray[np.float64]]) -> Outputs:
        table = np.zeros((len(outputs), width + 1))
        for place, row in enumerate(outputs):
            table[place, 0] = len(row)
            table[place, 1 : 1 + len(row)] = _finite(row)
        return table

    return rows(first), rows(second)


def _finite(row: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers with finite squares; values that are not finite become far larger than all others."""
    return np.clip(np.nan_to_num(row, nan=3e100, posinf=2e100, neginf=-2e100), -3e100, 3e100)


def _key(fit: Callable[[Any], Any], worlds: tuple[Any, Any]) -> str:
    """The key of outputs: a hash of the model, the data, and discreet's sources."""
    try:
        code = inspect.getsource(fit)
    except (TypeError, OSError):
        code = repr(fit)  # the repr of estimators and dataclasses has all their parameters
    text = pickle.dumps((code, code_digest(), worlds))
    return hashlib.sha256(text).hexdigest()


class _Store:
    """Outputs on disk under the key of the audit that made them."""

    def __init__(self, path: Path | None, key: str) -> None:
        self._path, self._key = path, key

    def load(self) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
        if self._path is None or not self._path.exists():
            return [], []
        try:
            with np.load(self._path, allow_pickle=False) as held:
                key = str(held["key"])
                worlds = [np.split(held[f"values{world}"], np.cumsum(held[f"lengths{world}"])[:-1]) for world in (0, 1)]
                lengths = [len(held[f"lengths{world}"]) for world in (0, 1)]
        except (ValueError, KeyError, TypeError, OSError, EOFError, BadZipFile) as error:
            raise ValueError(
                f"{self._path} holds no runs of an audit; give this one a state file of its own"
            ) from error
        if key != self._key:
            raise ValueError(f"{self._path} holds another audit's runs; give this one a state file of its own")
        first, second = ([] if length == 0 else list(rows) for rows, length in zip(worlds, lengths, strict=True))
        return first, second

    def save(self, done: tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]) -> None:
        """Replace the file at once, so that a crash leaves the old one or the new one."""
        if self._path is None:
            return
        fields: dict[str, Any] = {"key": np.array(self._key)}
        for world, rows in enumerate(done):
            fields[f"lengths{world}"] = np.array([len(row) for row in rows], dtype=np.int64)
            fields[f"values{world}"] = np.concatenate(rows) if rows else np.empty(0)
        handle, name = tempfile.mkstemp(dir=self._path.resolve().parent, suffix=".part")
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **fields)
        os.replace(name, self._path)


class Bar:
    """A progress line on stderr, if that is a terminal."""

    def __init__(self, label: str, total: int, start: int) -> None:
        self._label, self._total, self._start = label, total, start
        self._shown = start >= 0 and sys.stderr.isatty()
        self._begun = time.monotonic()

    def show(self, done: int) -> None:
        if not self._shown:
            return
        share = min(done / self._total, 1.0)
        elapsed = time.monotonic() - self._begun
        left = elapsed / max(done - self._start, 1) * max(self._total - done, 0)
        filled = "#" * int(30 * share)
        sys.stderr.write(f"\r{self._label} [{filled:<30}] {done}/{self._total} fits, {left:.0f} s left ")
        sys.stderr.flush()

    def close(self) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * (len(self._label) + 70) + "\r")
            sys.stderr.flush()
