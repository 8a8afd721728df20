"""What a pod is from within: its network, and what is mounted into it."""

import contextlib
import http.client
import ssl
from pathlib import Path

from benchmarks.processes import Failed
from tests.cluster.rig.api import connected_in

_LISTENS = "0A"
_TABLES = ("tcp", "tcp6", "udp", "udp6")


def processes_of(pod):
    """Their numbers, as the host has them; the first is none of the pod's containers, but what holds its namespaces."""
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
    """(those that anybody can reach, those of the pod alone): numbers of ports that somebody listens at."""
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
    """Where something is mounted in the container that runs a program of this name."""
    lines = (_seen_by(pod, program) / "mountinfo").read_text(encoding="utf-8").splitlines()
    return {line.split()[4] for line in lines}


def files_of(pod, program, folder):
    """Names of what is in a folder of that container."""
    return {file.name for file in (_seen_by(pod, program) / "root" / folder.lstrip("/")).iterdir()}


def _seen_by(pod, program):
    """The /proc directory of the process of this name."""
    for process in processes_of(pod):
        directory = Path(f"/proc/{process}")
        with contextlib.suppress(OSError):
            if (directory / "comm").read_text(encoding="ascii").strip() == program:
                return directory
    raise Failed(f"nothing in {pod['metadata']['name']} is named {program}")


def ask(pod, address, path, method="GET", body=None, token=None, secure=False):
    """(status, text) of an answer to a request from within a pod, over TLS if `secure`, whoever made the certificate.
    OSError: nobody listens there."""
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
