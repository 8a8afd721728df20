"""Trains with CUDA graphs: of whole steps, with their collectives, or of the computation of each block alone."""

import argparse

import torch
from torch.nn.parallel import DistributedDataParallel

import training


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--computation", action="store_true",
                        help="graphs of each block's forward and backward pass, with collectives outside of them")
    return parser


def build_computation(device):
    """Returns a step in which each block of the model replays a graph, forward and backward."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        model = training.Transformer().to(device)
        sample = torch.randn(8, training.LENGTH, 128, device=device, requires_grad=True)
        model.blocks = torch.nn.ModuleList(torch.cuda.make_graphed_callables(
            tuple(model.blocks), tuple((sample.clone().detach().requires_grad_(),) for _ in model.blocks)))
        model = DistributedDataParallel(model, device_ids=[device.index], bucket_cap_mb=1)
    torch.cuda.current_stream().wait_stream(side)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    return lambda _: training.train_on_tokens(model, optimizer, device)


def build_whole(device):
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


def build(device, arguments):
    return build_computation(device) if arguments.computation else build_whole(device)


if __name__ == "__main__":
    training.main(build, parse())
