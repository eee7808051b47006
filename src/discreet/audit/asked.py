"""The parameters of an audited model in words: its guarantee, declarations and other settings."""

from __future__ import annotations

from inspect import signature
from typing import Any

Facts = tuple[tuple[str, str], ...]

_NEIGHBOURS = {
    "replace_one": "one row replaced by any other",
    "add_or_remove_one": "one row added or removed",
}
_DECLARED = ("bounds_X", "bounds_y", "data_norm", "domain", "formula")
# Parameters that are irrelevant here, or shown elsewhere.
_LEFT_OUT = ("epsilon", "delta", "neighbours", "ledger", "random_state", *_DECLARED)
_LONGEST = 160


def asked_of(estimator: Any) -> Facts:
    """Names and texts, the guarantee first; parameters at their default are left out."""
    parameters = estimator.get_params(deep=False)
    inner = parameters.get("estimator")  # a search's guarantee and declarations are its estimator's
    whole = {**(inner.get_params(deep=False) if inner is not None else {}), **parameters}
    facts = [("model", type(estimator).__name__)]
    facts += [(name, f"{float(whole[name]):g}") for name in ("epsilon", "delta") if whole.get(name) is not None]
    if "neighbours" in whole:
        facts.append(("neighbouring data sets", _NEIGHBOURS.get(whole["neighbours"], str(whole["neighbours"]))))
    facts += [(f"declared {name}", _short(whole[name])) for name in _DECLARED if whole.get(name) is not None]
    usual = {name: one.default for name, one in signature(type(estimator).__init__).parameters.items()}
    for name, value in parameters.items():
        if name not in _LEFT_OUT and not _same(value, usual.get(name)):
            facts.append((name, _short(value)))
    return tuple(facts)


def _same(value: Any, usual: Any) -> bool:
    try:
        return bool(value is usual or value == usual)
    except (TypeError, ValueError):  # arrays
        return False


def _short(value: Any) -> str:
    columns = getattr(value, "columns", None)
    text = ", ".join(str(column) for column in columns) if isinstance(columns, tuple) else " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
