"""A streaming fit from Parquet files against reading them as often, and its memory."""

from __future__ import annotations

from pathlib import Path

from benchmarks.engines.rows import Shape, best_both, machine, passes, peak_memory, read

_FIT = """
import sys
from benchmarks.engines.rows import Shape
Shape(int(sys.argv[2])).fit(sys.argv[1])
"""
_KINDS = {"default": {}, "moments": {"solver": "moments"}}


def run(folder: Path, rows: int, rounds: int) -> list[str]:
    lines = [
        f"## A stream of {rows:,} x 20",
        "",
        "Parquet files of random float64, which hardly compress: nothing is faster to read. As zstd they take longer.",
        "Reading is pyarrow's iter_batches of all columns by all cores, from the page cache. Processor seconds are",
        "those of all threads: other work on the machine disturbs them less than the clock.",
        f"Least of {rounds} rounds taken in turns. {machine()}",
        "",
        "| rows | compression | solver | passes | seconds | reading as often | ratio | processor seconds "
        "| reading as often | ratio |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    small = Shape(500_000)
    small.fit(small.write(folder))  # which compiles the loops
    for shape, compression in ((Shape(rows), "snappy"), (Shape(rows // 4), "snappy"), (Shape(rows // 4), "zstd")):
        path = shape.write(folder, compression=compression)
        for solver in _KINDS:
            lines.append(
                f"| {shape.rows:,} | {compression} | {solver} | {_against_reading(shape, path, solver, rounds)} |"
            )
            print(lines[-1], flush=True)
    lines += ["", "| rows on the stream | peak memory of the whole process, MB |", "|---|---|"]
    for part in (Shape(rows // 4), Shape(rows)):
        lines.append(f"| {part.rows:,} | {peak_memory(_FIT, str(part.write(folder)), str(part.rows)):.0f} |")
        print(lines[-1], flush=True)
    return [*lines, ""]


def _against_reading(shape: Shape, path: Path, solver: str, rounds: int) -> str:
    seen = [0]
    reading, fit = best_both(
        rounds, lambda: read(path), lambda: seen.append(passes(lambda: shape.fit(path, **_KINDS[solver])))
    )
    passed = seen[-1]
    ratios = (
        f"{ours:.2f} | {passed * once:.2f} | {ours / (passed * once):.2f}"
        for ours, once in zip(fit, reading, strict=True)
    )
    return f"{passed} | {' | '.join(ratios)}"
