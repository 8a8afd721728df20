"""Measures what jobs gain that take turns on GPUs, and whether the estimates of that gain are right."""
