"""Fills the memory of a GPU until PyTorch gives up, lets the allocator try again after a free, and prints one JSON
object: what PyTorch, the driver and NVML say of the memory at each step."""

import json

import pynvml
import torch

_BLOCK = 32 << 20
_SMALL = 1 << 20  # of a block that gets a page of 2 MiB with another one


def told():
    """Returns what is said of the memory once all frees are done, in bytes: cudaMallocAsync's are work of a stream."""
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    pynvml.nvmlInit()
    memory = pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(0))
    pynvml.nvmlShutdown()
    return {"total": total, "free": free, "nvml_total": memory.total, "nvml_free": memory.free,
            "reserved": torch.cuda.memory_reserved(), "allocated": torch.cuda.memory_allocated()}


def fill(blocks, size):
    """Adds blocks of a size until there is no memory for one more. Returns the words of the error."""
    while True:
        try:
            blocks.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
        except torch.OutOfMemoryError as error:
            return str(error)


def counts():
    """Returns how often the allocator has tried again, and how often it has given up."""
    statistics = torch.cuda.memory_stats()
    return {"retries": statistics.get("num_alloc_retries", 0), "given_up": statistics.get("num_ooms", 0)}


def main():
    torch.cuda.init()
    torch.empty(1, device="cuda")
    torch.cuda.empty_cache()
    said = {"start": told()}
    blocks = []
    fill(blocks, _BLOCK)
    said["words"] = fill(blocks, _SMALL)
    said["filled"] = told() | counts()
    blocks.clear()  # the allocator keeps the memory of the blocks, in pieces
    whole = torch.empty(said["filled"]["reserved"] // 2, dtype=torch.uint8, device="cuda")
    said["again"] = told() | counts()
    del whole
    torch.cuda.empty_cache()
    said["end"] = told()
    print(json.dumps(said))


if __name__ == "__main__":
    main()
