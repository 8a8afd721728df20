import hashlib
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from benchmarks.placement import trace_files
from benchmarks.placement.trace_files import Trace
from testing.processes import Failed

BYTES = b"job_id\n1\n"
TRACE = Trace("t.csv", "example.org/t", hashlib.sha256(BYTES).hexdigest(), "folder")


class Traces(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.top = Path(directory.name)
        environment = mock.patch.dict("os.environ", {"TRACES": directory.name})
        environment.start()
        self.addCleanup(environment.stop)

    def put(self, path, content=BYTES):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        return path

    def test_a_file_is_found_in_the_directory_and_in_its_folder(self):
        deep = self.put(self.top / "folder" / "t.csv")
        self.assertEqual(TRACE.path(), deep)
        self.assertEqual(trace_files.left_out(TRACE), "")
        above = self.put(self.top / "t.csv")
        self.assertEqual(TRACE.path(), above)

    def test_another_file_is_refused_by_name_expected_and_found(self):
        other = self.put(self.top / "t.csv", BYTES + b"2\n")
        digest = hashlib.sha256(BYTES + b"2\n").hexdigest()
        said = f"{other}: .*expected SHA-256 {TRACE.sha256}, got {digest} .*example.org/t"
        with self.assertRaisesRegex(Failed, said):
            TRACE.path()
        self.assertIn(digest, trace_files.left_out(TRACE))

    def test_what_is_not_there_is_named_with_its_source(self):
        with self.assertRaisesRegex(Failed, "no t.csv there .example.org/t"):
            TRACE.path()

    def test_without_a_directory_it_is_asked_for(self):
        with mock.patch.dict("os.environ", {"TRACES": ""}), self.assertRaisesRegex(Failed, "TRACES: expected a dir"):
            TRACE.path()

    def test_each_has_a_source_and_a_checksum(self):
        self.assertEqual(len({trace.sha256 for trace in trace_files.ALL}), len(trace_files.ALL))
        for trace in trace_files.ALL:
            self.assertRegex(trace.sha256, "^[0-9a-f]{64}$")
            self.assertRegex(trace.source, "^github.com/")
