"""Checks the record of releases, and compares the tree with the newest one. RELEASING.md says when it is used.

    python3 -m tools.releases                   check the record and the tree
    python3 -m tools.releases entry REVISION    print the entry of a commit, to be added to the record
    python3 -m tools.releases tag TAG           check that the tree may be released under this tag

The exit code is 2 if something is refused; one line says what.
"""

import subprocess
import sys

import yaml

from tools.refused import Refused, refusal
from tools.releases import record
from tools.releases.facts import TREE, Revision, WorkingTree, facts

_USAGE = "nothing, `entry REVISION` or `tag TAG`"


def check(root):
    """Returns (recorded releases, Facts of the tree). Raises Refused if the tree may not come after the newest."""
    released, tree = record.read(root), facts(WorkingTree(root))
    if released:
        record.raise_first(record.complaints(released[-1][1], tree, "tree"))
    return released, tree


def entry(root, revision):
    """Returns the text of the entry for a commit, which may be named as git names it."""
    done = subprocess.run(["git", "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"], cwd=root,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise refusal("argument", "revision", "a commit of this clone", revision)
    commit = done.stdout.strip()
    text = yaml.safe_dump([facts(Revision(commit, root)).entry(commit)], sort_keys=False, default_flow_style=None,
                          width=110)
    return "".join(f"  {line}\n" for line in text.splitlines())


def tag(root, name):
    """Raises Refused unless the tree may be released under this tag."""
    released, tree = check(root)
    if name != f"v{tree.name}":
        raise refusal("argument", "tag", f"v{tree.name}, the version of CMakeLists.txt", name)
    if any(each["name"] == tree.name for each, _ in released):
        raise refusal("argument", "tag", "a version that is not released yet", name)


def main(arguments=None, root=TREE):
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        if not words:
            released, tree = check(root)
            print(f"releases: {len(released)} recorded; the tree is {tree.name}, protocol {tree.protocol}, "
                  f"page {tree.page}, signals {tree.signals}")
        elif words[0] == "entry" and len(words) == 2:
            print(entry(root, words[1]), end="")
        elif words[0] == "tag" and len(words) == 2:
            tag(root, words[1])
        else:
            raise refusal("argument", "command", _USAGE, " ".join(words))
    except Refused as refused:
        print(f"releases: {refused}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
