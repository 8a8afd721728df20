"""Trains with topk_hook(). Each function whose name begins with topk_ returns facts of one subject."""

import contextlib
import io
import math

import torch
import torch.distributed as dist
from ddp_reductions import TopKState, topk_hook
from ddp_reductions.state import check_parameters
from reductions_common import STEPS, TINY, distance, equal, error_of, flat, gathered, loss_of, network, on_all, same
from torch import nn
from torch.nn.parallel import DistributedDataParallel

DENSITY = 0.1


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
