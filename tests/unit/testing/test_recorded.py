import tempfile
import unittest
from pathlib import Path

from testing.recorded import calls, without_one

RECORD = """0 user cuLaunchKernel h7f0000001000 1
0 ours cuStreamBatchMemOp_v2 h7f0000001000 4
1 user cuLaunchKernel h7f0000002000 1
0 user cuStreamQuery h7f0000001000
0 user cuStreamWaitEvent h7f0000001000 h7f0000003000
"""


class Recorded(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.file = Path(directory.name) / "record"
        self.file.write_text(RECORD)

    def test_keeps_the_users_calls_of_the_main_thread_with_numbered_handles(self):
        self.assertEqual(calls(self.file), ["cuLaunchKernel #0 1", "cuStreamWaitEvent #0 #1"])

    def test_tells_the_library_s_own(self):
        self.assertEqual(calls(self.file, "ours"), ["cuStreamBatchMemOp_v2 #0 4"])

    def test_leaves_one_out(self):
        self.assertEqual(without_one(self.file), ["cuLaunchKernel #0 1"])
        self.assertIsNone(without_one(self.file, "cuMemAlloc"))


if __name__ == "__main__":
    unittest.main()
