"""Trains a small transformer with DistributedDataParallel, started by torchrun.

Every rank prints one JSON object for each step: its number, when it began and ended on the monotonic clock, and its
loss. Every tenth has the mean token of that step's batches too, over all ranks. At the end each rank prints how long a
step takes on its own, without the exchange of gradients.
"""

import argparse
import json
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

VOCABULARY = 1000
TOKENS = 64  # in a sequence


class Transformer(nn.Module):
    """Predicts the next token."""

    def __init__(self, width, layers):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width)
        layer = nn.TransformerEncoderLayer(width, nhead=4, dim_feedforward=4 * width, dropout=0.0, batch_first=True,
                                           norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1], device=tokens.device)
        return self.head(self.encoder(self.embedding(tokens), mask=mask, is_causal=True))


def say(line):
    """Prints an object as one line, by one write: the ranks of a node share their output."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def train_step(model, optimizer, tokens):
    """Trains with one batch. Returns its loss, once the GPU has it."""
    optimizer.zero_grad(set_to_none=True)
    logits = model(tokens[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, VOCABULARY), tokens[:, 1:].reshape(-1))
    loss.backward()
    optimizer.step()
    return loss.item()


def mean_over_ranks(value, device):
    """Returns the mean of a number over all ranks."""
    total = torch.tensor([value], dtype=torch.float64).to(device)
    dist.all_reduce(total)
    return total.item() / dist.get_world_size()


def train(model, optimizer, device, arguments):
    """Trains for the given number of steps, and prints a line for each."""
    batches = torch.Generator().manual_seed(1000 * arguments.seed + dist.get_rank())
    for step in range(arguments.steps):
        began = time.monotonic_ns()
        tokens = torch.randint(VOCABULARY, (arguments.batch, TOKENS + 1), generator=batches)
        line = {"rank": dist.get_rank(), "step": step, "loss": train_step(model, optimizer, tokens.to(device))}
        if step % 10 == 9:
            line["mean_token"] = mean_over_ranks(tokens.double().mean().item(), device)
        say(line | {"began_ns": began, "ended_ns": time.monotonic_ns()})


def local_step_ns(model, optimizer, device, arguments):
    """Returns the mean time of a step in which no gradients are exchanged. The first such step is not counted."""
    tokens = torch.randint(VOCABULARY, (arguments.batch, TOKENS + 1)).to(device)
    with model.no_sync():
        for step in range(arguments.local_steps + 1):
            if step == 1:
                began = time.monotonic_ns()
            train_step(model, optimizer, tokens)
    return (time.monotonic_ns() - began) / arguments.local_steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--local-steps", type=int, default=10, help="steps without exchange, at the end (%(default)s)")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    torch.manual_seed(arguments.seed)
    model = Transformer(arguments.width, arguments.layers).to(device)
    model = DistributedDataParallel(model, device_ids=[device.index])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    train(model, optimizer, device, arguments)
    alone = local_step_ns(model, optimizer, device, arguments) if arguments.local_steps else None
    say({"rank": dist.get_rank(), "steps": arguments.steps, "local_step_ns": alone})
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
