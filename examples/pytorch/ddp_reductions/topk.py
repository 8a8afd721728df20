"""Sends only the k largest gradients of each parameter, and keeps the rest for later steps: top-k with error feedback,
as in MSTopK (arXiv 2010.10458, MLSys 2021).

    state = TopKState(model, density=0.01, scaler=scaler, optimizer=optimizer)
    model.register_comm_hook(state, topk_hook)

For each parameter, x is the residual plus the gradient. The k = ceil(density * elements) largest of |x| travel, with
their places, and the rest becomes the residual. What a parameter's gradient becomes is the mean over all ranks.

The residual belongs to a parameter and not to a bucket, so that it does not matter how DistributedDataParallel forms
its buckets. It is in units of gradients of the loss: the scale of a GradScaler is divided out before and multiplied in
behind. With `optimizer`, a change of the learning rate multiplies it by old / new. Plain error feedback (Karimireddy et
al., arXiv 1901.09847) keeps e = rate * residual, which is what the weights still lack: p = rate * g + e, the weights
change by the largest of p, and e is the rest. Divided by the rate of the step, p is g + e / rate, and e / rate is the
old residual times old / new.

A gradient that is not finite reaches all ranks as NaN. A GradScaler then skips the step on all of them, and all
residuals, also those of parameters that were finite, stay what they were before that step.
"""

import math
import numbers

import torch
import torch.distributed as dist

from .state import HookState


def count_of(elements, density):
    """Returns how many of a parameter's elements travel: at least one."""
    return min(elements, max(1, math.ceil(density * elements)))


def take(x, k):
    """Returns the k values of largest magnitude of a vector, their places, and the rest of the vector, in which these
    are 0. NaN counts as the largest."""
    places = torch.topk(x.abs(), k, sorted=False).indices
    return x[places], places, x.index_fill(0, places, 0.0)


def _flat(tensor):
    """Returns a tensor as a vector in the order of its memory, as DistributedDataParallel has it in a bucket."""
    return tensor.as_strided((tensor.numel(),), (1,))


def _rates(optimizer, names):
    """Returns {parameter: learning rate}."""
    rates = {parameter: float(group["lr"]) for group in optimizer.param_groups for parameter in group["params"]}
    for parameter, name in names.items():
        if parameter not in rates:
            raise ValueError(f"optimizer: expected a learning rate of each parameter, got none of {name}")
    return rates


def _check(model, density, scaler, optimizer):
    if isinstance(density, bool) or not isinstance(density, numbers.Real) or not 0 < density <= 1:
        raise ValueError(f"density: expected a number above 0 and at most 1, got {density!r}")
    if model.find_unused_parameters:
        raise ValueError("find_unused_parameters: expected False, got True: DistributedDataParallel discards what a "
                         "hook returns for a parameter that no rank used, and its residual would be lost")
    if scaler is not None and not isinstance(scaler, torch.amp.GradScaler):
        raise TypeError(f"scaler: expected torch.amp.GradScaler or None, got {type(scaler).__name__}")
    if optimizer is not None and not isinstance(optimizer, torch.optim.SGD):
        raise TypeError("optimizer: expected torch.optim.SGD, whose step is a gradient times the learning rate, or "
                        f"None, got {type(optimizer).__name__}")


class TopKState(HookState):
    """Is the state of topk_hook() on one rank: two copies of the parameters. `scaler` is the GradScaler by which the
    loss is multiplied, or None where it is multiplied by nothing. `optimizer` is an SGD whose learning rate may change,
    or None where the residual stays in units of gradients, which suits Adam and others that divide by the gradients'
    own size."""

    def __init__(self, model, *, density, scaler, optimizer):
        super().__init__(model)
        _check(model, density, scaler, optimizer)
        self._density, self._scaler, self._optimizer = density, scaler, optimizer
        # The residuals before and behind the last backward pass, in units of its rates. `_spoilt` says which count.
        self._before = {parameter: torch.zeros_like(parameter, requires_grad=False) for parameter in self.names}
        self._after = {parameter: before.clone() for parameter, before in self._before.items()}
        self._rate_of = dict.fromkeys(self.names, 0.0)  # 0: there was none
        self._now = self._rate_of
        self._unit = "gradients" if optimizer is None else "gradients at the rate of the last step"
        device = next(iter(self.names)).device
        self._spoilt = torch.zeros((), dtype=torch.bool, device=device)
        self._was_spoilt = self._spoilt
        self._one = torch.ones((), device=device)
        if optimizer is not None:
            _rates(optimizer, self.names)

    def begin(self):
        """Begins a backward pass: what the last one has left counts, unless one of its gradients was not finite."""
        self._was_spoilt, self._spoilt = self._spoilt, torch.zeros_like(self._spoilt)
        self._now = dict.fromkeys(self.names, 1.0) if self._optimizer is None else _rates(self._optimizer, self.names)

    def reduce(self, buffer, parameters):
        """Replaces the gradients of a bucket by the mean of what the ranks have taken of theirs."""
        scale = self._one if self._scaler is None else self._scaler.scale(self._one)
        values, places, first = [], [], 0
        for parameter, gradient in zip(parameters, buffer.split([parameter.numel() for parameter in parameters])):
            taken, at = self._take(parameter, gradient / scale)
            values.append(taken.view(torch.int32))
            places.append(at.int() + first)
            first += parameter.numel()
        packed = torch.cat(values + places)
        gathered = packed.new_empty(self.ranks * packed.numel())
        dist.all_gather_into_tensor(gathered, packed, group=self.group)
        self.received_bytes += (self.ranks - 1) * packed.numel() * packed.element_size()
        buffer.zero_()
        for of_rank in gathered.view(self.ranks, -1):  # in the order of ranks, so that all ranks get the same bits
            taken, at = of_rank.chunk(2)
            buffer.index_add_(0, at, taken.view(torch.float32))
        buffer.div_(self.ranks).mul_(scale)
        self._spoilt |= ~buffer.isfinite().all()

    def _take(self, parameter, gradient):
        """Returns the values of one gradient that travel, and their places. The rest stays in the residual."""
        before, after = _flat(self._before[parameter]), _flat(self._after[parameter])
        rate, old_rate = self._now[parameter], self._rate_of[parameter]
        residual = torch.where(self._was_spoilt, before, after)
        if rate != old_rate and rate != 0 and old_rate != 0:
            residual *= old_rate / rate
        # At a rate of 0 a gradient moves no weight, and adds nothing to what the weights lack. A residual that was sent
        # and stays would count twice in a momentum.
        x = residual + gradient if rate != 0 else gradient
        finite = gradient.isfinite().all()
        taken, at, rest = take(x, count_of(x.numel(), self._density))
        before.copy_(residual)
        after.copy_(rest if rate != 0 else residual)
        self._rate_of[parameter] = rate or old_rate
        return torch.where(finite, taken, torch.nan), at

    def residuals(self):
        """Returns {name: residual}, as the next backward pass finds it. On a GPU it waits for the GPU."""
        kept = self._before if self._spoilt else self._after
        return {name: kept[parameter].clone() for parameter, name in self.names.items()}

    def state_dict(self):
        """Returns what this rank has to save behind optimizer.step(), beside model and optimizer."""
        return {"ranks": self.ranks, "rank": self.rank, "unit": self._unit, "residuals": self.residuals(),
                "rates": {name: self._rate_of[parameter] for parameter, name in self.names.items()}}

    def load_state_dict(self, saved):
        """Goes on with what the same rank of as many ranks has saved. Anything else is a ValueError, and changes
        nothing."""
        for key, mine in (("ranks", self.ranks), ("rank", self.rank)):
            if saved.get(key) != mine:
                raise ValueError(f"{key}: expected {mine}, got {saved.get(key)!r}: each rank keeps gradients that no "
                                 "other rank has. Resume with the same ranks, or begin with an empty TopKState, which "
                                 "loses them")
        if saved["unit"] != self._unit:
            raise ValueError(f"unit: expected {self._unit}, got {saved['unit']}: a residual follows the learning rate "
                             "from the start, or never; give TopKState the same optimizer as before, or None again")
        for key in ("residuals", "rates"):
            if set(saved[key]) != set(self.names.values()):
                other = min(set(saved[key]) ^ set(self.names.values()))
                raise ValueError(f"{key}: expected those of the model's parameters, got a difference at {other}")
        for parameter, name in self.names.items():
            if saved["residuals"][name].shape != parameter.shape:
                raise ValueError(f"residual of {name}: expected the shape {tuple(parameter.shape)}, got "
                                 f"{tuple(saved['residuals'][name].shape)}")
        for parameter, name in self.names.items():
            self._after[parameter].copy_(saved["residuals"][name])
            self._rate_of[parameter] = saved["rates"][name]
        self._spoilt = torch.zeros_like(self._spoilt)


def topk_hook(state, bucket):
    """Is the hook for DistributedDataParallel.register_comm_hook(). Each rank receives 8 bytes for each value that each
    other rank takes."""
    if bucket.index() == 0:
        state.begin()
    return state.run(bucket, state.reduce)
