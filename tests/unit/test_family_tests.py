"""What differs by family or link is a method of the family or link: nothing else decides by their
type or name.
"""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import discreet.glm
from discreet.glm import Family, Link, Loss
from discreet.glm.families import FAMILIES
from discreet.glm.links import LINKS
from discreet.planning.kinds import KINDS

SOURCE = Path(discreet.glm.__file__).parents[1]
CLASSES = {
    name
    for name, value in vars(discreet.glm).items()
    if inspect.isclass(value) and issubclass(value, (Family, Link, Loss))
}
NAMES = {*FAMILIES, *LINKS, *KINDS, "loss"}
# Functions that may, and why.
ALLOWED = {
    # Compiled loops replace the methods of a family: a subclass may have others, and inherits
    # every property.
    "algorithms/parts/frame.py:_law",
    # The type of a user's argument, for the message.
    "audit/attacks.py:_family",
    "estimators/losses.py:chosen_family",
    "planning/fisher_bounds.py:family_information",
    # What a user writes in the terminal becomes a class.
    "cli/model.py:_kind",
    # How a parameter is written: in a model file and in the audit's catalogue.
    "audit/catalogue.py:_spelt",
    "estimators/model_file.py:_parameters",
    "estimators/model_file.py:_shape_of",
}


def _deciding(tree: ast.AST) -> list[str]:
    """The functions of a module that test the type or the name of a family, link or loss."""
    found = []

    def walk(node: ast.AST, function: str) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = node.name
        if _tests_a_type(node, imported) or _tests_a_name(node):
            found.append(function)
        for child in ast.iter_child_nodes(node):
            walk(child, function)

    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("discreet.glm")
        for alias in node.names
        if alias.name in CLASSES
    }
    walk(tree, "")
    return found


def _tests_a_type(node: ast.AST, imported: set[str]) -> bool:
    decides = (
        _calls(node, "isinstance", "issubclass")
        or (isinstance(node, ast.Compare) and any(_calls(one, "type") for one in ast.walk(node)))
        or isinstance(node, ast.MatchClass)
    )
    return decides and any(isinstance(one, ast.Name) and one.id in imported for one in ast.walk(node))


def _calls(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _tests_a_name(node: ast.AST) -> bool:
    """Whether ``anything.name`` or ``family`` is compared with the name of a family or link, or the
    name of a family or link with anything.
    """
    if not isinstance(node, ast.Compare):
        return False
    named = [one for one in ast.walk(node) if isinstance(one, ast.Attribute) and one.attr == "name"]
    constants = {one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)}
    owners = {getattr(one.value, "attr", getattr(one.value, "id", "")) for one in named}
    families = {getattr(one, "attr", getattr(one, "id", "")) for one in ast.walk(node)} & {"family"}
    return bool((named or families) and constants & NAMES) or bool(owners & {"family", "link", "loss"})


def test_nothing_outside_glm_decides_by_the_type_or_name_of_a_family() -> None:
    places = {
        f"{path.relative_to(SOURCE)}:{function}"
        for path in SOURCE.rglob("*.py")
        if path.relative_to(SOURCE).parts[0] not in ("glm", "noise")
        for function in _deciding(ast.parse(path.read_text()))
    }
    assert places == ALLOWED


def test_such_decisions_are_found() -> None:
    source = """
from discreet.glm import Gaussian, Log as L
def a(family): return isinstance(family, (int, Gaussian))
def b(family): return type(family) is Gaussian
def c(model): return (model.family.name, 1) == ("bernoulli", 1)
def d(model): return model.name not in ("log", "identity")
def e(link, other): return link.name == other
def f(link): return isinstance(link, L)
def g(family): return family in ("logistic", "poisson")
def none(column, family, other): return column.name == "age" or isinstance(column, int) or family == other
"""
    assert _deciding(ast.parse(source)) == list("abcdefg")
