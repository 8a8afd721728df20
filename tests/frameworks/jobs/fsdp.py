"""Trains with fully sharded parameters (FSDP2), in mixed precision, with clipping of gradients."""

import torch
from torch import nn
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

import training


def build(device, _):
    model = training.Transformer(layers=3).to(device)
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for block in model.blocks:
        fully_shard(block, mp_policy=policy)
    fully_shard(model, mp_policy=policy)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step(_):
        tokens = training.tokens_on(device)
        optimizer.zero_grad(set_to_none=True)
        loss = training.loss_of(model(tokens[:, :-1]), tokens)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    return step


if __name__ == "__main__":
    training.main(build)
