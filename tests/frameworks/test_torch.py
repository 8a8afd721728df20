"""Tests PyTorch's CUDA build on a machine without a GPU. With the library it must behave exactly as without."""

import contextlib
import subprocess
import unittest

from tests.frameworks import under


class Torch(unittest.TestCase):

    def setUp(self):
        under.require(self)

    def test_training(self):
        said = under.assert_unharmed(self, under.program("train_torch.py"))
        self.assertIn("open: 0=/dev/null", said)
        self.assertEqual(said.count("\n"), 41)

    def test_data_loaders(self):
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method=method):
                said = under.assert_unharmed(self, under.program("load_torch.py", method))
                self.assertTrue(said.startswith("2646700\n"), said)

    def test_distributed_training_by_gloo(self):
        under.assert_unharmed(self, under.program("ddp_torch.py"))

    def test_what_it_says_of_cuda(self):
        said = under.assert_unharmed(self, under.program("cuda_torch.py"))
        self.assertTrue(said.startswith("False 0 "), said)

    def test_what_it_says_of_a_gpu_that_it_cannot_use(self):
        under.assert_unharmed(self, under.program("cuda_torch.py"), LD_LIBRARY_PATH=str(under.SOFTWARE_GPU),
                              SIMGPU_MACHINE="1x1")


class Jax(unittest.TestCase):

    def setUp(self):
        under.require(self)

    def test_training(self):
        said = under.assert_unharmed(self, under.program("train_jax.py"), JAX_PLATFORMS="cpu")
        self.assertIn("['cpu']", said)


class Debuggers(unittest.TestCase):
    """Tests tools that look into a running process."""

    def setUp(self):
        under.require(self)
        self.training = self.enterContext(self.running(under.program("train_torch.py", "--for-ever")))

    @contextlib.contextmanager
    def running(self, command):
        """Returns a context of a process under the library that has begun to train."""
        with subprocess.Popen([str(word) for word in command], env=under.environment(True), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True) as process:
            try:
                self.assertTrue(process.stdout.readline().startswith("0 "))
                yield process
            finally:
                process.kill()

    def assert_goes_on(self):
        for _ in range(100):
            self.assertTrue(self.training.stdout.readline())

    def test_py_spy(self):
        tool = under.CACHE / "bin" / "py-spy"
        done = subprocess.run([tool, "dump", "--pid", str(self.training.pid)], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("train_torch.py", done.stdout)
        self.assert_goes_on()

    def test_gdb(self):
        done = subprocess.run(["gdb", "-nx", "-batch", "-p", str(self.training.pid), "-ex", "info sharedlibrary", "-ex",
                               "thread apply all backtrace 3", "-ex", "detach"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(str(under.LIBRARY), done.stdout)
        self.assertIn("libtorch_cpu.so", done.stdout)
        self.assert_goes_on()


if __name__ == "__main__":
    unittest.main()
