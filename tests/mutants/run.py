"""``make mutants``: small changes to the code on which privacy depends, and whether a test fails.

python tests/mutants/run.py --sample 400 --seed 1 --workers 2
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from catalogue import ROOT, Mutant, mutants
from coverage_map import COMPILED, KEPT, CoverageMap, above, run_with_coverage
from report import DEAD, write_report
from trial import Outcome, Place, Trial, warm

# Survivors of the nearest tests are tried with all tests that cover the line, then with the layers
# above.
STAGES = NEAREST, OWN, ABOVE = "nearest", "own", "above"

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # a fork keeps no threads of a pool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=0, help="so many mutants, drawn at random; 0: all")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--workers", type=int, default=1, help="trials at a time")
    parser.add_argument("--tests", type=float, default=40.0, help="seconds of tests for a mutant, as measured")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no trial after so long")
    parser.add_argument("--only", default="", help="mutants whose name contains this")
    parser.add_argument("--without", nargs="*", default=[], help="not those whose name contains one of these")
    parser.add_argument("--stages", type=int, default=len(STAGES), help=f"so many of: {', '.join(STAGES)}")
    parser.add_argument("--again", action="store_true", help="try only the survivors so far, with new tests")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier runs found")
    parser.add_argument("--more", nargs="*", default=[], help="test files that are run besides")
    parser.add_argument("--patience", type=float, default=2.0, help="times the usual time before a trial is ended")
    parser.add_argument("--new-map", action="store_true", help="run the tests with coverage anew")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "mutants.md")
    asked = parser.parse_args()
    if asked.new_map or not (KEPT / "durations.json").exists():
        run_with_coverage(asked.workers)
    every = mutants()
    outcomes = KEPT / "outcomes.json"
    before = _read(outcomes) if outcomes.exists() and not asked.fresh else {}
    names = {mutant.name for mutant in every}
    found = {name: outcome for name, outcome in before.items() if name in names}
    survivors = [outcome.mutant for outcome in found.values() if outcome.status not in DEAD]
    chosen = survivors if asked.again else _chosen(every, found, asked)
    print(f"{len(chosen)} new of {len(every)} mutants; {len(found)} were tried before", flush=True)
    for stage in STAGES[: asked.stages]:
        for outcome in _try_all(chosen, asked, stage):
            found[outcome.mutant.name] = outcome
            outcomes.write_text(json.dumps([one.to_dict() for one in found.values()], indent=1))
        chosen = [mutant for mutant in chosen if mutant.name in found and found[mutant.name].status not in DEAD]
    _check_killers([o.killer for o in found.values() if "::" in o.killer])
    write_report(list(found.values()), len(every), " ".join(sys.argv[1:]), asked.out)


def _chosen(every: list[Mutant], before: dict[str, Outcome], asked: argparse.Namespace) -> list[Mutant]:
    named = [m for m in every if asked.only in m.name and not any(part in m.name for part in asked.without)]
    # By hashes of names: what is drawn from one file does not depend on the others.
    named.sort(key=lambda mutant: sha256(f"{asked.seed} {mutant.name}".encode()).digest())
    return [m for m in (named[: asked.sample] if asked.sample else named) if m.name not in before]


def _read(path: Path) -> dict[str, Outcome]:
    stored = [Outcome(**{**entry, "mutant": Mutant(**entry["mutant"])}) for entry in json.loads(path.read_text())]
    return {outcome.mutant.name: outcome for outcome in stored}


def _check_killers(tests: list[str]) -> None:
    """A test that also fails without a mutant has killed none: the tests that failed are run on
    unchanged sources.
    """
    trial = Trial(Place(KEPT / "place-0"), None, sorted(set(tests)), 3600.0)
    while (outcome := trial.poll()) is None:
        time.sleep(0.1)
    if outcome.status != "survived":
        raise SystemExit(f"these fail without a mutant, too: {outcome.killer}; see {KEPT / 'place-0' / 'output'}")


def _try_all(chosen: list[Mutant], asked: argparse.Namespace, stage: str) -> Iterator[Outcome]:
    """Try every mutant, so many at a time; the progress is on standard error."""
    covered, done, begun = CoverageMap(), [], time.monotonic()
    warm()
    places = [Place(KEPT / f"place-{number}") for number in range(asked.workers)]
    if stage == OWN:  # some have met all of them already
        chosen = [mutant for mutant in chosen if (tests := covered.covering(mutant)) != _nearest(covered, tests)]
    waiting, running = list(reversed(chosen)), {}
    while waiting or running:
        late = time.monotonic() - begun > 60 * asked.minutes
        for place in places:
            if waiting and not late and place not in running:
                mutant = waiting.pop()
                tests = covered.covering(mutant)
                if stage == NEAREST:
                    tests = _nearest(covered, tests)
                if mutant.path not in COMPILED:
                    tests = _within(covered, tests, asked.tests * (3 if stage == ABOVE else 1))
                files = (*asked.more, *above(mutant)) if stage == ABOVE else ()
                if tests or files:
                    limit = asked.patience * (20 + 3 * covered.seconds(tests) + 60 * len(files))
                    running[place] = Trial(place, mutant, tests, limit, files)
                else:
                    done.append(Outcome(mutant, "bare", 0, 0.0))
                    yield done[-1]
        ended = {place: outcome for place, trial in running.items() if (outcome := trial.poll()) is not None}
        for place, outcome in ended.items():
            del running[place]
            done.append(outcome)
            yield outcome
            _tell(done, len(chosen), begun)
        if late and not running:
            break
        time.sleep(0.02)
    print(file=sys.stderr)


def _nearest(covered: CoverageMap, tests: list[str]) -> list[str]:
    """Those in the three files that have the quickest: few files are collected in no time."""
    by_file: dict[str, list[str]] = {}
    for test in tests:
        by_file.setdefault(test.partition("::")[0], []).append(test)
    chosen = sorted(by_file, key=lambda name: covered.seconds(by_file[name]) / len(by_file[name]))[:3]
    return [test for test in tests if test.partition("::")[0] in chosen]


def _within(covered: CoverageMap, tests: list[str], seconds: float) -> list[str]:
    kept: list[str] = []
    for test in tests:
        if covered.seconds([test]) <= seconds:
            kept.append(test)
            seconds -= covered.seconds([test])
    return kept


def _tell(done: list[Outcome], total: int, begun: float) -> None:
    last = done[-1]
    dead = sum(outcome.status in DEAD for outcome in done)
    spent = time.monotonic() - begun
    if last.status not in DEAD:
        print(f"\r\033[K{last.status}: {last.mutant.name} ({last.tests} tests) {last.killer}", file=sys.stderr)
    bar = "#" * (30 * len(done) // total)
    line = f"[{bar:<30}] {len(done)}/{total}, {dead} killed, {spent:.0f} s"
    print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
