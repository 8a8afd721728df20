"""Counts the steps that a program trains, and measures what they take.

`--steps=N` trains N steps. `--timed` prints a line "trained: PROCESSOR_S S" at the end, for all steps but the first,
which compiles and allocates memory. What the program imports has no part in it.
"""

import sys
import time


def steps(otherwise):
    """Yields the numbers of the steps to train. `otherwise` is their count if the command line has none."""
    count = next((_whole(word) for word in sys.argv if word.startswith("--steps=")), otherwise)
    processor_s, began = time.process_time(), time.monotonic()
    for step in range(count):
        if step == 1:
            processor_s, began = time.process_time(), time.monotonic()
        yield step
    if "--timed" in sys.argv:
        print(f"trained: {time.process_time() - processor_s:.6f} {time.monotonic() - began:.6f}", flush=True)


def _whole(word):
    name, value = word.split("=", 1)
    if not value.isdigit() or int(value) < 1:
        sys.exit(f"{name}={value}: expected a whole number from 1 on")
    return int(value)
