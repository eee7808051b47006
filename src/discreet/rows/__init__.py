"""Queries, clipping onto the grid, noisy answers, and the interface of what answers them."""

from discreet.rows.answer import Answer
from discreet.rows.carries import Parts, exact_sum
from discreet.rows.cells import CellsInMemory, Scaling
from discreet.rows.columns import Coded, Columns
from discreet.rows.gradient import score_sum
from discreet.rows.grid import (
    count_units,
    left_grid,
    parts_of_each,
    product_parts,
    query_sum,
    right_grid,
    several_parts,
)
from discreet.rows.hashing import digest_of, row_hashes
from discreet.rows.kernels import (
    column_norms,
    compile_kernels,
    encode_columns,
    encode_table,
    scratch,
    whole_numbers,
)
from discreet.rows.linear_map import LinearMap
from discreet.rows.logistic_loss import LogisticLoss
from discreet.rows.look import shared
from discreet.rows.queries import CrossMoment, PowerSums, SecondMoment
from discreet.rows.query import Block, Floats, Geometry, Query, WholeBlock, reach, weight_of
from discreet.rows.ranking import (
    Indices,
    Picked,
    Ranking,
    WideBlock,
    candidates,
    ranked_parts,
    ranking_reach,
    ranking_unit,
)
from discreet.rows.residues import Residues
from discreet.rows.scales import grid_norm, grid_scale
from discreet.rows.scores import CurvatureSum, ExposureSum, Labels, MappedMoment
from discreet.rows.source import DivisibleSource, MinimisingSource, PartSource, Source, WideSource
from discreet.rows.support import OnSupport, on_columns
from discreet.rows.used import RowsUsed
from discreet.rows.wide import SparseRows, WideEncoding, wide_block_rows
from discreet.rows.wide_queries import ResidualRanking, WideLook

__all__ = [
    "Answer",
    "Block",
    "CellsInMemory",
    "Coded",
    "Columns",
    "CrossMoment",
    "CurvatureSum",
    "DivisibleSource",
    "ExposureSum",
    "Floats",
    "Geometry",
    "Indices",
    "Labels",
    "LinearMap",
    "LogisticLoss",
    "MappedMoment",
    "MinimisingSource",
    "OnSupport",
    "PartSource",
    "Parts",
    "Picked",
    "PowerSums",
    "Query",
    "Ranking",
    "ResidualRanking",
    "Residues",
    "RowsUsed",
    "Scaling",
    "SecondMoment",
    "Source",
    "SparseRows",
    "WholeBlock",
    "WideBlock",
    "WideEncoding",
    "WideLook",
    "WideSource",
    "candidates",
    "column_norms",
    "compile_kernels",
    "count_units",
    "digest_of",
    "encode_columns",
    "encode_table",
    "exact_sum",
    "grid_norm",
    "grid_scale",
    "left_grid",
    "on_columns",
    "parts_of_each",
    "product_parts",
    "query_sum",
    "ranked_parts",
    "ranking_reach",
    "ranking_unit",
    "reach",
    "right_grid",
    "row_hashes",
    "score_sum",
    "scratch",
    "several_parts",
    "shared",
    "weight_of",
    "whole_numbers",
    "wide_block_rows",
]
