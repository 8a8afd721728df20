"""Trains a small GPT with Megatron core: data parallel, with gradients that are reduced while the backward pass goes
on, or tensor parallel over all ranks."""

import argparse
import os
from functools import partial

import torch
import torch.distributed as dist
from megatron.core import parallel_state
from megatron.core.distributed import DistributedDataParallel, DistributedDataParallelConfig, finalize_model_grads
from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
from megatron.core.models.gpt.gpt_model import GPTModel
from megatron.core.optimizer import OptimizerConfig, get_megatron_optimizer
from megatron.core.pipeline_parallel.schedules import get_forward_backward_func
from megatron.core.tensor_parallel.random import model_parallel_cuda_manual_seed
from megatron.core.transformer.transformer_config import TransformerConfig

import training

_BATCH = 8


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tensor-parallel", action="store_true")
    parser.add_argument("--distributed-optimizer", action="store_true")
    return parser


def make_model(arguments):
    """Returns the wrapped model."""
    ranks = dist.get_world_size() if arguments.tensor_parallel else 1
    config = TransformerConfig(num_layers=2, hidden_size=128, num_attention_heads=4, hidden_dropout=0.0,
                               attention_dropout=0.0, tensor_model_parallel_size=ranks, bf16=True,
                               params_dtype=torch.bfloat16, pipeline_dtype=torch.bfloat16)
    model = GPTModel(config, get_gpt_layer_local_spec(), training.VOCABULARY, training.LENGTH).cuda().bfloat16()
    buckets = DistributedDataParallelConfig(overlap_grad_reduce=True, bucket_size=200_000,
                                            use_distributed_optimizer=arguments.distributed_optimizer)
    return DistributedDataParallel(config, buckets, model)


def forward(batches, model):
    """Returns what the schedule asks for: the output, and how its loss is found."""
    tokens = next(batches)
    places = torch.arange(training.LENGTH, device=tokens.device).expand(_BATCH, -1)
    output = model(tokens[:, :-1].contiguous(), places, None, labels=tokens[:, 1:].contiguous())
    return output, partial(lambda losses: (losses.mean(), {"loss": losses.mean().detach()}))


def main():
    arguments = training.parse(options())
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group(training.BOTH)
    parallel_state.initialize_model_parallel(dist.get_world_size() if arguments.tensor_parallel else 1)
    model_parallel_cuda_manual_seed(1)
    torch.manual_seed(1)
    model = make_model(arguments)
    optimizer = get_megatron_optimizer(
        OptimizerConfig(lr=1e-3, bf16=True, params_dtype=torch.bfloat16,
                        use_distributed_optimizer=arguments.distributed_optimizer), [model])
    model.config.finalize_model_grads_func = finalize_model_grads
    model.config.no_sync_func = model.no_sync
    schedule = get_forward_backward_func()
    batches = iter(partial(training.tokens_on, device, _BATCH), None)
    for index in range(arguments.steps):
        model.zero_grad_buffer()
        optimizer.zero_grad()
        losses = schedule(forward_step_func=forward, data_iterator=batches, model=[model], num_microbatches=1,
                          seq_length=training.LENGTH, micro_batch_size=_BATCH, forward_only=False)
        optimizer.step()
        training.after_step(arguments, index, losses[0]["loss"])
    training.finish(device)


if __name__ == "__main__":
    main()
