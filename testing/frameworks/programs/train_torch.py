"""Trains a small network on the CPU, and prints each loss to the last bit.

--steps=N and --timed: see paced.py. --for-ever trains until it is killed.
"""

import itertools
import sys

import descriptors
import paced
import torch


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(),
                                torch.nn.LazyLinear(10))
    images, labels = torch.randn(64, 1, 16, 16), torch.randint(0, 10, (64,))
    model(images)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    steps = itertools.count() if "--for-ever" in sys.argv else paced.steps(40)
    for step in steps:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        print(step, loss.item().hex(), flush=True)
    descriptors.say()


if __name__ == "__main__":
    main()
