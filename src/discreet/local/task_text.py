"""A task as TOML, the form that people read and sign off."""

from __future__ import annotations

import json
from typing import Any


def task_toml(content: dict[str, Any]) -> str:
    """The document as TOML: settings first, then tables, then the long matrix."""
    tables = ("target", "second")
    lines = [
        f"{key} = {_value(value)}" for key, value in content.items() if key not in (*tables, "columns", "transform")
    ]
    rows = ",\n".join(f"  {_value(row)}" for row in content["transform"])
    lines.append(f"transform = [\n{rows},\n]")
    for table in tables:
        if table in content:
            lines.append(f"\n[{table}]")
            lines += [f"{key} = {_value(value)}" for key, value in content[table].items()]
    for column in content["columns"]:
        lines.append("\n[[columns]]")
        lines += [f"{key} = {_value(value)}" for key, value in column.items()]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_value(item) for item in value)}]"
    # JSON writes strings as TOML does, except that TOML wants DEL escaped too.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
