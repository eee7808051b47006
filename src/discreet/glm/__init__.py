"""Families, links, losses, clipped scores and least squares on noisy matrices."""

from discreet.glm.clipping import ClippedRows, ClippedScore
from discreet.glm.families import Bernoulli, Gamma, Gaussian, NegativeBinomial, Poisson, Tweedie, family
from discreet.glm.family_base import Family
from discreet.glm.link_base import CanonicalLink, Link, MeanFunction
from discreet.glm.links import Cloglog, Identity, Log, Logit, NegativeInverse, Probit, Softplus, link
from discreet.glm.loss_family import LossFamily
from discreet.glm.losses import Loss, huber, negative_binomial_loss, smoothed_quantile
from discreet.glm.noisy_quadratic import NoisyQuadratic, Solution
from discreet.glm.plain import fit_plain

__all__ = [
    "Bernoulli",
    "CanonicalLink",
    "ClippedRows",
    "ClippedScore",
    "Cloglog",
    "Family",
    "Gamma",
    "Gaussian",
    "Identity",
    "Link",
    "Log",
    "Logit",
    "Loss",
    "LossFamily",
    "MeanFunction",
    "NegativeBinomial",
    "NegativeInverse",
    "NoisyQuadratic",
    "Poisson",
    "Probit",
    "Softplus",
    "Solution",
    "Tweedie",
    "family",
    "fit_plain",
    "huber",
    "link",
    "negative_binomial_loss",
    "smoothed_quantile",
]
