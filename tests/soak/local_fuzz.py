"""A million odd tasks, records and reports to the clients in both languages: ``make fuzz``.

Stops at the first input that makes a reader crash or that the readers do not judge alike
(tests/local_fuzz.py). What was seen is written to ``benchmarks/results/local_fuzz.md``.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.local_fuzz import fuzz, node_program, tasks  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "local_fuzz.md"
_PART = 50_000
_WORDS = {"task": "task documents", "wire": "reports, as bytes", "record": "records"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    program = node_program()
    if program is None:
        raise SystemExit("Node is not installed: the JavaScript client cannot be tested")
    started, offered = time.monotonic(), tasks()
    inputs, accepted = dict.fromkeys(_WORDS, 0), dict.fromkeys(_WORDS, 0)
    for part, start in enumerate(range(0, options.inputs, _PART)):
        tally = fuzz(offered, min(_PART, options.inputs - start), options.seed + part, node=True)
        for kind in _WORDS:
            inputs[kind] += tally.inputs[kind]
            accepted[kind] += tally.accepted[kind]
        print(f"{sum(inputs.values()):,} inputs, {time.monotonic() - started:.0f} s", flush=True)
        write(program, options.seed, inputs, accepted)


def write(program: str, seed: int, inputs: dict[str, int], accepted: dict[str, int]) -> None:
    """What was seen so far; the command is the one that sees as much."""
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    lines = [
        "# Odd tasks, records and reports in both languages",
        "",
        f"`python tests/soak/local_fuzz.py --inputs {sum(inputs.values())} --seed {seed}`, {datetime.date.today()}, "
        f"Python {platform.python_version()}, Node {version}.",
        "",
        "Every input was judged by discreet, by the JavaScript client as the participants' page is served",
        "it, and tasks and reports by a plain reading of docs/local_wire.md that shares no code with",
        "either. No reader crashed, and all judged every input alike: digests of tasks, ids and numbers of",
        "reports, vectors and reports of records to the last bit.",
        "",
        "| inputs | tried | accepted, by all |",
        "|---|---:|---:|",
        *(f"| {words} | {inputs[kind]:,} | {accepted[kind]:,} |" for kind, words in _WORDS.items()),
        "",
        "(A record is accepted if it has all columns, whatever they hold.)",
    ]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
