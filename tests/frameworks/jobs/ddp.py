"""Trains a transformer with DistributedDataParallel."""

import torch
from torch.nn.parallel import DistributedDataParallel

import training


def build(device, _):
    model = DistributedDataParallel(training.Transformer().to(device), device_ids=[device.index], bucket_cap_mb=1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step(_):
        tokens = training.tokens_on(device)
        optimizer.zero_grad(set_to_none=True)
        loss = training.loss_of(model(tokens[:, :-1]), tokens)
        loss.backward()
        optimizer.step()
        return loss

    return step


if __name__ == "__main__":
    training.main(build)
