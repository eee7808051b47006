"""Engines: each sums a function over blocks of rows, in memory, files, databases or clusters."""

from discreet.engines.engine import Engine, Function
from discreet.engines.files import CsvFiles
from discreet.engines.layout import Layout
from discreet.engines.memory import Arrays, MemoryEngine
from discreet.engines.open import Table, open_engine, open_table
from discreet.engines.through import Chosen, Expanded, Positions, SeenThrough

__all__ = [
    "Arrays",
    "Chosen",
    "CsvFiles",
    "Engine",
    "Expanded",
    "Function",
    "Layout",
    "MemoryEngine",
    "Positions",
    "SeenThrough",
    "Table",
    "open_engine",
    "open_table",
]
