"""Trains a small model on the CPU with DistributedDataParallel and unequal shares, and compares every step with one
process that computes the whole batch. Changes the file of weights in the middle: rank 3 sees the new one later.

Rank 0 prints the shares of each step, and the largest error of parameters, with and without the loss's weights.
"""

import copy
import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples" / "pytorch"))

from batch_shares import BatchShares, ShareSampler  # noqa: E402

SAMPLES, BATCH, EPOCHS = 256, 32, 3
FIRST, SECOND = "1000 1000 500 250\n", "1 1 1 5\n"


def model():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 4)).double()


def whole_batches(inputs, targets, alone, optimizer):
    """Yields after each step of one process that computes whole batches."""
    for epoch in range(EPOCHS):
        order = torch.randperm(SAMPLES, generator=torch.Generator().manual_seed(epoch))
        for batch in order.split(BATCH):
            optimizer.zero_grad()
            nn.functional.cross_entropy(alone(inputs[batch]), targets[batch]).backward()
            optimizer.step()
            yield


def error_between(one, other):
    return max((a - b).abs().max().item() for a, b in zip(one.parameters(), other.parameters()))


def train(directory, weighted):
    rank = dist.get_rank()
    file = Path(directory) / f"shares-{weighted}-{rank}"
    file.write_text(FIRST, encoding="ascii")
    torch.manual_seed(0)
    inputs, targets = torch.randn(SAMPLES, 16).double(), torch.randint(4, (SAMPLES,))
    alone, ours = model(), DistributedDataParallel(model())
    ours.module.load_state_dict(copy.deepcopy(alone.state_dict()))
    shares = BatchShares(file, BATCH, every=2)
    sampler = ShareSampler(SAMPLES, shares)
    loader = DataLoader(TensorDataset(inputs, targets), batch_sampler=sampler)
    optimizer = torch.optim.SGD(ours.parameters(), lr=0.1, momentum=0.9)
    reference = whole_batches(inputs, targets, alone, torch.optim.SGD(alone.parameters(), lr=0.1, momentum=0.9))
    taken, error = [], 0.0
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        for x, y in loader:
            step = len(taken)
            if step == (9 if rank == 3 else 5):
                file.write_text(SECOND, encoding="ascii")
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(ours(x), y)
            (loss * shares.loss_weight(len(y)) if weighted else loss).backward()
            optimizer.step()
            next(reference)
            error = max(error, error_between(ours.module, alone))
            counts = [None] * dist.get_world_size()
            dist.all_gather_object(counts, len(y))
            taken.append(counts)
    return taken, error, len(loader)


def main():
    dist.init_process_group("gloo")
    taken, error, steps = train(sys.argv[1], weighted=True)
    _, unweighted, _ = train(sys.argv[1], weighted=False)
    if dist.get_rank() == 0:
        print("steps", steps)
        print("shares", taken)
        print("error", error)
        print("unweighted", unweighted)
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
