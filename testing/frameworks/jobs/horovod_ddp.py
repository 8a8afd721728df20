"""Trains with Horovod's DistributedOptimizer, under horovodrun."""

import argparse
import time

import horovod.torch as hvd
import torch

import training


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--groups", type=int, help="gradients are reduced in this many groups (default: as they come)")
    parser.add_argument("--count", action="store_true", help="the ranks' right predictions are added up in each step")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--one-more-at", type=int, default=-1, metavar="STEP", help="one kernel more after this step")
    return parser.parse_args()


def main():
    arguments = parse()
    hvd.init()
    device = torch.device("cuda", hvd.local_rank())
    torch.cuda.set_device(device)
    torch.manual_seed(1)
    model = training.Transformer().to(device)
    optimizer = hvd.DistributedOptimizer(torch.optim.AdamW(model.parameters(), lr=1e-3),
                                         named_parameters=model.named_parameters(), groups=arguments.groups)
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    for index in range(arguments.steps):
        tokens = training.tokens_on(device)
        optimizer.zero_grad()
        predicted = model(tokens[:, :-1])
        loss = training.loss_of(predicted, tokens)
        loss.backward()
        optimizer.step()
        if arguments.count:
            hvd.allreduce((predicted.argmax(-1) == tokens[:, 1:]).sum(), op=hvd.Sum, name="right")
        if index == arguments.one_more_at:
            loss.detach().abs()
        if index % 10 == 9:
            loss.item()
            if hvd.rank() == 0:
                training.say(f"step {index + 1} at {time.monotonic():.6f} s")
    torch.cuda.synchronize()
    training.say(f"rank {hvd.rank()} done, peak {torch.cuda.max_memory_allocated(device)} bytes")
    hvd.barrier()  # a rank that shuts down ends the communicators of all, also while another looks at one
    hvd.shutdown()


if __name__ == "__main__":
    main()
