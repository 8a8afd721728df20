"""Encodes float32 as levels of a few bits, without bias: the quantiser of QSGD (arXiv 1610.02132), by buckets, as in
CGX (arXiv 2111.08617).

A bucket of B values has min and u = (max - min) / (2^b - 1), as two float32, and a level of b bits for each value:
floor((x - min) / u + t), at most 2^b - 1, where t is uniform in [0, 1). So the expectation of min + u * level is x, and
the expected squared error of smooth data is u^2 / 6 for each value. A bucket with a value that is not finite decodes to
NaN as a whole. There is no smallest u, so that the scale of a loss changes nothing.
"""

import torch

RAW = 32  # "bits" of values that stay float32
MOST_BITS = 12
_SCALE_BYTES = 8  # min and u


def encoded_bytes(count, bits, bucket):
    """Returns the bytes of so many values: floor(count / B) (8 + B b / 8), and 8 + ceil(r b / 8) for the rest r."""
    if bits == RAW:
        return 4 * count
    rest = count % bucket
    return (count // bucket * (_SCALE_BYTES + bucket * bits // 8)
            + (_SCALE_BYTES + (rest * bits + 7) // 8 if rest else 0))


def encode(values, bits, bucket, generator):
    """Returns the bytes of a vector, as a tensor of uint8. `bucket` is a multiple of 8. Levels are rounded by numbers
    of the generator, which must be others for each rank and each call, so that errors are independent."""
    if bits == RAW:
        return values.contiguous().view(torch.uint8)
    scales, levels = [], []
    for rows in _rows(values, bucket):
        least, step = _scale_of(rows, bits)
        scales += [least, step]
        levels.append(_pack(_levels_of(rows, least, step, bits, generator), bits))
    if not levels:
        return values.new_empty(0, dtype=torch.uint8)
    return torch.cat([*(scale.view(torch.uint8) for scale in scales), *levels])


def decode(encoded, count, bits, bucket):
    """Returns the values of what encode() has made of `count` values."""
    if bits == RAW:
        return encoded.clone().view(torch.float32)  # a copy, because the bytes may begin anywhere
    shapes = [shape for shape in ((count // bucket, bucket), (1, count % bucket)) if shape[0] * shape[1]]
    scales = encoded[:_SCALE_BYTES * sum(rows for rows, _ in shapes)].clone().view(torch.float32)
    packed = encoded[scales.numel() * 4:]
    values = []
    for rows, size in shapes:
        least, step = scales[:rows], scales[rows:2 * rows]
        used = (rows * size * bits + 7) // 8
        levels = _unpack(packed[:used], rows * size, bits).view(rows, size)
        values.append((least.unsqueeze(1) + step.unsqueeze(1) * levels).flatten())
        scales, packed = scales[2 * rows:], packed[used:]
    return torch.cat(values) if values else encoded.new_empty(0, dtype=torch.float32)


def one_bit_error(values, bucket):
    """Returns V, a double: the expected squared error with b bits is V / (2^b - 1)^2. V is the sum of count (max -
    min)^2 / 6 over the buckets. Buckets that decode to NaN add nothing."""
    error = values.new_zeros((), dtype=torch.float64)
    for rows in _rows(values, bucket):
        span = rows.amax(1).double() - rows.amin(1).double()
        error += torch.where(torch.isfinite(span), span.square(), 0.0).sum() * rows.shape[1] / 6
    return error


def _rows(values, bucket):
    """Yields the whole buckets as rows, and the rest as a row."""
    whole = values.numel() // bucket * bucket
    if whole:
        yield values[:whole].view(-1, bucket)
    if whole < values.numel():
        yield values[whole:].view(1, -1)


def _scale_of(rows, bits):
    """Returns the least value and the step of each row, or NaN and 0 where a row decodes to NaN. A step is rounded up
    where the highest level would end below the greatest value: a subnormal quotient may be much too small."""
    least, greatest = rows.amin(1), rows.amax(1)  # NaN where a row has one
    top = float(2**bits - 1)
    span = greatest - least
    step = span / top
    step = torch.where(step * top < span, torch.nextafter(step, torch.full_like(step, torch.inf)), step)
    least = least + 0.0  # -0 becomes +0
    finite = torch.isfinite(least + step * top)
    return torch.where(finite, least, torch.nan), torch.where(finite, step, 0.0)


def _levels_of(rows, least, step, bits, generator):
    """Returns floor((x - min) / u + t) of each value. The sum in the floor is not rounded, which would be a bias."""
    top = 2**bits - 1
    step = step.unsqueeze(1)
    at = (rows - least.unsqueeze(1)) / step
    below = at.floor()
    draws = torch.rand(rows.shape, generator=generator, device=rows.device)
    level = torch.where(at < top, below + (at - below >= 1 - draws), float(top))
    return torch.where(step == 0, 0.0, level).int()


def _pack(levels, bits):
    """Returns the levels as bytes, from the lowest bit of the first byte on."""
    ones = levels.flatten().unsqueeze(1) >> torch.arange(bits, device=levels.device) & 1
    ones = torch.nn.functional.pad(ones.flatten(), (0, -ones.numel() % 8)).view(-1, 8)
    return (ones << torch.arange(8, device=levels.device)).sum(1).to(torch.uint8)


def _unpack(packed, count, bits):
    """Returns `count` levels, as float32."""
    ones = packed.int().unsqueeze(1) >> torch.arange(8, device=packed.device) & 1
    ones = ones.flatten()[:count * bits].view(count, bits)
    return (ones << torch.arange(bits, device=packed.device)).sum(1).float()
