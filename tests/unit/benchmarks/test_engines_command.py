"""``python -m benchmarks.engines`` runs every part, or those that are named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent.parent.parent))
command = pytest.importorskip("benchmarks.engines.__main__")


@pytest.mark.parametrize(("words", "parts"), [([], list(command.PARTS)), (["dask", "growth"], ["dask", "growth"])])
def test_all_parts_run_unless_some_are_named(words, parts, tmp_path, monkeypatch):
    ran = []
    monkeypatch.setattr(sys, "argv", ["engines", *words])
    monkeypatch.setattr(command, "TARGET", tmp_path)
    monkeypatch.setattr(command, "_run", lambda part, *rest: ran.append(part) or [f"## {part}"])
    command.main()
    assert ran == parts
    assert sorted(path.stem for path in tmp_path.iterdir()) == sorted(f"engines_{part}" for part in parts)


def test_an_unknown_part_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["engines", "storm"])
    with pytest.raises(SystemExit):
        command.main()
