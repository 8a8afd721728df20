"""Ends pods that have slots and creates them anew, so many of both a second together, until it is killed:

    python3 -m benchmarks.scheduling.pod_changes PID CERTIFICATES RATE NODES

The cluster is one of testing.cluster.large_cluster, and the process PID is in its network namespace. For each line
that it reads, it prints how many changes a second it has made so far.
"""

import sys
import threading
import time
from pathlib import Path

from testing.cluster import fake_gpus, large_cluster
from testing.cluster.rig.api import Api

_THREADS = 4
_PATH = large_cluster.PODS.format(large_cluster.HELD_SPACE)
_AHEAD = 1.05  # it tries to be a little faster


class _Certificates:
    """The certificates of a cluster, by their directory."""

    def __init__(self, directory):
        self._directory = Path(directory)
        self.authority = self.crt("ca")

    def crt(self, name):
        return self._directory / f"{name}.crt"

    def key(self, name):
        return self._directory / f"{name}.key"


class _Writer(threading.Thread):
    """Changes the pod of the first GPU of each of its nodes, in turn."""

    def __init__(self, api, nodes, rate):
        super().__init__(daemon=True)
        self._api, self._nodes, self._pause_s = api, nodes, 1 / (_AHEAD * rate)
        self.made = 0

    def run(self):
        began = time.monotonic()
        while True:
            time.sleep(max(0.0, began + self.made * self._pause_s - time.monotonic()))
            node = self._nodes[self.made // 2 % len(self._nodes)]
            if self.made % 2 == 0:
                self._api.delete(f"{_PATH}/{node}-0")
            else:
                self._api.create(_PATH, large_cluster.pod(f"{node}-0", [fake_gpus.uuid(node, 0)], node))
            self.made += 1


def main(pid, certificates, rate, nodes):
    names = large_cluster.node_names(int(nodes))
    writers = [_Writer(Api(int(pid), _Certificates(certificates)), names[number::_THREADS],
                       float(rate) / _THREADS) for number in range(_THREADS)]
    began = time.monotonic()
    for writer in writers:
        writer.start()
    for _ in sys.stdin:
        if not all(writer.is_alive() for writer in writers):
            return 1
        print(sum(writer.made for writer in writers) / (time.monotonic() - began), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
