"""Run pages, each in a child of this process: its Python blocks, then its examples.

Standard input: a line for each page, a JSON object ``{"name": page, "python": code, "pycon": examples, "folder": where
it runs, "cache": where it keeps what it makes, "printed": file of what it prints}``. The examples follow the blocks,
which may write the files that they read. The last line of the file says how many examples failed, as JSON. A line of
standard output for each page: the status of its process.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import json
import os
import sys


def main() -> None:
    for line in sys.stdin:
        page = json.loads(line)
        if '"encoder:' in page["python"] + page["pycon"]:
            # what most of the time of a page with a model goes into; hidden where its extras do not bring it
            with contextlib.suppress(ImportError):
                importlib.import_module("transformers.models.bert.modeling_bert")
        child = os.fork()
        if child == 0:
            run(page)
            return
        sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
        sys.stdout.flush()


def run(page: dict[str, str]) -> None:
    """Run a page in this process, which is its own from here on."""
    printed = os.open(page["printed"], os.O_WRONLY | os.O_CREAT)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(printed, stream.fileno())
    os.chdir(page["folder"])
    os.environ["XDG_CACHE_HOME"] = page["cache"]
    exec(compile(page["python"], page["name"], "exec", dont_inherit=True), {"__name__": "documentation"})
    examples = doctest.DocTestParser().get_doctest(page["pycon"], {}, page["name"], page["name"], 0)
    done = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(examples)
    sys.stdout.write(f"\n{json.dumps({'failed': done.failed, 'attempted': done.attempted})}\n")


if __name__ == "__main__":
    main()
