"""The site: no public name and no page is left out."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

import discreet

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def test_the_citation_has_the_version_of_the_package():
    assert f"\nversion: {discreet.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


@pytest.mark.parametrize("module", ["discreet", "discreet.audit", "discreet.local", "discreet.parties"])
def test_every_public_name_is_in_the_reference(module):
    page = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    listed = re.findall(rf"currentmodule:: {re.escape(module)}\n(.*?)```", page, re.DOTALL)
    names = {line.strip() for block in listed for line in block.splitlines() if re.fullmatch(r" +\w+", line)}
    assert names == {name for name in import_module(module).__all__ if not name.startswith("__")}


def test_every_page_is_reached_from_the_index():
    """Also without building the site: each page stands in some table of contents, and each entry is
    a page.
    """
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


def test_prose_has_at_most_100_characters_a_line():
    """Tables, code, formulas, headings and figures aside."""
    pages = (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))
    for page in (*pages, *DOCS.rglob("*.md")):
        name = page.relative_to(ROOT).as_posix()
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        long = [
            line
            for line in text.splitlines()
            if len(line) > 100 and not line.startswith(("|", "  |", "!", "#", "    "))
        ]
        assert not long, f"{name}: {long[0][:60]} ..."
