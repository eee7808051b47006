"""Fits a model many times in another Python, for an audit of code that cannot be installed beside
discreet.

Run as a script by that Python; it needs numpy only, and what the model needs. Usage:
python foreign_worker.py model.py:make_model data.npz runs parameters.json outputs.npz
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np


def load(spec: str) -> Any:
    """The object that ``file.py:name`` names; the file is imported once, so that its classes stay
    the same ones.
    """
    path, _, name = spec.rpartition(":")
    file, stem = Path(path).resolve(), Path(path).stem
    loaded = sys.modules.get(stem)
    if loaded is None:
        module = importlib.util.spec_from_file_location(stem, file)
        if module is None or module.loader is None:
            raise ValueError(f"cannot load {path}")
        loaded = importlib.util.module_from_spec(module)
        # With this name and folder, other processes can import it too when they get a model.
        sys.path.insert(0, str(file.parent))
        sys.modules[stem] = loaded
        try:
            module.loader.exec_module(loaded)
        except BaseException:
            del sys.modules[stem]
            raise
    elif Path(getattr(loaded, "__file__", None) or "").resolve() != file:
        raise ValueError(f"{path} has the name of a module that is already loaded: rename it")
    return getattr(loaded, name)


def call_with(function: Any, parameters: dict[str, Any]) -> Any:
    """Call a function with those of the parameters that it takes."""
    taken = inspect.signature(function).parameters
    return function(**{name: value for name, value in parameters.items() if name in taken})


def main(spec: str, data: str, runs: str, parameters: str, outputs: str) -> None:
    warnings.simplefilter("ignore")
    here = Path(__file__).resolve().with_name("visible.py")
    visible = importlib.util.spec_from_file_location("visible", here)
    assert visible is not None
    assert visible.loader is not None
    module = importlib.util.module_from_spec(visible)
    visible.loader.exec_module(module)
    make_model, given = load(spec), json.loads(parameters)
    with np.load(data) as held:
        X, y = held["X"], held["y"]
    rows = [module.visible_numbers(call_with(make_model, given).fit(X, y)) for _ in range(int(runs))]
    np.savez(outputs, values=np.concatenate(rows), lengths=np.array([len(row) for row in rows]))


if __name__ == "__main__":
    main(*sys.argv[1:])
