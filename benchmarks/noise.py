"""Speed of the noise samplers: draws per second, ours with and without `cryptography`, and
opendp's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np

from discreet.noise import bits, discrete_gaussian, discrete_laplace, gumbel_top, permute_and_flip

COMMAND = "python benchmarks/noise.py"
TARGET = Path(__file__).parent / "results" / "noise.md"
SCALES = [2.5, 1000.5, 1e9]
OURS, THEIRS = 1_000_000, 20_000  # opendp is slow enough that fewer draws time it well
ROUNDS = 3  # the best of them counts, as other work on the machine can only slow a round down


def seconds(action: Callable[[], object]) -> float:
    """Time of the fastest of a few rounds, after one that warms caches up."""
    action()
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def million_per_second(draw: Callable[[float, int], object], scale: float, count: int) -> float:
    """Draws per second, in millions."""
    return count / seconds(lambda: draw(scale, count)) / 1e6


def without_cryptography(scale: float, count: int) -> object:
    """Draw as on a machine where `cryptography` is not installed."""
    with mock.patch.object(bits, "_aes_counter_mode", return_value=None):
        return discrete_gaussian(scale, count)


def opendp_gaussian(scale: float, count: int) -> object:
    """Draw with opendp's sampler for integer vectors."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=int))
    return dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale)([0] * count)


def speed_table() -> list[str]:
    """One row per sampler, one column per scale, in million draws per second."""
    samplers: list[tuple[str, Callable[[float, int], object], int]] = [
        ("discrete Gaussian, AES bits", discrete_gaussian, OURS),
        ("discrete Gaussian, without `cryptography`", without_cryptography, OURS),
        ("discrete Laplace, AES bits", discrete_laplace, OURS),
        ("opendp discrete Gaussian", opendp_gaussian, THEIRS),
    ]
    lines = ["| million draws per second | " + " | ".join(f"scale {scale:g}" for scale in SCALES) + " |"]
    lines.append("|---" * (len(SCALES) + 1) + "|")
    for name, draw, count in samplers:
        print(f"timing {name} ...", flush=True)
        speeds = [million_per_second(draw, scale, count) for scale in SCALES]
        lines.append(f"| {name} | " + " | ".join(f"{speed:.3g}" for speed in speeds) + " |")
    return lines


def selection_table() -> list[str]:
    """Time of one choice among 10,000 candidates."""
    print("timing selection ...", flush=True)
    scores = np.linspace(-5.0, 5.0, 10_000)
    top = seconds(lambda: gumbel_top(scores, 10, 1.0))
    flip = seconds(lambda: permute_and_flip(scores, 1.0))
    return [
        "| choice among 10,000 candidates | milliseconds |",
        "|---|---|",
        f"| `gumbel_top`, s = 10 | {1e3 * top:.2g} |",
        f"| `permute_and_flip` | {1e3 * flip:.2g} |",
    ]


def main() -> None:
    """Time everything and write the tables."""
    lines = [f"`{COMMAND}`", "", *speed_table(), "", *selection_table(), ""]
    lines += [f"One process. Best of {ROUNDS} rounds of {OURS:,} draws ({THEIRS:,} for opendp).", ""]
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
