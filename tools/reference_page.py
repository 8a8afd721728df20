"""Keeps a page of docs/ whose tables a program writes from the sources: it handles that program's arguments."""

import sys


def keep(page, rewritten, program):
    """Writes `page` anew. `rewritten` maps the page's text to the text that it must have. `program` is the path of the
    calling program. With --check it changes nothing. Returns what sys.exit takes: 0, or a message if --check finds
    that the page differs."""
    text = page.read_text(encoding="utf-8")
    fresh = rewritten(text)
    if "--check" in sys.argv[1:]:
        return 0 if text == fresh else f"{page}: not what the sources say: run python3 {program}"
    page.write_text(fresh, encoding="utf-8")
    return 0
