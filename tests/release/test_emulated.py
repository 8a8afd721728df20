"""Tests the programs of a release for aarch64 under an emulator, as its images have them: the extender beside a real
API server and scheduler, the node daemon beside a kubelet's real device manager.

The emulator runs programs on a processor that orders memory more strictly than aarch64 does, and has no GPU. So these
tests find what is missing or built for another machine. They do not find faults of the order of memory.
"""

import json
import os
import subprocess
import tarfile
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path

from testing.cluster.control import Control
from testing.cluster.pods import with_slots
from testing.cluster.rig import Cluster
from testing.commands import Build
from testing.processes import Failed
from testing.slots.slot_churn import Churn, Habits
from testing.slots.slot_node import SlotNode
from tools.package_chart import versions
from tools.packages.roots import EMULATE
from tools.trust import files
from tools.trust.oci import Archive

_TREE = Path(__file__).resolve().parents[2]
_BUILD = _TREE / "build/release-arm64"
_ARCHITECTURE = "arm64"
_REPOSITORY = "registry.example/team"
_MACHINE_OF_AARCH64 = 183  # EM_AARCH64
_PODS = 10


@dataclass(frozen=True)
class Emulated(Build):
    """The build for aarch64, whose programs are started by files that call the emulator with an image's root."""

    root: Path
    commands: Path

    @property
    def library(self):
        return self.portable_library("aarch64")

    def _program(self, name):
        path = self.commands / name
        if not path.exists():
            program = self.root / "usr/bin" / name
            emulate = f"python3 -B {_TREE}/tools/emulate.py env QEMU_LD_PREFIX={self.root}"
            path.write_text(f'#!/bin/sh\nexec {emulate} {program} "$@"\n', encoding="utf-8")
            path.chmod(0o755)
        return path


class OnAarch64(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="crossover-emulated-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.dist = cls.folder / "dist"
        _run([_TREE / "tools/build_release.sh", _REPOSITORY, cls.dist, _ARCHITECTURE], PINS="newest")
        sysroot = Build(_BUILD).configured("CROSSOVER_SYSROOT")
        _run([_TREE / "tools/build.sh", "release-arm64", "simgpu_nvml"], CROSSOVER_SYSROOT=sysroot)
        cls.version = versions()["CMakeLists.txt"]
        cls.roots = {name: cls.unpacked(name) for name in files.IMAGES}
        commands = cls.folder / "commands"
        commands.mkdir()
        cls.extender = Emulated(_BUILD, cls.roots["extender"], commands)
        cls.daemon = Emulated(_BUILD, cls.roots["deviceplugin"], commands)

    @classmethod
    def unpacked(cls, name):
        """Returns the root of an image."""
        root = cls.folder / name
        root.mkdir()
        with Archive(cls.dist / files.image(name, cls.version)) as archive:
            image, = archive.images
            assert image.architecture == _ARCHITECTURE, image
            for digest in image.layers:
                with archive.blob(digest) as layer:
                    subprocess.run(["tar", "-C", root, "-xzf", "-"], input=layer.read(), check=True)
        return root

    def test_each_program_is_of_this_machine_and_says_its_version(self):
        for build, name in ((self.extender, "crossover-extender"), (self.daemon, "crossover-deviceplugin"),
                            (self.daemon, "crossover")):
            with self.subTest(name):
                self.assertEqual(_machine_of(build.root / "usr/bin" / name), _MACHINE_OF_AARCH64)
                self.assertIn(self.version, _run([build.program(name), "--version"]).stdout)
                self.assertIn("Usage: ", _run([build.program(name), "--help"]).stdout)

    def test_the_other_files_are_of_this_machine(self):
        for path in ("usr/bin/crossover-signaller", "usr/lib/crossover/libcrossover.so",
                     "usr/lib/crossover/libcrossover-shrink.so"):
            self.assertEqual(_machine_of(self.daemon.root / path), _MACHINE_OF_AARCH64, path)
        self.assertNotEqual(_machine_of(Path("/bin/true")), _MACHINE_OF_AARCH64, "the control")

    def test_a_signaller_says_what_it_expects(self):
        done = subprocess.run([self.daemon.program("crossover-signaller")], capture_output=True, text=True, check=False)
        self.assertGreater(done.returncode, 0)
        self.assertIn("expected", done.stderr)

    def test_configurations_are_checked(self):
        good = _TREE / "deviceplugin/config/standalone.yaml"
        command = [self.daemon.program("crossover-deviceplugin"), "--standalone", "--check", "--config"]
        self.assertEqual(_run([*command, good]).returncode, 0)
        bad = self.folder / "bad.yaml"
        bad.write_text(good.read_text(encoding="utf-8") + "\nno_such_key: 1\n", encoding="utf-8")
        done = subprocess.run([*command, bad], capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no_such_key", done.stderr)
        command = [self.extender.program("crossover-extender"), "--check", "--config"]
        for text, code in (("namespace: crossover-system\n", 0), ("no_such_key: 1\n", 2)):
            bad.write_text(text, encoding="utf-8")
            done = subprocess.run([*command, bad], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, code, done.stderr)

    def test_kubectl_has_a_plugin(self):
        packed = self.dist / f"crossover-cli-{self.version}-linux-aarch64.tar.gz"
        with tarfile.open(packed) as archive:
            archive.extractall(self.folder / "cli", filter="data")
        program = next((self.folder / "cli").glob("*/bin/kubectl-crossover"))
        done = _run([*EMULATE, "env", f"QEMU_LD_PREFIX={self.roots['extender']}", program, "--help"])
        self.assertIn("explain", done.stdout)

    def test_a_daemon_registers_with_a_kubelet_and_gives_slots_out(self):
        with SlotNode(self.daemon, gpus=2, daemon=self.daemon.program("crossover-deviceplugin"),
                      settings={"cdi": "given"}) as node:
            self.assertEqual(node.manager.slots("crossover.dev/slot"), node.all_slots)
            churn = Churn(node, seed=1, habits=Habits())
            while churn.tally.pods < _PODS:
                churn.burst(_PODS - churn.tally.pods)
            self.assertEqual((churn.tally.differing, dict(churn.tally.rejected)), (0, {}))

    def test_an_extender_answers_a_scheduler_and_an_api_server(self):
        with Cluster(nodes=1) as cluster:
            control = Control(cluster, self.extender)
            control.prepare()
            control.start()
            cluster.namespace("team")
            pod = with_slots("shares", "registry.example/any", ["true"])
            pod["metadata"]["annotations"] = {"crossover.dev/share": "true"}
            cluster.kubectl("create", "--filename=-", "--namespace=team", input=json.dumps(pod))
            made = cluster.get("pod", "shares", "team")
            self.assertEqual(made["metadata"]["labels"]["crossover.dev/managed"], "true", "its webhook")
            # The words are the extender's. The scheduler asked it, and made the event.
            cluster.wait_for_any("events", lambda event: event["message"] == "needs 1 GPU; the cluster has 0", "team")
            control.check()


def _machine_of(program):
    """Returns the number of the machine that a program is for, by its ELF header."""
    return int.from_bytes(program.read_bytes()[18:20], "little")


def _run(command, **environment):
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{command[0]}: {done.stdout[-500:]}{done.stderr[-1500:]}")
    return done


if __name__ == "__main__":
    unittest.main()
