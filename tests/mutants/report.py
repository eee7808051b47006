"""The result of a mutation run as a page: the score of each package, and every survivor with its
change.
"""

from __future__ import annotations

import difflib
from pathlib import Path
from textwrap import fill

from catalogue import PACKAGES, ROOT, Mutant
from trial import Outcome

DEAD = ("killed", "timeout")


def write_report(outcomes: list[Outcome], total: int, arguments: str, out: Path) -> None:
    """Write the page; what stands below its line "## Why" is kept from the last one."""
    kept = out.read_text().partition("\n## Why")[2] if out.exists() else ""
    lines = [
        "# Mutants",
        "",
        "Small changes to the code that privacy rests on (tests/mutants/catalogue.py), and whether a test",
        "notices.",
        "",
        fill(f"`make mutants`, here `run.py {arguments}`: {len(outcomes)} of {total} mutants.", 100),
        "",
        "| package | tried | killed | of these by time | survived | score |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_row(package, [o for o in outcomes if _package(o.mutant) == package]) for package in PACKAGES]
    lines += [_row("all", outcomes), "", "## Survivors", ""]
    left = sorted((o for o in outcomes if o.status not in DEAD), key=lambda o: o.mutant.name)
    lines += [line for outcome in left for line in _survivor(outcome)]
    out.write_text("\n".join(lines).rstrip() + "\n" + (f"\n## Why{kept}" if kept else ""))


def _package(mutant: Mutant) -> str:
    return mutant.path.split("/")[2]


def _row(name: str, outcomes: list[Outcome]) -> str:
    dead = [outcome for outcome in outcomes if outcome.status in DEAD]
    slow = sum(outcome.status == "timeout" for outcome in dead)
    score = f"{100 * len(dead) / len(outcomes):.1f} %" if outcomes else ""
    return f"| {name} | {len(outcomes)} | {len(dead)} | {slow} | {len(outcomes) - len(dead)} | {score} |"


def _survivor(outcome: Outcome) -> list[str]:
    mutant = outcome.mutant
    before, after = (ROOT / mutant.path).read_text().splitlines(), mutant.source().splitlines()
    changes = [line for line in difflib.unified_diff(before, after, lineterm="", n=0) if line[:3] not in ("---", "+++")]
    shown = [f"    {line}" for line in changes if not line.startswith("@@")]
    note = "" if outcome.status == "survived" else f" ({outcome.status})"
    return [f"- `{mutant.name}`{note}, {outcome.tests} tests", "", *shown, ""]
