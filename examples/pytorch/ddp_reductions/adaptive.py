"""Sends gradients as levels of a few bits, each layer with bits of its own: CGX (arXiv 2111.08617) with the bits chosen
by a knapsack, as in L-GreCo (arXiv 2210.17357).

    state = AdaptiveState(model)
    model.register_comm_hook(state, adaptive_hook)

A layer is a parameter. Parameters of one dimension (biases, weights of norms) and those of fewer than 1,024 elements
stay float32. The ranks measure the layers in the first step and in every `every`-th one, add up what they have
measured, and choose the fewest bytes with `alpha` times the error of `uniform_bits` for all layers.

Each parameter is divided into a part for each rank, its owner. A rank encodes the parts of the others for them. The
owner decodes them and adds them to its own, which is not encoded, encodes the sum once, and decodes its own copy from
the same bytes. So all ranks end with the same bits, and a value is encoded twice, however many ranks there are. Random
numbers belong to a part and a step, so that it does not matter how DistributedDataParallel forms its buckets.
Rounding is random and without bias, so no residual is kept, and the scale of a loss changes nothing. A gradient that is
not finite makes its bucket of values NaN on all ranks.
"""

import dataclasses
import hashlib
import itertools
import math
import zlib

import torch
import torch.distributed as dist

from . import bits as choice
from .codec import RAW, decode, encode, encoded_bytes, one_bit_error
from .state import HookState

_LEAST_ELEMENTS = 1024  # of a layer that is encoded


@dataclasses.dataclass(frozen=True)
class Piece:
    """Is the part of a parameter that belongs to one rank: the elements of a bucket from `begin` to `end`, which are
    those of the parameter from `at` on."""

    name: str
    at: int
    begin: int
    end: int
    bits: int

    def bytes(self, bucket):
        return encoded_bytes(self.end - self.begin, self.bits, bucket)


def divide(layers, parts, bucket):
    """Returns a list of pieces for each part of [(name, count, bits)], layers that follow each other. Each layer is
    divided for itself, where buckets of its values end, so that parts have about as many buckets each. The name decides
    which part has the first ones: small layers are not all in the same part."""
    result, first = [[] for _ in range(parts)], 0
    for name, count, bits in layers:
        buckets, turn = -(-count // bucket), zlib.crc32(name.encode()) % parts
        borders = [first + min(count, buckets * part // parts * bucket) for part in range(parts + 1)]
        for part, (begin, end) in enumerate(itertools.pairwise(borders)):
            if begin < end:
                result[(part + turn) % parts].append(Piece(name, begin - first, begin, end, bits))
        first += count
    return result


class AdaptiveState(HookState):
    """Is the state of adaptive_hook() on one rank. `rule` says which bits there are and which error is allowed. All
    ranks give the same arguments."""

    def __init__(self, model, *, rule=None, every=100, seed=0):
        super().__init__(model)
        if getattr(model, "skip_all_reduce_unused_params", False):
            raise ValueError("skip_all_reduce_unused_params: expected False, because all ranks choose bits in their "
                             "last bucket, got True")
        if every < 1:
            raise ValueError(f"every: expected 1 or more, got {every}")
        self._rule, self._every, self._seed, self._step = rule or choice.Rule(), every, seed, -1
        self._layers = {name: parameter for parameter, name in self.names.items()
                        if parameter.dim() > 1 and parameter.numel() >= _LEAST_ELEMENTS}
        self._bits = dict.fromkeys(self._layers, self._rule.uniform_bits)
        self._errors = {}
        self._generator = torch.Generator(next(iter(self.names)).device)

    @property
    def bits(self):
        """Returns {name: bits} of the layers that are encoded. All ranks have the same."""
        return dict(self._bits)

    def state_dict(self):
        """Returns what makes a run go on with the same bits and the same random numbers. Any rank may load it."""
        return {"step": self._step, "bits": self.bits}

    def load_state_dict(self, saved):
        """Goes on with what some rank has saved. Other layers, or bits that the rule does not have, are a
        ValueError."""
        if set(saved["bits"]) != set(self._bits):
            raise ValueError("bits: expected those of the model's layers, got a difference at "
                             f"{min(set(saved['bits']) ^ set(self._bits))}")
        for name, bits in saved["bits"].items():
            if not self._rule.least_bits <= bits <= self._rule.most_bits:
                raise ValueError(f"bits of {name}: expected {self._rule.least_bits} to {self._rule.most_bits}, got "
                                 f"{bits}")
        self._step, self._bits = saved["step"], dict(saved["bits"])

    def begin(self):
        """Begins a backward pass."""
        self._step += 1
        self._errors = {}

    def reduce(self, buffer, parameters, last):
        """Replaces the gradients of a bucket by their mean over all ranks. In the `last` bucket of a backward pass
        ranks may choose bits, for the passes to come."""
        if self._step % self._every == 0:
            self._measure(buffer, parameters)
        if self.ranks > 1:
            self._exchange(buffer, parameters)
        buffer.div_(self.ranks)
        if last and self._errors:
            self._choose()

    def _exchange(self, buffer, parameters):
        """Replaces the gradients by their sum."""
        layers = [(self.names[parameter], parameter.numel(), self._bits.get(self.names[parameter], RAW))
                  for parameter in parameters]
        parts = divide(layers, self.ranks, self._rule.bucket)
        sizes = [sum(piece.bytes(self._rule.bucket) for piece in part) for part in parts]
        others = [rank for rank in range(self.ranks) if rank != self.rank]
        sent = [self._encoded(buffer, parts[rank]) for rank in others]
        own = sizes[self.rank]
        received = self._all_to_all(sent, [own if rank != self.rank else 0 for rank in range(self.ranks)], sizes)
        for encoded in received.split([own] * len(others)) if own else ():  # in the order of ranks
            self._decode(encoded, parts[self.rank], buffer, add=True)
        total = self._encoded(buffer, parts[self.rank])
        received = self._all_to_all([total] * len(others), sizes, [own] * self.ranks)
        encoded = list(received.split([sizes[rank] for rank in others]))
        encoded.insert(self.rank, total)
        for part, of_part in zip(parts, encoded):
            self._decode(of_part, part, buffer, add=False)

    def _all_to_all(self, sent, expected, sizes):
        """Sends a tensor to each other rank. Returns what the others have sent, in their order. `expected` and `sizes`
        are the bytes from and to each rank; those of the own rank do not count."""
        expected, sizes = ([0 if rank == self.rank else size for rank, size in enumerate(of)]
                           for of in (expected, sizes))
        outgoing = torch.cat(sent)
        received = outgoing.new_empty(sum(expected))
        dist.all_to_all_single(received, outgoing, expected, sizes, group=self.group)
        self.received_bytes += received.numel()
        return received

    def _encoded(self, buffer, pieces):
        encoded = []
        for piece in pieces:
            self._seed_generator(piece)
            encoded.append(encode(buffer[piece.begin:piece.end], piece.bits, self._rule.bucket, self._generator))
        return torch.cat(encoded) if encoded else buffer.new_empty(0, dtype=torch.uint8)

    def _decode(self, encoded, pieces, buffer, add):
        for piece, part in zip(pieces, encoded.split([piece.bytes(self._rule.bucket) for piece in pieces])):
            values = decode(part, piece.end - piece.begin, piece.bits, self._rule.bucket)
            here = buffer[piece.begin:piece.end]
            here.copy_(here + values if add else values)

    def _seed_generator(self, piece):
        """Gives this encoding random numbers of its own: with shared ones the errors of equal ranks would add up. A
        rank encodes each piece once in a step: those of others, and the sum of its own."""
        key = f"{self._seed} {self.rank} {self._step} {piece.name} {piece.at}"
        self._generator.manual_seed(int.from_bytes(hashlib.blake2b(key.encode(), digest_size=7).digest(), "big"))

    def _measure(self, buffer, parameters):
        for parameter, gradient in zip(parameters, buffer.split([parameter.numel() for parameter in parameters])):
            if self.names[parameter] in self._bits:
                self._errors[self.names[parameter]] = one_bit_error(gradient, self._rule.bucket)

    def _choose(self):
        """Chooses bits from what all ranks have measured. Each adds the same numbers in the same order, so all choose
        the same. On a GPU it waits for the GPU."""
        names = sorted(self._errors)
        mine = torch.stack([self._errors[name] for name in names])
        gathered = mine.new_empty(self.ranks * len(names))
        dist.all_gather_into_tensor(gathered, mine, group=self.group)
        self.received_bytes += (self.ranks - 1) * mine.numel() * mine.element_size()
        errors = [math.fsum(of_ranks) for of_ranks in gathered.view(self.ranks, -1).t().tolist()]
        layers = [(self._layers[name].numel(), error) for name, error in zip(names, errors)]
        self._bits |= dict(zip(names, choice.choose(layers, self._rule)))


def adaptive_hook(state, bucket):
    """Is the hook for DistributedDataParallel.register_comm_hook()."""
    if bucket.index() == 0:
        state.begin()
    return state.run(bucket, lambda buffer, parameters: state.reduce(buffer, parameters, bucket.is_last()))
