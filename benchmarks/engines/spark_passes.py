"""What a pass over a Spark frame costs beyond Spark's own ``mapInArrow`` of a function that does
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.engines.rows import Shape, best, machine, passes

from discreet.domain import Encoder, as_floats
from discreet.engines import open_engine
from discreet.estimators.table_input import table_layout
from discreet.rows import Labels, LinearMap, PowerSums, SecondMoment, product_parts, score_sum

# Java compiles what runs often: an empty function that is timed too early makes everything else
# look cheap.
_WARM_UP = 4


def run(folder: Path, rows: int, rounds: int) -> list[str]:
    from pyspark.sql import SparkSession

    from discreet.engines.spark_frames import use_this_python

    shape = Shape(rows)
    path = shape.write(folder, files=8)
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "2g")
        .getOrCreate()
    )
    use_this_python(session)
    frame = session.read.parquet(str(path))
    lines = [
        f"## Spark, {rows:,} x {shape.columns} in 8 files, local[2]",
        "",
        f"Least of {rounds} rounds taken in turns, after {_WARM_UP} that are not counted. {machine()}",
        "",
        "| a pass | seconds | beyond `mapInArrow` of an empty function |",
        "|---|---|---|",
    ]
    empty = lambda: frame.mapInArrow(_nothing, "total binary").collect()  # noqa: E731
    encoder = Encoder(shape.domain.select(shape.names), shape.domain["y"])
    engine = open_engine(frame, table_layout(encoder, as_floats))
    questions = _questions(shape.columns, encoder.radius)
    asked: dict[str, Any] = {name: _Asked(question) for name, question in questions.items()}
    actions = [lambda one=one: engine.sum_rows(one) for one in asked.values()]
    fit = lambda: shape.fit(frame, neighbours="add_or_remove_one")  # noqa: E731
    number = passes(fit)
    best(_WARM_UP, empty, *actions)
    plain, *times, whole = best(rounds, empty, *actions, fit)
    asked[f"each of the {number} of a default fit"] = None
    times.append(whole / number)
    lines.append(f"| an empty function | {plain:.2f} | |")
    lines += [
        f"| {name} | {seconds:.2f} | {seconds / plain - 1:+.0%} |" for name, seconds in zip(asked, times, strict=True)
    ]
    print("\n".join(lines[-len(times) - 1 :]), flush=True)
    session.stop()
    return [*lines, ""]


def _nothing(batches: Iterator[Any]) -> Iterator[Any]:
    for _ in batches:
        pass
    return iter(())


class _Asked:
    """A question as engines are asked it; a class, so that Spark sends it by name."""

    def __init__(self, question: Any) -> None:
        self._question = question

    def __call__(self, block: Any, used: Any) -> Any:
        return product_parts(self._question, block, used)


def _questions(width: int, radius: float) -> dict[str, Any]:
    turn = LinearMap(np.random.default_rng(0).normal(size=(width + 2, width + 1)))
    return {
        "a first look": PowerSums(width, radius),
        "a gradient": score_sum(turn, Labels(0.0, 5.0), _score, 1.5, 0.8),
        "a second moment": SecondMoment(np.zeros(width), 0.5, 3.0, 0.0, 0.5, 2.0, 1.0, 0.6),
    }


def _score(y: Any, eta: Any, bound: Any) -> Any:
    return np.clip(eta - y, -bound, bound)
