"""Data sets and methods as figures name them."""

from __future__ import annotations

SETS = {
    "ccpp": "Power plant output",
    "wine": "White wine quality",
    "california": "California house prices",
    "gas_turbine": "Gas turbine emissions",
    "bike": "Hourly bike rentals",
    "insurance": "US medical costs",
    "bank": "Bank marketing",
    "banknote": "Banknote forgeries",
    "covertype": "Forest cover type",
    "skin": "Skin pixels",
    "susy": "SUSY particle events",
    "superconductivity": "Superconductors",
    "sgemm": "GPU run times",
    "claims": "Made-up claims, with exposure",
}
_SYNTHETIC = {"linear": "Made up, linear", "logistic": "Made up, logistic", "poisson": "Made up, Poisson"}
# Entries of a cell, as titles of axes.
_ENTRIES = {
    "n": "rows (n)",
    "m": "public rows (m)",
    "p": "columns (p)",
    "d": "columns (d)",
    "s": "columns that matter (s)",
    "mu": "privacy (mu)",
    "lambda": "penalty (lambda)",
    "share": "share of the rows",
    "rows": "rows",
    "size": "columns (p), public rows (m)",
}


def title_of(name: str) -> str:
    """A data set's readable name; of made-up ones with the condition number of their columns."""
    known = name.lower().replace(" ", "_")
    if known in SETS:
        return SETS[known]
    family, _, condition = name.partition("_")
    if family in _SYNTHETIC and condition.isdigit():
        return f"{_SYNTHETIC[family]}, condition {int(condition):,}"
    return name.replace("_", " ")


def axis_of(name: str) -> str:
    """What an entry of a cell is called on an axis."""
    return _ENTRIES.get(name, name.replace("_", " "))
