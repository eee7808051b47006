"""A task as TOML, the form that people read and approve."""

from __future__ import annotations

from typing import Any

from discreet.documents import toml_value


def task_toml(content: dict[str, Any]) -> str:
    """The document as TOML: settings first, then tables, then long arrays."""
    lines = [f"{key} = {toml_value(value)}" for key, value in content.items() if not _is_table(value)]
    last = ("design",)
    for key, value in sorted(content.items(), key=lambda item: item[0] in last):
        if isinstance(value, dict):
            lines += [f"\n[{key}]", *(_setting(name, entry) for name, entry in value.items())]
        elif _is_table(value):
            for entry in value:
                lines += [f"\n[[{key}]]", *(_setting(name, one) for name, one in entry.items())]
    return "\n".join(lines) + "\n"


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def _setting(key: str, value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], list):
        rows = ",\n".join(f"  {toml_value(row)}" for row in value)
        return f"{key} = [\n{rows},\n]"
    return f"{key} = {toml_value(value)}"
