"""Trains with fully sharded parameters (FSDP2), in mixed precision, with clipping; saves and loads a distributed
checkpoint and evaluates where the command line asks for it."""

import argparse
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

import training


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", action="store_true", help="parameters stay whole between forward and backward")
    parser.add_argument("--save-every", type=int, default=0, metavar="STEPS")
    parser.add_argument("--evaluate-every", type=int, default=0, metavar="STEPS")
    return parser


def checkpoint(model, optimizer):
    """Saves the state of model and optimizer, and loads it."""
    names = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(names, src=0)
    states = dict(zip(("model", "optimizer"), get_state_dict(model, optimizer)))
    dcp.save(states, checkpoint_id=Path(names[0]) / "state")
    dcp.load(states, checkpoint_id=Path(names[0]) / "state")
    set_state_dict(model, optimizer, model_state_dict=states["model"], optim_state_dict=states["optimizer"])


def evaluate(model, device):
    """Returns the mean loss over all ranks of a few batches."""
    model.eval()
    with torch.no_grad():
        total = torch.zeros((), device=device)
        for _ in range(4):
            tokens = training.tokens_on(device)
            total += training.loss_of(model(tokens[:, :-1]), tokens)
    dist.all_reduce(total, op=dist.ReduceOp.AVG)
    model.train()
    return total


def build(device, arguments):
    model = training.Transformer(width=128, layers=3).to(device)
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for block in model.blocks:
        fully_shard(block, mp_policy=policy, reshard_after_forward=not arguments.keep)
    fully_shard(model, mp_policy=policy, reshard_after_forward=not arguments.keep)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step(index):
        tokens = training.tokens_on(device)
        optimizer.zero_grad(set_to_none=True)
        loss = training.loss_of(model(tokens[:, :-1]), tokens)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if arguments.save_every and (index + 1) % arguments.save_every == 0:
            checkpoint(model, optimizer)
        if arguments.evaluate_every and (index + 1) % arguments.evaluate_every == 0:
            evaluate(model, device)
        return loss

    return step


if __name__ == "__main__":
    training.main(build, parse(), training.BOTH)
