"""The derivative of the gradient of clipped scores in the coefficients (the response):
foreseen, then corrected.

The response decides every step, and its inverse the standard errors. Its releases are
noisy: second moments of rows from whitening, which equal it up to a factor, and the
curvature at one or two points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from discreet.algorithms.parts.measure import Measurement, secant
from discreet.algorithms.parts.noisy_matrix import (
    Seen,
    carried_over,
    combined,
    no_flatter,
    positive,
    relative_directions,
)
from discreet.algorithms.parts.uncertain import likely_inverses
from discreet.rows import Floats

# The smallest response in a direction, relative to a typical one: in estimates, if noise hides the
# curvature and if it does not, and in steps.
_LEAST, _LEAST_SEEN, _LEAST_IN_STEPS = 0.25, 1e-3, 1.0
# A second moment of clipped rows approximates the response as if its noise were
# this many times as large.
_ROUGHLY = 1.5
# Curvatures are certain up to this many standard deviations of their noise.
_SURE = 2.0
# Curvatures that differ by less than this part of them are the same up to rounding.
_ROUNDING = 1e-9
# Directions are surely not flat from this multiple of the least response on, which is half of how
# far noise moves eigenvalues.
_CLEARLY = 3.5


@dataclass
class Response:
    """``below``: that of scores below the clip norm. ``full``: with the levels kept above it.

    ``cautious`` is used for steps. ``flatter`` is the response if levels responded in proportion to
    what is below: if all rows are clipped there, few respond above.
    """

    below: Floats
    curvatures: list[Seen] = field(default_factory=list)
    # Whether flat directions may be much steeper than they seem, because only a part of the
    # curvature was released.
    rough: bool = False
    # How many of the curvatures are moments from whitening.
    moments: int = 0
    # The number of measurements when a curvature was last released.
    released_at: int = 0
    full: Floats = field(init=False)
    flatter: Floats = field(init=False)
    cautious: Floats = field(init=False)
    # The response from curvatures alone: the change of gradients between points gives the mean
    # response on the way, which is larger than that at its end if the curvature falls.
    seen: Floats = field(init=False)
    likely: list[Floats] = field(init=False)
    typical: float = field(init=False)
    # The projection on directions whose curvature is not distinguishable from 0.
    hidden: Floats = field(init=False)

    @classmethod
    def foreseen(cls, below: Floats, moment: Seen | None, rough: bool = False) -> Response:
        """Before any curvature is released; the second moment from whitening
        gives it up to a factor.
        """
        if moment is None:
            return cls(below, [], rough)
        least = len(below) * moment.noise_std
        scale = float(np.trace(below)) / max(float(np.trace(moment.curvature)), least)
        return cls(below, [Seen(scale * moment.curvature, _ROUGHLY * scale * moment.noise_std)], rough, 1)

    def move(self, before: Floats, curve: Floats) -> None:
        """Move to another point, with another foreseen curvature."""
        self.below = carried_over(self.below, before, curve)
        self.curvatures = [
            replace(one, curvature=carried_over(one.curvature, before, curve)) for one in self.curvatures
        ]

    def see(self, below: Floats, seen: Seen, measurements: int, *, replaces: bool = False) -> None:
        """Add a curvature that was released with the last of these measurements, and its
        combination with the expected one.

        ``replaces``: where these differ, earlier releases, which are of all rows alike, give way:
        where some rows have larger errors, the clip norm keeps fewer of them.
        """
        if replaces:
            self.curvatures = [
                replace(one, curvature=_replaced(one.curvature, self.below, below)) for one in self.curvatures
            ]
        self.below, self.released_at = below, measurements
        self.curvatures.append(seen)

    def released(self) -> Seen:
        """All released curvatures combined, weighted by their precision."""
        return combined(self.curvatures)

    def steepest(self, foreseen: Floats) -> Floats:
        """A foreseen curvature, in every direction at least what earlier
        points show with certainty.
        """
        for one in self.curvatures[1:-1]:
            sure = one.curvature - _SURE * one.noise_std * np.eye(len(foreseen))
            foreseen = no_flatter(sure, foreseen, 1.0)
        return foreseen

    def complete(
        self,
        foreseen: Floats,
        kept: float,
        above: Floats,
        doubt: float,
        measurements: Sequence[Measurement],
        keeps: Sequence[float],
        nonlinearity: Callable[[Floats], float],
        bend: Callable[[Floats, Floats], float],
    ) -> None:
        """Add levels, which keep ``above`` of the curvature, and the change of
        gradients between points. ``foreseen``: the response below the clip norm, which keeps
        ``kept`` of the curvature of typical rows. ``bend``: the relative error of a response along
        the way between two points, which differs from that at its end.

        If all rows of a group are clipped the gradient hardly responds, until a step
        brings them back. So no direction is taken to be much flatter than foreseen, unless
        its curvature is measured.
        """
        full = self.seen = self.below + above
        for number, (earlier, later) in enumerate(pairwise(measurements), start=2):
            if nonlinearity(later.phi - earlier.phi) < 1:
                # After the last release nothing else tells how the response has changed.
                known, off = (
                    math.sqrt(self.wrong(doubt)),
                    bend(earlier.phi, later.phi) if number <= self.released_at else 0.0,
                )
                full = secant(full, earlier, later, keeps, 1 / (1 + (off / max(known, 1e-300)) ** 2))
        typical = float(np.trace(foreseen)) / len(foreseen)
        least = min(max(_LEAST_SEEN, doubt / 2), _LEAST)
        self.full = no_flatter(full, foreseen, least)
        self.hidden = _hidden(full, foreseen, least) if doubt / 2 > _LEAST_SEEN else np.zeros_like(full)
        levels = float(np.trace(above) / np.trace(foreseen))
        self.flatter = no_flatter(self.below * (1 + levels), foreseen, least)
        self.cautious = positive(self.full, _LEAST_IN_STEPS * typical / kept)
        self.seen = no_flatter(self.seen, foreseen, least)
        self.likely = [self.full, self.flatter]
        self.typical = typical
        if self.rough:
            self.full = self.cautious

    def wrong(self, doubt: float) -> float:
        """The square of the relative error of the response below the clip norm, apart from how it
        changes. ``doubt``: how far noise moves the eigenvalues of a released one, relative to them.

        Where noise hides the released curvature the response is the foreseen one, and its error is
        the misfit of the foresight, not the noise. The squares of released minus assumed entries
        add up to the misfit's and the noise's; the latter are noise_std^2 times a chi-square. The
        moment that made the coordinates does not count: its noise is in them.
        """
        most = min(doubt / 2, 1.0) ** 2  # half of the edge is its root mean square
        if len(self.curvatures) <= self.moments:
            return most
        *earlier, last = self.curvatures[self.moments :]
        released = combined([*(one.beside(last) for one in earlier), last])
        size, variance = len(self.below), released.noise_std**2
        numbers = size * (size + 1) / 2
        square = float(np.sum((released.curvature - self.below) ** 2))
        misfit = max(square - numbers * variance, 0.0) + math.sqrt(2 * numbers) * variance
        typical = max(float(np.trace(self.below)) / size, 1e-300)
        return min(misfit / size / typical**2, most)

    def inverses(self, penalty: Floats, *, levels: bool) -> list[Floats]:
        """Inverses of possible responses, given all releases.

        The last curvature shows the error of the second moment of rows, which ignores weights and
        in which long rows are clipped, and of earlier curvatures, if weights have changed
        differently than foreseen.
        """
        *earlier, last = self.curvatures
        seen = [*(one.beside(last) for one in earlier), last]
        ways = self.likely if levels else self.likely[:1]
        return [one for way in ways for one in likely_inverses(way, self.below, seen, penalty, self.typical)]


def _replaced(earlier: Floats, expected: Floats, seen: Floats) -> Floats:
    """An earlier curvature, with what a later one shows to differ clearly from the expected."""
    values, vectors = np.linalg.eigh(seen - expected)
    clear = vectors[:, np.abs(values) > _ROUNDING * float(np.trace(seen))]
    other = np.einsum("ij,ik,kj->j", clear, seen - earlier, clear)
    return np.asarray(earlier + (clear * other) @ clear.T)


def _hidden(response: Floats, curve: Floats, least: float) -> Floats:
    """All of a direction that is as flat as ``least``, and none from ``_CLEARLY`` times that on."""
    values, directions, _ = relative_directions(response, curve)
    part = np.clip((_CLEARLY - values / least) / (_CLEARLY - 1), 0.0, 1.0)
    flat = directions / np.maximum(np.linalg.norm(directions, axis=0), 1e-300) * part
    return np.asarray(flat @ flat.T)
