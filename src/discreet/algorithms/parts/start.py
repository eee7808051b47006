"""The start of a descent: white coordinates, and a point from the linear fit in them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.algorithms.parts.filter import Filter
from discreet.algorithms.parts.foresight import Foresight
from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.looks import Columns
from discreet.algorithms.parts.plan import Plan
from discreet.algorithms.parts.shrink import clear
from discreet.algorithms.steps.coordinates import Coordinates, beyond_noise
from discreet.algorithms.steps.first_look import Scaling
from discreet.algorithms.steps.glm_model import GlmModel, Guess
from discreet.algorithms.steps.rare import RareColumns
from discreet.algorithms.steps.whitening import LabelScale, LinearStart, Whitening
from discreet.privacy import GDP
from discreet.rows import Floats, LinearMap, MappedMoment, RowsUsed, Source

# The squared coefficient of variation of amounts whose spread noise hides is at most this. One that
# is too small is corrected by squared residuals; one that is far too large makes these noisy, and
# centres clipped scores wrongly.
_VARIATION = 1.0
# The mean label of a rare category is at least this many standard deviations of its noise away from
# the ends of the range.
_NEAR = 2.0
# Public rows differ if private rows, clipped at this, keep less than this part of their constants'
# squares; the weight of labels there is negligible.
_LONGEST, _KEPT, _DOUBT, _NO_LABEL = 1.25, 0.5, 0.25, 1e-6


@dataclass(frozen=True, eq=False)
class Start:
    """The point from which the last gradients start, and what earlier releases tell."""

    plan: Plan
    frame: Frame
    phi: Floats
    label: LabelScale
    columns: Columns
    used: RowsUsed | None
    # The mean of x by the first look.
    x_centre: Floats
    white: Whitening | None = None
    # The share of the budget that earlier steps have left (or, if negative, that they took more).
    saved: float = 0.0
    # Steps of the warm-up, and gradients of a rehearsal.
    steps: int = 0
    rehearsed: int = 0
    # Passes over the rows besides the last gradients. (Public rows' two are not counted.)
    passes: int = 0
    # The share of a search along the last predictor.
    last_search: float = 0.0
    # The public fit.
    public: Floats | None = None
    # The constants by the look, with given slopes, and the variance of their noise.
    constants: Callable[[Frame, Floats], tuple[Floats, float]] | None = None
    # That of index models, which goes on.
    filter: Filter | None = None

    def gradients(self, share: float, beside: float = 0.0) -> GDP:
        """The cost of a share of the last gradients; ``beside``: the share of other questions."""
        return self.plan.gradients(share, self.steps, self.saved - beside)


def first_coordinates(
    model: GlmModel, scaling: Scaling, guess: Guess | None, rare: RareColumns | None = None
) -> Coordinates:
    """The public rows' white coordinates, or features that are centred and divided by a common
    scale; columns that may be indicators of rare categories, by that of an indicator.
    """
    if guess is not None and guess.coordinates is not None:
        return guess.coordinates
    origin, scale = model.origin, scaling.x_scale
    if origin is not None:
        scale = math.hypot(scale, float(np.sqrt(np.mean((scaling.x_centre - origin) ** 2))))
    scales = scale if rare is None else rare.scales(scale, origin)
    if rare is not None and rare.declared:
        return _with_categories(rare, scaling.x_centre, scales, origin)
    return (
        Coordinates.scaled(scaling.x_centre, scales) if origin is None else Coordinates.through_origin(origin, scales)
    )


def _with_categories(rare: RareColumns, centre: Floats, scales: float | Floats, origin: Floats | None) -> Coordinates:
    """The same, and white within each declared category."""
    root, middle = np.diag(1 / (scales + np.zeros(len(centre)))), centre.copy()
    for one in rare.declared:
        root[one.places, one.places] = one.root(origin is None)
        middle[one.places] = one.mean
    return Coordinates.turned(root, middle) if origin is None else Coordinates.turned(root, origin, constant=False)


def start(
    source: Source, model: GlmModel, label: LabelScale, linear: LinearStart, offset: float, count: float
) -> tuple[Frame, Floats]:
    """The frame, and coefficients that correspond to the linear fit; ``offset``:
    log of the mean exposure.
    """
    coordinates = linear.white.coordinates
    constant = coordinates.constant
    foresight = Foresight(model, constant, offset)
    slopes = linear.phi[int(constant) :] * label.scale
    if model.link.is_identity:
        middle = label.centre + label.scale * float(linear.phi[0]) if constant else 0.0
        phi = np.concatenate([[middle], slopes]) if constant else slopes
    else:
        # Far from the optimum a curved loss is flat, and steps from there are long and noisy: a
        # start with slopes of noise is worse than one without slopes.
        slopes = slopes * clear(slopes, (label.scale * linear.noise_std) ** 2)
        phi = foresight.start(model.sensible_mean(label.centre), slopes, label.scale**2)
        phi = _rare_groups(model, foresight, label, linear, phi)
    dispersion = 1.0
    if not model.family.dispersion_known:
        mean = model.link.mean((float(phi[0]) if constant else 0.0) + offset)
        variance = max(float(model.family.variance(mean)), 1e-12)
        dispersion = max(label.scale**2 * linear.residual_variance / variance, 1e-9)
        if label.hidden:
            dispersion = min(dispersion, _VARIATION * float(mean) ** 2 / variance)
    return Frame(source, model, coordinates, foresight, count, dispersion, rare=linear.white.rare), phi


def _rare_groups(model: GlmModel, foresight: Foresight, label: LabelScale, linear: LinearStart, phi: Floats) -> Floats:
    """The start with the predictors of rare categories that give their mean labels by the linear
    fit. A curved link is not linear over their distance to other rows.

    But nor is the linear fit right so far out, and may leave the range of labels. If the slopes
    lead to a predictor that is nearer to that of other rows, it is kept: steps from too far out are
    clipped, or much too long.
    """
    if linear.white.rare is None:
        return phi
    first, found, mean = int(foresight.constant), phi.copy(), model.sensible_mean(label.centre)
    for one in linear.white.rare.directions(linear.white.coordinates):
        noise = label.scale * linear.noise_std * float(np.linalg.norm(one.row))
        differs = float(beyond_noise(np.array([label.scale * float(one.row @ linear.phi)]), noise)[0])
        # Not closer to the ends of the range than noise allows to tell: predictors diverge there.
        low, high = model.labels.low + _NEAR * noise, model.labels.high - _NEAR * noise
        group = model.sensible_mean(min(max(mean + differs, min(mean, low)), max(mean, high)))
        others = phi[first:] - float(one.row @ phi) * one.change[first:]
        away = foresight.constant_for(group, others) - foresight.constant_for(mean, others)
        own = float(one.row @ phi)
        if own * away > 0:
            away = math.copysign(min(abs(own), abs(away)), own)
        found += (away - own) * one.change
    return found


def resembles_public(
    source: Source, cost: GDP, model: GlmModel, scaling: Scaling, label: LabelScale, guess: Guess | None
) -> bool:
    """Whether private rows are like public ones: of length about sqrt(size) in the
    coordinates of the public ones.

    Next to a constant of 1, a row gets half its length over sqrt(size), and the whole is clipped at
    1.25. A row as expected keeps its constant, and one that is three times too long keeps half of
    its square. The noise is that of a few numbers, for any number of columns. If in doubt the
    answer is yes: the share of rows that keep their constants must be precise enough that a wrong
    no has a probability of at most 1 in 100.

    Privacy: one sum, if the guess has coordinates.
    """
    if guess is None or guess.coordinates is None:
        return True
    coordinates = guess.coordinates
    matrix = coordinates.matrix / (2 * math.sqrt(coordinates.size))
    matrix[0] = np.eye(1, matrix.shape[1])[0]
    query = MappedMoment(
        map=LinearMap(matrix),
        labels=label.labels,
        y_centre=label.centre,
        y_scale=label.scale,
        y_bound=1.0,
        y_weight=_NO_LABEL,
        radius=_LONGEST,
        label="second moment where public rows lie",
    )
    answer = source.sum(query, cost)
    seen, noise_std = float(answer.value[0, 0]) / scaling.count, answer.noise_std / scaling.count
    return noise_std > _DOUBT or seen + noise_std > _KEPT
