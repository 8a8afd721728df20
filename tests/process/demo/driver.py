"""Stands in for the demo's driver, so that tests can kill it: it runs two nodes with one long process each.

    python3 -m tests.process.demo.driver MARK

It prints "up" once all runs, then waits.
"""

import sys
import tempfile

from testing import isolation
from testing.processes import Processes, interruptible, until_interrupted


def main():
    mark = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix=f"{mark}-"), isolation.nodes(2, mark) as (nodes, _), \
            Processes(mark) as processes:
        for node in range(2):
            processes.start(f"rank{node}", nodes.as_client(node, ["sleep", "600"]))
        print("up", flush=True)
        until_interrupted()


if __name__ == "__main__":
    try:
        with interruptible():
            main()
    except KeyboardInterrupt:
        sys.exit(130)
