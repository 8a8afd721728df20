"""Holds what scripts of this folder share: a small transformer and a small convolutional network, the options of the
command line, and the loop over the steps. torchrun starts each script."""

import argparse
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.utils.data import Dataset

VOCABULARY = 1000
LENGTH = 64  # tokens of a sequence
CLASSES = 10
BOTH = "cpu:gloo,cuda:nccl"  # the backend by which Python objects go over the CPU, and tensors of GPUs over NCCL


class Block(nn.Module):
    """Applies a layer of attention and a layer of two products, each with a residual."""

    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        heads = (t.unflatten(-1, (4, -1)).transpose(1, 2) for t in self.query_key_value(self.norm1(x)).chunk(3, -1))
        x = x + self.project(F.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    """Predicts the next token."""

    def __init__(self, width=128, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Residual(nn.Module):
    """Applies two convolutions with batch normalisation, with a residual."""

    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                                  nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        return F.relu(x + self.body(x))


def convolutional(width=64, blocks=3):
    """Returns a network that classifies images of 16 x 16 points."""
    return nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
                         *(Residual(width) for _ in range(blocks)), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(width, CLASSES))


class Sentences(Dataset):
    """Holds sequences of random tokens, for programs that read from a loader."""

    def __init__(self, count):
        self.tokens = torch.randint(VOCABULARY, (count, LENGTH + 1))

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        return self.tokens[index]


def tokens_on(device, batch=8):
    """Returns a batch of sequences that are one token longer than LENGTH, so that inputs and targets are parts."""
    return torch.randint(VOCABULARY, (batch, LENGTH + 1)).to(device)


def images_on(device, batch=16):
    """Returns a batch of images, and their classes."""
    return torch.randn(batch, 3, 16, 16).to(device), torch.randint(CLASSES, (batch,)).to(device)


def loss_of(logits, tokens):
    """Returns how badly the next tokens are predicted."""
    return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


def train_on_tokens(model, optimizer, device):
    """Trains on one batch of sequences, and returns the loss."""
    tokens = tokens_on(device)
    optimizer.zero_grad(set_to_none=True)
    loss = loss_of(model(tokens[:, :-1]), tokens)
    loss.backward()
    optimizer.step()
    return loss


def say(line):
    """Prints a line by one write: the ranks share their output, which torchrun leaves without a buffer."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def parse(parser=None):
    """Returns the arguments of the command line. `parser` has options beside those that all scripts have."""
    parser = parser or argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--one-more-at", type=int, default=-1, metavar="STEP", help="one kernel more after this step")
    return parser.parse_args()


def after_step(arguments, index, result):
    """Ends a step that gave the tensor `result`: launches the kernel more where the command line asks for it, and
    prints a line with the time every ten steps."""
    if index == arguments.one_more_at:
        result.detach().abs()
    if index % 10 == 9:
        result.detach().flatten()[0].item()
        if dist.get_rank() == 0:
            say(f"step {index + 1} at {time.monotonic():.6f} s")


def finish(device):
    """Prints the rank's peak of memory, and leaves the group of all ranks."""
    torch.cuda.synchronize()
    say(f"rank {dist.get_rank()} done, peak {torch.cuda.max_memory_allocated(device)} bytes")
    dist.destroy_process_group()


def main(build, parser=None, backend="nccl"):
    """Runs build(device, arguments), which returns a function that runs one step and returns a tensor, for each step of
    the command line. `parser` has more options; `backend` is that of the group of all ranks."""
    arguments = parse(parser)
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group(backend)
    torch.manual_seed(1)
    step = build(device, arguments)
    for index in range(arguments.steps):
        after_step(arguments, index, step(index))
    finish(device)
