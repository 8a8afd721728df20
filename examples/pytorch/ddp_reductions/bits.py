"""Chooses bits for each layer: the fewest bytes whose expected squared error is within a budget. CGX (arXiv 2111.08617)
states this problem; L-GreCo (arXiv 2210.17357) solves it as a knapsack."""

import dataclasses
import math

import torch

from .codec import MOST_BITS, encoded_bytes

_NEVER = 2**62
_ROUNDING = 1e-12  # of sums of errors, as a part of them


@dataclasses.dataclass(frozen=True)
class Rule:
    """Says which bits there are, and which error is allowed: `alpha` times that of `uniform_bits` for all layers. The
    knapsack divides the budget into `parts`."""

    bucket: int = 128  # values that share a scale
    least_bits: int = 2
    most_bits: int = 8
    uniform_bits: int = 4
    alpha: float = 1.0
    parts: int = 10_000

    def __post_init__(self):
        if self.bucket < 8 or self.bucket % 8:
            raise ValueError(f"bucket: expected a multiple of 8, got {self.bucket}")
        if not 1 <= self.least_bits <= self.most_bits <= MOST_BITS:
            raise ValueError(f"least_bits, most_bits: expected 1 <= least_bits <= most_bits <= {MOST_BITS}, got "
                             f"{self.least_bits} and {self.most_bits}")
        if not self.least_bits <= self.uniform_bits <= self.most_bits:
            raise ValueError(f"uniform_bits: expected {self.least_bits} to {self.most_bits}, got {self.uniform_bits}")
        if not 0 < self.alpha < math.inf:
            raise ValueError(f"alpha: expected a finite number above 0, got {self.alpha}")
        if self.parts < 1:
            raise ValueError(f"parts: expected 1 or more, got {self.parts}")


def expected_error(one_bit, bits):
    """Returns the expected squared error of a layer, whose error with one bit is given."""
    return one_bit / (2**bits - 1)**2


def choose(layers, rule):
    """Returns bits for each of [(count, one_bit_error)]. Errors are rounded up to whole parts of the budget, so that
    the budget holds, and the bytes are at most those of the best choice for a budget of 1 - layers / parts. Where there
    is no choice, all layers get the most bits."""
    budget = rule.alpha * math.fsum(expected_error(error, rule.uniform_bits) for _, error in layers)
    if not math.isfinite(budget):
        return [rule.most_bits] * len(layers)
    fewest = torch.zeros(rule.parts + 1, dtype=torch.int64)  # by parts: the bytes of the layers so far
    tables = []
    for count, error in layers:
        fewest, chosen = _with_layer(fewest, count, error, budget, rule)
        tables.append(chosen)
    if fewest[-1] >= _NEVER:
        return [rule.most_bits] * len(layers)
    result, left = [], rule.parts
    for (_, error), chosen in zip(reversed(layers), reversed(tables)):
        result.append(int(chosen[left]))
        left -= _parts_of(expected_error(error, result[-1]), budget, rule.parts)
    return _lowered(layers, result[::-1], budget, rule)


def _lowered(layers, bits, budget, rule):
    """Returns bits that are lowered wherever the exact budget still holds, the largest layers first: what was rounded
    up leaves room."""
    bits = list(bits)
    for index in sorted(range(len(layers)), key=lambda index: (-layers[index][0], index)):
        while bits[index] > rule.least_bits:
            bits[index] -= 1
            if math.fsum(expected_error(error, of) for (_, error), of in zip(layers, bits)) > budget * (1 + _ROUNDING):
                bits[index] += 1
                break
    return bits


def _parts_of(error, budget, parts):
    """Returns how many parts of the budget an error takes, rounded up: more than all where it is beyond the budget."""
    if error == 0:
        return 0
    return math.ceil(error / budget * parts) if error <= budget else parts + 1


def _with_layer(fewest, count, error, budget, rule):
    """Returns the fewest bytes with one layer more, by parts, and the bits that it has then."""
    result = torch.full_like(fewest, _NEVER)
    chosen = torch.zeros_like(fewest, dtype=torch.uint8)
    for bits in range(rule.least_bits, rule.most_bits + 1):
        parts = _parts_of(expected_error(error, bits), budget, rule.parts)
        if parts > rule.parts:
            continue
        size = rule.parts + 1 - parts
        total = fewest[:size] + encoded_bytes(count, bits, rule.bucket)
        better = total < result[parts:]
        result[parts:] = torch.where(better, total, result[parts:])
        chosen[parts:] = torch.where(better, bits, chosen[parts:])
    return result.clamp(max=_NEVER), chosen
