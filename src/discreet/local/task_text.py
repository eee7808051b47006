"""A task as TOML, the form that people read and sign off."""

from __future__ import annotations

from typing import Any

from discreet.documents import toml_value


def task_toml(content: dict[str, Any]) -> str:
    """The document as TOML: settings first, then tables, then the long matrix."""
    tables = ("target", "second")
    lines = [
        f"{key} = {toml_value(value)}" for key, value in content.items() if key not in (*tables, "columns", "transform")
    ]
    rows = ",\n".join(f"  {toml_value(row)}" for row in content["transform"])
    lines.append(f"transform = [\n{rows},\n]")
    for table in tables:
        if table in content:
            lines.append(f"\n[{table}]")
            lines += [f"{key} = {toml_value(value)}" for key, value in content[table].items()]
    for column in content["columns"]:
        lines.append("\n[[columns]]")
        lines += [f"{key} = {toml_value(value)}" for key, value in column.items()]
    return "\n".join(lines) + "\n"
