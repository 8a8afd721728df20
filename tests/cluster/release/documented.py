"""Runs commands of the documentation on a test cluster as they are written there. Words in capitals are replaced by
names."""

import re
import subprocess

from testing.cluster.gang_lives import job_of
from testing.cluster.release import VERSION
from testing.cluster.rig.versions import TREE
from testing.processes import Failed, dying_with_parent
from tests.docs.commands import commands

# These commands run until they are stopped. What they have printed by then is checked.
_ENDLESS, _LISTENED_S = re.compile(r" --follow\b"), 3.0
_PATIENCE_S = 150.0


class Documented:
    """Runs commands from a release's environment.

    `names` is {word in capitals: what replaces it}. `folder` is where commands write their files."""

    def __init__(self, cluster, release, folder, names):
        self._cluster, self._release, self._folder, self._names = cluster, release, folder, names

    def run_all(self):
        """Runs all commands that need a cluster. Returns {command: its output}; raises Failed where one fails. Those
        that change how GPUs are shared come last: GPUs that have more pods than slots then are withheld."""
        live = [command.text for command in commands() if command.live]
        return {text: self.run(text) for text in sorted(live, key=lambda text: text.startswith("helm upgrade --set"))}

    def run(self, text):
        """Runs a command and returns its output. If it set an annotation or a label, that is removed afterwards."""
        done = self._shell(self.filled(text))
        switch = re.match(r"(kubectl (?:annotate|label) .*?)=\w+(?: --overwrite)?$", text)
        if switch:
            self._shell(self.filled(f"{switch.group(1)}-"))
        return done

    def filled(self, text):
        text = re.sub("^helm upgrade (?=--set)", f"{_upgrade()} ", text)
        text = re.sub(r"\b(gang|job) NAME", r"\1 JOB", text)
        return re.sub(r"\b[A-Z]+\b", lambda word: self._names.get(word.group(), word.group()), text)

    def _shell(self, words):
        # The chart is named by its path in the tree. Other commands write files into the working directory.
        folder = TREE if words.startswith("helm ") else self._folder
        endless = _ENDLESS.search(words) is not None
        limit = ["timeout", "--preserve-status", "--signal", "INT", str(_LISTENED_S)] if endless else []
        command = self._cluster.enter(["env", "--chdir", str(folder), *limit, "sh", "-c", words], ("net",))
        done = subprocess.run(dying_with_parent(command), capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              check=False, timeout=_PATIENCE_S, env=self._release.environment())
        if done.returncode != 0 and not endless:
            raise Failed(f"{words}: exit code {done.returncode}: {done.stdout[-2000:]} {done.stderr[-2000:]}")
        return done.stdout


def _upgrade():
    """Returns the documented command for upgrades. The page of switches shortens it to `helm upgrade`."""
    return next(command.text for command in commands() if command.text.startswith("helm upgrade crossover")
                and not command.inline)


def names_for(release, pod, folder):
    """Returns the names to fill in for a pod of a job that shares GPUs."""
    node = pod["spec"]["nodeName"]
    daemon = next(each["metadata"]["name"] for each in release.pods("deviceplugin")
                  if each["spec"]["nodeName"] == node and not each["metadata"].get("deletionTimestamp"))
    return {"NAME": pod["metadata"]["name"], "NAMESPACE": pod["metadata"]["namespace"], "NODE": node, "POD": daemon,
            "JOB": job_of(pod), "FOLDER": str(folder / "bundle"), "REVISION": "1", "OLD": VERSION}
