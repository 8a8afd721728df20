"""Computes what the parts of ddp_reductions do, in one process without an exchange. Prints a line of JSON for each
subject: {"subject": {"fact": value}}."""

import json
import math
import sys

import torch
from ddp_reductions import bits as choice
from ddp_reductions.adaptive import divide
from ddp_reductions.adasum import coefficients
from ddp_reductions.codec import RAW, decode, encode, encoded_bytes, one_bit_error
from ddp_reductions.topk import count_of, take


def generator(seed=1):
    return torch.Generator().manual_seed(seed)


def numbers(count, seed=1):
    return torch.randn(count, generator=generator(seed))


def same(one, other):
    """Returns whether all bits are equal."""
    return torch.equal(one.view(torch.int32), other.view(torch.int32))


def taken():
    """Takes the largest of vectors of many lengths, some of which have equal values."""
    exact, rebuilt, energy, cases = True, True, math.inf, 0
    for count in (1, 2, 3, 10, 99, 100, 101, 1000, 4097):
        for density in (0.001, 0.01, 0.3, 1.0):
            for x in (numbers(count), numbers(count).round() + 0.0):  # without -0
                k = count_of(count, density)
                values, places, rest = take(x, k)
                exact &= len(set(places.tolist())) == k == min(count, max(1, math.ceil(density * count)))
                rebuilt &= same(rest.index_add(0, places, values), x) and bool((rest[places] == 0).all())
                best = x.abs().sort().values[count - k:].double().square().sum()
                energy = min(energy, (values.double().square().sum() / best).item() if best else 1.0)
                cases += 1
    return {"cases": cases, "exactly k": exact, "x = sparse + residual": rebuilt, "least energy": energy,
            "NaN is taken": take(torch.tensor([1.0, math.nan, 3.0]), 1)[1].tolist()}


def coded(values, bits, bucket=128, seed=1):
    return decode(encode(values, bits, bucket, generator(seed)), values.numel(), bits, bucket)


def bias(bits, nearest=False):
    """Returns the largest bias of an element over 2,000 encodings, in steps."""
    x = numbers(512)
    step = (x.max() - x.min()) / (2**bits - 1)
    if nearest:
        total = 2000 * (x.min() + ((x - x.min()) / step + 0.5).floor() * step).double()
    else:
        total = sum(coded(x, bits, 512, seed).double() for seed in range(2000))
    return ((total / 2000 - x.double()).abs().max() / step.double()).item()


def levels():
    facts = {"bias": {bits: bias(bits) for bits in (8, 4, 2, 1)}, "bias to the nearest": bias(4, nearest=True)}
    smooth = torch.rand(1 << 16, generator=generator(99)) * 7 - 3
    facts["error in u^2"] = {bits: ((coded(smooth, bits, 512) - smooth).double().square().sum()
                                    / one_bit_error(smooth, 512) * (2**bits - 1)**2).item() for bits in (2, 4, 8, 12)}
    lengths, within, cases = True, True, 0
    for count in (0, 1, 7, 8, 9, 127, 128, 129, 255, 256, 257, 1000):
        for bits in (1, 2, 3, 5, 7, 8, 9, 12, RAW):
            x = numbers(count, seed=count + 1)
            encoded = encode(x, bits, 128, generator())
            lengths &= encoded.numel() == encoded_bytes(count, bits, 128)
            back = decode(encoded, count, bits, 128)
            for part, got in zip(x.split(128), back.split(128)):
                step = 0 if bits == RAW else (part.max() - part.min()) / (2**bits - 1) if part.numel() else 0
                within &= bool(((got - part).abs() <= step * 1.0001).all())
            cases += 1
    facts |= {"cases": cases, "lengths": lengths, "within a step": within,
              "bytes": [encoded_bytes(1000, 4, 128), encoded_bytes(1000, RAW, 128)]}
    return facts


def limits():
    """Encodes what often goes wrong: values that are not finite, tiny or equal, and other scales."""
    x = numbers(1000)
    facts = {"scaled": all(same(coded(x * 2.0**power, 4), coded(x, 4) * 2.0**power) for power in (-60, -20, 16, 60))}
    facts["tiny"] = ((coded(x * 2.0**-60, 8) - x * 2.0**-60).norm() / (x * 2.0**-60).norm()).item()
    spoilt = {}
    for name, value in (("nan", math.nan), ("inf", math.inf), ("-inf", -math.inf)):
        y = x.clone()
        y[200] = value
        back = coded(y, 4)
        spoilt[name] = [int(back.isnan().sum()), int(back[128:256].isnan().sum()), int(back[:128].isfinite().sum())]
    facts["spoilt"] = spoilt
    facts["beyond the largest"] = int(coded(torch.tensor([3e38, -3e38] * 8), 8).isnan().sum())
    for name, value in (("zeros", 0.0), ("constant", 1.7), ("subnormal", 1e-45)):
        facts[name] = same(coded(torch.full((300,), value), 4), torch.full((300,), value))
    facts["subnormal range"] = same(coded(torch.tensor([0.0, 1e-45] * 64), 4), torch.tensor([0.0, 1e-45] * 64))
    return facts


def knapsack():
    """Compares choices with all choices: 40 cases of five layers."""
    worst, over, cases = 0.0, 0.0, 40
    draws = generator(3)
    for _ in range(cases):
        counts = torch.randint(1, 3000, (5,), generator=draws).tolist()
        errors = (10 ** (4 * torch.rand(5, generator=draws, dtype=torch.float64))).tolist()
        layers, rule = list(zip(counts, errors)), choice.Rule()
        chosen = choice.choose(layers, rule)
        budget = sum(choice.expected_error(error, 4) for error in errors)
        over = max(over, sum(choice.expected_error(e, b) for e, b in zip(errors, chosen)) / budget)
        table = [torch.tensor([[encoded_bytes(count, b, rule.bucket), choice.expected_error(error, b)]
                               for b in range(2, 9)], dtype=torch.float64) for count, error in layers]
        every = torch.cartesian_prod(*[torch.arange(7)] * 5)
        total = sum(of_layer[every[:, i]] for i, of_layer in enumerate(table))
        best = total[total[:, 1] <= budget, 0].min().item()
        worst = max(worst, sum(encoded_bytes(c, b, rule.bucket) for c, b in zip(counts, chosen)) / best - 1)
    equal = [(4096, 1.0)] * 6
    return {"cases": cases, "most bytes over the best": worst, "most error of the budget": over,
            "equal layers": choice.choose(equal, choice.Rule()),
            "no errors": choice.choose([(4096, 0.0)] * 3, choice.Rule()),
            "not finite": choice.choose([(4096, math.inf), (10, 1.0)], choice.Rule()),
            "more layers than parts": choice.choose(equal, choice.Rule(parts=3))}


def parts():
    """Divides buckets of layers among ranks."""
    layers = [("a", 1000, 4), ("b", 5, RAW), ("c", 3000, 2), ("d", 128, 8), ("e", 1, RAW)]
    borders, whole, cut, alone, most = {"a": 0, "b": 1000, "c": 1005, "d": 4005, "e": 4133}, True, True, True, 0
    for ranks in (1, 2, 3, 4, 7, 64):
        of_rank = divide(layers, ranks, 128)
        pieces = sorted((piece for part in of_rank for piece in part), key=lambda piece: piece.begin)
        whole &= [p.begin for p in pieces] == [0, *(p.end for p in pieces[:-1])] and pieces[-1].end == 4134
        whole &= sum(p.bytes(128) for p in pieces) == sum(encoded_bytes(count, bits, 128) for _, count, bits in layers)
        cut &= all(p.at % 128 == 0 and p.begin == borders[p.name] + p.at for p in pieces)
        for layer in layers:
            own = [[(p.at, p.end - p.begin) for p in part if p.name == layer[0]] for part in of_rank]
            alone &= own == [[(p.at, p.end - p.begin) for p in part] for part in divide([layer], ranks, 128)]
        most = max(most, *(sum(-(-(p.end - p.begin) // 128) for p in part if p.name == "c") - 24 / ranks
                           for part in of_rank))
    small = [("w" * index, 64, RAW) for index in range(1, 65)]
    return {"all elements once": whole, "cut at buckets": cut, "whatever is in the bucket": alone,
            "buckets above the mean": most, "parts with small layers": sum(map(bool, divide(small, 4, 128)))}


def adasum_coefficients():
    cases = {"equal": [4.0, 4.0, 4.0], "orthogonal": [0.0, 4.0, 9.0], "no a": [0.0, 0.0, 9.0],
             "NaN": [math.nan, 4.0, 4.0], "opposite": [-4.0, 4.0, 4.0], "below the least": [1e-155, 1e-155, 1.0]}
    return {name: [str(c.item()) for c in coefficients(torch.tensor(of, dtype=torch.float64))]
            for name, of in cases.items()}


def refused():
    said = []
    for arguments in ({"bucket": 100}, {"least_bits": 0}, {"most_bits": 13}, {"uniform_bits": 1}, {"alpha": math.inf},
                      {"alpha": 0}, {"parts": 0}):
        try:
            choice.Rule(**arguments)
        except ValueError as error:
            said.append(str(error))
    return said


def main():
    torch.set_num_threads(1)
    for name, work in {"taken": taken, "levels": levels, "limits": limits, "knapsack": knapsack, "parts": parts,
                       "coefficients": adasum_coefficients, "refused": refused}.items():
        sys.stdout.write(json.dumps({name: work()}) + "\n")


if __name__ == "__main__":
    main()
