"""Trains a transformer of some seven billion parameters with fully sharded parameters (FSDP2), which it makes on the
meta device, as large models are."""

import argparse

import torch
import torch.distributed as dist
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

import training


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=4096)
    parser.add_argument("--layers", type=int, default=35)
    return parser


def build(device, arguments):
    with torch.device("meta"):
        model = training.Transformer(arguments.width, arguments.layers)
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for block in model.blocks:
        fully_shard(block, mp_policy=policy)
    fully_shard(model, mp_policy=policy)
    model.to_empty(device=device)
    for module in model.modules():
        if hasattr(module, "reset_parameters"):
            module.reset_parameters()
    if dist.get_rank() == 0:
        training.say(f"parameters {sum(p.numel() for p in model.parameters())}")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    return lambda _: training.train_on_tokens(model, optimizer, device)


if __name__ == "__main__":
    training.main(build, parse())
