"""Holds what the hooks of this package share: which models they accept, the names of parameters, and the stream on
which they run."""

import weakref

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

_MOST_ELEMENTS = 2**31 - 1  # of a bucket: places in it are int32


def check_parameters(named):
    """Raises TypeError or ValueError unless all parameters of [(name, parameter)] are float32 and on one device."""
    if not named:
        raise ValueError("model: expected parameters that need gradients, got none")
    for name, parameter in named:
        if isinstance(parameter, DTensor):
            raise TypeError(f"parameter {name}: expected the whole parameter on each rank, got a DTensor")
        if parameter.dtype is not torch.float32:
            raise TypeError(f"parameter {name}: expected torch.float32, got {parameter.dtype}; torch.autocast keeps "
                            "parameters and their gradients in float32")
    devices = sorted({str(parameter.device) for _, parameter in named})
    if len(devices) > 1:
        raise ValueError(f"model: expected all parameters on one device, got {', '.join(devices)}")


def _check_options(model):
    """Raises TypeError or ValueError for a model or an option of DistributedDataParallel that no hook here serves."""
    if not isinstance(model, DistributedDataParallel):
        raise TypeError(f"model: expected DistributedDataParallel, got {type(model).__name__}")
    if model.mixed_precision is not None:
        raise ValueError("mixed_precision: expected None, because its buckets are not float32, got "
                         f"{model.mixed_precision}")
    for name, module in model.module.named_modules():
        if isinstance(module, (nn.Embedding, nn.EmbeddingBag)) and module.sparse:
            raise TypeError(f"module {name}: expected dense gradients, got sparse=True")


class HookState:
    """Is the part of a hook's state that does not depend on the way of reducing. It names each parameter as
    model.module.named_parameters() does. It does not keep the model alive."""

    def __init__(self, model):
        _check_options(model)
        self.group = model.process_group
        self.ranks, self.rank = dist.get_world_size(self.group), dist.get_rank(self.group)
        ignored = getattr(model, "parameters_to_ignore", ())
        named = [(name, parameter) for name, parameter in model.module.named_parameters()
                 if parameter.requires_grad and name not in ignored]
        check_parameters(named)
        self.names = {parameter: name for name, parameter in named}
        self.received_bytes = 0  # by this rank from others, since the state was made
        self._model = weakref.ref(model)
        device = named[0][1].device
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None

    def run(self, bucket, work):
        """Calls work(buffer, parameters), which reduces the gradients of the bucket in place, and returns the Future
        that DistributedDataParallel expects. On a GPU the work is on a stream of its own, beside the backward pass; it
        makes its collectives in the same order on all ranks. On a CPU the call returns when the work is done."""
        parameters, buffer = self._parameters_of(bucket), bucket.buffer()
        if self._stream is None:
            future = torch.futures.Future()
            work(buffer, parameters)
            future.set_result(buffer)
            return future
        future = torch.futures.Future(devices=[buffer.device])
        self._stream.wait_stream(torch.cuda.current_stream(buffer.device))
        with torch.cuda.stream(self._stream):
            work(buffer, parameters)
            future.set_result(buffer)  # waits for this stream
        return future

    def _parameters_of(self, bucket):
        """Returns the parameters of a bucket, in the order in which their gradients follow each other."""
        buffer, parameters = bucket.buffer(), bucket.parameters()
        if buffer.is_sparse or buffer.dtype is not torch.float32:
            kind = "a sparse one" if buffer.is_sparse else buffer.dtype
            raise TypeError(f"bucket {bucket.index()}: expected dense gradients of torch.float32, got {kind}")
        if buffer.numel() > _MOST_ELEMENTS:
            raise ValueError(f"bucket {bucket.index()}: expected at most {_MOST_ELEMENTS} elements, got "
                             f"{buffer.numel()}")
        if any(parameter not in self.names for parameter in parameters):
            raise ValueError(f"bucket {bucket.index()}: expected parameters of the model for which the state was made, "
                             "got one of another model, or one that needed no gradient then")
        model = self._model()
        if model is not None and model._join_config.enable:
            raise ValueError("join: expected a loop without model.join(), because a rank that has ended cannot take "
                             "part in the hook's collectives")
        return parameters
