"""Docstrings of estimators: what each shares with the others stands here once, and ``help`` shows all of it.

A class's own docstring has what is particular to it, in numpydoc's form. ``documented`` completes its sections
Parameters and Attributes, in the order of the constructor.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)

_PARAMETERS = {
    "epsilon": """float
        The privacy loss that is allowed, for everything that the fitted object shows. Smaller means more
        privacy and more noise.""",
    "delta": """float
        The probability with which epsilon may be exceeded: well below 1 over the number of people.""",
    "bounds_X": """pair or mapping, optional
        Declared ``(low, high)`` of the features, one number for all columns or one for each, or by name,
        ``{"age": (18, 90)}``. Never take them from private rows. Values outside are moved to the nearest
        bound. One of ``bounds_X``, ``data_norm`` and ``domain`` is needed.""",
    "bounds_y": """pair of float, optional
        Declared ``(low, high)`` of the label, where no ``domain`` declares it.""",
    "bounds_exposure": """pair of float, optional
        Declared ``(low, high)`` of the exposure, if ``fit`` is given one.""",
    "bounds_weight": """pair of float, optional
        Declared ``(0, largest)`` of ``sample_weight``, if ``fit`` is given one. Noise is that of a row with the
        largest weight.""",
    "data_norm": """float, optional
        A declared bound on the Euclidean norm of a row of features, in place of ``bounds_X``.""",
    "domain": """Domain, optional
        Declared columns: bounds of numbers, levels of categories, the rule for missing values.""",
    "formula": """str, optional
        Terms over the declared columns, as ``"cost ~ age * smoker + bs(bmi, 4)"``. ``fit(frame)`` then needs
        no y.""",
    "public": """Public, optional
        Rows that are public anyway, with labels or without, or their second moment. They guide the fit at no
        cost and get no protection.""",
    "fit_intercept": """bool, default True
        Whether the model has an intercept.""",
    "cov_type": """{'robust', 'model'}, default 'robust'
        The sandwich covariance, which holds whatever the variance of labels is; or the model's, narrower if
        labels vary as the family says.""",
    "neighbours": """{'replace_one', 'add_or_remove_one'}, default 'replace_one'
        What the guarantee compares: tables in which one row (or person) was replaced, their number being
        public; or in which one was added or left out, their number being private.""",
    "calibration": """{'tight', 'paper'}, default 'tight'
        Exact noise, or the noise that a paper prints, where the solver has a printed form.""",
    "ledger": """Ledger or path, optional
        The budget that pays. Every fit, clone and cross-validation fold pays from it before it reads a row.""",
    "rows_per_person": """int, default 1
        How many rows of a person are used at most, where ``fit`` is given ``groups``. Noise grows with it.""",
    "random_state": """int, optional
        Seeds the noise. For tests only: the result is then not private.""",
}

_ATTRIBUTES = {
    "coef_": """array
        Coefficients in the units of the columns, as ``predict`` uses them: drawn towards zero where the noise
        hides them.""",
    "intercept_": """float or array
        The intercept.""",
    "coef_names_": """list of str
        Names of the coefficients, after encoding.""",
    "results_": """Results
        Estimates, standard errors with the privacy noise, intervals and tests, with statsmodels' names.""",
    "privacy_": """Guarantee
        The guarantee, with every release and its cost.""",
    "n_used_": """RowsUsed or None
        The noisy number of rows that were complete and contributed.""",
    "signal_": """str
        Whether the slopes stand out of the privacy noise: ``'clear'``, ``'faint'`` or ``'drowned'``.""",
    "n_features_in_": """int
        The number of columns that ``fit`` was given.""",
}

_own: dict[type, dict[str, str]] = {}
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
_ENTRY = re.compile(r"^(?=\S)", re.MULTILINE)


def documented(*, like: type | None = None, but: str = "") -> Callable[[Class], Class]:
    """Complete the docstring of an estimator.

    What it says of its parameters itself comes first, then what ``like`` says, then what all share. ``but`` names
    attributes that it has not.
    """

    def complete(cls: Class) -> Class:
        if cls.__doc__ is None:  # python -OO
            return cls
        sections = _sections(inspect.cleandoc(cls.__doc__))
        _own[cls] = dict(_own.get(like, {})) if like is not None else {}
        _own[cls].update(_entries(sections.get("Parameters", "")))
        parameters = list(inspect.signature(cls).parameters)
        attributes = {name: text for name, text in _shared(_ATTRIBUTES).items() if name not in but.split()}
        attributes.update(_entries(sections.get("Attributes", "")))
        said = {**_shared(_PARAMETERS), **_own[cls]}
        sections["Parameters"] = _listed([said[name] for name in parameters if name in said])
        sections["Attributes"] = _listed(list(attributes.values()))
        order = ["", "Parameters", "Attributes", *(name for name in sections if name not in _PLACED)]
        parts = [_headed(name, sections[name]) for name in order if name in sections]
        cls.__doc__ = "\n\n".join(parts) + "\n"
        return cls

    return complete


_PLACED = ("", "Parameters", "Attributes")


def _sections(text: str) -> dict[str, str]:
    """The text before the first heading under the empty name, then each section under its own."""
    pieces = _SECTION.split(text)
    return {"": pieces[0].strip(), **dict(zip(pieces[1::2], (p.strip("\n") for p in pieces[2::2]), strict=True))}


def _entries(section: str) -> dict[str, str]:
    """Entries by name; one of several names stands under each of them."""
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


def _headed(name: str, body: Any) -> str:
    return f"{name}\n{'-' * len(name)}\n{body}" if name else str(body)
