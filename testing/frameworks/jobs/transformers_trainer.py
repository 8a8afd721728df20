"""Trains a small Llama with the Trainer of Hugging Face's Transformers."""

import tempfile

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainerCallback, TrainingArguments

import training


class Texts(training.Sentences):
    """Gives what the model takes."""

    def __getitem__(self, index):
        return {"input_ids": self.tokens[index], "labels": self.tokens[index]}


class EndOfStep(TrainerCallback):
    """Tells that a step has ended."""

    def __init__(self, arguments):
        self.arguments = arguments

    def on_step_end(self, args, state, control, model=None, **kwargs):
        training.after_step(self.arguments, state.global_step - 1, next(model.parameters()))


def main():
    arguments = training.parse()
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as directory:
        settings = TrainingArguments(output_dir=directory, max_steps=arguments.steps, per_device_train_batch_size=8,
                                     bf16=True, logging_steps=10, save_strategy="no", report_to=[], disable_tqdm=True)
        model = LlamaForCausalLM(LlamaConfig(vocab_size=training.VOCABULARY, hidden_size=128, intermediate_size=512,
                                             num_hidden_layers=2, num_attention_heads=4))
        data = Texts(8 * arguments.steps * settings.world_size)
        Trainer(model, settings, train_dataset=data, callbacks=[EndOfStep(arguments)]).train()
        training.finish(settings.device)


if __name__ == "__main__":
    main()
