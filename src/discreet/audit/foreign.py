"""Fits in another Python environment, as a function that the black-box audit can call."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WORKER = Path(__file__).with_name("foreign_worker.py")


@dataclass(frozen=True)
class ForeignFit:
    """``model.py:make_model`` in the given Python; ``many`` fits in one process, because starting
    one takes seconds.
    """

    python: str
    spec: str
    parameters: dict[str, Any] = field(default_factory=dict)
    batch: int = 500

    def __call__(self, data: tuple[Any, Any]) -> NDArray[np.float64]:
        return self.many(data, 1)[0]

    def many(self, data: tuple[Any, Any], size: int) -> list[NDArray[np.float64]]:
        with tempfile.TemporaryDirectory() as folder:
            rows, outputs = Path(folder, "rows.npz"), Path(folder, "outputs.npz")
            np.savez(rows, X=data[0], y=data[1])
            command = [self.python, _WORKER, self.spec, rows, size, json.dumps(self.parameters), outputs]
            try:
                done = subprocess.run(
                    [str(part) for part in command],
                    env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": ""},
                    capture_output=True,
                    text=True,
                    check=False,
                )
            except OSError as error:
                raise ValueError(f"{self.python} cannot be run as a Python: {error.strerror}") from error
            if done.returncode != 0:
                said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
                raise ValueError(f"{self.spec} failed in {self.python}: {said}")
            with np.load(outputs) as held:
                return np.split(held["values"], np.cumsum(held["lengths"])[:-1])
