"""The documentation site: `make docs` builds it without a network, and a warning is an error."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

import discreet

# Numpydoc reads signatures from docstrings that docstring_text has not seen yet.
warnings.filterwarnings("ignore", message="Unknown section Privacy")

project = "discreet"
version = release = discreet.__version__
copyright = "the discreet contributors"

extensions = [
    "myst_parser",
    "docstring_text",
    "outside_files",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_extensions", "_templates"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

myst_enable_extensions = ["deflist", "colon_fence"]
myst_heading_anchors = 3
# Blocks of commands and of output carry no language; the default would colour them as Python.
highlight_language = "none"

autosummary_generate = True
autodoc_typehints = "none"  # types stand with the parameters, where they do not hide the signature
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
add_module_names = False

html_theme = "pydata_sphinx_theme"
html_title = "discreet"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "discreet"},
    "navigation_with_keys": False,
    "show_prev_next": True,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": ["page-toc"],
}
