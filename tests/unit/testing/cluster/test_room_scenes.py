"""Tests the clusters in which gangs make room, and the judgement of which of them left."""

import unittest

from testing.cluster import room_scenes
from testing.cluster.room_scenes import Found, Gang, Scene


def _scene(*gangs, newcomer=None, kind=room_scenes.FREE):
    return Scene(0, kind, gangs, newcomer or Gang("new", 1, 2, "high"))


_A, _B, _C = Gang("a", 2, 1, "low"), Gang("b", 1, 1, "middle"), Gang("c", 1, 2, "low")
_WHERE = {"a": {0: 2}, "b": {1: 1}, "c": {2: 2}}
_AGES = {"a": 10.0, "b": 10.0, "c": 30.0}


class RoomScenes(unittest.TestCase):
    def test_each_seed_fills_the_cluster(self):
        for seed in range(200):
            scene = room_scenes.scene(seed)
            self.assertEqual(scene, room_scenes.scene(seed))
            self.assertEqual(sum(gang.all_gpus for gang in scene.gangs), room_scenes.NODES * room_scenes.GPUS)

    def test_the_fewest_leave_and_then_the_cheapest(self):
        self.assertEqual(room_scenes.best(_scene(_A, _B, _C), Found(_WHERE, _AGES)), [frozenset("b")],
                         "a GPU of its node is free")
        kept = Gang("b", 1, 1, "middle", budget=True)
        self.assertEqual(room_scenes.best(_scene(_A, kept, _C), Found(_WHERE, _AGES)), [frozenset("a")])
        self.assertEqual(room_scenes.best(_scene(_A, _B, _C, kind=room_scenes.NEVER), Found(_WHERE, _AGES)), [])
        low = Gang("new", 1, 2, "low")
        self.assertEqual(room_scenes.best(_scene(_A, _B, _C, newcomer=low), Found(_WHERE, _AGES)), [])

    def test_each_fault_is_seen(self):
        scene = _scene(_A, _B, _C, newcomer=Gang("new", 1, 2, "middle"))
        good = Found(_WHERE, _AGES, {"a": 2}, True)
        self.assertEqual(set(room_scenes.faults(scene, good).values()), {0})
        for fault, left, placed in (("halves", {"a": 1}, True), ("in_vain", {"a": 2}, False),
                                    ("in_vain", {"a": 2, "c": 1}, True), ("inversions", {"b": 1}, True),
                                    ("other", {"c": 1}, True), ("no_place", {}, False)):
            self.assertGreater(room_scenes.faults(scene, Found(_WHERE, _AGES, left, placed))[fault], 0, fault)

    def test_pod_by_pod_makes_halves(self):
        wrong = 0
        for seed in range(200):
            scene = room_scenes.scene(seed)
            where, free = {}, [room_scenes.GPUS] * room_scenes.NODES
            for gang in scene.gangs:
                for _ in range(gang.pods):
                    node = next(node for node in range(room_scenes.NODES) if free[node] >= gang.gpus)
                    free[node] -= gang.gpus
                    where.setdefault(gang.name, {})
                    where[gang.name][node] = where[gang.name].get(node, 0) + gang.gpus
            found = Found(where, {gang.name: 1.0 for gang in scene.gangs})
            wrong += room_scenes.faults(scene, room_scenes.by_pod(scene, found))["halves"]
        self.assertGreater(wrong, 20)


if __name__ == "__main__":
    unittest.main()
