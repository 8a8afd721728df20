"""Tests gangs whose nodes, volumes, pods or connections change between plan and binding. They run elsewhere, or wait
with the true reason, and nothing is left of the plan.
"""

import os
import unittest
from pathlib import Path

from testing.cluster import opposed_plays
from testing.cluster.gang_cluster import GangCluster
from testing.commands import Build


class OpposedGangs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = GangCluster(Build(Path(os.environ["BUILD"])), 2, 4,
                                control={"replicas": 2, "lease_s": 15, "settings": opposed_plays.SETTINGS})
        cls.world.__enter__()
        cls.addClassCleanup(cls.world.__exit__)

    def play(self, play, *arguments):
        self.assertEqual(play(self.world, *arguments), [])

    def test_the_cpus_of_its_node_are_taken(self):
        self.play(opposed_plays.cpu_full)

    def test_the_cpus_of_all_nodes_are_taken(self):
        self.play(opposed_plays.cpu_full_everywhere)

    def test_its_node_is_tainted(self):
        self.play(opposed_plays.tainted)

    def test_its_node_is_cordoned(self):
        self.play(opposed_plays.cordoned)

    def test_its_volume_is_in_another_zone(self):
        self.play(opposed_plays.volume_elsewhere)

    def test_its_volume_is_where_it_cannot_be(self):
        self.play(opposed_plays.volume_out_of_reach)

    def test_connections_to_the_api_server_are_lost(self):
        self.play(opposed_plays.connections_lost)

    def test_a_pod_of_it_comes_again(self):
        self.play(opposed_plays.recreated)


if __name__ == "__main__":
    unittest.main()
