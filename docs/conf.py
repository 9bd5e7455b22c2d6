"""Sphinx configuration: ``sphinx-build docs site``, with the packages sphinx, myst-parser and furo.

The pages are plain Markdown and can be read without it; no test needs it.
"""

project = "Lexiscope"
author = "Lexiscope contributors"
extensions = ["myst_parser"]
myst_heading_anchors = 3
html_theme = "furo"
root_doc = "index"
