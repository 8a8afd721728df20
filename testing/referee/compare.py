"""Compares one of NVIDIA's binaries with what we have: tables, library, software GPU, stand-in for MPS."""

import os
from pathlib import Path

from testing.referee import control_daemon, lookups, tables, wanted
from testing.referee.library import Library

LIST = Path(__file__).with_name("wanted.txt")


def wanted_list():
    return wanted.read(LIST.read_text(encoding="utf-8"), str(LIST))


def compare(binary, build, rows=None, control=None, entries=None):
    """Returns the wanted.Verdict. `rows`, `control` and `entries` stand for our hook table, our control program and
    the list of wanted differences, if a test tries others."""
    compared, version = _COMPARE[binary.package](binary, build, rows or tables.cuda_hooks(), control)
    return wanted.judge(compared, wanted_list() if entries is None else entries, binary.package, version)


def _compare_driver(binary, build, rows, _):
    driver, software = _both(binary, build, "libcuda.so.1")
    bound, _ = tables.bound_symbols()
    version = driver.cuda_version()
    return [*lookups.compare_table(driver, rows),
            *lookups.compare_paths(driver, build.library, [row.symbol for row in rows],
                                   lookups.path_questions(driver, rows)),
            *lookups.compare_answers(driver, software),
            *lookups.compare_exports(driver, software),
            *lookups.compare_bound(driver, bound)], (version // 1000, version % 1000 // 10)


def _compare_nvml(binary, build, *_):
    nvml, software = _both(binary, build, "libnvidia-ml.so.1")
    _, bound = tables.bound_symbols()
    questions = [f"dlsym {symbol}" for symbol in nvml.exported()]
    return [*lookups.compare_paths(nvml, build.library, tables.nvml_hooks(), questions),
            *lookups.compare_exports(nvml, software), *lookups.compare_bound(nvml, bound)], (binary.major,)


def _compare_mps(binary, build, _, control):
    ours = control or build.program(control_daemon.PROGRAM)
    return list(control_daemon.compare(binary.control, ours, binary.major, os.geteuid() == 0)), (binary.major,)


def _both(binary, build, name):
    probe = build.program("referee_probe")
    return Library(probe, binary.libraries, name), Library(probe, build.gpu_libraries, name)


_COMPARE = {"libcuda1": _compare_driver, "libnvidia-ml1": _compare_nvml, "nvidia-cuda-mps": _compare_mps}
