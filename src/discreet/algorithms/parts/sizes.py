"""Sizes of scores: a noisy histogram of their norms, and the best clip norm for it.

A row's contribution to the gradient is score z, of norm size |z|. A smaller clip norm means less
noise and more sampling error; the histogram predicts both for every clip norm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import erf

from discreet.rows import Floats

# Cell edges in units of a typical norm: half octaves. Norms beyond the last edge are
# practically never kept.
EDGES = 2.0 ** np.arange(-4.0, 9.01, 0.5)
_LOW = np.concatenate([[0.0], EDGES])
_MIDDLES = np.concatenate([[EDGES[0] / 2], np.sqrt(EDGES[1:] * EDGES[:-1]), [EDGES[-1] * 1.2]])
# The clip norms that are tried, in the same units.
_CLIPS = 2.0 ** np.arange(-3.0, 9.01, 0.25)
# Those of a mean, in the largest norms seen.
_WIDE = 2.0 ** np.arange(-2.0, 1.01, 0.25)
# If noise is negligible, the clip norm leaves this much room above the largest norm.
_ROOM, _NO_NOISE = math.sqrt(2), 0.01
# A larger clip norm has less bias if the model is wrong: the largest one that increases the
# risk by at most this part.
SLACK = 0.05
# The smallest clip norm, in root mean squares: below it the noise does not fall, and the
# response is less certain.
_LEAST = 0.7
# What a curvature loses lies along few directions: it counts this many times its part of the trace.
_LOST = 4.0
# Cells count as empty unless they are, alone or with neighbours, this many standard
# deviations of the noise above 0.
CLEAR, _CLEAR_ALONE, _GAP = 3.5, 6.0, 3
# The largest part of what lies beyond a clip norm that is assumed to have one direction: for skewed
# errors, or, if only the weights of rows depend on it, for errors of probabilities. It matters from
# this part of the error on.
_LOPSIDED, _LOPSIDED_WEIGHTS = 0.3, 0.05
_MATTERS = 0.3


@dataclass(frozen=True, eq=False)
class Sizes:
    """Shares of rows by the norm of their scores, in units of ``unit``.

    ``label_free``: whether sizes are upper bounds over labels (two classes), rather
    than the sizes themselves.
    """

    unit: float
    shares: Floats
    top: float
    label_free: bool
    # Whether the histogram would have shown a single row anywhere.
    complete: bool = False
    # The share of rows that noise can hide beyond the top, at two standard deviations.
    unseen: float = 0.0

    @classmethod
    def read(cls, counts: Floats, noise_std: float, unit: float, label_free: bool) -> Sizes:
        """From noisy counts; if noise hides them, the sizes of normal scores are assumed."""
        expected = _expected(label_free)
        seen = np.where(counts > noise_std, counts, 0.0)  # noise would not average out
        total = max(float(counts.sum()), noise_std)
        trust = total**2 / (total**2 + (3 * noise_std) ** 2 * len(counts))
        # Noise in empty far cells would look like heavy tails: cells beyond the last
        # clear one count as empty.
        last = last_clear(counts, noise_std, int(np.searchsorted(EDGES, 1.0)))
        seen[last + 1 :] = 0.0
        seen /= max(float(seen.sum()), 1e-300)
        shares = trust * seen + (1 - trust) * expected
        top = float(EDGES[min(last, len(EDGES) - 1)])
        alone = _CLEAR_ALONE * noise_std < 1
        return cls(unit, shares, max(top, 1.0) * unit, label_free, alone, min(2 * noise_std / total, 1.0))

    @classmethod
    def of(cls, norms: Floats, label_free: bool) -> Sizes:
        """The same from known norms."""
        unit = math.sqrt(float(np.mean(norms**2)))
        counts = np.bincount(np.searchsorted(EDGES, norms / unit), minlength=len(EDGES) + 1).astype(np.float64)
        return cls.read(counts, 1e-9, unit, label_free)

    def best_cut(self, edge: float) -> float:
        """The clip of rows in a curvature, in squares of their typical length, if
        these are sizes of rows.

        ``edge``: how far noise would move eigenvalues, relative to them, if rows were
        clipped at typical length. Clipped rows make the curvature too small in their
        directions, and steps too long.
        """
        square = _MIDDLES**2 / max(float(self.shares @ _MIDDLES**2), 1e-300)
        caps = 2.0 ** np.arange(0.5, 8.01, 0.25)
        lost = np.array([float(self.shares @ np.maximum(square - cap, 0.0)) for cap in caps])
        return float(caps[int(np.argmin((_LOST * lost) ** 2 + (edge * caps) ** 2))])

    def scaled(self, factor: float) -> Sizes:
        """The same for scores multiplied by this factor."""
        return replace(self, unit=self.unit * factor, top=self.top * factor)

    def mean_square(self, clip: float = math.inf) -> float:
        """E min(norm, clip)^2."""
        return float(self.shares @ np.minimum(_MIDDLES, clip / self.unit) ** 2) * self.unit**2

    def kept(self, clip: float) -> float:
        """The part of the curvature that the clip norm keeps."""
        c = clip / self.unit
        if self.label_free:
            square = float(self.shares @ _MIDDLES**2)
            return float(self.shares @ (_MIDDLES * np.minimum(_MIDDLES, c))) / max(square, 1e-300)
        inside = np.clip((c - _LOW) / np.maximum(np.append(EDGES, EDGES[-1] * 1.44) - _LOW, 1e-300), 0.0, 1.0)
        return float(self.shares @ inside)

    def all_within(self, clip: float) -> bool:
        """Whether no score is beyond the clip norm, for certain."""
        return self.complete and clip >= self.top

    def beyond(self, clip: float) -> float:
        """E max(norm - clip, 0), the mean of what a clip norm removes: an upper
        bound on its bias.
        """
        return float(self.shares @ np.maximum(_MIDDLES - clip / self.unit, 0.0)) * self.unit

    def hidden_beyond(self, clip: float) -> float:
        """The same, with rows that noise may hide at up to twice the top."""
        return self.beyond(clip) + self.unseen * max(2 * self.top - clip, 0.0)

    def risk(self, clip: float, noise_per_clip: float, variance: float, rows: float) -> float:
        """The predicted variance of a coordinate of the estimate, times the squared curvature.

        ``noise_per_clip``: the noise's standard deviation in a mean of scores clipped at 1.
        ``variance``: that of a coordinate of the unclipped score.
        """
        kept = max(self.kept(clip), 0.02)
        # If clipping seems to reduce the sampling error (heavy tails), it estimates something else.
        sampling = max(self.mean_square(clip) / max(self.mean_square(), 1e-300) / kept**2, 1.0) * variance / rows
        return sampling + (noise_per_clip * clip / kept) ** 2

    def best_clip(self, noise_per_clip: float, variance: float, rows: float) -> float:
        """The largest clip norm with nearly the smallest predicted risk, at most
        the largest size.
        """
        risks = np.array([self.risk(c * self.unit, noise_per_clip, variance, rows) for c in _CLIPS])
        good = np.flatnonzero((risks <= (1 + SLACK) * risks.min()) & (_CLIPS * self.unit <= self.top * (1 + 1e-9)))
        best = good[-1] if len(good) else int(np.argmin(risks))
        return max(float(_CLIPS[best]) * self.unit, _LEAST * math.sqrt(self.mean_square()))

    def clip_of_none(self, noise_per_clip: float, variance: float, rows: float) -> float:
        """A clip norm that later steps hardly reach, or 0 if its noise is not negligible: scores
        change with each step, and the curvature of a clipped row is lost.
        """
        negligible = _NO_NOISE * math.sqrt(variance / rows) / noise_per_clip
        return min(_ROOM * self.top, negligible) if negligible > self.top else 0.0

    def widest_clip(self, noise_per_clip: float) -> float:
        """The clip norm of a mean that has the smallest predicted error.

        What lies beyond may all be on one side, and rows that noise hides twice as far as the top.
        """
        clips = self.top * _WIDE
        bias = [self.hidden_beyond(clip) for clip in clips]
        return float(clips[int(np.argmin((noise_per_clip * clips) ** 2 + np.square(bias)))])

    def score_variance_ratio(self, clip: float) -> float:
        """The variance of clipped scores divided by their curvature,
        relative to that without a clip.
        """
        if self.label_free:
            crossed = float(self.shares @ (_MIDDLES * np.minimum(_MIDDLES, clip / self.unit))) * self.unit**2
            return self.mean_square(clip) / max(crossed, 1e-300)
        return self.mean_square(clip) / max(self.mean_square() * self.kept(clip), 1e-300)

    def levels(self, clip: float, noise_per_norm: float, variance: float, size: int) -> list[tuple[float, float]]:
        """Octaves above the clip norm whose bias could matter, as pairs (bottom, top).

        It matters if it may exceed the noise of its own release, and the part
        ``_MATTERS`` of the existing error (``variance``: that of a coordinate of the mean score,
        from noise and sampling).
        """
        found, bottom = [], clip
        while bottom < self.top * (1 - 1e-9):
            top = 2 * bottom
            bias = (_LOPSIDED_WEIGHTS if self.label_free else _LOPSIDED) * (self.beyond(bottom) - self.beyond(top))
            if bias > math.sqrt(size) * max(noise_per_norm * (top - bottom), _MATTERS * math.sqrt(variance)):
                found.append((bottom, top))
            bottom = top
        return found

    def share(self, bottom: float, top: float) -> float:
        """The curvature of rows between two norms, as a share."""
        return max(self.kept(top) - self.kept(bottom), 0.0)


def last_clear(counts: Floats, noise_std: float, otherwise: int) -> int:
    """The uppermost cell of a histogram that is clear of noise, alone or with up
    to three cells below it.

    An isolated cell must be clearer: noise produces one somewhere once in a few hundred histograms.
    """
    last = -1
    for i, count in enumerate(counts):
        if last >= 0 and i - last > _GAP:
            if count > _CLEAR_ALONE * noise_std:
                last = i
            continue
        widths = range(1, min(i - last, _GAP + 1) + 1)
        together = (
            float(np.sum(counts[i + 1 - width : i + 1])) > CLEAR * noise_std * math.sqrt(width) for width in widths
        )
        if count > noise_std / 2 and any(together):
            last = i
    return last if last >= 0 else otherwise


def _expected(label_free: bool) -> Floats:
    """Shares for normal scores on rows of equal length, or for sizes that are all typical."""
    if label_free:
        shares = np.zeros(len(_MIDDLES))
        shares[int(np.searchsorted(EDGES, 1.0))] = 1.0
        return shares
    return np.diff(np.concatenate([[0.0], erf(EDGES / math.sqrt(2)), [1.0]]))
