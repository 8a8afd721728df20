"""Measures what the library and the daemon cost: per launch, per hand-over, per process, per node."""
