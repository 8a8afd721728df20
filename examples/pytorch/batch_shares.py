"""Divides the batches of a PyTorch job among its ranks by weights, so that ranks on slow GPUs have less to do.

    shares = BatchShares("/etc/crossover/batch-shares", batch=256)  # samples of all ranks in one step
    sampler = ShareSampler(len(dataset), shares)
    loader = DataLoader(dataset, batch_sampler=sampler)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for inputs, targets in loader:
            loss = criterion(model(inputs), targets) * shares.loss_weight(len(targets))
            loss.backward()

`criterion` returns the mean over its samples, and DistributedDataParallel the mean of the ranks' gradients. With the
weight of the loss, that is the gradient of the mean over the whole batch, as if one process had computed it.

The file has one line of whole numbers, a weight for each rank: "1000 1000 500 250". It may change at any time. The
ranks change to new weights at the same step, once all of them have read the same ones. Statistics that a model takes
of its own samples alone, as batch normalisation does, are of other numbers of samples than with equal shares.
"""

import warnings
import zlib
from pathlib import Path

import torch
import torch.distributed as dist
from torch.utils.data import Sampler

MOST_WEIGHT = 1_000_000


def parse_weights(name, text, ranks):
    """Returns the weights of so many ranks. Raises ValueError, which names the file, the rank and what is expected."""
    weights = []
    for word in text.split():
        weight = int(word) if word.isascii() and word.isdecimal() else 0
        if not 1 <= weight <= MOST_WEIGHT:
            raise ValueError(f"{name}: weight of rank {len(weights)}: expected a whole number from 1 to {MOST_WEIGHT}, "
                             f"got {word[:60]}")
        weights.append(weight)
    if len(weights) != ranks:
        raise ValueError(f"{name}: weights: expected one for each of {ranks} ranks, got {len(weights)}")
    return weights


def divide(batch, weights):
    """Returns how many of `batch` samples each rank takes: as its weight says, rounded so that they add up to `batch`.
    The largest remainders are rounded up, and of equal ones those of the lower ranks. Each rank gets one sample at
    least, from the rank with the most. `batch` must be no less than the number of ranks."""
    total = sum(weights)
    shares = [batch * weight // total for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda rank: -(batch * weights[rank] % total))
    for rank in by_remainder[:batch - sum(shares)]:
        shares[rank] += 1
    for rank, share in enumerate(shares):
        if share == 0:
            shares[shares.index(max(shares))] -= 1
            shares[rank] = 1
    return shares


class BatchShares:
    """Tells which samples of each batch this rank takes. Every rank makes one at the same time, because it makes a
    group of processes that speak gloo. The ranks ask each other once in `every` steps whether all have read the same
    weights."""

    def __init__(self, file, batch, every=10):
        self._file, self._every = Path(file), every
        self._rank, self._ranks = dist.get_rank(), dist.get_world_size()
        if batch < self._ranks:
            raise ValueError(f"batch: expected at least one sample for each of {self._ranks} ranks, got {batch}")
        if every < 1:
            raise ValueError(f"every: expected 1 or more, got {every}")
        self._batch, self._group = batch, dist.new_group(backend="gloo")
        self._text, self._read = None, None  # what the file had last, and the weights that it had last
        self._steps = 0
        self._use([1] * self._ranks)

    @property
    def batch(self):
        """Returns the number of samples of all ranks in one step."""
        return self._batch

    def loss_weight(self, samples):
        """Returns what to multiply the mean loss over so many samples of this rank by."""
        return samples * self._ranks / self._batch

    def next(self):
        """Begins a step. Returns which samples of its batch this rank takes, as a slice. Every rank must call it for
        every step."""
        if self._steps % self._every == 0:
            self._read_file()
            self._agree()
        self._steps += 1
        return self._taken

    def _use(self, weights):
        shares = divide(self._batch, weights)
        first = sum(shares[:self._rank])
        self._taken = slice(first, first + shares[self._rank])

    def _read_file(self):
        try:
            text = self._file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return  # there is no file yet
        if text == self._text or not text.strip():
            return  # nothing is new, or no weights are known yet
        self._text = text
        try:
            self._read = parse_weights(self._file, text, self._ranks)
        except ValueError as error:
            warnings.warn(f"{error}; the shares stay as they are", stacklevel=4)

    def _agree(self):
        digest = zlib.crc32(" ".join(map(str, self._read)).encode()) + 1 if self._read else 0
        votes = torch.tensor([digest, -digest])
        dist.all_reduce(votes, dist.ReduceOp.MIN, group=self._group)
        if votes[0] == -votes[1] and digest:
            self._use(self._read)


class ShareSampler(Sampler):
    """Gives a DataLoader the indices of this rank's samples, a list for each step. All ranks have equally many steps.
    The samples behind the last whole batch of an epoch are left out. `seed` must be the same on all ranks."""

    def __init__(self, samples, shares, seed=0):
        super().__init__()
        self._samples, self._shares, self._seed, self._epoch = samples, shares, seed, 0

    def set_epoch(self, epoch):
        """Chooses the order of the samples, as DistributedSampler does."""
        self._epoch = epoch

    def __len__(self):
        return self._samples // self._shares.batch

    def __iter__(self):
        order = torch.randperm(self._samples, generator=torch.Generator().manual_seed(self._seed + self._epoch))
        for batch in order.split(self._shares.batch)[:len(self)]:
            yield batch[self._shares.next()].tolist()
