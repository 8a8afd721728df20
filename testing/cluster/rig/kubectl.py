"""Runs kubectl, and does the few things that tests often do with it."""

import json
import os
import subprocess
import time

from testing.cluster.rig.watch import watch
from testing.processes import Failed, dying_with_parent

_NOT_YET = ("is not available", "is waiting to start")  # kubectl's words when a container does not run yet


class Kubectl:
    """Runs kubectl in a cluster's network namespace. All waits take `patience` times as long as their callers say."""

    def __init__(self, setup, namespace, patience=1):
        self._setup = setup
        self._namespace = namespace
        self._patience = patience

    def __call__(self, *words, input=None, user="admin", check=True, timeout_s=60.0):
        """Runs kubectl and returns what it prints. Raises Failed if kubectl fails. `user` is "admin", or a node's name
        for that node's credentials. With check=False it returns the finished process instead, whatever its exit code.
        """
        done = subprocess.run(dying_with_parent(self.command(words, user)), env=self._environment(), input=input,
                              stdin=subprocess.DEVNULL if input is None else None, capture_output=True, text=True,
                              timeout=timeout_s * self._patience, check=False)
        if not check:
            return done
        if done.returncode != 0:
            raise Failed(f"kubectl {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def command(self, words, user="admin"):
        return self._namespace.enter([self._setup.programs.path("kubectl"), "--kubeconfig",
                                      str(self._setup.kubeconfig(user)), *words], ("net",))

    def apply(self, objects):
        """Creates or changes one object or several (dicts)."""
        items = objects if isinstance(objects, list) else [objects]
        self("apply", "--server-side", "--force-conflicts", "-f", "-",
             input=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))

    def get(self, kind, name=None, namespace=None):
        """Returns an object, or None if it does not exist. Without a name it returns the list of all objects."""
        words = ["get", kind, *([name] if name else []), *_in(namespace), "-o", "json", "--ignore-not-found"]
        text = self(*words)
        if name:
            return json.loads(text) if text else None
        return json.loads(text)["items"] if text else []

    def wait_for(self, kind, name, condition, namespace=None, timeout_s=60.0):
        """Blocks until `condition(object)` holds and returns the object. The condition gets None while it does not
        exist. Waits for events of a watch; it does not poll."""
        return self._wait(kind, ["--field-selector", f"metadata.name={name}"], condition,
                          lambda: self.get(kind, name, namespace), namespace, timeout_s, name)

    def wait_for_any(self, kind, condition, namespace=None, timeout_s=60.0):
        """Blocks until the condition holds for any object of that kind, and returns that object."""
        def look():
            found = self.get(kind, namespace=namespace)
            return next(filter(condition, found), found[-1] if found else None)
        return self._wait(kind, [], lambda item: item and condition(item), look, namespace, timeout_s)

    def _wait(self, kind, selector, condition, look, namespace, timeout_s, name=None):
        timeout_s *= self._patience
        end = time.monotonic() + timeout_s
        words = ["get", kind, *selector, *_in(namespace), "-o", "json", "--watch", "--output-watch-events"]
        latest = look()
        while not condition(latest):
            left = end - time.monotonic()
            if left <= 0:
                raise Failed(self._last_seen(kind, name, namespace, latest, timeout_s))
            # A change between the look and the watch shows in neither, so every few seconds the object is read again.
            for event, latest in watch(self.command(words), self._environment(), min(left, 5.0)):
                latest = None if event == "DELETED" else latest
                if condition(latest):
                    return latest
            latest = look()
        return latest

    def logs(self, pod, namespace=None, container=None):
        """Returns what a container has said so far. That is nothing before it runs."""
        try:
            return self("logs", pod, *_in(namespace), *(["-c", container] if container else []))
        except Failed as failure:
            if any(why in str(failure) for why in _NOT_YET):
                return ""
            raise

    def events(self, namespace=None, about=None):
        """Returns lines "OBJECT REASON: MESSAGE", the oldest first. `about` limits them to the object of this name."""
        items = sorted(self.get("events", namespace=namespace), key=lambda e: e["metadata"]["creationTimestamp"])
        return [f"{e['involvedObject']['kind']}/{e['involvedObject'].get('name', '')} {e.get('reason', '')}: "
                f"{e.get('message', '')}" for e in items if about in (None, e["involvedObject"].get("name"))]

    def _environment(self):
        return {**os.environ, "KUBECACHEDIR": str(self._setup.directory / "kubectl-cache")}

    def _last_seen(self, kind, name, namespace, latest, timeout_s):
        state = json.dumps(latest.get("status", {})) if latest else "it does not exist"
        events = "; ".join(self.events(namespace, name)[-5:]) or "none"
        return f"{kind} {name or '(any)'} is not as awaited after {timeout_s:.0f} s: {state}; events: {events}"


def _in(namespace):
    return ["--namespace", namespace] if namespace else []


def phase(*wanted):
    """Returns a condition that holds while a pod or a namespace is in one of these phases."""
    return lambda thing: thing is not None and thing.get("status", {}).get("phase") in wanted


def true(condition):
    """Returns a condition that holds while a condition of the object, such as Ready, is True."""
    def is_true(thing):
        conditions = ((thing or {}).get("status") or {}).get("conditions") or ()  # null while a CRD is young
        return any(c["type"] == condition and c["status"] == "True" for c in conditions)
    return is_true


def gone(thing):
    """Tells whether the object does not exist. It is a condition for `wait_for`."""
    return thing is None
