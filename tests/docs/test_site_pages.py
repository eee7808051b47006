"""The site's own pages: their Python blocks run as a reader would type them, and no public name is left out."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import discreet

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MODELS = sorted(path.stem for path in (DOCS / "models").glob("*.md") if path.stem != "index")
PAGES = ["start.md", "extending.md", *(f"models/{name}.md" for name in MODELS)]


def _text(page: str) -> str:
    text = (DOCS / page).read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first = readme[readme.index("## In 30 seconds") : readme.index("## Two commands")]
    return re.sub(r"```\{include\} \.\./README\.md\n.*?```", lambda _: first, text, flags=re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_every_block_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", _text(page), re.DOTALL)
    assert blocks
    reader = ModuleType("reader")  # a module, so that classes of the page can be pickled, as from a reader's file
    monkeypatch.setitem(sys.modules, "reader", reader)
    for number, block in enumerate(blocks, start=1):
        exec(compile(block, f"{page}, block {number}", "exec"), reader.__dict__)


def test_the_citation_has_the_version_of_the_package():
    assert f"\nversion: {discreet.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


@pytest.mark.parametrize("module", ["discreet", "discreet.audit", "discreet.local", "discreet.parties"])
def test_every_public_name_is_in_the_reference(module):
    page = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    listed = re.findall(rf"currentmodule:: {re.escape(module)}\n(.*?)```", page, re.DOTALL)
    names = {line.strip() for block in listed for line in block.splitlines() if re.fullmatch(r" +\w+", line)}
    assert names == {name for name in import_module(module).__all__ if not name.startswith("__")}


def test_every_page_is_reached_from_the_index():
    """Also without building the site: each page stands in some table of contents, and each entry is a page."""
    reached, waiting = set(), [DOCS / "index.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page in reached:
            continue
        assert page.exists(), f"{page.relative_to(DOCS)} is in a table of contents and does not exist"
        reached.add(page)
        for body in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            for entry in (line.strip() for line in body.splitlines() if line and not line.startswith(":")):
                waiting += page.parent.glob(f"{entry}.md") if "*" in entry else [page.parent / f"{entry}.md"]
    assert {path.resolve() for path in DOCS.rglob("*.md")} - reached == set()
