"""The folder of the shared data sets: ``DISCREET_DATA``, or beside the repository."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def data_folder(*files: str) -> Path:
    """The folder with these files, or an exit that says how to name it."""
    folder = Path(os.environ.get("DISCREET_DATA", ROOT.parent / "shared" / "datasets"))
    missing = [file for file in files if not (folder / file).is_file()]
    if missing:
        sys.exit(f"data sets not found: {', '.join(missing)}. Set DISCREET_DATA to the folder that has them.")
    return folder
