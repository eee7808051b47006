"""Exact noise from one source of randomness: discrete Gaussian, discrete Laplace, selection."""

from discreet.noise.bits import Bits, SeededBits, SystemBits
from discreet.noise.gaussian import discrete_gaussian
from discreet.noise.laplace import discrete_laplace
from discreet.noise.selection import gumbel_top, permute_and_flip

__all__ = [
    "Bits",
    "SeededBits",
    "SystemBits",
    "discrete_gaussian",
    "discrete_laplace",
    "gumbel_top",
    "permute_and_flip",
]
