"""Prints which files a process has open, in words that do not change from run to run."""

import os
import re


def say():
    """Prints one line with the descriptors and what they are, without the one of the listing itself."""
    found = []
    for number in sorted(int(name) for name in os.listdir("/proc/self/fd")):
        try:
            found.append(f"{number}={re.sub('[0-9]{3,}', '*', os.readlink(f'/proc/self/fd/{number}'))}")
        except FileNotFoundError:
            pass
    print("open:", *found)
