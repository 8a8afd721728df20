"""Trains with tensor parallelism: the columns of the first product and the rows of the second one are divided."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

import training


def build(device, _):
    mesh = init_device_mesh("cuda", (dist.get_world_size(),))
    model = nn.Sequential(*(nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256))
                            for _ in range(3))).to(device)
    for block in model:
        parallelize_module(block, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step(_):
        inputs = torch.randn(512, 256).to(device)
        optimizer.zero_grad(set_to_none=True)
        loss = model(inputs).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return step


if __name__ == "__main__":
    training.main(build)
