"""Compares what fills, copies, conversions and joins of PyTorch leave in GPU memory with what they do on the CPU.

On the software GPU, these kernels alone have an effect (simgpu/README.md, Real images). The program ends with 1 if a
value differs, as it does on a machine with `kernel_effects: false`.
"""

import sys

import torch

TYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.bool)
JOINS = ((((4, 8), (2, 8)), 0), (((4, 8), (4, 4)), 1), (((3, 5), (3, 2), (3, 1)), 1), (((2, 3, 4), (2, 5, 4)), 1),
         (((7,), (13,)), 0))

compared, different = 0, []


def compare(name, on_gpu, on_cpu):
    global compared
    compared += 1
    if not torch.equal(on_gpu.cpu(), on_cpu):
        different.append(f"{name}: expected {on_cpu.flatten()[:4].tolist()}, got {on_gpu.cpu().flatten()[:4].tolist()}")


def counted(shape, kind):
    return torch.arange(torch.Size(shape).numel()).reshape(shape).to(kind)


def compare_fills(kind):
    compare(f"ones, {kind}", torch.ones(1000, device="cuda", dtype=kind), torch.ones(1000, dtype=kind))
    compare(f"full, {kind}", torch.full((3, 7), 5, device="cuda", dtype=kind), torch.full((3, 7), 5, dtype=kind))
    large = torch.ones(1 << 20, device="cuda", dtype=kind)
    compare(f"zero_, {kind}", large.zero_(), torch.zeros(1 << 20, dtype=kind))
    on_cpu = counted((3, 4, 5), kind)
    on_gpu = on_cpu.cuda()
    on_gpu[:, 1] = 1
    on_cpu[:, 1] = 1
    compare(f"fill of a part, {kind}", on_gpu, on_cpu)


def compare_copies(kind):
    on_cpu = counted((3, 4, 5), kind)
    on_gpu = on_cpu.cuda()
    for other in TYPES:
        compare(f"{kind} to {other}", on_gpu.to(other), on_cpu.to(other))
        compare(f"transposed {kind} to {other}", on_gpu.permute(2, 0, 1).to(other).contiguous(),
                on_cpu.permute(2, 0, 1).to(other).contiguous())
    compare(f"part of {kind}", on_gpu[:, ::2, 1:3].contiguous(), on_cpu[:, ::2, 1:3].contiguous())
    compare(f"expanded {kind}", on_gpu[0, 0].expand(7, 5).contiguous(), on_cpu[0, 0].expand(7, 5).contiguous())


def compare_joins(kind):
    for shapes, dimension in JOINS:
        parts = [counted(shape, kind) for shape in shapes]
        compare(f"cat of {shapes}, {kind}", torch.cat([part.cuda() for part in parts], dimension),
                torch.cat(parts, dimension))
    turned, plain = counted((3, 4), kind), counted((4, 2), kind)
    compare(f"cat of a transposed tensor, {kind}", torch.cat([turned.cuda().t(), plain.cuda()], 1),
            torch.cat([turned.t(), plain], 1))


for each in TYPES:
    compare_fills(each)
    compare_copies(each)
    compare_joins(each)
print(f"values: {compared} compared, {len(different)} different")
print("\n".join(different), end="")
sys.exit(1 if different else 0)
