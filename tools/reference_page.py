"""A page of docs/ with tables that a program writes from the sources: what that program does with its arguments."""

import sys


def keep(page, rewritten, program):
    """`rewritten`: the page's text as it is to be, by its text; `program`: its path. Its exit code, or words: with
    --check, which changes nothing, where the page says something else."""
    text = page.read_text(encoding="utf-8")
    fresh = rewritten(text)
    if "--check" in sys.argv[1:]:
        return 0 if text == fresh else f"{page}: not what the sources say: run python3 {program}"
    page.write_text(fresh, encoding="utf-8")
    return 0
