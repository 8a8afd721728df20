"""Has two libraries of the driver's name in the process while it trains: `loads.py ctypes|search|threads`.

ctypes   opens the stub by its path and the driver by its name, as bindings do that look for a library
search   opens each libcuda.so of the folders of LD_LIBRARY_PATH in turn, and keeps the first that has a GPU
threads  opens both at once, on threads

It records what each library answers. Environment: STUBS, the folder of the stub.
"""

import ctypes
import os
import sys
import threading

STUB = os.path.join(os.environ["STUBS"], "libcuda.so")
_STUB_LIBRARY = 34


def _by_ctypes():
    return ctypes.CDLL(STUB), ctypes.CDLL("libcuda.so.1")


def _by_search():
    found = []
    for folder in os.environ["LD_LIBRARY_PATH"].split(":"):
        for name in ("libcuda.so", "libcuda.so.1"):
            path = os.path.join(folder, name)
            if os.path.exists(path):
                found.append(ctypes.CDLL(path))
    stub = next(library for library in found if library.cuInit(0) == _STUB_LIBRARY)
    return stub, next(library for library in found if library.cuInit(0) == 0)


def _by_threads():
    opened = {}

    def open_one(path):
        opened[path] = ctypes.CDLL(path)

    threads = [threading.Thread(target=open_one, args=(path,)) for path in (STUB, "libcuda.so.1")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return opened[STUB], opened["libcuda.so.1"]


def main(way):
    stub, driver = {"ctypes": _by_ctypes, "search": _by_search, "threads": _by_threads}[way]()
    from rank import EAGER, RANK, need, train_on  # the driver's users are loaded after the stub
    RANK.StrangerBegin()

    def ask(when):
        address = ctypes.c_uint64()
        for who, library, wanted in (("stub", stub, _STUB_LIBRARY), ("driver", driver, 0)):
            version = library.cuDriverGetVersion(ctypes.byref(ctypes.c_int()))
            given = library.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(4096))
            for what, answer in (("version", version), ("allocation", given)):
                RANK.StrangerSaw(f"{who} {what} {when}".encode(), answer)
                need(answer == wanted, f"{who}: {what}: expected {wanted}, got {answer}")
        need(driver.cuMemFree_v2(address) == 0, "memory is not freed")

    ask("at first")
    RANK.StrangerTrain(EAGER)
    ask("later")
    train_on()
    RANK.StrangerEnd()


if __name__ == "__main__":
    main(*sys.argv[1:])
