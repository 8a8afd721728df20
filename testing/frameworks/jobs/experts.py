"""Trains a mixture of experts: each rank has one expert, and tokens go to their experts and back by all-to-all."""

import torch
from torch import nn
from torch.distributed.nn.functional import all_to_all_single
from torch.nn.parallel import DistributedDataParallel

import training


class Experts(nn.Module):
    """An expert of this rank, to which every rank sends an equal part of its tokens."""

    def __init__(self, width):
        super().__init__()
        self.expert = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        sent = all_to_all_single(torch.empty_like(x), x)
        done = self.expert(sent)
        return x + all_to_all_single(torch.empty_like(x), done)


def build(device, _):
    dense = nn.Sequential(nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 256)).to(device)
    dense = DistributedDataParallel(dense, device_ids=[device.index])
    experts = nn.ModuleList(Experts(256) for _ in range(2)).to(device)
    optimizer = torch.optim.AdamW([*dense.parameters(), *experts.parameters()], lr=1e-3)

    def step(_):
        x = torch.randn(256, 256).to(device)
        optimizer.zero_grad(set_to_none=True)
        x = dense(x)
        for layer in experts:
            x = layer(x)
        loss = x.square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return step


if __name__ == "__main__":
    training.main(build)
