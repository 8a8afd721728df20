"""Runs an unmodified script as rank 0 of two, where rank 1 has no program (simgpu/nccl/peers.h). A client must connect
to the rendezvous store in rank 1's name, and no more is needed. Usage: with_peers.py SCRIPT ARGUMENTS..."""

import os
import runpy
import socket
import sys
import threading

import torch.distributed as dist


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def stand_in(port, world, kept):
    for _ in range(1, world):
        kept.append(dist.TCPStore("127.0.0.1", port, world, False))


def main():
    world = int(os.environ.setdefault("WORLD_SIZE", "2"))
    os.environ |= {"RANK": "0", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    kept = []
    threading.Thread(target=stand_in, args=(int(os.environ["MASTER_PORT"]), world, kept), daemon=True).start()
    sys.argv = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
