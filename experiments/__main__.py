"""All figures and tables of the five papers: ``python -m experiments --quick``, or without for the
papers' sizes.

Every module goes on where it stopped. ``--minutes`` is the time for each, ``--only pmt`` names a
paper.
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
import time
from pathlib import Path

PAPERS = ("pmt", "cost", "relu", "nldp", "mpr")
# Modules with a command line of their own, and what makes them small: there is no figure in them to
# run.
OTHERS = {
    "cost.swarm": ["--repeats", "1"],
    "mpr.table1": ["--splits", "1"],
}


def figures(paper: str) -> list[str]:
    """Modules of a paper that have a figure, in the order of their numbers."""
    names = [path.stem for path in (Path(__file__).parent / paper).glob("*[0-9].py")]
    found = [name for name in names if f"{paper}.{name}" not in OTHERS]
    return sorted(found, key=lambda name: (name.rstrip("0123456789"), int("".join(filter(str.isdigit, name)))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small grids with few repeats")
    parser.add_argument("--only", choices=PAPERS, action="append", help="these papers")
    parser.add_argument("--minutes", type=float, help="start nothing new in a figure after so many minutes")
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    start = time.perf_counter()
    for paper in asked.only or PAPERS:
        for name in figures(paper):
            module = importlib.import_module(f"experiments.{paper}.{name}")
            words = ["--workers", str(asked.workers)] + (["--quick"] if asked.quick else [])
            words += [] if asked.minutes is None else ["--minutes", str(asked.minutes)]
            runner = importlib.import_module("experiments.runner")
            runner.main(module.FIGURE, str(module.__file__), words)
        for name, small in OTHERS.items():
            if name.startswith(f"{paper}."):
                words = small if asked.quick else []
                subprocess.run([sys.executable, "-m", f"experiments.{name}", *words], check=True)
    print(f"done in {(time.perf_counter() - start) / 60:.1f} minutes", file=sys.stderr)


if __name__ == "__main__":
    main()
