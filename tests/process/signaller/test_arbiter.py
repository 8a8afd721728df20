"""Tests crossover-signaller with crossover-arbiter on the software GPU. The test is the client."""

import os
import select
import signal
import socket
import struct
import subprocess
import unittest
from pathlib import Path

from testing import wire
from tests.process.signaller import test_signaller as alone

_ARBITER = os.environ.get("ARBITER", "")
_PATIENCE = 60
_SIGNALLER_HELLO, _OFFER, _WANT_SIGNALS, _PROVE, _PROVEN = 8, 11, 12, 13, 14
_GIVEN, _ASK, _NO_SIGNALLER, _KINDS_MEET, _NOT_FOLLOWED = 0, 1, 2, 4, 6  # enum crossover_offer_state
_PHASE_LOCKED = 1
_AREA_BYTES, _LINE_BYTES, _PROOF = 1024, 64, 4

setUpModule = alone.setUpModule


class Client:
    """A client of the arbiter that can use signals."""

    def __init__(self, path, gang, gpu):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.connect(path)
        self.page = wire.join(self._socket, gang, gpu, 1)
        self._socket.settimeout(_PATIENCE)

    def close(self):
        self._socket.close()

    def want(self, wants=1):
        self._socket.sendall(alone.header(_WANT_SIGNALS, 24) + struct.pack("<2I", wants, 0))

    def offer(self):
        """Returns the state of the next offer, its area, the bytes of the memory, and descriptors."""
        message, fds, _, _ = socket.recv_fds(self._socket, 4096, 2)
        kind, size, _, _, state, area, length, _ = struct.unpack("<8I", message)
        assert (kind, size) == (_OFFER, 32), message
        return state, area, length, fds

    def await_offer(self, state):
        while True:
            offer = self.offer()
            if offer[0] == state:
                return offer

    def prove(self, area, number):
        """Returns whether the signaller says that it has written the number."""
        self._socket.sendall(alone.header(_PROVE, 40) + struct.pack("<Q4I", 0, area, 0, number, 0))
        kind, _, _, _, client, _, _, same, written = struct.unpack("<4IQ4I", self._socket.recv(4096))
        assert (kind, client, same) == (_PROVEN, 0, number)
        return bool(written)

    def hears_nothing(self):
        self._socket.setblocking(False)
        try:
            return self._socket.recv(4096) is None
        except BlockingIOError:
            return True


class WithArbiter(alone.Signaller):

    def setUp(self):
        super().setUp()
        self.gpu = alone._Machine.gpu  # pylint: disable=protected-access
        self.uuid = self.gpu.uuid()

    def start_arbiter(self, *flags):
        process = subprocess.Popen([_ARBITER, "--socket", self.socket, *flags], stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for line in process.stderr:
            if "listening on" in line:
                return process
        raise AssertionError("the arbiter has ended")

    def arbiter_says(self, text):
        for line in self.arbiter.stderr:
            if text in line:
                return
        raise AssertionError(f"the arbiter has ended, expected it to say: {text}")

    def join(self, gang):
        client = Client(self.socket, gang, self.uuid)
        self.addCleanup(client.close)
        return client

    def end(self, process):
        process.kill()
        process.wait()

    def line(self, client, offer):
        """Returns the address of the client's line in the memory of an offer."""
        _, area, size, fds = offer
        return self.gpu.import_memory(fds[0], size) + area * _AREA_BYTES + client.page.slot * _LINE_BYTES

    def gets_its_signal(self, client, line):
        client.page.write(client.page.slot, wire.READY, 1024)
        client.page.write(client.page.slot, wire.GATE, 1024)
        self.await_true("the signal", lambda: self.gpu.load(line) == 1)


class Offers(WithArbiter):

    def setUp(self):
        super().setUp()
        self.arbiter = self.start_arbiter("--transport", "ipc", "--mode", "observe")
        self.signaller = self.start(self.uuid)

    def given(self, gang="a"):
        client = self.join(gang)
        self.assertEqual(client.offer()[0], _ASK)
        client.want()
        return client, client.await_offer(_GIVEN)

    def refusal_of(self, user):
        """Returns what a process of `user` reads that greets the arbiter as a signaller."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.setuid(user)
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as peer:
                peer.connect(self.socket)
                peer.sendall(struct.pack("<4I48s2I", _SIGNALLER_HELLO, 72, 1, 0, self.uuid.encode(), 1, 0))
                os.write(writer, peer.recv(4096)[16:])
            os._exit(0)
        os.close(writer)
        os.waitpid(child, 0)
        with open(reader, "rb") as said:
            return said.read().rstrip(b"\0").decode()

    def test_a_client_proves_the_path_and_gets_its_signal(self):
        client, offer = self.given()
        line = self.line(client, offer)
        for number in (4711, 12):
            self.assertTrue(client.prove(offer[1], number))
            self.assertEqual(self.gpu.load(line + _PROOF), number)
        self.assertEqual(self.gpu.load(line), 0, "a proof is no signal")
        self.gets_its_signal(client, line)

    def test_a_proof_in_another_area_is_not_written(self):
        client, offer = self.given()
        line = self.line(client, offer)
        self.assertFalse(client.prove(offer[1] + 1, 4711))
        self.assertEqual(self.gpu.load(line + _PROOF), 0)

    def test_another_signaller_goes_on_with_the_same_words(self):
        client, offer = self.given()
        line = self.line(client, offer)
        self.gpu.store(line + _PROOF, 99)
        self.end(self.signaller)
        self.assertEqual(client.offer()[0], _NO_SIGNALLER)
        self.start(self.uuid)
        again = client.await_offer(_GIVEN)
        self.assertEqual(again[1], offer[1])
        self.assertEqual(self.gpu.load(self.line(client, again) + _PROOF), 99)
        self.gets_its_signal(client, line)

    def test_one_that_loses_its_context_ends_and_another_goes_on(self):
        self.end(self.signaller)
        self.environment["SIMGPU_FAULT"] = "copies_break:2"  # behind the memory's head and one proof
        broken = self.start(self.uuid)
        client, offer = self.given()
        line = self.line(client, offer)
        self.assertTrue(client.prove(offer[1], 4711))
        client.page.write(client.page.slot, wire.READY, 1024)
        client.page.write(client.page.slot, wire.GATE, 1024)
        self.ends(broken, 1, "cuMemcpyHtoD: expected CUDA_SUCCESS, got CUDA_ERROR_ILLEGAL_ADDRESS")
        self.assertEqual(self.gpu.load(line), 0, "no process is there to write it")
        del self.environment["SIMGPU_FAULT"]
        self.start(self.uuid)
        self.await_true("the signal", lambda: self.gpu.load(line) == 1)

    def test_without_memory_there_are_no_signals_until_there_is_some(self):
        with self.gpu.without_memory():
            client = self.join("a")
            client.want()
            client.await_offer(_NOT_FOLLOWED)
            self.arbiter_says("its signaller does not follow the turnstile: cuMemCreate: expected CUDA_SUCCESS, "
                              "got CUDA_ERROR_OUT_OF_MEMORY")
        self.gets_its_signal(client, self.line(client, client.await_offer(_GIVEN)))

    def test_one_that_cannot_import_the_kept_memory_makes_its_own(self):
        client, offer = self.given()
        line = self.line(client, offer)
        self.gpu.store(line + _PROOF, 99)
        self.end(self.signaller)
        self.environment["SIMGPU_FAULT"] = "import_fails"
        self.start(self.uuid)
        self.arbiter_says("its signaller does not follow the turnstile: kept memory: cuMemImportFromShareableHandle: ")
        other = self.line(client, client.await_offer(_GIVEN))
        self.assertEqual((self.gpu.load(line + _PROOF), self.gpu.load(other + _PROOF)), (99, 0))
        self.gets_its_signal(client, other)

    def test_a_second_signaller_takes_over_from_one_that_is_stopped(self):
        client, offer = self.given()
        line = self.line(client, offer)
        self.start(self.uuid)
        self.arbiter_says("stands ready to be its signaller")
        self.signaller.send_signal(signal.SIGSTOP)
        self.assertNotEqual(client.offer()[0], _GIVEN)
        self.arbiter_says("its signaller stands still: another one takes its place")
        self.assertEqual(client.await_offer(_GIVEN)[1], offer[1])
        self.gets_its_signal(client, line)
        self.signaller.send_signal(signal.SIGCONT)

    def test_a_signaller_meets_the_next_arbiter(self):
        _, offer = self.given()
        self.end(self.arbiter)
        self.start_arbiter("--transport", "ipc", "--mode", "observe")
        client, again = self.given()
        self.assertNotEqual(again[1], offer[1], "the new turnstile has an area of its own")
        line = self.line(client, again)
        self.assertTrue(client.prove(again[1], 7))
        self.assertEqual(self.gpu.load(line + _PROOF), 7)

    def test_both_kinds_of_clients_meet(self):
        client, _ = self.given()
        other = self.join("b")
        self.assertEqual(other.offer()[0], _ASK)
        other.page.write(other.page.slot, wire.PHASE, _PHASE_LOCKED)
        self.assertEqual(client.offer()[0], _KINDS_MEET)
        other.want()
        self.assertEqual(client.await_offer(_GIVEN)[0], _GIVEN)
        self.assertEqual(other.await_offer(_GIVEN)[0], _GIVEN)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_process_of_another_user_is_no_signaller(self):
        os.chmod(self.folder, 0o755)
        self.assertEqual(self.refusal_of(65534),
                         "signaller: expected a process of user 0, the daemon's, got one of user 65534")


class Keeper(WithArbiter):
    """Tests the process that keeps two signallers for the machine's GPU."""

    def setUp(self):
        super().setUp()
        self.arbiter = self.start_arbiter("--transport", "ipc", "--mode", "observe")
        self.keeper = subprocess.Popen(
            [alone.PROGRAM, "--each-gpu", "2", "--socket", self.socket, "--no-mps", str(self.folder / "no-mps")],
            env=self.environment, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.keeper.stderr.close)
        self.addCleanup(self.keeper.wait)
        self.addCleanup(self.keeper.kill)
        self.arbiter_says("stands ready to be its signaller")

    def says(self, text):
        for line in self.keeper.stderr:
            if text in line:
                return line
        raise AssertionError(f"the keeper has ended, expected it to say: {text}")

    def signallers(self):
        children = Path(f"/proc/{self.keeper.pid}/task/{self.keeper.pid}/children").read_text(encoding="utf-8")
        return [int(word) for word in children.split()]

    def test_one_that_is_killed_is_started_again_while_the_other_takes_over(self):
        client = self.join("a")
        self.assertEqual(client.offer()[0], _ASK)
        client.want()
        offer = client.await_offer(_GIVEN)
        line = self.line(client, offer)
        for gone in self.signallers():  # one of them works, and the other stands ready
            os.kill(gone, signal.SIGKILL)
            self.says(f"a signaller of {self.uuid} has ended with signal 9; it is started again in 1 s")
            self.await_true("another one", lambda gone=gone: gone not in (now := self.signallers()) and len(now) == 2)
        self.assertEqual(client.await_offer(_GIVEN)[1], offer[1])
        self.gets_its_signal(client, line)

    def test_they_end_when_it_is_told_to_end(self):
        self.end_with_it(signal.SIGTERM, 0)

    def test_they_end_when_it_is_killed(self):
        self.end_with_it(signal.SIGKILL, -signal.SIGKILL)

    def end_with_it(self, how, status):
        processes = [os.pidfd_open(pid) for pid in self.signallers()]
        self.assertEqual(len(processes), 2)
        self.keeper.send_signal(how)
        for process in processes:
            self.assertTrue(select.select([process], [], [], _PATIENCE)[0], "it goes on")
            os.close(process)
        self.assertEqual(self.keeper.wait(_PATIENCE), status)

    def test_without_a_driver_it_tries_again_and_says_why_once(self):
        environment = {**self.environment, "LD_LIBRARY_PATH": ""}
        keeper = subprocess.Popen([alone.PROGRAM, "--each-gpu", "1", "--socket", self.socket, "--no-mps",
                                   str(self.folder / "no-mps")], env=environment, stderr=subprocess.PIPE, text=True)
        self.addCleanup(keeper.stderr.close)
        self.assertRegex(keeper.stderr.readline(), "the GPUs are not known: crossover-signaller: libcuda.so.1: ")
        keeper.terminate()
        self.assertEqual(keeper.wait(_PATIENCE), 0)
        self.assertEqual(keeper.stderr.read(), "")

    def test_the_gpus_are_listed(self):
        listed = subprocess.run([alone.PROGRAM, "--list-gpus", "--no-mps", str(self.folder / "no-mps")],
                                env=self.environment, stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(listed.stdout, f"{self.uuid}\n")


class NoOffers(WithArbiter):

    def test_with_host_words_no_message_comes(self):
        for flags in ((), ("--transport", "host"), ("--transport", "auto")):
            with self.subTest(flags):
                arbiter = self.start_arbiter(*flags)
                client = self.join("a")
                client.want()
                self.join("b").close()  # the arbiter has read the first client's message by now
                self.assertTrue(client.hears_nothing())
                client.close()
                self.end(arbiter)

    def test_an_unknown_transport(self):
        arbiter = subprocess.run([_ARBITER, "--transport", "gpu"], stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(arbiter.returncode, 2)
        self.assertIn("--transport: expected host, ipc or auto, got gpu", arbiter.stderr)


if __name__ == "__main__":
    unittest.main()
