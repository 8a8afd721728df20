"""Writes the functions that a driver library exports and the recorder does not record, a line PASSED(name) each.

Usage: passed.py LIBRARY OUT TABLE..., where the tables have the recorded names as CUDA_HOOK(name, ...) and
RECORDED(name, ...)."""

import re
import sys
from pathlib import Path

from simgpu.stand_ins import elf

_ROW = re.compile(r"^(?:CUDA_HOOK|RECORDED)\((\w+)", re.MULTILINE)


def main(library, out, *tables):
    recorded = {name for table in tables for name in _ROW.findall(Path(table).read_text(encoding="utf-8"))}
    exported = {symbol.name for symbol in elf.symbols(Path(library)) if symbol.defined}
    names = sorted(name for name in exported - recorded if re.fullmatch(r"cu[A-Z]\w*", name))
    Path(out).write_text("".join(f"PASSED({name})\n" for name in names), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
