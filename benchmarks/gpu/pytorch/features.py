"""features.py NAME STEPS [DEVICE] runs steps with one feature of PyTorch, and prints a digest of the results. The job
has as many ranks as its environment says; with_peers.py runs it as rank 0 of two.
"""

import json
import os
import sys
import tempfile

import digits
import models
import torch
import torch.distributed as dist
from learn import digest
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Training:

    def __init__(self, device, channels_last=False, amp=False):
        (self.images, self.labels), _ = digits.load(device)
        self.device, self.amp = device, amp
        net = models.small_cnn().to(device)
        if channels_last:
            net, self.images = net.to(memory_format=torch.channels_last), self.images.to(
                memory_format=torch.channels_last)
        self.model = DistributedDataParallel(net, device_ids=[0] if device.type == "cuda" else None)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9)
        self.scaler = torch.amp.GradScaler(device.type, enabled=amp)
        self.losses = []

    def step(self, number, model=None):
        chosen = torch.arange(number * 64, number * 64 + 64, device=self.device) % len(self.images)
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast(self.device.type, torch.float16 if self.device.type == "cuda" else torch.bfloat16,
                            enabled=self.amp):
            loss = nn.functional.cross_entropy((model or self.model)(self.images[chosen]), self.labels[chosen])
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.losses.append(loss.detach())

    def said(self):
        return {"losses": digest(self.losses), "parameters": digest(self.model.parameters())}


def plain(device, steps, **how):
    training = Training(device, **how)
    for number in range(steps):
        training.step(number)
    return training.said()


def compiled(device, steps):
    training = Training(device)
    model = torch.compile(training.model)
    for number in range(steps):
        training.step(number, model)
    return training.said()


def profiled(device, steps):
    training = Training(device)
    kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=kinds[:1 + (device.type == "cuda")]) as profile:
        for number in range(steps):
            training.step(number)
    with tempfile.TemporaryDirectory() as directory:
        profile.export_chrome_trace(os.path.join(directory, "trace.json"))
    kernels = sum(1 for event in profile.events() if event.device_type == torch.autograd.DeviceType.CUDA)
    return training.said() | {"kernels_seen": kernels > 0}


def graphed(device, steps):
    """Replays a graph of compute alone, and returns a digest of its output."""
    weights, inputs = torch.randn(256, 256, device=device), torch.randn(64, 256, device=device)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            inputs @ weights
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        outputs = torch.tanh(inputs @ weights)
    for _ in range(steps):
        graph.replay()
        inputs.copy_(outputs @ weights)
        dist.all_reduce(inputs)
    torch.cuda.synchronize()
    return {"outputs": digest([outputs])}


FEATURES = {
    "eager": plain, "amp": lambda device, steps: plain(device, steps, amp=True),
    "channels_last": lambda device, steps: plain(device, steps, channels_last=True), "compile": compiled,
    "profiler": profiled, "graphs": graphed,
}


def main():
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    name, steps = sys.argv[1], int(sys.argv[2])
    device = torch.device(sys.argv[3] if len(sys.argv) > 3 else "cuda")
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(1)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    print(json.dumps(FEATURES[name](device, steps)), flush=True)
    dist.destroy_process_group()
    os._exit(0)


if __name__ == "__main__":
    main()
