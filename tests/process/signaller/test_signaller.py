"""Tests crossover-signaller on the software GPU. A socket of the test stands for the arbiter's, and a page of the test
for a turnstile."""

import contextlib
import ctypes
import fcntl
import mmap
import os
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from testing import wire

PROGRAM = os.environ.get("SIGNALLER", "")
_SIMGPU = os.environ.get("SIMGPU_LIBRARIES", "")

_BEAT = 20  # proto/turnstile.h: the byte of signaller_beat
_AREA_BYTES, _LINE_BYTES = 1024, 64  # proto/signaller_protocol.h
_GRANULE = 2 << 20
_REFUSED, _SIGNALLER_HELLO, _FOLLOW, _SIGNALS, _REST = 3, 8, 9, 10, 15
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW
_NO_GPU = "GPU-00000000-0000-0000-0000-00000000dead"
_PATIENCE = 60  # seconds until an event that has not come is a failure


class Turnstile:
    """A page as the arbiter makes it, with slots that the test writes."""

    def __init__(self, seals=_SEALS, size=wire.PAGE_BYTES, version=wire.PAGE_VERSION):
        self.fd = os.memfd_create("turnstile", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, size)
        os.pwrite(self.fd, struct.pack("<4I", wire.PAGE_MAGIC, version, wire.PAGE_BYTES, wire.MAX_CLIENTS), 0)
        if seals:
            fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, seals)
        self._page = mmap.mmap(self.fd, size)

    def set(self, slot, word, value):
        wire.Page(self._page, slot).write(slot, word, value)

    def let_in(self, slot):
        """Makes the client of a slot ask for its first turn, and opens its gate."""
        self.set(slot, wire.READY, 1024)
        self.set(slot, wire.GATE, 1024)

    def beat(self):
        return struct.unpack_from("<I", self._page, _BEAT)[0]


class Gpu:
    """A client of the software GPU that imports signal words, as a job does."""

    def __init__(self):
        self._cuda = ctypes.CDLL(f"{_SIMGPU}/libcuda.so.1")
        context = ctypes.c_void_p()
        self._call("cuInit", 0)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self._call("cuCtxSetCurrent", context)

    def _call(self, name, *arguments):
        status = getattr(self._cuda, name)(*arguments)
        if status != 0:
            raise AssertionError(f"{name}: {status}")

    def uuid(self):
        raw = (ctypes.c_ubyte * 16)()
        self._call("cuDeviceGetUuid_v2", raw, 0)
        text = bytes(raw).hex()
        return f"GPU-{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def import_memory(self, fd, size):
        handle, address = ctypes.c_uint64(), ctypes.c_uint64()
        access = struct.pack("<3i", 1, 0, 3)  # the device 0, for reading and writing
        self._call("cuMemImportFromShareableHandle", ctypes.byref(handle), ctypes.c_void_p(fd), 1)
        self._call("cuMemAddressReserve", ctypes.byref(address), ctypes.c_size_t(size), ctypes.c_size_t(0),
                   ctypes.c_uint64(0), ctypes.c_uint64(0))
        self._call("cuMemMap", address, ctypes.c_size_t(size), ctypes.c_size_t(0), handle, ctypes.c_uint64(0))
        self._call("cuMemSetAccess", address, ctypes.c_size_t(size), access, ctypes.c_size_t(1))
        return address.value

    @contextlib.contextmanager
    def without_memory(self):
        """Holds all free memory of the GPU."""
        free, total, handle = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_uint64()
        self._call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        properties = struct.pack("<4i16x", 1, 0, 1, 0)  # pinned, without a handle type, on the device 0
        self._call("cuMemCreate", ctypes.byref(handle), ctypes.c_size_t(free.value // _GRANULE * _GRANULE), properties,
                   ctypes.c_ulonglong(0))
        try:
            yield
        finally:
            self._call("cuMemRelease", handle)

    def load(self, address):
        word = ctypes.c_uint32()
        self._call("cuMemcpyDtoH_v2", ctypes.byref(word), ctypes.c_uint64(address), ctypes.c_size_t(4))
        return word.value

    def store(self, address, value):
        word = ctypes.c_uint32(value)
        self._call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), ctypes.byref(word), ctypes.c_size_t(4))


def header(kind, size):
    return struct.pack("<4I", kind, size, 1, 0)


class Arbiter:
    """The arbiter's end of the socket, for one signaller."""

    def __init__(self, path):
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(path)
        self._listener.listen()
        self._listener.settimeout(_PATIENCE)
        self._peer = None
        self.rests = None  # what the last signaller has said

    def greet(self):
        """Accepts a signaller. Returns the UUID of its GPU."""
        self.hang_up()
        self._peer, _ = self._listener.accept()
        self._peer.settimeout(_PATIENCE)
        hello = self._peer.recv(4096)
        kind, size, _, _ = struct.unpack_from("<4I", hello)
        assert (kind, size, len(hello)) == (_SIGNALLER_HELLO, 72, 72), hello
        self.rests = bool(struct.unpack_from("<I", hello, 68)[0])
        return hello[16:64].rstrip(b"\0").decode()

    def rest(self, rests):
        self._peer.sendall(header(_REST, 24) + struct.pack("<2I", rests, 0))

    def follow(self, page, kept=(), area=0, descriptors=None):
        """Hands a turnstile over and returns the answer's type, its area and bytes or its reason, and descriptors."""
        message = header(_FOLLOW, 24) + struct.pack("<2I", len(kept), area)
        socket.send_fds(self._peer, [message], [page.fd, *kept] if descriptors is None else descriptors)
        answer, fds, _, _ = socket.recv_fds(self._peer, 4096, 4)
        kind = struct.unpack_from("<I", answer)[0] if answer else None
        if kind == _SIGNALS:
            return kind, struct.unpack_from("<2I", answer, 16), fds
        return kind, answer[16:].rstrip(b"\0").decode(), fds

    def hang_up(self):
        if self._peer is not None:
            self._peer.close()

    def close(self):
        self.hang_up()
        self._listener.close()


class _Machine:
    """Keeps the software GPU of all tests, because the driver of a process serves one machine."""

    environment = {}
    gpu = None


def setUpModule():  # pylint: disable=invalid-name
    state = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(state.cleanup)
    _Machine.environment = {"SIMGPU_MACHINE": "1x1", "SIMGPU_STATE": f"{state.name}/gpu"}
    os.environ.update(_Machine.environment)
    _Machine.gpu = Gpu()


class Signaller(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "no-mps").mkdir()
        self.environment = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": _SIMGPU, **_Machine.environment}
        self.socket = str(self.folder / "arbiter.sock")

    def start(self, gpu, socket_path=None, no_mps=None):
        process = subprocess.Popen(
            [PROGRAM, "--gpu", gpu, "--socket", socket_path or self.socket,
             "--no-mps", str(no_mps or self.folder / "no-mps")],
            env=self.environment, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def await_true(self, what, condition):
        """Waits for an event that no descriptor announces."""
        end = time.monotonic() + _PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end, f"did not come: {what}")
            time.sleep(0.001)

    def ends(self, process, status, said):
        self.assertEqual(process.wait(_PATIENCE), status)
        self.assertIn(said, process.stderr.read())


class Follows(Signaller):

    def setUp(self):
        super().setUp()
        self.arbiter = Arbiter(self.socket)
        self.addCleanup(self.arbiter.close)
        self.gpu = _Machine.gpu
        self.process = self.start(self.gpu.uuid())
        self.assertEqual(self.arbiter.greet(), self.gpu.uuid())

    def words(self, fds, answer):
        area, size = answer
        base = self.gpu.import_memory(fds[0], size) + area * _AREA_BYTES
        return lambda slot: base + slot * _LINE_BYTES

    def test_it_signals_clients_at_open_gates(self):
        page = Turnstile()
        kind, answer, fds = self.arbiter.follow(page)
        self.assertEqual(kind, _SIGNALS, answer)
        word = self.words(fds, answer)
        page.let_in(3)
        self.await_true("the signal of slot 3", lambda: self.gpu.load(word(3)) == 1)
        beat = page.beat()
        self.await_true("a beat", lambda: page.beat() != beat)

    def test_it_signals_all_clients_now_and_then_whatever_the_page_says(self):
        page = Turnstile()
        _, answer, fds = self.arbiter.follow(page)
        word = self.words(fds, answer)
        page.set(2, wire.READY, 9 * 1024)
        page.set(2, wire.HOLD, 9 * 1024)
        self.await_true("a signal that no word asks for", lambda: self.gpu.load(word(2)) == 1)

    def test_it_goes_on_with_the_memory_in_which_clients_wait_and_not_with_its_own(self):
        """After an arbiter's restart another signaller may be the first to make memory. It dies later."""
        self.arbiter.follow(Turnstile())
        self.arbiter.hang_up()
        self.arbiter.greet()
        other = self.start(self.gpu.uuid())
        self.arbiter.greet()  # the first one connects again once this one has gone
        page = Turnstile()
        _, answer, fds = self.arbiter.follow(page)
        word = self.words(fds, answer)
        other.send_signal(signal.SIGKILL)
        other.wait()
        self.arbiter.greet()
        kind, again, _ = self.arbiter.follow(page, kept=fds, area=answer[0])
        self.assertEqual((kind, again), (_SIGNALS, answer))
        page.let_in(4)
        self.await_true("the signal where clients wait", lambda: self.gpu.load(word(4)) == 1)
        self.assertIsNone(self.process.poll())

    def test_it_writes_again_what_another_client_erases(self):
        page = Turnstile()
        _, answer, fds = self.arbiter.follow(page)
        word = self.words(fds, answer)
        page.let_in(1)
        for _ in range(5):
            self.await_true("the signal", lambda: self.gpu.load(word(1)) == 1)
            self.gpu.store(word(1), 0)

    def test_another_signaller_goes_on_with_the_same_words(self):
        page = Turnstile()
        _, answer, fds = self.arbiter.follow(page)
        word = self.words(fds, answer)
        page.let_in(0)
        self.await_true("the signal", lambda: self.gpu.load(word(0)) == 1)
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        page.let_in(4)
        self.assertEqual(self.gpu.load(word(4)), 0, "no process is there to write it")
        self.assertEqual(self.gpu.load(word(0)), 1, "the memory outlives its maker")

        self.start(self.gpu.uuid())
        self.arbiter.greet()
        kind, again, _ = self.arbiter.follow(page, kept=fds, area=answer[0])
        self.assertEqual((kind, again), (_SIGNALS, answer))
        self.await_true("the signal of the new one", lambda: self.gpu.load(word(4)) == 1)

    def test_kept_memory_of_another_version_is_refused(self):
        page = Turnstile()
        _, answer, fds = self.arbiter.follow(page)
        self.gpu.store(self.words(fds, answer)(0) - answer[0] * _AREA_BYTES + 4, 2)
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.start(self.gpu.uuid())
        self.arbiter.greet()
        kind, said, _ = self.arbiter.follow(page, kept=fds, area=answer[0])
        self.assertEqual((kind, said), (_REFUSED, "kept memory: version: expected 1, got 2"))

    def test_it_goes_on_without_an_arbiter_and_meets_the_next_one(self):
        page = Turnstile()
        _, answer, fds = self.arbiter.follow(page)
        word = self.words(fds, answer)
        self.arbiter.hang_up()
        page.let_in(0)
        self.await_true("the signal", lambda: self.gpu.load(word(0)) == 1)
        self.arbiter.greet()
        new = Turnstile()
        kind, other, _ = self.arbiter.follow(new)
        self.assertEqual(kind, _SIGNALS)
        self.assertNotEqual(other[0], answer[0], "the old turnstile keeps its area, for a client waits there")
        new.let_in(0)
        base = word(0) + (other[0] - answer[0]) * _AREA_BYTES
        self.await_true("the signal in the new area", lambda: self.gpu.load(base) == 1)
        self.gpu.store(word(0), 0)
        self.await_true("the signal at the old turnstile", lambda: self.gpu.load(word(0)) == 1)

    def uses_gpu(self):
        """Tells whether the process has loaded the driver, or has a file of a GPU open."""
        proc = Path(f"/proc/{self.process.pid}")
        files = [os.readlink(link) for link in (proc / "fd").iterdir() if int(link.name) > 2]
        return "libcuda" in (proc / "maps").read_text(encoding="utf-8"), any("simgpu" in name for name in files)

    def test_it_lets_go_of_the_gpu_and_uses_it_again(self):
        for again in (lambda: self.arbiter.rest(0), lambda: self.arbiter.follow(Turnstile())):  # as older arbiters do
            kind, _, _ = self.arbiter.follow(Turnstile())
            self.assertEqual((kind, self.uses_gpu()), (_SIGNALS, (True, True)), "the control")
            self.arbiter.rest(1)
            self.assertEqual((self.arbiter.greet(), self.arbiter.rests), (self.gpu.uuid(), True))
            self.assertEqual(self.uses_gpu(), (False, False))
            again()
            self.assertEqual((self.arbiter.greet(), self.arbiter.rests), (self.gpu.uuid(), False))
        page = Turnstile()
        _, answer, fds = self.arbiter.follow(page)
        word = self.words(fds, answer)
        page.let_in(1)
        self.await_true("the signal", lambda: self.gpu.load(word(1)) == 1)
        self.assertIsNone(self.process.poll(), "it is the same process")

    def test_one_that_rests_waits_for_an_arbiter(self):
        self.arbiter.rest(1)
        self.arbiter.greet()
        self.arbiter.hang_up()
        self.assertEqual((self.arbiter.greet(), self.arbiter.rests), (self.gpu.uuid(), True))
        self.assertEqual(self.uses_gpu(), (False, False))

    def test_bad_turnstiles_and_memory_are_refused_by_name(self):
        page = Turnstile()
        read_end, write_end = os.pipe()
        other = os.memfd_create("other", os.MFD_CLOEXEC)
        os.ftruncate(other, 2 << 20)
        for what, arguments, reason in (
                ("not sealed", {"page": Turnstile(seals=0)}, "turnstile: expected a memfd that is sealed"),
                ("another size", {"page": Turnstile(size=8192)}, "turnstile: bytes: expected 4096, got 8192"),
                ("another version", {"page": Turnstile(version=2)}, "turnstile: version: expected 1, got 2"),
                ("no memory", {"page": page, "kept": [read_end]},
                 "kept memory: cuMemImportFromShareableHandle: expected CUDA_SUCCESS"),
                ("memory that is no signal words", {"page": page, "kept": [other]}, "kept memory: magic: expected")):
            with self.subTest(what):
                kind, said, _ = self.arbiter.follow(**arguments)
                self.assertEqual(kind, _REFUSED)
                self.assertIn(reason, said)
        for fd in (read_end, write_end, other):
            os.close(fd)
        self.assertEqual(self.arbiter.follow(page)[0], _SIGNALS, "it goes on after what it has refused")

    def test_a_message_without_its_descriptor_ends_the_connection(self):
        kind, _, _ = self.arbiter.follow(Turnstile(), descriptors=[])
        self.assertIsNone(kind)
        self.arbiter.greet()


class Starts(Signaller):

    def test_a_gpu_that_is_not_there(self):
        self.ends(self.start(_NO_GPU), 2, "--gpu: expected a GPU of this machine (GPU-")

    def test_a_folder_with_files_in_place_of_an_empty_one(self):
        self.ends(self.start(_NO_GPU, no_mps=self.folder), 2, "expected an empty folder")

    def test_it_is_no_client_of_mps(self):
        pipes = self.folder / "mps"
        pipes.mkdir()
        control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(control.close)
        control.bind(str(pipes / "control"))
        control.listen()
        control.setblocking(False)
        self.environment["CUDA_MPS_PIPE_DIRECTORY"] = str(pipes)
        arbiter = Arbiter(self.socket)
        self.addCleanup(arbiter.close)
        self.start(_Machine.gpu.uuid())
        arbiter.greet()
        with self.assertRaises(BlockingIOError):
            control.accept()

    def test_no_driver(self):
        self.environment["LD_LIBRARY_PATH"] = ""
        self.ends(self.start(_NO_GPU), 2, "libcuda.so.1")


if __name__ == "__main__":
    unittest.main()
