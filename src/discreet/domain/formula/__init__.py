"""Formulas: terms over declared columns; levels, knots and bounds come from the declaration."""

from discreet.domain.formula.encoder import FormulaEncoder
from discreet.domain.formula.parse import Design, parse_formula

__all__ = ["Design", "FormulaEncoder", "parse_formula"]
