"""All mutants of the code on which privacy depends: one small change each, by cosmic-ray's
operators.

Of the eleven other arithmetic signs that cosmic-ray can put in the place of one, the nearest is
taken: ``a >> b`` for floats fails at once and would only raise the score. One operator is added: a
call or a ``raise`` on a line of its own is left out, as a forgotten check or charge would be.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import parso
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Example, Operator
from cosmic_ray.plugins import get_operator

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("privacy", "noise", "rows", "curator")
# Typing only: nothing of them runs.
LEFT_OUT = ("src/discreet/curator/protocols.py",)

_BINARY = "Add_Sub Sub_Add Mul_Div Div_Mul FloorDiv_Div Mod_FloorDiv Pow_Mul RShift_LShift LShift_RShift BitOr_BitAnd"
_BINARY += " BitAnd_BitOr BitXor_BitOr"
_COMPARISON = "Eq_NotEq NotEq_Eq Lt_LtE LtE_Lt Gt_GtE GtE_Gt Is_IsNot IsNot_Is"
_OTHERS = "ReplaceUnaryOperator_USub_UAdd ReplaceUnaryOperator_Delete_Not ReplaceUnaryOperator_Delete_Invert AddNot"
_OTHERS += " ReplaceTrueWithFalse ReplaceFalseWithTrue ReplaceAndWithOr ReplaceOrWithAnd ReplaceBreakWithContinue"
_OTHERS += " ReplaceContinueWithBreak ExceptionReplacer NumberReplacer RemoveDecorator ZeroIterationForLoop"
NAMES = (
    *(f"ReplaceBinaryOperator_{pair}" for pair in _BINARY.split()),
    *(f"ReplaceComparisonOperator_{pair}" for pair in _COMPARISON.split()),
    *_OTHERS.split(),
    "LeaveOutStatement",
)


class LeaveOutStatement(Operator):  # type: ignore[misc]
    """A call, or a ``raise``, that stands on a line of its own becomes ``pass``."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        if node.type == "simple_stmt" and _may_be_left_out(node.children[0]):
            yield node.children[0].start_pos, node.children[0].end_pos

    def mutate(self, node: Any, index: int) -> Any:
        first = node.children[0]
        prefix = first.get_first_leaf().prefix
        node.children[0] = parso.python.tree.Name("pass", first.start_pos, prefix=prefix)
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("check(x)\n", "pass\n"), Example("raise ValueError\n", "pass\n"))


def _may_be_left_out(node: Any) -> bool:
    if node.type in ("raise_stmt", "atom_expr"):
        return node.type == "raise_stmt" or node.children[-1].type == "trailer"
    return node.type == "keyword" and node.value == "raise"


@dataclass(frozen=True)
class Mutant:
    """The ``occurrence``-th place of a file where an operator applies."""

    path: str
    operator: str
    occurrence: int
    line: int
    last_line: int

    @property
    def name(self) -> str:
        return f"{self.path.removeprefix('src/discreet/')}:{self.line} {self.operator}#{self.occurrence}"

    def source(self) -> str:
        """The file with the change in it."""
        changed = mutate_code((ROOT / self.path).read_text(), operator(self.operator), self.occurrence)
        assert changed is not None
        return str(changed)


@lru_cache
def operator(name: str) -> Any:
    return LeaveOutStatement() if name == "LeaveOutStatement" else get_operator(f"core/{name}")()


def mutants() -> list[Mutant]:
    """All of them, in a fixed order."""
    found: list[Mutant] = []
    for package in PACKAGES:
        for path in sorted((ROOT / "src" / "discreet" / package).rglob("*.py")):
            relative = path.relative_to(ROOT).as_posix()
            if path.name != "__init__.py" and relative not in LEFT_OUT:
                found += _of_file(relative, path.read_text())
    return found


def _of_file(path: str, source: str) -> list[Mutant]:
    never_run = _never_run(ast.parse(source))
    nodes = list(ast_nodes(get_ast(source)))
    found = []
    for name in NAMES:
        number = 0
        for node in nodes:
            for start, end in operator(name).mutation_positions(node):
                if not _is_bare_star(node) and not any(first <= start and end <= last for first, last in never_run):
                    found.append(Mutant(path, name, number, start[0], end[0]))
                number += 1
    return sorted(found, key=lambda mutant: (mutant.line, mutant.operator, mutant.occurrence))


_OF_NO_RESULT = ("overload", "lru_cache", "cache")


def _is_bare_star(node: Any) -> bool:
    """Whether this is the star before keyword-only parameters, which cosmic-ray takes for a
    multiplication.
    """
    return node.type == "operator" and node.parent is not None and node.parent.type in ("parameters", "param")


def _never_run(tree: ast.Module) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where nothing runs, or nothing depends on what does.

    Annotations are not computed (``from __future__ import annotations``), protocols and overloads
    have no code. Options of dataclass say how objects of ours compare; caches of functions save
    time; no result depends on them.
    """
    nodes: list[ast.AST | None] = []
    whole_lines: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            nodes.append(node.returns)
            whole_lines += [one for one in node.decorator_list if ast.unparse(one).split("(")[0] in _OF_NO_RESULT]
        elif isinstance(node, ast.arg | ast.AnnAssign):
            nodes.append(node.annotation)
        elif isinstance(node, ast.ClassDef) and any("Protocol" in ast.unparse(base) for base in node.bases):
            nodes.append(node)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("dataclass", "lru_cache"):
            nodes += node.keywords
    lines = [((n.lineno, 0), ((n.end_lineno or n.lineno) + 1, 0)) for n in whole_lines]
    return lines + [((n.lineno, n.col_offset), (n.end_lineno, n.end_col_offset)) for n in nodes if n is not None]  # type: ignore[attr-defined]
