import contextlib
import io
import json
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
        self.runs, self.root = [], Path(directory.name)
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

    def test_a_part_leaves_a_line_that_says_what_failed(self):
        self.faults["two"] = "broken"
        self.soak()
        self.faults.clear()
        self.soak()
        lines = [json.loads(line) for line in (self.root / "build/soak/soak.jsonl").read_text().splitlines()]
        self.assertEqual([(line["figure"], line["case"], line["value"], line["ok"]) for line in lines],
                         [("soak", "part", 1, False), ("soak", "part", 0, True)])
        self.assertEqual(lines[0]["remarks"]["failed"], {"two": "broken"})

    def test_an_unknown_part_is_refused(self):
        with self.assertRaises(SystemExit) as refused:
            self.soak("--part", "nonsense")
        self.assertEqual(refused.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
