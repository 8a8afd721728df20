"""Trains with DistributedDataParallel and more groups of processes beside that of all ranks: one over gloo, by which
ranks agree on the CPU when to stop and share Python objects, and a second one over NCCL, for a mean of losses."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import training


def build(device, _):
    on_host = dist.new_group(backend="gloo")
    on_gpu = dist.new_group(backend="nccl")
    model = DistributedDataParallel(training.Transformer().to(device), device_ids=[device.index], bucket_cap_mb=1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step(index):
        loss = training.train_on_tokens(model, optimizer, device)
        stop = torch.zeros(1, dtype=torch.int32)
        dist.all_reduce(stop, op=dist.ReduceOp.MAX, group=on_host)
        if stop.item():
            raise SystemExit(1)
        if index % 5 == 4:
            told = [None] * dist.get_world_size()
            dist.all_gather_object(told, {"rank": dist.get_rank(), "step": index}, group=on_host)
        mean = loss.detach().clone()
        dist.all_reduce(mean, op=dist.ReduceOp.AVG, group=on_gpu)
        return mean

    return step


if __name__ == "__main__":
    training.main(build)
