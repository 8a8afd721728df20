"""Trains with CUDA graphs: whole steps with their collectives, or the computation alone."""

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import training


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--whole", action="store_true", help="the collectives are captured, too")
    return parser


def whole(device):
    """Returns a step that replays one graph: forward, backward, collectives and optimizer."""
    tokens = training.tokens_on(device)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        model = DistributedDataParallel(training.Transformer().to(device), device_ids=[device.index])
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, capturable=True)

        def train():
            optimizer.zero_grad(set_to_none=True)
            loss = training.loss_of(model(tokens[:, :-1]), tokens)
            loss.backward()
            optimizer.step()
            return loss

        for _ in range(11):  # DDP wants so many before a capture
            train()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = train()

    def step(_):
        tokens.copy_(training.tokens_on(device))
        graph.replay()
        return loss

    return step


def computation(device):
    """Returns a step that replays graphs of forward and backward, and then sums the gradients outside."""
    model = training.Transformer().to(device)
    example = training.tokens_on(device)[:, :-1].contiguous()
    graphed = torch.cuda.make_graphed_callables(model, (example,))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step(_):
        tokens = training.tokens_on(device)
        optimizer.zero_grad(set_to_none=True)
        loss = training.loss_of(graphed(tokens[:, :-1]), tokens)
        loss.backward()
        gradients = [parameter.grad for parameter in model.parameters()]
        flat = nn.utils.parameters_to_vector(gradients)
        dist.all_reduce(flat, op=dist.ReduceOp.AVG)
        nn.utils.vector_to_parameters(flat, gradients)
        optimizer.step()
        return loss

    return step


if __name__ == "__main__":
    training.main(lambda device, arguments: whole(device) if arguments.whole else computation(device), parse())
