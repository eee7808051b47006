"""Do 95 % intervals from a joint release cover? A grid of designs, numbers of people and epsilons.

    python -m experiments.mpr.coverage [--repeats 200] [--releases FOLDER]

Every repeat draws people, makes all parties' releases with discreet, and checks whether the
population's coefficients lie in their intervals. Cells are divided by what the output says: "firm",
or that intervals lean on an assumption ("the noise hides some combinations", "the noise drowns the
signal"). With ``--releases`` the joint releases are kept in that folder and used again: intervals
are post-processing.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from discreet.parties import Joint, PartyRelease, Plan, join
from experiments.mpr.joint import released
from experiments.pages import write_page

GRID = (
    *((3_000, 1.0), (3_000, 3.0), (3_000, 10.0)),
    *((20_000, 1.0), (20_000, 3.0), (20_000, 10.0)),
    *((100_000, 1.0), (100_000, 3.0)),
)
Design = tuple[pd.DataFrame, list[list[str]], dict[str, float]]


def uniform(n: int, rng: np.random.Generator) -> Design:
    """Uniform columns, two of which, at different parties, correlate by .7; little is left
    unexplained.
    """
    x = rng.uniform(-1, 1, (n, 4))
    x[:, 2] = 0.5 * x[:, 0] + 0.5 * x[:, 2]
    return _design(x, [0.4, 0.0, -0.3, 0.2], 0.1 * rng.uniform(-1, 1, n), [["x0", "x1"], ["x2"], ["x3", "y"]])


def gaussian(n: int, rng: np.random.Generator) -> Design:
    """Gaussian columns and errors, clipped at four standard deviations; two columns of two parties
    correlate by .7.
    """
    z = rng.normal(size=(n, 4))
    z[:, 1] = 0.7 * z[:, 0] + np.sqrt(0.51) * z[:, 1]
    x = np.clip(z / 4, -1, 1)
    return _design(x, [0.5, -0.3, 0.2, 0.0], 0.15 * rng.normal(size=n), [["x0", "x2"], ["x1", "x3"], ["y"]])


def skewed(n: int, rng: np.random.Generator) -> Design:
    """A rare group, an exponential column that depends on it, and a uniform one."""
    group = np.where(rng.random(n) < 0.2, 1.0, -1.0)
    waiting = np.clip(rng.exponential(0.3, n) - 1 + 0.3 * (group > 0), -1, 1)
    x = np.column_stack([group, waiting, rng.uniform(-1, 1, n)])
    return _design(x, [0.3, 0.3, -0.1], 0.1 * rng.normal(size=n), [["x0"], ["x1", "x2"], ["y"]])


def many(n: int, rng: np.random.Generator) -> Design:
    """Ten uniform columns of five parties."""
    x = rng.uniform(-1, 1, (n, 10))
    parties = [[f"x{2 * i}", f"x{2 * i + 1}"] for i in range(5)]
    return _design(x, np.linspace(-0.1, 0.1, 10), 0.1 * rng.uniform(-1, 1, n), [*parties, ["y"]])


DESIGNS: dict[str, Callable[[int, np.random.Generator], Design]] = {
    "uniform": uniform,
    "gaussian": gaussian,
    "skewed": skewed,
    "many": many,
}


def _design(x: np.ndarray, coef: object, errors: np.ndarray, owners: list[list[str]]) -> Design:
    names = [f"x{i}" for i in range(x.shape[1])]
    truth = dict(zip(names, np.asarray(coef, dtype=float).tolist(), strict=True))
    label = np.clip(x @ np.asarray(coef, dtype=float) + errors, -1, 1)
    return pd.DataFrame(x, columns=names).assign(y=label), owners, truth


def joint_release(design: str, n: int, epsilon: float, seed: int) -> tuple[Joint, dict[str, float]]:
    """All parties' releases about freshly drawn people, and the population's coefficients."""
    table, owners, truth = DESIGNS[design](n, np.random.default_rng(seed))
    parties = [
        {"name": f"party {i}", "columns": [{"name": c, "low": -1.0, "high": 1.0} for c in own]}
        for i, own in enumerate(owners)
    ]
    basic = {"format": 2, "name": "coverage", "key": "id", "people": n, "seed": f"{design} {seed}", "label": "y"}
    plan = Plan.from_dict({**basic, "epsilon": epsilon, "delta": 1e-5, "parties": parties})
    return released(plan, table), truth


def joint_releases(design: str, n: int, epsilon: float, repeats: int, folder: Path | None) -> list[Any]:
    """Made, or read from the folder's release files of an earlier run."""
    path = None if folder is None else folder / f"{design}_{n}_{epsilon:g}.json"
    if path is not None and path.is_file():
        held = json.loads(path.read_text())[:repeats]
        return [(join(PartyRelease.from_bytes(one.encode()) for one in files), truth) for files, truth in held]
    made = [joint_release(design, n, epsilon, seed) for seed in range(repeats)]
    if path is not None:
        path.write_text(json.dumps([[[r.to_bytes().decode() for r in one.releases], truth] for one, truth in made]))
    return made


def look(joint: Joint, truth: dict[str, float]) -> tuple[np.ndarray, np.ndarray, str]:
    """Which coefficients are covered, how wide the intervals are in standard deviations, and what
    the output says.
    """
    label = str(joint.plan.label)
    result = joint.regress(label)
    chosen, target = joint.positions(label, None)
    low, high = result.results_.intervals()[1:].T
    wanted = np.array([truth[name] for name in result.results_.names[1:]])
    per_unit = joint.width[chosen] / joint.width[target]
    said = "drowned" if result.drowned else "leaning" if result.solution.ridge > 0 else "firm"
    return (low <= wanted) & (wanted <= high), (high - low) * per_unit, said


def line(design: str, n: int, epsilon: float, repeats: int, folder: Path | None = None) -> str:
    found = [look(*one) for one in joint_releases(design, n, epsilon, repeats, folder)]
    covered = np.array([one[0] for one in found])
    said = np.array([one[2] for one in found])
    by_coefficient = covered.mean(axis=0)
    firm = covered[said == "firm"]
    shares = [f"{(said == kind).mean():.2f}" for kind in ("firm", "leaning", "drowned")]
    cells = [design, f"{n:,}", f"{epsilon:g}", f"**{covered.mean():.3f}**"]
    cells += [f"{by_coefficient.min():.2f} to {by_coefficient.max():.2f}"]
    cells += [f"{firm.mean():.3f}" if len(firm) >= 15 else "", f"{np.median([one[1] for one in found]):.2f}", *shares]
    return "| " + " | ".join(cells) + " |"


HEADER = """# Parties: coverage of 95 % intervals

`python -m experiments.mpr.coverage --repeats {repeats}` ({seconds:.0f} s). Share of intervals that hold the
population's coefficient: of all coefficients, and from the least to the most covered one; among repeats whose output
says nothing against them ("firm"). Width: median, for standardised columns. The last three: how often the output was
firm, said that intervals lean on standardised coefficients being about 1 at most, or that noise drowns the signal. One
coefficient's standard error is about {error:.3f}.

| design | n | epsilon | covered | by coefficient | if firm | width | firm | leaning | drowned |
|---|---|---|---|---|---|---|---|---|---|
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--only", nargs="*", default=list(DESIGNS))
    parser.add_argument("--people", nargs="*", type=int, default=sorted({n for n, _ in GRID}))
    parser.add_argument("--releases", type=Path)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".md"))
    settings = parser.parse_args()
    started = time.perf_counter()
    lines = []
    for design in settings.only:
        for n, epsilon in (cell for cell in GRID if cell[0] in settings.people):
            lines.append(line(design, n, epsilon, settings.repeats, settings.releases))
            print(lines[-1], flush=True)
    header = HEADER.format(
        repeats=settings.repeats, seconds=time.perf_counter() - started, error=np.sqrt(0.05 * 0.95 / settings.repeats)
    )
    write_page(settings.out, header + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
