"""Every block of code in README and the site's pages runs, page by page, as a reader would type it."""

from __future__ import annotations

import importlib.util
import re
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "README.md", *DOCS.rglob("*.md")))
# Blocks that are shown and not run: output, files, bytes on the wire, and what Sphinx reads.
SHOWN = {"text", "toml", "json"}


def _run_page() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_page", DOCS / "run_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["run_page"] = module  # its dataclass looks up its own module
    spec.loader.exec_module(module)
    return module


RUN_PAGE = _run_page()


def _blocks(page: str):
    return RUN_PAGE.blocks_of((ROOT / page).read_text(encoding="utf-8"))


# Pages whose output has no noise: every line that they show is printed.
EXACT = {"docs/howto/planning.md"}
RUNNING = [page for page in PAGES if any(block.language in ("python", "sh") for block in _blocks(page))]


@pytest.mark.parametrize("page", RUNNING)
def test_every_block_runs(page, tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.setitem(sys.modules, "reader", None)  # put back afterwards
    monkeypatch.setenv("COLUMNS", "80")
    printed = RUN_PAGE.run(ROOT / page, tmp_path)
    matplotlib.pyplot.close("all") if "matplotlib.pyplot" in sys.modules else None
    assert any(printed)
    if page in EXACT:
        for before, block in pairwise(printed):
            assert block.language != "text" or set(block.text.splitlines()) <= set(printed[before].splitlines())


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_what_it_is(page):
    """A block without a language would be neither run nor known to be output."""
    for block in _blocks(page):
        assert block.language in {"python", "sh", *SHOWN} or block.language.startswith("{"), block.text[:80]


def test_every_reason_to_leave_code_out_is_needed():
    code = [
        part
        for page in RUNNING
        for block in _blocks(page)
        if block.language in ("python", "sh")
        for part in ([block.text] if block.language == "python" else RUN_PAGE.commands_of(block.text))
    ]
    for pattern in RUN_PAGE.LEFT_OUT:
        assert any(re.search(pattern, one) for one in code), pattern
    left_out = [one for one in code if RUN_PAGE.left_out(one)]
    assert len(left_out) < len(code) / 8  # the list stays short


def test_figures_of_the_gallery_are_there():
    for page in (DOCS / "gallery").glob("*.md"):
        for figure in re.findall(r"!\[.*?\]\((.*?)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / figure).exists(), f"{page.name}: {figure}"
