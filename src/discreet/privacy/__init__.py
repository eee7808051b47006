"""Units, guarantees, composition, calibration and the durable ledger."""

from discreet.privacy.budget import Budget, refuse_weaker
from discreet.privacy.composition import Composition, compose
from discreet.privacy.guarantee import Guarantee, Neighbours, Release, check_neighbours, joint
from discreet.privacy.ledger import Entry, Ledger
from discreet.privacy.profile import (
    classical_noise_std,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
    gaussian_noise_std,
)
from discreet.privacy.units import GDP, ZCDP, Approximate, Pure, Unit, unit_from_dict

__all__ = [
    "GDP",
    "ZCDP",
    "Approximate",
    "Budget",
    "Composition",
    "Entry",
    "Guarantee",
    "Ledger",
    "Neighbours",
    "Pure",
    "Release",
    "Unit",
    "check_neighbours",
    "classical_noise_std",
    "compose",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mu",
    "gaussian_noise_std",
    "joint",
    "refuse_weaker",
    "unit_from_dict",
]
