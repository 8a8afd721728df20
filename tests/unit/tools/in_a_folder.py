"""Provides a test case for commands that refuse bad input in one line."""

import tempfile
import unittest
from pathlib import Path

from tools.refused import Refused


class InAFolder(unittest.TestCase):
    """Has a folder of its own for each test."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = Path(directory.name)

    def written(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def refused(self, pattern, act, *words):
        with self.assertRaisesRegex(Refused, pattern) as caught:
            act(*words)
        self.assertEqual(len(str(caught.exception).splitlines()), 1)
