"""W7: texts that would be programs, in every place where a study or a participant can put a text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from lexiscope.annotation.study_file.definition import (
    AboutYou,
    AboutYouOption,
    KnownQuestion,
    StudyDefinition,
    StudyTexts,
)
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage

from .made_tasks import task_study
from .served import serving
from .walker import Given, Walker

pytestmark = pytest.mark.browser
RUN = "window.__xss=1;alert(1)"
TAGS = (
    f"<script>{RUN}</script>",
    f"<ScRiPt >{RUN}</sCrIpT>",
    f"<script/x>{RUN}</script/x>",
    f"<<script>{RUN}//<</script>",
    f"<img src=x onerror={RUN}>",
    f"<img src=x onerror='{RUN}'>",
    f"<img/src=x/onerror={RUN}>",
    f"<svg onload={RUN}>",
    f"<svg/onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s>",
    f"<body onload={RUN}>",
    f"<iframe src='javascript:{RUN}'></iframe>",
    f'<iframe srcdoc="<script>{RUN}</script>"></iframe>',
    f"<object data='javascript:{RUN}'></object>",
    f"<embed src='javascript:{RUN}'>",
    f"<details open ontoggle={RUN}>",
    f"<input autofocus onfocus={RUN}>",
    f"<select autofocus onfocus={RUN}>",
    f"<video><source onerror={RUN}></video>",
    f"<audio src=x onerror={RUN}>",
    f"<marquee onstart={RUN}>",
    f"<a href='javascript:{RUN}'>read on</a>",
    f"<a href=' java&#x09;script:{RUN}'>read on</a>",
    f"<form action='javascript:{RUN}'><button>go on</button></form>",
    f"<button formaction='javascript:{RUN}'>go on</button>",
    f"<math><mtext><table><mglyph><style><img src=x onerror={RUN}>",
    f"<noscript><p title='</noscript><img src=x onerror={RUN}>'>",
    f"<template><script>{RUN}</script></template>",
    f"<meta http-equiv='refresh' content='0;url=javascript:{RUN}'>",
    "<base href='https://example.org/'>",
    "<link rel=stylesheet href='https://example.org/x.css'>",
    "<style>*{display:none}</style>",
)
BREAKS = (
    f'"><script>{RUN}</script>',
    f"'><script>{RUN}</script>",
    f"</p></div></form><script>{RUN}</script>",
    f"</textarea><script>{RUN}</script>",
    f"</title><script>{RUN}</script>",
    f"</style><script>{RUN}</script>",
    f"--><script>{RUN}</script>",
    f"]]><script>{RUN}</script>",
    f'" onmouseover="{RUN}" autofocus onfocus="{RUN}',
    f"' onfocus='{RUN}' autofocus='",
    f"` onfocus=`{RUN}",
    f"&lt;script&gt;{RUN}&lt;/script&gt;",
    f"&#60;img src=x onerror={RUN}&#62;",
    f"\\u003cscript\\u003e{RUN}\\u003c/script\\u003e",
    f"%3Cscript%3E{RUN}%3C/script%3E",
    f"\uff1cscript\uff1e{RUN}\uff1c/script\uff1e",
    f"\u202e<script>{RUN}</script>\u202c",
    f"<scr\u200bipt>{RUN}</scr\u200bipt>",
    f"<scr\u00adipt>{RUN}</scr\u00adipt>",
    f"<img src=x\u2028onerror={RUN}>",
    f"\u017fcript <\u017fcript>{RUN}</\u017fcript>",
    f"\u2039img src=x onerror={RUN}\u203a",
)
TEMPLATES = tuple(
    f"{left}{inside}{right}"
    for (left, right), inside in product(
        (("{{", "}}"), ("{%", "%}"), ("${", "}"), ("<%=", "%>"), ("#{", "}"), ("%(", ")s")),
        ("7*7", RUN, "self.__init__.__globals__", "config"),
    )
)
SCHEMES = ("javascript:", "JaVaScRiPt:", "java&#115;cript:", "data:text/html,<script>", "vbscript:", "\tjavascript:")
LINKS = tuple(
    shape.format(f"{scheme}{RUN}")
    for scheme, shape in product(SCHEMES, ("[here]({})", "![x]({})", "<{}>", "[here][1]\n\n[1]: {}"))
)
MARKDOWN = (
    *LINKS,
    f'![x](x "onerror={RUN}")',
    f'[here](https://example.org" onmouseover="{RUN})',
    f"`<script>{RUN}</script>`",
)
HOSTILE = tuple(dict.fromkeys((*TAGS, *BREAKS, *TEMPLATES, *MARKDOWN)))
ALL = "\n\n".join(HOSTILE)
# what the page may consist of; anything else came from a text
FOREIGN = """() => {
  const own = new Set([...document.querySelectorAll('head script[src^="/static/"]')]);
  const found = [...document.querySelectorAll('*')].filter((one) => {
    const name = one.localName;
    if (name === 'script') return !own.has(one);
    if (['iframe', 'object', 'embed', 'svg', 'math', 'base', 'img', 'style', 'video', 'audio', 'template', 'marquee']
        .includes(name)) return true;
    if (name === 'meta') return one.httpEquiv;
    if (name === 'form') return !one.getAttribute('action').startsWith('/');
    if (name === 'a' && one.hasAttribute('href') && !/^(https?:|mailto:)/.test(one.href)) return true;
    return [...one.attributes].some((each) => each.name.startsWith('on') || /^\\s*(javascript|data|vbscript):/i
      .test(['href', 'src', 'action', 'formaction'].includes(each.name) ? each.value : ''));
  });
  return found.map((one) => one.outerHTML.slice(0, 200));
}"""


class Wary(Walker):
    """A participant who looks for what should not be on a page, at every page."""

    def judge(self, kind: str) -> None:
        """Nothing ran, nothing was kept from running, and nothing of a text became an element."""
        self.page.wait_for_timeout(60)
        assert self.page.evaluate("window.__xss === undefined"), self.page.url
        assert self.faults == [], self.page.url
        assert self.page.evaluate(FOREIGN) == [], self.page.url


@contextmanager
def visiting(browser: Any, folder: Path, definition: StudyDefinition, items: tuple[Item, ...]) -> Iterator[Wary]:
    """A wary participant of a study."""
    with serving(folder, definition, items) as served:
        context = browser.new_context()
        context.set_default_timeout(30_000)
        try:
            walker = Wary(context.new_page(), served, "<img src=x onerror=alert(1)>")
            walker.page.goto(f"{served.url}/?PROLIFIC_PID=%3Cimg%20src=x%20onerror=alert(1)%3E&SESSION_ID={{{{7*7}}}}")
            yield walker
        finally:
            context.close()


def test_the_corpus_is_large() -> None:
    """W7 at this tier: at least 100 different texts."""
    assert len(HOSTILE) >= 100


def test_texts_of_the_study(chromium: Any, tmp_path: Path) -> None:
    """Title, consent, ethics, questions about you, instructions, examples, items, practice, debrief, contact: the whole
    corpus in each, and the walk finds nothing of it alive. What a participant writes is shown back as it was."""
    texts = dict.fromkeys(("consent", "instructions", "debrief"), ALL)
    options = tuple(AboutYouOption(value=f"o{number}", text=text) for number, text in enumerate(HOSTILE))
    asked = (
        AboutYou(measure="native_speaker", text=ALL, options=(AboutYouOption(value="yes", text="yes"), *options)),
        AboutYou(measure="age", text=ALL, kind="number", required=False),
    )
    definition, made = task_study("plausibility", tmp_path)
    hostile = dict.fromkeys(("precontext", "ending", "sense", "example"), ALL)
    known = KnownQuestion(
        id="p1", shows={"sentence": f"The word. {ALL}", "target": "word", **hostile}, accept=(3,), explanation=ALL
    )
    definition = definition.model_copy(
        update={
            "texts": StudyTexts(**texts, title=" ".join(HOSTILE[:30])),
            "ethics": ALL,
            "about_you": asked,
            "qualification": (),
            "practice": (known,),
            "examples": (known.model_copy(update={"id": "e1"}),),
            "contact": HOSTILE[0],
            "back": True,
        }
    )
    text = f"The word. {ALL}"
    usage = Usage(text, 4, 8, lemma="word", language="en")
    items = tuple(replace(made[0], item_id=f"i{n}", usages=(usage,), conditions=hostile) for n in range(2))
    with visiting(chromium, tmp_path, definition, items) as walker:
        written = ALL[:900]
        walker.on(lambda _seen: Given(value="2", comment=written), until="feedback")
        walker.on(lambda _seen: None, until="trial") if walker.kind == "trial" else walker.leave("a.button")
        walker.judge("trial")
        walker.answer(Given(value="3", comment=written))
        walker.leave("a.back")
        walker.judge("trial")
        field = walker.page.locator('[name^="comment-"]')
        assert field.input_value().replace("\r", "") == written
        refused_page(walker, written)
        assert walker.on(lambda _seen: Given(value="3", comment=written)) == "DONE1"


def refused_page(walker: Wary, written: str) -> None:
    """Send the form without an answer and without the script: the server shows what was given, and why not."""
    page = walker.page
    page.evaluate("document.querySelectorAll('#answer input[type=radio]').forEach((one) => { one.checked = false; })")
    with page.expect_navigation():
        page.evaluate("document.getElementById('answer').submit()")
    assert page.locator('[data-fault="value"]').is_visible()
    walker.faults.clear()
    walker.judge("trial")
    assert page.locator('[name^="comment-"]').input_value().replace("\r", "") == written


def test_words_as_options(chromium: Any, tmp_path: Path) -> None:
    """Every text of the corpus is an option of a choice; they are read as they are, and the press stores them so."""
    definition, made = task_study("word_intrusion", tmp_path, qualification=(), practice=(), about_you=())
    words = [" ".join(text.replace("|", "").split()) for text in HOSTILE]
    words = [word for number, word in enumerate(words) if word.casefold() not in {w.casefold() for w in words[:number]}]
    items = tuple(
        replace(
            made[0], item_id=f"i{n}", gold=None, conditions={**made[0].conditions, "options": "|".join(words[n::2])}
        )
        for n in range(2)
    )
    with visiting(chromium, tmp_path, definition, items) as walker:
        assert walker.on(lambda seen: Given(option=seen.options[0])) == "DONE1"
        rows = [row for row in walker.served.app.store.answers_of(walker.participant) if row["phase"] == "trials"]
        assert {row["option"] for row in rows} <= set(words)


def test_what_a_search_finds(chromium: Any, tmp_path: Path) -> None:
    """Titles and descriptions of a list are written into the page by its script; none of them is read as markup."""
    definition, made = task_study("entity_link", tmp_path, qualification=(), practice=(), about_you=(), back=True)
    lines = [" ".join(text.split()) for text in HOSTILE]
    table = "\n".join(f"E{number}\tplace {line}\t\t{line}" for number, line in enumerate(lines))
    Path(definition.search).write_text(f"id\ttitle\taliases\tdescription\n{table}\n", encoding="utf-8")
    with visiting(chromium, tmp_path, definition, made) as walker:
        walker.on(lambda _seen: None, until="trial")
        page = walker.page
        for query in ("place script", "place img", "place window"):
            page.locator('[role="combobox"]').fill(query)
            page.locator('[role="option"]').first.wait_for()
            walker.judge("trial")
            page.locator('[role="option"]').first.click()
            page.locator(".found strong").wait_for()
            walker.judge("trial")
        title = page.locator('[role="combobox"]').input_value()
        walker.leave("form#answer button.primary")
        walker.leave("a.back")
        walker.judge("trial")
        assert page.locator('[role="combobox"]').input_value() == title
