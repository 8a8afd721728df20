"""Reads the tables that name functions of NVIDIA's libraries: hooks, what we bind, what the software GPU answers."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The releases of CUDA in which a function's ABI may have come, and those to come of which cudaTypedefs.h may speak.
RELEASES = (2000, 2010, 2020, 2030, 3000, 3010, 3020, 4000, 4010, 4020, 5000, 5050, 6000, 6050, 7000, 7050, 8000, 9000,
            9010, 9020, 10000, 10010, 10020, *range(11000, 11090, 10), *range(12000, 12100, 10),
            *range(13000, 13100, 10))
LEGACY, PER_THREAD = 0, 2  # flags of cuGetProcAddress
_LITERAL = re.compile(r'"((?:cu|nvml)[A-Z]\w+)"')


@dataclass(frozen=True)
class Row:
    """A Row is a function: its symbol, and how cuGetProcAddress finds it."""

    symbol: str
    name: str
    version: int
    flags: int


def cuda_hooks():
    """Returns the rows of the CUDA functions that the library stands in for."""
    return [Row(symbol, name, int(version), PER_THREAD if flavour == "PerThread" else LEGACY)
            for symbol, name, version, flavour, *_ in _rows("sidecar/hooks/cuda_hooks.def", "CUDA_HOOK", 6)]


def nvml_hooks():
    """Returns the symbols of the NVML functions that the library stands in for."""
    return [symbol for symbol, _ in _rows("sidecar/hooks/nvml_hooks.def", "NVML_HOOK", 2)]


def software_functions():
    """Returns the rows that cuGetProcAddress of the software GPU knows."""
    return [Row(symbol, name, int(version), PER_THREAD if flavour else LEGACY)
            for name, version, flavour, symbol in _rows("simgpu/cuda/functions.def", "FUNCTION", 4)]


def bound_symbols():
    """Returns the symbols that product code looks up itself: those of the driver, and those of NVML."""
    found = {symbol for _, symbol, _ in _rows("sidecar/gates/driver.def", "DRIVER_FUNCTION", 3)}
    found |= {symbol for _, symbol in _rows("benchmarks/driver/driver.def", "DRIVER", 2)}
    for folder in ("sidecar", "deviceplugin", "cli"):
        for file in sorted((ROOT / folder).rglob("*.cc")) + sorted((ROOT / folder).rglob("*.h")):
            found |= set(_LITERAL.findall(file.read_text(encoding="utf-8")))
    return sorted(s for s in found if s.startswith("cu")), sorted(s for s in found if s.startswith("nvml"))


def _rows(file, macro, columns):
    """Returns the arguments of each use of a macro in a .def file. Raises ValueError if one has other columns."""
    rows = []
    for number, line in enumerate((ROOT / file).read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith(macro + "("):
            continue
        row = [cell.strip() for cell in line[len(macro) + 1:line.rindex(")")].split(",")]
        if len(row) != columns:
            raise ValueError(f"{file}:{number}: expected {columns} columns, got {len(row)}")
        rows.append(row)
    if not rows:
        raise ValueError(f"{file}: expected rows of {macro}, got none")
    return rows
