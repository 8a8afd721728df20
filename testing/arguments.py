"""Parses command lines and reports a mistake in one line."""

import argparse
import sys


class Parser(argparse.ArgumentParser):
    """Prints `program: what is wrong` and exits with code 2, without the usage text."""

    def error(self, message):
        print(f"{self.prog}: {message}; see --help", file=sys.stderr)
        sys.exit(2)
