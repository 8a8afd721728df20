"""Trains with Hugging Face's Accelerate, in bfloat16, with a schedule of the learning rate and clipping; steps
accumulate gradients where the command line asks for it."""

import argparse

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader

import training


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--accumulate", type=int, default=1, help="batches of a step")
    return parser


def main():
    arguments = training.parse(options())
    torch.manual_seed(1)
    accelerator = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=arguments.accumulate)
    model = training.Transformer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, arguments.steps)
    batches = arguments.steps * arguments.accumulate
    loader = DataLoader(training.Sentences(8 * batches * accelerator.num_processes), batch_size=8, shuffle=True)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    for index, tokens in enumerate(loader):
        with accelerator.accumulate(model):
            loss = training.loss_of(model(tokens[:, :-1]), tokens)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
        if accelerator.sync_gradients:
            training.after_step(arguments, index // arguments.accumulate, loss)
    training.finish(accelerator.device)


if __name__ == "__main__":
    main()
