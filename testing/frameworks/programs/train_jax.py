"""Trains a small network on the CPU with JAX, and prints each loss to the last bit. --steps=N and --timed: see
paced.py."""

import descriptors
import jax
import jax.numpy as jnp
import paced


def loss_of(weights, images, labels):
    hidden = jnp.tanh(images @ weights["in"])
    return -jnp.mean(jax.nn.log_softmax(hidden @ weights["out"])[jnp.arange(64), labels])


def main():
    keys = jax.random.split(jax.random.PRNGKey(1), 4)
    weights = {"in": jax.random.normal(keys[0], (64, 32)) * 0.1, "out": jax.random.normal(keys[1], (32, 10)) * 0.1}
    images, labels = jax.random.normal(keys[2], (64, 64)), jax.random.randint(keys[3], (64,), 0, 10)
    step = jax.jit(jax.value_and_grad(loss_of))
    for number in paced.steps(20):
        loss, slopes = step(weights, images, labels)
        weights = jax.tree.map(lambda weight, slope: weight - 0.1 * slope, weights, slopes)
        print(number, float(loss).hex())
    print([device.platform for device in jax.devices()])
    descriptors.say()


if __name__ == "__main__":
    main()
