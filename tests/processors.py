"""``make test-processors``: the suite as other processors would run it, and a table of what failed
on which.

OpenBLAS picks its loops, and numpy its own, by the processor that they find. Both can be told to
take those of another, whose sums round otherwise: tests must pass with all of them.

python tests/processors.py [--only Haswell] [pytest's arguments]
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NO_AVX512 = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"
PROCESSORS = {
    "this one": {},
    **{name: {"OPENBLAS_CORETYPE": name} for name in ("Prescott", "Haswell", "Zen", "SkylakeX")},
    "without AVX-512": {"NPY_DISABLE_CPU_FEATURES": NO_AVX512},
}


def run(name: str, arguments: list[str]) -> tuple[bool, str]:
    """Whether all tests passed, and a row of the table."""
    started = time.monotonic()
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        "auto",
        "--dist",
        "worksteal",
        "-p",
        "no:cacheprovider",
        *arguments,
    ]
    ended = subprocess.run(command, cwd=ROOT, env={**os.environ, **PROCESSORS[name]}, capture_output=True, text=True)
    counts = {word: _count(ended.stdout, word) for word in ("passed", "failed", "error")}
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", ended.stdout, re.MULTILINE)
    minutes, seconds = divmod(round(time.monotonic() - started), 60)
    row = f"| {name} | {counts['passed']} | {counts['failed'] + counts['error']} | {minutes}:{seconds:02} |"
    for test in failed:
        print(f"{name}: {test}", flush=True)
    return ended.returncode == 0 and counts["passed"] > 0, row


def _count(text: str, word: str) -> int:
    """The number before a word in pytest's last lines."""
    found = re.findall(rf"(\d+) {word}s?\b", text[-2000:])
    return int(found[-1]) if found else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=sorted(PROCESSORS), help="one of them; may be repeated")
    asked, arguments = parser.parse_known_args()
    results = []
    for name in asked.only or PROCESSORS:
        results.append(run(name, arguments))
        print(results[-1][1], flush=True)
    print("\n| processor | passed | failed | minutes |\n|---|---|---|---|")
    print("\n".join(row for _, row in results))
    sys.exit(0 if all(passed for passed, _ in results) else 1)


if __name__ == "__main__":
    main()
