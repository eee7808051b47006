"""How the cost of one pass grows with rows and columns, and how many bytes leave a partition: the
page on scale.
"""

from __future__ import annotations

import pickle
import time
from functools import partial
from typing import Any

import numpy as np
from benchmarks.engines.rows import Shape, machine

from discreet.domain import Encoder
from discreet.engines import MemoryEngine
from discreet.engines.total import PassSum, Seen
from discreet.rows import Labels, LinearMap, PowerSums, SecondMoment, compile_kernels, product_parts, score_sum

_ROWS = (125_000, 250_000, 500_000, 1_000_000)
_COLUMNS = (5, 10, 20, 40, 80)


def run(rounds: int) -> list[str]:
    compile_kernels()
    lines = [
        "## Growth of one pass",
        "",
        f"In memory, one thread, CPU seconds, least of {rounds} rounds. {machine()}",
        "",
        "| pass | " + " | ".join(f"{rows:,} x 20" for rows in _ROWS) + " | exponent in n |",
        "|---|" + "---|" * (len(_ROWS) + 1),
    ]
    of_rows = {rows: _times(rows, 20, rounds) for rows in _ROWS}
    of_columns = {columns: _times(250_000, columns, rounds) for columns in _COLUMNS}
    names = list(of_rows[_ROWS[0]])
    for name in names:
        seconds = [of_rows[rows][name][0] for rows in _ROWS]
        lines.append(
            f"| {name} | " + " | ".join(f"{value:.3f}" for value in seconds) + f" | {_slope(_ROWS, seconds):.2f} |"
        )
    lines += [
        "",
        "| pass | " + " | ".join(f"250,000 x {columns}" for columns in _COLUMNS) + " | exponent in d | from 40 to 80 |",
        "|---|" + "---|" * (len(_COLUMNS) + 2),
    ]
    for name in names:
        seconds = [of_columns[columns][name][0] for columns in _COLUMNS]
        row = " | ".join(f"{value:.3f}" for value in seconds)
        lines.append(
            f"| {name} | {row} | {_slope(_COLUMNS, seconds):.2f} | {_slope(_COLUMNS[-2:], seconds[-2:]):.2f} |"
        )
    lines += [
        "",
        "| bytes that leave a partition | " + " | ".join(f"d = {columns}" for columns in _COLUMNS) + " |",
        "|---|" + "---|" * len(_COLUMNS),
    ]
    for name in names:
        lines.append(f"| {name} | " + " | ".join(f"{of_columns[columns][name][1]:,}" for columns in _COLUMNS) + " |")
    print("\n".join(lines), flush=True)
    return [*lines, ""]


def _times(rows: int, columns: int, rounds: int) -> dict[str, tuple[float, int]]:
    shape = Shape(rows, columns)
    encoder = Encoder(shape.domain.select(shape.names), shape.domain["y"])
    random = np.random.default_rng(0)
    x, y = random.uniform(-1, 1, (rows, columns)), random.normal(0, 1, rows)
    turn = LinearMap(random.normal(size=(columns + 2, columns + 1)))
    questions: dict[str, Any] = {
        "first look": PowerSums(columns, encoder.radius),
        "gradient": score_sum(turn, Labels(0.0, 5.0), _score, 1.5, 0.8),
        "second moment": SecondMoment(np.zeros(columns), 0.5, 3.0, 0.0, 0.5, 2.0, 1.0, 0.6),
    }
    found = {}
    for name, question in questions.items():
        seconds = []
        for _ in range(rounds + 1):
            engine = MemoryEngine(encoder.encode, x, y, workers=1)  # a new one: nothing is kept from the last pass
            start = time.process_time()
            parts = engine.sum_rows(partial(product_parts, question))
            seconds.append(time.process_time() - start)
        sent = len(pickle.dumps(PassSum(np.asarray(parts), Seen(rows, 1)), protocol=5))
        found[name] = min(seconds[1:]), sent
    return found


def _score(y: Any, eta: Any, bound: Any) -> Any:
    return np.clip(eta - y, -bound, bound)


def _slope(sizes: tuple[int, ...], seconds: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
