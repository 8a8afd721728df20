"""Implements `make demo`: two training jobs take turns on the same software GPUs, in real processes."""
