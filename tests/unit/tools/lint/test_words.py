import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "tools" / "lint"))
import tree  # noqa: E402
import words  # noqa: E402


class Fragments(unittest.TestCase):
    def test_parts_of_a_sentence_are_fragments(self):
        for text in ("Whether it has one.", "Of those that wait, the first.", "Who goes first of two.",
                     "How many launches are left until the next yield point.",
                     "What a lost member left; else the next.", "The length of releases and of waits.",
                     "The tie window of the first turns.", "One per client, in order of slots."):
            self.assertTrue(words.is_fragment(text), text)

    def test_sentences_are_none(self):
        for text in ("Returns the next client in order.", "The daemon keeps one page for each GPU.",
                     "Counts a launch. False where a point is due.", "A turn ends where its collective begins.",
                     "It was let in.", "What is left over? The rest of the table.",
                     "Where clients come at once, the older client goes."):
            self.assertFalse(words.is_fragment(text), text)

    def test_names_in_code_are_no_verbs(self):
        self.assertTrue(words.is_fragment("The slots of `returns` and `writes`."))

    def test_the_first_sentence_ends_at_its_stop(self):
        self.assertEqual(words.first_sentence("A page of 4.5 KiB in turn/ops.h\nis shared. The rest."),
                         "A page of 4.5 KiB in turn/ops.h\nis shared.")


class Blocks(unittest.TestCase):
    def test_comments_behind_code_are_no_blocks(self):
        found = list(words.blocks_of_c("// One.\n//\n// Two.\nint a;  // three\n\n  // Four.\n"))
        self.assertEqual(found, [(1, "One.\n\nTwo."), (6, "Four.")])

    def test_docstrings_are_blocks(self):
        text = '"""Reads a file."""\n\n\ndef f():\n    """Of f."""\n    # Of g.\n    return 1\n'
        found = sorted(words.blocks_of_python(text))
        self.assertEqual(found, [(1, "Reads a file."), (5, "Of f."), (6, "Of g.")])


class Counts(unittest.TestCase):
    """The lint itself, on a tree of one file."""

    def run_on(self, text, kept):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "a.cc").write_text(text, encoding="utf-8")
            json_file = Path(folder, "words.json")
            json_file.write_text(json.dumps(kept), encoding="utf-8")
            said = io.StringIO()
            with mock.patch.object(words, "KEPT", json_file), mock.patch.object(tree, "files", lambda *_: ["a.cc"]), \
                    mock.patch.object(tree, "read", lambda _: text), contextlib.redirect_stdout(said), \
                    contextlib.redirect_stderr(said):
                return words.main(), said.getvalue()

    def test_one_more_than_was_kept_is_red(self):
        none = {"fragments": 0, "vague": 0, "unnamed": 0, "allowed": 0}
        for text, what in (("// Whether it waits.\n", "fragments"), ("// It says for " + "whom.\n", "vague"),
                           ('Say("at least one is ' + 'allowed");\n', "allowed")):
            status, said = self.run_on(text, none)
            self.assertEqual(status, 1, text)
            self.assertIn(f"{what}: expected 0 at most, got 1", said)

    def test_words_that_name_nothing_are_found_in_names_and_in_texts(self):
        """The words stand apart here, since the lint reads this file."""
        kept = {"fragments": 0, "vague": 0, "unnamed": 0, "allowed": 0}
        for planted in ("constexpr int kNo" + "body = -1;", "bool some" + "body_waits = true;",
                        'Say("no' + 'body answers");', "TEST(Lease, Who" + "everLeads) {}",
                        "int a;  // two, o" + "f whom one waits"):
            status, said = self.run_on(planted + "\n", kept)
            self.assertEqual((status, "unnamed: expected 0 at most, got 1" in said), (1, True), planted)
        for good in ('{"nobody_leads", NoLeader},', "// The alert CrossoverNobodyLeads tells it.",
                     "bool any_waits = true;"):
            self.assertEqual(self.run_on(good + "\n", kept)[0], 0, good)

    def test_which_files_count(self):
        for path, counts in (("docs/usage.md", True), ("charts/crossover/files/alerts.yaml", True),
                             ("tools/lint/words.py", False), ("benchmarks/results/opposed_node.jsonl", False)):
            self.assertEqual(words.is_checked(path), counts, path)
        self.assertFalse(words.commented("docs/usage.md"), "a page has no comment blocks")

    def test_vague_messages_are_found(self):
        """Values are refused by "expected X, got Y". The words stand apart here, since the lint reads this file."""
        kept = {"fragments": 0, "vague": 0, "unnamed": 0, "allowed": 0}
        for words_of_it in (("mode: Off is not ", "allowed: enforce"), ("two of them are not ", "allowed"),
                            ("no such flag: allowed ", "are --check and --pin"), ("sizes: allowed ", "is one")):
            status, said = self.run_on(f'Say("{"".join(words_of_it)}");\n', kept)
            self.assertEqual((status, "allowed: expected 0 at most, got 1" in said), (1, True), words_of_it)
        for good in ("mode: expected enforce, got Off", "ann is not " + "allowed to modify pods", "the allowed ones"):
            self.assertEqual(self.run_on(f'Say("{good}");\n', kept)[0], 0, good)

    def test_what_was_kept_passes_and_fewer_says_so(self):
        self.assertEqual(self.run_on("// Whether it waits.\n", {"fragments": 1})[0], 0)
        status, said = self.run_on("// It waits.\n", {"fragments": 1, "vague": 0, "unnamed": 0, "allowed": 0})
        self.assertEqual(status, 0)
        self.assertIn("--keep lowers it", said)


if __name__ == "__main__":
    unittest.main()
