"""Privacy units, guarantees, composition, calibration and the budget ledger."""

from discreet.privacy.budget import Budget, refuse_weaker
from discreet.privacy.composition import Composition, compose
from discreet.privacy.cover import Cover, gaussian_cover
from discreet.privacy.guarantee import Guarantee, Neighbours, Release, check_neighbours, joint
from discreet.privacy.ledger import Ledger
from discreet.privacy.ledger_history import Entry
from discreet.privacy.parallel import Spending, Split
from discreet.privacy.payment import Payment
from discreet.privacy.perturbed import Perturbed, largest_gradient_mu
from discreet.privacy.profile import (
    classical_noise_std,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
    gaussian_noise_std,
)
from discreet.privacy.repeated import Repeated, picks_within
from discreet.privacy.reservation import Reservation
from discreet.privacy.shuffling import amplified, clones_delta, clones_epsilon, shuffled_mu
from discreet.privacy.units import GDP, ZCDP, Approximate, Pure, Unit, unit_from_dict

__all__ = [
    "GDP",
    "ZCDP",
    "Approximate",
    "Budget",
    "Composition",
    "Cover",
    "Entry",
    "Guarantee",
    "Ledger",
    "Neighbours",
    "Payment",
    "Perturbed",
    "Pure",
    "Release",
    "Repeated",
    "Reservation",
    "Spending",
    "Split",
    "Unit",
    "amplified",
    "check_neighbours",
    "classical_noise_std",
    "clones_delta",
    "clones_epsilon",
    "compose",
    "gaussian_cover",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mu",
    "gaussian_noise_std",
    "joint",
    "largest_gradient_mu",
    "picks_within",
    "refuse_weaker",
    "shuffled_mu",
    "unit_from_dict",
]
