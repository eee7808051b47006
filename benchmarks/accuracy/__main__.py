"""Test loss of private regression, ours and the peers, like for like in neighbours and in public
rows.

Run from the repository's root: ``python -m benchmarks.accuracy [--only ours|peers] [--sets
bank,susy] [--epsilons 1]``. Cells that are in the CSV file are not run again (``--again`` does
that): a run may be stopped and continued, and our methods may be run again alone.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace

from benchmarks.accuracy import ours
from benchmarks.accuracy.cells import EPSILONS, RELATIONS, RESULTS, Cell, Result, Store, Table
from benchmarks.accuracy.methods import DIFFPRIVLIB_ENV, METHODS, peer_medians
from benchmarks.accuracy.plot import plot
from benchmarks.accuracy.problems import ALL_SETS, family_of
from benchmarks.accuracy.report import markdown
from rich.progress import track

Task = tuple[Cell, str, int, int]


def methods_of(cell: Cell, options: argparse.Namespace) -> Iterator[str]:
    """The methods that this run is asked for in a cell."""
    family = family_of(cell.data_set)
    if options.only != "ours":
        for name, method in METHODS.items():
            if method.applies(family, cell.with_public):
                yield name
    if options.only != "peers":
        for solver in ours.SOLVERS[family]:
            yield ours.PREFIX + solver


def tasks(options: argparse.Namespace, known: Table) -> list[Task]:
    """What is to be run, set by set."""
    found = []
    for choice in itertools.product(options.sets, options.public, options.epsilons, RELATIONS):
        name, with_public, epsilon, relation = choice
        cell = Cell(name, with_public, relation, epsilon)
        for method in methods_of(cell, options):
            if options.methods and method not in options.methods:
                continue
            if method == "diffprivlib" and not DIFFPRIVLIB_ENV.exists():
                continue
            if method in METHODS and METHODS[method].one_relation and relation != RELATIONS[0]:
                continue
            if method in METHODS and METHODS[method].is_baseline and epsilon != options.epsilons[0]:
                continue
            if options.again or not is_done(cell, method, options, known):
                found.append((cell, method, options.draws, options.splits))
    return found


def is_done(cell: Cell, method: str, options: argparse.Namespace, known: Table) -> bool:
    """Whether every line that the task would write is in the file."""
    results = [known.get((filled, method)) for filled in cells_filled(cell, method)]
    return all(r is not None and r.draws >= options.draws and len(r.medians) >= options.splits for r in results)


def cells_filled(cell: Cell, method: str) -> list[Cell]:
    """The cells that a method's one run is good for."""
    relations: tuple[str, ...] = (cell.neighbours,)
    epsilons: tuple[float, ...] = (cell.epsilon,)
    if method in METHODS and METHODS[method].one_relation:
        relations = RELATIONS
    if method in METHODS and METHODS[method].is_baseline:
        epsilons = EPSILONS
    return [
        replace(cell, neighbours=relation, epsilon=epsilon)
        for relation, epsilon in itertools.product(relations, epsilons)
    ]


def run(task: Task) -> list[Result] | str:
    """The results of a task, or why there are none."""
    from threadpoolctl import threadpool_limits

    cell, method, draws, splits = task
    with threadpool_limits(1):  # small matrices, and one process per core
        if method.startswith(ours.PREFIX):
            try:
                medians = ours.our_medians(method.removeprefix(ours.PREFIX), cell, draws, splits)
            except ours.NotThereError as error:
                return f"{method}: {error}"
        else:
            medians = peer_medians(method, cell, draws, splits)
    return [Result(filled, method, draws, medians) for filled in cells_filled(cell, method)]


def main() -> None:
    options = parse()
    store = Store(RESULTS / "accuracy.csv")
    todo = tasks(options, store.read())
    notes: dict[str, None] = {}
    crashes: list[str] = []
    with ProcessPoolExecutor(options.workers) as pool:
        # In chunks of a data set, so that a worker has its rows in memory.
        for name, group in itertools.groupby(todo, key=lambda task: task[0].data_set):
            futures = {pool.submit(run, task): task for task in group}
            for future in track(as_completed(futures), f"{name:16}", total=len(futures)):
                cell, method, *_ = futures[future]
                if (error := future.exception()) is not None:
                    crashes.append(f"{method} in {cell}: {error!r}")
                elif isinstance(found := future.result(), str):
                    notes[found] = None
                else:
                    store.add(found)
    for note in (*(f"left out: {note}" for note in notes), *(f"failed: {crash}" for crash in crashes)):
        print(note, file=sys.stderr)
    write_report(store.tidy())
    if crashes:
        sys.exit(f"{len(crashes)} tasks failed")  # the others are kept


def write_report(table: Table) -> None:
    report = markdown(table)
    (RESULTS / "accuracy.md").write_text(report)
    for with_public in (False, True):
        plot(table, with_public, RESULTS / f"accuracy_{'public' if with_public else 'declared'}.svg")
    print(report.split("\n## ")[0])


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("all", "ours", "peers"), default="all")
    parser.add_argument("--sets", type=names(ALL_SETS), default=ALL_SETS, help=f"of {','.join(ALL_SETS)}")
    parser.add_argument("--methods", type=lambda text: text.split(","), default=None, help="e.g. 'ours auto,AdaSSP'")
    parser.add_argument("--epsilons", type=lambda text: [float(e) for e in text.split(",")], default=EPSILONS)
    parser.add_argument("--public", choices=("both", "with", "without"), default="both", help="public rows")
    parser.add_argument("--draws", type=int, default=20, help="noise draws per split (default 20)")
    parser.add_argument("--splits", type=int, default=3, help="splits of each data set (default 3)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--again", action="store_true", help="run cells that are in the file already")
    options = parser.parse_args()
    options.public = {"both": (False, True), "with": (True,), "without": (False,)}[options.public]
    return options


def names(known: tuple[str, ...]) -> Callable[[str], list[str]]:
    def parse_names(text: str) -> list[str]:
        chosen = text.split(",")
        unknown = [name for name in chosen if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}")
        return chosen

    return parse_names


if __name__ == "__main__":
    main()
