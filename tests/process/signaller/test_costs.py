"""Tests what the whole daemon tells of its signallers' costs, against what the kernel says of these processes."""

import json
import os
import re
import signal
import subprocess
import unittest
import urllib.request
from pathlib import Path

from testing import wire
from tests.process.signaller import test_arbiter as beside, test_signaller as alone

_BIN = Path(os.environ.get("BIN", ""))
_SERIES = re.compile(r'^crossover_(signal\w+){gpu_uuid="([^"]*)"[^}]*} (\S+)$', re.MULTILINE)
_APART = 1 << 20  # bytes; a process that works gets some pages between two looks
_WORK_S = 0.02  # processor time that shows at the kernel's ticks of 10 ms

setUpModule = alone.setUpModule


def resident_bytes(process):
    text = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"^VmRSS:\s+(\d+) kB$", text, re.MULTILINE).group(1)) << 10


def cpu_seconds(process):
    words = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


class Costs(beside.WithArbiter):

    def setUp(self):
        super().setUp()
        config = self.folder / "crossover.yaml"
        config.write_text(f"socket:\n  path: {self.socket}\nprofiles: off\ntransport: ipc\nmode: observe\n"
                          "metrics: {listen: '127.0.0.1:0'}\n", encoding="utf-8")
        self.daemon = subprocess.Popen([_BIN / "crossover-deviceplugin", "--standalone", "--config", config],
                                       env=self.environment, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.daemon.stderr.close)
        self.addCleanup(self.daemon.wait)
        self.addCleanup(self.daemon.kill)
        port = self.await_word("metrics on port ").rsplit(" ", 1)[1].strip()
        self.url = f"http://127.0.0.1:{port}/metrics"
        self.await_word("api on ")

    def await_word(self, word):
        for line in self.daemon.stderr:
            if word in line:
                return line
        raise AssertionError(f"the daemon has ended, expected it to say: {word}")

    def scrape(self):
        """Returns {metric without crossover_: value} of the machine's GPU."""
        with urllib.request.urlopen(self.url, timeout=60) as answer:
            found = _SERIES.findall(answer.read().decode())
        self.assertLessEqual({uuid for _, uuid, _ in found}, {self.uuid})
        return {name: float(value) for name, _, value in found}

    def top(self, form="json"):
        done = subprocess.run([_BIN / "crossover", "top", "-o", form, "--socket", self.folder / "api.sock"],
                              stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(done.stdout) if form == "json" else done.stdout

    def test_they_are_what_the_kernel_says(self):
        self.assertEqual(self.scrape(), {})
        process = self.start(self.uuid)
        self.await_word("is its signaller")
        client = self.join("a")
        client.want()
        _, _, size, _ = client.await_offer(0)
        self.await_true("processor time", lambda: self.scrape().get("signaller_cpu_seconds_total", 0) >= _WORK_S)

        scraped, said = self.scrape(), self.top()["gpus"][0]["signals"]
        self.assertEqual(scraped["signallers"], 1)
        self.assertEqual(scraped["signal_memory_bytes"], size)
        self.assertAlmostEqual(scraped["signaller_resident_bytes"], resident_bytes(process), delta=_APART)
        self.assertLessEqual(scraped["signaller_cpu_seconds_total"], cpu_seconds(process))
        self.assertEqual((said["signallers"], int(said["device_memory_bytes"]), said["device_memory_source"]),
                         (1, size, "exported"))
        self.assertAlmostEqual(int(said["host_memory_bytes"]), resident_bytes(process), delta=_APART)
        self.assertLessEqual(scraped["signaller_cpu_seconds_total"], said["cpu_s"])
        self.assertIn("signals: 1 signallers; host memory ", self.top("table"))

        process.send_signal(signal.SIGKILL)
        self.await_word("has gone")
        self.await_true("no signaller", lambda: self.scrape()["signallers"] == 0)
        gone = self.scrape()
        self.assertNotIn("signaller_resident_bytes", gone)
        self.assertGreaterEqual(gone["signaller_cpu_seconds_total"], scraped["signaller_cpu_seconds_total"])
        self.assertEqual(gone["signal_memory_bytes"], size, "the daemon has kept it")

    def test_late_signals_are_counted(self):
        self.start(self.uuid)
        client = self.join("a")
        client.want()
        offer = client.await_offer(0)
        client.page.write(client.page.slot, wire.ALIVE, os.getpid())
        self.gets_its_signal(client, self.line(client, offer))  # and stays at its open gate
        self.await_true("late signals", lambda: self.scrape()["signals_again_total"] >= 3)
        self.assertGreaterEqual(self.top()["gpus"][0]["signals"]["late"], 3)


if __name__ == "__main__":
    unittest.main()
