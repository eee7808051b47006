"""Cells that are stored row by row, turned into lines of one column each.

Numba finds no vector code for this, so its two steps are written for the compiler: an 8 x 8 square
of cells is turned by shuffles, and cells further on are fetched before they are read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.rows.cells import cells_at

CALLED = {"turn_tile": False, "are_neighbours": False}
EIGHT = 8
# So many cells ahead are fetched: memory answers about as late as the cells between are turned.
_AHEAD = 640


def turn_eight(cells: Any, first: int, stride: int, lines: Any, line: int, at: int) -> None:
    """Eight neighbouring cells of each of eight rows, as pieces of eight lines."""
    for column in range(EIGHT):
        for row in range(EIGHT):
            lines[line + column, at + row] = cells[first + row * stride + column]


def fetch(cells: Any, at: int) -> None:
    """Have the processor load a cell into its cache: no value is read, so it may lie beyond the
    last.
    """


def are_neighbours(addresses: Any) -> Any:
    """Whether there are at least eight columns, each beside the one before."""
    found = len(addresses) >= EIGHT
    for column in range(1, len(addresses)):
        found &= addresses[column] - addresses[column - 1] == np.uint64(8)
    return found


def turn_tile(addresses: Any, stride: int, start: int, size: int, tile: Any) -> None:
    """``size`` rows of neighbouring columns from ``start`` on, a line for each column below the
    first.
    """
    columns, eights, ahead = len(addresses), size // EIGHT * EIGHT, _AHEAD // len(addresses) * stride
    cells = cells_at(addresses[0] + np.uint64(8 * stride * start), (size - 1) * stride + columns)
    for row in range(0, eights, EIGHT):
        for next_row in range(row, row + EIGHT):
            for column in range(0, columns, EIGHT):
                fetch(cells, next_row * stride + column + ahead)
        for step in range(0, columns, EIGHT):
            column = min(step, columns - EIGHT)
            turn_eight(cells, row * stride + column, stride, tile, column + 1, row)
    for column in range(columns):
        target = tile[column + 1, :size]
        for row in range(eights, size):
            target[row] = cells[row * stride + column]


def vector_code(numba: Any) -> None:
    """Have numba compile ``turn_eight`` and ``fetch``."""
    from llvmlite import ir
    from numba.np import arrayobj

    make_array: Any = arrayobj.make_array
    whole, small = ir.IntType(64), ir.IntType(32)
    number, byte = ir.DoubleType(), ir.IntType(8)
    eight = ir.VectorType(number, EIGHT)

    def at_byte(builder: Any, data: Any, place: Any) -> Any:
        return builder.gep(builder.bitcast(data, byte.as_pointer()), [place])

    def turned(context: Any, cells: Any, first: Any, stride: Any, lines: Any, line: Any, at: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            source, target = (make_array(signature.args[n])(context, builder, given[n]) for n in (0, 3))
            first, stride, line, at = given[1], given[2], given[4], given[5]
            rows, between = [], builder.extract_value(target.strides, 0)
            for row in range(EIGHT):
                place = builder.add(first, builder.mul(stride, ir.Constant(whole, row)))
                pointer = builder.bitcast(builder.gep(source.data, [place]), eight.as_pointer())
                rows.append(builder.load(pointer, align=8))
            for column, turned in enumerate(_turned(builder, ir, small, rows)):
                place = builder.mul(builder.add(line, ir.Constant(whole, column)), between)
                place = builder.add(place, builder.mul(at, ir.Constant(whole, 8)))
                pointer = builder.bitcast(at_byte(builder, target.data, place), eight.as_pointer())
                builder.store(turned, pointer, align=8)
            return context.get_dummy_value()

        return numba.types.void(cells, first, stride, lines, line, at), code

    def fetched(context: Any, cells: Any, at: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            source = make_array(signature.args[0])(context, builder, given[0])
            pointer = at_byte(builder, source.data, builder.mul(given[1], ir.Constant(whole, 8)))
            kinds = [pointer.type, small, small, small]
            prefetch = builder.module.declare_intrinsic(
                "llvm.prefetch", [pointer.type], ir.FunctionType(ir.VoidType(), kinds)
            )
            # Of data, to be read, and kept in every cache.
            builder.call(prefetch, [pointer, *(ir.Constant(small, choice) for choice in (0, 3, 1))])
            return context.get_dummy_value()

        return numba.types.void(cells, at), code

    turn, into_cache = numba.extending.intrinsic(turned), numba.extending.intrinsic(fetched)
    numba.extending.overload(turn_eight)(
        lambda cells, first, stride, lines, line, at: (
            lambda cells, first, stride, lines, line, at: turn(cells, first, stride, lines, line, at)
        )
    )
    numba.extending.overload(fetch)(lambda cells, at: lambda cells, at: into_cache(cells, at))


def _turned(builder: Any, ir: Any, small: Any, rows: list[Any]) -> list[Any]:
    """The square with rows and columns exchanged: of its quarters two are, and so within each."""

    def shuffled(one: Any, other: Any, entries: list[int]) -> Any:
        return builder.shuffle_vector(one, other, ir.Constant(ir.VectorType(small, EIGHT), entries))

    for half in (4, 2, 1):
        before, rows = rows, list(rows)
        for row in range(EIGHT):
            if not row & half:
                one, other = before[row], before[row | half]
                rows[row] = shuffled(one, other, [n if not n & half else EIGHT + n - half for n in range(EIGHT)])
                rows[row | half] = shuffled(one, other, [n + half if not n & half else EIGHT + n for n in range(EIGHT)])
    return rows
