"""Waits until servers of a cluster answer."""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

from testing.processes import MARK, Failed, dying_with_parent


def wait_for(setup, place, urls, deadline_s):
    """Blocks until all URLs answer, asked from `place`, a node or the cluster. Raises Failed after the deadline, or if
    the cluster's check() fails."""
    pki = setup.certificates
    words = [sys.executable, "-B", "-S", str(Path(__file__).with_name("ready.py")), str(pki.crt("admin")),
             str(pki.key("admin")), *urls]
    end = time.monotonic() + deadline_s
    with subprocess.Popen(dying_with_parent(place.enter(words, ("net",))), stdin=subprocess.DEVNULL,
                          env={**os.environ, MARK: setup.mark}) as asking:
        try:
            while asking.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    asking.wait(0.5)
                setup.check()
                if time.monotonic() > end:
                    raise Failed(f"no answer within {deadline_s:.0f} s: {' '.join(urls)}")
        finally:
            asking.kill()
