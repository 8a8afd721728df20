import subprocess
import tempfile
import unittest
from pathlib import Path

from benchmarks.runner import built

_AUTHOR = ["-c", "user.name=test", "-c", "user.email=test@example.com"]


class Built(unittest.TestCase):
    """Programs of another revision make no figure."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.sources = Path(directory.name)
        self.build = self.sources / "build"
        self.build.mkdir()
        self.git("init", "--quiet")
        self.first = self.commit("turn.cc", "one")

    def git(self, *arguments):
        return subprocess.run(["git", *_AUTHOR, *arguments], cwd=self.sources, check=True, capture_output=True,
                              text=True).stdout.strip()

    def commit(self, name, text):
        path = self.sources / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.git("add", name)
        self.git("commit", "--quiet", "-m", name)
        return self.git("rev-parse", "HEAD")

    def stamp(self, text):
        (self.build / built.STAMP).write_text(text + "\n")

    def why_not(self):
        return built.why_not(self.build, self.sources)

    def test_programs_of_the_sources_are_good(self):
        self.stamp(self.first)
        self.assertEqual(self.why_not(), "")
        self.stamp(self.first + "-dirty")
        self.assertEqual(self.why_not(), "", "the figure says -dirty itself")

    def test_a_build_without_a_stamp_is_refused(self):
        self.assertIn("got no file", self.why_not())

    def test_programs_of_other_sources_are_refused(self):
        self.stamp(self.first)
        second = self.commit("turn.cc", "two")
        self.assertIn(f"expected the revision of the sources, {second}, got {self.first}", self.why_not())

    def test_an_unknown_revision_is_refused(self):
        self.stamp("0" * 40)
        self.assertIn("got 000", self.why_not())

    def test_pages_and_results_make_no_program(self):
        self.stamp(self.first)
        self.commit("docs/a.txt", "a")
        self.commit("benchmarks/results/eta.jsonl", "b")
        self.commit("benchmarks/run.py", "c")
        self.commit("README.md", "c")
        self.assertEqual(self.why_not(), "")

    def test_sources_without_a_history_are_good(self):
        with tempfile.TemporaryDirectory() as directory:
            self.assertEqual(built.why_not(self.build, Path(directory)), "")


if __name__ == "__main__":
    unittest.main()
