"""Lets one stream wait for a word, and opens it by another stream or by the host (the argument). Prints whether the
wait is over within half a second: open or shut."""

import ctypes
import os
import sys


def main(how):
    cuda = ctypes.CDLL(f"{os.environ['SIMGPU_LIBRARIES']}/libcuda.so.1")

    def call(name, *arguments):
        status = getattr(cuda, name)(*arguments)
        if status != 0:
            raise SystemExit(f"{name}: {status}")

    context, waits, opens = (ctypes.c_void_p() for _ in range(3))
    memory = ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)
    call("cuStreamCreate", ctypes.byref(waits), 1)
    call("cuStreamCreate", ctypes.byref(opens), 1)
    call("cuMemHostAlloc", ctypes.byref(memory), 4096, 2)
    word = ctypes.c_uint64()
    call("cuMemHostGetDevicePointer_v2", ctypes.byref(word), memory, 0)
    store = ctypes.cast(memory, ctypes.POINTER(ctypes.c_uint32))
    store[0] = 0
    call("cuStreamWaitValue32_v2", waits, word, 1, 0)
    if how == "stream":
        call("cuStreamWriteValue32_v2", opens, word, 1, 0)
    else:
        store[0] = 1
    libc = ctypes.CDLL(None)
    for _ in range(100):
        if cuda.cuStreamQuery(waits) == 0:
            break
        libc.usleep(5000)
    print("open" if cuda.cuStreamQuery(waits) == 0 else "shut", flush=True)
    os._exit(0)  # pylint: disable=protected-access


if __name__ == "__main__":
    main(sys.argv[1])
