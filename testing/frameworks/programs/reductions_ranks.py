"""Trains small models on the CPU with ddp_reductions, over gloo, under torchrun. Rank 0 prints a line of JSON for each
subject: {"subject": {"fact": value}}. A fact "equal" is true where all ranks have the same bits."""

import gc
import json
import sys

import torch
import torch.distributed as dist
from reductions_adaptive import adaptive_checkpoint, adaptive_numbers
from reductions_adasum import adasum_numbers, adasum_training
from reductions_topk import topk_buckets, topk_checkpoint, topk_numbers, topk_quality, topk_refused, topk_scale

SUBJECTS = (topk_numbers, topk_buckets, topk_scale, topk_checkpoint, topk_quality, topk_refused, adaptive_numbers,
            adaptive_checkpoint, adasum_numbers, adasum_training)


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    wanted = sys.argv[1:]
    for subject in SUBJECTS:
        if not wanted or subject.__name__ in wanted:
            facts = subject()
            if dist.get_rank() == 0:
                sys.stdout.write(json.dumps({subject.__name__: facts}) + "\n")
                sys.stdout.flush()
    gc.collect()  # models that are left would keep threads of gloo alive until the interpreter ends
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
