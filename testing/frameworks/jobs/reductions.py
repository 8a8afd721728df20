"""Trains a transformer whose ranks reduce gradients, or steps of the optimizer, in the way that the command line names.
Each rank prints how many bytes it expects to have received for that, and how many elements each parameter has."""

import argparse

import torch
import torch.distributed as dist
from ddp_reductions import AdaptiveState, AdasumOptimizer, TopKState, adaptive_hook, topk_hook
from ddp_reductions.bits import Rule
from torch.nn.parallel import DistributedDataParallel

import training


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--reduction", choices=("mean", "topk", "adaptive", "adasum"), default="mean")
    parser.add_argument("--density", type=float, default=0.01)
    parser.add_argument("--amp", action="store_true", help="half precision, with a scale of gradients")
    return parser


def register(model, optimizer, scaler, arguments):
    """Registers the hook that the command line names. Returns its state."""
    if arguments.reduction == "topk":
        state = TopKState(model, density=arguments.density, scaler=scaler, optimizer=optimizer)
        model.register_comm_hook(state, topk_hook)
    elif arguments.reduction == "adaptive":
        # Layers are not measured in these few steps but the first, and all have 4 bits, whatever is measured.
        state = AdaptiveState(model, rule=Rule(least_bits=4, most_bits=4), every=1000)
        model.register_comm_hook(state, adaptive_hook)
    else:
        state = None
    return state


def build(device, arguments):
    model = training.Transformer().to(device)
    elements = [parameter.numel() for parameter in model.parameters()]
    scaler = torch.amp.GradScaler("cuda", enabled=arguments.amp)
    if arguments.reduction == "adasum":
        optimizer = AdasumOptimizer(torch.optim.SGD(model.parameters(), lr=0.01), model)
        inner, state = optimizer.optimizer, optimizer
    else:
        model = DistributedDataParallel(model, device_ids=[device.index], bucket_cap_mb=1)
        inner = optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        state = register(model, optimizer, scaler, arguments)

    def step(index):
        inner.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.half, enabled=arguments.amp):
            tokens = training.tokens_on(device)
            loss = training.loss_of(model(tokens[:, :-1]), tokens)
        scaler.scale(loss).backward()
        if arguments.reduction == "adasum":
            optimizer.step(scaler)
        else:
            scaler.step(optimizer)
        scaler.update()
        if index == arguments.steps - 1:
            received = state.received_bytes if state else 0
            training.say(f"rank {dist.get_rank()} of {dist.get_world_size()} expects {received} bytes, parameters "
                         f"{elements}")
        return loss

    return step


if __name__ == "__main__":
    training.main(build, parse())
