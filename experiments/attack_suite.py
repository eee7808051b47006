"""The full audit: every estimator, every planted bug, and a broken library, each by replay and by black box.

Run from the root: python -m experiments.attack_suite [--runs 500] [--bug-runs 500]. Writes experiments/attack_suite.md
and a page with plots, build/audit.html; stopped, it goes on from build/audit-state. Ends with exit code 1 if a bug is
not caught or an honest model is blamed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from tests.contracts.planted_bugs import BUGS, HONEST, Bug, NoisyGradientDescent

from discreet import __version__
from discreet.audit import catalogue
from discreet.audit.outside import audit_outside
from discreet.audit.suite import BLACK_BOX_MU, Finding, Settings, Suite, audit_estimator
from discreet.audit.transcript import TranscriptAttack, World
from discreet.report.audit_page import audit_page

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "experiments" / "attack_suite.md"
BUILD = ROOT / "build"
DIFFPRIVLIB = ROOT / ".venv-diffprivlib" / "bin" / "python"
MODEL = ROOT / "experiments" / "attack_diffprivlib_model.py"
EPSILON, DELTA = 1.0, 1e-6
# A claim that the noise of a wasteful bug is for: below this share of it, the code does something else.
WASTED = 0.8


@dataclass(frozen=True)
class PlantedAttack(TranscriptAttack):
    """The attack on an estimator with a bug planted, in whatever process it runs."""

    bug: int = 0

    def __call__(self, world: World) -> list:
        with BUGS[self.bug].patch():
            return super().__call__(world)


def audit_bug(number: int, bug: Bug, settings: Settings) -> Finding:
    if bug.patch is not nullcontext:
        # It sits behind the door, where every estimator comes by: the quickest one shows it as well.
        bug = replace(bug, kind=NoisyGradientDescent)
    name, model = f"bug: {bug.name}", bug.make(EPSILON, bug.relations[0])
    with bug.patch():
        finding = audit_estimator(
            model,
            replace(settings, runs=0) if bug.wasteful else settings,
            name=name,
            kind="Planted bugs",
            expected=False,
            wrap=lambda large: PlantedAttack(large, bug=number),
        )
    if bug.wasteful and not finding.caught and finding.worst is not None and finding.worst.efficiency < WASTED:
        return replace(finding, wasted=True, note="more noise than the claim is for")
    return finding


def run_ours(suite: Suite) -> None:
    for kind in catalogue.estimators().values():
        for relation in catalogue.relations(kind):
            model = catalogue.ready(kind, EPSILON, DELTA, relation)
            suite.add(audit_estimator(model, suite.settings, kind="Estimators of discreet"))
    for honest in HONEST[1:]:
        suite.add(audit_estimator(honest.make(EPSILON, "replace_one"), suite.settings, kind="Controls without a bug"))


def run_bugs(suite: Suite, settings: Settings) -> None:
    for number, bug in enumerate(BUGS):
        suite.add(audit_bug(number, bug, settings))


def run_others(suite: Suite) -> None:
    if not DIFFPRIVLIB.exists():
        print("diffprivlib is not installed: sh benchmarks/peers/make_diffprivlib_env.sh", file=sys.stderr)
        raise SystemExit(1)
    for maker, name, honest in (
        ("make_model", "diffprivlib 0.6.6 LinearRegression, lower bound 0", False),
        ("make_control", "diffprivlib 0.6.6 LinearRegression, lower bound -1", True),
    ):
        suite.add(
            audit_outside(
                f"{MODEL}:{maker}",
                EPSILON,
                0.0,
                suite.settings,
                python=str(DIFFPRIVLIB),
                name=name,
                kind="Other people's code",
                expected=honest,
            )
        )


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
            "" if worst is None else f"{worst.claimed_mu:.4g}",
            "" if worst is None else f"{worst.efficiency:.4f}",
            "" if box is None else f"{box.mu:.2f} of {box.claimed_mu:.3g}",
            finding.verdict if finding.as_expected else f"**{finding.verdict}, not expected**",
            finding.note or ", ".join(by),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write(suite: Suite, command: str) -> None:
    """Table and page so far: an audit that is stopped has said what it found."""
    text = (
        f"# The full audit\n\nMade by `{command}`. Replay at epsilon {EPSILON:g}, delta {DELTA:g}; black box at mu "
        f"{BLACK_BOX_MU:g} (other people's code at epsilon {EPSILON:g}), {suite.settings.runs} fits on each side, each "
        f"verdict with confidence 1 - 1e-5. All honest models here together are blamed in at most 1 of "
        f"{1 / max(suite.false_alarm_rate, 1e-12):,.0f} runs.\n\n{table(suite)}\n"
    )
    OUT.write_text(text, encoding="utf-8")
    page = audit_page(suite.to_dict(), title="The full audit", version=__version__, command=command)
    (BUILD / "audit.html").write_text(page, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--bug-runs", type=int, default=500)
    parser.add_argument("--broken-only", action="store_true", help="planted bugs and other people's code only")
    options = parser.parse_args()
    command = " ".join(["python -m experiments.attack_suite", *sys.argv[1:]])
    state = BUILD / "audit-state"
    state.mkdir(parents=True, exist_ok=True)
    settings = Settings(runs=options.runs, progress=True, state_folder=str(state))

    def tell(finding: Finding) -> None:
        print(f"{finding.name}: {finding.verdict} ({finding.seconds:.0f} s)", flush=True)
        write(suite, command)

    suite = Suite(settings, listener=tell)
    bug_settings = replace(settings, runs=options.bug_runs, climbs=60)
    if not options.broken_only:
        run_ours(suite)
    run_bugs(suite, bug_settings)
    run_others(suite)
    print(table(suite))
    shutil.rmtree(state)  # it has come to its end: the next one starts afresh
    if not suite.passed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
