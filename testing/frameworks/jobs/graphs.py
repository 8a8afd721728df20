"""Trains with a CUDA graph of whole steps, with their collectives."""

import torch
from torch.nn.parallel import DistributedDataParallel

import training


def build(device, _):
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


if __name__ == "__main__":
    training.main(build)
