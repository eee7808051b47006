"""The public names are what they are said to be, and importing them is cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from pathlib import Path
from typing import Self, get_type_hints

import pytest

import discreet


@pytest.mark.parametrize("name", discreet.__all__)
def test_every_public_name_can_be_imported(name):
    assert getattr(discreet, name) is not None


def test_type_checkers_are_told_of_every_name():
    """Without the stub every public name would be ``Any`` in a user's own code."""
    stub = ast.parse(Path(discreet.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    told = {one.names[0].asname: one.module for one in stub.body if isinstance(one, ast.ImportFrom)}
    modules = dict.fromkeys(("audit", "local", "noise", "parties"), "discreet")
    assert told == discreet._HOMES | modules
    assert get_type_hints(discreet.LinearRegression.fit)["return"] is Self


def test_all_is_sorted_complete_and_what_dir_shows():
    assert discreet.__all__ == [*sorted(discreet.__all__[:-1]), "__version__"]
    assert dir(discreet) == sorted(discreet.__all__)
    assert len(set(discreet.__all__)) == len(discreet.__all__)


def test_every_error_is_public_or_below_a_public_one():
    from discreet import errors

    raised = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, Exception)]
    public = tuple(getattr(discreet, name) for name in discreet.__all__ if name.endswith(("Error", "Warning")))
    assert all(issubclass(error, public) for error in raised)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'logistic'"):
        discreet.logistic


def test_import_is_fast_and_loads_nothing_heavy():
    """Half a second in the best of three, interpreter included, so that a busy machine raises no
    alarm.
    """
    code = "import discreet, sys; print(*sorted({'sklearn', 'scipy.stats', 'matplotlib', 'pandas'} & set(sys.modules)))"
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        heavy = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
        seconds.append(time.perf_counter() - start)
        assert heavy == []
    assert min(seconds) < 0.5


def test_the_package_can_be_run():
    said = subprocess.run([sys.executable, "-m", "discreet", "--version"], capture_output=True, text=True, check=True)
    assert discreet.__version__ in said.stdout
