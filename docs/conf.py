"""Sphinx configuration of the docs: ``make docs`` builds the site in build/docs, warnings are errors.

The extra ``docs`` has what the build needs. The build first writes the generated pages (make_tables.py) into
reference/, and at the end a redirect at each old address (redirects.csv).
"""

import csv
import os
import runpy
from pathlib import Path

from pygments.lexers.special import TextLexer

import lexiscope

HERE = Path(__file__).parent

project = "Lexiscope"
author = "Lexiscope contributors"
project_copyright = "Lexiscope contributors, Apache-2.0"
release = version = lexiscope.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc"]
exclude_patterns = ["screens/*.md"]
root_doc = "index"
language = "en_GB"

myst_enable_extensions = ["colon_fence", "html_image", "substitution"]
myst_substitutions = {"release": release}
myst_heading_anchors = 3
# notebooks are executed by make_notebooks.py, which stores their outputs
nb_execution_mode = "off"
nb_merge_streams = True

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True

# options are written with two hyphens, and shown so
smartquotes = False

html_theme = "furo"
html_title = f"Lexiscope {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False


def write_redirects(app, error):
    """Write a page at each old address that leads to the new one; old addresses last for one release."""
    if error is not None or app.builder.format != "html":
        return
    with (HERE / "redirects.csv").open(encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table):
            old = Path(app.outdir) / f"{row['old']}.html"
            target = Path(os.path.relpath(Path(app.outdir) / f"{row['new']}.html", old.parent)).as_posix()
            old.parent.mkdir(parents=True, exist_ok=True)
            old.write_text(
                f'<!doctype html><meta charset="utf-8"><title>Moved</title><link rel="canonical" href="{target}">'
                f'<meta http-equiv="refresh" content="0; url={target}"><p>Moved to <a href="{target}">{target}</a>.',
                encoding="utf-8",
            )


def mend_page(app, page, template, context, doctree):
    """Give headings of contents their level, and let a keyboard reach blocks that scroll."""
    for part in ("body", "furo_navigation_tree"):
        if part in context:
            text = context[part].replace('role="heading">', 'role="heading" aria-level="2">')
            context[part] = text.replace("<pre>", '<pre tabindex="0">')


def setup(app):
    """Write the generated pages before Sphinx looks for pages, and the redirects after the build."""
    write = runpy.run_path(str(HERE / "make_tables.py"))["main"]
    app.connect("config-inited", lambda app, config: write())
    # after the theme has made its contents
    app.connect("html-page-context", mend_page, priority=900)
    app.connect("build-finished", write_redirects)
    # tables of plain text, which editors colour by this name
    app.add_lexer("csv", TextLexer)
