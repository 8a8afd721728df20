"""Learns real digits by DistributedDataParallel under deterministic settings. Prints digests of all losses and of the
parameters, and the accuracy on images that it has not seen."""

import argparse
import hashlib
import json
import os

import digits
import models
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def digest(tensors):
    joined = hashlib.sha256()
    for tensor in tensors:
        joined.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return joined.hexdigest()[:16]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--backend", default="nccl")
    options = parser.parse_args()
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    torch.manual_seed(options.seed)
    device = torch.device(options.device)
    dist.init_process_group(options.backend)
    (images, labels), (unseen, expected) = digits.load(device)
    model = DistributedDataParallel(models.small_cnn().to(device), device_ids=[0] if device.type == "cuda" else None)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    order = torch.Generator().manual_seed(options.seed)
    losses = []
    for _ in range(options.steps):
        chosen = torch.randint(0, len(images), (128,), generator=order).to(device)
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(model(images[chosen]), labels[chosen])
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    with torch.no_grad():
        right = (model.module(unseen).argmax(1) == expected).float().mean().item()
    print(json.dumps({"losses": digest(losses), "parameters": digest(model.parameters()), "steps": options.steps,
                      "accuracy": right, "first": losses[0].item(), "last": losses[-1].item()}), flush=True)
    dist.destroy_process_group()
    os._exit(0)


if __name__ == "__main__":
    main()
