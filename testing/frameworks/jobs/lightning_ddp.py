"""Trains with Lightning's Trainer and its strategy for DistributedDataParallel."""

import os

import lightning
import torch
from lightning.pytorch.strategies import DDPStrategy
from torch.utils.data import DataLoader

import training


class Predictor(lightning.LightningModule):
    """Predicts the next token."""

    def __init__(self):
        super().__init__()
        self.model = training.Transformer()

    def training_step(self, tokens):
        loss = training.loss_of(self.model(tokens[:, :-1]), tokens)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


class EndOfStep(lightning.Callback):
    """Tells that a step has ended."""

    def __init__(self, arguments):
        self.arguments = arguments

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        training.after_step(self.arguments, batch_idx, outputs["loss"])


def main():
    arguments = training.parse()
    lightning.seed_everything(1)
    ranks = int(os.environ["WORLD_SIZE"])
    strategy = DDPStrategy(process_group_backend=training.BOTH)
    trainer = lightning.Trainer(accelerator="gpu", devices=ranks, strategy=strategy, max_steps=arguments.steps,
                                precision="bf16-mixed", gradient_clip_val=1.0, callbacks=[EndOfStep(arguments)],
                                logger=False, enable_checkpointing=False, enable_progress_bar=False,
                                enable_model_summary=False)
    trainer.fit(Predictor(), DataLoader(training.Sentences(8 * arguments.steps * ranks), batch_size=8, shuffle=True))
    training.finish(torch.device("cuda", torch.cuda.current_device()))


if __name__ == "__main__":
    main()
