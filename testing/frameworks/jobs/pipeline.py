"""Trains with pipeline parallelism: each rank has some layers, and micro-batches go through them one after the
other."""

import argparse

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe

import training

_SCHEDULES = {"1f1b": Schedule1F1B, "gpipe": ScheduleGPipe}
_BATCH, _WIDTH = 512, 256
_PARTS = 4  # micro-batches


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--schedule", choices=_SCHEDULES, default="1f1b")
    return parser


def build(device, arguments):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    layers = nn.Sequential(*(nn.Sequential(nn.Linear(_WIDTH, _WIDTH), nn.GELU()) for _ in range(3))).to(device)
    received, given = (torch.empty(_BATCH // _PARTS, _WIDTH, device=device, requires_grad=gradients)
                       for gradients in (rank > 0, True))
    stage = PipelineStage(layers, rank, ranks, device, input_args=received, output_args=given)
    schedule = _SCHEDULES[arguments.schedule](stage, n_microbatches=_PARTS, loss_fn=F.mse_loss)
    optimizer = torch.optim.AdamW(layers.parameters(), lr=1e-3)

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        batch, target = (torch.randn(_BATCH, _WIDTH).to(device) for _ in range(2))
        losses = []
        if rank == 0:
            schedule.step(batch)
        else:
            schedule.step(target=target, losses=losses)
        optimizer.step()
        return losses[-1] if losses else batch[0, 0]

    return step


if __name__ == "__main__":
    training.main(build, parse())
