"""Launches kernels of PyTorch itself, cuBLAS, cuDNN and Triton, and one training step. Prints for each whether it ran,
and a digest. It needs no other rank. Where one of them crashes, so does this program, and its last words name it.
"""

import json
import sys

import models
import torch
from learn import digest
from torch import nn


def fused(x):
    return torch.nn.functional.gelu(x) * torch.sigmoid(x) + 1


def train():
    net = models.small_cnn().cuda()
    loss = nn.functional.cross_entropy(net(torch.ones(8, 1, 8, 8, device="cuda")),
                                       torch.zeros(8, dtype=torch.long, device="cuda"))
    loss.backward()
    torch.optim.SGD(net.parameters(), lr=0.1).step()
    return loss


def kernels(x, image):
    """Returns the things to try, by name."""
    return {
        "elementwise": lambda: x + 1,
        "cublas": lambda: x @ x,
        "cublas_half": lambda: x.half() @ x.half(),
        "cudnn": lambda: nn.functional.conv2d(image, torch.ones(4, 3, 3, 3, device="cuda")),
        "softmax": lambda: torch.softmax(x, 1),
        "triton": lambda: torch.compile(fused)(x),
        "training_step": train,
    }


def main():
    torch.manual_seed(1)
    x, image = torch.ones(128, 128, device="cuda"), torch.ones(2, 3, 16, 16, device="cuda")
    results = {}
    for name, run in kernels(x, image).items():
        print(f"smoke: {name}", file=sys.stderr, flush=True)
        try:
            value = run()
            torch.cuda.synchronize()
            results[name] = digest([value])
        except Exception as fault:  # a machine without a compiler has no Triton: that is not the library's fault
            results[name] = type(fault).__name__
    print(json.dumps({"results": results}), flush=True)


if __name__ == "__main__":
    main()
