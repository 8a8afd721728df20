"""Asks a library of NVIDIA's, or one of ours in its place, for functions (tests/referee/probe.cc)."""

import re
import subprocess
from collections import defaultdict

_TIMEOUT_S = 60


class Library:
    """A Library is a file that the probe opens, in a process of its own for each list of questions. It starts with
    `environment`, in which nothing is preloaded unless it says so."""

    def __init__(self, probe, folder, name, **environment):
        self.name = name
        self._command = [str(probe), name]
        self._file = folder / name
        self._environment = {"LD_LIBRARY_PATH": str(folder), "LC_ALL": "C", **environment}

    def under(self, **environment):
        """Returns the same library in another environment."""
        return Library(self._command[0], self._file.parent, self.name, **{**self._environment, **environment})

    def ask(self, questions):
        """Returns the answers to questions, in their order. Raises RuntimeError if the probe fails."""
        done = subprocess.run(self._command, input="".join(f"{q}\n" for q in questions), env=self._environment,
                              capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
        answers = done.stdout.splitlines()
        if done.returncode != 0 or len(answers) != len(questions):
            raise RuntimeError(f"{self._file}: the probe ended with {done.returncode} after {len(answers)} of "
                               f"{len(questions)} answers: {done.stderr.strip()}")
        return answers

    def places(self, symbols):
        """Returns {symbol: place}, without those that the library lacks."""
        answers = self.ask([f"dlsym {symbol}" for symbol in symbols])
        return {symbol: place for symbol, place in zip(symbols, answers) if place != "-"}

    def cuda_version(self):
        """Returns the version of CUDA that the driver is for, such as 12050."""
        return int(self.ask(["version"])[0])

    def exported(self):
        """Returns the names of the functions that the file exports: those that begin with cu or nvml."""
        text = subprocess.run(["readelf", "--dyn-syms", "--wide", str(self._file)], capture_output=True, text=True,
                              check=True).stdout
        found = re.findall(r" FUNC +(?:GLOBAL|WEAK) +DEFAULT +\d+ ((?:cu|nvml)[A-Z]\w*)", text)
        return sorted(set(found))


def by_place(places):
    """Returns {place: set of the symbols there}."""
    names = defaultdict(set)
    for symbol, place in places.items():
        names[place].add(symbol)
    return names
