"""Command lines whose mistakes are told in one line."""

import argparse
import sys


class Parser(argparse.ArgumentParser):
    """Says `program: what is wrong` and ends with code 2, without the usage text."""

    def error(self, message):
        print(f"{self.prog}: {message}; see --help", file=sys.stderr)
        sys.exit(2)
