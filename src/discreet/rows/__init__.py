"""Queries, clipping onto the grid, noisy answers, and the protocol of whatever answers."""

from discreet.rows.answer import Answer
from discreet.rows.columns import Columns
from discreet.rows.grid import Parts, exact_sum, grid_norm, grid_scale, left_grid, product_parts, right_grid
from discreet.rows.kernels import column_norms, compile_kernels, encode_table, scratch
from discreet.rows.linear_map import LinearMap
from discreet.rows.queries import CrossMoment, PowerSums, SecondMoment
from discreet.rows.query import Block, Floats, Geometry, Query, reach
from discreet.rows.scores import CurvatureSum, Labels, ScoreSum
from discreet.rows.source import Source

__all__ = [
    "Answer",
    "Block",
    "Columns",
    "CrossMoment",
    "CurvatureSum",
    "Floats",
    "Geometry",
    "Labels",
    "LinearMap",
    "Parts",
    "PowerSums",
    "Query",
    "ScoreSum",
    "SecondMoment",
    "Source",
    "column_norms",
    "compile_kernels",
    "encode_table",
    "exact_sum",
    "grid_norm",
    "grid_scale",
    "left_grid",
    "product_parts",
    "reach",
    "right_grid",
    "scratch",
]
