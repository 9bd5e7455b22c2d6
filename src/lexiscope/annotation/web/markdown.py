"""Texts that researchers write in Markdown, as HTML that is safe to show."""

from __future__ import annotations

from functools import cache, lru_cache

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

_TAGS = frozenset({"p", "strong", "em", "ul", "ol", "li", "h2", "h3", "blockquote", "br", "hr", "a"})
_TABLE = frozenset({"table", "thead", "tbody", "tr", "th", "td"})
_HEADINGS = {"h1": "h2", "h4": "h3", "h5": "h3", "h6": "h3"}
_SCHEMES = frozenset({"https", "mailto"})


@lru_cache(maxsize=256)
def to_html(markdown: str) -> Markup:
    """Return Markdown as HTML of a few harmless elements; HTML in the text is shown as it was written.

    The page has one first heading, which is not the text's: ``#`` becomes a second one. Links lead to ``https`` and
    ``mailto`` only.

    >>> str(to_html("Rate the *word*, not <b>it</b>."))
    '<p>Rate the <em>word</em>, not &lt;b&gt;it&lt;/b&gt;.</p>\\n'
    >>> str(to_html("[away](javascript:alert(1))"))
    '<p>[away](javascript:alert(1))</p>\\n'
    """
    tokens = _parser().parse(markdown)
    for token in tokens:
        token.tag = _HEADINGS.get(token.tag, token.tag)
    html = str(_parser().renderer.render(tokens, _parser().options, {}))
    # the parser passes no HTML through; the allow-list holds even if a later version of it did
    return Markup(
        nh3.clean(
            html,
            tags=set(_TAGS | _TABLE),
            attributes={"a": {"href"}},
            url_schemes=set(_SCHEMES),
            url_relative="deny",
            link_rel="noopener noreferrer",
        )
    )


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
