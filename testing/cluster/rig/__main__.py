"""Starts a cluster to explore by hand: python3 -m testing.cluster.rig [--nodes N] [--service-routing]. Ctrl-C ends
it."""

import argparse
import contextlib
import shlex
import sys
import time

from testing.cluster.rig import Cluster, Refused
from testing.processes import Failed, interruptible, until_interrupted


def main():
    parser = argparse.ArgumentParser(prog="python3 -m testing.cluster.rig", description=__doc__)
    parser.add_argument("--nodes", type=int, default=2, help="how many (default: 2)")
    parser.add_argument("--service-routing", action="store_true", help="run kube-proxy")
    arguments = parser.parse_args()
    begun = time.monotonic()
    with contextlib.suppress(KeyboardInterrupt), interruptible():
        with Cluster(nodes=arguments.nodes, service_routing=arguments.service_routing) as cluster:
            print(f"up after {time.monotonic() - begun:.1f} s; everything is in {cluster.directory}\n", flush=True)
            print(f"  alias kubectl='{shlex.join(cluster.kubectl.command([]))}'")
            for node in cluster.nodes:
                print(f"  alias {node.name}='{shlex.join(node.enter([]))}'   # {node.name} ls /run/crossover")
            print("\nCtrl-C ends it.", flush=True)
            until_interrupted()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Refused, Failed) as failure:
        sys.exit(f"cluster: {failure}")
