"""Trains with DistributedDataParallel and the options that the command line names."""

import argparse
import contextlib
import math
import os
import signal

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

import training

_HOOKS = {"bf16": lambda model: model.register_comm_hook(None, default_hooks.bf16_compress_hook),
          "powersgd": lambda model: model.register_comm_hook(
              powerSGD_hook.PowerSGDState(None, start_powerSGD_iter=4), powerSGD_hook.powerSGD_hook)}


class WithSpare(training.Transformer):
    """Leaves out one of its blocks in every second step."""

    def __init__(self):
        super().__init__(layers=3)
        self.steps = 0

    def forward(self, tokens):
        x = self.embedding(tokens)
        self.steps += 1
        for block in self.blocks[:3 if self.steps % 2 else 2]:
            x = block(x)
        return self.head(x)


_MODELS = {"transformer": training.Transformer, "convolutional": training.convolutional, "spare": WithSpare}


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=_MODELS, default="transformer")
    parser.add_argument("--batch", type=int, default=0, help="sequences or images of a batch (default: a few)")
    parser.add_argument("--accumulate", type=int, default=1, help="batches of a step; all but the last under no_sync")
    parser.add_argument("--bucket-view", action="store_true")
    parser.add_argument("--static-graph", action="store_true")
    parser.add_argument("--find-unused", action="store_true")
    parser.add_argument("--sync-batch-norm", action="store_true")
    parser.add_argument("--hook", choices=_HOOKS)
    parser.add_argument("--zero", action="store_true", help="each rank keeps its part of the optimizer's state")
    parser.add_argument("--amp", action="store_true", help="half precision, with a scale of gradients and clipping")
    parser.add_argument("--overflow-each", type=int, default=0, metavar="STEPS",
                        help="with --amp: gradients of each such step are infinite, so that the scaler skips it")
    parser.add_argument("--compile", metavar="BACKEND", help="torch.compile with this backend")
    parser.add_argument("--side-stream", action="store_true", help="steps run on a stream of their own")
    parser.add_argument("--die-at", type=int, default=-1, metavar="STEP", help="rank 1 is killed once at this step")
    return parser


def make_model(device, arguments):
    """Returns the model, wrapped."""
    model = _MODELS[arguments.model]().to(device)
    if arguments.sync_batch_norm:
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    model = DistributedDataParallel(model, device_ids=[device.index], bucket_cap_mb=1,
                                    gradient_as_bucket_view=arguments.bucket_view, static_graph=arguments.static_graph,
                                    find_unused_parameters=arguments.find_unused)
    if arguments.hook:
        _HOOKS[arguments.hook](model)
    return torch.compile(model, backend=arguments.compile) if arguments.compile else model


def make_optimizer(model, arguments):
    """Returns AdamW, whose state each rank has as a whole or in part."""
    if arguments.zero:
        return ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=1e-3)
    return torch.optim.AdamW(model.parameters(), lr=1e-3)


def loss_of_a_batch(model, device, arguments):
    """Returns the loss of new data."""
    with torch.autocast("cuda", dtype=torch.half, enabled=arguments.amp):
        if arguments.model == "convolutional":
            images, classes = training.images_on(device, arguments.batch or 16)
            return F.cross_entropy(model(images), classes)
        tokens = training.tokens_on(device, arguments.batch or 8)
        return training.loss_of(model(tokens[:, :-1]), tokens)


def die_once(arguments, index):
    """Kills rank 1 in the first life of the job."""
    if index == arguments.die_at and dist.get_rank() == 1 and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
        os.kill(os.getpid(), signal.SIGKILL)


def check_scale(scaler, skipped):
    """Raises ValueError unless the scale has been halved by each step that was skipped."""
    expected, found = 2.0 ** (16 - skipped), scaler.get_scale()
    if found != expected:
        raise ValueError(f"scale after {skipped} steps that overflowed: expected {expected}, got {found}")


def build(device, arguments):
    model = make_model(device, arguments)
    optimizer = make_optimizer(model, arguments)
    scaler = torch.amp.GradScaler("cuda", enabled=arguments.amp)
    side = torch.cuda.Stream()

    def step(index):
        die_once(arguments, index)
        if not arguments.side_stream:
            return train(index)
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            loss = train(index)
        torch.cuda.current_stream().wait_stream(side)
        return loss

    def train(index):
        optimizer.zero_grad(set_to_none=True)
        for batch in range(arguments.accumulate):
            last = batch == arguments.accumulate - 1
            with contextlib.nullcontext() if last else model.no_sync():
                loss = loss_of_a_batch(model, device, arguments)
                scaler.scale(loss / arguments.accumulate).backward()
        overflows = arguments.overflow_each > 0 and index % arguments.overflow_each == 0
        if overflows:
            for parameter in model.parameters():
                parameter.grad.fill_(math.inf)
        if arguments.amp:
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        if overflows:
            check_scale(scaler, 1 + index // arguments.overflow_each)
        return loss

    return step


if __name__ == "__main__":
    training.main(build, parse())
