"""Uses what a training script uses of one GPU: allocations, streams, events with times, products, convolutions and
their gradients. Prints one line for each."""

import torch
import torch.nn.functional as F
from torch import nn


def main():
    assert torch.cuda.is_available()
    print("devices", torch.cuda.device_count())
    a = torch.randn(256, 512, device="cuda", requires_grad=True)
    b = torch.randn(512, 128, device="cuda")
    (a @ b).sum().backward()
    print("product", tuple(a.grad.shape))

    half = a.detach().half() @ b.half()
    print("half", half.dtype)
    print("batched", tuple(torch.bmm(torch.randn(4, 8, 16, device="cuda"), torch.randn(4, 16, 8, device="cuda")).shape))

    net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2),
                        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)).cuda()
    images = torch.randn(8, 3, 32, 32, device="cuda")
    F.cross_entropy(net(images), torch.zeros(8, dtype=torch.long, device="cuda")).backward()
    print("convolution", tuple(net[0].weight.grad.shape))
    with torch.autocast("cuda", dtype=torch.bfloat16):
        print("mixed", net(images).dtype)

    query, key, value = (torch.randn(2, 4, 64, 32, device="cuda", dtype=torch.half, requires_grad=True)
                         for _ in range(3))
    F.scaled_dot_product_attention(query, key, value, is_causal=True).sum().backward()
    print("attention", tuple(query.grad.shape))

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        begin.record()
        for _ in range(10):
            b = b * 2
        end.record()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    print("timed", begin.elapsed_time(end) > 0)
    print("memory", torch.cuda.memory_allocated() > 0)


if __name__ == "__main__":
    main()
