"""Reduces gradients of DistributedDataParallel, or steps of the optimizer, by ways that others published. The README
beside this file says when each is of use, how, and what it cannot do."""

from .adaptive import AdaptiveState, adaptive_hook
from .adasum import AdasumOptimizer
from .topk import TopKState, topk_hook

__all__ = ["AdaptiveState", "AdasumOptimizer", "TopKState", "adaptive_hook", "topk_hook"]
