"""The same fit on a Dask cluster with one worker process and with two."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from benchmarks.engines.rows import Shape, best, machine, passes

# One ratio says little on a machine that others use as well: pairs are taken in turns, and all are
# shown.
_PAIRS = 3


def run(folder: Path, rows: int, rounds: int) -> list[str]:
    shape = Shape(rows)
    path = shape.write(folder, files=8)
    lines = [
        f"## Dask, {rows:,} x {shape.columns} in 8 files",
        "",
        "One thread a worker process, blocks kept on the workers between passes; new clusters for every pair.",
        f"Seconds of a default fit, least of {rounds} after one that compiles. {machine()}",
        "",
        "| pair | passes | one worker process | two | times as fast |",
        "|---|---|---|---|---|",
    ]
    ratios = []
    for pair in range(1, _PAIRS + 1):
        (number, one), (_, two) = (_seconds(shape, path, workers, rounds) for workers in (1, 2))
        ratios.append(one / two)
        lines.append(f"| {pair} | {number} | {one:.2f} | {two:.2f} | {ratios[-1]:.2f} |")
        print(lines[-1], flush=True)
    lines.append(f"| median | | | | {median(ratios):.2f} |")
    return [*lines, ""]


def _seconds(shape: Shape, path: Path, workers: int, rounds: int) -> tuple[int, float]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, memory_limit="6GB")
    with cluster, Client(cluster):
        frame = dd.read_parquet(path)
        number = passes(lambda: shape.fit(frame))
        (seconds,) = best(rounds, lambda: shape.fit(frame))
    return number, seconds
