"""Measures the node daemon beside a kubelet: slots, owners of GPUs, MPS, restarts, memory."""
