"""The ordering of RELU's Table 4 on synthetic rows of condition 1 (see relu_accuracy.py for how they are made).

    python -m experiments.relu_table4 [--seeds 20] [--slow-seeds 3]

The paper's numbers are on data of its own, and not on this scale; what can be compared is the order. The constant 0 has
about 0.49. ``sgd`` and ``glmtron`` ask each row apart, which is slow, so they have fewer seeds.
"""

from __future__ import annotations

import argparse
import multiprocessing
from pathlib import Path

from experiments.relu_accuracy import row

RESULTS = Path(__file__).with_suffix(".md")
PAPER = {
    "minibatch": "5.63 4.82 4.81",
    "tree": "8.06 5.14 5.25",
    "glmtron": "8.74 6.25 5.63",
    "sgd": "9.74 7.38 6.82",
}
ROWS = ("auto", "pgd", "minibatch, printed noise", "glmtron, printed noise", *PAPER)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--slow-seeds", type=int, default=3)
    arguments = parser.parse_args()
    lines = [
        "# RELU, Table 4: test excess risk at epsilon .05, .2, .5 (delta 1e-6)",
        "",
        f"Made by `python -m experiments.relu_table4 --seeds {arguments.seeds} --slow-seeds {arguments.slow_seeds}`.",
        *(__doc__ or "").split("\n")[4:],
        "| solver | 0.05 | 0.2 | 0.5 | the paper |",
        "|---|---|---|---|---|",
    ]
    with multiprocessing.Pool(2) as pool:
        for name in ROWS:
            solver, _, printed = name.partition(",")
            options = {"solver": solver, "calibration": "paper" if printed else "tight", "fit_intercept": False}
            seeds = arguments.slow_seeds if solver in ("sgd", "glmtron") else arguments.seeds
            line = row(pool, name, 1.0, options, (0.05, 0.2, 0.5), seeds)
            lines.append(f"{line} {'' if printed else PAPER.get(solver, '')} |")
            # Written row by row: the last ones take long.
            RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
