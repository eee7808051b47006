"""Pages of measurements: lines of prose within 100 characters, figures whose panels can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.pages import WIDTH, wrapped

PAGES = sorted((Path(__file__).parents[3] / "experiments").rglob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_prose_has_lines_of_at_most_100_characters(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > WIDTH and not line.startswith("|")] == []


def test_long_lines_are_filled_and_code_and_tables_are_kept():
    code = f"`python -m experiments {'--only pmt ' * 6}--quick`"
    table = f"| {'a' * 120} |"
    text = f"# Title\n\n{'some words ' * 9}\nand {code} {'more words ' * 5}\n\n{table}\n\nshort\nlines\n"
    found = wrapped(text)
    assert found.split() == text.split()
    assert code in found
    assert table in found
    assert "\n\nshort\nlines\n" in found
    assert all(len(line) <= WIDTH for line in found.splitlines() if not line.startswith("|"))
