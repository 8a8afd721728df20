"""Tests that docs/failures.md names only faults, metrics, events, alerts, words and tests that exist, and that it
leaves out none of the faults, events and alerts."""

import ast
import functools
import re
import unittest

import yaml

from benchmarks.runner.catalogue import FIGURES
from testing import faults
from testing.chart import metrics
from tests.docs import registered
from tests.docs.pages import TREE, files, read, section, sources, tables

PAGE = "docs/failures.md"
_ALERTS = "charts/crossover/files/alerts.yaml"
_EVENT = re.compile(r'(?:\.reason = |About\([^;"]*, |TellFirst\([^;"]*, )"([A-Z][A-Za-z]+)"')
_REASON = re.compile(r"(?:[A-Z][a-z]+)+")
_PIECE = 3  # consecutive words by which an event is recognised in a test
# No test reads the words of these events. The value says how the row is known to be true.
_UNREAD = {"not all pods of the gang were bound within ": "of gangs past their deadline what is left of them counts",
           "other pods of its gang run; ": "the place of the pod that went is free, so that none waits for one"}


@functools.lru_cache(maxsize=None)
def events():
    """Returns the reasons of all events that the programs send."""
    return set(_EVENT.findall(sources()))


known_metrics = functools.lru_cache(maxsize=None)(metrics)


@functools.lru_cache(maxsize=None)
def alerts():
    return {rule["alert"] for rule in yaml.safe_load(read(_ALERTS))["groups"][0]["rules"]}


def column(name, text):
    """Returns the cells below that head, of all tables that have it."""
    return [row[head.index(name)] for head, rows in tables(text) if name in head for row in rows]


def codes(cells):
    return [word for cell in cells for word in re.findall(r"`([^`]+)`", cell)]


def fragments(cells):
    """Returns what is quoted, split where the programs insert names and numbers."""
    quoted = [words for cell in cells for words in re.findall(r'"([^"]+)"', re.sub(r"`[^`]+`", "", cell))]
    return [part for words in quoted for part in re.split(r" ?\.\.\. ?", words) if part]


def wrong_test(word):
    """Returns what is wrong with the name of a test, or ""."""
    if word.startswith("make bench ONLY="):
        figure = word.partition("=")[2]
        known = figure in FIGURES
    else:
        known = word in files() and word.startswith("tests/")
        if known and not registered.runner(word):
            return f"nothing runs {word}"
    return "" if known else f"no test {word}"


def file_of(test):
    """Returns the file of a test or a figure, as a page names it."""
    figure = test.partition("=")[2]
    return f"benchmarks/{FIGURES[figure].subject}/{figure}.py" if test.startswith("make ") else test


@functools.lru_cache(maxsize=None)
def read_by(file):
    """Returns the text of a test and of the modules that it imports. Adjacent string literals are joined."""
    text = read(file)
    if file.endswith(".py"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                names = [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
                text += "".join(read(module) for name in names if (module := f"{name.replace('.', '/')}.py") in files())
    return re.sub(r'"\s*\n\s*[fr]*"', "", text)


def pieces(words):
    found = words.split()
    return [" ".join(found[i:i + _PIECE]) for i in range(max(1, len(found) - _PIECE + 1))]


def unread(text):
    """Returns a line for each event whose words are read by none of the tests that its row names."""
    wrong = []
    for head, rows in tables(text):
        for row in rows if {"log or event", "test"} <= set(head) else ():
            told, tests = (row[head.index(name)] for name in ("log or event", "test"))
            quoted, named = fragments([told]), [name for name in codes([tests]) if not wrong_test(name)]
            said = "\n".join(read_by(file_of(name)) for name in named)
            if (named and quoted and any(map(_REASON.fullmatch, codes([told]))) and quoted[0] not in _UNREAD
                    and not any(piece in said for words in quoted for piece in pieces(words))):
                wrong.append(f"{', '.join(named)}: reads nothing of '{quoted[0]}'")
    return wrong


def faults_in_words(text):
    """Returns what is wrong with a page, one line for each thing that does not exist or is left out."""
    matrix = text.partition("<!-- fault matrix -->")[2].partition("<!-- end of fault matrix -->")[0]
    named = codes(column("fault", matrix))
    wrong = [f"no fault {name}" for name in named if name not in faults.ROWS]
    wrong += [f"fault {name} is left out" for name in faults.ROWS if name not in named]
    wrong += [f"fault {name} stands there twice" for name in set(named) if named.count(name) > 1]
    told = column("log or event", text)
    known = known_metrics()
    wrong += [f"no metric {name}" for name in re.findall(r"\bcrossover_[a-z0-9_]+", text) if name not in known]
    reasons = [word for word in codes(told) if _REASON.fullmatch(word)]
    wrong += [f"no event {name}" for name in reasons if name not in events()]
    wrong += [f"event {name} is left out" for name in events() if name not in reasons]
    raised = re.findall(r"\bCrossover[A-Z]\w+", text)
    wrong += [f"no alert {name}" for name in raised if name not in alerts()]
    wrong += [f"alert {name} is left out" for name in alerts() if name not in raised]
    wrong += [f"no source says '{words}'" for words in fragments(told) if words not in sources()]
    wrong += [found for word in codes(column("test", text)) if (found := wrong_test(word))]
    wrong += [f"nothing stands under {name} of {row[0]}" for head, rows in tables(text) for row in rows
              for name, cell in zip(head, row) if not cell]
    return wrong


class Failures(unittest.TestCase):
    def test_it_is_of_what_there_is(self):
        text = read(PAGE)
        self.assertEqual(faults_in_words(text), [])
        self.assertEqual(unread(text), [])
        self.assertLessEqual(set(_UNREAD), set(fragments(column("log or event", text))))
        self.assertGreater(len(fragments(column("log or event", text))), 50)
        self.assertGreater(len(codes(column("test", text))), 40)
        self.assertGreaterEqual(len(events()), 8)

    def test_what_is_wrong_is_found(self):
        """In the control each kind of mistake is planted."""
        text = read(PAGE)
        for right, wrong, found in (
                ("`kill one rank`", "`kill one rnk`", ["no fault kill one rnk", "fault kill one rank is left out"]),
                ("`crossover_cap_refused`", "`crossover_caps_refused`", ["no metric crossover_caps_refused"]),
                ("`SlotHandedOutTwice`", "`SlotHandedOut`", ["no event SlotHandedOut",
                                                             "event SlotHandedOutTwice is left out"]),
                ("alert CrossoverTwoLead", "alert CrossoverTwoLeaders", ["no alert CrossoverTwoLeaders",
                                                                         "alert CrossoverTwoLead is left out"]),
                ('"; it counts as not set"', '"; counts as unset"', ["no source says '; counts as unset'"]),
                ("`tests/process/cli/test_caps.py`", "`tests/process/cli/test_cap.py`",
                 ["no test tests/process/cli/test_cap.py"]),
                ("`make bench ONLY=guard`", "`make bench ONLY=guards`", ["no test make bench ONLY=guards"]),
                ("| `crossover_slots_used` |", "| |",
                 ["nothing stands under metric of uninstalling while pods hold slots"])):
            self.assertEqual(text.count(right), 1, right)
            self.assertEqual(faults_in_words(text.replace(right, wrong)), found)

    def test_words_of_an_event_that_its_test_does_not_read_are_found(self):
        """The control has other words in a row, or another test beside them."""
        text = read(PAGE)
        for right, wrong, found in (
                ('"the kubelet chose other GPUs than the scheduler"', '"the kubelet was wrong"',
                 ["tests/cluster/node/test_node.py: reads nothing of 'the kubelet was wrong'"]),
                ('than the scheduler" | `tests/cluster/node/test_node.py`',
                 'than the scheduler" | `tests/cluster/node/test_mps.py`',
                 ["tests/cluster/node/test_mps.py: reads nothing of "
                  "'the kubelet chose other GPUs than the scheduler'"])):
            self.assertEqual(text.count(right), 1, right)
            self.assertEqual(set(unread(text.replace(right, wrong))) - set(unread(text)), set(found))

    def test_what_says_it_is_of_the_sources(self):
        self.assertIn("its process is ending", sources())
        self.assertNotIn("its process is endng", sources(), "the control")


class Pages(unittest.TestCase):
    def test_tables_and_sections_are_read_as_they_are_written(self):
        text = "# A\n\n| a | b |\n|---|---|\n| `x \\| y` | 1 |\n| z | |\n\n## B\nwords\n### C\n# D\n"
        self.assertEqual(tables(text), [(["a", "b"], [["`x | y`", "1"], ["z", ""]])])
        self.assertEqual(section(text, "B"), "\nwords\n### C\n")
        self.assertRaises(KeyError, section, text, "E")
        self.assertTrue((TREE / PAGE).is_file())


if __name__ == "__main__":
    unittest.main()
