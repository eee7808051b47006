"""The noisy answers behind a result, with the share of the cost that each took."""

from __future__ import annotations

import math

from discreet.privacy import Guarantee, Release
from discreet.results.numbers import percent


def release_rows(guarantee: Guarantee) -> list[tuple[str, str, str, str]]:
    """Each query, how often it was asked, its noise and its share of mu^2; equal ones
    in one row.
    """
    whole = guarantee.mu**2
    rows = []
    groups: dict[tuple[str, int | None], list[Release]] = {}
    for one in guarantee.releases:
        groups.setdefault((one.label, None if one.split is None else one.split.number), []).append(one)
    for (label, _), group in groups.items():
        rows.append((label, f"{len(group):,}", _noise(group), _share(group, whole)))
    return rows


def _noise(group: list[Release]) -> str:
    stds = [one.noise_std for one in group if math.isfinite(one.noise_std)]
    if not stds:
        return "-"
    low, high = min(stds), max(stds)
    return f"{low:.3g}" if math.isclose(low, high, rel_tol=1e-3) else f"{low:.3g} to {high:.3g}"


def _share(group: list[Release], whole: float) -> str:
    split = group[0].split
    if split is not None:  # disjoint parts of the rows are paid for once
        square = split.cost.mu**2
    else:
        square = math.fsum(one.cost.mu**2 for one in group)
    return percent(square / whole) if math.isfinite(square) and math.isfinite(whole) and whole > 0 else "-"
