"""Has more streams at a time than the library has room for, through ctypes and a pool of threads of Python's, as
frameworks of array programs do. Then it trains on."""

import ctypes
import os
from concurrent.futures import ThreadPoolExecutor

from rank import EAGER, RANK, need, train_on

_NON_BLOCKING = 1
_STREAMS, _THREADS, _BYTES = 180, 12, 4096
_IMAGE = b"// simgpu 1\nkernel timed ns=arg sms=132\n"
_CUDA = ctypes.CDLL("libcuda.so.1")


def _call(name, *arguments):
    result = getattr(_CUDA, name)(*arguments)
    need(result == 0, f"{name} returned {result}")


def _kernel():
    """Returns the handle of a kernel that computes for so many nanoseconds."""
    module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    _call("cuModuleLoadData", ctypes.byref(module), _IMAGE)
    _call("cuModuleGetFunction", ctypes.byref(kernel), module, b"timed")
    return kernel


def _use_stream(context, kernel, memory):
    """Computes and sets memory on a stream of its own. Returns the stream."""
    _call("cuCtxSetCurrent", context)
    stream, event = ctypes.c_void_p(), ctypes.c_void_p()
    _call("cuStreamCreate", ctypes.byref(stream), _NON_BLOCKING)
    _call("cuEventCreate", ctypes.byref(event), 2)
    nanoseconds = ctypes.c_ulonglong(1000)
    parameters = (ctypes.c_void_p * 1)(ctypes.addressof(nanoseconds))
    _call("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, stream, parameters, None)
    _call("cuMemsetD8Async", memory, ctypes.c_ubyte(0), ctypes.c_size_t(_BYTES), stream)
    _call("cuEventRecord", event, stream)
    _call("cuStreamWaitEvent", stream, event, 0)
    _call("cuStreamSynchronize", stream)
    _call("cuEventDestroy_v2", event)
    return stream


def main():
    RANK.StrangerBegin()
    RANK.StrangerTrain(EAGER)
    RANK.StrangerNumber()
    context, memory = ctypes.c_void_p(), ctypes.c_uint64()
    _call("cuDevicePrimaryCtxRetain", ctypes.byref(context), int(os.environ["LOCAL_RANK"]))
    _call("cuCtxSetCurrent", context)
    _call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(_BYTES))
    kernel = _kernel()
    with ThreadPoolExecutor(_THREADS) as pool:
        streams = list(pool.map(lambda _: _use_stream(context, kernel, memory), range(_STREAMS)))
    for stream in streams:
        _call("cuStreamDestroy_v2", stream)
    train_on()
    RANK.StrangerEnd()


if __name__ == "__main__":
    main()
