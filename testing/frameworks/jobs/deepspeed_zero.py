"""Trains with DeepSpeed's ZeRO, in the stage that the command line names, in bfloat16, with PyTorch's optimizer."""

import argparse
import os

import deepspeed
import torch

import training


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stage", type=int, choices=(1, 2, 3), default=1)
    return parser


def main():
    arguments = training.parse(options())
    torch.manual_seed(1)
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    deepspeed.init_distributed("nccl")
    settings = {"train_micro_batch_size_per_gpu": 8, "bf16": {"enabled": True}, "gradient_clipping": 1.0,
                "zero_optimization": {"stage": arguments.stage, "reduce_bucket_size": 300_000,
                                      "allgather_bucket_size": 300_000},
                "zero_allow_untested_optimizer": True}
    with deepspeed.zero.Init(config_dict_or_path=settings, enabled=arguments.stage == 3):
        model = training.Transformer()
    engine, *_ = deepspeed.initialize(model=model, optimizer=torch.optim.AdamW(model.parameters(), lr=1e-3),
                                      config=settings)
    for index in range(arguments.steps):
        tokens = training.tokens_on(device)
        loss = training.loss_of(engine(tokens[:, :-1]), tokens)
        engine.backward(loss)
        engine.step()
        training.after_step(arguments, index, loss)
    training.finish(device)


if __name__ == "__main__":
    main()
