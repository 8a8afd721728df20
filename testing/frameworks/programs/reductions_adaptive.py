"""Trains with adaptive_hook(). adaptive_numbers() and adaptive_checkpoint() return facts of one subject each."""

import math

import torch
import torch.distributed as dist
from ddp_reductions import AdaptiveState, adaptive_hook
from ddp_reductions.bits import Rule
from ddp_reductions.codec import RAW, encoded_bytes
from reductions_common import STEPS, TINY, distance, equal, error_of, flat, loss_of, on_all, same
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Exact:
    """Is a hook that keeps a bucket's exact mean beside what another hook makes of it."""

    def __init__(self, state, hook):
        self.state, self.hook, self.error, self.size = state, hook, 0.0, 0.0

    def __call__(self, _, bucket):
        exact = bucket.buffer().double()
        dist.all_reduce(exact)
        exact /= dist.get_world_size()

        def compare(future):
            result = future.value()
            self.error += (result - exact).square().sum().item()
            self.size += exact.square().sum().item()
            return result

        return self.hook(self.state, bucket).then(compare)


class Layers(nn.Module):
    """Has eight layers beside each other, whose gradients are 2, 4, 8 times as large as those of the first. Another one
    is too small to be encoded."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.layers = nn.ModuleList(nn.Linear(24, 48, bias=False) for _ in range(8))
        self.last = nn.Linear(48, 4)
        for index, layer in enumerate(self.layers):
            layer.weight.register_hook(lambda gradient, factor=2**index: factor * gradient)

    def forward(self, x):
        return self.last(sum(layer(x).tanh() for layer in self.layers))


def adaptive_run(rule, steps=STEPS, every=4, first=0, saved=None, plain=False, **options):
    """Trains. Returns (module, state, squared error as a part of all, last loss)."""
    module = Layers()
    model = DistributedDataParallel(module, **options)
    state = AdaptiveState(model, rule=rule, every=every)
    if saved:
        module.load_state_dict(saved["model"])
        state.load_state_dict(saved["state"])
    exact = Exact(state, (lambda _, bucket: mean_hook(bucket)) if plain else adaptive_hook)
    model.register_comm_hook(None, exact.__call__)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for step in range(first, steps):
        optimizer.zero_grad()
        loss = loss_of(model, step)
        loss.backward()
        optimizer.step()
    return module, state, exact.error / exact.size, loss.item()


def mean_hook(bucket):
    dist.all_reduce(bucket.buffer())
    future = torch.futures.Future()
    future.set_result(bucket.buffer() / dist.get_world_size())
    return future


def adaptive_numbers():
    ranks, rules = dist.get_world_size(), {
        "adaptive": Rule(), "uniform": Rule(least_bits=4, most_bits=4), "fine": Rule(uniform_bits=8, most_bits=12),
        "eight": Rule(uniform_bits=8, least_bits=8, most_bits=8)}
    runs = {name: adaptive_run(rule) for name, rule in rules.items()}
    runs["tiny buckets"] = adaptive_run(rules["uniform"], bucket_cap_mb=TINY)
    module, state, _, _ = runs["adaptive"]
    measured = ranks * 8 * (ranks - 1) * len(state.bits) * 3  # in steps 0, 4 and 8
    formula = measured + STEPS * 2 * (ranks - 1) * sum(
        encoded_bytes(parameter.numel(), 4 if name in state.bits else RAW, 128)
        for name, parameter in module.named_parameters())
    received = torch.tensor([run[1].received_bytes for run in runs.values()])
    dist.all_reduce(received)
    return {"equal": on_all(all(equal(flat(run[0])) for run in runs.values())), "bits": [*state.bits.values()],
            "tiny buckets": on_all(same(flat(runs["tiny buckets"][0]), flat(runs["uniform"][0]))),
            "bits equal": on_all(equal(torch.tensor([*state.bits.values()], dtype=torch.int32))),
            "fine bits": [*runs["fine"][1].bits.values()], "errors": {name: run[2] for name, run in runs.items()},
            "losses": {name: run[3] for name, run in runs.items()}, "exact loss": adaptive_run(Rule(), plain=True)[3],
            "bytes": dict(zip(runs, received.tolist())), "uniform bytes by the formula": formula, **adaptive_small()}


def adaptive_small():
    """Compresses a gradient that each step has again: its mean over steps has no bias. Then one that is not finite."""
    module = nn.Linear(64, 32, bias=False)
    module.register_parameter("bias", nn.Parameter(torch.zeros(32)))
    model = DistributedDataParallel(module)
    state = AdaptiveState(model, rule=Rule(least_bits=4, most_bits=4), every=1000)
    model.register_comm_hook(state, adaptive_hook)
    inputs = torch.randn(8, 64, generator=torch.Generator().manual_seed(dist.get_rank()))
    total, steps = torch.zeros(32, 64, dtype=torch.float64), 300
    for _ in range(steps):
        model.zero_grad()
        model(inputs).square().sum().backward()
        total += module.weight.grad
    one = module.weight.grad.double()
    exact = nn.Linear(64, 32, bias=False)
    exact.weight.data.copy_(module.weight.data)
    exact(inputs).square().sum().backward()
    mean = exact.weight.grad.double()
    dist.all_reduce(mean)
    mean /= dist.get_world_size()
    bias, noise = ((value - mean).norm() / mean.norm() for value in (total / steps, one))
    if dist.get_rank() == 1:
        inputs[0, 3] = math.nan
    model.zero_grad()
    model(inputs).square().sum().backward()
    spoilt = module.weight.grad.isnan()
    return {"noise of the mean of 300 steps": (bias / noise).item(), "NaN on all": on_all(spoilt.any()),
            "bias is exact": on_all(module.bias.grad.isnan().all())}


def adaptive_checkpoint():
    whole, _, _, _ = adaptive_run(Rule(), every=5)
    half, state, _, _ = adaptive_run(Rule(), steps=6, every=5, bucket_cap_mb=TINY)
    saved = {"model": half.state_dict(), "state": state.state_dict()}
    again, _, _, _ = adaptive_run(Rule(), every=5, first=6, saved=saved)
    other = saved | {"state": saved["state"] | {"step": 50}}
    other, _, _, _ = adaptive_run(Rule(), every=5, first=6, saved=other)
    fresh = AdaptiveState(DistributedDataParallel(Layers()))
    return {"with the state": distance(flat(again), flat(whole)), "with another": distance(flat(other), flat(whole)),
            "refused": [*(error_of(lambda: fresh.load_state_dict({"step": 1, "bits": bits}))
                          for bits in ({}, dict.fromkeys(state.bits, 9))),
                        error_of(lambda: AdaptiveState(DistributedDataParallel(Layers()), every=0))]}
