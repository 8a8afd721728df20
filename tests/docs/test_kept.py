"""Tests that kept figures say under which conditions and with what they were measured, and that the code has not
changed too much since then."""

import copy
import json
import subprocess
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from benchmarks import keep
from benchmarks.runner import catalogue, kept, moved_on, renamed, sketch
from tests.docs.pages import TREE

_CODE = [f"  int value_{number} = Compute({number});" for number in range(200)]


class Kept(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tree = moved_on.Tree(TREE)
        cls.files, cls.waiting = kept.files(), kept.to_retake()

    def test_each_line_says_what_is_asked_of_it(self):
        for name, entries in self.files.items():
            for number, entry in enumerate(entries, 1):
                where = f"benchmarks/results/{name}.jsonl: line {number}"
                self.assertEqual([f"{where}: {fault}" for fault in kept.faults(entry)], [])

    def test_each_stands_on_the_code_as_it_is(self):
        """Figures that are known to be older are exempt. One that has been taken again must come off that list."""
        for name, entries in self.files.items():
            excused = [e for e in entries if kept.is_excused(self.tree, name, e, self.waiting)]
            held = [e for e in entries if e not in excused]
            self.assertEqual(kept.unkept(self.tree, name, held), {},
                             f"take {name} again: python3 -m benchmarks.run --only {name}, python3 -m benchmarks.keep")
            if name in self.waiting:
                self.assertNotEqual(kept.unkept(self.tree, name, excused), {},
                                    f"{name} is as it should be: take it off benchmarks/results/to_retake.json")

    def test_the_list_names_what_is_there(self):
        self.assertEqual(set(self.waiting) - set(self.files), set())
        self.assertEqual([name for name, why in self.waiting.items() if not why], [])
        for name in self.files:
            self.assertTrue(catalogue.figure(name).folders, name)

    def test_a_line_that_lacks_something_is_found(self):
        """In the control each message names the file, the key, the value and what is expected."""
        good = self.files["interleavings"][0]
        self.assertEqual(kept.faults(good), [])
        for key, value, words in (("conditions", None, "conditions: expected an object"),
                                  ("revision", "", "revision: expected a text, got ''"),
                                  ("samples", [], "samples: expected every run's value, got []")):
            spoilt = {**copy.deepcopy(good), key: value}
            self.assertEqual([fault[:len(words)] for fault in kept.faults(spoilt)], [words])
            del spoilt[key]
            self.assertEqual(len(kept.faults(spoilt)), 1, key)
        for revision, words in (("0123456789ab", "revision 0123456789ab: expected a commit that HEAD has come from"),
                                ("unknown", "expected a commit"), (f"{good['revision']}-dirty", "expected a commit")):
            (fault,) = kept.faults_of_revision(self.tree, "interleavings", {**good, "revision": revision})
            self.assertIn(words, fault)


class Gone(unittest.TestCase):
    """A rebase or a squash took the commit of a line out of the history."""

    tree, name, commit = moved_on.Tree(TREE), "hook_ns", "0" * 12

    def line(self, **more):
        head = _git(TREE, "rev-parse", "HEAD")
        return {**kept.with_sketch(self.tree, self.name, {"revision": head, "taken": "2026-12-01"}),
                "revision": self.commit, **more}

    def faults(self, entry):
        return kept.faults_of_revision(self.tree, self.name, entry)

    def test_its_sketch_tells_how_far_its_code_moved_on(self):
        self.assertEqual(self.faults(self.line()), [])
        other = sketch.of(Counter(f"Other({number});" for number in range(5000)))
        self.assertRegex(self.faults(self.line(code=other))[0],
                         "^revision: expected at most 10% of its code to have changed since, got [0-9]+% since 0+$")
        self.assertIn("code: expected an object", self.faults(self.line(code={}))[0])

    def test_one_without_a_sketch_is_excused_where_its_figure_is_listed(self):
        without = self.line()
        del without["code"]
        self.assertIn("expected a commit that HEAD has come from", self.faults(without)[0])
        listed = {self.name: "taken with a revision that is not in the history"}
        known = {**without, "revision": _git(TREE, "rev-parse", "HEAD")}
        for entry, waiting, excused in ((without, listed, True), (without, {}, False), (self.line(), listed, False),
                                        (known, listed, False)):
            self.assertEqual(kept.is_excused(self.tree, self.name, entry, waiting), excused, (entry, waiting))


def _git(top, *words):
    return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], cwd=top, check=True,
                          capture_output=True, text=True).stdout.strip()


class MovedOn(unittest.TestCase):
    """Works in a repository of its own, with 200 lines in two folders."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.top = Path(directory.name)
        _git(self.top, "init", "-q")
        self.write("turn/a.cc", ["#include \"turn/a.h\"", *_CODE[:100]])
        self.write("arbiter/b.cc", _CODE[100:])
        self.write("notes/page.txt", ["words"])
        self.revision = self.commit()

    def write(self, name, lines):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def commit(self):
        _git(self.top, "add", "-A")
        _git(self.top, "commit", "-qm", "x")
        return _git(self.top, "rev-parse", "--short=12", "HEAD")

    def changed(self, *folders):
        return moved_on.Tree(self.top).changed(self.revision, folders or ("turn", "arbiter"))

    def test_more_than_a_tenth_is_too_far(self):
        self.assertEqual(self.changed(), 0)
        self.write("arbiter/b.cc", [line.replace("Compute", "Guess") for line in _CODE[100:121]] + _CODE[121:])
        self.assertAlmostEqual(self.changed(), 21 / 200)
        self.commit()
        self.assertGreater(self.changed(), moved_on.TOO_FAR)
        self.assertEqual(self.changed("turn"), 0)

    def test_lines_that_come_or_go_count(self):
        self.write("turn/a.cc", _CODE[:75])
        self.assertAlmostEqual(self.changed(), 25 / 200)
        self.write("turn/a.cc", [*_CODE[:100], *(f"  More({number});" for number in range(30))])
        self.assertAlmostEqual(self.changed(), 30 / 200)

    def test_moves_renames_blank_lines_and_comments_do_not(self):
        _git(self.top, "mv", "turn/a.cc", "arbiter/renamed.cc")
        self.write("arbiter/b.cc", ["// Another comment.", "/* And", "   another. */",
                                    *(f"      {line}  // Why.\n" for line in reversed(_CODE[150:]))])
        self.write("turn/moved.h", ["#include <vector>", "", *_CODE[100:150]])
        self.write("notes/page.txt", ["other words"] * 1000)
        self.assertEqual(self.changed(), 0)
        self.commit()
        self.assertEqual(self.changed(), 0)

    def test_a_file_that_moves_to_another_subject_does_not(self):
        """The control is what changes within such a file."""
        body = [f"    value_{number} = compute({number})" for number in range(100)]
        self.write("bench/eta.py", ["from benchmarks import results, shapes  # noqa: E402", *body])
        self.write("other/kills.py", ["import os", *(line.replace("value", "kill") for line in body)])
        self.revision = self.commit()
        for old, new in (("bench/eta.py", "rooms/turns/eta.py"), ("other/kills.py", "bench/rank_kills.py")):
            (self.top / new).parent.mkdir(parents=True, exist_ok=True)
            _git(self.top, "mv", old, new)
        self.write("rooms/turns/eta.py", ["from benchmarks.runner import (results,", "    revisions)",
                                          "from benchmarks.turns import shapes", *body])
        self.assertEqual((self.changed("bench"), self.changed("other")), (0, 0))
        self.commit()
        self.assertEqual((self.changed("bench"), self.changed("other")), (0, 0))
        self.write("rooms/turns/eta.py", [line.replace("compute", "guess") for line in body[:40]] + body[40:])
        self.assertAlmostEqual(self.changed("bench"), 40 / 200, msg="the control: 100 lines that came in count, too")
        self.write("rooms/turns/eta.py", ["another = 1"] * 100)
        self.assertEqual(self.changed("bench"), 100 / 200, "the control: it is another file")

    def test_names_that_are_listed_do_not(self):
        old, new = (("Rhythm", "rhythm_"), ("TimingModel", "timing_"))
        lines = ["%s Of(int slot) {{ return %s[slot + {0}]; }}".format(number) for number in range(100)]
        self.write("sidecar/link/a.cc", [line % old for line in lines])
        self.revision = self.commit()
        (self.top / "sidecar/arbiter_client").mkdir()
        _git(self.top, "mv", "sidecar/link/a.cc", "sidecar/arbiter_client/a.cc")
        self.write("sidecar/arbiter_client/a.cc", [line % new for line in lines])
        self.assertEqual(self.changed("sidecar/arbiter_client"), 0)
        self.write("sidecar/arbiter_client/a.cc", [line % ("Guess", "guess_") for line in lines])
        self.assertEqual(self.changed("sidecar/arbiter_client"), 1, "the control")

    def test_each_name_that_is_listed_is_gone(self):
        tree = moved_on.Tree(TREE)
        for today, before in renamed.FOLDERS.items():
            self.assertTrue(tree.lines(today, (".cc",)), today)
            for folder in before:
                self.assertFalse(tree.lines(folder, (".cc",)), folder)

    def test_a_figure_on_another_history_is_refused(self):
        other = _git(self.top, "commit-tree", "-m", "another", "HEAD^{tree}")
        for revision in (other, "0" * 12, "unknown", f"{self.revision}-dirty"):
            with self.assertRaises(moved_on.NoHistory):
                moved_on.Tree(self.top).changed(revision, ("turn",))

    def test_a_shallow_clone_is_refused(self):
        self.write("turn/a.cc", _CODE[:90])
        self.commit()
        with tempfile.TemporaryDirectory() as shallow:
            _git(self.top, "clone", "-q", "--depth", "1", f"file://{self.top}", shallow)
            with self.assertRaisesRegex(moved_on.NoHistory, "this clone is shallow: expected all of the history"):
                moved_on.Tree(shallow).changed("HEAD", ("turn",))


class Keep(unittest.TestCase):
    """A measured line replaces the kept one, or is refused."""

    tree = moved_on.Tree(TREE)

    def keep(self, *entries):
        with tempfile.TemporaryDirectory() as directory:
            for place, lines in (("new", entries), ("old", [self.line(case="gone"), self.line(value=2)])):
                (Path(directory) / place).mkdir()
                text = "".join(json.dumps(entry) + "\n" for entry in lines)
                (Path(directory) / place / "hook_ns.jsonl").write_text(text, encoding="utf-8")
            refused = keep.keep(self.tree, Path(directory) / "new/hook_ns.jsonl", Path(directory) / "old")
            self.left = kept.newest((Path(directory) / "old/hook_ns.jsonl").read_text(encoding="utf-8").splitlines())
        return refused, {entry["case"]: entry["value"] for entry in self.left}

    @staticmethod
    def line(**more):
        head = _git(TREE, "rev-parse", "--short=12", "HEAD")
        return {"figure": "hook_ns", "case": "launch", "value": 1, "unit": "ns", "goal": "<= 3", "ok": True,
                "conditions": {"kind": "program", "what": "launches"}, "where": "here", "samples": [1],
                "command": "run", "revision": head, "taken": "2026-11-25", **more}

    def test_a_good_line_takes_the_place_of_the_old_one(self):
        self.assertEqual(self.keep(self.line()), ([], {"launch": 1}), "a case that is no more goes")
        (kept_line,) = self.left
        self.assertEqual(kept.faults_of_revision(self.tree, "hook_ns", {**kept_line, "revision": "0" * 12}), [],
                         "the line keeps its code, for a history without its commit")

    def test_which_lines_are_of_a_case(self):
        for case, name, figure, line, known in (
                ("launch_bound", "eta_hostgates_beside", "eta_hostgates_beside", "launch_bound_hostgates", True),
                ("beside_slow_hooks", "solo_overhead", "solo_overhead_beside", "slow_hooks", True),
                ("shared_0.3", "gain_over_mps", "gain_over_mps_half_beside", "shared_0.3", True),
                ("shared_0.3", "gain_over_mps", "gain_over_mps", "0.3", False),
                ("plain_0.6", "eta", "eta_beside", "beside_plain_0.6", False)):
            self.assertEqual(kept.is_of(case, name, {"figure": figure, "case": line}), known, line)

    def test_others_are_refused(self):
        for spoilt, words in (({"revision": "unknown"}, "hook_ns.jsonl: hook_ns launch: revision: "),
                              ({"samples": []}, "samples: expected every run's value, got []"),
                              ({"conditions": {}}, "conditions: kind: expected one of"),
                              ({"revision": self.line()["revision"] + "-dirty"}, "expected a commit, got")):
            refused, left = self.keep(self.line(**spoilt))
            self.assertEqual(left, {"gone": 1, "launch": 2})
            self.assertIn(words, refused[0])


if __name__ == "__main__":
    unittest.main()
