"""Provides a test case with the whole chain: a cluster with software GPUs, a daemon on each node, and a scheduler with
its extender and webhook."""

import os
import unittest
from pathlib import Path

from testing.cluster.control import Control
from testing.cluster.node_daemon import NodeDaemons
from testing.cluster.rig import Cluster
from testing.cluster.software_gpus import SoftwareGpus
from testing.cluster.training import load_image
from testing.commands import Build

NAMESPACE = "team"
LEARNT_WITHIN_S = 120.0  # a node reports at most every 30 s what no pod waits for


class ChainCase(unittest.TestCase):
    """Subclasses say the shape of their jobs, and what the extender's configuration has beside the usual."""

    SHAPE, SETTINGS = None, {}

    @classmethod
    def setUpClass(cls):
        cls.build = Build(Path(os.environ["BUILD"]))
        cls.cluster = Cluster(service_routing=True)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.gpus = SoftwareGpus(cls.cluster, cls.SHAPE.machine(), cls.build.gpu_libraries)
        cls.daemons = NodeDaemons(cls.cluster, cls.gpus, cls.build)
        cls.control = Control(cls.cluster, cls.build, settings=cls.SETTINGS)
        cls.control.prepare()
        cls.daemons.start()
        cls.control.start()
        cls.cluster.namespace(NAMESPACE)
        cls.load_image(Path(os.environ["TRAINER_DATA"]))

    @classmethod
    def load_image(cls, data):
        """Loads the image of the jobs."""
        load_image(cls.cluster, cls.build, data)

    @classmethod
    def communication_of(cls, key, runs):
        """Returns what so many runs of the profile with this key called, once it is known."""
        def seen(profile):
            return profile.get("status", {}).get("communication", {"runs": 0})
        return seen(cls.cluster.wait_for_any(
            "jobprofiles", lambda profile: profile["spec"].get("key") == key and seen(profile)["runs"] >= runs,
            NAMESPACE, LEARNT_WITHIN_S))
