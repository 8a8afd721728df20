"""Combines the steps of the ranks' optimizers by Adasum (arXiv 2006.02924, MLSys 2021): the sum of steps that have
nothing in common, and the mean of equal ones.

    optimizer = AdasumOptimizer(torch.optim.AdamW(model.parameters(), lr=1e-3), model)
    loss_of(model(inputs)).backward()  # of this rank alone: the model is not in DistributedDataParallel
    optimizer.step()
    optimizer.zero_grad()

Each rank makes a step with its own gradients. What that changes in a weight is the delta. For two deltas of a tensor,

    Adasum(a, b) = (1 - a.b / (2 |a|^2)) a + (1 - a.b / (2 |b|^2)) b,

where a coefficient is 1 if its |.|^2 is below sqrt(DBL_MIN). Ranks combine in a tree of pairs, 0 with 1, 2 with 3, then
these pairs, and all weights change by the result. Each pair halves the vector of all deltas, and each side combines one
half; at the end the halves go back the same way. The sums a.b, |a|^2 and |b|^2 of each tensor are in double, over all
ranks that have pieces of it, and so are coefficients and products.

Nothing is compressed. A rank receives 2 (1 - 1 / ranks) elements floats in a step, and l times three doubles for each
tensor at level l from 1 to log2(ranks). The learning rate is that of one rank, and never one that was multiplied by the
number of ranks.
"""

import itertools
import math
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DataParallel, DistributedDataParallel

from .state import check_parameters

_LEAST = math.sqrt(sys.float_info.min)


def _check_ranks(ranks):
    if ranks & (ranks - 1):
        raise ValueError(f"ranks: expected a power of two, because ranks combine in pairs, got {ranks}")


def adasum(vector, borders, group=None):
    """Replaces a vector by the Adasum over all ranks of the group, in place. Tensor t has the elements from borders[t]
    to borders[t + 1], and all elements belong to a tensor. All ranks give the same borders, and get the same bits.
    Where a tensor is not finite on some rank, it is NaN on all. Returns the bytes that this rank has received."""
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    _check_ranks(ranks)
    piece, levels, received = (0, vector.numel()), [], 0
    distance = 1
    while distance < ranks:
        middle = (piece[0] + piece[1]) // 2
        lower, upper = (piece[0], middle), (middle, piece[1])
        kept, sent = (upper, lower) if rank & distance else (lower, upper)
        received += _combine(vector, borders, kept, sent, distance, group)
        levels.append((distance, kept, sent))
        piece, distance = kept, 2 * distance
    for distance, kept, sent in reversed(levels):
        theirs = _swap(vector[slice(*kept)], sent[1] - sent[0], rank ^ distance, group)
        vector[slice(*sent)] = theirs
        received += _bytes(theirs)
    return received


def _combine(vector, borders, kept, sent, distance, group):
    """Combines the kept half with the partner's. The deltas of the lower rank are a on both sides. Returns the bytes
    received."""
    rank = dist.get_rank(group)
    theirs = _swap(vector[slice(*sent)], kept[1] - kept[0], rank ^ distance, group)
    received = _bytes(theirs)
    mine = vector[slice(*kept)]
    a, b = (theirs, mine) if rank & distance else (mine, theirs)
    inside = [(max(begin, kept[0]) - kept[0], min(end, kept[1]) - kept[0])
              for begin, end in itertools.pairwise(borders)]
    products = torch.stack([_products(a[begin:end], b[begin:end]) if begin < end
                            else vector.new_zeros(3, dtype=torch.float64) for begin, end in inside])
    step = 1
    while step <= distance:  # partners add the same two numbers, so all ranks get the same bits
        other = _swap(products.flatten(), products.numel(), rank ^ step, group)
        products += other.view_as(products)
        received += _bytes(other)
        step *= 2
    for (begin, end), of_tensor in zip(inside, products):
        if begin < end:
            for_a, for_b = coefficients(of_tensor)
            mine[begin:end] = for_a * a[begin:end].double() + for_b * b[begin:end].double()
    return received


def coefficients(products):
    """Returns what to multiply a and b by, from (a.b, |a|^2, |b|^2)."""
    ab, squares = products[0], products[1:]
    return torch.where(squares < _LEAST, 1.0, 1 - ab / (2 * squares)).unbind()


def _products(a, b):
    a, b = a.double(), b.double()
    return torch.stack([torch.dot(a, b), torch.dot(a, a), torch.dot(b, b)])


def _bytes(tensor):
    return tensor.numel() * tensor.element_size()


def _swap(sent, count, partner, group):
    """Sends a vector to a rank of the group, and returns the `count` elements that it sends."""
    received = sent.new_empty(count)
    operations = [dist.P2POp(call, tensor, group=group, group_peer=partner)
                  for call, tensor in ((dist.isend, sent), (dist.irecv, received)) if tensor.numel()]
    for work in dist.batch_isend_irecv(operations) if operations else ():
        work.wait()
    return received


def _check(optimizer, model):
    """Raises TypeError or ValueError for an optimizer or a model whose deltas are not those of one rank."""
    if isinstance(optimizer, ZeroRedundancyOptimizer) or not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError("optimizer: expected a torch.optim.Optimizer that has all parameters on each rank, got "
                        f"{type(optimizer).__name__}")
    if not isinstance(model, nn.Module):
        raise TypeError(f"model: expected torch.nn.Module, got {type(model).__name__}")
    for module in model.modules():
        if isinstance(module, (DataParallel, DistributedDataParallel)):
            raise TypeError("model: expected a module whose gradients are those of one rank, got "
                            f"{type(module).__name__}, which averages them before Adasum sees them")


class AdasumOptimizer:
    """Steps an optimizer on each rank, and combines the deltas of all ranks. Making one is a call of all ranks: all get
    the parameters and buffers of rank 0, as with DistributedDataParallel. Buffers, such as statistics of batch
    normalisation, are then each rank's own. Schedulers of the learning rate take the optimizer itself."""

    def __init__(self, optimizer, model, group=None):
        _check(optimizer, model)
        _check_ranks(dist.get_world_size(group))
        names = {parameter: name for name, parameter in model.named_parameters()}
        self._parameters = [parameter for of_group in optimizer.param_groups for parameter in of_group["params"]
                            if parameter.requires_grad]
        if any(parameter not in names for parameter in self._parameters):
            raise ValueError("optimizer: expected parameters of the model, got others")
        check_parameters([(names[parameter], parameter) for parameter in self._parameters])
        self.optimizer, self._group = optimizer, group
        self._borders = [0, *itertools.accumulate(parameter.numel() for parameter in self._parameters)]
        self.received_bytes = 0  # by step(), since this was made
        for tensor in itertools.chain(model.parameters(), model.buffers()):
            dist.broadcast(tensor.detach(), group=group, group_src=0)

    @torch.no_grad()
    def step(self, scaler=None):
        """Makes a step of all ranks. With `scaler`, a rank whose gradients are not finite takes no step, and its deltas
        are 0: the weights change by those of the others. Scales may then differ from rank to rank, because deltas have
        none."""
        before = [parameter.clone() for parameter in self._parameters]
        with torch.enable_grad():
            if scaler is None:
                self.optimizer.step()
            else:
                scaler.step(self.optimizer)
        deltas = torch.cat([(parameter - old).flatten() for parameter, old in zip(self._parameters, before)])
        self.received_bytes += adasum(deltas, self._borders, self._group)
        for parameter, old, (begin, end) in zip(self._parameters, before, itertools.pairwise(self._borders)):
            parameter.copy_(old + deltas[begin:end].view_as(parameter))

    def zero_grad(self, set_to_none=True):
        """Forgets the gradients."""
        self.optimizer.zero_grad(set_to_none)

    @property
    def param_groups(self):
        """Raises TypeError: a GradScaler or a scheduler of the learning rate was given this in place of the optimizer.
        A GradScaler would leave out step() on some ranks, and the others would wait for them."""
        raise TypeError("optimizer: expected AdasumOptimizer.optimizer for schedulers and scaler.unscale_(), and "
                        "AdasumOptimizer.step(scaler) in place of scaler.step(optimizer), got AdasumOptimizer")

    def state_dict(self):
        """Returns what this rank has to save beside the model: each rank's optimizer has a state of its own."""
        return {"ranks": dist.get_world_size(self._group), "rank": dist.get_rank(self._group),
                "optimizer": self.optimizer.state_dict()}

    def load_state_dict(self, saved):
        """Goes on with what the same rank of as many ranks has saved. Anything else is a ValueError."""
        for key, mine in (("ranks", dist.get_world_size(self._group)), ("rank", dist.get_rank(self._group))):
            if saved.get(key) != mine:
                raise ValueError(f"{key}: expected {mine}, got {saved.get(key)!r}: each rank's optimizer has a state "
                                 "of its own. Resume with the same ranks, or begin with a new optimizer")
        self.optimizer.load_state_dict(saved["optimizer"])
