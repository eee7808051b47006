"""The full audit: every planted bug, a broken library, and every model of discreet, by replay and
by black box.

Run from the root: python -m experiments.attack_suite [--runs 160] [--bug-runs 300]. Writes
experiments/attack_suite.md and a page with plots, build/audit.html. After a stop it continues from
build/audit-state, as long as the code is the same. The exit code is 1 if a bug is not caught or an
honest model fails. Broken models come first: an audit without power need not continue.

Every model of the catalogue is replayed on searched neighbours: each estimator with each solver, as
printed where there is such a thing, with and without public rows, under both neighbour relations.
Black boxes, which cost a thousand times as much and find less, are for what somebody gets who
chooses nothing, and for one model with each other solver.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tests.contracts.planted_bugs import BUGS, HONEST, Bug, NoisyGradientDescent

from discreet import LinearRegression, __version__
from discreet.audit import catalogue, functions
from discreet.audit.black_box import BlackBox
from discreet.audit.outside import audit_outside
from discreet.audit.resume import code_digest
from discreet.audit.suite import BLACK_BOX_MU, Finding, Settings, Suite, audit_estimator
from discreet.audit.transcript import TranscriptAttack, World
from discreet.errors import DiscreetError
from discreet.report.audit_page import audit_page

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "experiments" / "attack_suite.md"
BUILD = ROOT / "build"
DIFFPRIVLIB = ROOT / ".venv-diffprivlib" / "bin" / "python"
MODEL = ROOT / "experiments" / "attack_diffprivlib_model.py"
EPSILON, DELTA = 1.0, 1e-6
# Below this share of the claimed mu, the code adds far more noise than the claim needs.
WASTED = 0.8
# Of 1 in 1,000 for everything that `make audit` does; the tests and the tracing attacks have the
# rest (docs/audit.md).
MOST_FALSE_ALARMS = 6e-4
# One estimator stands for the others with the same solver where solvers are attacked by their
# outputs.
_SOLVERS_OF = ("LinearRegression", "LogisticRegression", "ReLURegressor", "SparseLogisticRegression")


@dataclass(frozen=True)
class PlantedAttack(TranscriptAttack):
    """The attack on an estimator with a bug planted, in whatever process it runs."""

    bug: int = 0

    def __call__(self, world: World) -> list:
        with BUGS[self.bug].patch():
            return super().__call__(world)


def audit_bug(number: int, bug: Bug, settings: Settings) -> Finding:
    if bug.patch is not nullcontext:
        # The bug is in the curator, which every estimator uses, so the fastest estimator shows it.
        bug = replace(bug, kind=NoisyGradientDescent)
    with bug.patch():
        finding = audit_estimator(
            bug.make(EPSILON, bug.relations[0]),
            replace(settings, runs=0) if bug.wasteful else settings,
            name=f"bug: {bug.name}",
            kind="Planted bugs",
            expected=False,
            wrap=lambda large: PlantedAttack(large, bug=number),
        )
    if bug.wasteful and not finding.caught and finding.worst is not None and finding.worst.efficiency < WASTED:
        return replace(finding, wasted=True, note="more noise than the claim is for")
    return finding


def audit_other(maker: str, name: str, honest: bool, settings: Settings) -> Finding:
    return audit_outside(
        f"{MODEL}:{maker}",
        EPSILON,
        0.0,
        settings,
        python=str(DIFFPRIVLIB),
        name=name,
        kind="Other people's code",
        expected=honest,
    )


def audit_variant(variant: catalogue.Variant, settings: Settings) -> Finding:
    model = variant.make(EPSILON, DELTA, settings.features)
    return audit_estimator(model, settings, name=variant.name, kind="Models of discreet")


def has_black_box(variant: catalogue.Variant) -> bool:
    """Models with nothing chosen under both relations; other solvers with one row replaced.

    Replayed only: printed noise, which is refused at a large epsilon, and shuffled rows, which
    promise nothing there.
    """
    settings = dict(variant.settings)
    if variant.kind in functions.MODELS.values() or (
        variant.searched and (variant.kind is not LinearRegression or settings or variant.solvers)
    ):
        return False
    if not settings:
        return not variant.public
    if variant.usual:
        return "classes" in settings
    solver = settings.get("solver")
    return (
        variant.kind.__name__ in _SOLVERS_OF
        and variant.neighbours == "replace_one"
        and "calibration" not in settings
        and solver not in ("sgd", "glmtron")
        and variant.public == (solver == "pmt")
    )


def steps(settings: Settings, bug_runs: int, part: str) -> list[tuple[str, Settings, partial[Finding]]]:
    """All audits: a name, its settings, and the function that runs it."""
    planned = []
    for_bugs = replace(settings, runs=bug_runs, climbs=40)
    if part != "ours":
        planned += [(f"bug: {bug.name}", for_bugs, partial(audit_bug, n, bug, for_bugs)) for n, bug in enumerate(BUGS)]
        for maker, name, honest in (
            ("make_model", "diffprivlib 0.6.6 LinearRegression, lower bound 0", False),
            ("make_control", "diffprivlib 0.6.6 LinearRegression, lower bound -1", True),
        ):
            planned.append((name, for_bugs, partial(audit_other, maker, name, honest, for_bugs)))
        for honest_model in HONEST[1:]:
            audit = partial(
                audit_estimator, honest_model.make(EPSILON, "replace_one"), for_bugs, kind="Controls without a bug"
            )
            planned.append((f"control: {honest_model.name}", for_bugs, audit))
    if part != "broken":
        for variant in sorted(catalogue.variants(), key=lambda one: not one.usual):
            looking = settings if has_black_box(variant) else replace(settings, runs=0)
            looking = looking if variant.usual else replace(looking, climbs=0)
            planned.append((variant.name, looking, partial(audit_variant, variant, looking)))
    return planned


def audited(name: str, audit: Callable[[], Finding]) -> Finding:
    """The audit's finding; a model that fails in the middle is a finding too, and the others are
    still audited.
    """
    started = time.monotonic()
    try:
        return audit()
    except (DiscreetError, ValueError) as error:
        said = f"failed: {type(error).__name__}: {error}"
        return Finding(name, "Models that failed", True, None, None, time.monotonic() - started, said, failed=True)


def table(suite: Suite) -> str:
    lines = [
        "| model | claimed mu | replay: realised / claimed | black box: mu at least, of claimed | verdict | by |",
        "|---|---|---|---|---|---|",
    ]
    for finding in suite.findings:
        worst, box = finding.worst, finding.box
        by = [name for name, yes in (("replay", worst and not worst.passed), ("black box", box and box.caught)) if yes]
        cells = (
            finding.name,
            "" if worst is None or math.isinf(worst.claimed_mu) else f"{worst.claimed_mu:.4g}",
            "" if worst is None or math.isinf(worst.claimed_mu) else f"{worst.efficiency:.4f}",
            "" if box is None else f"{box.mu:.2f} of {_claimed(box)}",
            finding.verdict if finding.as_expected else f"**{finding.verdict}, not expected**",
            finding.note or ", ".join(by),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _claimed(box: BlackBox) -> str:
    """What is not Gaussian has no mu; then it is the epsilon at delta that is claimed."""
    return f"{box.claimed_mu:.3g}" if math.isfinite(box.claimed_mu) else f"epsilon {box.claimed_epsilon:.3g}"


def counts(suite: Suite) -> str:
    broken = [finding for finding in suite.findings if not finding.expected]
    honest = [finding for finding in suite.findings if finding.expected]
    boxes = sum(finding.box is not None for finding in honest)
    replayed = sum(finding.worst is not None for finding in honest)
    return (
        f"{sum(finding.caught for finding in broken)} of {len(broken)} broken models caught; "
        f"{sum(finding.caught for finding in honest)} of {len(honest)} correct models rejected "
        f"({replayed} replayed, {boxes} also attacked by their outputs)"
    )


def write(suite: Suite, command: str, planned: int, seconds: float, out: Path = OUT) -> None:
    """Table and page so far: an audit that is stopped has said what it found."""
    so_far = "" if len(suite.findings) == planned else f" So far {len(suite.findings)} of {planned} audits."
    text = (
        f"# The full audit\n\nMade by `{command}`.{so_far} {counts(suite)}. Replay at epsilon {EPSILON:g}, delta "
        f"{DELTA:g}; black box at mu {BLACK_BOX_MU:g} (other people's code at epsilon {EPSILON:g}, delta 0), "
        f"{suite.settings.runs} fits on each side (bugs and other people's code: see the command), each verdict with "
        f"confidence 1 - 1e-5. The suite rejects any of the correct models in at most 1 of "
        f"{1 / max(suite.false_alarm_rate, 1e-12):,.0f} runs. {seconds / 60:.0f} minutes of audits, on "
        f"{suite.settings.workers or os.cpu_count()} of {os.cpu_count()} cores.\n\n{table(suite)}\n"
    )
    out.write_text(text, encoding="utf-8")
    page = audit_page(suite.to_dict(), title="The full audit", version=__version__, command=command)
    (BUILD / "audit.html").write_text(page, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=160, help="black-box fits on each side, of discreet's own models")
    parser.add_argument("--bug-runs", type=int, default=300, help="the same, of planted bugs and other people's code")
    parser.add_argument("--part", choices=("all", "broken", "ours"), default="all")
    parser.add_argument("--out", type=Path, default=OUT, help="where the table is written")
    parser.add_argument("--workers", type=int, help="processes; all cores by default")
    options = parser.parse_args()
    command = " ".join(["python -m experiments.attack_suite", *sys.argv[1:]])
    state = BUILD / "audit-state" / code_digest()[:12]
    state.mkdir(parents=True, exist_ok=True)
    settings = Settings(
        runs=options.runs, rows=250, climbs=40, workers=options.workers, progress=True, state_folder=str(state)
    )
    if options.part != "ours" and not DIFFPRIVLIB.exists():
        raise SystemExit("diffprivlib is not installed: sh benchmarks/peers/make_diffprivlib_env.sh")
    print("looking for what discreet offers ...", file=sys.stderr, flush=True)
    planned = steps(settings, options.bug_runs, options.part)
    suite, written = Suite(settings), 0.0
    for number, (name, looking, audit) in enumerate(planned, 1):
        finding = suite.run(name, looking, partial(audited, name, audit))
        said = finding.verdict if finding.as_expected else f"{finding.verdict}, NOT EXPECTED"
        print(f"[{number}/{len(planned)}] {name}: {said} ({finding.seconds:.0f} s)", flush=True)
        if time.monotonic() - written > 60 or number == len(planned) or not finding.as_expected:
            write(suite, command, len(planned), sum(one.seconds for one in suite.findings), options.out)
            written = time.monotonic()
    print(counts(suite))
    if suite.false_alarm_rate > MOST_FALSE_ALARMS:
        raise SystemExit(
            f"the audit would reject correct models in {suite.false_alarm_rate:.2g} of its runs: too often"
        )
    if not suite.passed:
        raise SystemExit(1)
    shutil.rmtree(state)  # the audit is complete: the next one starts anew


if __name__ == "__main__":
    main()
