"""Trains small models on the CPU with ddp_reductions, over gloo, under torchrun. Rank 0 prints a line of JSON for each
subject: {"subject": {"fact": value}}. A fact "equal" is true where all ranks have the same bits."""

import contextlib
import gc
import io
import json
import math
import sys

import torch
import torch.distributed as dist
from ddp_reductions import AdaptiveState, AdasumOptimizer, TopKState, adaptive_hook, topk_hook
from ddp_reductions.adasum import adasum
from ddp_reductions.bits import Rule
from ddp_reductions.codec import RAW, encoded_bytes
from ddp_reductions.state import check_parameters
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

DENSITY, STEPS = 0.1, 12
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


class Run:
    """Is a training with topk_hook(). `rates` gives the learning rate of each step."""

    def __init__(self, rates=lambda step: 0.25, scaler=None, follow=True, state=TopKState, known=True, **options):
        module, factor = network(), [1.0]  # a reference to this run would keep the model alive
        module[2].weight.register_hook(lambda gradient: gradient * factor[0])
        self.model = DistributedDataParallel(module, **options)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=rates(0))
        self.scaler, self.rates = scaler, rates
        self.state = state(self.model, density=DENSITY, scaler=scaler if known else None,
                           optimizer=self.optimizer if follow else None)
        self.model.register_comm_hook(self.state, topk_hook)
        self.factor, self.skipped, self.losses = factor, [], []

    def step(self, index, micro=1):
        for group in self.optimizer.param_groups:
            group["lr"] = self.rates(index)
        self.optimizer.zero_grad()
        for part in range(micro):
            with contextlib.nullcontext() if part == micro - 1 else self.model.no_sync():
                loss = loss_of(self.model, index + 100 * part)
                (self.scaler.scale(loss) if self.scaler else loss).backward()
        self.losses.append(loss.item())
        finite = all(parameter.grad.isfinite().all() for parameter in self.model.parameters())
        if not finite:
            self.skipped.append(index)
        if self.scaler:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        elif finite:
            self.optimizer.step()

    def steps(self, indices, spoilt=(), **options):
        for index in indices:
            last = dist.get_rank() == dist.get_world_size() - 1
            self.factor[0] = math.inf if index in spoilt and last else 1.0
            self.step(index, **options)
        return self

    @property
    def weights(self):
        return flat(self.model)


class Forgetful(TopKState):
    """Is known to be bad: what was not taken is lost."""

    def begin(self):
        super().begin()
        for residual in (*self._before.values(), *self._after.values()):
            residual.zero_()


def reference(rates, steps, micro=1):
    """Trains as the paper states it: e is what the weights still lack, p = rate * g + e, the weights change by the
    largest of p, and the rest is e. Rates are powers of two, so that no bit depends on the unit of e."""
    model = network()
    lacking = [torch.zeros_like(parameter) for parameter in model.parameters()]
    for step in range(steps):
        if rates(step) == 0:
            continue  # an optimizer could not apply anything
        model.zero_grad()
        for part in range(micro):
            loss_of(model, step + 100 * part).backward()
        for parameter, e in zip(model.parameters(), lacking):
            p = (rates(step) * parameter.grad + e).flatten()
            k = max(1, math.ceil(DENSITY * p.numel()))
            order = p.abs().sort(descending=True).indices[:k]
            change = torch.zeros_like(p).index_copy(0, order, p[order])
            e.copy_((p - change).view_as(e))
            mean = sum(gathered(change)) / dist.get_world_size()
            parameter.data -= mean.view_as(parameter)
    return flat(model)


def distance(one, other):
    return (one - other).abs().max().item()


def topk_numbers():
    constant, falling = (lambda step: 0.25), (lambda step: 0.5 if step < 4 else 0.125)
    warming = [0.0, 0.0, 0.125, 0.25, 0.0, 0.5].__getitem__
    run = Run(constant).steps(range(STEPS))
    sent = 8 * sum(max(1, math.ceil(DENSITY * parameter.numel())) for parameter in run.model.parameters())
    facts = {"equal": on_all(equal(run.weights)), "as stated": distance(run.weights, reference(constant, STEPS)),
             "bytes": run.state.received_bytes, "bytes by the formula": STEPS * (dist.get_world_size() - 1) * sent}
    for name, options in {"tiny buckets": {"bucket_cap_mb": TINY}, "views": {"gradient_as_bucket_view": True},
                          "static graph": {"static_graph": True}}.items():
        facts[name] = on_all(same(Run(constant, **options).steps(range(STEPS)).weights, run.weights))
    facts["rate falls"] = distance(Run(falling).steps(range(STEPS)).weights, reference(falling, STEPS))
    facts["rate falls, residual does not"] = distance(Run(falling, follow=False).steps(range(STEPS)).weights,
                                                      reference(falling, STEPS))
    facts["rate of 0"] = distance(Run(warming).steps(range(6)).weights, reference(warming, 6))
    facts["two batches"] = distance(Run(constant).steps(range(6), micro=2).weights, reference(constant, 6, micro=2))
    return facts


def by_bucket(ranks, kept, bucket):
    """Is known to be bad: the residual belongs to a bucket."""
    x = bucket.buffer() + kept.get(bucket.index(), torch.zeros_like(bucket.buffer()))
    places = x.abs().topk(max(1, math.ceil(DENSITY * x.numel()))).indices
    kept[bucket.index()] = x.index_fill(0, places, 0.0)
    total = x - kept[bucket.index()]
    dist.all_reduce(total)
    future = torch.futures.Future()
    future.set_result(total / ranks)
    return future


def topk_buckets():
    """Says what becomes of a residual that belongs to a bucket: DistributedDataParallel forms the buckets anew."""
    sizes = []

    def hook(kept, bucket):
        sizes.append(bucket.buffer().numel())
        return by_bucket(dist.get_world_size(), kept, bucket)

    model = DistributedDataParallel(network(), bucket_cap_mb=0.008)
    model.register_comm_hook({}, hook)
    said = "nothing"
    try:
        for step in range(2):
            loss_of(model, step).backward()
    except RuntimeError as error:
        said = str(error).splitlines()[0]
    run = Run(bucket_cap_mb=0.008).steps(range(3))
    return {"a residual of a bucket": said, "by parameter": on_all(same(run.weights, Run().steps(range(3)).weights)),
            "sizes": sizes}


def topk_scale():
    """Compares a run with a scale that rises, and falls where a gradient of the last rank is infinite, with one that
    has no scale."""
    def scaler():
        return torch.amp.GradScaler("cpu", init_scale=2.0**10, growth_interval=2)

    plain = Run().steps(range(STEPS), spoilt=(5,))
    scaled = Run(scaler=scaler()).steps(range(STEPS), spoilt=(5,))
    without = Run().steps([index for index in range(STEPS) if index != 5])
    first = Run().steps((5,), spoilt=(5,))
    wrong = Run(scaler=scaler(), known=False).steps(range(STEPS), spoilt=(5,))
    before = Run().steps(range(5))
    kept = before.state.residuals()
    before.steps((5,), spoilt=(5,))
    return {"equal": on_all(equal(scaled.weights)), "scale": scaled.scaler.get_scale(), "skipped": scaled.skipped,
            "skipped without a scale": plain.skipped,
            "as without a scale": on_all(same(scaled.weights, plain.weights)),
            "as without the step": on_all(same(scaled.weights, without.weights)),
            "residuals stay": on_all(all(same(kept[name], now) for name, now in before.state.residuals().items())),
            "the first step is skipped": on_all(same(first.weights, flat(network()))),
            "with residuals in the scale of the loss": distance(wrong.weights, plain.weights)}


def topk_checkpoint():
    whole = Run().steps(range(STEPS))
    facts = {}
    for name, spoilt in (("", ()), (", behind a step that was skipped", (5,))):
        whole = Run().steps(range(STEPS), spoilt=spoilt)
        half, file = Run(bucket_cap_mb=TINY).steps(range(6), spoilt=spoilt), io.BytesIO()
        torch.save({"model": half.model.module.state_dict(), "state": half.state.state_dict()}, file)
        file.seek(0)
        saved = torch.load(file)
        for what in ("with", "without"):
            run = Run()
            run.model.module.load_state_dict(saved["model"])
            if what == "with":
                run.state.load_state_dict(saved["state"])
            facts[f"{what} the residual{name}"] = distance(run.steps(range(6, STEPS)).weights, whole.weights)
    state, other = saved["state"], Run().state
    facts["refused"] = [error_of(lambda: other.load_state_dict(state | changed)) for changed in (
        {"ranks": 64}, {"rank": 64}, {"unit": "gradients"}, {"residuals": {}},
        {"residuals": state["residuals"] | {"0.bias": torch.zeros(3)}})]
    facts["channels last"] = channels_last()
    return facts


def channels_last():
    """Compares the residuals of parameters that lie in memory in two orders, and loads those of the one into the
    other."""
    def run(order):
        torch.manual_seed(1)
        model = DistributedDataParallel(nn.Conv2d(3, 8, 3, bias=False).to(memory_format=order))
        state = TopKState(model, density=DENSITY, scaler=None, optimizer=None)
        model.register_comm_hook(state, topk_hook)
        images = torch.randn(2, 3, 6, 6, generator=torch.Generator().manual_seed(dist.get_rank()))
        model(images.to(memory_format=order)).square().mean().backward()
        return model.module.weight, state

    (weight, state), (_, other) = run(torch.channels_last), run(torch.contiguous_format)
    kept, expected = state.residuals()["weight"], other.residuals()["weight"]
    other.load_state_dict(state.state_dict())
    return {"another order": not weight.is_contiguous(), "difference": distance(kept, expected),
            "largest": expected.abs().max().item(),
            "loaded": on_all(same(other.residuals()["weight"].contiguous(), kept.contiguous()))}


def topk_quality():
    """Finds the bottom of a bowl: the mean over ranks of |x - target|^2, where each rank has a target of its own."""
    def distance_after(steps, state=TopKState):
        module = nn.Linear(200, 1, bias=False)
        nn.init.zeros_(module.weight)
        model = DistributedDataParallel(module)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        model.register_comm_hook(state(model, density=0.05, scaler=None, optimizer=optimizer), topk_hook)
        curvature = torch.linspace(0.2, 1, 200)
        targets = [torch.randn(200, generator=torch.Generator().manual_seed(rank))
                   for rank in range(dist.get_world_size())]
        bottom = sum(targets) / len(targets)
        for _ in range(steps):
            optimizer.zero_grad()
            weight = model(torch.eye(200)).flatten()
            (curvature * (weight - targets[dist.get_rank()]).square()).sum().backward()
            optimizer.step()
        return (module.weight.detach().flatten() - bottom).norm().item() / bottom.norm().item()

    return {"with the residual": distance_after(1500), "without": distance_after(1500, Forgetful),
            "without, longer": distance_after(2500, Forgetful)}


class Sparse(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = nn.Embedding(10, 4, sparse=True)


def topk_refused():
    wrapped, other = DistributedDataParallel(network()), DistributedDataParallel(network())

    def state(model=wrapped, density=DENSITY, scaler=None, optimizer=None):
        return TopKState(model, density=density, scaler=scaler, optimizer=optimizer)

    def foreign():
        other.register_comm_hook(state(), topk_hook)
        loss_of(other, 0).backward()

    def joined():
        model = DistributedDataParallel(network())
        model.register_comm_hook(state(model), topk_hook)
        with model.join():
            loss_of(model, 0).backward()

    half = DistributedDataParallel(network().half())
    two = [("a", nn.Parameter(torch.zeros(2))), ("b", nn.Parameter(torch.zeros(2, device="meta")))]
    cases = (lambda: state(network()), lambda: state(DistributedDataParallel(network(), find_unused_parameters=True)),
             lambda: state(DistributedDataParallel(Sparse())), lambda: state(half), lambda: check_parameters(two),
             lambda: state(density=0), lambda: state(density=1.5), lambda: state(density=math.nan),
             lambda: state(scaler=2.0**16), lambda: state(optimizer=torch.optim.Adam(wrapped.parameters())),
             lambda: state(optimizer=torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)), foreign, joined)
    return {"said": [error_of(case) for case in cases]}


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


SUBJECTS = (topk_numbers, topk_buckets, topk_scale, topk_checkpoint, topk_quality, topk_refused, adaptive_numbers,
            adaptive_checkpoint, adasum_numbers, adasum_training)


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    wanted = sys.argv[1:]
    for subject in SUBJECTS:
        if not wanted or subject.__name__ in wanted:
            facts = subject()
            if dist.get_rank() == 0:
                sys.stdout.write(json.dumps({subject.__name__: facts}) + "\n")
                sys.stdout.flush()
    gc.collect()  # models that are left would keep threads of gloo alive until the interpreter ends
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
