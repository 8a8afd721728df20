"""Measures unmodified PyTorch on the software GPU."""
