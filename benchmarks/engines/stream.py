"""A fit from Parquet files as they stream by, against reading them as often; and the memory that takes."""

from __future__ import annotations

from pathlib import Path

from benchmarks.engines.rows import Shape, best, machine, passes, peak_memory, read

_FIT = """
import sys
from benchmarks.engines.rows import Shape
Shape(int(sys.argv[2])).model().fit_table(sys.argv[1], target="y")
"""


def run(folder: Path, rows: int, rounds: int) -> list[str]:
    shape = Shape(rows)
    path = shape.write(folder)
    kinds = {
        "default": {},
        "moments": {"solver": "moments"},
        "default, rows private": {"neighbours": "add_or_remove_one"},
    }
    before = machine()
    lines = [
        f"## A stream of {rows:,} x {shape.columns}",
        "",
        f"Parquet, {shape.bytes / 1e9:.2f} GB of float64. Least of {rounds} rounds taken in turns. {before}",
        "",
        "| | passes | seconds | seconds of reading it as often | ratio |",
        "|---|---|---|---|---|",
    ]
    for name, options in kinds.items():
        model = shape.model(**options)
        number = passes(lambda model=model: model.fit_table(path, target="y"))
        reading, fit = best(rounds, lambda: read(path), lambda model=model: model.fit_table(path, target="y"))
        lines.append(f"| {name} | {number} | {fit:.2f} | {number * reading:.2f} | {fit / (number * reading):.2f} |")
        print(lines[-1], flush=True)
    lines += ["", "| rows on the stream | peak memory of the whole process, MB |", "|---|---|"]
    for share in (4, 1):
        part = Shape(rows // share)
        lines.append(f"| {part.rows:,} | {peak_memory(_FIT, str(part.write(folder)), str(part.rows)):.0f} |")
        print(lines[-1], flush=True)
    return [*lines, ""]
