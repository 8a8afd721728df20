import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from tools.soak import __main__ as soak
from tools.soak.parts import Unit


class Soak(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.runs = []
        for patch in (mock.patch.object(soak, "ROOT", Path(directory.name)),
                      mock.patch.object(soak, "_sources", lambda: "now"),
                      mock.patch.dict(soak.parts.PARTS, {"part": self.units}, clear=True)):
            patch.start()
            self.addCleanup(patch.stop)
        self.faults = {}

    def units(self, _build):
        for name in ("one", "two"):
            yield Unit(name, lambda name=name: self.runs.append(name) or self.faults.get(name, ""))

    def soak(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as errors:
            code = soak.main(arguments)
        return code, errors.getvalue()

    def test_goes_on_where_it_stopped(self):
        self.faults["two"] = "broken"
        self.assertEqual(self.soak(), (1, "soak: FAILED: part two\n"))
        self.faults.clear()
        self.assertEqual(self.soak()[0], 0)
        self.assertEqual(self.runs, ["one", "two", "two"])

    def test_again_runs_everything(self):
        self.soak()
        self.soak("--again")
        self.assertEqual(self.runs, ["one", "two"] * 2)

    def test_an_unknown_part_is_refused(self):
        with self.assertRaises(SystemExit) as refused:
            self.soak("--part", "nonsense")
        self.assertEqual(refused.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
