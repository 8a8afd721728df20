"""Runs a kubelet's real device manager as a process (tests/kubelet), and talks to it."""

import contextlib
import json
import os
import subprocess
import threading
import time
from pathlib import Path

from testing.cluster.rig import versions
from testing.processes import MARK, Failed, dying_with_parent

_LOOK_S = 0.02


def program():
    """Returns the path of the installed program. Raises Failed if it is not installed."""
    path = versions.cache() / f"device-manager-{versions.default('kube')}" / "device-manager"
    if not os.access(path, os.X_OK):
        raise Failed(f"missing: {path}; to install: tools/install.sh --cluster")
    return path


class DeviceManager:
    """`enter` runs a command in the node's mount namespace. `running` has (pod UID, container) of those that ran
    before."""

    def __init__(self, enter, log, mark, running=()):
        with open(log, "wb") as output:
            self._process = subprocess.Popen(dying_with_parent(enter([str(program())])), env={**os.environ, MARK: mark},
                                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=output, text=True)
        self._log = log
        self._answers = {}
        self._came = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._tell(do="start", running=[{"pod": pod, "container": name} for pod, name in running])

    def kill(self):
        self._process.kill()
        self._process.wait()
        self._reader.join()
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.stdout.close()

    def admit(self, manifest):
        """Lets the pod be admitted after all earlier ones. `verdict` returns the result."""
        self._tell(do="admit", pod=manifest)

    def end(self, uid):
        self._tell(do="end", uid=uid)

    def synced(self):
        self._tell(do="synced")

    def end_amid(self, uid, resource):
        """Lets a pod end while devices are allocated, if an allocation comes soon, and while another client lists the
        pods' devices."""
        self._tell(do="end_amid", uid=uid, resource=resource)

    def slots(self, resource):
        """Returns how many are allocatable."""
        self._tell(do="slots", resource=resource)
        return self._await("slots", 10.0)["slots"]

    def wait_for_slots(self, resource, wanted, patience_s):
        end = time.monotonic() + patience_s
        while (seen := self.slots(resource)) != wanted:
            if time.monotonic() > end:
                raise Failed(f"the kubelet has {seen} of {wanted} slots after {patience_s:.0f} s")
            time.sleep(_LOOK_S)

    def verdict(self, uid, patience_s):
        """Returns {"containers": {name: {"ids", "devices"}}} or {"rejected": why}."""
        return self._await(uid, patience_s)

    def _tell(self, **what):
        try:
            self._process.stdin.write(json.dumps(what) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise Failed(f"the device manager ended: {self._last_words()}") from None

    def _await(self, key, patience_s):
        with self._came:
            if not self._came.wait_for(lambda: key in self._answers or None in self._answers, patience_s):
                raise Failed(f"the device manager has not answered about {key} within {patience_s:.0f} s")
            if key not in self._answers:
                raise Failed(f"the device manager ended: {self._last_words()}")
            return self._answers.pop(key)

    def _read(self):
        for line in self._process.stdout:
            try:
                answer = json.loads(line)
            except ValueError:
                break  # it was killed in the middle of a line
            with self._came:
                self._answers[answer.get("pod", "slots")] = answer
                self._came.notify_all()
        with self._came:
            self._answers[None] = {}
            self._came.notify_all()

    def _last_words(self):
        return " | ".join(Path(self._log).read_text(errors="replace").splitlines()[-3:]) or "(none)"
