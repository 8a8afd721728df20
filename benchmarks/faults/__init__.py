"""Measures what jobs that share GPUs notice when ranks, arbiters and signallers die, leave or behave strangely."""
