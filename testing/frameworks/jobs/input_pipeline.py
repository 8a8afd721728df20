"""Trains from a DataLoader with workers, a DistributedSampler and pinned memory. Batches go to the GPU on a side
stream, one step ahead. Every ten steps an evaluation follows, and a checkpoint that each rank loads again."""

import itertools
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

import training


class Ahead:
    """Copies the next batch while the present one is used."""

    def __init__(self, loader, device):
        self.batches = iter(loader)
        self.device = device
        self.stream = torch.cuda.Stream()
        self.next = None
        self._fetch()

    def _fetch(self):
        with torch.cuda.stream(self.stream):
            self.next = [part.to(self.device, non_blocking=True) for part in next(self.batches)]

    def take(self):
        """Returns a batch that the current stream may use."""
        torch.cuda.current_stream().wait_stream(self.stream)
        batch = self.next
        for part in batch:
            part.record_stream(torch.cuda.current_stream())
        self._fetch()
        return batch


def build(device, _):
    data = TensorDataset(torch.randn(512, 3, 16, 16), torch.randint(training.CLASSES, (512,)))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=16, sampler=sampler, num_workers=1, pin_memory=True, persistent_workers=True)
    ahead = Ahead(itertools.chain.from_iterable(loader for _ in itertools.count()), device)
    model = DistributedDataParallel(training.convolutional().to(device), device_ids=[device.index])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)

    names = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(names, src=0)
    files = Path(names[0])

    def evaluate():
        model.eval()
        with torch.no_grad():
            images, classes = ahead.take()
            right = (model.module(images).argmax(1) == classes).sum()
        dist.all_reduce(right)
        model.train()

    def save_and_load(index):
        if dist.get_rank() == 0:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, files / f"{index}.pt")
        dist.barrier(device_ids=[device.index])
        state = torch.load(files / f"{index}.pt", map_location=device)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])

    def step(index):
        images, classes = ahead.take()
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(images), classes)
        loss.backward()
        optimizer.step()
        if index % 10 == 9:
            evaluate()
            save_and_load(index)
        return loss

    return step


if __name__ == "__main__":
    training.main(build, backend=training.BOTH)
