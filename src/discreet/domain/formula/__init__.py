"""Formulas: terms over declared columns, with levels, knots and bounds from the declaration and never from rows."""

from discreet.domain.formula.encoder import FormulaEncoder
from discreet.domain.formula.parse import Design, parse_formula

__all__ = ["Design", "FormulaEncoder", "parse_formula"]
