"""Has what reductions_ranks.py measures all subjects with: a small network, and comparisons over all ranks."""

import torch
import torch.distributed as dist
from torch import nn

STEPS = 12
TINY = 1e-5  # MiB of a bucket: each parameter has one of its own


def network():
    """Returns a network whose layers have gradients of different sizes."""
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(24, 64), nn.Tanh(), nn.Linear(64, 48), nn.Tanh(), nn.Linear(48, 4))


def batch_of(step, rank):
    draws = torch.Generator().manual_seed(1000 * step + rank)
    inputs = torch.randn(16, 24, generator=draws)
    return inputs, inputs[:, :4].sin() * (1 + rank)


def loss_of(model, step, rank=None):
    inputs, targets = batch_of(step, dist.get_rank() if rank is None else rank)
    return (model(inputs) - targets).square().mean()


def flat(model):
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def same(one, other):
    """Returns whether all bits are equal."""
    return torch.equal(one.view(torch.int32), other.view(torch.int32))


def gathered(tensor, group=None):
    """Returns the tensors of all ranks."""
    result = [torch.empty_like(tensor) for _ in range(dist.get_world_size(group))]
    dist.all_gather(result, tensor, group=group)
    return result


def equal(tensor, group=None):
    """Returns whether all ranks have the same bits."""
    return all(same(tensor, other) for other in gathered(tensor.contiguous(), group))


def on_all(value):
    """Returns whether the value is true on all ranks."""
    return bool(dist_min(torch.tensor(float(bool(value)))))


def dist_min(tensor):
    dist.all_reduce(tensor, dist.ReduceOp.MIN)
    return tensor


def error_of(work):
    """Returns what a call refuses, in words."""
    try:
        work()
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return "nothing was refused"


def distance(one, other):
    return (one - other).abs().max().item()
