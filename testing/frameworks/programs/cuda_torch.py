"""Prints what PyTorch says of CUDA where there is none, or one that it cannot use."""

import warnings

import torch

warnings.simplefilter("ignore")
print(torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.nccl.version(), torch.version.cuda)
try:
    torch.zeros(1, device="cuda")
except (RuntimeError, AssertionError) as error:
    print(type(error).__name__, error)
