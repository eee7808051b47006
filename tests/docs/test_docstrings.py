"""Docstrings of everything public are in numpydoc's form and complete, and their examples run."""

from __future__ import annotations

import doctest
import functools
import inspect
import re
from importlib import import_module

import pytest
from numpydoc.docscrape import ClassDoc, FunctionDoc

MODULES = ("discreet", "discreet.audit", "discreet.local", "discreet.parties")
# What takes an epsilon and neither reads rows nor makes a release.
NO_PRIVACY = {
    "BlackBox",
    "Evaluation",
    "Forecast",
    "Membership",
    "Plan",
    "Task",
    "gaussian_claim",
    "gaussian_noise_std",
}


def _public() -> dict[str, object]:
    names = {}
    for module in MODULES:
        for name in import_module(module).__all__:
            if not name.startswith("__"):
                names[f"{module}.{name}"] = getattr(import_module(module), name)
    return names


PUBLIC = _public()
# Errors and warnings are raised by discreet: their one sentence says when.
FULL = {name: value for name, value in PUBLIC.items() if not (inspect.isclass(value) and issubclass(value, Exception))}


def _methods() -> dict[str, tuple[object, bool]]:
    """Public methods and properties that discreet defines, by qualified name; the flag marks
    properties.
    """
    found = {}
    for value in FULL.values():
        for name in (name for name in dir(value) if inspect.isclass(value) and not name.startswith("_")):
            member = inspect.getattr_static(value, name)
            if isinstance(member, property):
                function, is_property = member.fget, True
            elif isinstance(member, functools.cached_property):
                function, is_property = member.func, True
            elif isinstance(member, (classmethod, staticmethod)) or inspect.isfunction(member):
                function, is_property = getattr(member, "__func__", member), False
            else:
                continue
            function = inspect.unwrap(function)
            if function.__module__.startswith("discreet") and function.__name__ != "__init__":
                found[f"{function.__module__}.{function.__qualname__}"] = (function, is_property)
    return found


METHODS = _methods()


@pytest.fixture(autouse=True)
def _numpydoc_knows_privacy(monkeypatch):
    monkeypatch.setitem(FunctionDoc.sections, "Privacy", [])


def _documented(entries) -> set[str]:
    return {name.strip("* ") for entry in entries for name in entry.name.split(",")}


def _parameters(value: object) -> set[str]:
    return set(inspect.signature(value).parameters) - {"self", "cls"}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_says_what_it_is(name):
    assert re.match(r"\S.{10,}", inspect.getdoc(PUBLIC[name]) or ""), name


@pytest.mark.parametrize("name", FULL)
def test_every_parameter_is_documented(name):
    value = FULL[name]
    doc = ClassDoc(value, config={"show_class_members": False}) if inspect.isclass(value) else FunctionDoc(value)
    assert _parameters(value) - _documented([*doc["Parameters"], *doc["Attributes"]]) == set()
    assert _documented(doc["Parameters"]) - _parameters(value) == set(), "no such parameter"
    for entry in (*doc["Parameters"], *doc["Attributes"]):
        assert "".join(entry.desc).strip(), entry.name
    if not inspect.isclass(value):
        assert doc["Returns"], "what it returns is not said"
    if "epsilon" in _parameters(value) and value.__name__ not in NO_PRIVACY:
        assert "".join(doc["Privacy"]).strip(), "what it costs is not said"


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_documented(name):
    function, is_property = METHODS[name]
    assert function.__doc__, "no docstring"
    kinds = {parameter.kind for name, parameter in inspect.signature(function).parameters.items() if name != "self"}
    if is_property or kinds == {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
        return  # the latter is one that a model does not offer: it takes anything and raises an error
    doc = FunctionDoc(function)
    assert _parameters(function) == _documented(doc["Parameters"])
    if inspect.signature(function).return_annotation != "None":
        assert doc["Returns"], "what it returns is not said"


@pytest.mark.parametrize("name", FULL)
def test_every_example_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    value = FULL[name]
    (example,) = doctest.DocTestFinder(recurse=False).find(value, name, module=False, globs={})
    assert example.examples, "no example"
    said: list[str] = []
    outcome = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example, out=said.append)
    assert outcome.failed == 0, "".join(said)


def test_help_answers_what_each_parameter_does():
    from discreet import LinearRegression

    shown = inspect.getdoc(LinearRegression) or ""
    for parameter in inspect.signature(LinearRegression).parameters:
        assert re.search(rf"^{parameter} : .+\n    \S", shown, re.MULTILINE), parameter
