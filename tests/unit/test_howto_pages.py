"""The Python blocks of how-to pages run, one after the other, as a reader would type them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HOWTO = Path(__file__).resolve().parents[2] / "docs" / "howto"
PAGES = ["evaluation.md", "formula.md", "losses.md", "models.md", "pipelines.md", "planning.md", "survival.md"]


@pytest.mark.parametrize("page", PAGES)
def test_every_block_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (HOWTO / page).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for number, block in enumerate(blocks, start=1):
        exec(compile(block, f"{page}, block {number}", "exec"), names)
