"""Holds what the demo's cluster trains by default: the trainer of examples/, on the UCI optical digits."""

from testing.cluster.rig.versions import TREE
from testing.cluster.training import TrainingJob, load_image
from tools.demo import demo

_DATA = TREE / "examples/data/digits.csv"
_ITERATIONS = 450  # the daemons' own values are means over ten seconds


class Digits:
    """Trains the digits in two jobs of four ranks."""

    title = "Two jobs of four ranks, two nodes with two software GPUs each."
    profile_key = "digits"
    notes = demo.NOTES
    libraries = ()  # beside those of the GPU's driver
    controllers = ()  # flags of the cluster's controllers

    def __init__(self, iterations=_ITERATIONS):
        self._iterations = iterations
        self.machine = demo.machine()

    def prepare(self, cluster, build, _namespace):
        """Loads what the jobs' pods need into the cluster."""
        load_image(cluster, build, _DATA, own_preload=False)

    def jobs(self, cluster, namespace, names, first, annotations):
        """Returns jobs of these names, not yet created. `first` is the seed of the first one."""
        return [TrainingJob(cluster, namespace, job, self.machine.ranks, by_hand=False, annotations=annotations)
                for job in demo.jobs(self._iterations, names, first)]

    def conditions(self, alone):
        """Returns lines about the machine and the jobs. `alone` are the logs of the jobs that ran alone."""
        return demo.in_words(self.machine, alone[0].ranks[0].summary)
