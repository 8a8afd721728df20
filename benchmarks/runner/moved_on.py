"""Measures how much of the code that a figure depends on has changed since the figure was measured.

Code is compared as a bag of lines without white space. A line that moved, in its file or to another file of these
folders, does not count as a change. Nor do blank lines, comments, includes and imports, names of files, and names that
renamed.py lists. A file that git sees move out of these folders, or into them, is compared with itself: its new place
does not count, and what changed in it does. The change is the number of added or removed lines, whichever is larger,
over the number of lines before. This needs the history, so a shallow clone is refused.
"""

import re
import subprocess
from collections import Counter
from functools import lru_cache
from pathlib import Path

from benchmarks.runner.renamed import FOLDERS, by_todays_names

TOO_FAR = 0.10
_CODE = (".cc", ".h", ".def", ".cu", ".S", ".py", ".proto")
_BLOCK = re.compile(r"/\*.*?\*/", re.DOTALL)
_REMARK = re.compile(r"//.*$|^#(?!(?:if|ifdef|ifndef|elif|else|endif|define|undef|error|pragma)\b).*$", re.MULTILINE)
_PYTHON_REMARK = re.compile(r'#.*$|"""(?:[^"]|"(?!""))*"""', re.MULTILINE)
_PYTHON_IMPORT = re.compile(r"^[ \t]*(?:import [^\n]+|from \S+ import (?:\([^)]*\)[ \t]*|[^(\n]+))$", re.MULTILINE)


class NoHistory(Exception):
    """The revision, or the history that it belongs to, is not in this clone."""


def code_lines(name, text):
    """Returns the lines of a file that count, as a Counter."""
    if name.endswith(".py"):
        text = _PYTHON_IMPORT.sub("", _PYTHON_REMARK.sub("", text))
    else:
        text = _REMARK.sub("", _BLOCK.sub("", text))
    return Counter(filter(None, ("".join(line.split()) for line in by_todays_names(text).splitlines())))


def part_changed(before, after):
    """Returns the share of change between two Counters: lines added or removed, whichever is more, over those before.
    """
    came, went = (after - before).total(), (before - after).total()
    return max(came, went) / max(1, before.total())


class Tree:
    """A clone with its history."""

    def __init__(self, top):
        self._top = Path(top)
        self._commits = lru_cache(maxsize=None)(self._commit)
        self._blobs = {}  # (blob, suffix): its lines
        self._at = lru_cache(maxsize=None)(self._folder_at)
        self._now = lru_cache(maxsize=None)(self._folder_now)
        self._moves = lru_cache(maxsize=None)(self._moves_since)

    def day(self, revision):
        """Returns the date of the commit, such as 2026-11-25."""
        return self._git("show", "-s", "--format=%cs", self._commits(revision)).strip()

    def has(self, revision):
        """Returns whether HEAD has come from a revision, as far as this clone knows."""
        try:
            return bool(self._commits(revision))
        except NoHistory:
            return False

    def changed(self, revision, folders):
        """Returns what share of the folders' code changed between a revision and the working tree. Raises NoHistory
        if that is not known."""
        commit, folders = self._commits(revision), _outermost(folders)
        before, after = self.code(folders, revision), self.code(folders)
        before_too = [name for folder in folders for name in _names(folder)]
        for blob, old, new in self._moves(commit):
            was, is_now = _is_inside(old, before_too), _is_inside(new, folders)
            if was and not is_now:
                after += self._lines_of(new)
            elif is_now and not was:
                before += self._lines_at([(blob, Path(old).suffix)])
        return part_changed(before, after)

    def code(self, folders, revision=None):
        """Returns the lines of code of some folders, as a Counter: at a revision, or in the working tree. Raises
        NoHistory if the revision is not known."""
        return sum((self.lines(folder, _CODE, revision) for folder in _outermost(folders)), Counter())

    def lines(self, folder, suffixes, revision=None):
        """Returns the lines that count in the files of a folder with these suffixes, as a Counter: at a revision, or in
        the working tree. Raises NoHistory if the revision is not known."""
        return self._at(self._commits(revision), folder, suffixes) if revision else self._now(folder, suffixes)

    def _commit(self, revision):
        if self._git("rev-parse", "--is-shallow-repository").strip() == "true":
            raise NoHistory("this clone is shallow: expected all of the history, as by `git fetch --unshallow`")
        found = self._run("merge-base", "--is-ancestor", revision, "HEAD")
        if not re.fullmatch(r"[0-9a-f]{7,40}", revision) or found.returncode != 0:
            raise NoHistory(f"revision {revision}: expected a commit that HEAD has come from")
        return self._git("rev-parse", revision).strip()

    def _folder_at(self, commit, folder, suffixes):
        wanted = []
        paths = [f"{each}/" for each in _names(folder)]
        for row in filter(None, self._git("ls-tree", "-r", "-z", commit, "--", *paths).split("\0")):
            about, name = row.split("\t", 1)
            if name.endswith(suffixes):
                wanted.append((about.split()[2], Path(name).suffix))
        return self._lines_at(wanted)

    def _moves_since(self, commit):
        """Returns (blob, old path, new path) of each file of code that has another path since a commit."""
        rows = self._git("diff", "--raw", "-z", "--no-abbrev", "--find-renames", "--diff-filter=R", commit, "--",
                         *(f"*{suffix}" for suffix in _CODE)).split("\0")
        return [(about.split()[2], old, new) for about, old, new in zip(rows[::3], rows[1::3], rows[2::3])]

    def _lines_at(self, wanted):
        """Returns the lines of blobs, each given as (blob, suffix)."""
        self._read([each for each in dict.fromkeys(wanted) if each not in self._blobs])
        lines = Counter()
        for each in wanted:
            lines += self._blobs[each]
        return lines

    def _lines_of(self, name):
        """Returns the lines of a file of the working tree, or none where it is not there."""
        path = self._top / name
        return code_lines(name, path.read_text(encoding="utf-8", errors="replace")) if path.is_file() else Counter()

    def _read(self, blobs):
        """Reads the blobs with one git process, because there are thousands."""
        asked = "".join(f"{blob}\n" for blob, _ in blobs).encode()
        said = subprocess.run(["git", "cat-file", "--batch"], cwd=self._top, input=asked, capture_output=True,
                              check=True).stdout
        at = 0
        for blob, suffix in blobs:
            begin = said.index(b"\n", at) + 1
            size = int(said[at:begin].split()[2])
            self._blobs[blob, suffix] = code_lines(suffix, said[begin:begin + size].decode(errors="replace"))
            at = begin + size + 1

    def _folder_now(self, folder, suffixes):
        listed = self._git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", f"{folder}/")
        lines = Counter()
        for name in set(filter(None, listed.split("\0"))):
            if name.endswith(suffixes):
                lines += self._lines_of(name)
        return lines

    def _git(self, *words):
        done = self._run(*words)
        if done.returncode != 0:
            raise NoHistory(f"git {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def _run(self, *words):
        return subprocess.run(["git", *words], cwd=self._top, capture_output=True, text=True, errors="replace",
                              check=False)


def _outermost(folders):
    """Returns the folders that are not inside another of them, so that no line counts twice."""
    return sorted({folder for folder in folders
                   if not any(folder != other and folder.startswith(f"{other}/") for other in folders)})


def _names(folder):
    """Returns the names that a folder has and had."""
    return (folder, *FOLDERS.get(folder, ()))


def _is_inside(path, folders):
    return any(path.startswith(f"{folder}/") for folder in folders)
