"""Full-batch GLMtron in whitened coordinates, then least-squares steps, then one Gauss-Newton moment.

GLMtron (Kakade et al. 2011; RELU, Algorithm 1) moves by the mean of (y - mean(eta)) z and leaves out the slope of the
mean, so that a ReLU is found from anywhere. Near the end the slope is put back (for a ReLU: only rows with eta > 0 are
looked at), which halves the variance. Every step is one noisy sum over all rows; they compose exactly.

A step's answer is a measurement of where the optimum lies, of known noise. It is weighed against what is known so far
as a Kalman filter does, so that early answers are forgotten as far as they are worse, late ones are averaged, and with
little budget the model stays near the constant one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from discreet.algorithms.steps.index_look import Seen, look
from discreet.algorithms.steps.index_model import Design, IndexModel, gaussian_curvature, likely_middle, likely_spread
from discreet.algorithms.steps.kalman import Belief
from discreet.glm import NoisyQuadratic, Solution
from discreet.privacy import GDP, Budget
from discreet.rows import Answer, Floats, RowsUsed, SecondMoment, Source
from discreet.rows.index_sums import IndexGradient, IndexMoment


@dataclass(frozen=True)
class Shares:
    """How mu^2 is shared out: the first look, whitening, GLMtron's steps, least-squares steps, the last moment."""

    look: float = 0.05
    whitening: float = 0.25
    tron: tuple[float, ...] = (0.06,) * 6
    squares: tuple[float, ...] = (0.06,) * 6
    moment: float = 0.08


# The residuals' size is known to this part of itself at first, and this part of it is forgotten at each step.
_FIRST_DOUBT, _FORGET = 0.35, 0.06
# Before looking, this share of y's variance is taken for explained.
_EXPLAINED = 0.6
# Rows are shortened to these multiples of their typical norm before their gradient is clipped, and in the last moment.
_RADIUS, _LAST_RADIUS = 1.3, 1.15
# Residuals in the last moment are clipped at so many standard deviations.
_LAST_RESIDUAL = 3.0
# With a budget in which the noise moves eigenvalues by less than this, rows and residuals are left longer.
_CLEAR = 0.3
# The gradient's clip, in typical residuals times a row's typical norm ...
_LEAST_CLIP = 0.4
# ... grows once the noise's variance is below this multiple of the sampling variance.
_CLIP_GROWTH = 0.1
# The residuals' size rides along with each gradient, for so much of its length.
_SIZE_LENGTH = 0.2
# Where the last moment would drown in noise, it gets this share only: its standard errors are then large anyway.
_LEAST_MOMENT = 0.03


@dataclass(frozen=True, eq=False)
class IndexFit:
    """theta in the design's coordinates; ``last`` is what the last moment says alone, for inference."""

    design: Design
    theta: Floats
    last: Solution
    path: list[Floats]
    steps: int
    count: float
    used: RowsUsed | None = None


def fit_index(
    source: Source,
    budget: Budget,
    model: IndexModel,
    known: tuple[Floats, Floats] | None = None,
    shares: Shares | None = None,
) -> IndexFit:
    """The default solver. ``known``: mean and covariance of encoded x, where public rows tell them.

    Privacy: one first look, perhaps a second moment, twelve gradients and one moment, composed by their mu^2.
    """
    shares = Shares() if shares is None else shares
    first, left = budget.split([shares.look, 1 - shares.look])
    x_norm = None if known is None else math.sqrt(float(np.trace(known[1])) + float(known[0] @ known[0]))
    seen = look(source, first, model, x_norm)
    rest = Budget.from_mu(left.mu, budget.delta)
    whiten = known is None and _edge(rest, model, seen.count, shares.whitening) < 1.5
    if _edge(rest, model, seen.count, shares.moment) > 3:
        shares = replace(shares, moment=_LEAST_MOMENT)
    costs = rest.split([*shares.tron, *shares.squares, shares.moment] + [shares.whitening] * whiten)
    if known is None:
        known = _whitening(source, costs[-1], model, seen) if whiten else _scaled(model, seen)
    floor = 0.003 * float(np.trace(known[1])) / model.width if whiten else 0.0
    design = Design.whitening(model, *known, floor=floor)
    steps = len(shares.tron) + len(shares.squares)
    growth = max(1.0, (_CLEAR / _edge(rest, model, seen.count, shares.moment)) ** 0.25)
    state = start(model, seen, growth)
    descend(source, costs[:steps], model, design, state, len(shares.tron))
    return replace(_last_moment(source, costs[steps], model, design, state), used=seen.used)


def _scaled(model: IndexModel, seen: Seen) -> tuple[Floats, Floats]:
    return np.zeros(model.width), np.eye(model.width) * seen.x_norm**2 / model.width


def _edge(budget: Budget, model: IndexModel, count: float, share: float) -> float:
    """How far the noise moves eigenvalues of a second moment that costs this share of mu^2, where all are about 1."""
    return 3.2 * model.width * math.sqrt(2 * model.width) / (math.sqrt(share) * budget.mu * max(count, 1.0))


def _whitening(source: Source, cost: GDP, model: IndexModel, seen: Seen) -> tuple[Floats, Floats]:
    """Mean and covariance of encoded x from a noisy second moment, cut off where the noise begins."""
    radius = 1.2 * seen.x_norm
    query = SecondMoment(
        np.zeros(model.width), 1.0, radius, 0.0, 1.0, 1.0, 0.5 * radius, 0.0, "second moment of (1, x)"
    )
    answer = source.sum(query, cost)
    moment = answer.value[:-1, :-1].copy()
    moment[0] /= query.weight_1
    moment[:, 0] /= query.weight_1
    mass = max(float(moment[0, 0]), answer.noise_std / query.weight_1**2)
    shift = moment[0, 1:] / mass
    covariance = moment[1:, 1:] / mass - np.outer(shift, shift)
    edge = answer.noise_std * math.sqrt(2 * model.width) / mass
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return shift, (vectors * np.maximum(values, 0.5 * edge)) @ vectors.T


@dataclass
class Residual:
    """What is believed of the residuals' standard deviation, which is never above ``most``."""

    size: float
    variance: float
    most: float


@dataclass
class State:
    """Where the descent stands; ``spread`` is that of the index, ``growth`` how much longer than usual rows may be."""

    belief: Belief
    residual: Residual
    count: float
    spread: float
    growth: float


def start(model: IndexModel, seen: Seen, growth: float) -> State:
    """The constant model, and how far the truth may be from it."""
    middle = likely_middle(model.link, seen.y_middle, 0.3 * seen.y_spread) if model.intercept else 0.0
    spread = likely_spread(model.link, middle, _EXPLAINED * seen.y_spread**2)
    theta = np.zeros(model.size)
    variance = np.full(model.size, spread**2 / model.width)
    if model.intercept:
        theta[0], variance[0] = middle, spread**2
    residual = math.hypot(seen.y_spread, 0.0 if model.intercept else seen.y_middle)
    belief = Belief(theta, np.diag(variance), [theta])
    return State(belief, Residual(residual, (_FIRST_DOUBT * residual) ** 2, residual), seen.count, spread, growth)


def descend(source: Source, costs: list[GDP], model: IndexModel, design: Design, state: State, trons: int) -> None:
    """The steps; the first ``trons`` are GLMtron's, the others of least squares."""
    for cost in costs:
        _step(source, cost, model, design, state, 1 if state.belief.steps <= trons else 2)
        length = float(np.linalg.norm(state.belief.theta[int(model.intercept) :]))
        state.spread = min(state.spread, 2 * length + 0.2 * state.spread)


def _clip(source: Source, cost: GDP, query: IndexGradient, count: float, steps: int) -> float:
    """The clip in units of residual times norm: longer only as the noise falls below the sampling error."""
    noise = source.noise_std(query, cost) / count
    ratio = noise**2 * count * (query.map.outputs - 1) / steps
    return float(_LEAST_CLIP * max(1.0, (_CLIP_GROWTH / ratio) ** 0.25))


def _step(source: Source, cost: GDP, model: IndexModel, design: Design, state: State, power: int) -> None:
    link = model.link
    query = IndexGradient(
        design.map(state.belief.theta),
        model.labels,
        link.mean,
        link.slope if power == 2 else None,
        state.growth * _RADIUS * math.sqrt(design.size),
        clip=1.0,
    )
    reach = _clip(source, cost, query, state.count, 10)
    clip = reach * math.sqrt(design.size) * state.residual.size
    size_bound = 4 * state.residual.size
    query = replace(query, clip=clip, size_bound=size_bound, size_weight=_SIZE_LENGTH * 2 * clip / size_bound)
    answer = source.sum(query, cost)
    mean = answer.value[:-1, 0] / state.count
    noise = answer.noise_std / state.count
    # Of Gaussian residuals a clip at c standard deviations leaves 2 Phi(c) - 1 of the answer to a small change.
    left = 2 * float(ndtr(reach)) - 1
    response = left * gaussian_curvature(link, state.belief.theta, model.intercept, state.spread, power)
    state.belief.see_gradient(mean, response, noise)
    _see_size(state.residual, query, float(answer.value[-1, 0]) / state.count, noise)


def _see_size(residual: Residual, query: IndexGradient, seen: float, noise: float) -> None:
    """The residuals' standard deviation, of their mean size; each step's measurement counts as far as it is precise."""
    to_std = math.sqrt(math.pi / 2)
    measured = to_std * (seen / query.size_weight + query.size_bound / 2)
    error = (to_std * noise / query.size_weight) ** 2
    gain = residual.variance / (residual.variance + error)
    # It falls from step to step, by an amount that nobody knows: some of what is known is forgotten each time.
    residual.variance = residual.variance * (1 - gain) + (_FORGET * residual.size) ** 2
    residual.size = float(
        np.clip(residual.size + gain * (measured - residual.size), 0.3 * residual.size, residual.most)
    )


def _last_moment(source: Source, cost: GDP, model: IndexModel, design: Design, state: State) -> IndexFit:
    """One Gauss-Newton step with the noise of its own matrix: it ends the descent, and gives all standard errors."""
    link = model.link
    ends = link.predictor([model.labels.low, model.labels.high])
    bound = float(link.slope_bound(*ends))
    radius = state.growth * _LAST_RADIUS * math.sqrt(design.size)
    residual_bound = state.growth * _LAST_RESIDUAL * state.residual.size
    query = IndexMoment(
        design.map(state.belief.theta),
        model.labels,
        link.mean,
        link.slope,
        radius,
        bound,
        residual_bound,
        residual_weight=radius * bound / residual_bound,
        constant_weight=0.4 * radius * bound,
    )
    answer = source.sum(query, cost)
    last = _stepped(query, answer, state.belief.theta)
    size = design.size
    # A noisy matrix turns a true step into a wrong one, in proportion to what is left to step.
    weakest = float(
        np.linalg.eigvalsh(gaussian_curvature(link, state.belief.theta, model.intercept, state.spread, 2))[0]
    )
    edge = math.sqrt(2 * size) * answer.noise_std / (max(weakest, 1e-3 * bound**2) * state.count)
    belief = state.belief
    error = last.noise_covariance + edge**2 * belief.covariance
    if edge < _CLEAR:
        # Clipped gradients lead to an optimum of their own: what both differ by, beyond their noise, is bias.
        moved = last.estimate - belief.theta
        bias = float(moved @ moved) - float(np.trace(belief.covariance + error))
        belief.covariance = belief.covariance + max(0.0, bias) / size * np.eye(size) + last.sampling_covariance
    belief.see_estimate(last.estimate, error)
    return IndexFit(design, belief.theta, last, belief.path, belief.steps - 1, state.count)


def _stepped(query: IndexMoment, answer: Answer, theta: Floats) -> Solution:
    """Where the step from theta ends, with what it varies by."""
    size = len(theta)
    coordinate = np.eye(size + 2)
    moment = (answer.value + answer.value.T) / 2
    total = max(float(moment[0, 0]), 1.5 * math.sqrt(2 * (size + 2)) * answer.noise_std)
    solution = NoisyQuadratic(
        moment,
        answer.noise_std,
        coordinate[1:-1],
        np.ones(size, dtype=bool),
        coordinate[-1],
        np.zeros(size),
        total / query.constant_weight**2,
    ).solve()
    scale = 1 / query.residual_weight
    return Solution(
        coef=theta + scale * solution.coef,
        estimate=theta + scale * solution.estimate,
        noise_covariance=scale**2 * solution.noise_covariance,
        sampling_covariance=scale**2 * solution.sampling_covariance,
        residual_variance=scale**2 * solution.residual_variance,
        residual_variance_noise_std=scale**2 * solution.residual_variance_noise_std,
        ridge=solution.ridge,
    )
