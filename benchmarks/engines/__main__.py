"""``python -m benchmarks.engines``: all parts, or some of ``stream``, ``dask``, ``spark`` and
``growth``.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.engines import dask_workers, growth, spark_passes, stream

TARGET = Path(__file__).parent.parent / "results"
PARTS = ("stream", "dask", "spark", "growth")


def main() -> None:
    """Time what is asked for, and write a page for each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engines")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)}; all by default")
    parser.add_argument("--rows", type=int, help="rows, where a part has its own number")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where tables are kept for the next run")
    given = parser.parse_args()
    for part in given.parts:
        if part not in PARTS:
            parser.error(f"there is no part {part!r}")
    with tempfile.TemporaryDirectory() as folder:
        for part in given.parts or PARTS:
            print(f"{part} ...", flush=True)
            lines = _run(part, given.folder or Path(folder), given.rows, given.rounds)
            rows = "" if given.rows is None else f" --rows {given.rows}"
            head = [f"`python -m benchmarks.engines {part}{rows}`", ""]
            TARGET.mkdir(exist_ok=True)
            (TARGET / f"engines_{part}.md").write_text("\n".join([*head, *lines]))


def _run(part: str, folder: Path, rows: int | None, rounds: int) -> list[str]:
    if part == "stream":
        return stream.run(folder, rows or 20_000_000, rounds)
    if part == "dask":
        return dask_workers.run(folder, rows or 4_000_000, rounds)
    if part == "spark":
        return spark_passes.run(folder, rows or 2_000_000, rounds)
    return growth.run(rounds)


if __name__ == "__main__":
    main()
