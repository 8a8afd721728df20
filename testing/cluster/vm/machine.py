"""Runs a virtual machine under qemu: a kernel of Debian's, and its system on a disk that forgets what is written to it.

tools/install/vm.sh makes the disk. The machine is emulated in software, so that it runs wherever qemu does.
"""

import os
import shlex
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from testing.cluster.rig import versions
from testing.cluster.rig.versions import Refused
from testing.processes import Failed

_IMAGE = "vm-debian-12"
_FILES = ("vmlinuz", "initrd.img", "disk.img")
_PROGRAM = "qemu-system-x86_64"
_MEMORY_MIB, _CORES = 3072, 2
_AGENT_PORT = 7777
_BOOTS_WITHIN_S = 600.0
_HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Shared:
    """Names a folder of this machine that the virtual machine has at the same path."""

    path: Path
    writable: bool = False

    def tag(self, number):
        return f"shared{number}"


def image():
    """Returns the folder of kernel and disk. Raises Refused if something is missing."""
    folder = versions.cache() / _IMAGE
    missing = [str(folder / name) for name in _FILES if not (folder / name).exists()]
    missing += [] if shutil.which(_PROGRAM) else [_PROGRAM]
    if missing:
        raise Refused(f"missing: {', '.join(missing)}; to install: tools/install.sh --matrix")
    return folder


class Machine:
    """A Machine is one virtual machine. `setup` is that of the cluster whose processes it joins, `directory` a folder
    of its own, and `shared` are the folders that it has of this machine."""

    def __init__(self, name, address, setup, directory, shared):
        self._name, self._address, self._setup, self._directory = name, address, setup, directory
        self._shared = shared
        self._folder = image()

    def start(self, enter, device, script):
        """Starts it in the namespaces of `enter`, on their network device `device`. `script` is what its shell does
        first, as root: lines that give its network an address, for example."""
        boot = self._directory / "boot"
        boot.mkdir(parents=True)
        (boot / "start.sh").write_text("\n".join(self._first_words(script)) + "\n", encoding="utf-8")
        console = self._setup.logs / f"{self._name}.console.log"
        self._setup.processes.start(self._name, enter(self._command(boot, console, device)),
                                    log=self._setup.logs / f"{self._name}.log")

    def wait(self, enter):
        """Blocks until commands can be run there."""
        end = time.monotonic() + _BOOTS_WITHIN_S
        while not self._answers(enter):
            if not self._setup.processes.alive(self._name) or time.monotonic() > end:
                raise Failed(f"{self._name} does not come up within {_BOOTS_WITHIN_S:.0f} s: "
                             f"{self._setup.processes.last_words(self._name)}; its console: {self._console()[-500:]}")
            time.sleep(0.2)

    def enter(self, command):
        """Returns the command line that runs `command` there, as root. It has to run where the network is."""
        return [sys.executable, "-S", "-B", str(_HERE / "enter.py"), self._address, str(_AGENT_PORT), *command]

    def _answers(self, enter):
        try:
            self._setup.run(enter(["/bin/true"]))
        except Failed:
            return False
        return True

    def _console(self):
        log = self._setup.logs / f"{self._name}.console.log"
        return log.read_text(errors="replace") if log.exists() else "(nothing)"

    def _command(self, boot, console, device):
        shared = [Shared(boot), *self._shared]
        tags = ["setup", *(each.tag(number) for number, each in enumerate(self._shared))]
        folders = [f"local,path={each.path},mount_tag={tag},security_model=passthrough,multidevs=remap"
                   f"{'' if each.writable else ',readonly=on'}" for tag, each in zip(tags, shared)]
        return [shutil.which(_PROGRAM), "-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", "max",
                "-m", str(_MEMORY_MIB), "-smp", str(_CORES), "-nodefaults", "-no-user-config", "-display", "none",
                "-no-reboot", "-kernel", str(self._folder / "vmlinuz"), "-initrd", str(self._folder / "initrd.img"),
                "-append", "root=/dev/vda rw console=ttyS0 net.ifnames=0 mitigations=off quiet",
                "-drive", f"file={self._folder / 'disk.img'},if=virtio,format=raw,snapshot=on",
                "-netdev", f"tap,id=net,ifname={device},script=no,downscript=no",
                "-device", f"virtio-net-pci,netdev=net,mac={_mac(self._address)}", "-device", "virtio-rng-pci",
                "-serial", f"file:{console}", *(word for folder in folders for word in ("-virtfs", folder))]

    def _first_words(self, script):
        """Returns the lines of the script that the system runs at its start. It ends as the agent."""
        mounts = []
        for number, each in enumerate(self._shared):
            at = shlex.quote(str(each.path))
            cache = "none" if each.writable else "loose"
            mounts.append(f"mkdir -p {at} && mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache={cache},"
                          f"{'rw' if each.writable else 'ro'} {each.tag(number)} {at}")
        python = shlex.quote(sys.executable)  # tests run it on nodes
        return ["set -e", *script, *mounts,
                f"[ -e {python} ] || {{ mkdir -p {shlex.quote(os.path.dirname(sys.executable))}; "
                f"ln -s /usr/bin/python3 {python}; }}",
                f"exec /usr/bin/python3 -B {shlex.quote(str(_HERE / 'agent.py'))} {_AGENT_PORT}"]


def _mac(address):
    return "52:54:00:" + ":".join(f"{int(part):02x}" for part in address.split(".")[1:])
