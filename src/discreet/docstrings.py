"""Docstrings of estimators and results: shared entries are here once, and ``help`` shows all.

A class's own docstring has what is specific to it, in numpydoc form. ``documented`` completes its
sections Parameters (budget, its own, those of all) and Attributes, and Privacy; ``described`` the
parameters of a method or function, and what it returns.
"""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

Class = TypeVar("Class", bound=type)
Function = TypeVar("Function", bound=Callable[..., Any])
P = ParamSpec("P")
T = TypeVar("T")

_PARAMETERS = {
    "epsilon": """float
        The allowed privacy loss of everything that the fitted object shows. Smaller means more
        privacy and more noise.""",
    "delta": """float
        The probability with which the guarantee may fail; choose it well below
        1 / number of people.""",
    "bounds_X": """pair or mapping, optional
        Declared ``(low, high)`` of the features: one number for all columns, one per column, or by
        name, ``{"age": (18, 90)}``. Never take them from private rows. Values outside are clipped to
        the nearest bound. One of ``bounds_X``, ``data_norm`` and ``domain`` is needed.""",
    "bounds_y": """pair of float, optional
        Declared ``(low, high)`` of the label, if no ``domain`` declares it.""",
    "bounds_exposure": """pair of float, optional
        Declared ``(low, high)`` of the exposure, if ``fit`` gets one.""",
    "bounds_weight": """pair of float, optional
        Declared ``(0, largest)`` of ``sample_weight``, if ``fit`` gets one. The noise is for a row of
        the largest weight.""",
    "data_norm": """float, optional
        A declared bound on the Euclidean norm of a row of features, instead of ``bounds_X``.""",
    "domain": """Domain, optional
        Declared columns: bounds of numbers, categories, the rule for missing values.""",
    "formula": """str, optional
        Terms over the declared columns, such as ``"cost ~ age * smoker + bs(bmi, 4)"``.
        ``fit(frame)`` then needs no y.""",
    "public": """Public, optional
        Public rows, with or without labels, or their second moment. They guide the fit at no cost
        and are not protected.""",
    "fit_intercept": """bool, default True
        Whether the model has an intercept.""",
    "cov_type": """{'robust', 'model'}, default 'robust'
        The sandwich covariance, which is valid for any variance of labels; or that of the model,
        which is smaller if labels vary as the family says.""",
    "neighbours": """{'replace_one', 'add_or_remove_one'}, default 'replace_one'
        The neighbour relation of the guarantee: one row (or person) is replaced, and the number of
        rows is public; or one is added or removed, and the number is private.""",
    "calibration": """{'tight', 'paper'}, default 'tight'
        Tight noise, or the noise printed in a paper, if the solver has a printed form.""",
    "ledger": """Ledger or path, optional
        The ledger that is charged. Every fit, clone and cross-validation fold is charged before it
        reads a row.""",
    "rows_per_person": """int, default 1
        The largest number of rows of a person that are used, if ``fit`` gets ``groups``. The noise
        grows with it.""",
    "random_state": """int, optional
        Seeds the noise. For tests only: the result is then not private.""",
}

# Parameters of methods and functions.
_ARGUMENTS = {
    "epsilon": """float
        The allowed privacy loss. Smaller means more privacy and more noise.""",
    "delta": _PARAMETERS["delta"],
    "neighbours": _PARAMETERS["neighbours"],
    "X": """array or frame
        Rows of features.""",
    "y": """array, optional
        Labels, one for each row of X.""",
    "extrapolate": """bool, default False
        Extrapolate beyond the declared bounds. By default features are clipped to them, as in
        ``fit``.""",
    "alpha": """float, default 0.05
        Intervals have level 1 - alpha.""",
    "exposure": """array, optional
        The exposure of each row; 1 if not given.""",
    "sample_weight": """optional
        The weight of each row. Its range, from 0 on, is declared as bounds_weight. The noise is
        for a row of the largest declared weight. Standard errors treat weights as fixed
        (sandwich).""",
    "groups": """optional
        One person id per row. The guarantee is then about persons, of whom at most
        ``rows_per_person`` rows are used.""",
    "job": """str, optional
        A name for this fit in the ledger. The same fit under the same name, such as after a
        crash, gets the stored answers and is not charged again; it warns. Fits are the same if
        their parameters, declarations, columns, types and (where public) numbers of rows are
        equal. Cells are not compared, so use a new name for new data.""",
    "ledger": """Ledger or path, optional
        The ledger that is charged, once, before a row is read.""",
    "random_state": _PARAMETERS["random_state"],
}

_ENDS = "array of shape (rows, 2)\n    The lower and upper ends."
# What methods of these names return, unless they say something else.
_RETURNS = {
    "fit": "self\n    The fitted estimator.",
    "fit_table": "self\n    The fitted estimator.",
    "predict": "array\n    One prediction per row.",
    "predict_proba": "array of shape (rows, classes)\n    Probabilities.",
    "mean_interval": _ENDS,
    "predict_interval": _ENDS,
}

_ATTRIBUTES = {
    "coef_": """array
        Coefficients in the units of the columns, as ``predict`` uses them: shrunk towards zero where
        noise hides them.""",
    "intercept_": """float or array
        The intercept.""",
    "coef_names_": """list of str
        Names of the coefficients, after encoding.""",
    "results_": """Results
        Estimates, standard errors that include the privacy noise, intervals and tests, with
        statsmodels' names.""",
    "privacy_": """Guarantee
        The guarantee, with every release and its cost.""",
    "n_used_": """float
        The noisy number of complete rows that contributed; missing if the solver does not
        release it.""",
    "signal_": """str
        Whether the slopes are clear of the privacy noise: ``'clear'``, ``'faint'`` or
        ``'drowned'``.""",
    "n_features_in_": """int
        The number of columns passed to ``fit``.""",
}

_own: dict[type, dict[str, str]] = {}
_privacy: dict[type, str] = {}
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
_ENTRY = re.compile(r"^(?=\S)", re.MULTILINE)


def documented(*, like: type | None = None) -> Callable[[Class], Class]:
    """Complete the docstring of an estimator.

    The class's own entries have priority, then those of ``like``, then the shared ones.
    """

    def complete(cls: Class) -> Class:
        if cls.__doc__ is None:  # python -OO
            return cls
        sections = _sections(inspect.cleandoc(cls.__doc__))
        inherited = {} if like is None else _own[like]
        _own[cls] = {**inherited, **_entries(sections.get("Parameters", ""))}
        parameters = inspect.signature(cls).parameters
        said: dict[str, Any] = {**dict.fromkeys(("epsilon", "delta", *_own[cls])), **_shared(_PARAMETERS), **_own[cls]}
        attributes = {**_shared(_ATTRIBUTES), **_entries(sections.get("Attributes", ""))}
        sections["Parameters"] = _listed([text for name, text in said.items() if name in parameters])
        sections["Attributes"] = _listed(list(attributes.values()))
        if like is not None:
            sections.setdefault("Privacy", _privacy[like])
        _privacy[cls] = sections["Privacy"]
        cls.__doc__ = _joined(sections)
        return cls

    return complete


def described(function: Function, like: Callable[..., Any] | None = None) -> Function:
    """Complete the docstring of a method or function: sections and entries of its own, those of
    ``like``, and the shared ones.
    """
    if function.__doc__ is None:  # python -OO
        return function
    sections = _sections(inspect.cleandoc(function.__doc__))
    there = _sections(inspect.cleandoc(like.__doc__ or "")) if like is not None else {}
    said = {**_shared(_ARGUMENTS), **_entries(there.get("Parameters", "")), **_entries(sections.get("Parameters", ""))}
    sections["Parameters"] = _listed([said[name] for name in inspect.signature(function).parameters if name in said])
    if function.__name__ in _RETURNS:
        sections.setdefault("Returns", _RETURNS[function.__name__])
    function.__doc__ = _joined({**there, **sections})
    return function


def described_like(other: Callable[..., Any]) -> Callable[[Function], Function]:
    """``described``, with the entries of another function."""
    return lambda function: described(function, other)


def documented_as(other: Callable[..., Any]) -> Callable[[Function], Function]:
    """Give a method the docstring of the one that it overrides."""

    def named(function: Function) -> Function:
        function.__doc__ = other.__doc__
        return function

    return named


def passed_on(method: Callable[Concatenate[Any, P], T], to: str) -> Callable[Concatenate[Any, P], T]:
    """The same method of an object that holds another, which its method ``to`` returns."""

    @functools.wraps(method)
    def passed(holder: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        found: T = getattr(getattr(holder, to)(), method.__name__)(*args, **kwargs)
        return found

    return passed


_FIRST = ("", "Parameters", "Attributes", "Returns", "Privacy")


def _sections(text: str) -> dict[str, str]:
    """The text before the first heading under the empty name, then each section under its name."""
    pieces = _SECTION.split(text)
    return {"": pieces[0].strip(), **dict(zip(pieces[1::2], (p.strip("\n") for p in pieces[2::2]), strict=True))}


def _entries(section: str) -> dict[str, str]:
    """Entries by name; an entry with several names is listed under each."""
    found: dict[str, str] = {}
    for entry in _ENTRY.split(section):
        for name in entry.split("\n", 1)[0].split(" : ")[0].split(", ") if entry.strip() else ():
            found[name.strip()] = entry.strip("\n")
    return found


def _shared(texts: dict[str, str]) -> dict[str, str]:
    return {name: f"{name} : {_body(text)}" for name, text in texts.items()}


def _body(text: str) -> str:
    kind, meaning = text.split("\n", 1)
    return f"{kind}\n{textwrap.indent(textwrap.dedent(meaning), '    ')}"


def _listed(entries: list[str]) -> str:
    return "\n".join(dict.fromkeys(entries))


def _joined(sections: dict[str, str]) -> str:
    order = [*(name for name in _FIRST if sections.get(name)), *(name for name in sections if name not in _FIRST)]
    parts = [f"{name}\n{'-' * len(name)}\n{sections[name]}" if name else sections[name] for name in order]
    return "\n\n".join(parts) + "\n"
