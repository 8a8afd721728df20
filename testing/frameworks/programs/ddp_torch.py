"""Runs two ranks of DistributedDataParallel on the CPU, by gloo. Prints the parameters of rank 0 to the last bit."""

import os
import socket

import torch
import torch.distributed
import torch.multiprocessing


def rank_main(rank, port):
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
    torch.manual_seed(1)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(32, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(10 + rank)
    for _ in range(10):
        optimizer.zero_grad()
        model(torch.randn(16, 32)).square().mean().backward()
        optimizer.step()
    if rank == 0:
        print([value.hex() for value in model.module.weight.flatten().tolist()])
    torch.distributed.destroy_process_group()


def main():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    torch.multiprocessing.spawn(rank_main, args=(port,), nprocs=2)


if __name__ == "__main__":
    main()
