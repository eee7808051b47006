"""A literal implementation of docs/local_wire.md with the standard library: valid tasks and
reports.

Slow and plain on purpose: it shares no code with discreet, so that both can be compared.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import math
import re
import struct
import zlib
from typing import Any

_FIELDS = {
    *("format", "name", "epsilon", "delta", "goal", "closes", "calibration", "fit_intercept", "parent"),
    *("target", "columns", "statistic", "randomizer"),
}
_WEIGHTS = {"cross": {"flag", "cross"}, "both": {"flag", "outer", "cross"}, "pilot": {"flag", "first", "second"}}
_HASH = re.compile(r"[0-9a-f]{64}")


class _Wrong(Exception):
    pass


def is_task(body: bytes) -> bool:
    """Whether these bytes are the canonical form of a task with the unit randomizer."""
    try:
        content = json.loads(body.decode("utf-8"), object_pairs_hook=_once, parse_int=_integer, parse_constant=_refuse)
        if canonical(content) != body.decode("utf-8"):
            return False
        _check_task(content)
    except (_Wrong, ValueError, RecursionError):
        return False
    return True


def is_report(document: bytes, body: bytes) -> bool:
    """Whether these bytes are a report of the task with this canonical form."""
    if len(body) != 34 or body[:4] != b"dL\x02\x01" or body[4:12] != hashlib.sha256(document).digest()[:8]:
        return False
    (number,), (check,) = struct.unpack("<H", body[28:30]), struct.unpack("<I", body[30:])
    return bool(check == zlib.crc32(body[:30]) and number < json.loads(document)["randomizer"]["candidates"])


def canonical(value: Any) -> str:
    """RFC 8785."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        value.encode("utf-8")  # raises for a lone surrogate
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        return _ecmascript(value)
    if isinstance(value, list):
        return f"[{','.join(map(canonical, value))}]"
    keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(f"{canonical(key)}:{canonical(value[key])}" for key in keys) + "}"


def _ecmascript(value: float) -> str:
    """Number::toString of ECMAScript: the shortest digits, which repr knows, placed by its five
    rules.
    """
    if not math.isfinite(value):
        raise _Wrong
    if value == 0:
        return "0"
    sign, digits = "-" if value < 0 else "", repr(abs(value))
    mantissa, _, power = digits.partition("e")
    whole, _, rest = mantissa.partition(".")
    rest = "" if rest == "0" else rest
    point = len(whole) + int(power or 0)
    figures = (whole + rest).lstrip("0")
    point -= len(whole + rest) - len(figures)
    figures = figures.rstrip("0")
    if len(figures) <= point <= 21:
        return sign + figures + "0" * (point - len(figures))
    if 0 < point <= 21:
        return sign + figures[:point] + "." + figures[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + figures
    exponent = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return sign + figures[0] + ("." + figures[1:] if len(figures) > 1 else "") + exponent


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise _Wrong
    return dict(pairs)


def _integer(text: str) -> float:
    return float(text)  # JSON has one kind of number


def _refuse(text: str) -> None:
    raise _Wrong


def _need(condition: bool) -> None:
    if not condition:
        raise _Wrong


def _fields(value: Any, names: set[str]) -> dict[str, Any]:
    _need(isinstance(value, dict) and set(value) == names)
    return dict(value)


def _number(value: Any) -> float:
    _need(isinstance(value, float) and math.isfinite(value))
    return float(value)


def _whole(value: Any) -> int:
    _need(_number(value) == int(value) and abs(value) < 2**53)
    return int(value)


def _text(value: Any) -> str:
    _need(isinstance(value, str))
    return str(value)


def _check_task(content: Any) -> None:
    _need(isinstance(content, dict) and set(content) - {"design"} == _FIELDS and content["format"] == 2.0)
    _need(not isinstance(content["format"], bool))
    _need(1 <= len(_text(content["name"])) <= 200)
    epsilon = _number(content["epsilon"])
    _need(0 < epsilon <= 100 and 0 <= _number(content["delta"]) < 1 and _whole(content["goal"]) >= 1)
    _need(content["closes"] == "goal" or _is_day(_text(content["closes"])))
    _need(content["calibration"] == "tight" and isinstance(content["fit_intercept"], bool))
    _need(content["parent"] == "" or bool(_HASH.fullmatch(_text(content["parent"]))))
    _need(isinstance(content["columns"], list) and len(content["columns"]) > 0)
    columns = content["columns"]
    features = sum(_column(column) for column in columns)
    names = [*(column["name"] for column in columns), _target(content["target"])]
    _need(len(set(names)) == len(names) and "" not in names)
    _randomizer(content["randomizer"], _statistic(content["statistic"], features), epsilon)
    if "design" in content:
        _design(content["design"], features)


def _is_day(text: str) -> bool:
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) is None:
        return False
    try:
        return bool(datetime.date.fromisoformat(text))
    except ValueError:
        return False


def _column(column: Any) -> int:
    """How many features it becomes."""
    _need(isinstance(column, dict))
    if "values" in column:
        _fields(column, {"name", "values"})
        _text(column["name"])
        return _levels(column["values"]) - 1
    _fields(column, {"name", "low", "high"})
    _text(column["name"])
    _bounds(column)
    return 1


def _levels(values: Any) -> int:
    _need(isinstance(values, list) and all(isinstance(value, str) for value in values) and len(values) >= 2)
    _need(len({value.rstrip("\0") for value in values}) == len(values))
    return len(values)


def _bounds(column: dict[str, Any]) -> None:
    low, high = _number(column["low"]), _number(column["high"])
    larger = max(abs(low), abs(high))
    _need(low < high and larger <= 1e300 and high - low >= 1e-300 and high - low >= 2**-26 * larger)


def _target(target: Any) -> str:
    _need(isinstance(target, dict))
    if "values" in target:
        _fields(target, {"name", "values", "positive"})
        _levels(target["values"])
        _need(target["positive"] in target["values"])
    else:
        _fields(target, {"name", "low", "high", "centre", "scale"})
        _bounds(target)
        _number(target["centre"])
        _need(_number(target["scale"]) > 0)
    return _text(target["name"])


def _statistic(statistic: Any, features: int) -> int:
    """The length of its vector."""
    _need(isinstance(statistic, dict) and isinstance(statistic.get("kind"), str) and statistic["kind"] in _WEIGHTS)
    kind = statistic["kind"]
    _fields(statistic, {"kind", *_WEIGHTS[kind]} | (set() if kind == "pilot" else {"radius", "transform"}))
    weights = [_number(statistic[name]) for name in _WEIGHTS[kind]]
    _need(all(0 <= weight <= 1 for weight in weights))
    _need(math.fsum(weight * weight for weight in weights) <= 1 + 1e-12)
    if kind == "pilot":
        size = 1 + 2 * features
    else:
        _need(1e-6 <= _number(statistic["radius"]) <= 1e6)
        rows = statistic["transform"]
        _need(isinstance(rows, list) and 1 <= len(rows) <= features + 1)
        for row in rows:
            _need(isinstance(row, list) and len(row) == features + 1)
            _need(all(abs(_number(entry)) <= 1e12 for entry in row))
        size = 1 + len(rows) + (len(rows) * (len(rows) + 1) // 2 if kind == "both" else 0)
    _need(2 <= size <= 10_000)
    return size


def _randomizer(randomizer: Any, size: int, epsilon: float) -> None:
    _fields(randomizer, {"name", "dimension", "candidates", "top", "high", "low"})
    _need(randomizer["name"] == "unit" and _whole(randomizer["dimension"]) == size)
    candidates, top = _whole(randomizer["candidates"]), _whole(randomizer["top"])
    high, low = _whole(randomizer["high"]), _whole(randomizer["low"])
    _need(2 <= candidates <= 65536 and 1 <= top < candidates and 1 <= low <= high)
    _need(top * high + (candidates - top) * low < 2**53)
    _need(high <= low * math.exp(epsilon) * (1 - 5e-13))


def _design(design: Any, features: int) -> None:
    if isinstance(design, str):
        _need(bool(_HASH.fullmatch(design)))
        return
    _need(isinstance(design, dict) and _whole(design.get("count")) >= 1)
    if design.get("kind") == "rows":
        _fields(design, {"kind", "count", "data"})
        packed = base64.b64decode(_text(design["data"]).encode("ascii"), validate=True)
        _need(base64.b64encode(packed).decode() == design["data"])
        _need(len(packed) == 4 * int(design["count"]) * features)
        _need(all(abs(number) <= 2**20 for (number,) in struct.iter_unpack("<i", packed)))
        return
    _fields(design, {"kind", "count", "second_moment"})
    _need(design["kind"] == "moments")
    rows = design["second_moment"]
    _need(isinstance(rows, list) and len(rows) == features + 1)
    for row in rows:
        _need(isinstance(row, list) and len(row) == features + 1)
        _need(all(math.isfinite(_number(entry)) for entry in row))
