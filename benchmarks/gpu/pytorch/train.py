"""Trains with DistributedDataParallel as its tutorial does: a network, made-up data, SGD. Its standard input tells it
when to step, as with gpu_job: "go", then "stop".
"""

import argparse
import json
import os
import select
import sys
import time

import models
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def word(waits):
    """Returns one line of the standard input, or "end" at its end. Returns "" where no line has come and `waits` is
    false."""
    if not waits and not select.select([sys.stdin], [], [], 0)[0]:
        return ""
    line = sys.stdin.readline()
    return line.strip() if line else "end"


class Ends:
    """Notes when each step was over, on a host that is one step ahead."""

    def __init__(self, device):
        self.cuda, self.before, self.ns = device.type == "cuda", None, []

    def enqueued(self):
        event = torch.cuda.Event() if self.cuda else None
        if event:
            event.record()
        self._await_last()
        self.before = (event,)

    def take(self):
        self._await_last()
        if self.cuda:
            torch.cuda.synchronize()
        taken, self.ns = self.ns, []
        return taken

    def _await_last(self):
        if self.before:
            if self.before[0]:
                self.before[0].synchronize()
            self.ns.append(time.monotonic_ns())
        self.before = None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=("resnet50", "vgg16", "gpt2", "small"))
    parser.add_argument("batch", type=int)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--backend", default="nccl")
    options = parser.parse_args()
    device = torch.device(options.device, 0) if options.device == "cuda" else torch.device("cpu")
    dist.init_process_group(options.backend)
    torch.manual_seed(dist.get_rank())
    if device.type == "cuda":
        torch.cuda.set_device(device)
    model = DistributedDataParallel(models.make(options.model).to(device),
                                    device_ids=[0] if device.type == "cuda" else None)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
    inputs, targets = models.batch_for(options.model, options.batch, device)
    ends = Ends(device)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device.type, torch.bfloat16):
            loss = nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        ends.enqueued()

    for _ in range(3):  # PyTorch rebuilds its buckets and loads kernels
        step()
    ends.take()
    print(json.dumps({"ready": True}), flush=True)
    said = word(True)
    while said == "go":
        began, said = time.monotonic_ns(), ""
        while not said:
            step()
            said = word(False)
        print(json.dumps({"began_ns": began, "ends_ns": ends.take()}), flush=True)
        if said == "stop":
            said = word(True)
    dist.destroy_process_group()
    os._exit(0 if said == "end" else 2)


if __name__ == "__main__":
    main()
