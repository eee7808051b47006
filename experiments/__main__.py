"""All figures and tables of the five papers: ``python -m experiments --quick``, or without for the
papers' sizes and repeats.

Every module goes on where it stopped. ``--minutes`` is the time for each, ``--only pmt`` names a
paper. ``--status`` says what there is, and how many hours are missing. ``--check`` repeats stored
runs of every curve, and forgets the curves of which today's code gives another value.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import time
from pathlib import Path

from experiments import runner
from experiments.checking import changed, forget
from experiments.pages import write_page
from experiments.runner import Figure
from experiments.status import status

HERE = Path(__file__).parent
PAPERS = ("pmt", "cost", "relu", "nldp", "mpr", "newer")
# Pages with a command line of their own: what makes them small, and what is said for all of it.
# Those of no single paper are left out of small runs.
OTHERS: dict[str, tuple[list[str] | None, list[str]]] = {
    "relu.accuracy": (["--seeds", "2"], ["--seeds", "20"]),
    "nldp.accuracy": (["1"], ["20", "further"]),
    "nldp.covertype": (["1", "15", "paper"], ["20", "2", "5", "10", "15", "paper"]),
    "nldp.two_rounds": (["1"], ["7"]),
    "mpr.coverage": (["--repeats", "2", "--people", "3000"], ["--repeats", "200"]),
    "interval_coverage": (None, ["--sets", "500"]),
    "glm_coverage": (None, ["--sets", "500"]),
    "attack_lower_bounds": (None, ["--repeats", "20"]),
    "local_people": (None, ["40"]),
    "local_coverage": (None, ["200"]),
}


PAGE = """# What of the papers' figures is done

Made by `make reproduce-status`. Repeats: the least and the most of all cells and curves, on the
scale of the paper's. Seconds: processor time of one repeat of all cells and curves, on the machine
and under the load that they ran with. A cell that was not run is taken to be as slow as the curve's
others, so the hours are too few where only small cells were run (NLDP). Commits: of the package that
made the runs. A figure without repeats has a page from before runs had seeds, if it has one.

"""


def figures(paper: str) -> list[str]:
    """Modules of a paper that have a figure, in the order of their numbers."""
    names = [path.stem for path in (HERE / paper).glob("*[0-9].py")]
    return sorted(names, key=lambda name: (name.rstrip("0123456789"), int("".join(filter(str.isdigit, name)))))


def found(papers: list[str]) -> dict[str, Figure]:
    """The figures of these papers, by module."""
    names = [f"{paper}.{name}" for paper in papers for name in figures(paper)]
    return {name: importlib.import_module(f"experiments.{name}").FIGURE for name in names}


def page_is_made(module: str, words: list[str]) -> bool:
    """Whether a page that states its command is already that of this command."""
    page = (HERE / module.replace(".", "/")).with_suffix(".md")
    return page.is_file() and f"python -m experiments.{module} {' '.join(words)}`" in page.read_text(encoding="utf-8")


def check(papers: list[str]) -> None:
    """Forget what today's code no longer gives."""
    for module, figure in found(papers).items():
        store = HERE / module.split(".")[0] / "results" / f"{figure.name}.csv"
        gone = changed(figure, store)
        print(f"{module}: {', '.join(gone) + ': forgotten' if gone else 'as stored'}", flush=True)
        if gone:
            forget(figure, store, gone)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small grids with few repeats")
    parser.add_argument("--only", choices=PAPERS, action="append", help="these papers")
    parser.add_argument("--without", nargs="*", default=[], metavar="CURVE", help="leave these curves for later")
    parser.add_argument("--minutes", type=float, help="start nothing new in a figure after so many minutes")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--status", action="store_true", help="only say what there is")
    parser.add_argument("--check", action="store_true", help="only look for curves that changed, and forget them")
    asked = parser.parse_args()
    papers = asked.only or list(PAPERS)
    if asked.status:
        text = status(found(papers), HERE)
        print(text)
        if not asked.only:
            write_page(HERE / "status.md", PAGE + text + "\n")
    elif asked.check:
        check(papers)
    else:
        run_all(papers, asked)


def run_all(papers: list[str], asked: argparse.Namespace) -> None:
    start = time.perf_counter()
    words = ["--workers", str(asked.workers)] + (["--quick"] if asked.quick else [])
    words += [] if asked.minutes is None else ["--minutes", str(asked.minutes)]
    words += ["--without", *asked.without] if asked.without else []
    for module, figure in found(papers).items():
        runner.main(figure, str((HERE / module.replace(".", "/")).with_suffix(".py")), words)
    for module, (small, whole) in OTHERS.items():
        own = small if asked.quick else whole
        asked_for = module.split(".")[0] in papers if "." in module else not asked.only
        # A small run does not replace the page of a whole one.
        if own is not None and asked_for and not page_is_made(module, whole) and not page_is_made(module, own):
            one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
            subprocess.run([sys.executable, "-m", f"experiments.{module}", *own], check=True, env=one_thread)
    print(f"done in {(time.perf_counter() - start) / 60:.1f} minutes", file=sys.stderr)


if __name__ == "__main__":
    main()
