"""Trains with JAX: parameters are on all GPUs, and each GPU has a part of the batch. XLA adds the sums over the GPUs.

Where NUM_PROCESSES says so, each process has one GPU, and they find each other as the processes of a JAXJob do, by
COORDINATOR_ADDRESS, COORDINATOR_PORT and PROCESS_ID. Otherwise one process has all GPUs."""

import argparse
import functools
import os
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

_WIDTH, _LAYERS, _BATCH = 256, 4, 64


def predict(parameters, inputs):
    for weights, bias in parameters[:-1]:
        inputs = jax.nn.relu(inputs @ weights + bias)
    weights, bias = parameters[-1]
    return inputs @ weights + bias


def loss_of(parameters, inputs, targets):
    return jnp.mean((predict(parameters, inputs) - targets) ** 2)


@functools.partial(jax.jit, donate_argnums=0)
def step(parameters, inputs, targets):
    """Returns the parameters after a step of gradient descent, and the loss before it."""
    loss, gradients = jax.value_and_grad(loss_of)(parameters, inputs, targets)
    return jax.tree.map(lambda old, gradient: old - 1e-3 * gradient, parameters, gradients), loss


def join():
    """Joins the other processes, if there are any. Returns the number of this one."""
    processes = int(os.environ.get("NUM_PROCESSES", "1"))
    if processes == 1:
        return 0
    process = int(os.environ["PROCESS_ID"])
    jax.distributed.initialize(f"{os.environ['COORDINATOR_ADDRESS']}:{os.environ['COORDINATOR_PORT']}", processes,
                               process, local_device_ids=[process])
    return process


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--one-more-at", type=int, default=-1, metavar="STEP", help="one kernel more after this step")
    return parser.parse_args()


def say(line):
    """Prints a line by one write, because the processes share their output."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main():
    arguments, process = parse(), join()
    mesh = Mesh(jax.devices(), ("data",))
    everywhere, in_parts = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in ((), ("data",)))
    numbers = np.random.default_rng(1)
    parameters = jax.device_put([(numbers.standard_normal((_WIDTH, _WIDTH), np.float32), np.zeros(_WIDTH, np.float32))
                                 for _ in range(_LAYERS)], everywhere)
    rows = _BATCH // jax.process_count()
    more = jax.jit(jnp.abs)
    for index in range(arguments.steps):
        inputs, targets = (jax.make_array_from_process_local_data(
            in_parts, numbers.standard_normal((rows, _WIDTH), np.float32)) for _ in range(2))
        parameters, loss = step(parameters, inputs, targets)
        if index == arguments.one_more_at:
            more(loss.addressable_data(0))
        if index % 10 == 9:
            float(loss)
            if process == 0:
                say(f"step {index + 1} at {time.monotonic():.6f} s")
    jax.block_until_ready(parameters)
    peak = max(device.memory_stats()["peak_bytes_in_use"] for device in jax.local_devices())
    say(f"rank {process} done, peak {peak} bytes")


if __name__ == "__main__":
    main()
