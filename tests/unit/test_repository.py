"""The repository holds no file that .gitignore excludes."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_nothing_that_is_ignored_is_tracked() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--ignored", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert listed.stdout.split() == []
