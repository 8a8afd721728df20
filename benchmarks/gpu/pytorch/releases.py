"""Asks in a process of PyTorch whether a write of a word, on the stream on which it computes, waits for a collective
that is under way on NCCL's stream. The other rank answers over a slow link, so each collective lasts long.
"""

import ctypes
import json
import time

import torch
import torch.distributed as dist

_ROUNDS = 20
_PATIENCE_S = 0.1
_ELEMENTS = 1 << 19
_DRIVER = ctypes.CDLL("libcuda.so.1")


def write(stream, address, value):
    """Puts a write of `value` to the device address on a stream."""
    code = _DRIVER.cuStreamWriteValue32_v2(ctypes.c_void_p(stream.cuda_stream), ctypes.c_uint64(address),
                                           ctypes.c_uint32(value), ctypes.c_uint(0))
    if code:
        raise RuntimeError(f"cuStreamWriteValue32: {code}")


def comes(words, place, value):
    """Returns whether the word becomes `value` in time."""
    end = time.monotonic() + _PATIENCE_S
    while words[place].item() != value:
        if time.monotonic() > end:
            return False
    return True


def main():
    dist.init_process_group("nccl")
    torch.cuda.set_device(0)
    words = torch.zeros(64, dtype=torch.int32).pin_memory()
    gradients, weights = torch.ones(_ELEMENTS, device="cuda"), torch.ones(512, 512, device="cuda")
    side = torch.cuda.Stream()
    weights @ weights
    dist.all_reduce(gradients)
    torch.cuda.synchronize()
    late = own_late = 0
    for number in range(1, _ROUNDS + 1):
        work = dist.all_reduce(gradients, async_op=True)
        weights @ weights
        write(torch.cuda.current_stream(), words.data_ptr(), number)
        came = comes(words, 0, number)
        if work.is_completed():
            raise RuntimeError("the collective was over too soon: expected one that lasts longer than the write")
        late += not came
        with torch.cuda.stream(side):  # known bad: this stream waits for the collective
            work.wait()
        write(side, words.data_ptr() + 128, number)
        own_late += not comes(words, 32, number)
        torch.cuda.synchronize()
    print(json.dumps({"late": late, "own_late": own_late, "of": _ROUNDS}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
