"""Scores of the peers on the linear benchmark, cached by data, parameters and source."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.data import ROOT, Cell
from benchmarks.peers.adassp import Bounds, adassp, adassp_gdp, adassp_gdp_half_radius

DELTA = 1e-6
ADASSP_SOURCE = ROOT / "benchmarks" / "peers" / "adassp.py"
CACHE = ROOT / "benchmarks" / "results" / ".cache"
DIFFPRIVLIB_SCRIPT = ROOT / "benchmarks" / "peers" / "diffprivlib_linear.py"
DIFFPRIVLIB_ENV = ROOT / ".venv-diffprivlib"

ADASSP = {"AdaSSP": adassp, "AdaSSP-GDP": adassp_gdp, "AdaSSP-GDP half radius": adassp_gdp_half_radius}
PEERS = (*ADASSP, "diffprivlib")


@dataclass(frozen=True)
class Setting:
    """One line of the result table."""

    data_set: str
    neighbours: str
    epsilon: float


def r2(y: np.ndarray, prediction: np.ndarray) -> float:
    if not np.isfinite(prediction).all():
        return -np.inf
    return float(1 - ((y - prediction) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def adassp_scores(method: str, cell: Cell, setting: Setting, draws: int) -> dict[str, list[float]]:
    bounds = Bounds(cell.low, cell.high, cell.y_low, cell.y_high)
    scores = []
    for draw in range(draws):
        rng = np.random.default_rng([draw, zlib.crc32(setting.data_set.encode())])
        line = ADASSP[method](cell.X_train, cell.y_train, bounds, setting.epsilon, DELTA, setting.neighbours, rng)
        scores.append(r2(cell.y_test, line.predict(cell.X_test)))
    return {"scaled_units": scores}


def diffprivlib_scores(cell: Cell, setting: Setting, draws: int) -> dict[str, list[float]]:
    """Scores in original and in centred units, from diffprivlib's own environment."""
    with tempfile.TemporaryDirectory() as folder:
        problem, scores = Path(folder, "problem.npz"), Path(folder, "scores.npz")
        np.savez(problem, **cell._asdict(), epsilon=setting.epsilon, draws=draws)
        command = [DIFFPRIVLIB_ENV / "bin" / "python", DIFFPRIVLIB_SCRIPT, problem, scores]
        subprocess.run(command, check=True, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})
        with np.load(scores) as found:
            return {units: found[units].tolist() for units in ("original_units", "centred_units")}


def best_median(scores: dict[str, list[float]]) -> float:
    """A method tried in several units counts with the better one."""
    return max(float(np.median(values)) for values in scores.values())


def cached(
    method: str,
    source: Path,
    cell: Cell,
    setting: Setting,
    draws: int,
    run: Callable[[], dict[str, list[float]]] | None,
) -> float | None:
    """The median of a peer from the cache, or by running it; None where it is not cached and not to
    be run.
    """
    # The relation is part of a peer's key only where its noise depends on it.
    relation = setting.neighbours if method in ADASSP else "own"
    key = hashlib.sha256(source.read_bytes())
    for value in cell:
        key.update(np.ascontiguousarray(value).tobytes())
    key.update(repr((method, setting.data_set, relation, setting.epsilon, DELTA, draws)).encode())
    path = CACHE / f"{method.replace(' ', '_')}-{setting.data_set}-{key.hexdigest()[:16]}.json"
    if not path.exists():
        if run is None:
            return None
        CACHE.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(run()))
    return best_median(json.loads(path.read_text()))


def peer_medians(cell: Cell, setting: Setting, draws: int, may_run: bool) -> Iterator[tuple[str, float]]:
    for method in ADASSP:
        run = (lambda method=method: adassp_scores(method, cell, setting, draws)) if may_run else None
        median = cached(method, ADASSP_SOURCE, cell, setting, draws, run)
        if median is not None:
            yield method, median
    run = (lambda: diffprivlib_scores(cell, setting, draws)) if may_run and DIFFPRIVLIB_ENV.exists() else None
    median = cached("diffprivlib", DIFFPRIVLIB_SCRIPT, cell, setting, draws, run)
    if median is not None:
        yield "diffprivlib", median
