"""Coefficients for prediction: the estimate, shrunk to its goal by its noise.

As far as noise hides the curvature, other errors shrink it as well, the mean label of the look
gives the constant more precisely than the gradients do, and a search along the last predictor
corrects its length.
"""

from __future__ import annotations

import numpy as np

from discreet.algorithms.parts.estimate import Estimated
from discreet.algorithms.parts.frame import FARTHEST
from discreet.algorithms.parts.last_gradients import LastGradients
from discreet.algorithms.parts.line_search import nearest, profile
from discreet.algorithms.parts.shrink import nearer, shrunk
from discreet.algorithms.steps.columns import plausible
from discreet.rows import Floats

# Noise that moves the curvature's eigenvalues by this many times their size hides it.
_HIDDEN = 4.0
# The variance of a slope that tells nothing, relative to those of all others and their squares.
_NOTHING = 1e3


def predicted(last: LastGradients, known: Estimated) -> Floats:
    """What is predicted with: for an index model, what its filter believes.

    Privacy: one sum, if noise hides the curvature.
    """
    if (filtered := last.start.filter) is None:
        return _plausible(last, known, _shrunk(last, known))
    if filtered.leads:
        belief, first = filtered.believed(last.frame, last.seen, last.keeps, last.kept_above), last.frame.constants
        if last.frame.model.single_index or belief.noise is None:
            return belief.theta
        # Its prior lets slopes of noise pass where there is no signal at all.
        goal = np.where(np.arange(len(belief.theta)) < first, belief.theta, 0.0)
        return shrunk(belief.theta, belief.noise, goal, first)
    return filtered.with_estimate(known.estimate, known.spread).theta


def _shrunk(last: LastGradients, known: Estimated) -> Floats:
    """The estimate, shrunk to the public fit if it is nearer to that than to a constant."""
    estimate, start, first = known.estimate, last.start, last.frame.constants
    goal, free = np.concatenate([estimate.phi[:first], np.zeros(len(estimate.phi) - first)]), first
    hidden, public = min(1.0, (last.doubt / _HIDDEN) ** 2), start.public
    if public is not None and (last.doubt > _HIDDEN or not nearer(estimate.phi, known.spread.noise, goal, public)):
        goal, free = public, 0
    # Other errors are upper bounds: simulated designs of many kinds showed about half of
    # their standard deviation.
    noise = estimate.noise + hidden / 4 * estimate.unsure
    # Slopes that the model is without are 0, and tell nothing of how large the others are.
    noise += _NOTHING * float(np.trace(noise) + estimate.phi @ estimate.phi) * known.absent
    phi = shrunk(estimate.phi, noise, goal, free)
    if goal is public:  # it is kept if nothing is known about the estimate
        phi = (1 - hidden) * phi + hidden * goal
    if first and start.constants is not None:
        constants, variance = start.constants(last.frame, phi)
        seen = np.diagonal(noise)[:first]
        phi[:first] += hidden * seen / (seen + variance) * (constants - phi[:first])
    if start.last_search:
        # Errors of the curvature change the length of steps most, and the search corrects it: only
        # the noise of gradients shrinks its direction.
        way = phi if goal is public else shrunk(estimate.phi, estimate.noise, goal, free)
        if goal is not public and not np.any(way[first:]):
            way = estimate.phi
        phi += hidden * (_searched(last, way, phi) - phi)
    return phi


def _searched(last: LastGradients, way: Floats, guess: Floats) -> Floats:
    """The predictor in the direction of ``way`` with a length and constant that labels along it
    allow, close to those of the guess.
    """
    start, frame = last.start, last.frame
    query = profile(frame, way, start.label)
    (answer,) = frame.ask((query, start.plan.part(start.last_search)))
    return nearest(frame, way, guess, query, answer, start.label)


def _plausible(last: LastGradients, known: Estimated, phi: Floats) -> Floats:
    """Phi without implausible slopes of columns that noise hides: nothing else limits these.

    For the identity link a column that is far narrower than its bounds may have any effect
    from one to the other, but two categories hardly differ by more than labels do.
    """
    frame, columns, most = last.frame, known.hidden, last.frame.farthest
    if frame.model.link.is_identity:
        rare = np.zeros(0, dtype=int) if frame.rare is None else np.flatnonzero(frame.rare.indicators)
        columns, most = tuple(np.intersect1d(columns, rare).tolist()), FARTHEST * last.start.label.scale
    psi = phi.reshape(-1, frame.predictors)
    return plausible(frame.coordinates, psi, columns, most).reshape(-1)
