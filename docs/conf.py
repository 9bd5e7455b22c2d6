"""Sphinx configuration: ``sphinx-build docs site``, with the packages sphinx, myst-parser and furo.

The pages are plain Markdown and can be read without it. The build writes the generated ones first (make_tables.py), so
Lexiscope must be installed.
"""

import subprocess
import sys
from pathlib import Path

project = "Lexiscope"
author = "Lexiscope contributors"
extensions = ["myst_parser"]
myst_heading_anchors = 3
html_theme = "furo"
root_doc = "index"


def setup(app):
    """Write the generated pages before Sphinx looks for pages."""
    tables = Path(__file__).with_name("make_tables.py")
    app.connect("config-inited", lambda app, config: subprocess.run([sys.executable, tables], check=True))
