"""Looks at a pod from within: its network, and what is mounted into its containers."""

import contextlib
import http.client
import ssl
from pathlib import Path

from testing.cluster.rig.api import connected_in
from testing.processes import Failed
from tests.process.demo.leftovers import until

_LISTENS = "0A"
_TABLES = ("tcp", "tcp6", "udp", "udp6")


def processes_of(pod):
    """Returns the pod's process IDs, as the host numbers them, sorted. The first belongs to the process that holds the
    pod's namespaces, and to none of its containers."""
    uid = pod["metadata"]["uid"]
    names = (uid, uid.replace("-", "_"))
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if any(name in (directory / "cgroup").read_text(encoding="ascii") for name in names):
                found.append(int(directory.name))
    if not found:
        raise Failed(f"{pod['metadata']['name']} has no process")
    return sorted(found)


def ports_of(pod):
    """Returns the numbers of the ports that processes of the pod listen on: (those reachable from outside, those on
    loopback alone)."""
    tables = Path(f"/proc/{processes_of(pod)[0]}/net")
    reachable, own = set(), set()
    for table in _TABLES:
        for line in (tables / table).read_text(encoding="ascii").splitlines()[1:]:
            local, state = line.split()[1], line.split()[3]
            if table.startswith("tcp") and state != _LISTENS:
                continue
            address, port = local.split(":")
            is_loopback = address.endswith("7F") if len(address) == 8 else address.endswith("01000000")
            (own if is_loopback else reachable).add(int(port, 16))
    return reachable, own - reachable


def mounts_of(pod, program):
    """Returns the mount points in the container that runs a program of this name."""
    lines = (_seen_by(pod, program) / "mountinfo").read_text(encoding="utf-8").splitlines()
    return {line.split()[4] for line in lines}


def files_of(pod, program, folder):
    """Returns the names of the files in a folder of the container that runs a program of this name."""
    return {file.name for file in (_seen_by(pod, program) / "root" / folder.lstrip("/")).iterdir()}


def _seen_by(pod, program):
    """Returns the /proc directory of the process of this name. A container may be called running before its program is:
    this waits for the program."""
    found = []
    def started():
        for process in processes_of(pod):
            directory = Path(f"/proc/{process}")
            with contextlib.suppress(OSError):
                if (directory / "comm").read_text(encoding="ascii").strip() == program:
                    found.append(directory)
        return found
    if until(started):
        return found[0]
    raise Failed(f"nothing in {pod['metadata']['name']} is named {program}")


def ask(pod, address, path, method="GET", body=None, token=None, secure=False):
    """Sends a request from within a pod and returns (status, text) of the answer. `secure` uses TLS and accepts any
    certificate. Raises OSError where no process listens."""
    plain = connected_in(processes_of(pod)[0], address)
    if secure:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        plain = context.wrap_socket(plain)
    connection = http.client.HTTPConnection(*address)
    with contextlib.closing(connection):
        connection.sock = plain
        connection.request(method, path, body, {"Authorization": f"Bearer {token}"} if token else {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode(errors="replace")
