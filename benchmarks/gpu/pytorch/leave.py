"""Trains as train.py does until it is told "leave HOW". It then ends within a step, in a turn that it holds, without
destroy_process_group: by a return, by sys.exit, or by an exception that nothing catches."""

import json
import os
import select
import sys

import models
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def told():
    """Returns the words of a line of the standard input, or nothing where none has come."""
    if not select.select([sys.stdin], [], [], 0)[0]:
        return []
    return sys.stdin.readline().split() or ["leave", "return"]


def main():
    name, batch = sys.argv[1], int(sys.argv[2])
    dist.init_process_group("nccl")
    torch.cuda.set_device(0)
    model = DistributedDataParallel(models.make(name).cuda(), device_ids=[0])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    inputs, targets = models.batch_for(name, batch, "cuda")
    for _ in range(3):
        nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()
    torch.cuda.synchronize()
    print(json.dumps({"ready": True}), flush=True)
    words = []
    while not words or words[0] != "leave":
        nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()
        words = told()
    inputs + 1
    torch.cuda.current_stream().synchronize()  # the turn is held
    model(inputs)  # compute that has not ended
    if words[1] == "exception":
        raise RuntimeError("the program ends by an exception")
    if words[1] == "sys_exit":
        sys.exit(0)


if __name__ == "__main__":
    os.environ.setdefault("TORCH_NCCL_ASYNC_ERROR_HANDLING", "1")
    main()
