"""Run the Python blocks of a page, then its examples; print how many examples failed, as JSON.

Standard input: a JSON object ``{"name": page, "python": code, "pycon": examples}``. The examples follow the blocks,
which may write the files that they read.
"""

from __future__ import annotations

import doctest
import json
import sys


def main() -> None:
    page = json.load(sys.stdin)
    exec(compile(page["python"], page["name"], "exec", dont_inherit=True), {"__name__": "documentation"})
    examples = doctest.DocTestParser().get_doctest(page["pycon"], {}, page["name"], page["name"], 0)
    done = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(examples)
    sys.stdout.write(f"\n{json.dumps({'failed': done.failed, 'attempted': done.attempted})}\n")


if __name__ == "__main__":
    main()
