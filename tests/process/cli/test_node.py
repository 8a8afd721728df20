"""Tests `crossover top`, `timeline`, `mode` and `doctor` against the real daemon with real jobs on software GPUs."""

import json
import os
import signal
import socket
import subprocess
import unittest

from tests.process.cli.machine import Node, clients, end_quietly, end_ranks, finished
from tests.process.sidecar.test_sidecar import BIN, SIMGPU


def taking_turns(top):
    """Tells whether two jobs on both GPUs all take turns, with figures for all of them."""
    return (len(clients(top)) == 4 and all(gpu["mode"] == "gate" and gpu.get("gain") for gpu in top["gpus"]) and
            all(client["turns"] > 10 and client.get("hold_ms") for client in clients(top)))


def all_in_mode(mode):
    return lambda top: len(clients(top)) == 4 and all(client["mode"] == mode for client in clients(top))


def named(checks, *verdicts):
    """Returns the names of the doctor's checks with one of these verdicts."""
    return {name for name, check in checks.items() if check["verdict"] in verdicts}


class Top(unittest.TestCase):

    def learn_alone(self, node, name):
        """Runs a job alone until its step time is known. Returns its processes, which still run."""
        ranks = node.start_job(name)
        node.await_top(lambda top: len(clients(top)) == 2 and all("alone" in client for client in clients(top)))
        return ranks

    def test_shows_who_holds_and_what_sharing_costs_and_gains(self):
        node = Node(self)
        end_ranks(self.learn_alone(node, "alpha"))
        node.await_top(lambda top: not clients(top))
        self.learn_alone(node, "beta")
        node.start_job("alpha")
        top = node.await_top(taking_turns)

        self.assertEqual([job["gang"] for job in top["jobs"]], ["alpha", "beta"])
        self.assertEqual([job["shares_with"] for job in top["jobs"]], [["beta"], ["alpha"]])
        for gpu in top["gpus"]:
            mine = [client for client in clients(top) if client["gpu_uuid"] == gpu["uuid"]]
            self.assertEqual({client["gang"] for client in mine}, {"alpha", "beta"})
            self.assertAlmostEqual(gpu["gain"], sum(1 / client["slowdown"] for client in mine), places=9)
            self.assertEqual(gpu["why_no_turns"], "")
            self.assertGreater(gpu["handed_over"] + gpu["granted"], 20)
        for client in clients(top):
            source = "remembered" if client["gang"] == "alpha" else "measured"
            self.assertEqual(client["alone"]["source"], source)
            self.assertGreater(client["alone"]["age_s"], 0)
            self.assertGreater(client["alone"]["step_ms"], 10, "c is 10 ms")
            self.assertAlmostEqual(client["slowdown"], client["step_ms"] / client["alone"]["step_ms"], places=9)
            self.assertEqual(client["transport"], "gpu_gates")
        self.assertEqual({job["uid"] for job in top["jobs"]}, {os.geteuid()})
        for gang in ("alpha", "beta"):
            node.await_top(lambda top, gang=gang: any(gpu["holders"] == [gang] for gpu in top["gpus"]))
            node.await_top(lambda top, gang=gang: any(gang in gpu["waiting"] for gpu in top["gpus"]))
        # A client of a job that the guard compares side by side is locked, and takes turns again soon.
        table = node.await_table(r"alpha +0 +\d+ +taking +gpu_gates")
        self.assertIn("turns are taken; gain ", table)

    def test_watches_until_the_daemon_is_gone(self):
        node = Node(self)
        watch = subprocess.Popen(node.command("top", "-w", "0.1", "-o", "json"), stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        self.addCleanup(end_quietly, watch)
        for _ in range(3):
            self.assertEqual(json.loads(watch.stdout.readline())["daemon"]["pid"], node.daemon.pid)
        node.stop_daemon()
        self.assertIn("crossover top: ", watch.communicate(timeout=60)[1])
        self.assertEqual(watch.returncode, 1)

    def test_the_mode_is_switched_live_and_back(self):
        node = Node(self)
        jobs = [node.start_job(name) for name in ("alpha", "beta")]
        node.await_top(all_in_mode("gate"))
        self.assertEqual(node.ask("mode", "off"), "mode off, was enforce; configured: enforce\n")
        top = node.await_top(all_in_mode("off"))
        self.assertEqual({gpu["why_no_turns"] for gpu in top["gpus"]}, {"the daemon's mode is off"})
        self.assertEqual((top["daemon"]["mode"], top["daemon"]["mode_configured"]), ("off", "enforce"))
        node.await_top(lambda top: not any(client["holding"] or client["waiting"] for client in clients(top)))
        before = node.top()["gpus"][0]["turns"]
        self.assertEqual([rank.poll() for ranks in jobs for rank in ranks], [None] * 4, "the jobs go on")

        node.daemon.send_signal(signal.SIGHUP)
        self.assertIn("the mode stays switched to off", node.await_word("configuration reloaded"))
        self.assertEqual(node.ask("mode", "configured"), "mode enforce, was off; configured: enforce\n")
        node.await_top(lambda top: all_in_mode("gate")(top) and top["gpus"][0]["turns"] > before + 10)


class Turns(unittest.TestCase):

    def holding_jobs(self):
        node = Node(self)
        for name in ("alpha", "beta"):
            node.start_job(name)
        node.await_top(lambda top: all_in_mode("gate")(top) and all(gpu["turns"] > 20 for gpu in top["gpus"]))
        return node

    def follow(self, node, *options):
        watcher = subprocess.Popen(node.command("timeline", "--follow", "-o", "json", *options),
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(watcher.stdout.close)
        self.addCleanup(end_quietly, watcher)
        self.assertEqual(json.loads(watcher.stdout.readline())["event"], "watching")
        return watcher

    def test_watchers_see_turns_alternate(self):
        node = self.holding_jobs()
        gpu = node.top()["gpus"][0]["uuid"]
        watcher = self.follow(node, "--gpu", gpu)
        events = []
        while sum(event["event"] == "hold" for event in events) < 40:
            events.append(json.loads(watcher.stdout.readline()))
            self.assertEqual((events[-1]["gpu_uuid"], events[-1]["dropped"]), (gpu, 0))
        for gang in ("alpha", "beta"):
            mine = [event["event"] for event in events if event["gang"] == gang and event["event"] != "arrive"]
            self.assertNotIn(("hold", "hold"), list(zip(mine, mine[1:])))
            self.assertNotIn(("release", "release"), list(zip(mine, mine[1:])))
        holds = [event["gang"] for event in events if event["event"] == "hold"]
        self.assertGreater(sum(a != b for a, b in zip(holds, holds[1:])), 25, holds)

    def test_the_timeline_shows_both_jobs(self):
        node = self.holding_jobs()
        turns = json.loads(node.ask("timeline", "-o", "json", "--seconds", "60"))
        self.assertEqual({turn["gang"] for turn in turns["turns"]}, {"alpha", "beta"})
        for turn in turns["turns"]:
            self.assertLessEqual(turn["asked_s"], turn["began_s"])
            self.assertLessEqual(turn["began_s"], turn.get("ended_s", turns["now_s"]))
        picture = node.ask("timeline", "--seconds", "0.3")
        for gang in ("alpha", "beta"):
            self.assertRegex(picture, rf"(?m)^  {gang} +.*█")

    def test_a_watcher_that_stands_still_harms_no_other(self):
        node = self.holding_jobs()
        watcher = self.follow(node)
        os.kill(watcher.pid, signal.SIGSTOP)
        before = node.top()["gpus"][0]["turns"]
        node.await_top(lambda top: top["gpus"][0]["turns"] > before + 50)
        self.assertEqual(node.stop_daemon(), 0)


class Life(unittest.TestCase):
    """Tests the sockets, from start to end of the daemon."""

    def test_a_stopped_daemon_takes_its_sockets_along(self):
        node = Node(self)
        self.assertEqual(node.api.stat().st_mode & 0o777, 0o600)
        self.assertEqual(node.stop_daemon(), 0)
        self.assertFalse(node.api.exists())
        self.assertFalse(node.socket.exists())
        self.assertIn("no such file: start the daemon", node.ask("top", code=1))

    def test_a_killed_daemon_is_replaced(self):
        node = Node(self)
        node.stop_daemon(signal.SIGKILL)
        self.assertTrue(node.api.exists())
        self.assertIn("no process listens there", node.ask("top", code=1))
        node.start_daemon()
        self.assertEqual(node.top()["daemon"]["pid"], node.daemon.pid)

    def test_a_live_daemons_socket_is_not_taken(self):
        node = Node(self)
        other = node.directory / "other.yaml"
        other.write_text(f"socket: {{path: {node.directory}/other.sock}}\napi: {{socket: {node.api}}}\n"
                         "profiles: off\n")
        done = finished([*node.daemon.args[:3], other])
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"api.socket: socket {node.api}: expected no other daemon that listens on it, got one",
                      done.stderr)
        self.assertEqual(node.top()["daemon"]["pid"], node.daemon.pid)


class Doctor(unittest.TestCase):
    """The doctor looks at the whole machine. The tests compare its verdicts by check."""

    def doctor(self, node, *words, code=0, **environment):
        done = finished(node.command("doctor", "-o", "json", *words),
                        {**os.environ, "LD_LIBRARY_PATH": SIMGPU, **environment})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["verdict"] == "fail", code == 1)
        return {check["name"]: check for check in report["checks"]}

    def test_a_machine_whose_jobs_take_turns(self):
        node = Node(self)
        for name in ("alpha", "beta"):
            node.start_job(name)
        node.await_top(all_in_mode("gate"))
        pipe = node.directory / "mps"
        pipe.mkdir()
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as mps:
            mps.bind(str(pipe / "control"))
            mps.listen()
            checks = self.doctor(node, CUDA_MPS_PIPE_DIRECTORY=str(pipe), SIMGPU_MACHINE="1x1")
        left_behind = self.doctor(node, CUDA_MPS_PIPE_DIRECTORY=str(pipe), SIMGPU_MACHINE="1x1")
        self.assertEqual(left_behind["mps"]["verdict"], "warn")
        on_a_busy_machine = {"openings", "faults"}
        self.assertEqual(named(checks, "unknown", "warn", "fail") - on_a_busy_machine, set(), checks)
        self.assertEqual(checks["turns"]["seen"], "turns are taken on 2 GPUs")

    def test_a_machine_with_faults(self):
        node = Node(self, mode="observe")
        for name in ("alpha", "beta"):
            node.start_job(name)
        node.await_top(lambda top: len(clients(top)) == 4 and all(c["phase"] == "locked" for c in clients(top)))
        checks = self.doctor(node, code=1, CROSSOVER_GATES="maybe", CROSSOVER_DISABLE="1", CUDA_LAUNCH_BLOCKING="1",
                             CUDA_MPS_PIPE_DIRECTORY="/nowhere", LD_LIBRARY_PATH="/nowhere")
        self.assertEqual(named(checks, "warn"), {"disabled", "launch_blocking", "driver", "mps", "mode", "turns"})
        self.assertEqual(checks["environment"]["verdict"], "fail")
        self.assertIn("the daemon's mode is observe", checks["turns"]["seen"])

        node.stop_daemon(signal.SIGKILL)
        checks = self.doctor(node, "--arbiter-socket", str(node.socket), code=1)  # no daemon names the socket
        self.assertEqual(named(checks, "fail"), {"arbiter_socket", "api_socket"})
        node.start_daemon()
        node.await_top(lambda top: len(clients(top)) == 4)
        self.assertEqual(self.doctor(node, CUDA_MPS_PIPE_DIRECTORY="/nowhere")["restarts"]["verdict"], "warn")

    def test_a_library_that_does_not_load(self):
        node = Node(self)
        text = node.directory / "libcrossover.so"
        text.write_text("no library", encoding="utf-8")
        done = finished(node.command("doctor", "--library", str(text)))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^fail +library_fits +.*expected an ELF file, got another kind of file")
        self.assertRegex(done.stdout, r"(?m)^fail +library_loads +.*cannot be preloaded")


class BadUsage(unittest.TestCase):

    def test_names_option_value_and_what_is_allowed(self):
        for arguments, words in ((("top", "-o", "xml"), ("--output", "xml", "table,json")),
                                 (("top", "-w", "0"), ("--watch", "0", "0.1")),
                                 (("top", "-w", "nan"), ("--watch", "nan", "3600")),
                                 (("timeline", "--seconds", "x"), ("--seconds", "x")),
                                 (("timeline", "--seconds", "nan"), ("--seconds", "nan", "3600")),
                                 (("timeline", "--seconds", "0"), ("--seconds", "0", "3600")),
                                 (("mode", "on"), ("mode", "on", "off,observe,enforce,configured")),
                                 (("mode",), ("mode is required",)),
                                 (("doctor", "now"), ("now",))):
            done = finished([BIN / "crossover", *arguments])
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            for word in words:
                self.assertIn(word, done.stderr)

    def test_so_does_the_plugin_of_kubectl(self):
        formats = "json,text,wide,yaml"
        done = finished([BIN / "kubectl-crossover", "top", "-o", "xml"])
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        for word in ("--output", "xml", formats):
            self.assertIn(word, done.stderr)
        for command, option, limits in (("top", "--watch", "0.1 to 3600"), ("advise", "--days", "0.01 to 90"),
                                        ("servers", "--inner-gbit", "0 to 1e+06")):
            for value in ("nan", "inf", "1e9"):
                done = finished([BIN / "kubectl-crossover", command, option, value])
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(f"{option}: expected a number from {limits}, got {value};", done.stderr)
        done = finished([BIN / "kubectl-crossover", "top", "--help"])
        self.assertIn(formats, done.stdout)
        self.assertTrue(done.stdout.replace("\n", "").isprintable(), done.stdout)


@unittest.skipUnless(os.geteuid() == 0, "needs root, to become another user")
class OtherUsers(unittest.TestCase):

    def test_are_refused(self):
        node = Node(self)
        os.chmod(node.directory, 0o755)
        become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
        for mode in (0o600, 0o666):  # first the file's mode refuses, then the credentials alone
            os.chmod(node.api, mode)
            done = finished([*become, *node.command("mode", "off")])
            self.assertEqual(done.returncode, 1, done.stdout)
        node.await_word("expected one of root or of the daemon's user, got one of user 65534")
        self.assertEqual(node.top()["daemon"]["mode"], "enforce")


if __name__ == "__main__":
    unittest.main()
