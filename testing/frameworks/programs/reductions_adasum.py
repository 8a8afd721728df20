"""Combines vectors, and trains, with Adasum."""

import math

import torch
import torch.distributed as dist
from ddp_reductions import AdasumOptimizer
from ddp_reductions.adasum import adasum
from reductions_common import distance, equal, error_of, flat, gathered, loss_of, on_all, same
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel


def tree(vectors, borders):
    """Combines all vectors in double: pairs, then pairs of pairs, each tensor for itself."""
    if len(vectors) == 1:
        return vectors[0]
    half = len(vectors) // 2
    a, b = tree(vectors[:half], borders), tree(vectors[half:], borders)
    result = torch.empty_like(a)
    for begin, end in zip(borders, borders[1:]):
        x, y = a[begin:end], b[begin:end]
        xy = torch.dot(x, y)
        result[begin:end] = (1 - xy / (2 * torch.dot(x, x))) * x + (1 - xy / (2 * torch.dot(y, y))) * y
    return result


def adasum_numbers():
    rank, ranks, borders = dist.get_rank(), dist.get_world_size(), [0, 7, 1000, 1003, 3001]
    draws = torch.Generator().manual_seed(7)
    common = torch.randn(3001, generator=draws)
    vectors = [common + torch.randn(3001, generator=draws) * (1 + r) for r in range(ranks)]

    def of(vector, cut=borders):
        result = vector.clone()
        return result, adasum(result, cut)

    combined, received = of(vectors[rank])
    expected = tree([vector.double() for vector in vectors], borders)

    def error(result):
        return ((result - expected).square().sum() / expected.square().sum()).item()

    own = torch.zeros(3001)
    own[rank::ranks] = vectors[rank][rank::ranks]
    disjoint = sum(gathered(own))
    spoilt = vectors[rank].clone()
    if rank == 1:
        spoilt[1001] = math.nan
    spoilt, _ = of(spoilt)
    small, _ = of(torch.full((1,), 3.0), [0, 1])
    total = torch.tensor([received])
    dist.all_reduce(total)
    levels = int(math.log2(ranks))
    return {"equal": on_all(equal(combined)), "error": error(combined),
            "one product for all": error(of(vectors[rank], [0, 3001])[0]),
            "equal vectors": on_all(same(of(common)[0], common)), "orthogonal": on_all(same(of(own)[0], disjoint)),
            "scaled": on_all(all(same(of(vectors[rank] * 2.0**power)[0], combined * 2.0**power)
                                 for power in (-70, -20, 20, 60))),  # squares are beyond a float32
            "NaN": [int(spoilt[begin:end].isnan().sum()) for begin, end in zip(borders, borders[1:])],
            "NaN equal": on_all(equal(spoilt.isnan().int())), "one element": small.item(),
            "bytes": total.item(), "bytes by the formula": 4 * 2 * (ranks - 1) * 3001
            + ranks * 24 * (len(borders) - 1) * levels * (levels + 1) // 2}


def adasum_run(steps, scaler=None, spoilt=(), optimizer=torch.optim.SGD, rate=0.05):
    torch.manual_seed(dist.get_rank())  # the parameters of rank 0 count
    model = nn.Sequential(nn.Linear(24, 32), nn.Tanh(), nn.Linear(32, 4))
    adasum_optimizer = AdasumOptimizer(optimizer(model.parameters(), lr=rate), model)
    losses = []
    for step in range(steps):
        adasum_optimizer.zero_grad()
        loss = loss_of(model, step)
        losses.append(sum(gathered(loss.detach())).item())
        if step in spoilt and dist.get_rank() == 1:
            loss = loss * math.inf
        (scaler.scale(loss) if scaler else loss).backward()
        adasum_optimizer.step(scaler)
        if scaler:
            scaler.update()
    return model, adasum_optimizer, losses


def bowl(steps, rate, combine):
    """Returns how far |x| is from the bottom of a bowl of curvature 1 after so many steps, where all ranks see the same
    bowl. `combine` wraps the optimizer; without it the ranks add their steps."""
    model = nn.Linear(8, 1, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    wrapped = AdasumOptimizer(optimizer, model) if combine else None
    nn.init.ones_(model.weight)
    for _ in range(steps):
        optimizer.zero_grad()
        (model.weight.square().sum() / 2).backward()
        if wrapped:
            wrapped.step()
        else:
            dist.all_reduce(model.weight.grad)
            optimizer.step()
    return model.weight.detach().norm().item()


def adasum_training():
    model, wrapped, losses = adasum_run(30)
    adam, _, adam_losses = adasum_run(30, optimizer=torch.optim.AdamW, rate=0.01)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10, growth_interval=100)
    scaled, _, _ = adasum_run(6, scaler, spoilt=(3,))
    plain, _, _ = adasum_run(6)
    scales = [scale.item() for scale in gathered(torch.tensor(scaler.get_scale()))]
    saved = wrapped.state_dict()
    wrapped.load_state_dict(saved)
    three = dist.new_group([0, 1, 2]) if dist.get_world_size() > 2 else None
    module, sgd = nn.Linear(2, 2), torch.optim.SGD
    refused = [error_of(lambda: AdasumOptimizer(sgd(module.parameters(), lr=1.0), DistributedDataParallel(module))),
               error_of(lambda: AdasumOptimizer(ZeroRedundancyOptimizer(module.parameters(), sgd, lr=1.0), module)),
               error_of(lambda: AdasumOptimizer(sgd(nn.Linear(1, 1).parameters(), lr=1.0), module)),
               error_of(lambda: AdasumOptimizer(sgd(module.half().parameters(), lr=1.0), module)),
               error_of(lambda: scaler.step(wrapped)),
               error_of(lambda: wrapped.load_state_dict(saved | {"ranks": 64}))]
    if three and dist.get_rank() < 3:
        refused.append(error_of(lambda: adasum(torch.zeros(4), [0, 4], three)))
    return {"equal": on_all(equal(flat(model)) and equal(flat(adam)) and equal(flat(scaled))),
            "losses": [losses[0], losses[-1], adam_losses[0], adam_losses[-1]],
            "finite": on_all(flat(scaled).isfinite().all()), "scales": scales,
            "the others' step counts": distance(flat(scaled), flat(plain)) > 0,
            "bowl": bowl(50, 0.6, True), "bowl, sum": bowl(50, 0.6, False), "refused": refused}
