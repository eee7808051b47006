"""The same fit on a Dask cluster with one worker process and with two."""

from __future__ import annotations

from pathlib import Path

from benchmarks.engines.rows import Shape, best, machine, passes


def run(folder: Path, rows: int, rounds: int) -> list[str]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    shape = Shape(rows)
    path = shape.write(folder, files=8)
    lines = [
        f"## Dask, {rows:,} x {shape.columns} in 8 files",
        "",
        "One thread a worker process, blocks kept on the workers between passes.",
        f"Least of {rounds} rounds. {machine()}",
        "",
        "| worker processes | passes | seconds of a default fit | times as fast as one |",
        "|---|---|---|---|",
    ]
    times = []
    for workers in (1, 2):
        with (
            LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None, memory_limit="6GB"
            ) as cluster,
            Client(cluster),
        ):
            frame = dd.read_parquet(path)
            number = passes(lambda frame=frame: shape.fit(frame))  # which compiles, too
            (seconds,) = best(rounds, lambda frame=frame: shape.fit(frame))
        times.append(seconds)
        lines.append(f"| {workers} | {number} | {seconds:.2f} | {times[0] / seconds:.2f} |")
        print(lines[-1], flush=True)
    return [*lines, ""]
